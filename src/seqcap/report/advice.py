"""What to use when, by the table of every objective on one captioner. Nothing is advised that is clearly worse than
cross-entropy in what one would use it for; where nothing is clearly better, that is said."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from seqcap.report.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    PEOPLE,
    PRECISION,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    WORDS,
    Overview,
    Row,
)

SMOOTHING, BOTH = "smoothing", "both"  # uses beside the columns


def advice(overview: Overview, others: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """A paragraph for each use. `others`: use (a column of the table, `SMOOTHING` or `BOTH`) -> what the papers' own
    runs and other data say of it."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    texts = {
        CIDER: _for_one_caption(overview, base),
        SAMPLES: _for_samples(overview, base),
        DIVERSITY: _for_diversity(overview, base),
        SMOOTHING: _of_smoothing(overview, base),
        DISTINCT: _for_distinctiveness(overview, base),
        BOTH: _for_both(overview, base),
        TRUTH: _for_truth(overview, base),
    }
    return [f"{text} {others.get(use, '')}".rstrip() for use, text in texts.items() if text]


def _for_one_caption(overview: Overview, base: Row) -> str:
    best = overview.best(CIDER, overview.objectives)
    if best is None or CIDER not in base.levels:
        return ""
    numbers = _against(overview, best, base, (CIDER, TRUTH, overview.distinct))
    within = f" within {overview.budget}" if overview.budget else ""
    if overview.is_ahead(best, base, CIDER):
        leaders = _leaders(overview, best, base, CIDER)
        rest = _rest(overview, base, best, leaders, CIDER)
        return f"**The highest CIDEr of one caption{within}: {_either(leaders)}.** {numbers}. {rest}".rstrip()
    text = f"**The highest CIDEr of one caption{within}: none is clearly above cross-entropy.** The highest number is "
    text += f"{best.label}'s, not told apart: {numbers}."
    if not any(row.levels[CIDER].ahead_of for row in overview.rows if CIDER in row.levels):
        text += " So few seeds tell no two rows apart in it."
    return text


def _for_samples(overview: Overview, base: Row) -> str:
    best = overview.best(SAMPLES, overview.objectives)
    if best is None or not overview.is_ahead(best, base, SAMPLES):
        return ""
    leaders = _leaders(overview, best, base, SAMPLES)
    first = leaders[0]
    text = f"**Random samples that are good one by one: {_either(leaders)}.** "
    text += f"{_against(overview, first, base, (SAMPLES,))}."
    if overview.is_ahead(base, first, DIVERSITY):
        text += f" They are much alike: {_against(overview, first, base, (DIVERSITY, RECALL_OF_SAMPLES))}."
        if CIDER in first.levels:
            text += f" Where one caption will do, its beam's has {CIDER.split(',')[0]} {first.levels[CIDER].value:.1f}."
    return f"{text} {_rest(overview, base, best, leaders, SAMPLES)}".rstrip()


def _for_diversity(overview: Overview, base: Row) -> str:
    """The most diverse of those that clearly lower neither the beam's CIDEr and truth nor the samples' CIDEr; where
    there is none, what costs samples least, and the most diverse."""
    kept = [
        row for row in overview.objectives if not any(overview.is_ahead(base, row, column) for column in (CIDER, TRUTH))
    ]
    diverse = [row for row in kept if overview.is_ahead(row, base, DIVERSITY)]
    cheap = [row for row in diverse if not overview.is_ahead(base, row, SAMPLES)]
    best = overview.best(DIVERSITY, cheap) or overview.best(SAMPLES, diverse)
    if DIVERSITY not in base.levels:
        return ""
    columns = (DIVERSITY, SAMPLES, CIDER, TRUTH)
    if best is None:
        text = "**Diverse samples: none.** All that is clearly more diverse than cross-entropy loses CIDEr or truth of "
        text += "the beam."
    elif cheap:
        text = f"**Diverse samples: {best.label}.** {_against(overview, best, base, columns)}."
    else:
        text = f"**Diverse samples at little cost: none.** Nearest is {best.label}: "
        text += f"{_against(overview, best, base, columns)}."
        most = overview.best(DIVERSITY, diverse)
        if most is not None and most is not best:
            text += f" {most.label} is more diverse and costs more ({_levels(most, columns[:2])})."
    if overview.start is not None and overview.is_ahead(overview.start, base, DIVERSITY):
        text += f" Where it starts, cross-entropy has {_levels(overview.start, columns[:2])}."
    return text


def _of_smoothing(overview: Overview, base: Row) -> str:
    """Whether smoothing helps: it costs little, and many ask."""
    rows = [row for row in overview.objectives if row.objective.endswith("smoothing")]
    if not rows:
        return ""
    better = [row.label for row in rows if overview.is_ahead(row, base, CIDER)]
    below = [row for row in rows if overview.is_ahead(base, row, CIDER)]
    diverse = [row for row in rows if overview.is_ahead(row, base, DIVERSITY)]
    worse = [row for row in rows if overview.is_ahead(base, row, SAMPLES)]
    helps = f"{', '.join(better)} of it {'is' if len(better) == 1 else 'are'}" if better else "no kind of it is"
    lower = "".join(f"; {row.label} is clearly below ({_against(overview, row, base, (CIDER,))})" for row in below)
    return (
        f"**Smoothing: {helps} clearly above cross-entropy in CIDEr of the best caption{lower}.** Of {len(rows)} "
        f"kinds, one setting each, {len(diverse)} make samples clearly more diverse, and {len(worse)} clearly "
        "lower their CIDEr."
    )


