"""Ours in the printed scale with an interval, or a reason; files of tables."""

from dataclasses import replace

import pytest
from invented_papers import lines
from invented_runs import counts_of, scores_of

from seqcap.report import tables

SMOOTHING_TABLES = ("smoothing_table1", "smoothing_table2", "smoothing_table3")


def test_a_run_of_a_sweep_has_no_row(sle):
    sle.names.append("sweep_pairwise_50")
    with_row = lines(sle.read(), "sle_table2")
    assert with_row["row"].str.contains("sweep").any()
    entry = sle.entry
    sle.entry = lambda name: entry(name).model_copy(update={"row": not name.startswith("sweep")})
    assert not lines(sle.read(), "sle_table2")["row"].str.contains("sweep").any()


def test_one_seed_has_an_interval_over_items_and_says_so(sle):
    sle.seeds = (1,)
    cell = lines(sle.read(), "sle_table4").set_index(["row", "column"]).loc[("SLL (rs)", "mBleu4")]
    assert (cell["ours"], cell["n"]) == ("0.8010", "12 images x 1 seed")
    assert cell["ours_low"] < cell["ours"] < cell["ours_high"]
    assert cell["note"].endswith("one training seed: the interval is over test images alone")


def test_a_corpus_metric_that_has_no_items_has_a_range_of_seeds(sle):
    sle.names = ["sll"]
    made = tables.Measure("sample", "vocabulary", "set").of(sle.read(), "sll")
    assert (made.value, made.low, made.high) == pytest.approx((0.502, 0.501, 0.503))
    assert (made.n, made.remarks) == ("12 images x 3 seeds", (f"[ ]: {tables.SEEDS}",))
    assert "range over seeds" in tables.SEEDS
    sle.seeds = (2,)
    lone = tables.Measure("sample", "vocabulary", "set").of(sle.read(), "sll")
    assert (lone.low, lone.n, lone.remarks) == (None, "12 images x 1 seed", ("one seed: no range",))


def cell(row: str, column: str, *remarks: str, value: float | None = 1.0, seeds: int = 3) -> tables.Cell:
    n = "" if value is None else tables.sizes(9, "images", (seeds,))
    return tables.Cell(
        "", row, column, "", "", tables.Estimate(value, None, None, n, remarks, seeds=seeds), 1, 2, "here"
    )


def notes(*cells: tables.Cell) -> list[str]:
    text = tables.Table("A table", "How to read it.", list(cells)).markdown()
    return [line for line in text.splitlines() if line.startswith("- ")]


def test_notes_are_said_once_of_what_they_are_of():
    whole = [cell(row, column, "of all") for row in "ab" for column in "xy"]
    assert notes(*whole) == ["- Of all."]
    assert notes(cell("a*", "x", "r"), cell("a*", "y", "r"), cell("b", "x"), cell("b", "y")) == ["- a\\*: r."]
    assert notes(cell("a", "x", "r"), cell("a", "y"), cell("b", "x", "r"), cell("b", "y")) == ["- x: r."]
    assert notes(cell("a", "x", "r"), cell("a", "y"), cell("b", "x"), cell("b", "y", "r")) == ["- a, x; b, y: r."]
    # A reason why there is no number is of its rows, even where all without one have it; it may begin with their name.
    assert notes(cell("a", "x"), cell("b", "x", "not run", value=None)) == ["- b: not run."]
    assert notes(cell("a", "x"), cell("b", "x", "b does not get there", value=None)) == ["- B does not get there."]


def test_what_all_numbers_are_of_stands_once():
    same = tables.Table("A table", "", [cell("a", "x"), cell("b", "x")]).markdown()
    assert "| row | x |" in same
    assert "Ours: 9 images x 3 seeds." in same
    apart = tables.Table("A table", "", [cell("a", "x"), cell("b", "x", seeds=1)]).markdown()
    assert "| row | x | n |" in apart
    assert "| b ° | 1.0 | 9 images x 1 seed |" in apart


