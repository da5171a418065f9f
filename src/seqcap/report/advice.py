"""What to use when, by the table of every objective on one captioner. Nothing is advised that is shown to be worse than
cross-entropy in what one would use it for; where nothing is shown to be better, that is said."""

from collections.abc import Sequence

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


def advice(overview: Overview, better: Sequence[str] = (), literal: Sequence[str] = ()) -> list[str]:
    """A paragraph for each use.

    Args:
        overview: the table across papers.
        better: the comparisons of papers' own runs by which an objective's CIDEr is shown to be higher than that of
            cross-entropy.
        literal: those of what a listener finds that takes every word literally.
    """
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    found = [
        _for_one_caption(overview, base, better),
        _for_samples(overview, base),
        _for_diversity(overview, base),
        _of_smoothing(overview, base),
        _for_distinctiveness(overview, base, literal),
        _for_truth(overview, base),
    ]
    return [line for line in found if line]


def _for_one_caption(overview: Overview, base: Row, better: Sequence[str]) -> str:
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
    if better:
        text += f" In the papers' own runs, which are longer, some are shown to beat it: {'; '.join(better)}."
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
            text += ": the best caption is not shown to lose, a single sample is"
    better = [row for row in kept if overview.is_ahead(row, base, SAMPLES)]
    middle = overview.best(DIVERSITY, better)
    if middle is not None:
        numbers = _against(overview, middle, base, (SAMPLES, DIVERSITY, TRUTH))
        text += ". Of those that are shown to raise the CIDEr of samples, and not to lower that of the beam, "
        text += middle.label
        text += " loses least diversity" if overview.is_ahead(base, middle, DIVERSITY) else " is the most diverse"
        text += f": {numbers}"
    return f"{text}."


def _of_smoothing(overview: Overview, base: Row) -> str:
    """Whether smoothing helps: it costs little, and many ask."""
    rows = [row for row in overview.objectives if row.objective.endswith("smoothing")]
    if not rows:
        return ""
    better = [row.label for row in rows if overview.is_ahead(row, base, CIDER)]
    diverse = [row for row in rows if overview.is_ahead(row, base, DIVERSITY)]
    worse = [row for row in rows if overview.is_ahead(base, row, SAMPLES)]
    helps = f"{', '.join(better)} of it {'is' if len(better) == 1 else 'are'}" if better else "no kind of it is"
    return (
        f"**Smoothing: {helps} shown to raise the CIDEr of the best caption.** Of {len(rows)} kinds {len(diverse)} are "
        f"shown to make samples more diverse, and {len(worse)} to lower their CIDEr."
    )


def _for_distinctiveness(overview: Overview, base: Row, literal: Sequence[str]) -> str:
    kept = [row for row in overview.objectives if not overview.is_ahead(base, row, LITERAL)]
    best = overview.best(DISTINCT, kept)
    if best is None or not overview.is_ahead(best, base, DISTINCT):
        return "**Captions that tell images apart: none is shown to do so better than cross-entropy.**"
    numbers = _against(overview, best, base, (DISTINCT, LITERAL, TRUTH, CIDER))
    text = (
        f"**Captions that tell images apart, to a judge: {best.label}.** {numbers}. {_told(overview, best, DISTINCT)}"
    )
    if overview.has(TWIN):
        text += " The judge is of another kind than the retriever that pays. By a twin of what pays: "
        text += f"{_against(overview, best, base, (TWIN,))}."
    else:
        text += " The judge is not independent in kind: it is a retriever like the one that pays, with another random "
        text += "seed."
    if overview.is_ahead(base, best, TRUTH):
        text += " Its captions are shown to be true less often: where that matters, it is not for you."
        others = [row for row in kept if overview.is_ahead(row, base, DISTINCT)]
        truest = overview.best(TRUTH, others)
        if truest is not None and truest is not best:
            numbers = _against(overview, truest, base, (TRUTH, DISTINCT, CIDER))
            text += f" Of all that the judge is shown to find more often, {truest.label} is most often true: {numbers}."
    if not overview.has(LITERAL):
        text += " What a listener finds that takes every word literally is not in this table"
        text += f"; in papers' own runs: {'; '.join(literal)}." if literal else "."
    return text


def _for_truth(overview: Overview, base: Row) -> str:
    if not overview.has(TRUTH):
        return ""
    best = overview.best(TRUTH, overview.objectives)
    if best is None or not overview.is_ahead(best, base, TRUTH):
        return "**Captions that are true: none is shown to be true more often than cross-entropy's.**"
    columns = (TRUTH, PRECISION, RECALL, WORDS, RECALL_OF_SAMPLES, DISTINCT, CIDER)
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
