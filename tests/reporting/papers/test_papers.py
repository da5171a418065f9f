"""Papers are found by their names, and describe themselves consistently."""

from __future__ import annotations

import pytest

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting.papers import find, read_runs
from seqcap.reporting.published import published_table

NAMES = ("sle", "smoothing", "spider")


@pytest.mark.parametrize("name", NAMES)
def test_a_paper_describes_itself(name: str):
    paper = find(name)
    assert paper.name == name
    assert all(file.startswith(f"{name}_") for file in (*paper.tables, *paper.figures))
    for table, rows in paper.rows.items():
        cells = published_table(name, table)
        labels = {*cells["row"], *zip(cells["block"], cells["row"], strict=True)}
        assert set(rows) <= labels | set(zip(cells["column"], cells["row"], strict=True))
    assert set(paper.linked) <= set(paper.tables)
    assert "image" in paper.published_on
    assert paper.headlines <= {claim.key for claim in paper.claims}


@pytest.mark.parametrize("name", NAMES)
def test_claims_have_the_sign_that_the_paper_prints(name: str):
    for claim in find(name).claims:
        printed = claim.paper_difference()
        if claim.printed is not None:
            assert claim.printed.paper == name
            assert printed is not None
            assert printed * claim.direction > 0, claim


def test_an_unknown_paper_is_named():
    with pytest.raises(InputError, match=r"report\.json: there is no paper 'nobody'; known: sle, smoothing, spider"):
        find("nobody")


def test_the_papers_of_the_run_are_read(run, spider):
    spider.write()
    assert [read.paper.name for read in read_runs()] == ["spider"]
    run.write()
    assert [read.paper.name for read in read_runs()] == ["sle", "spider"]  # as configure writes them: by name
    config = artifacts.read_json("configs/report.json")
    artifacts.write_json("configs/report.json", config | {"papers": {"nobody": ["xe"]}})
    with pytest.raises(InputError, match="no paper 'nobody'"):
        read_runs()
