"""Verdicts in every branch, and contradictions found in the paper's own numbers."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from seqcap.errors import InputError
from seqcap.reporting import claims
from seqcap.reporting.claims import FAILS, HOLDS, NOT_RUN, UNSURE, Claim, judge, run_claim
from seqcap.reporting.inputs import ReportConfig, Scores, Variant, read_variants


@pytest.mark.parametrize(
    ("difference", "p", "agreeing", "opposed", "seeds", "direction", "verdict"),
    [
        (0.5, 0.01, 3, 0, 3, +1, HOLDS),
        (-0.5, 0.01, 3, 0, 3, -1, HOLDS),
        (-0.5, 0.01, 0, 3, 3, +1, FAILS),
        (0.5, 0.01, 0, 3, 3, -1, FAILS),
        (0.5, 0.05, 3, 0, 3, +1, UNSURE),
        (0.5, None, 3, 0, 3, +1, HOLDS),
        (-0.5, None, 0, 3, 3, +1, FAILS),
        (0.5, None, 2, 1, 3, +1, UNSURE),
        (0.5, None, 2, 0, 2, +1, UNSURE),  # too few seeds
        (0.0, None, 0, 0, 3, +1, UNSURE),
    ],
)
def test_verdicts(difference, p, agreeing, opposed, seeds, direction, verdict):
    assert judge(difference, p, agreeing, opposed, seeds, direction) == verdict


def system(name: str, levels: list[float], seeds: tuple[int, ...] = (1, 2, 3), shift: int = 0) -> list[dict]:
    """Per-image Div2 of a set, the same in every seed."""
    keys = {"variant": name, "decoder": "sample", "rank": None, "metric": "Div2"}
    return [
        keys | {"seed": seed, "image_id": image + shift, "value": level}
        for seed in seeds
        for image, level in enumerate(levels)
    ]


def corpus(name: str, by_seed: list[float]) -> list[dict]:
    keys = {"variant": name, "decoder": "sample", "rank": None, "metric": "Div2", "image_id": None}
    return [keys | {"seed": seed, "value": value} for seed, value in enumerate(by_seed, start=1)]


VARIANTS = [Variant(name, name, "lstm", "self_critical", [1, 2, 3]) for name in ("a", "b", "base")]


def outcome(rows: list[dict], direction: int = +1, base: str | None = None) -> claims.Result:
    claim = Claim("C0", "a is more than b", "Div2", "sample", "set", "a", "b", direction, None, base)
    return run_claim(claim, Scores(pd.DataFrame(rows), {}), VARIANTS)


HARD = [0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4]


def test_pairing_finds_a_small_difference_between_images_that_vary_much():
    result = outcome([*system("a", [level + 0.01 for level in HARD]), *system("b", HARD)])
    assert result.verdict == HOLDS
    assert result.difference == pytest.approx(0.01)
    assert result.low == pytest.approx(0.01)
    assert result.agreement == "3/3"


def test_an_opposite_difference_does_not_hold():
    result = outcome([*system("a", HARD), *system("b", [level + 0.01 for level in HARD])])
    assert result.verdict == FAILS
    assert result.agreement == "0/3"


def test_a_difference_that_images_disagree_on_is_not_significant():
    mixed = [level + (0.1 if image % 2 else -0.09) for image, level in enumerate(HARD)]
    result = outcome([*system("a", mixed), *system("b", HARD)])
    assert result.verdict == UNSURE
    assert result.p_value is not None
    assert result.p_value > 0.05


def test_equal_systems_are_not_significant():
    result = outcome([*system("a", HARD), *system("b", HARD)])
    assert (result.verdict, result.p_value, result.agreement) == (UNSURE, 1.0, "0/3")


def test_a_corpus_metric_asks_the_seeds():
    result = outcome([*corpus("a", [0.5, 0.6, 0.7]), *corpus("b", [0.4, 0.4, 0.4])])
    assert (result.verdict, result.p_value, result.agreement) == (HOLDS, None, "3/3")
    assert result.difference == pytest.approx(0.2)
    assert (result.low, result.high) == pytest.approx((0.1, 0.3))
    assert outcome([*corpus("a", [0.5, 0.6, 0.3]), *corpus("b", [0.4, 0.4, 0.4])]).verdict == UNSURE


def test_a_claim_about_the_size_of_changes():
    base = system("base", HARD)
    less, more = system("b", [level - 0.01 for level in HARD]), system("a", [level - 0.2 for level in HARD])
    result = outcome([*base, *less, *more], base="base")
    assert result.verdict == HOLDS
    assert (result.left, result.right) == pytest.approx((0.2, 0.01))
    assert result.claim.sides() == ("|a - base|", "|b - base|")


def test_only_common_seeds_are_compared():
    result = outcome([*system("a", HARD, seeds=(1, 2)), *system("b", [0.0] * 8, seeds=(2, 3))])
    assert result.seeds == 1
    apart = outcome([*system("a", HARD, seeds=(1,)), *system("b", HARD, seeds=(2,))])
    assert apart.verdict == NOT_RUN
    assert "no seed in common" in apart.reason


def test_a_missing_system_is_not_run():
    result = outcome(system("a", HARD))
    assert result.verdict == NOT_RUN
    assert result.reason == "no scores of variant b"
    gone = run_claim(result.claim, Scores(pd.DataFrame(system("a", HARD)), {}), VARIANTS[:1])
    assert gone.reason == "variant b is not in params.yaml"


def test_a_corpus_score_against_scores_per_image_is_not_run():
    result = outcome([*system("a", HARD), *corpus("b", [0.1, 0.2, 0.3])])
    assert result.verdict == NOT_RUN
    assert "some variants only" in result.reason


def test_different_images_are_an_error():
    with pytest.raises(InputError, match="different images"):
        outcome([*system("a", HARD), *system("b", HARD, shift=1)])


def test_the_runs_claims_hold_as_it_was_made(run):
    run.write()
    variants = read_variants("sle")
    results = claims.run_claims("sle", Scores.read("sle"), variants)
    verdicts = {(result.claim.number, result.claim.metric, result.claim.decoder): result for result in results}
    assert verdicts["C1", "CIDEr", "sample"].verdict == HOLDS
    assert verdicts["C2", "mBleu4", "sample"].verdict == HOLDS
    assert verdicts["C10", "recall_true", "sample"].verdict == HOLDS
    assert verdicts["C9", "METEOR", "beam"].verdict == NOT_RUN
    assert verdicts["C9", "SPICE", "beam"].reason == "SPICE: not computed yet"
    first = verdicts["C1", "CIDEr", "sample"]
    assert first.difference == pytest.approx(40, abs=2)  # x100

    claims.write_claims({"sle": results}, variants, ReportConfig.read())
    with Path("reports/claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == claims.COLUMNS
    assert len(rows) == len(claims.SLE_CLAIMS)
    assert {row["verdict"] for row in rows} <= {HOLDS, FAILS, UNSURE, NOT_RUN}
    for row in rows:
        assert (row["difference"] == "") == (row["verdict"] == NOT_RUN)
    text = Path("reports/claims.md").read_text(encoding="utf-8")
    assert claims.counted(results) in text
    assert "METEOR: Java was not found" in text
    assert "nan" not in text.lower()


def test_claims_have_the_sign_that_the_paper_prints():
    for claim in claims.SLE_CLAIMS:
        printed = claim.paper_difference()
        if claim.table is None:
            assert printed is None
        else:
            assert printed is not None
            assert printed * claim.direction > 0, claim


def test_truth_is_not_run_where_facts_are_unknown(run):
    run.dataset = "flickr8k"
    run.write()
    results = claims.run_claims("sle", Scores.read("sle"), read_variants("sle"))
    assert {result.verdict for result in results if result.claim.number == "C10"} == {NOT_RUN}


def test_errors_of_the_paper_are_computed():
    found = claims.paper_errors()
    assert len(found) == 3
    assert "0.2/1.8/0.2" in found[0]
    assert found[0].endswith("gives the stated CIDEr.")
    assert "mean-pooled 0.2/1.6/0.2" in found[0]
    assert "swapped" in found[1]
    assert "SLL (bs), SLL-ME (bs), SLL-SLE (bs)" in found[2]
