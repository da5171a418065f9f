"""The packaged facts: every table loads, agrees with the index, and what is malformed is named."""

from __future__ import annotations

from importlib import resources

import pytest
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.report import published

FOLDER = resources.files("seqcap.report") / "published"
TABLES = sorted(
    (name.partition("_")[0], name.partition("_")[2].removesuffix(".csv"))
    for name in (file.name for file in FOLDER.iterdir())
    if "_table" in name and "footnote" not in name
)


def test_every_paper_is_packaged():
    assert {paper for paper, _ in TABLES} == {"sle", "psst", "wtfrl", "spider", "smoothing"}
    assert len(TABLES) == 4 + 5 + 1 + 1 + 3


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_table_loads_and_agrees_with_the_index(paper: str, table: str):
    cells = published.published_table(paper, table)
    assert len(cells) > 0
    assert set(cells["direction"]) <= {"higher", "lower", ""}
    reported = cells[cells["printed"] != ""]
    assert reported["value"].notna().all()
    assert cells.loc[cells["printed"] == "", "value"].isna().all()
    index = YAML(typ="safe").load((FOLDER / "index.yaml").read_text(encoding="utf-8"))
    rows = index[paper][table].get("rows")
    if isinstance(rows, int) and paper in ("sle", "spider"):
        assert cells[["block", "row"]].drop_duplicates().shape[0] == rows


def test_a_figures_numbers_are_read_as_a_tables():
    cell = published.published_cell("spider", "fig3", "PG-SPIDEr", "% not bad")
    assert (cell["value"], cell["printed"], cell["scale"]) == (48.57, "48.57", "percent")


def test_parts_of_a_figure_may_share_a_file():
    cells = published.published_table("psst", "fig4")
    ranks = cells[(cells["block"] == "img1") & (cells["row"] == "REINFORCE") & (cells["column"] == "rank")]
    assert dict(zip(ranks["table"], ranks["printed"], strict=True)) == {"fig4b": "2", "fig4c": "21"}


def test_one_published_value():
    assert published.published_value("sle", "table1", "SLL", "CIDEr") == 114.6


def test_a_row_that_two_blocks_have_needs_its_block():
    assert published.published_value("smoothing", "table1", "MLE", "CIDEr", "with attention") == 101.63
    assert published.published_value("smoothing", "table1", "MLE", "CIDEr", block="without attention") == 93.59
    with pytest.raises(InputError, match=r"smoothing_table1\.csv: has 2 numbers for MLE, CIDEr; name one cell"):
        published.published_value("smoothing", "table1", "MLE", "CIDEr")
    with pytest.raises(InputError, match="has 0 numbers for elsewhere, MLE, CIDEr"):
        published.published_value("smoothing", "table1", "MLE", "CIDEr", "elsewhere")


@pytest.mark.parametrize(("row", "column"), [("nobody", "CIDEr"), ("VAE (bs)", "Div1")])
def test_a_value_that_is_not_reported_is_an_error(row: str, column: str):
    with pytest.raises(InputError, match="0 numbers"):
        published.published_value("sle", "table4", row, column)


def test_an_unknown_table_is_an_error():
    with pytest.raises(InputError, match=r"sle_table9\.csv"):
        published.published_table("sle", "table9")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("row,value\nXE,1\n", "has columns"),
        ("{header}\nsle,1,,XE,CIDEr,many,x100,higher,\n", "'many' is not a number"),
        ("{header}\nsle,1,,XE,CIDEr,1,x7,higher,\n", "unknown scale"),
        ("{header}\nsle,1,,XE,CIDEr,1,x100,higher,\nsle,1,,XE,CIDEr,2,x100,higher,\n", "twice"),
    ],
)
def test_a_damaged_table_is_named(monkeypatch: pytest.MonkeyPatch, text: str, problem: str):
    text = text.replace("{header}", ",".join(published.TABLE_COLUMNS))
    monkeypatch.setattr(published, "_text", lambda name: text)
    published.published_table.cache_clear()
    with pytest.raises(InputError, match=problem) as error:
        published.published_table("sle", "table1")
    assert "sle_table1.csv" in str(error.value)


def test_repeated_example_captions_are_spelled_out():
    assert published.example_captions("sle_fig4", "SLL") == ["a man standing in a bathroom with a toilet"] * 5
    assert len(published.example_captions("sle_fig1", "captions")) == 5


def test_text_claims_of_one_paper():
    claims = published.text_claims("sle")
    assert claims["text5.2"]["value"] == "0.2/1.8/0.2"
    assert {claim["paper"] for claim in claims.values()} == {"sle"}


def test_literature():
    table = published.literature("flickr8k")
    assert table is not None
    soft = table[(table["system"] == "Soft-Attention") & (table["metric"] == "BLEU4")]
    assert soft["value"].tolist() == [19.5]
    assert published.literature("scenes") is None
