"""What to use when, by the table of every objective on one captioner. Nothing is advised that is shown to be worse than
cross-entropy in what one would use it for; where nothing is shown to be better, that is said."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from seqcap.report.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    PRECISION,
    RECALL,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    TWIN,
    WORDS,
    Overview,
    Row,
)


def advice(overview: Overview, own_runs: str = "", others: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """A paragraph for each use.

    Args:
        overview: the table across papers.
        own_runs: the comparisons of papers' own runs by which an objective's CIDEr is shown to differ from that of
            cross-entropy.
        others: use (a column of the table) -> what other data say of it; "smoothing" -> the claims of smoothing.
    """
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    found = {
        CIDER: _for_one_caption(overview, base, own_runs),
        SAMPLES: _for_samples(overview, base),
        DIVERSITY: _for_diversity(overview, base),
        "smoothing": _of_smoothing(overview, base, others.get("smoothing", "")),
        DISTINCT: _for_distinctiveness(overview, base),
        TRUTH: _for_truth(overview, base),
    }
    return [_with(line, "" if use == "smoothing" else others.get(use, "")) for use, line in found.items() if line]


def _with(line: str, elsewhere: str) -> str:
    """A paragraph, and what other data say."""
    return f"{line} {elsewhere}" if elsewhere else line


def _for_one_caption(overview: Overview, base: Row, own_runs: str) -> str:
    best = overview.best(CIDER, overview.objectives)
    if best is None or CIDER not in base.levels:
        return ""
    use = "The highest CIDEr of one caption"
    if overview.is_ahead(best, base, CIDER):
        return (
            f"**{use}: {best.label}.** {_against(overview, best, base, (CIDER, TRUTH))}. {_told(overview, best, CIDER)}"
        )
    text = f"**{use}: not known.** In this table no objective is shown to beat cross-entropy. The highest number: "
    text += f"{best.label}, {_against(overview, best, base, (CIDER,))}; not told apart."
    if own_runs:
        text += f" In the papers' own runs, which are longer, {own_runs}."
    return text


def _for_samples(overview: Overview, base: Row) -> str:
    best = overview.best(SAMPLES, overview.objectives)
    if best is None or not overview.is_ahead(best, base, SAMPLES):
        return ""
    numbers = _against(overview, best, base, (SAMPLES, DIVERSITY, RECALL_OF_SAMPLES))
    return f"**Random samples that are good one by one: {best.label}.** {numbers}. {_told(overview, best, SAMPLES)}"


def _for_diversity(overview: Overview, base: Row) -> str:
    """The most diverse of those that are not shown to lower the beam's CIDEr, and what it costs samples."""
    kept = [row for row in overview.objectives if not overview.is_ahead(base, row, CIDER)]
    best = overview.best(DIVERSITY, kept)
    if best is None or DIVERSITY not in base.levels:
        return ""
    if not overview.is_ahead(best, base, DIVERSITY):
        text = "**Diverse samples: none is shown.** All that is shown to be more diverse than cross-entropy loses "
        text += "CIDEr of the beam"
    else:
        text = f"**Diverse samples: {best.label}.** {_against(overview, best, base, (DIVERSITY, CIDER, SAMPLES))}"
        if overview.is_ahead(base, best, SAMPLES):
            text += ": here the best caption is not shown to lose, a single sample is"
    better = [row for row in kept if overview.is_ahead(row, base, SAMPLES)]
    middle = overview.best(DIVERSITY, better)
    if middle is not None:
        numbers = _against(overview, middle, base, (SAMPLES, DIVERSITY, TRUTH))
        text += ". Of those that are shown to raise the CIDEr of samples, and not to lower that of the beam, "
        text += middle.label
        text += " loses least diversity" if overview.is_ahead(base, middle, DIVERSITY) else " is the most diverse"
        text += f": {numbers}"
    return f"{text}."


