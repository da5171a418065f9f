"""What to use when, and what the papers' yardsticks tell of truth: remarks that the first page has, too."""

from collections.abc import Sequence

import numpy as np

from seqcap.config.report import ReportedRun
from seqcap.papers.across import tables
from seqcap.papers.across.tables import CIDER, COLUMNS, DISTINCT, DIVERSITY, RECALL, TRUTH, means
from seqcap.report.claims import JudgedClaim
from seqcap.report.inputs import Run

LITTLE = 0.02  # of CIDEr
_START = "cross_entropy"


def remarks(run: Run, judged: Sequence[JudgedClaim]) -> list[str]:
    entries = [entry for entry in run.trained if entry.epochs]
    baseline = next((entry for entry in entries if entry.objective == _START), None)
    found = [
        _best(run, "Highest CIDEr", entries, CIDER, (DIVERSITY, DISTINCT, TRUTH)),
        _diverse(run, entries, baseline) if baseline else "",
        _best(run, "Most distinctive to a judge that no objective saw", entries, DISTINCT, (CIDER, TRUTH)),
        _best(run, "Most often true", entries, TRUTH, (CIDER, RECALL, tables.WORDS)),
        _yardsticks(run),
    ]
    return ["\n".join(f"- {line}" for line in found if line)] if any(found) else []


def _best(run: Run, what: str, entries: Sequence[ReportedRun], column: str, others: Sequence[str]) -> str:
    """The best of some runs in a column, its other numbers, and those that cannot be told from it."""
    levels = means(run, entries, COLUMNS[column])
    if np.isnan(levels).all():
        return ""
    best = entries[int(np.nanargmax(levels))]
    rivals = [entry for entry in entries if entry is not best]
    leads = {entry.label: COLUMNS[column].gain(run, best.name, entry.name).low for entry in rivals}
    close = [label for label, low in leads.items() if low is not None and low <= 0]
    scales = {name: 1 if name == tables.WORDS else 100 for name in (column, *others)}
    found = {name: COLUMNS[name].of(run, best.name).text(scale, 1) for name, scale in scales.items()}
    numbers = ", ".join(f"{name} {number or '–'}" for name, number in found.items())
    told = f"Not told apart from it: {', '.join(close)}." if close else "It is ahead of all others."
    return f"**{what}: {best.label}.** {numbers[0].upper()}{numbers[1:]}. {told}"


def _diverse(run: Run, entries: Sequence[ReportedRun], baseline: ReportedRun) -> str:
    levels = dict(zip((entry.name for entry in entries), means(run, entries, COLUMNS[CIDER]), strict=True))
    kept = [entry for entry in entries if levels[entry.name] >= levels[baseline.name] - LITTLE]
    what = f"Most diverse of those within {100 * LITTLE:.0f} points of CIDEr of {baseline.label}, or above"
    return _best(run, what, kept, DIVERSITY, (CIDER, "CIDEr, samples", RECALL))


def _yardsticks(run: Run) -> str:
    """How the papers' yardsticks rank objectives, against the truth of their captions."""
    told = (CIDER, DIVERSITY, "Self-BLEU, beam", "R@10 by the own listener")
    found = {name: tables.agreement(run, name, TRUTH) for name in told}
    words = [f"{name} {rho.signed(1, 2)}" for name, rho in found.items() if rho.value is not None]
    about = "Rank correlation over objectives with the share of true captions"
    return f"**What the papers' yardsticks tell of truth.** {about}: {', '.join(words)}." if words else ""
