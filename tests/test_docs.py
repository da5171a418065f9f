"""The README and the pages in docs/: links lead somewhere, numbers are those of the committed reports."""

import csv
import re
from pathlib import Path

import pytest

from seqcap.report.verdicts import read

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAPERS = {"PSST": "psst", "SLE": "sle", "loss smoothing": "smoothing", "SPIDEr": "spider", "WTF-RL": "wtfrl"}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as git hosts make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(page.read_text()) if not link.startswith("http")]
    for link in links:
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_linked_from_the_readme():
    linked = {ROOT / link for link in LINK.findall((ROOT / "README.md").read_text())}
    assert set(PAGES[1:]) <= linked


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_the_results_in_the_readme_are_those_of_the_claims():
    here = claims_of("reports/claims.csv")
    on_photographs = claims_of("reports/flickr8k/claims.csv")
    on_sentences = claims_of("reports/multi30k/claims.csv")
    rows = re.findall(
        r"^\| \[(.+?)\]\(papers/.*\| (\S+) \[(\S+), (\S+)\] \| (.+?)( †)? \| ?"
        r"(?:(Multi30k: )?(\S+) \[(\S+), (\S+)\] (.+?)( †)? |cannot be tested )?\|$",
        (ROOT / "README.md").read_text(),
        re.M,
    )
    assert len(rows) >= 5
    assert sum(bool(row[7]) for row in rows) >= 4
    assert sum(bool(row[6]) for row in rows) >= 1
    for paper, *of_here, is_of_sentences, difference_there, low_there, high_there, verdict_there, dagger_there in rows:
        there = on_sentences if is_of_sentences else on_photographs
        of_there = [difference_there, low_there, high_there, verdict_there, dagger_there]
        for claims, (difference, low, high, verdict, dagger) in ((here, of_here), (there, of_there)):
            if difference:
                shown = (float(low), float(high), verdict, bool(dagger))
                assert shown in claims[PAPERS[paper], f"{float(difference):.4f}"]


def claims_of(path: str) -> dict[tuple[str, str], list[tuple[float, float, str, bool]]]:
    """Paper and difference -> interval, verdict and whether a run still rose, of comparisons that decide a claim or,
    without one, of details."""
    found: dict[str, dict[tuple[str, str], list[tuple[float, float, str, bool]]]] = {"primary": {}, "detail": {}}
    with (ROOT / path).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["low"]:
                key = row["paper"], f"{float(row['difference']):.4f}"
                told = float(row["low"]), float(row["high"]), read(row["verdict"]), bool(row["not_converged"])
                found[row["level"]].setdefault(key, []).append(told)
    return found["detail"] | found["primary"]
