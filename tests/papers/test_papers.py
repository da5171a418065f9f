"""Papers are found by their names, and describe themselves consistently."""

from __future__ import annotations

import pytest

from seqcap import papers
from seqcap.errors import InputError
from seqcap.report.published import published_table

NAMES = ("psst", "sle", "smoothing", "spider", "wtfrl")


@pytest.mark.parametrize("name", NAMES)
def test_a_paper_describes_itself(name: str, request: pytest.FixtureRequest):
    run = request.getfixturevalue(name).read()
    assert run.paper.name == name
    assert {entry.task for entry in run.runs} <= set(run.paper.published_on)
    for part, files in (("tables", "TABLES"), ("figures", "FIGURES")):
        assert all(file.startswith(f"{name}_") for file in getattr(papers.load(name, part), files))
    part = papers.load(name, "rows")
    for table, rows in papers.given(part, "rows", run).items():
        cells = published_table(name, table)
        labels = {*cells["row"], *zip(cells["block"], cells["row"], strict=True)}
        assert set(rows) - set(getattr(part, "OURS", {})) <= labels | set(
            zip(cells["column"], cells["row"], strict=True)
        )
        assert {made for made, _ in rows.values()} <= set(run.by_name)


@pytest.mark.parametrize("name", NAMES)
def test_claims_have_the_sign_that_the_paper_prints(name: str, request: pytest.FixtureRequest):
    run, parts = request.getfixturevalue(name).read(), papers.load(name, "claims")
    claims = papers.given(parts, "claims", run)
    assert set(parts.HEADLINES) <= {claim.key for claim in claims}
    for claim in claims:
        assert set(claim.names) <= set(run.by_name)
        printed = claim.paper_difference()
        if claim.printed is not None:
            assert claim.printed.paper == name
            assert printed is not None
            assert printed * claim.direction > 0, claim


def test_what_a_paper_has_not_is_named():
    with pytest.raises(InputError, match=r"there is no paper 'nobody'; known: psst, sle, smoothing, spider, wtfrl"):
        papers.load("nobody")
    with pytest.raises(InputError, match=r"papers/sle: has no poem\.py"):
        papers.load("sle", "poem")
    part = papers.load("sle", "rows")
    with pytest.raises(InputError, match=r"rows\.py: has neither CLAIMS nor claims\(run\)"):
        papers.given(part, "claims", None)