def _for_distinctiveness(overview: Overview, base: Row) -> str:
    column = overview.distinct
    kept = [row for row in overview.objectives if not overview.is_ahead(base, row, LITERAL)]
    best = overview.best(column, kept)
    if best is None or not overview.is_ahead(best, base, column):
        return "**Captions that tell images apart: none does so clearly better than cross-entropy.**"
    who = "a judge" if column == DISTINCT else "a twin of what pays"
    leaders = _leaders(overview, best, base, column)
    first = leaders[0]
    text = f"**Captions that tell images apart, to {who}: {_either(leaders)}.** "
    text += f"{_against(overview, first, base, (column, LITERAL, TRUTH, CIDER))}. "
    text += _rest(overview, base, best, leaders, column)
    text += _beside_people(overview, first, column)
    if column != DISTINCT:
        text += " A twin may believe what the payer believes."
    if overview.is_ahead(base, first, TRUTH):
        text += " At this setting its captions are clearly less often true."
    return text


def _beside_people(overview: Overview, best: Row, column: str) -> str:
    """What people's captions have. A listener that finds others more often, though fewer are true, follows more than
    truth."""
    people = next((row for row in overview.rows if row.run == PEOPLE), None)
    if people is None or not {column, LITERAL, TRUTH} <= people.levels.keys():
        return ""
    columns = (column, LITERAL, TRUTH)
    numbers = "; ".join(f"{name} {people.levels[name].value:.1f}" for name in columns)
    text = f" {people.label[0].upper()}{people.label[1:]}: {numbers}."
    ours, theirs = ([row.levels[name].value for name in (column, TRUTH)] for row in (best, people))
    if ours[0] > theirs[0] and ours[1] < theirs[1]:
        text += f" So what {'the judge' if column == DISTINCT else 'the twin'} follows is not truth alone."
    return text


def _for_both(overview: Overview, base: Row) -> str:
    """What is found more often and no less often true; where nothing is, what comes nearest."""
    column = overview.distinct
    distinct = [row for row in overview.objectives if overview.is_ahead(row, base, column)]
    if not distinct or not overview.has(TRUTH):
        return ""
    columns = (column, LITERAL, TRUTH, CIDER)
    best = overview.best(column, [row for row in distinct if not overview.is_ahead(base, row, TRUTH)])
    if best is not None:
        numbers = _against(overview, best, base, columns)
        return f"**Captions that tell images apart and are not clearly less often true: {best.label}.** {numbers}."
    text = "**Captions that tell images apart and are as often true: none at these settings.** Truest of what is "
    text += "clearly found more often"
    truest = overview.best(TRUTH, distinct)
    assert truest is not None
    tied = [truest, *(row for row in overview.close(truest, TRUTH) if row in distinct)]
    first = overview.best(CIDER, tied) or truest
    others = [row.label for row in tied if row is not first]
    who = f"is {first.label}"
    if others:
        who = f"are {', '.join(others)} and, of most CIDEr, {first.label}, not told apart"
    return f"{text} {who}: {_against(overview, first, base, columns)}."


def _for_truth(overview: Overview, base: Row) -> str:
    if not overview.has(TRUTH):
        return ""
    best = overview.best(TRUTH, overview.objectives)
    if best is None or not overview.is_ahead(best, base, TRUTH):
        return "**Captions that are true: none is clearly more often true than cross-entropy's.**"
    leaders = _leaders(overview, best, base, TRUTH)
    numbers = _against(overview, leaders[0], base, (TRUTH, PRECISION, CIDER))
    text = f"**Captions that are true: {_either(leaders)}.** {numbers[0].upper()}{numbers[1:]}."
    said = _against(overview, leaders[0], base, (WORDS, RECALL_OF_SAMPLES, overview.distinct))
    return f"{text} What they say: {said}. {_rest(overview, base, best, leaders, TRUTH)}".rstrip()


def _against(overview: Overview, row: Row, base: Row, columns: Sequence[str]) -> str:
    """ "CIDEr, beam 79.5 [75.3, 84.0] against 75.4": a row's numbers, and those of cross-entropy."""
    common = [column for column in columns if column in row.levels and column in base.levels]
    return "; ".join(f"{column} {row.levels[column]} against {base.levels[column].value:.1f}" for column in common)


def _levels(row: Row, columns: Sequence[str]) -> str:
    """ "CIDEr, beam 79.5; words 6.6": a row's numbers."""
    return "; ".join(f"{column} {row.levels[column].value:.1f}" for column in columns if column in row.levels)


def _leaders(overview: Overview, best: Row, base: Row, column: str) -> list[Row]:
    """The best one of a column and those ahead of cross-entropy that are not told apart from it, nor behind another of
    these; that with the highest CIDEr of the beam first."""
    tied = [best, *(row for row in overview.close(best, column) if overview.is_ahead(row, base, column))]
    leaders = [row for row in tied if not any(overview.is_ahead(other, row, column) for other in tied)]
    first = overview.best(CIDER, leaders) or best
    rest = [row for row in leaders if row is not first]
    return [first, *sorted(rest, key=lambda row: -row.levels[column].value)]


def _either(rows: Sequence[Row]) -> str:
    """ "A, B or C"."""
    *before, last = [row.label for row in rows]
    return f"{', '.join(before)} or {last}" if before else last


def _rest(overview: Overview, base: Row, best: Row, leaders: Sequence[Row], column: str) -> str:
    """Whose numbers were given, where several lead; and which rows say nothing: told apart neither from the best nor
    from cross-entropy."""
    parts = [f"The numbers are {leaders[0].label}'s (highest CIDEr)."] if len(leaders) > 1 else []
    close = [row for row in overview.close(best, column) if row not in (*leaders, base)]
    vague = [
        row.label
        for row in close
        if not overview.is_ahead(base, row, column) and not overview.is_ahead(row, base, column)
    ]
    if vague:
        parts.append(f"Too uncertain: {', '.join(vague)}.")
    return " ".join(parts)
