"""`seqcap compare`: the difference between two runs that are scored already, with the report's statistics."""

from __future__ import annotations

from seqcap.artifacts import DECODERS
from seqcap.config import config_path
from seqcap.config.report import PaperConfig, ReportConfig
from seqcap.errors import InputError
from seqcap.metrics.registry import METRICS, Metric
from seqcap.reporting.claims import Claim, Result, run_claims
from seqcap.reporting.inputs import Run
from seqcap.reporting.papers import Captions
from seqcap.reporting.verdicts import FAILS, HOLDS, NOT_RUN
from seqcap.score_tables import aligned

_JUDGED = {HOLDS: "better", FAILS: "worse"}


def compare(left: str, right: str) -> str:
    """A table of what differs between two runs of a paper, in every metric that both have.

    Intervals, p and q are those of the report's claims: of a bootstrap over training seeds and test items, and
    corrected for the number of these metrics.

    Raises:
        InputError: there is no such run, no paper has both, or they have not been scored yet.
    """
    run = find_paper(left, right)
    metrics = [
        (metric, decoder, captions)
        for decoder in DECODERS
        for metric in METRICS.values()
        if (captions := _captions(metric, decoder)) is not None
        and all(run.scores.sample(name, decoder, metric.name, captions) is not None for name in (left, right))
    ]
    claims = [
        Claim("", "", metric.name, decoder, captions, left, right, -1 if metric.direction == "lower" else 1)
        for metric, decoder, captions in metrics
    ]
    results = [result for result in run_claims(claims, run) if result.verdict != NOT_RUN]
    if not results:
        raise InputError(f"{left}, {right}", "have no score in common", "run `seqcap repro`")
    matrix = [["", left, right, "difference [95%]", "q", ""]]
    matrix += [[result.claim.what(run), *_cells(result)] for result in results]
    sample = run.scores.sample(left, metrics[0][1], metrics[0][0].name, metrics[0][2])
    items = 0 if sample is None else len(sample.items)
    labels = " against ".join(run.by_name[name].label for name in (left, right))
    title = f"{labels}: {results[0].seeds} training seeds, {items:,} test items"
    return "\n".join([title, *aligned(matrix)])


def find_paper(left: str, right: str) -> Run:
    """The scores of the paper that has both runs.

    Raises:
        InputError: as `compare`.
    """
    if not config_path("report").is_file():
        raise InputError(config_path("report"), "does not exist", "run `seqcap repro` from the root of a checkout")
    runs: dict[str, set[str]] = {}
    for paper in ReportConfig.read("report").papers:
        config = PaperConfig.read("section", paper)
        runs[paper] = {run.name for run in config.runs}
        if {left, right} <= runs[paper]:
            return Run.read(config)
    for name in (left, right):
        if not any(name in names for names in runs.values()):
            known = ", ".join(sorted(set().union(*runs.values())))
            raise InputError("papers/", f"there is no trained run {name!r}", f"choose among {known}")
    raise InputError("papers/", f"no paper has both {left} and {right}", "compare runs of one paper")


def _captions(metric: Metric, decoder: str) -> Captions | None:
    """Which captions of an item the metric is of; None where it has no statistics of items."""
    if metric.level == "corpus" and not metric.statistics:
        return None
    if metric.level == "set":
        return "set"
    return "every" if decoder == "sample" else "best"


def _cells(result: Result) -> list[str]:
    """Both sides, the difference, q, and the verdict on the left one."""
    q = "" if result.q_value is None else f"{result.q_value:.3f}" if result.q_value >= 0.001 else "<.001"
    neutral = not METRICS[result.claim.metric].direction and result.verdict in _JUDGED
    verdict = "differs" if neutral else _JUDGED.get(result.verdict, result.judgement)
    return [result.number(result.left), result.number(result.right), result.span, q, verdict]