def _of_smoothing(overview: Overview, base: Row, own_runs: str) -> str:
    """Whether smoothing helps, and how sure that is: it costs little, and many ask."""
    rows = [row for row in overview.objectives if row.objective.endswith("smoothing")]
    if not rows:
        return ""
    better = [row.label for row in rows if overview.is_ahead(row, base, CIDER)]
    diverse = [row for row in rows if overview.is_ahead(row, base, DIVERSITY)]
    worse = [row for row in rows if overview.is_ahead(base, row, SAMPLES)]
    helps = f"{', '.join(better)} of it {'is' if len(better) == 1 else 'are'}" if better else "no kind of it is"
    text = (
        f"**Smoothing: {helps} shown to raise the CIDEr of the best caption.** Of {len(rows)} kinds {len(diverse)} are "
        f"shown to make samples more diverse, and {len(worse)} to lower their CIDEr."
    )
    there = [row for row in (*rows, base) if {DIVERSITY, SAMPLES} <= row.levels.keys()]
    kinds = [f"{row.label} {row.levels[DIVERSITY].value:.1f}, {row.levels[SAMPLES].value:.1f}" for row in there]
    text += f" {DIVERSITY}, and {SAMPLES}: {'; '.join(kinds)}." if kinds else ""
    return f"{text} How sure, in its paper's own runs: {own_runs}." if own_runs else text


def _for_distinctiveness(overview: Overview, base: Row) -> str:
    column = overview.distinct
    kept = [row for row in overview.objectives if not overview.is_ahead(base, row, LITERAL)]
    best = overview.best(column, kept)
    if best is None or not overview.is_ahead(best, base, column):
        return "**Captions that tell images apart: none is shown to do so better than cross-entropy.**"
    who = "a judge" if column == DISTINCT else "a twin of what pays"
    numbers = _against(overview, best, base, (column, LITERAL, TRUTH, CIDER))
    text = f"**Captions that tell images apart, to {who}: {best.label}.** {numbers}. {_told(overview, best, column)}"
    if column == DISTINCT:
        text += " The judge is of another kind than the retriever that pays."
        text += f" By a twin of what pays: {_against(overview, best, base, (TWIN,))}." if overview.has(TWIN) else ""
    else:
        text += " A twin may believe what the payer believes; what a judge of another kind and a literal listener say "
        text += "is under *Distinctive captions*."
    if overview.is_ahead(base, best, TRUTH):
        text += " Its captions are shown to be true less often: where that matters, it is not for you."
        text += _truest(overview, base, best, [row for row in kept if overview.is_ahead(row, base, column)])
    return text


def _truest(overview: Overview, base: Row, best: Row, found: Sequence[Row]) -> str:
    """Which of those that are found more often is most often true, and which of them it is not told apart from."""
    truest = overview.best(TRUTH, found)
    if truest is None or truest is best:
        return ""
    numbers = _against(overview, truest, base, (TRUTH, overview.distinct, CIDER))
    close = [row.label for row in overview.close(truest, TRUTH) if row in found]
    apart = f", not told apart from {', '.join(close)}" if close else ""
    return f" Of all that are found more often, {truest.label} has most true captions{apart}: {numbers}."


def _for_truth(overview: Overview, base: Row) -> str:
    if not overview.has(TRUTH):
        return ""
    best = overview.best(TRUTH, overview.objectives)
    if best is None or not overview.is_ahead(best, base, TRUTH):
        return "**Captions that are true: none is shown to be true more often than cross-entropy's.**"
    columns = (TRUTH, PRECISION, RECALL, WORDS, RECALL_OF_SAMPLES, overview.distinct, CIDER)
    numbers = _against(overview, best, base, columns)
    return (
        f"**Captions that are true: {best.label}.** {numbers[0].upper()}{numbers[1:]}. {_told(overview, best, TRUTH)}"
    )


def _against(overview: Overview, row: Row, base: Row, columns: Sequence[str]) -> str:
    """ "CIDEr, beam 79.5 [75.3, 84.0] against 75.4 [71.7, 79.3]": a row's numbers, and those of cross-entropy."""
    there = [column for column in columns if column in row.levels and column in base.levels]
    return "; ".join(f"{column} {row.levels[column]} against {base.levels[column]}" for column in there)


def _told(overview: Overview, best: Row, column: str) -> str:
    close = [row.label for row in overview.close(best, column)]
    return f"Not told apart from it: {', '.join(close)}." if close else "It is shown to be ahead of all others."
