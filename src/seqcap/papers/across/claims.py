"""What to use when, and what the papers' yardsticks tell of truth: remarks that the first page has, too."""

from collections.abc import Sequence

import numpy as np

from seqcap.config.report import ReportedRun
from seqcap.papers.across import tables
from seqcap.papers.across.tables import CIDER, COLUMNS, DISTINCT, DIVERSITY, RECALL, TRUTH, means
from seqcap.report.claims import JudgedClaim
from seqcap.report.inputs import Results

LITTLE = 0.02  # of CIDEr
_START = "cross_entropy"


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    runs = [run for run in results.trained if run.epochs]
    baseline = next((run for run in runs if run.objective == _START), None)
    found = [
        _best(results, "Highest CIDEr", runs, CIDER, (DIVERSITY, DISTINCT, TRUTH)),
        _diverse(results, runs, baseline) if baseline else "",
        _best(results, "Most distinctive to a judge that no objective saw", runs, DISTINCT, (CIDER, TRUTH)),
        _best(results, "Most often true", runs, TRUTH, (CIDER, RECALL, tables.WORDS)),
        _yardsticks(results),
    ]
    return ["\n".join(f"- {line}" for line in found if line)] if any(found) else []


def _best(results: Results, what: str, runs: Sequence[ReportedRun], column: str, others: Sequence[str]) -> str:
    """The best of some runs in a column, its other numbers, and those that cannot be told from it."""
    levels = means(results, runs, COLUMNS[column])
    if np.isnan(levels).all():
        return ""
    best = runs[int(np.nanargmax(levels))]
    rivals = [run for run in runs if run is not best]
    leads = {run.label: COLUMNS[column].gain(results, best.name, run.name).low for run in rivals}
    close = [label for label, low in leads.items() if low is not None and low <= 0]
    scales = {name: 1 if name == tables.WORDS else 100 for name in (column, *others)}
    found = {name: COLUMNS[name].of(results, best.name).text(scale, 1) for name, scale in scales.items()}
    numbers = ", ".join(f"{name} {number or '–'}" for name, number in found.items())
    told = f"Not told apart from it: {', '.join(close)}." if close else "It is ahead of all others."
    return f"**{what}: {best.label}.** {numbers[0].upper()}{numbers[1:]}. {told}"


def _diverse(results: Results, runs: Sequence[ReportedRun], baseline: ReportedRun) -> str:
    levels = dict(zip((run.name for run in runs), means(results, runs, COLUMNS[CIDER]), strict=True))
    kept = [run for run in runs if levels[run.name] >= levels[baseline.name] - LITTLE]
    what = f"Most diverse of those within {100 * LITTLE:.0f} points of CIDEr of {baseline.label}, or above"
    return _best(results, what, kept, DIVERSITY, (CIDER, "CIDEr, samples", RECALL))


def _yardsticks(results: Results) -> str:
    """How the papers' yardsticks rank objectives, against the truth of their captions."""
    told = (CIDER, DIVERSITY, "Self-BLEU, beam", "R@10 by the own listener")
    found = {name: tables.agreement(results, name, TRUTH) for name in told}
    words = [f"{name} {rho.signed(1, 2)}" for name, rho in found.items() if rho.value is not None]
    about = "Rank correlation over objectives with the share of true captions"
    return f"**What the papers' yardsticks tell of truth.** {about}: {', '.join(words)}." if words else ""
