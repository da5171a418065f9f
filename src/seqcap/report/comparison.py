"""The difference between two runs of a paper in every metric that both have, with the statistics of claims."""

from collections.abc import Sequence

from seqcap.files.schemas import DECODERS
from seqcap.metrics.registry import METRICS, Metric
from seqcap.report.claims import Comparison, evidence
from seqcap.report.evidence import Evidence
from seqcap.report.inputs import Count, Results
from seqcap.report.judging import judge
from seqcap.report.outcome import Outcome
from seqcap.report.paper import Captions
from seqcap.report.verdicts import FEW_SEEDS, HOLDS, LEAST_SEEDS, REVERSED

_SIGNS = {"higher": 1, "lower": -1, "": 1}
_JUDGED = {HOLDS: "better", REVERSED: "worse"}
LEAST_ITEMS = 100  # fewer bear no verdict


def compared(results: Results, left: str, right: str) -> list[Outcome]:
    """The differences by metric; empty where the runs have no score in common. Intervals, p and q are those of the
    report's claims, with q for the number of these metrics."""
    claims = [
        Comparison(
            f"{decoder} {metric.name}", "", metric.name, decoder, captions, left, right, _SIGNS[metric.direction]
        )
        for decoder in DECODERS
        for metric in METRICS.values()
        if (captions := _captions(metric, decoder)) is not None
        and all(results.scores.sample(name, decoder, metric.name, captions) is not None for name in (left, right))
    ]
    # Nothing is claimed, so that no side has to catch up.
    evidences = [_without_curves(evidence(claim, results)) for claim in claims]
    return [judged.first for judged in judge(evidences) if judged.first.difference is not None]


def _without_curves(measured: Evidence) -> Evidence:
    return measured.model_copy(
        update={"sides": tuple(side.model_copy(update={"gained": {}}) for side in measured.sides)}
    )


def heading(results: Results, left: str, right: str, outcomes: Sequence[Outcome]) -> str:
    """Which runs are compared, on how many seeds and items; or that these are too few for a verdict."""
    labels = " against ".join(results.by_name[name].label for name in (left, right))
    items, seeds = outcomes[0].evidence.items, outcomes[0].seeds
    if _enough(outcomes):
        return f"{labels}: {seeds} training seeds, {items:,} test items"
    here = f"{items:,} items, {Count(seeds).word if seeds.isdigit() else seeds} seed{'' if seeds == '1' else 's'}"
    return f"{labels}: no verdict: {here}; it takes {LEAST_ITEMS} items and {Count(LEAST_SEEDS).word} seeds"


def matrix(results: Results, left: str, right: str, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """A row per difference: both sides, the difference and, of enough items and seeds, q and the verdict on the left
    one. The first is the header."""
    rows = [["", left, right, "difference [95%]", "q", ""]]
    for outcome in outcomes:
        neutral = not METRICS[outcome.evidence.metric].direction and outcome.verdict in _JUDGED
        verdict = "differs" if neutral else _JUDGED.get(outcome.verdict, outcome.judgement)
        sides = [outcome.number(outcome.left), outcome.number(outcome.right)]
        rows.append([outcome.evidence.what, *sides, outcome.span, outcome.shown_q, verdict])
    return rows if _enough(outcomes) else [row[:4] for row in rows]


def _enough(outcomes: Sequence[Outcome]) -> bool:
    return outcomes[0].evidence.items >= LEAST_ITEMS and outcomes[0].verdict != FEW_SEEDS


def _captions(metric: Metric, decoder: str) -> Captions | None:
    """Which captions of an item the metric is of; None where it has no statistics of items."""
    if metric.level == "corpus" and not metric.statistics:
        return None
    if metric.level == "set":
        return "set"
    return "every" if decoder == "sample" else "best"
