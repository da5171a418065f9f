"""The packaged facts: cells are found, and one that is not there is named."""

import pytest

from seqcap import papers
from seqcap.errors import InputError
from seqcap.report import published
from seqcap.report.published import Published


def of(paper: str) -> Published:
    return papers.load(paper).published


def test_parts_of_a_figure_may_share_a_file():
    assert (of("spider").cell("fig3", "PG-SPIDEr", "% not bad")["printed"]) == "48.57"
    cells = of("psst").table("fig4")
    ranks = cells[(cells["block"] == "img1") & (cells["row"] == "REINFORCE") & (cells["column"] == "rank")]
    assert dict(zip(ranks["table"], ranks["printed"], strict=True)) == {"fig4b": "2", "fig4c": "21"}


def test_a_row_that_two_blocks_have_needs_its_block():
    smoothing = of("smoothing")
    assert smoothing.value("table1", "MLE", "CIDEr", "with attention") == 101.63
    assert smoothing.value("table1", "MLE", "CIDEr", block="without attention") == 93.59
    with pytest.raises(InputError, match=r"table1\.csv: has 2 numbers for MLE, CIDEr; name one cell"):
        smoothing.value("table1", "MLE", "CIDEr")
    with pytest.raises(InputError, match="has 0 numbers for elsewhere, MLE, CIDEr"):
        smoothing.value("table1", "MLE", "CIDEr", "elsewhere")
    # A number that the paper does not report.
    with pytest.raises(InputError, match="0 numbers"):
        of("sle").value("table4", "VAE (bs)", "Div1")


def test_repeated_example_captions_are_spelled_out():
    assert of("sle").example_captions("fig4", "SLL") == ["a man standing in a bathroom with a toilet"] * 5
    assert len(of("sle").example_captions("fig1", "captions")) == 5


def test_literature():
    table = published.literature("flickr8k")
    soft = table[(table["system"] == "Soft-Attention") & (table["metric"] == "BLEU4")]
    assert soft["value"].tolist() == [19.5]
    assert published.literature("scenes") is None