def test_a_row_of_a_run_that_is_not_there_is_counted_alone():
    """Even where another of its columns has no number for a reason of its own."""
    gone = replace(cell("b", "x", "run b is not part of these results", value=None))
    gone = replace(gone, ours=replace(gone.ours, absent=True))
    text = tables.Table("A table", "", [cell("a", "x"), cell("a", "y"), gone, cell("b", "y", value=None)]).markdown()
    assert "| b |" not in text
    assert "1 row is not part of this run." in text
    assert "run b is not part" not in text


def test_a_table_without_a_row_of_ours_is_a_line():
    """Other systems' published numbers alone are no comparison."""
    gone = cell("b", "x", "run b is not part of these results", value=None)
    gone = replace(gone, ours=replace(gone.ours, absent=True))
    other = cell("a", "x", "another system's published number; not re-run", value=None)
    text = tables.Table("A table", "Its reading.", [other, gone]).markdown()
    assert "| a |" not in text
    assert text.endswith("\n\nNo row of it is part of this run. The published numbers are in its CSV file.\n")
    assert "| a |" in tables.Table("A table", "Its reading.", [other]).markdown()


def pair(**changes: object) -> list[dict[str, object]]:
    """SLL is .1 above XE for every image; corpus values .3 apart."""
    keys = {"seed": 1, "decoder": "beam", "metric": "METEOR"} | changes
    rows = []
    for name, level in (("sll", 0.1), ("xe", 0.0)):
        rows += [keys | {"run": name, "item": i, "rank": 0, "value": i / 10 + level} for i in range(6)]
        rows.append(keys | {"run": name, "item": None, "rank": None, "value": 3 * level})
    return rows


def gained(sle, rows: list[dict[str, object]], base: str = "xe", metric: str = "METEOR") -> tables.Estimate:
    """The gain of SLL, of these scores."""
    return tables.Measure("beam", metric).gain(replace(sle.read(), scores=scores_of(rows)), "sll", base)


def test_a_gain_is_paired_and_of_the_corpus_value(sle):
    sle.names = ["sll", "xe"]
    made = gained(sle, pair())
    assert (made.value, made.low, made.high) == pytest.approx((0.3, 0.3, 0.3))
    assert made.n == "6 images x 1 seed"
    assert gained(sle, [row for row in pair() if row["item"] is not None]).value == pytest.approx(0.1)


def test_a_gain_speaks_of_other_seeds(sle):
    """All images gain .1 with one seed, .2 and .3 with the others."""
    sle.names = ["sll", "xe"]
    rows = []
    for seed in (1, 2, 3):
        more = 0.1 * (seed - 1)
        rows += [row | {"seed": seed, "value": row["value"] + more * (row["run"] == "sll")} for row in pair()]
    made = gained(sle, [row for row in rows if row["item"] is not None])
    reach = 4.3027 * 0.1 / 3**0.5
    assert (made.value, made.low, made.high) == pytest.approx((0.2, 0.2 - reach, 0.2 + reach), rel=1e-4)
    assert made.n == "6 images x 3 seeds"


def test_a_gain_of_a_corpus_metric(sle):
    sle.names = ["sll", "xe"]
    rows = []
    for name, level in (("sll", 0.5), ("xe", 0.3)):
        for seed in (1, 2):
            keys = {"run": name, "seed": seed, "decoder": "beam"}
            rows += counts_of(keys, "BLEU1-4", [level + noise for noise in (-0.1, 0.0, 0.1)])
    made = gained(sle, rows, metric="BLEU4")
    assert (made.value, made.low, made.high) == pytest.approx((0.2, 0.2, 0.2))


def test_a_gain_that_cannot_be_computed_says_why(sle):
    sle.names = ["sll", "xe", "sll_me"]
    rows = pair()
    mine, others = rows[:7], rows[7:]
    apart = [*mine, *(row | {"seed": 2} for row in others)]
    # Of other seeds it can be computed, over test images.
    assert gained(sle, apart).remarks == ("one training seed: the interval is over test images alone",)
    assert gained(sle, apart, "sll_me").remarks == ("no scores of run sll_me",)
    assert gained(sle, apart, "nobody").remarks == ("run nobody is not part of these results",)
    assert gained(sle, [row | {"value": None} for row in rows]).remarks == ("METEOR is undefined for every test image",)
