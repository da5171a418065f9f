"""How the report is put together."""

import csv
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
import snapshots
from invented_evidence import ORIGIN, evidence, side
from invented_runs import write_report_config

from seqcap.errors import InputError
from seqcap.files import json_file
from seqcap.first_page import in_short_origin, outcomes, report, uses
from seqcap.first_page.asides import (
    as_often_misled,
    have_one_blind_spot,
    misled,
    misled_in_words,
    of_length,
    of_ranks,
    of_samples,
)
from seqcap.first_page.overview import ACROSS, CIDER, CROSS_ENTROPY, DISTINCT, FIELDS
from seqcap.first_page.own_runs import AS_LONG
from seqcap.report import wording
from seqcap.report.reported import ReportConfig
from seqcap.report.summary import VERSION, Summary

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(page: str = "report.md") -> str:
    """A page of the report, which is made anew."""
    report.write_report(ReportConfig.read("report"))
    return Path("reports", page).read_text(encoding="utf-8")


def written_of(*papers: str) -> str:
    """The first page of some papers."""
    write_report_config(*papers)
    return written()


HOLDS, REVERSED, UNSURE = {"difference": 1.5}, {"difference": -1.5}, {"difference": 0.1, "scatter": 1.0}


def recorded(paper: str, **changes: Any) -> dict[str, Any]:
    """A comparison as a paper's results have it."""
    words = {"paper": paper, "what": "CIDEr of 5 samples", "decoder": "sample", "printed": (12.2, 10)}
    return evidence(**(HOLDS | words | {"printed_decimals": 1} | changes)).model_dump(mode="json")


def of_version_1(paper: str, verdict: str) -> dict[str, str]:
    words = {"paper": paper, "claim": "C1", "kind": "primary", "sentence": "a beats b", "what": "CIDEr of 5 samples"}
    words |= {"metric": "CIDEr", "decoder": "sample", "left": "a", "right": "b", "base": "", "paper_difference": "2.2"}
    numbers = {"difference": "1.50", "low": "-0.20", "high": "3.10", "seeds": "3/3", "items": "2000"}
    return words | numbers | {"verdict": verdict, "p_value": "0.1000", "detectable": "", "reason": ""}


def invented_results(
    paper: str,
    dataset: str = "scenes",
    explained: Mapping[str, str] | str = MappingProxyType({}),
    version: int = VERSION,
    folder: str = "reports",
    records: Sequence[dict[str, Any]] = (),
    **origin: object,
) -> None:
    """A paper's page and its results: records of claims, or one claim that holds. Controls are called Q, and ask about
    C2."""
    of_claims: dict[str, list[dict[str, Any]]] = {}
    for record in records or [recorded(paper)]:
        of_claims.setdefault(record["claim"], []).append(record)
    explained = explained if isinstance(explained, str) else dict(explained)
    claim = {"sentence": "a beats b", "why": "", "explained": explained}
    said = {
        "version": version,
        "rule": "0123456789ab",
        "label": paper.upper(),
        "title": "a paper",
        "datasets": [dataset],
        "levels": [] if dataset == "coco" else [dataset],
        "finding": {"sentence": "A is best.", "claim": "C1", "control": ""},
        "remarks": [],
        "claims": [
            claim | {"id": name, "control": name[0] == "Q", "about": "C2" if name[0] == "Q" else "", "records": its}
            for name, its in of_claims.items()
        ],
    }
    data = {"task": "image", "name": dataset, "kind": "images", "sizes": {"val": 30, "train": 1200}, "seeds": [1, 2]}
    provenance = ORIGIN | {
        "versions": {"numpy": "2", "Python": "3"},
        "data": [data],
        "minutes": {},
    }
    curves = f"{report.HEADER}\n{paper},xe,1,0,val_cider,0.4\n"
    place = Path(folder, paper)
    Summary(said=said, metrics={"cider": 80.1}, curves=curves, provenance=provenance | origin).write(place)
    (place / "report.md").write_text(f"# {paper.upper()}: a paper\n", encoding="utf-8")
    (place / "details.md").write_text(f"# {paper.upper()}: details\n", encoding="utf-8")


