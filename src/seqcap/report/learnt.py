"""What was learnt of the table of all objectives, in a few sentences."""

from collections.abc import Sequence

from seqcap.report.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    RECALL,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    Overview,
    Row,
)

_MOST_NAMED = 8


def learnt(overview: Overview) -> list[str]:
    """A sentence or two on each quality of captions; "clearly" is what the table tells apart."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    parts = (_of_quality, _of_samples, _of_distinctiveness, _of_truth)
    return [sentence for part in parts if (sentence := part(overview, base))]


def _of_quality(overview: Overview, base: Row) -> str:
    if CIDER not in base.levels:
        return ""
    better, worse = _ahead(overview, base, CIDER), _behind(overview, base, CIDER)
    number = len(overview.objectives)
    who = f"{_with_levels(better, base, CIDER)} {_is(better)}" if better else "no objective is"
    within = f"Within {overview.budget} {who}" if overview.budget else f"{who[0].upper()}{who[1:]}"
    rest = number - len(better) - len(worse)
    text = f"**CIDEr of the best caption.** {within} clearly above cross-entropy trained further"
    if not better and not worse:
        values = [row.levels[CIDER].value for row in overview.objectives if CIDER in row.levels]
        ends = " to ".join(dict.fromkeys(f"{value:.1f}" for value in (min(values), max(values))))
        return f"{text}, or below: {ends} against {base.levels[CIDER].value:.1f}."
    below = f"{len(worse)} of {number} are clearly below" + (
        f" ({_labels(worse)})" if 0 < len(worse) <= _MOST_NAMED else ""
    )
    return f"{text}; {below}, and {rest} are not told apart from it."


def _of_samples(overview: Overview, base: Row) -> str:
    better = _ahead(overview, base, SAMPLES)
    if not better:
        return ""
    poorer = [row for row in better if overview.is_ahead(base, row, DIVERSITY)]
    diverse = _ahead(overview, base, DIVERSITY)
    costly = [row for row in diverse if overview.is_ahead(base, row, SAMPLES)]
    text = (
        f"**Random samples.** {len(better)} of {len(overview.objectives)} objectives clearly raise the CIDEr of random "
        f"samples; {_share(poorer, better)} of these make them clearly less diverse."
    )
    if diverse:
        text += (
            f" Clearly more diverse are those of {_labels(diverse)}; {_share(costly, diverse)} have clearly less CIDEr."
        )
    return f"{text} All are drawn at temperature 1; cross-entropy at another one, the cheapest rival, was not tried."


def of_smoothing(overview: Overview) -> str:
    """How smoothing compares with cross-entropy in CIDEr: it costs little, and many ask."""
    base = overview.baseline
    rows = [row for row in overview.objectives if row.objective.endswith("smoothing")]
    if base is None or not rows or CIDER not in base.levels:
        return ""
    better = [row for row in rows if overview.is_ahead(row, base, CIDER)]
    worse = [row for row in rows if overview.is_ahead(base, row, CIDER)]
    sides = {"above": better, "below": worse}
    told = [f"{_labels(side)} {_is(side)} clearly {word} cross-entropy" for word, side in sides.items() if side]
    rest = [row for row in rows if row not in (*better, *worse)]
    if rest:
        told.append(f"{_labels(rest)} {_is(rest)} not told apart from {'it' if told else 'cross-entropy'}")
    return "; ".join(told)


def _of_distinctiveness(overview: Overview, base: Row) -> str:
    column = overview.distinct
    better = _ahead(overview, base, column)
    who = "the judge" if column == DISTINCT else "the twin of what pays"
    if not better:
        return f"**Distinctive captions.** No objective's captions are clearly found more often by {who}."
    text = f"**Distinctive captions.** By captions of {_labels(better)} {who} clearly finds more images than by "
    text += "cross-entropy's."
    best = overview.best(column, better)
    if best is not None:
        numbers = [overview.beside_likelihood(best, name) for name in (column, CIDER)]
        text += f" {best.label}: {'; '.join(filter(None, numbers))}."
    if overview.has(LITERAL):
        ahead = [row for row in better if overview.is_ahead(row, base, LITERAL)]
        behind = [row for row in better if overview.is_ahead(base, row, LITERAL)]
        if ahead or behind:
            found = {"more": ahead, "fewer": behind}
            parts = [f"{words} by those of {_labels(rows)}" for words, rows in found.items() if rows]
            text += f" The literal listener clearly finds {', '.join(parts)}."
        else:
            text += " A literal listener does not clearly find more, or fewer, by any of them."
    if overview.has(TRUTH):
        false = [row for row in better if overview.is_ahead(base, row, TRUTH)]
        text += f" The captions of {_share(false, better)} of these are clearly less often true."
    return text


def _of_truth(overview: Overview, base: Row) -> str:
    better = _ahead(overview, base, TRUTH)
    if not better:
        return ""
    text = f"**Truth.** Captions of {_labels(better)} are clearly more often true than cross-entropy's."
    where = {RECALL: "in the best caption", RECALL_OF_SAMPLES: "in all samples of an image"}
    told = {
        words: _share([row for row in better if overview.is_ahead(base, row, column)], better)
        for column, words in where.items()
        if overview.has(column)
    }
    if not told:
        return text
    shares = set(told.values())
    parts = [f"{share} {words}" for words, share in told.items()]
    if len(shares) == 1:
        parts = [f"{shares.pop()}, {' and '.join(told)}"]
    return f"{text} Clearly fewer facts are told by {'; '.join(parts)}."


def _ahead(overview: Overview, base: Row, column: str) -> list[Row]:
    return [row for row in overview.objectives if overview.is_ahead(row, base, column)]


def _behind(overview: Overview, base: Row, column: str) -> list[Row]:
    return [row for row in overview.objectives if overview.is_ahead(base, row, column)]


def _labels(rows: Sequence[Row]) -> str:
    """ "A, B and C"; "none"; of many, how many."""
    if len(rows) > _MOST_NAMED:
        return f"{len(rows)} objectives"
    return _and([row.label for row in rows] or ["none"])


def _is(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"


def _and(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _with_levels(rows: Sequence[Row], base: Row, column: str) -> str:
    """ "A (84.1) and B (80.2; cross-entropy 75.0)": rows with their numbers in a column; of many, how many."""
    if len(rows) > _MOST_NAMED:
        return _labels(rows)
    *before, last = sorted(rows, key=lambda row: -row.levels[column].value)
    named = [f"{row.label} ({row.levels[column].value:.1f})" for row in before]
    return _and(
        [*named, f"{last.label} ({last.levels[column].value:.1f}; cross-entropy {base.levels[column].value:.1f})"]
    )


def _share(some: Sequence[Row], rows: Sequence[Row]) -> str:
    if not some:
        return "none"
    return "all" if len(some) == len(rows) > 1 else f"{len(some)} of {len(rows)}"
