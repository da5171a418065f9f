"""Ours in the printed scale with an interval, or a reason; files of tables."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from invented_papers import lines
from invented_runs import counts_of, scores_of

from seqcap import papers
from seqcap.files import json_file
from seqcap.metrics.registry import QUALITY_TABLE
from seqcap.report import tables

SMOOTHING_TABLES = ("smoothing_table1", "smoothing_table2", "smoothing_table3")


@pytest.mark.parametrize("paper", ["sle", "spider"])
def test_every_number_has_an_interval_and_every_gap_a_reason(paper: str, request: pytest.FixtureRequest):
    run = request.getfixturevalue(paper).read()
    for name in run.paper.tables:
        cells = lines(run, name)
        empty = cells[cells["ours"] == ""]
        assert (empty["note"] != "").all()
        assert (empty[["ours_low", "ours_high", "n"]] == "").all(axis=None)
        full = cells[cells["ours"] != ""]
        assert full["note"].str.contains("stands in for (?:COCO|TGIF)").all()
        assert (full["n"] != "").all()
        bounded = full[full["ours_low"] != ""]
        assert (bounded["ours_low"].astype(float) <= bounded["ours"].astype(float)).all()
        assert (bounded["ours_high"].astype(float) >= bounded["ours"].astype(float)).all()
        unbounded = full[full["ours_low"] == ""]
        assert unbounded["n"].str.endswith(" x 1 seed").all()


def test_a_run_that_the_paper_lacks_stands_below_those_like_it(sle, monkeypatch: pytest.MonkeyPatch):
    before = {name: lines(sle.read(), name) for name in ("sle_table1", "sle_table2", "sle_table4")}
    facts = papers.load("sle").facts
    rows = {
        table: {row: source for row, source in of_table.items() if source[0] != "sll_me"}
        for table, of_table in facts.rows.items()
    }
    less = replace(papers.load("sle"), facts=facts.model_copy(update={"rows": rows}))
    monkeypatch.setattr(papers, "load", lambda name: less)
    for name, decoders in (("sle_table1", [""]), ("sle_table2", [""]), ("sle_table4", [", sample", ", beam"])):
        cells = lines(sle.read(), name)
        ours = cells[cells["row"].str.startswith("SLL-ME") & cells["note"].str.contains("not in the paper")]
        # The label is that of a printed row.
        label = "SLL-ME" if name != "sle_table2" else "SLL-ME, sll_me"
        assert list(dict.fromkeys(ours["row"])) == [label + decoder for decoder in decoders]
        assert (ours["paper"] == "").all()
        assert set(ours["block"]) == set(cells.loc[cells["row"].str.match(r"(XE|SLL)( \((rs|bs)\))?$"), "block"])
        columns = list(dict.fromkeys(cells["column"]))
        assert ours["column"].tolist() == columns * len(decoders)
        if name == "sle_table4":
            printed = before[name][before[name]["row"].str.startswith("SLL-ME (")]
            assert ours["ours"].tolist() == printed["ours"].tolist()
            assert ours["ours"].ne("").all()
    table = tables.make_table(sle.read(), "sle_table2").markdown()
    assert table.count("| SLL-ME, sll_me | – |") == 1


def test_a_run_that_the_paper_lacks_has_rows_in_tables_of_its_task_alone(smoothing):
    entry, entries = smoothing.entry, smoothing.entries
    ours = entry("de_en_tok").model_copy(update={"name": "de_en_mine", "label": "Tok, of our own"})
    smoothing.entries = lambda: [*entries(), ours]
    run = smoothing.read()
    made = {name: set(lines(run, name)["row"]) for name in SMOOTHING_TABLES}
    assert [name for name, rows in made.items() if "Tok, of our own" in rows] == ["smoothing_table3"]


def test_a_run_of_a_sweep_has_no_row(sle):
    sle.names.append("sweep_pairwise_50")
    with_row = lines(sle.read(), "sle_table2")
    assert with_row["row"].str.contains("sweep").any()
    entry = sle.entry
    sle.entry = lambda name: entry(name).model_copy(update={"row": not name.startswith("sweep")})
    assert not lines(sle.read(), "sle_table2")["row"].str.contains("sweep").any()


def test_ours_is_in_the_printed_scale(sle):
    cells = lines(sle.read(), "sle_table1").set_index(["row", "column"])
    items = sle.read().scores.per_item("sll", "sample", "CIDEr", "every")
    assert float(cells.loc[("SLL", "CIDEr"), "ours"]) == pytest.approx(items.to_numpy().mean() * 100, abs=0.006)
    assert cells.loc[("SLL", "CIDEr"), "n"] == "12 images x 3 seeds"
    assert float(cells.loc[("SLL", "mBleu4"), "ours"]) == pytest.approx(0.802)
    # Of images, too: seeds are .801 to .803.
    assert 0.77 < float(cells.loc[("SLL", "mBleu4"), "ours_low"]) < 0.79
    assert 0.81 < float(cells.loc[("SLL", "mBleu4"), "ours_high"]) < 0.83
    assert cells.loc[("SLL", "mBleu4"), "n"] == "12 images x 3 seeds"


def test_reasons_of_empty_cells(sle):
    sle.names = ["sll", "sll_sle"]
    cells = lines(sle.read(), "sle_table2").set_index(["row", "column"])["note"]
    assert cells["SLL", "METEOR"] == "the evaluate stage wrote no METEOR for sll (beam)"
    assert cells["SLL-ME", "CIDEr"] == "run sll_me is not part of these results"
    assert cells["NIC", "CIDEr"] == "another system's published number; not re-run"
    assert cells["NIC", "SPICE"].endswith("the paper reports no number")


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


def test_quality_spans_the_seeds(sle):
    """A run of the user's own is in our tables, too."""
    sle.names = ["sll", "sll_mine"]
    cells = lines(sle.read(), "sle_quality")
    bleu = cells[(cells["block"] == "lstm, beam") & (cells["row"] == "SLL") & (cells["column"] == "BLEU2")].iloc[0]
    assert [bleu["ours"], bleu["ours_low"], bleu["ours_high"]] == ["35.20", "35.10", "35.30"]
    assert len(cells) == 2 * 2 * len(QUALITY_TABLE)
    assert set(cells["row"]) == {"SLL", "sll_mine"}


