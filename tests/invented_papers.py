"""The papers' invented runs, and what tests read of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from invented_psst import PsstRun
from invented_runs import PaperRun, SleRun, SmoothingRun, SpiderRun
from invented_wtfrl import WtfrlRun
from matplotlib.figure import Figure

from seqcap.report.claims import run_claims
from seqcap.report.inputs import Results
from seqcap.report.outcome import Judgement, Outcome
from seqcap.report.section import all_claims
from seqcap.report.tables import COLUMNS, make_table

KINDS = {"psst": PsstRun, "sle": SleRun, "smoothing": SmoothingRun, "spider": SpiderRun, "wtfrl": WtfrlRun}


@cache
def whole(paper: str) -> Results:
    """A paper's invented run as it is, in memory."""
    return KINDS[paper]().read()


def lines(results: Results, name: str) -> pd.DataFrame:
    """A table's lines in its CSV file."""
    return pd.DataFrame([cell.record() for cell in make_table(results, name).cells], columns=COLUMNS)


def numbers(results: Results, name: str) -> pd.Series[float]:
    """A table's numbers of ours, by row and column."""
    made = lines(results, name)
    return made[made["ours"] != ""].set_index(["row", "column"])["ours"].astype(float)


def judgements(results: Results) -> dict[str, Judgement]:
    """The verdicts on a run's claims, of which nothing is registered: invented numbers are of no pilot."""
    claims = [replace(claim, registered=None) for claim in all_claims(results)]
    return {of.claim.id: of.judged for of in run_claims(claims, results)}


def outcomes(results: Results) -> dict[tuple[str, str, str, str, str], Outcome]:
    """The outcomes of a run's comparisons, by claim, metric, decoder, left and right."""
    found = {}
    for judged in judgements(results).values():
        for outcome in judged.outcomes:
            of = outcome.evidence
            found[of.claim, of.metric, of.decoder, of.left, of.right] = outcome
    return found


def by_heading(remarks: list[str]) -> dict[str, str]:
    return {text.split("*")[1].rstrip("."): text for text in remarks}


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts]


def _fixture(paper: str) -> Any:
    @pytest.fixture(name=paper)
    def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PaperRun:
        """An empty current directory, which all papers of a test share, and a run to write into it."""
        monkeypatch.chdir(tmp_path)
        return KINDS[paper]()

    return made


psst, sle, smoothing, spider, wtfrl = map(_fixture, KINDS)
