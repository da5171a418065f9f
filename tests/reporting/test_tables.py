"""Ours in the printed scale with an interval, or a reason; both papers' tables."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import tables
from seqcap.reporting.inputs import Scores


def build(run) -> dict[str, tables.Table]:
    read = run.read()
    return {name: make(read) for name, make in read.paper.tables.items()}


def lines(table: tables.Table) -> pd.DataFrame:
    """The table's CSV file."""
    table.write("table")
    return pd.read_csv("reports/tables/table.csv", dtype=str, keep_default_na=False)


@pytest.mark.parametrize("paper", ["run", "spider"])
def test_every_number_has_an_interval_and_every_gap_a_reason(paper: str, request: pytest.FixtureRequest):
    for table in build(request.getfixturevalue(paper)).values():
        cells = lines(table)
        empty = cells[cells["ours"] == ""]
        assert (empty["note"] != "").all()
        assert (empty[["ours_low", "ours_high", "n"]] == "").all(axis=None)
        full = cells[cells["ours"] != ""]
        assert full["note"].str.contains("stands in for COCO").all()
        assert (full["n"] != "").all()
        bounded = full[full["ours_low"] != ""]
        assert (bounded["ours_low"].astype(float) <= bounded["ours"].astype(float)).all()
        assert (bounded["ours_high"].astype(float) >= bounded["ours"].astype(float)).all()
        unbounded = full[full["ours_low"] == ""]
        assert unbounded["n"].isin(["1 seed"]).all()


def test_ours_is_in_the_printed_scale(run):
    cells = lines(build(run)["sle_table1"]).set_index(["row", "column"])
    scores = Scores.read("sle")
    images = scores.per_image("sll", "sample", "CIDEr", "every")
    corpus = scores.corpus("sll", "sample", "mBleu4")
    assert images is not None
    assert corpus is not None
    assert float(cells.loc[("SLL", "CIDEr"), "ours"]) == pytest.approx(images.to_numpy().mean() * 100, abs=0.006)
    assert cells.loc[("SLL", "CIDEr"), "n"] == "12 images x 3 seeds"
    assert float(cells.loc[("SLL", "mBleu4"), "ours"]) == pytest.approx(0.802)
    assert float(cells.loc[("SLL", "mBleu4"), "ours_low"]) == pytest.approx(0.801)
    assert float(cells.loc[("SLL", "mBleu4"), "ours_high"]) == pytest.approx(0.803)


def test_meteor_is_the_corpus_value_with_the_width_of_sentence_scores(run):
    run.missing_metrics = {"SPICE": "later"}
    run.write()
    made = tables.estimate(Scores.read("sle"), "sll", "beam", "METEOR", "best")
    assert made.value == pytest.approx(0.26)
    assert made.low is not None
    assert made.high is not None
    assert made.low < 0.26 < made.high


def test_reasons_of_empty_cells(run):
    run.variants = [name for name in run.variants if name != "sll_me"]
    cells = lines(build(run)["sle_table2"]).set_index(["row", "column"])["note"]
    assert cells["SLL", "METEOR"] == "METEOR: Java was not found"
    assert cells["SLL-ME", "CIDEr"] == "variant sll_me is not in params.yaml"
    assert cells["NIC", "CIDEr"] == "another system's published number; not re-run"
    assert cells["NIC", "SPICE"].endswith("the paper reports no number")


def test_one_seed_of_a_corpus_metric_has_no_interval(run):
    run.seeds = (1,)
    cells = lines(build(run)["sle_table4"]).set_index(["row", "column"])
    cell = cells.loc[("SLL (rs)", "mBleu4")]
    assert (cell["ours"], cell["ours_low"], cell["n"]) == ("0.8010", "", "1 seed")
    assert "no interval" in cell["note"]


def test_quality_spans_the_seeds(run):
    cells = lines(build(run)["sle_quality"])
    bleu = cells[(cells["block"] == "lstm, beam") & (cells["row"] == "SLL") & (cells["column"] == "BLEU2")].iloc[0]
    assert [bleu["ours"], bleu["ours_low"], bleu["ours_high"]] == ["35.20", "35.10", "35.30"]
    assert len(cells) == 2 * 8 * len(tables.QUALITY)