def test_markdown_shows_paper_and_ours(sle):
    text = tables.make_table(sle.read(), "sle_table2").markdown()
    row = next(line for line in text.splitlines() if "| SLL-SLE\\* ° |" in line)
    assert "119.6" in row
    assert "[" in row
    assert "Top-Down-XE; Top-Down-SLL: another system's published number; not re-run." in text
    assert "nan" not in text.lower()


def test_rows_stand_with_all_their_seeds(sle):
    """Five seeds of SLL beside three of the others; one with attention is marked."""
    entry = sle.entry
    sle.entry = lambda name: entry(name).model_copy(update={"seeds": (1, 2, 3, 4, 5)} if name == "sll" else {})
    run = sle.read()
    made = lines(run, "sle_table2").set_index(["row", "column"]).loc[("SLL", "CIDEr")]
    assert made["n"] == "12 images x 5 seeds"
    every = run.scores.by_seed("sll", "beam", "CIDEr") * 100
    assert float(made["ours"]) == pytest.approx(every.mean(), abs=0.006)
    assert abs(float(made["ours"]) - every[:3].mean()) > 0.006
    text = tables.make_table(run, "sle_table2").markdown()
    assert "| SLL-SLE |" in text
    assert text.count("°: fewer than three training seeds, an estimate") == 1
    assert "one training seed:" not in text.lower()
    assert "°" not in tables.make_table(run, "sle_table3").markdown()
    # What claims compare has the seeds of both.
    gain = tables.Measure("beam", "CIDEr").gain(run, "sll", "xe")
    assert gain.n == "12 images x 5 and 3 seeds"
    assert 100 * gain.value == pytest.approx(every.mean() - 100 * run.scores.by_seed("xe", "beam", "CIDEr").mean())


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


def pair(**changes: object) -> list[dict[str, object]]:
    """SLL is .1 above XE for every image; corpus values .3 apart."""
    keys = {"seed": 1, "decoder": "beam", "metric": "METEOR"} | changes
    rows = []
    for name, level in (("sll", 0.1), ("xe", 0.0)):
        rows += [keys | {"variant": name, "item": i, "rank": 0, "value": i / 10 + level} for i in range(6)]
        rows.append(keys | {"variant": name, "item": None, "rank": None, "value": 3 * level})
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
        rows += [row | {"seed": seed, "value": row["value"] + more * (row["variant"] == "sll")} for row in pair()]
    made = gained(sle, [row for row in rows if row["item"] is not None])
    reach = 4.3027 * 0.1 / 3**0.5
    assert (made.value, made.low, made.high) == pytest.approx((0.2, 0.2 - reach, 0.2 + reach), rel=1e-4)
    assert made.n == "6 images x 3 seeds"


def test_a_gain_of_a_corpus_metric(sle):
    sle.names = ["sll", "xe"]
    rows = []
    for name, level in (("sll", 0.5), ("xe", 0.3)):
        for seed in (1, 2):
            keys = {"variant": name, "seed": seed, "decoder": "beam"}
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


def test_files_are_the_same_twice_and_listed_in_order(sle):
    run = sle.read()
    some = ("sle_table4", "sle_table1")
    vars(run.paper)["tables"] = {name: run.paper.tables[name] for name in some}
    tables.write_tables(run)
    folder = Path("reports/sle/tables")
    first = {path: path.read_bytes() for path in folder.iterdir()}
    tables.write_tables(run)
    assert first == {path: path.read_bytes() for path in folder.iterdir()}
    with (folder / "sle_table4.csv").open(encoding="utf-8", newline="") as file:
        assert all(len(record) == len(tables.COLUMNS) for record in csv.reader(file))
    assert json_file.read_json(folder / "tables.json") == {"order": ["sle_table4", "sle_table1"]}
