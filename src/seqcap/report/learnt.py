"""What was learnt, in a few sentences that are made of the results: how sure each is, is said in words."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from seqcap.report.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    RECALL,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    WORDS,
    Overview,
    Row,
)


def learnt(overview: Overview, independent: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[str]:
    """What the table of all objectives tells; `independent`: objective -> what its paper's own runs say of it by what
    differs from what pays."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    found = [
        _of_quality(overview, base),
        _of_samples(overview, base),
        _of_distinctiveness(overview, base, independent),
        _of_truth(overview, base),
    ]
    return [sentence for sentence in found if sentence]


def _of_quality(overview: Overview, base: Row) -> str:
    if CIDER not in base.levels:
        return ""
    better, worse = _ahead(overview, base, CIDER), _behind(overview, base, CIDER)
    number, text = len(overview.objectives), "**CIDEr of the best caption.** "
    if not better:
        text += "No objective is shown to beat cross-entropy trained further"
    else:
        text += f"{_labels(better)} {_is(better)} shown to beat cross-entropy trained further"
    rest = number - len(better) - len(worse)
    return f"{text}; {len(worse)} of {number} are shown to be worse, and {rest} cannot be told from it."


def _of_samples(overview: Overview, base: Row) -> str:
    better = _ahead(overview, base, SAMPLES)
    if not better:
        return ""
    poorer = [row for row in better if overview.is_ahead(base, row, DIVERSITY)]
    best = overview.best(SAMPLES, better)
    example = f" (most of all {best.label}: CIDEr {_change(best, base, SAMPLES)}" if best else ""
    example += f", Div-2 {_change(best, base, DIVERSITY)})" if best and DIVERSITY in best.levels else ")"
    return (
        f"**Random samples.** {len(better)} of {len(overview.objectives)} objectives are shown to raise the CIDEr of "
        f"random samples over cross-entropy's, and "
        f"{_share(poorer, better)} of these to make them less diverse{example}."
    )


def _of_distinctiveness(overview: Overview, base: Row, independent: Mapping[str, Sequence[str]]) -> str:
    column = overview.distinct
    better = _ahead(overview, base, column)
    best = overview.best(column, better)
    who = "the judge" if column == DISTINCT else "a twin of what pays"
    if best is None:
        return f"**Distinctive captions.** No objective's captions are shown to be found more often by {who}."
    text = f"**Distinctive captions.** By captions of {_labels(better)} {who} is shown to find more images than by "
    text += f"cross-entropy's ({best.label}: R@10 {_change(best, base, column)})."
    if overview.has(LITERAL):
        ahead = [row for row in better if overview.is_ahead(row, base, LITERAL)]
        behind = [row for row in better if overview.is_ahead(base, row, LITERAL)]
        text += f" A listener that takes every word literally is shown to find more by those of {_labels(ahead)}, "
        text += f"fewer by those of {_labels(behind)} ({best.label}: {_change(best, base, LITERAL)})."
    if overview.has(TRUTH):
        false = [row for row in better if overview.is_ahead(base, row, TRUTH)]
        text += f" Of {_share(false, better)} of these the captions are shown to be true less often"
        text += f" ({best.label}: {_change(best, base, TRUTH)} in a hundred)."
    if best.label in independent:
        text += f" In its paper's own runs, {best.label} against likelihood: {'; '.join(independent[best.label])}."
    return text


def _of_truth(overview: Overview, base: Row) -> str:
    better = _ahead(overview, base, TRUTH)
    best = overview.best(TRUTH, better)
    if best is None:
        return ""
    text = f"**Truth.** {_labels(better)} {_is(better)} shown to have true captions, which say something and nothing "
    text += f"false, more often than cross-entropy ({best.label}: {_change(best, base, TRUTH)} in a hundred"
    for column in (WORDS, overview.distinct, RECALL_OF_SAMPLES):
        if column in best.levels and column in base.levels:
            text += f"; {column} {_change(best, base, column)}"
    text += ")"
    if overview.has(RECALL):
        less = [row for row in better if overview.is_ahead(base, row, RECALL)]
        text += f"; {_share(less, better)} of these are shown to tell less of the scene"
    return f"{text}."


def _ahead(overview: Overview, base: Row, column: str) -> list[Row]:
    return [row for row in overview.objectives if overview.is_ahead(row, base, column)]


def _behind(overview: Overview, base: Row, column: str) -> list[Row]:
    return [row for row in overview.objectives if overview.is_ahead(base, row, column)]


def _labels(rows: Sequence[Row]) -> str:
    """ "A, B and C"; "none"."""
    *before, last = [row.label for row in rows] or ["none"]
    return f"{', '.join(before)} and {last}" if before else last


def _share(some: Sequence[Row], rows: Sequence[Row]) -> str:
    return "all" if len(some) == len(rows) > 1 else f"{len(some)} of {len(rows)}"


def _is(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"


def _change(row: Row, base: Row, column: str) -> str:
    """ "74.2 against 38.5": of a row, and of cross-entropy."""
    return f"{row.levels[column].value:.1f} against {base.levels[column].value:.1f}"
