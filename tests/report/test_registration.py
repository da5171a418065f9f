"""What a pilot says of the next run: seeds, what they find, and what cannot be decided."""

import shutil
from pathlib import Path

import pytest
from invented_evidence import evidence, side

from seqcap import papers
from seqcap.errors import InputError
from seqcap.files import json_file
from seqcap.report import statistics
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.evidence import Registered
from seqcap.report.judging import judge, pilot_of
from seqcap.report.registration import register, registered
from seqcap.report.verdicts import UNDECIDABLE

SPIDER = Path("src/seqcap/papers/spider")


def of(**changes):
    (judged,) = judge([evidence(**changes)])
    return registered(judged, "2026-12-01")


def test_seeds_follow_from_the_printed_difference():
    found = of(scatter=1, printed=(52, 50))
    assert found.seeds == statistics.seeds_needed(evidence(scatter=1).spread, 3, 2.0)
    assert 3 < found.seeds <= 8
    assert found.finds <= 2.0
    assert (found.needs, found.lacks) == (None, "")
    assert found.pilot == pilot_of(evidence(scatter=1))
    # A large one takes no fewer than a verdict does; without any they are the pilot's.
    assert of(scatter=1, printed=(90, 50)).seeds == 3
    assert of(scatter=1, seeds=4).seeds == 4
    # "No worse" has to find the margin, 3 of 100, besides what is printed.
    assert of(scatter=1, rule="no worse", printed=(50.5, 50)).seeds < of(scatter=1, printed=(50.5, 50)).needs


def test_what_takes_more_than_eight_seeds_cannot_be_decided():
    found = of(scatter=1, printed=(50.6, 50))
    assert found.needs > 8
    assert found.seeds == 3
    assert found.lacks == f"needs {found.needs} seeds"
    # Items that all seeds share are no more of them with more seeds.
    shared = tuple((1.0,) * (row + 1) if row < 3 else (0.0,) * 3 + (1.0,) * (row - 2) for row in range(6))
    assert of(scatter=0.1, covariance=shared, printed=(50.6, 50)).needs == 0


def test_of_several_comparisons_the_hardest_counts():
    easy = evidence(scatter=1, printed=(60, 50))
    hard = evidence(scatter=1, printed=(50.6, 50))
    (judged,) = judge([easy, hard])
    assert registered(judged, "2026-12-01").needs == of(scatter=1, printed=(50.6, 50)).needs


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"untestable": "a listener is dead"}, "a listener is dead"),
        ({"seeds": 1}, "the pilot has a single seed"),
        ({"sides": (), "covariance": (), "absent": True}, "the pilot has a single seed"),
    ],
)
def test_what_was_not_measured_registers_nothing(changes, why):
    assert of(**changes) == why


def test_it_is_written_into_claims_yaml_once(tmp_path, monkeypatch):
    shutil.copytree(Path(__file__).parents[2] / SPIDER, tmp_path / "spider")
    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    file = tmp_path / "spider/claims.yaml"
    file.write_text(file.read_text().replace("  - id: S3\n", "  - id: S3\n    control: true\n"))
    paper = papers.load("spider")
    pilot = [
        evidence(claim="S2", scatter=1, printed=(52, 50)),
        evidence(claim="S3", scatter=1, printed=(50.6, 50)),
        evidence(claim="S5", seeds=1),
    ]
    said = {"version": 2, "rule": "abc", "claims": [{"records": [of.model_dump(mode="json")]} for of in pilot]}
    results = tmp_path / "reports/spider/results"
    results.mkdir(parents=True)
    for name, content in (("claims", said), ("metrics", {}), ("provenance", {})):
        json_file.write_json(results / f"{name}.json", content)
    (results / "curves.csv").write_text("")
    for day in ("2026-12-01", "2026-12-02"):
        words = register(paper, day, tmp_path / "reports")
    assert [line.partition(":")[0] for line in words] == ["S2", "S3", "S5"]
    assert words[2] == "S5: nothing registered: the pilot has a single seed"
    stated = {claim.id: claim.registered for claim in ClaimsFile.read(paper).claims}
    assert isinstance(stated["S2"], Registered)
    assert {claim for claim, found in stated.items() if found and found.day == "2026-12-02"} >= {"S2", "S3"}
    # Another run is judged by it.
    sides = side("A", {1: 103.0, 2: 101.0, 3: 102.5}), side("B", {1: 100.0, 2: 100.5, 3: 101.0})
    next_run = evidence(claim="S3", registered=stated["S3"], sides=sides)
    assert judge([next_run])[0].verdict == UNDECIDABLE
    json_file.write_json(results / "claims.json", said | {"version": 1})
    with pytest.raises(InputError, match="older version"):
        register(paper, "2026-12-03", tmp_path / "reports")
