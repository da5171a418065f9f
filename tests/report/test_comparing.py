"""`seqcap compare`: two runs, with the statistics of the report."""

import re
from pathlib import Path

import pytest
from invented_runs import write_report_config
from parameter_files import ParameterFiles

from seqcap.errors import InputError
from seqcap.report.claims import Claim, run_claims
from seqcap.tools.compare import compare, keep


def test_two_runs_differ_as_a_claim_says(sle):
    sle.names = ["sll", "sll_sle"]
    run = sle.write()
    write_report_config("sle")
    text = compare("sll_sle", "sll")
    assert text.startswith("SLL-SLE against SLL: 3 training seeds, 12 test items\n")
    lines = {line[:40].strip(): line for line in text.splitlines()[1:]}
    (result,) = run_claims([Claim("", "", "CIDEr", "beam", "best", "sll_sle", "sll", 1)], run)
    line = next(line for name, line in lines.items() if name.startswith("CIDEr of the best beam caption"))
    for number in (result.number(result.left), result.number(result.right), result.span):
        assert number in line
    (result,) = run_claims([Claim("", "", "CIDEr", "sample", "every", "sll_sle", "sll", 1)], run)
    assert result.span in next(line for line in lines.values() if "CIDEr of 5 samples" in line)
    # What SLE is for; fewer repetitions are better.
    distinct = next(line for line in lines.values() if "Div-2 of 5 samples" in line)
    assert re.search(r"\+\S+ \[\+.*\d  (better|not significant.*)$", distinct)
    repeated = next(line for line in lines.values() if "mBLEU-4 of 5 samples" in line)
    assert re.search(r"-\S+ \[-.*  (better|not significant.*)$", repeated)
    # The other way round the differences change their signs, and the judgements.
    other = compare("sll", "sll_sle")
    assert text.count(" better") == other.count(" worse") > 0
    assert text.count(" worse") == other.count(" better")


def test_one_seed_is_an_estimate(sle):
    sle.names, sle.seeds = ["sll", "sll_sle"], (1,)
    sle.write()
    write_report_config("sle")
    judgements = [line.rsplit("  ", 1)[1] for line in compare("sll_sle", "sll").splitlines()[2:]]
    assert set(judgements) == {"one seed"}


def test_runs_that_cannot_be_compared_are_named(sle, spider):
    with pytest.raises(InputError, match=r"configs/report\.json: does not exist; run `seqcap repro`"):
        compare("xe", "sll")
    sle.names, spider.names = ["xe", "sll"], ["mle", "pg_cider"]
    sle.write()
    spider.write()
    write_report_config("sle", "spider")
    with pytest.raises(InputError, match="there is no trained run 'slll'; choose among mle, pg_cider, sll, xe"):
        compare("xe", "slll")
    with pytest.raises(InputError, match="no paper has both xe and mle"):
        compare("xe", "mle")
    with pytest.raises(InputError, match="no paper has both xe and mle"):
        keep("xe", "mle")


def test_a_comparison_is_kept_in_the_parameters(sle):
    """In one line of the paper's file; all else stays as it is written. It is kept once."""
    sle.names = ["xe", "sll", "sll_sle"]
    sle.write()
    write_report_config("sle")
    files = ParameterFiles(Path())
    path = Path("papers/sle.yaml")
    committed = path.read_text(encoding="utf-8")
    for left, right in (("sll_sle", "sll"), ("xe", "sll"), ("sll_sle", "sll")):
        assert keep(left, right) == (
            f"papers/sle.yaml: the report compares {left} with {right} from the next `seqcap repro` on"
        )
    assert files.read().papers["sle"].comparisons == (("sll_sle", "sll"), ("xe", "sll"))
    lines = path.read_text(encoding="utf-8").splitlines()
    added = [line for line in lines if line not in committed.splitlines()]
    assert [line.strip() for line in added] == ["comparisons:", "- [sll_sle, sll]", "- [xe, sll]"]
    assert [line for line in lines if line not in added] == committed.splitlines()