def test_a_variant_of_ones_own_is_in_our_tables_only(run):
    run.variants = [*run.variants, "sll_mine"]
    made = build(run)
    assert "sll_mine" in set(lines(made["sle_quality"])["row"])
    assert not lines(made["sle_table2"])["row"].str.contains("mine").any()


def test_markdown_shows_paper_and_ours(run):
    table = build(run)["sle_table2"]
    text = table.markdown()
    row = next(line for line in text.splitlines() if "| SLL-SLE\\* |" in line)
    assert "119.6" in row
    assert "[" in row
    assert "- (a) another system's published number; not re-run" in text
    assert "nan" not in text.lower()


def test_a_metric_that_is_undefined_everywhere_says_so(run):
    run.write()
    rows = [row for row in run.scores() if row["metric"] == "precision_true"]
    artifacts.write_rows("artifacts/sle/scores.parquet", [row | {"value": None} for row in rows], artifacts.SCORES)
    made = tables.estimate(Scores.read("sle"), "sll", "sample", "precision_true", "every")
    assert made.value is None
    assert made.remarks == ("precision_true is undefined for every test image",)


def test_a_column_that_is_better_neither_way_has_no_arrow():
    cell = tables.Cell("", "row", "words", "", "", tables.Estimate(7.5, n="1 seed"), 1.0, "data")
    assert "| row | words ours | n |" in tables.Table("t", "r", [cell]).markdown()
    assert "| row | words ↓ ours | n |" in tables.Table("t", "r", [replace(cell, direction="lower")]).markdown()


def pair(**changes: object) -> list[dict[str, object]]:
    """Two systems of which a is .1 above b for every image; corpus values .3 apart."""
    keys = {"seed": 1, "decoder": "beam", "metric": "METEOR"} | changes
    rows = []
    for name, level in (("a", 0.1), ("b", 0.0)):
        rows += [keys | {"variant": name, "image_id": i, "rank": 0, "value": i / 10 + level} for i in range(6)]
        rows.append(keys | {"variant": name, "image_id": None, "rank": None, "value": 3 * level})
    return rows


def test_a_gain_is_paired_and_of_the_corpus_value():
    made = tables.gain(Scores(pd.DataFrame(pair()), {}), "a", "b", "beam", "METEOR")
    assert (made.value, made.low, made.high) == pytest.approx((0.3, 0.3, 0.3))
    assert made.n == "6 images x 1 seed"
    only_images = [row for row in pair() if row["image_id"] is not None]
    assert tables.gain(Scores(pd.DataFrame(only_images), {}), "a", "b", "beam", "METEOR").value == pytest.approx(0.1)


def test_a_gain_that_cannot_be_computed_says_why():
    rows = pair()
    mine, others = rows[:7], rows[7:]
    scores = Scores(pd.DataFrame([*mine, *(row | {"seed": 2} for row in others)]), {})
    assert tables.gain(scores, "a", "b", "beam", "METEOR").remarks == ("a and b have no seed in common",)
    assert tables.gain(scores, "a", "c", "beam", "METEOR").remarks == ("no scores of variant c",)
    undefined = Scores(pd.DataFrame([row | {"value": None} for row in rows]).astype({"value": float}), {})
    assert "undefined" in tables.gain(undefined, "a", "b", "beam", "METEOR").remarks[0]
    shifted = [row | {"image_id": row["image_id"] + 1} for row in others[:-1]]
    with pytest.raises(InputError, match="a and b were scored on different images"):
        tables.gain(Scores(pd.DataFrame([*mine, *shifted]), {}), "a", "b", "beam", "METEOR")


def test_human_captions_have_no_seeds(run):
    read = run.read()
    columns = {"precision": tables.Measure("sample", "precision_true", "every", scale=100.0)}
    (people,) = tables.measured_cells(read, "people", tables.HUMAN, columns)
    (sll,) = tables.measured_cells(read, "lstm", read.by_name["sll"], columns)
    assert (people.ours.n, sll.ours.n) == ("12 images", "12 images x 3 seeds")
    assert float(sll.number(sll.ours.value)) == pytest.approx(90, abs=4)


def test_csv_is_the_same_twice(run):
    table = build(run)["sle_table4"]
    path = Path("reports/tables/table.csv")
    table.write("table")
    first = path.read_bytes()
    table.write("table")
    assert path.read_bytes() == first
    with path.open(encoding="utf-8", newline="") as file:
        assert all(len(record) == len(tables.COLUMNS) for record in csv.reader(file))