def test_the_first_page_is_the_committed_one(here: Path):
    """Every outcome of a claim, older results, and the same claims on other data: what only a few papers have."""
    # Of several comparisons the one that decides is shown; eight claims are more than the page has.
    several = [recorded("several", metric=metric, what=f"{metric} of 5 samples") for metric in ("CIDEr", "METEOR")]
    several += [recorded("several", metric="SPICE", what="SPICE of 5 samples", **REVERSED)]
    several += [recorded("several", claim=f"C{number}", left=f"a{number}") for number in range(2, 9)]
    # A control that came out the other way, and a claim of what a run's own listener finds.
    several += [recorded("several", claim="Q1", left="q", **REVERSED)]
    several[-2] = several[-2] | {"metric": "own_R@10"}
    explained = {"holds": "On few images.", "reversed": "It is too small.", "cannot tell": "Gone."}
    invented_results("several", records=several, explained=explained)
    unsure = [recorded("unsure", **UNSURE), recorded("unsure", claim="C2", seeds=2)]
    unsure += [recorded("unsure", claim="C3", covariance=(), untestable="a seed does not reach the point")]
    unsure += [recorded("unsure", claim="C4", metric="words", decimals=4, printed=())]
    unsure += [recorded("unsure", claim="C5", level="primary", **REVERSED)]
    invented_results(
        "unsure", records=unsure, commit="ba9876543210", experiment="experiments/e.yaml", changed=["src/a"]
    )
    old = of_version_1("old", "does not hold") | {"difference": "0.0150", "low": "-0.0020", "high": "0.0310"}
    old["paper_difference"] = "0.022"
    nothing = {"commit": None, "day": None, "processor": None, "versions": {}, "minutes_of_training": None}
    invented_results("old", records=[old], version=VERSION - 1, explained="An old reason.", **nothing)
    # On other data the same claim has other words, another verdict, another comparison, or was not run.
    other = [recorded("several", claim="C2", left="a2", sentence="in other words", **REVERSED)]
    other += [recorded("several", claim="C3", left="a3", right="another")]
    other += [recorded("several", claim="C4", left="a4", **UNSURE)]
    other += [recorded("several", claim="C5", left="a5", sides=(), covariance=(), absent=True)]
    # Two comparisons there are one here.
    other += [recorded("several", claim="C6", left="a6", right="x"), recorded("several", claim="C7", left="x")]
    invented_results("several", records=other, folder="reports/photos")
    group = {"group": "kind with colour", "mean_average_precision": 0.7149, "labels": 40, "chance": 0.031}
    json_file.write_json("reports/features/image.json", {"groups": [group]})
    captions = [{"label": "A", "text": "a red dog", "false": ["red dog"]}, {"label": "B", "text": "a", "false": []}]
    json_file.write_json("reports/several/results/example.json", {"item": 7, "captions": captions})
    # A study of ours has a line and is in no count.
    invented_results("sizes", folder="reports/study")
    folders = {"Photos": "reports/photos", "None": "reports/none", "Sizes": "reports/study"}
    write_report_config("several", "unsure", "old", "gone", pictures=("image",), **folders)
    snapshots.check("first_page.md", written())
    snapshots.check("features.md", written("features/report.md"))
    snapshots.check("claims.csv", written("claims.csv"))


def test_a_page_without_details_leads_to_none(here: Path):
    """As of an experiment with few runs."""
    invented_results("a")
    write_report_config("a")
    page = written()
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", page, re.MULTILINE)}
    assert "glossary" in headings
    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= headings


def test_a_paper_is_of_the_first_folder_of_other_data_that_has_it(here: Path):
    """One experiment has run a paper longer, and another has all papers."""
    for paper in ("a", "b"):
        invented_results(paper, records=[recorded(paper)])
        invented_results(paper, records=[recorded(paper)], folder="reports/all")
    invented_results("a", records=[recorded("a", **REVERSED)], folder="reports/longer")
    write_report_config("a", "b", Photos=["reports/none", "reports/longer", "reports/all"])
    page = written()
    assert "longer/a/report.md" in page
    assert "[A](all/a/report.md) was run there again " in page
    assert "all/b/report.md" in page
    assert "left out" not in page


def test_in_short_tells_how_claims_fared_on_other_data(here: Path):
    """Of today's rule; without our controls."""
    records = [
        recorded("a", **UNSURE),
        recorded("a", claim="C2", left="b", **UNSURE),
        recorded("a", claim="C3", left="c"),
        recorded("a", claim="C4", left="d"),
        recorded("a", claim="C5", left="e"),
        recorded("a", claim="C6", left="f", **REVERSED),
        recorded("a", claim="Q1", left="g"),
    ]
    invented_results("a", records=records)
    there = [
        recorded("a", **REVERSED),
        recorded("a", claim="C2", left="b"),
        recorded("a", claim="C3", left="c", **UNSURE),
        recorded("a", claim="C4", left="d"),
        recorded("a", claim="C6", left="f", **REVERSED),
        recorded("a", claim="Q1", left="g", **REVERSED),
    ]
    invented_results("a", records=there, folder="reports/photos")
    write_report_config("a", Photos="reports/photos")
    (line,) = [line for line in written().splitlines() if line.startswith("- **Photos:** ")]
    signs = "of 6 comparisons that claims here rest on, 2 have the same sign there, by both intervals "
    assert f"{signs}(against print: A C6), 1 the opposite one (A Q1), 3 are open." in line
    assert "Of the 3 claims that hold here C4 also there, C3 cannot be told. " in line
    assert "Of the 1 claim that is reversed here C6 also there." in line
    assert "Decided there alone: C2 holds, C1 is reversed." in line


