"""How the papers' comparisons came out on other data: what the first page's section of that name is made of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqcap.first_page import elsewhere, own_runs
from seqcap.first_page.all_papers import Reported, sizes
from seqcap.first_page.what_differs import what_differs

Compared = tuple[str, elsewhere.Pair]  # a paper, and one of its comparisons here and on other data


def on_other_data(report: Reported, data: str) -> dict[str, Any]:
    """What the comparisons that decide claims and controls here, each of those that a claim needs, say on other data.
    `opposite`: of those, and of details of claims, one of each claim whose intervals are on opposite sides of 0."""
    compared = [
        (paper, pair)
        for paper, summary in report.published[data].items()
        if paper in report.papers
        for pair in elsewhere.pairs(report.papers[paper], summary)
    ]
    deciding = [(paper, pair) for paper, pair in compared if pair.here.primary]
    alike = [(paper, pair) for paper, pair in deciding if pair.alike]
    against = [(paper, pair) for paper, pair in alike if not pair.is_as_claimed]
    turned = [(paper, pair) for paper, pair in deciding if pair.opposite]
    return {
        "compared": deciding,
        "alike": alike,
        "against": _by_paper(report, against, deciding),
        "turned": turned,
        "turned_claims": _by_paper(report, turned, deciding),
        "opposite": _one_of_each([(paper, pair) for paper, pair in compared if pair.opposite]),
        "differing": what_differs(report.papers, report.published[data]),
        "again": [_again(report, data, folder) for folder in report.again[data]],
    }


def _by_paper(report: Reported, pairs: Sequence[Compared], of: Sequence[Compared]) -> str:
    """ "SLE C1, C2, C4b in part; WTF-RL D1a": the claims of some comparisons, in part where these are not all of them
    among `of`."""
    told = dict[str, dict[str, None]]()
    for paper, pair in pairs:
        needed, found = (sum(other.claim is pair.claim for _, other in group) for group in (of, pairs))
        name = pair.claim.id + " in part" * (found < needed)
        told.setdefault(str(report.papers[paper].said["label"]), {})[name] = None
    return "; ".join(f"{label} {', '.join(names)}" for label, names in told.items())


def _again(report: Reported, data: str, folder: Path) -> dict[str, Any]:
    """How another experiment's results of a paper compare with those that this page has of the same data."""
    summary, first = report.again[data][folder], report.published[data][folder.name]
    compared = elsewhere.pairs(first, summary)
    beside_likelihood = [
        (line, own_runs.on_other_data(line, {folder.name: first}))
        for _, _, line in own_runs.cider_against_likelihood({folder.name: summary})
    ]
    return {
        "name": report.linked(folder, str(summary.said["label"])),
        "sizes": sizes([summary]),
        "compared": len(compared),
        "alike": sum(pair.alike for pair in compared),
        "opposite": sum(pair.opposite for pair in compared),
        "main": next((claim for claim in summary.claims if claim.id == summary.said["finding"]["claim"]), None),
        "beside_likelihood": [(line, other) for line, other in beside_likelihood if other],
    }


def _one_of_each(pairs: Sequence[Compared]) -> list[tuple[str, elsewhere.Pair, int]]:
    """Of each claim one of its comparisons, one that decides it first, and how many more there are."""
    by_claim = dict[tuple[str, str], list[elsewhere.Pair]]()
    for paper, pair in pairs:
        by_claim.setdefault((paper, pair.claim.id), []).append(pair)
    return [(paper, of_claim[0], len(of_claim) - 1) for (paper, _), of_claim in by_claim.items()]
