"""`seqcap compare`: two runs, with the statistics of the report."""

import re
from pathlib import Path

import pytest
from invented_runs import write_report_config
from parameter_files import ParameterFiles

from seqcap.errors import InputError
from seqcap.report import comparison
from seqcap.report.claims import Comparison, run_claims
from seqcap.report.inputs import Results
from seqcap.report.outcome import Outcome
from seqcap.tools.compare import compare, keep, scored


def first(results: Results, claim: Comparison) -> Outcome:
    return run_claims([claim], results)[0].judged.first


def test_two_runs_differ_as_a_claim_says(sle, monkeypatch):
    sle.names = ["sll", "sll_sle"]
    run = sle.write()
    write_report_config("sle")
    monkeypatch.setattr(comparison, "LEAST_ITEMS", 12)
    text = compare("sll_sle", "sll")
    assert text.startswith("SLL-SLE against SLL: 3 training seeds, 12 test items\n")
    lines = {line[:40].strip(): line for line in text.splitlines()[1:]}
    result = first(run, Comparison("C", "", "CIDEr", "beam", "best", "sll_sle", "sll", 1))
    line = next(line for name, line in lines.items() if name.startswith("CIDEr of the best beam caption"))
    for number in (result.number(result.left), result.number(result.right), result.span):
        assert number in line
    result = first(run, Comparison("C", "", "CIDEr", "sample", "every", "sll_sle", "sll", 1))
    assert result.span in next(line for line in lines.values() if "CIDEr of 5 samples" in line)
    # What SLE is for; fewer repetitions are better.
    distinct = next(line for line in lines.values() if "Div-2 of 5 samples" in line)
    assert re.search(r"\+\S+ \[\+.*\d  (better|cannot tell.*)$", distinct)
    repeated = next(line for line in lines.values() if "mBLEU-4 of 5 samples" in line)
    assert re.search(r"-\S+ \[-.*  (better|cannot tell.*)$", repeated)
    # The other way round the differences change their signs, and the judgements.
    other = compare("sll", "sll_sle")
    assert text.count(" better") == other.count(" worse") > 0
    assert text.count(" worse") == other.count(" better")


def test_few_items_or_seeds_bear_no_verdict(sle, monkeypatch):
    """The difference and its interval stand there; how few there are is said once."""
    sle.names, sle.seeds = ["sll", "sll_sle"], (1, 2)
    sle.write()
    write_report_config("sle")
    head, *lines = compare("sll_sle", "sll").splitlines()
    assert head == "SLL-SLE against SLL: no verdict: 12 items, two seeds; it takes 100 items and three seeds"
    # Invented ROUGE-L is the same for every image, which has no interval.
    told = [line for line in lines[1:] if "ROUGE-L" not in line]
    assert all(re.search(r"[+-]\S+ \[[+-]\S+, [+-]\S+\]$", line) for line in told)
    monkeypatch.setattr(comparison, "LEAST_ITEMS", 12)
    assert "no verdict" in compare("sll_sle", "sll")


def test_runs_that_cannot_be_compared_are_named(sle, spider):
    with pytest.raises(InputError, match="nothing has run here; run `seqcap repro`, or name an --experiment"):
        compare("xe", "sll")
    sle.names, spider.names = ["xe", "sll"], ["mle", "pg_cider"]
    sle.write()
    spider.write()
    write_report_config("sle", "spider")
    with pytest.raises(InputError, match=r"is called 'slll'; did you mean sll \(papers/sle/runs\.yaml\)\?"):
        compare("xe", "slll")
    with pytest.raises(InputError, match=r"is called 'zzz'; see papers/sle/runs\.yaml, papers/spider/runs\.yaml"):
        compare("zzz", "sll")
    for call in (compare, keep):
        with pytest.raises(InputError, match=r"xe is in papers/sle/runs\.yaml, mle in papers/spider/runs\.yaml"):
            call("xe", "mle")


def test_an_experiment_is_found_by_its_name(sle, tmp_path, monkeypatch):
    """From any folder of the checkout. Its file decides what it reports."""
    sle.names = ["xe", "sll"]
    with pytest.raises(InputError, match="seqcap compare: this is no checkout of seqcap; change to one"), scored():
        pass
    for folder in ("runs/quick", "papers"):
        Path(folder).mkdir(parents=True)
    for folder in (".", "runs/quick"):
        (Path(folder) / "params.yaml").touch()
    root = Path.cwd()
    monkeypatch.chdir("runs/quick")
    sle.write()
    write_report_config("sle")
    monkeypatch.chdir(root / "papers")
    with scored():
        assert Path.cwd() == root
    with scored("quick"):
        assert compare("xe", "sll").startswith("XE against SLL: ")
        with pytest.raises(
            InputError, match=r"experiments/quick\.yaml: .* `papers/sle/runs\.yaml: \{comparisons: \[\[xe, sll"
        ):
            keep("xe", "sll")
    with (
        pytest.raises(InputError, match="runs/quik: there is no such experiment here, but quick; run it"),
        scored("quik"),
    ):
        pass


def test_a_comparison_is_kept_in_the_parameters(sle):
    """In one line of the paper's file; all else stays as it is written. It is kept once."""
    sle.names = ["xe", "sll", "sll_sle"]
    sle.write()
    write_report_config("sle")
    files = ParameterFiles(Path())
    path = Path("papers/sle/runs.yaml")
    committed = path.read_text(encoding="utf-8")
    for left, right in (("sll_sle", "sll"), ("xe", "sll"), ("sll_sle", "sll")):
        assert keep(left, right) == (
            f"papers/sle/runs.yaml: the report compares {left} with {right} from the next `seqcap repro` on"
        )
    assert files.read().papers["sle"].comparisons == (("sll_sle", "sll"), ("xe", "sll"))
    lines = path.read_text(encoding="utf-8").splitlines()
    added = [line for line in lines if line not in committed.splitlines()]
    assert [line.strip() for line in added] == ["comparisons:", "- [sll_sle, sll]", "- [xe, sll]"]
    assert [line for line in lines if line not in added] == committed.splitlines()


def test_a_comparison_is_kept_though_nobody_reads_it(sle, command, monkeypatch):
    sle.names = ["xe", "sll"]
    sle.write()
    write_report_config("sle")
    files = ParameterFiles(Path())
    Path("dvc.yaml").touch()

    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    assert command("compare", "xe", "sll", "--report").returncode == 141
    assert files.read().papers["sle"].comparisons == (("xe", "sll"),)
