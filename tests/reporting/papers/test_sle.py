"""SLE: its tables, claims, figures and the contradictions in its own numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seqcap.errors import InputError
from seqcap.reporting import published, tables
from seqcap.reporting.claims import Result, run_claims
from seqcap.reporting.papers.sle import figures
from seqcap.reporting.papers.sle.claims import CLAIMS, errors, remarks
from seqcap.reporting.papers.sle.tables import TABLES, truth_columns
from seqcap.reporting.verdicts import HOLDS, NOT_RUN


def lines(sle, name: str) -> pd.DataFrame:
    """A table's CSV file."""
    TABLES[name](sle.read()).write(name, Path())
    return pd.read_csv(f"{name}.csv", dtype=str, keep_default_na=False)


def outcomes(sle) -> dict[tuple[str, str, str], Result]:
    return {result.claim.key: result for result in run_claims(CLAIMS, sle.read())}


# --- Tables


@pytest.mark.parametrize("table", ["table1", "table2", "table4"])
def test_every_published_cell_appears_once_as_printed(sle, table: str):
    ours = lines(sle, f"sle_{table}")
    theirs = published.published_table("sle", table)
    assert list(ours.columns) == tables.COLUMNS
    keys = ["block", "row", "column"]
    assert ours[keys].to_numpy().tolist() == theirs[keys].to_numpy().tolist()
    assert ours["paper"].tolist() == theirs["printed"].tolist()
    assert ours["direction"].tolist() == theirs["direction"].tolist()


def test_table_4_notes_the_papers_reuse_of_table_2(sle):
    notes = lines(sle, "sle_table4").set_index(["row", "column"])["note"]
    assert "prints Table 2's value" in notes["SLL-SLE (bs)", "CIDEr"]
    assert "prints Table 2's value" not in notes["SLL-SLE (rs)", "CIDEr"]


def test_truth_has_every_variant_and_human_captions(sle):
    cells = lines(sle, "sle_truth")
    assert cells["row"].drop_duplicates().tolist()[-1] == "human captions"
    human = cells[cells["row"] == "human captions"].set_index("column")
    assert float(human.loc["precision, 5 samples", "ours"]) == pytest.approx(0.99, abs=0.03)
    assert human.loc["precision, 5 samples", "n"] == "12 images"
    assert human.loc["precision, beam", "ours"] == ""
    assert len(cells) == 9 * len(truth_columns(sle.read()))


def test_truth_is_one_note_where_facts_are_unknown(sle):
    sle.dataset = "flickr8k"
    cells = lines(sle, "sle_truth")
    assert len(cells) == 1
    assert cells.loc[0, "note"].startswith("Not measured on flickr8k")
    assert (cells.drop(columns="note") == "").all(axis=None)


# --- Claims


def test_the_runs_claims_hold_as_it_was_made(sle):
    results = outcomes(sle)
    assert results["C1", "CIDEr", "sample"].verdict == HOLDS
    assert results["C2", "mBleu4", "sample"].verdict == HOLDS
    assert results["C10", "recall_true", "sample"].verdict == HOLDS
    assert results["C9", "METEOR", "beam"].verdict == NOT_RUN
    assert results["C9", "SPICE", "beam"].reason == "the evaluate stage wrote no SPICE for sll_sle (beam)"
    assert results["C1", "CIDEr", "sample"].difference == pytest.approx(40, abs=2)  # x100
    # What exploration costs is explained only where it costs: it gains CIDEr in the invented run.
    assert remarks(sle.read(), list(results.values())) == []


def test_truth_is_not_run_where_facts_are_unknown(sle):
    sle.dataset = "flickr8k"
    assert {result.verdict for key, result in outcomes(sle).items() if key[0] == "C10"} == {NOT_RUN}


def test_errors_of_the_paper_are_computed():
    found = errors()
    assert len(found) == 3
    assert "0.2/1.8/0.2" in found[0]
    assert found[0].endswith("gives the stated CIDEr.")
    assert "mean-pooled 0.2/1.6/0.2" in found[0]
    assert "swapped" in found[1]
    assert "SLL (bs), SLL-ME (bs), SLL-SLE (bs)" in found[2]


# --- Figures


def test_photographs_are_not_shown(sle):
    """Without leave to show images, the tar is not even opened; the file's name stands in the picture's place."""
    sle.show = False
    drawn = sle.write()
    Path("artifacts/image/data/images.tar").unlink()
    figure = figures.figure1(drawn)
    assert figure.axes == []
    texts = [text.get_text() for text in figure.texts]
    assert any("1.png" in text for text in texts)
    assert figures.figure2(drawn).axes == figures.figure4(drawn).axes == []


def test_captions_and_the_papers_are_side_by_side(sle):
    texts = " ".join(text.get_text() for text in figures.figure4(sle.write()).texts)
    assert "SLL-SLE, 5 samples, seed 1" in texts
    assert "as printed (COCO)" in texts
    assert "reading a book" in texts.replace("\n     ", " ")


def test_repeated_captions_are_grey(sle):
    figure = figures.figure1(sle.write())
    grey = [text.get_text() for text in figure.texts if text.get_color() == "#8a8a8a"]
    assert [text[0] for text in grey] == [
        "2",
        "3",
        "5",
        "4",
        "5",
    ]  # ours: 1 and 4 differ; the paper's: 3, 4 and 5 agree


def test_a_missing_picture_is_named(sle):
    drawn = sle.write()
    Path("artifacts/image/data/images.tar").unlink()
    with pytest.raises(InputError, match=r"artifacts/image/data.*1\.png"):
        figures.figure1(drawn)


def test_a_picture_that_is_not_in_the_tar_is_named(sle):
    drawn = sle.write()
    drawn.images["file"] = "images/none.png"
    with pytest.raises(InputError, match=r"no image 'images/none\.png'"):
        figures.figure1(drawn)


def test_a_run_that_is_not_there_leaves_its_column_saying_so(sle):
    sle.names = ["xe", "sll_sle"]
    texts = " ".join(text.get_text() for text in figures.figure4(sle.write()).texts)
    assert texts.replace("\n", " ").count("variant sll is not part of this run") == 3


def test_cross_entropy_is_a_dashed_line_at_its_level(sle):
    figure = figures.curves(sle.write())
    axis = figure.axes[0]
    dashed = [line for line in axis.get_lines() if line.get_linestyle() == "--"]
    assert len(dashed) == 1
    assert dashed[0].get_ydata()[0] == pytest.approx(0.72)
    assert [line.get_label() for line in axis.get_lines() if not line.get_label().startswith("_")] == [
        "SLL",
        "SLL-ME",
        "SLL-SLE",
        "XE (step 0)",
    ]


def test_curves_without_a_known_quantity_are_an_error(sle):
    drawn = sle.write()
    drawn.curves["quantity"] = "something"
    with pytest.raises(InputError, match="has none of"):
        figures.curves(drawn)


def test_concentration_is_the_cumulative_probability(sle):
    sle.names = ["sll", "xe"]
    drawn = sle.write()
    figure = figures.figure3(drawn)
    line = next(line for line in figure.axes[0].get_lines() if line.get_label() == "SLL")
    beam = drawn.decoded["sll"].query("decoder == 'beam'")
    whole = np.exp(beam["log_prob"]).groupby([beam["seed"], beam["item"]]).sum().mean()
    assert line.get_ydata()[-1] == pytest.approx(whole)
    assert (np.diff(line.get_ydata()) > 0).all()
