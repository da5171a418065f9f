"""Every published cell appears once, ours beside it in its scale, or a reason."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from seqcap import artifacts
from seqcap.reporting import published, tables
from seqcap.reporting.inputs import ReportConfig, Scores, read_variants


def build(run) -> dict[str, tables.Table]:
    run.write()
    made = tables.sle_tables(Scores.read("sle"), read_variants("sle"), ReportConfig.read())
    return {table.name: table for table in made}


def lines(table: tables.Table) -> pd.DataFrame:
    table.write()
    path = Path(f"reports/tables/{table.name}.csv")
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_every_published_cell_appears_once_as_printed(run, number: int):
    ours = lines(build(run)[f"sle_table{number}"])
    theirs = published.published_table("sle", number)
    assert list(ours.columns) == tables.COLUMNS
    keys = ["block", "row", "column"]
    assert ours[keys].to_numpy().tolist() == theirs[keys].to_numpy().tolist()
    assert ours["paper"].tolist() == theirs["printed"].tolist()
    assert ours["direction"].tolist() == theirs["direction"].tolist()


def test_every_number_has_an_interval_and_every_gap_a_reason(run):
    for table in build(run).values():
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


def test_table_4_notes_the_papers_reuse_of_table_2(run):
    notes = lines(build(run)["sle_table4"]).set_index(["row", "column"])["note"]
    assert "prints Table 2's value" in notes["SLL-SLE (bs)", "CIDEr"]
    assert "prints Table 2's value" not in notes["SLL-SLE (rs)", "CIDEr"]


def test_truth_has_every_variant_and_human_captions(run):
    cells = lines(build(run)["sle_truth"])
    assert cells["row"].drop_duplicates().tolist()[-1] == "human captions"
    human = cells[cells["row"] == "human captions"].set_index("column")
    assert float(human.loc["precision, 5 samples", "ours"]) == pytest.approx(0.99, abs=0.03)
    assert human.loc["precision, 5 samples", "n"] == "12 images"
    assert human.loc["precision, beam", "ours"] == ""
    assert len(cells) == 9 * len(tables.TRUTH)


def test_truth_is_one_note_where_facts_are_unknown(run):
    run.dataset = "flickr8k"
    cells = lines(build(run)["sle_truth"])
    assert len(cells) == 1
    assert cells.loc[0, "note"].startswith("Not measured on flickr8k")
    assert (cells.drop(columns="note") == "").all(axis=None)


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


def test_csv_is_the_same_twice(run):
    table = build(run)["sle_table4"]
    table.write()
    first = Path("reports/tables/sle_table4.csv").read_bytes()
    table.write()
    assert Path("reports/tables/sle_table4.csv").read_bytes() == first
    with Path("reports/tables/sle_table4.csv").open(encoding="utf-8", newline="") as file:
        assert all(len(record) == len(tables.COLUMNS) for record in csv.reader(file))