@pytest.mark.parametrize(("risen", "said"), [(2.0, "; a run of it still rose there"), (0.2, "")])
def test_in_short_tells_of_one_comparison_whether_a_run_of_it_still_rose(here: Path, risen: float, said: str):
    invented_results("a")
    gained = {"A": {1: 101.5, 2: 101.5, 3: 101.5}, "B": {1: 100, 2: 100, 3: 100}}
    sides = (side("A", gained["A"], a=risen), side("B", gained["B"]))
    invented_results("a", records=[recorded("a", sides=sides)], folder="reports/photos")
    write_report_config("a", Photos="reports/photos")
    (line,) = [line for line in written().splitlines() if line.startswith("- **Photos:** ")]
    assert f"the one comparison that decides a claim here goes the same way there{said}. " in line


def test_in_short_tells_what_is_above_cross_entropy_of_as_many_updates_on_other_data(here: Path):
    def compared(name: str, difference: float) -> dict[str, Any]:
        sides = (
            side(name.upper(), dict.fromkeys((1, 2, 3), 100 + difference)),
            side(AS_LONG, {1: 100, 2: 100, 3: 100}),
        )
        words = {"what": "CIDEr of the best beam caption", "decoder": "beam", "claim": f"C{name}", "left": name}
        changes = {"sides": sides, "covariance": ((0.01,), *((0.0,) * row + (0.01,) for row in range(1, 6)))}
        return recorded("a", **words, **changes)

    invented_results("a", records=[compared("b", 4.0), compared("c", 4.0), compared("d", 4.0)])
    there = [compared("b", 4.0), compared("c", 0.01), compared("d", -4.0)]
    invented_results("a", records=there, folder="reports/photos")
    invented_results("a", records=[compared("b", 6.0)], folder="reports/photos_gpu")
    write_report_config("a", Photos=["reports/photos", "reports/photos_gpu"])
    page = written()
    told = (
        "Over cross-entropy of as many updates B of the 3 compared raise the best caption's CIDEr there, D lower it; "
    )
    assert f"{told}here 3 raise it ([numbers](#the-same-in-own-runs))." in page
    (again,) = [line for line in page.splitlines() if " was run there again " in line]
    beside = (
        "CIDEr, beam, over cross-entropy of as many updates (in brackets, in the results that this page has): B +6.0"
    )
    assert beside in again
    assert again.endswith("(+4.0 [3.8, 4.2]).")


