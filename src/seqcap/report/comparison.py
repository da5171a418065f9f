"""The difference between two runs of a paper in every metric that both have, with the statistics of claims."""

from collections.abc import Sequence

from seqcap.files.schemas import DECODERS
from seqcap.metrics.registry import METRICS, Metric
from seqcap.report.claims import Claim, Result, run_claims
from seqcap.report.inputs import Count, Run
from seqcap.report.paper import Captions
from seqcap.report.verdicts import FAILS, HOLDS

_JUDGED = {HOLDS: "better", FAILS: "worse"}
LEAST_SEEDS, LEAST_ITEMS = 3, 100  # fewer bear no verdict


def compared(run: Run, left: str, right: str) -> list[Result]:
    """The differences by metric; empty where the runs have no score in common. Intervals, p and q are those of the
    report's claims, with q for the number of these metrics."""
    claims = [
        Claim("", "", metric.name, decoder, captions, left, right, -1 if metric.direction == "lower" else 1)
        for decoder in DECODERS
        for metric in METRICS.values()
        if (captions := _captions(metric, decoder)) is not None
        and all(run.scores.sample(name, decoder, metric.name, captions) is not None for name in (left, right))
    ]
    return [result for result in run_claims(claims, run) if result.difference is not None]


def heading(run: Run, left: str, right: str, results: Sequence[Result]) -> str:
    """Who is compared, on how much; or on how little, which bears no verdict."""
    labels = " against ".join(run.by_name[name].label for name in (left, right))
    items, seeds = results[0].items, Count(results[0].seeds)
    if _enough(results):
        return f"{labels}: {seeds} training seeds, {items:,} test items"
    here = f"{items:,} items, {seeds.word} seed{'' if seeds == 1 else 's'}"
    return f"{labels}: no verdict: {here}; it takes {LEAST_ITEMS} items and {Count(LEAST_SEEDS).word} seeds"


def matrix(run: Run, left: str, right: str, results: Sequence[Result]) -> list[list[str]]:
    """A row per difference: both sides, the difference and, of enough items and seeds, q and the verdict on the left
    one. The first is the header."""
    rows = [["", left, right, "difference [95%]", "q", ""]]
    for result in results:
        neutral = not METRICS[result.claim.metric].direction and result.verdict in _JUDGED
        verdict = "differs" if neutral else _JUDGED.get(result.verdict, result.judgement)
        sides = [result.number(result.left), result.number(result.right)]
        rows.append([result.claim.what(run), *sides, result.span, result.q, verdict])
    return rows if _enough(results) else [row[:4] for row in rows]


def _enough(results: Sequence[Result]) -> bool:
    return results[0].items >= LEAST_ITEMS and results[0].seeds >= LEAST_SEEDS


def _captions(metric: Metric, decoder: str) -> Captions | None:
    """Which captions of an item the metric is of; None where it has no statistics of items."""
    if metric.level == "corpus" and not metric.statistics:
        return None
    if metric.level == "set":
        return "set"
    return "every" if decoder == "sample" else "best"