def test_in_short_tells_what_is_better_on_one_captioner_on_other_data(here: Path):
    for paper in ("a", ACROSS):
        invented_results(paper)
        invented_results(paper, records=[recorded(paper), recorded(paper, claim="C2")], folder="reports/photos")
    levels = {"xe": (CROSS_ENTROPY, 44.0, "tok"), "sll": ("sll", 46.0, "xe tok"), "tok": ("tok", 40.0, "")}
    Path("reports/photos/across/tables").mkdir()
    with Path("reports/photos/across/tables/across.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(FIELDS)
        for run, (objective, ours, ahead_of) in levels.items():
            lines.writerow(["p", run.upper(), run, objective, CIDER, "higher", ours, "", "", "9 x 3 seeds", ahead_of])
    write_report_config("a", ACROSS, Photos="reports/photos")
    told = "clearly above cross-entropy trained further (in brackets): CIDEr, beam (44.0) SLL 46.0."
    where = "On [one captioner](photos/across/report.md) there"
    assert f"{where}, {told}" in written()
    origin = Path("reports/photos/across/results/provenance.json")
    json_file.write_json(origin, json_file.read_json(origin) | {"minutes": {"sll": 4.2, "tok": 1.1, "xe": 9.0}})
    assert f"{where}, within 1 to 4 minutes of training, {told}" in written()


def test_of_a_claims_opposite_signs_one_is_told(here: Path):
    """One that decides it before its details."""
    of_ten = {"metric": "own_R@10", "what": "R@10 (own listener)"}
    of_five = {"level": "detail", "metric": "own_R@5", "what": "R@5 (own listener)"}
    invented_results("a", records=[recorded("a", **of_ten), recorded("a", **of_five)])
    there = [recorded("a", **of_ten, **REVERSED), recorded("a", **of_five, **REVERSED)]
    invented_results("a", records=there, folder="reports/photos")
    write_report_config("a", Photos="reports/photos")
    _, _, told = written().partition("## On other data")
    table, _, _ = told.partition("## ")
    assert "R@10 (own listener): A against B (decides); 1 more |" in table
    assert "R@5" not in table


def test_a_verdict_that_is_the_whole_claims_too_is_said_once(here: Path):
    """Here the second comparison decides the claim, there the first one."""
    invented_results("a", records=[recorded("a"), recorded("a", right="c", **UNSURE)])
    dead = {"untestable": "a listener is dead"}
    there = [recorded("a", **dead), recorded("a", right="c", **dead)]
    invented_results("a", records=there, folder="reports/photos")
    write_report_config("a", Photos="reports/photos")
    page = written()
    assert "+1.5 [1.3, 1.7] cannot be tested |" in page
    assert "the whole claim" not in page


def test_in_short_tells_where_a_claim_that_failed_holds(here: Path):
    invented_results("a", records=[recorded("a", **REVERSED)])
    invented_results("a", folder="reports/photos")
    write_report_config("a", Photos="reports/photos")
    assert "\n  - A, reversed: *a beats b* (C1, holds on Photos).\n" in written()


@pytest.mark.parametrize("is_known_there", [False, True])
def test_in_short_says_where_other_data_do_not_know_what_is_true(here: Path, is_known_there: bool):
    true = recorded("a", level="detail", metric="true_of_own")
    invented_results("a", records=[recorded("a"), true])
    there = [recorded("a", **REVERSED), *[true] * is_known_there]
    invented_results("a", records=there, folder="reports/photos")
    write_report_config("a", Photos="reports/photos")
    assert ("Lacking there: a checker of truth; the table of all objectives, so" in written()) != is_known_there


def test_in_short_tells_which_claims_failed_and_why(here: Path):
    """And how many hold; of other data no reason is known."""
    because = " Why, perhaps: of y."
    for failing, dataset, why in (("", "scenes", ""), ("of y", "scenes", because), ("of y", "flickr8k", "")):
        records = [recorded("a", **REVERSED), recorded("a", claim="C2", left="b"), recorded("a", claim="C3", **UNSURE)]
        records.append(recorded("a", claim="Q1", left="q", **REVERSED))
        invented_results("a", dataset=dataset, records=records)
        path = Path("reports/a/results/claims.json")
        said = json_file.read_json(path)
        json_file.write_json(path, said | {"finding": said["finding"] | {"failing": failing}})
        write_report_config("a")
        page = written()
        assert "- **What holds:** of the papers' claims, A 1 of 3. " in page
        assert "- **What failed:** of the papers' claims, 1 reversed. " in page
        assert f"\n  - A, reversed: *a beats b* (C1).{why}\n" in page


def test_in_short_tells_each_kind_of_smoothing_beside_the_main_one(here: Path):
    """Of the same measure and against the same loss; and what of the main one's difference is left without a beam."""
    beam = {"decoder": "beam", "what": "CIDEr of the best beam caption"}
    records = [
        recorded("smoothing", **beam, left="a"),
        recorded("smoothing", **beam, claim="L1", left="tok", **REVERSED),
    ]
    records += [recorded("smoothing", **beam, claim="L3", left="seq", right="another")]
    greedy = {"decoder": "greedy", "what": "CIDEr of the greedy caption", "level": "detail", "left": "a"}
    for difference, ends in ((0.5, "most is the beam's here)"), (1.2, "])")):
        invented_results("smoothing", records=[*records, recorded("smoothing", **greedy | {"difference": difference})])
        write_report_config("smoothing")
        line = next(line for line in written().splitlines() if line.startswith("- **Loss smoothing:** "))
        before, _, after = line.partition(" (greedy ")
        assert before.partition(", against B: ")[2].startswith(
            "A -1.5 [-1.7, -1.3], *reversed*, A +1.5 [1.3, 1.7], *holds"
        )
        assert after.rstrip(".").endswith(ends)


@pytest.mark.parametrize(
    ("kind", "main", "told"),
    [
        (REVERSED, REVERSED, "it harms"),
        (HOLDS, HOLDS, "it helps"),
        (UNSURE, REVERSED, "no kind of it is shown to help"),
        (HOLDS, REVERSED, ""),
    ],
)
def test_in_short_answers_whether_smoothing_helps(here: Path, kind: Any, main: Any, told: str):
    beam = {"decoder": "beam", "what": "CIDEr of the best beam caption"}
    records = [recorded("smoothing", **beam, left="a", **main), recorded("smoothing", **beam, claim="L1", **kind)]
    invented_results("smoothing", records=records)
    write_report_config("smoothing")
    page = written()
    assert ("at the strength of the paper's formulas" in page) == bool(told)
    begin = (
        f"- **Loss smoothing:** by CIDEr, at the strength of the paper's formulas, {told} captions without attention"
    )
    assert not told or begin in page


@pytest.mark.parametrize("is_reversed", [True, False])
def test_in_short_says_where_all_of_smoothing_harms(here: Path, is_reversed: bool):
    beam = {"decoder": "beam", "what": "CIDEr of the best beam caption"}
    there = REVERSED if is_reversed else UNSURE
    for folder, of_main, of_kind in (("reports", UNSURE, UNSURE), ("reports/photos", REVERSED, there)):
        records = [
            recorded("smoothing", **beam, left="a", **of_main),
            recorded("smoothing", **beam, claim="L1", left="tok", **of_kind),
        ]
        invented_results("smoothing", records=records, folder=folder)
    write_report_config("smoothing", Photos="reports/photos")
    assert ("; on Photos all that was tried harms. " in written()) == is_reversed


def test_a_main_claim_tells_what_the_judge_finds_on_other_data(here: Path):
    of_judge = recorded("wtfrl", metric="fixed_R@10", claim="Q1", control=True)
    twin = recorded("wtfrl", metric="twin_R@10", claim="Q1", level="detail")
    for folder, own in (("reports", {}), ("reports/photos", REVERSED)):
        invented_results("wtfrl", records=[recorded("wtfrl", metric="own_R@10", **own), of_judge, twin], folder=folder)
    write_report_config("wtfrl", Photos="reports/photos")
    row = next(line for line in written().splitlines() if line.startswith("| ["))
    assert re.fullmatch(r"-[\d.]+ \[.*\] reversed; by the judge \+[\d.]+ \[.*\] holds \|", row.split(" | ")[-1])


def test_what_holds_on_other_data_by_its_own_listener_alone_is_named(here: Path):
    """In the table of claims, and where claims are counted."""
    own = recorded("wtfrl", claim="C2", metric="own_R@10")
    main, of_judge = recorded("wtfrl"), {"metric": "fixed_R@10", "claim": "Q1", "control": True}
    for folder, judged in (("reports", {}), ("reports/photos", UNSURE)):
        records = [main, own, recorded("wtfrl", **of_judge, **judged)]
        invented_results("wtfrl", records=records, folder=folder)
    write_report_config("wtfrl", Photos="reports/photos")
    page = written()
    assert "Of 2 claims that were run there 2 hold, 0 are undecided." in page
    assert "that hold here C1, C2 (own listener) also there." in page
    row = next(line for line in page.splitlines() if line.startswith("| [C2]"))
    assert row.endswith("; control Q1: cannot tell |")


def test_words_of_truth_stand_in_the_glossary_where_it_is_known(here: Path):
    invented_results("a")
    assert "**true captions**" not in written_of("a")
    invented_results("a", records=[recorded("a"), recorded("a", claim="C2", metric="all_true")])
    assert "**true captions**" in written_of("a")


def test_claims_that_were_not_run_and_controls_are_not_counted():
    verdicts = {"holds": False, "reversed": True, "cannot tell": False, "not run": False}
    claims = [SimpleNamespace(verdict=verdict, control=control) for verdict, control in verdicts.items()]
    assert outcomes.fared(claims) == "1 holds, 1 is undecided"


@pytest.mark.parametrize(("change", "told"), [(UNSURE, "; by the literal listener "), (HOLDS, "")])
def test_a_main_claim_tells_what_the_literal_listener_does_not_confirm(here: Path, change: Any, told: str):
    records = [recorded("wtfrl", metric="own_R@10"), recorded("wtfrl", metric="fixed_R@10", claim="Q1", control=True)]
    records.append(recorded("wtfrl", metric="literal_R@10", claim="Q2", control=True, **change))
    invented_results("wtfrl", records=records)
    write_report_config("wtfrl")
    verdict = next(line for line in written().splitlines() if line.startswith("| [")).split(" | ")[2]
    assert "by its own listener and by the judge" in verdict
    assert ("literal" in verdict) == bool(told)
    assert told in verdict
    # What confirms it stands below.
    assert ("Control [Q2]" in written()) != bool(told)


@pytest.mark.parametrize(("change", "told"), [(HOLDS, ""), (UNSURE, ", cannot tell")])
def test_a_main_claim_that_holds_tells_what_it_costs_in_truth(here: Path, change: Any, told: str):
    truth = recorded("wtfrl", metric="true_of_own", claim="Q1", control=True, **change)
    invented_results("wtfrl", records=[recorded("wtfrl", metric="own_R@10"), truth])
    write_report_config("wtfrl")
    verdict = next(line for line in written().splitlines() if line.startswith("| [")).split(" | ")[2]
    assert re.search(rf"; true captions \S+ \[.*\]{told}$", verdict)


def test_in_short_tells_what_smoothing_gains_by_another_measure(here: Path):
    beam = {"decoder": "beam", "what": "CIDEr of the best beam caption"}
    records = [recorded("smoothing", **beam, left="a"), recorded("smoothing", **beam, claim="L1", left="tok")]
    records.append(recorded("smoothing", **beam | {"metric": "BLEU4"}, claim="L1", left="tok", level="detail"))
    invented_results("smoothing", records=records)
    write_report_config("smoothing")
    assert "By BLEU-4: A +1.5 [1.3, 1.7] (details)." in written()


def test_other_tables_are_told_in_a_phrase(tmp_path: Path):
    file = tmp_path / "table.csv"
    assert (of_ranks(file, DISTINCT), of_length(file), of_samples(file)) == ("", "", "")
    lines = [
        "R@10 by the own listener,true captions,-.9,-1,-.5",
        "R@10 by the own listener,R@10 by the judge,.988,.936,1",
    ]
    lines += ['SLL,"precision, 5 samples",.9365,.9,.95', 'XE,"precision, 5 samples",.5478,.5,.6', "XE,words,7,,"]
    lines += ["WTF,difference,-27.4,,", "WTF-RL,difference,-7.2,,", "TF,difference,1,,"]
    file.write_text("\n".join(["row,column,ours,ours_low,ours_high", *lines]), encoding="utf-8")
    assert of_ranks(file, DISTINCT) == "0.99 [0.94, 1.00]"
    assert of_length(file) == "WTF-RL -7, WTF -27"
    assert of_samples(file) == "XE 54.8, SLL 93.7"


def test_in_short_tells_what_weaker_runs_say(here: Path):
    """Of a beam, of whatever claims have such comparisons among their details."""
    records = [recorded("smoothing", left="a"), recorded("smoothing", claim="L1", left="b")]
    for claim, label in (("C1", "Tok"), ("L1", "Seq")):
        sides = (
            side(f"{label}, a quarter as strong", {1: 102.0, 2: 102.5, 3: 103.0}),
            side("MLE", {1: 101.0, 2: 101.0, 3: 101.0}),
        )
        for decoder in ("beam", "greedy"):
            names = {"left": f"lstm_{label}_quarter", "right": "lstm_mle", "decoder": decoder}
            records.append(recorded("smoothing", claim=claim, level="detail", sides=sides, **names))
    invented_results("smoothing", records=records)
    write_report_config("smoothing")
    line = next(line for line in written().splitlines() if line.startswith("- **Loss smoothing:** "))
    numbers = "+1.5 [0.3, 2.7]"
    told = f"ahead of MLE: Tok {numbers}, Seq {numbers}"
    assert f"A quarter as strong (3 seeds, added later, without a verdict), {told}." in line


@pytest.mark.parametrize("starts", [{}, {"pretrain-a": 2.25, "retriever-b": 1.0}])
def test_in_short_tells_what_is_not_in_the_minutes_of_training(starts: dict[str, float]):
    report = SimpleNamespace(papers={"across": SimpleNamespace(provenance={"minutes_of_starts": starts})})
    of_each = " (3.2 minutes for all seeds)" if starts else ""
    assert in_short_origin._of_starts(report) == f"the common start, and retrievers{of_each}"


def test_in_short_tells_what_updates_of_each_objective_take(tmp_path: Path):
    """In the table of all objectives, where their budget is minutes."""
    curves = tmp_path / "across/results/curves.csv"
    curves.parent.mkdir(parents=True)
    curves.write_text("run,step\na,500\na,2000\nb,500\n", encoding="utf-8")
    across = SimpleNamespace(provenance={"minutes": {"a": 1.0, "b": 2.0, "c": 3.0}})
    report = SimpleNamespace(papers={"across": across}, folder=tmp_path)
    rows = SimpleNamespace(rows=[SimpleNamespace(label=run.upper(), run=run) for run in "abcd"])
    assert in_short_origin._of_updates(report, rows) == "; 1,000 updates take 0.5 (A) to 4.0 (B) minutes"
    rows.rows = rows.rows[1:]
    assert in_short_origin._of_updates(report, rows) == ""


def test_in_short_names_the_results_of_which_no_commit_is_known(here: Path):
    for paper in ("a", "b"):
        invented_results(paper)
        invented_results(paper, folder="reports/photos", commit="abc" if paper == "a" else None)
        invented_results(paper, folder="reports/sentences", commit=None)
    write_report_config("a", "b", Photos="reports/photos", Sentences="reports/sentences")
    assert "Not recorded: on Photos B; Sentences." in written()


def test_studies_of_one_name_are_told_apart_by_their_data(here: Path):
    invented_results("a")
    invented_results("sizes", folder="reports/study")
    on_gpu = {"processor": "A processor, 2 cores; trained on a GPU"}
    invented_results("sizes", dataset="flickr8k", folder="reports/photos", **on_gpu)
    write_report_config("a", Sizes=["reports/study", "reports/photos"])
    page = written()
    # Those on a GPU are apart.
    assert "ll runs and seeds by cores together took 20 minutes; SIZES (flickr8k) 10 on a GPU." in page
    assert "[SIZES (flickr8k)](photos/sizes/report.md)" in page
    assert "**[a paper (flickr8k)](photos/sizes/report.md).**" in page


def test_the_nearest_of_the_own_runs_to_distinctive_and_true_captions_is_named(here: Path):
    """Of what the table of all objectives lacks and likelihood's are not shown to be truer than: what a judge finds
    most."""
    found = {"first": 60.0, "second": 55.0, "third": 50.0, "tabled": 70.0, "lost": 30.0}
    true = {"first": 50.0, "second": 78.0, "third": 90.0, "tabled": 80.0, "lost": 95.0}
    records = []
    for metric, of, base in (("fixed_R@10", found, 40.0), ("twin_R@10", found, 40.0), ("true_of_own", true, 78.0)):
        for run, value in of.items():
            sides = tuple(side(name, {1: n, 2: n, 3: n}) for name, n in ((run.upper(), value), ("TF", base)))
            records.append(
                recorded("wtfrl", metric=metric, decoder="beam", left=run, right="tf", sides=sides, claim=run)
            )
    invented_results("wtfrl", records=records)
    path = Path("reports/wtfrl/results/claims.json")
    rows = SimpleNamespace(objectives=[SimpleNamespace(label="TABLED")])
    report = SimpleNamespace(papers={"wtfrl": Summary.read(Path("reports/wtfrl"))})
    assert uses.nearest_judged(report, rows) == ""
    json_file.write_json(path, json_file.read_json(path) | {"likelihood": ["tf"]})
    report = SimpleNamespace(papers={"wtfrl": Summary.read(Path("reports/wtfrl"))})
    told = uses.nearest_judged(report, rows)
    assert told.startswith("In WTFRL's own runs SECOND against TF: R@10 by the judge +15.0 [")
    assert told.endswith(", true captions +0.0.")


def test_unknown_words_in_published_captions_are_told(here: Path):
    """Of other data and of studies, of the run that has most; the limits say what they are of."""
    invented_results("a")
    for folder, texts in (("reports/photos/a", ["a <unk>", "a dog"]), ("reports/study/sizes", ["<unk>"])):
        parent, _, paper = folder.rpartition("/")
        invented_results(paper, folder=parent)
        for name, captions in (("few", ["a dog"]), ("many", texts)):
            shown = [{"image_id": item, "caption": text} for item, text in enumerate(captions)]
            file = Path(folder, "results/captions", f"{name}_beam.json.gz")
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(gzip.compress(json.dumps(shown).encode()))
    write_report_config("a", Photos="reports/photos", Sizes="reports/study")
    page = written()
    of_many = "of a hundred texts have unknown words ([older decoding](#limits))."
    assert f" There of A's up to 50 {of_many}" in page
    assert f" Up to 100 {of_many}" in page
    assert "- *Older decoding*: " in page
    for file in Path("reports").glob("*/*/results/captions/many_beam.json.gz"):
        file.unlink()
    assert "lder decoding" not in written()


def test_ungrammatical_captions_on_other_data_are_told_of_objectives_and_cross_entropy(here: Path):
    invented_results("a")
    invented_results("a", folder="reports/photos")
    file = Path("reports/photos/a/results/claims.json")
    said = json_file.read_json(file)
    json_file.write_json(file, said | {"likelihood": ["b", "b_longer"]})
    write_report_config("a", Photos="reports/photos")
    assert "plain fault" not in written()
    measured = {"a": [20.0, 26.0], "b": [3.0], "b_longer": [1.4], "other": [50.0]}
    shares = {run: {wording.FAULTY: by_seed} for run, by_seed in measured.items()}
    wording.write(shares, Path("reports/photos/a/results"))
    told = "in a hundred: A 23.0; cross-entropy's 1.4 to 3.0, people's 1."
    page = written()
    assert f"In own runs there, captions with a plain fault, {told}" in page
    wording.write(shares | {"a": {wording.FAULTY: [9.0]}}, Path("reports/photos/a/results"))
    assert "plain fault" not in written()


def test_the_same_paper_on_the_same_data_by_another_experiment(here: Path):
    """Its first results are those of all tables; how the others compare with them, and their origin, is told."""
    invented_results("a")
    again = [recorded("a", seeds=5), recorded("a", claim="C2", left="c", **UNSURE)]
    again += [recorded("a", claim="C3", left="d", **REVERSED), recorded("a", claim="C4", left="e")]
    first = [recorded("a"), recorded("a", claim="C2", left="c"), recorded("a", claim="C3", left="d")]
    invented_results("a", records=first, folder="reports/photos")
    invented_results("a", records=again, folder="reports/photos_gpu", commit="ba9876543210")
    write_report_config("a", Photos=["reports/photos", "reports/photos_gpu"])
    page = written()
    (told,) = [line for line in page.splitlines() if " was run there again " in line]
    assert told.startswith("[A](photos_gpu/a/report.md) was run there again (")
    counted = "3 comparisons that both have, 1 have the same sign, by both intervals, 1 the opposite one, 1 are open."
    assert counted in told
    assert " Its main claim there: holds (smaller); CIDEr of 5 samples: A against B +1.5 [" in told
    (row,) = [line for line in page.splitlines() if " on Photos, again | " in line]
    assert "`ba9876543210`" in row
    assert Path("reports/report.html").read_text(encoding="utf-8").count("Photos, A: a paper</h1>") == 2
    write_report_config("a", Photos="reports/photos")
    assert "there again" not in written()


def test_how_often_exchanged_facts_mislead_is_told_by_mean_and_worst_kind(tmp_path: Path):
    table = tmp_path / "tables/wtfrl_exchanged.csv"
    table.parent.mkdir()
    assert misled(tmp_path) == {}
    shares = {"the judge": (90, 50), "what pays": (80, 100)}
    lines = [f"{row},{who},{ours}" for who, both in shares.items() for row, ours in zip(("a", "b"), both, strict=True)]
    table.write_text("\n".join(["row,column,ours", *lines, "c,the judge,"]), encoding="utf-8")
    found = misled(tmp_path)
    assert found == {"the judge": {"a": 10, "b": 50}, "what pays": {"a": 20, "b": 0}}
    assert misled_in_words(found["the judge"]) == "30 of a hundred (mean of 2 kinds; 50 where b is exchanged)"


def test_the_judge_is_said_to_be_misled_as_its_numbers_are():
    judge, alike, other = {"a": 10.0, "b": 50.0}, {"a": 9.0, "b": 45.0}, {"a": 60.0, "b": 20.0}
    assert as_often_misled({"the judge": judge}) == ""
    told = as_often_misled({"the judge": judge, "what pays": alike})
    assert told == "is taken in by false captions about as often"
    told = as_often_misled({"the judge": judge, "what pays": other})
    assert told == "is taken in by false captions less often (30 of a hundred against 40)"
    assert have_one_blind_spot({"the judge": judge, "what pays": alike})
    assert not have_one_blind_spot({"the judge": judge, "what pays": other})
    assert not have_one_blind_spot({"the judge": judge})


def test_the_side_of_an_interval_is_known_before_it_is_rounded(here: Path):
    """In points it ends at -.04, which one decimal would print as 0."""
    line = of_version_1("old", "not significant") | {"difference": "-0.85", "low": "-1.62", "high": "-0.04"}
    invented_results("old", records=[line | {"metric": "own_R@10"}], version=VERSION - 1, explained="")
    (claim,) = Summary.read(Path("reports/old")).claims
    assert (claim.deciding.low, claim.deciding.high, claim.deciding.side) == ("-1.62", "-0.04", -1)


def test_the_last_stage_imports_little():
    heavy = {"torch", "numba", "matplotlib", "pandas"}
    code = f"import sys, seqcap.first_page.report; print(*sorted({heavy} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_newer_results_are_not_read(here: Path):
    invented_results("b", version=VERSION + 1)
    write_report_config("b")
    with pytest.raises(
        InputError, match=r"reports/b/results/claims\.json: has version 3, and this code knows 2; update"
    ):
        written()


def test_the_report_of_a_publication_has_no_commands_of_this_checkout(here: Path):
    """`report.py <folder>` makes the first page of what an experiment has published."""
    write_report_config("a", "b")
    invented_results("a", folder="out")
    report.write_report(ReportConfig.read("report"), Path("out"))
    page = Path("out/report.md").read_text(encoding="utf-8")
    assert "| [A](a/report.md) |" in page
    assert "Not run here: `b`." in page
    assert "seqcap repro" not in page
    assert not Path("reports").exists()


def test_a_paper_without_results_is_named(here: Path):
    """An experiment may publish one paper after the other."""
    write_report_config("a", "b", "c")
    with pytest.raises(InputError, match=r"reports: has no paper's results; run `seqcap repro`"):
        written()
    invented_results("b")
    text = written()
    assert "\nNot run here: `a`, `c`.\n" in text
    assert set(json_file.read_json("reports/metrics.json")) == {"b"}
    for paper in ("a", "c"):
        invented_results(paper)
    assert "Not run here" not in written()


@pytest.mark.parametrize(
    "page", sorted((REPOSITORY / "reports").glob("*/report.md")), ids=lambda page: page.parent.name
)
def test_the_committed_pages_are_short(page: Path):
    first = REPOSITORY / "reports/report.md"
    assert first.stat().st_size <= 59_900
    assert len(first.read_text(encoding="utf-8").splitlines()) <= 309
    if (page.parent / "claims.csv").is_file():
        # What an experiment has published stays as it is until it runs again.
        return
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 500
