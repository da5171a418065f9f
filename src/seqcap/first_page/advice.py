"""What to use when, by the table of every objective on one captioner. Nothing is advised that is clearly worse than
cross-entropy in what one would use it for; where nothing is clearly better, that is said."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from seqcap.first_page.asides import Asides, often_ungrammatical
from seqcap.first_page.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    MORE_CIDER,
    PEOPLE,
    PRECISION,
    RECALL,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    WORDS,
    Overview,
    Row,
)
from seqcap.report.wording import DISTINCT as DISTINCT_CAPTIONS

# Points to either side, from which an interval is told beside an objective's name.
_WIDE = 10
DISTINCT_AND_TRUE = "such captions, and as often true"  # a use
_NONE = Asides()
_MOST_NEXT = 2  # objectives that are named beside what leads
Columns = tuple[Sequence[str], Sequence[str]]  # what an objective is used for, and what else


@dataclass(frozen=True)
class Advice:
    """What to take for one use: a row of a table. Numbers are as of `Overview.beside_likelihood`."""

    use: str
    take: str  # of the objectives that lead that with the highest CIDEr of the beam; or "none"
    gains: str  # the first one's numbers in what it is used for
    otherwise: str  # and in what else
    note: str  # "" if there is nothing to add
    column: str = ""  # of what it is used for
    first: str = ""  # the objective that numbers and costs are of
    leading: tuple[str, ...] = ()  # what to take and what is not told apart from it
    tied: str = ""  # the others that lead, which are not told apart from it
    costs: tuple[str, ...] = ()  # the columns in which the first one is clearly worse than cross-entropy
    ungrammatical: str = ""  # how many captions of those that lead are so, where many are
    alike: str = ""  # how many captions of the first one differ, where few do
    next: str = ""  # what is then the best of the others, by the first column
    next_costs: tuple[str, ...] = ()  # columns in which any of these is worse, and the first one is not
    unsure: str = ""  # those told apart neither from these nor from cross-entropy


def advice(overview: Overview, asides: Asides = _NONE) -> list[Advice]:
    """A row for each use."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    broken = often_ungrammatical(overview.objectives, asides)
    uses = (_one_caption, _samples, _diversity, _distinctiveness, _distinct_and_true, partial(_truth, broken))
    known = [row for use in uses if (row := use(overview, base)) is not None]
    noted = [_with_rival(overview, row, asides.tempered) for row in known]
    return [_with_wording(overview, base, row, asides, broken) for row in noted]


def _with_rival(overview: Overview, row: Advice, tempered: Mapping[str, str]) -> Advice:
    """What samples have over the cheapest rival, cross-entropy at the temperature that makes its own as diverse: drawn
    at temperature 1, and at another one."""
    found = next((of for of in overview.objectives if of.label == row.first), None)
    if row.column not in (SAMPLES, DIVERSITY) or found is None or MORE_CIDER not in found.levels:
        return row
    gain = f"{found.levels[MORE_CIDER].value:+.1f}"
    also = f" (drawn {tempered[row.first]})" if row.first in tempered else ""
    told = f"CIDEr of its samples {gain} over cross-entropy's at the temperature of equal Div-2{also}."
    return replace(row, note=f"{row.note} {told}".strip())


def _with_wording(overview: Overview, base: Row, row: Advice, asides: Asides, shares: Mapping[str, float]) -> Advice:
    """How many captions of what leads are ungrammatical, where many are, and what is next best of the others; and where
    few differ. It is known of the best caption of a beam alone. `shares`: `often_ungrammatical`."""
    if row.column in (SAMPLES, DIVERSITY):
        return row
    led = _with_alike(overview, base, row, asides)
    told = [f"{label} {share:.1f}" for label, share in shares.items() if label in row.leading]
    if not told:
        return led
    led = replace(led, ungrammatical=", ".join(told))
    if row.first not in shares:
        return led
    ahead = [other for other in overview.objectives if overview.is_ahead(other, base, row.column)]
    others = [other for other in ahead if other.label not in shares]
    others.sort(key=lambda other: other.levels[row.column].value, reverse=True)
    following = others[:_MOST_NEXT]
    names = [f"{other.label} ({_levels(other, [row.column])})" for other in following]
    each = [_costs(overview, base, other) for other in following]
    further = [column for column in dict.fromkeys(chain.from_iterable(each)) if column not in row.costs]
    return replace(led, next=_either(names) if names else "", next_costs=tuple(further))


def _with_alike(overview: Overview, base: Row, row: Advice, asides: Asides) -> Advice:
    """How many captions of the first one differ, where fewer than half as many as cross-entropy's do."""
    usual = asides.worded.get(base.run, {}).get(DISTINCT_CAPTIONS)
    runs = {of.label: of.run for of in overview.objectives}
    share = asides.worded.get(runs.get(row.first, ""), {}).get(DISTINCT_CAPTIONS)
    if not row.leading or usual is None or share is None or share >= usual / 2:
        return row
    return replace(row, alike=f"{row.first} {share:.1f} in a hundred, cross-entropy {usual:.1f}")


def _costs(overview: Overview, base: Row, row: Row) -> tuple[str, ...]:
    """The columns in which a row is clearly worse than cross-entropy."""
    columns = (CIDER, overview.distinct, LITERAL, TRUTH, RECALL, SAMPLES, DIVERSITY, RECALL_OF_SAMPLES)
    return tuple(column for column in columns if overview.is_ahead(base, row, column))


def _one_caption(overview: Overview, base: Row) -> Advice | None:
    best = overview.best(CIDER, overview.objectives)
    if best is None or CIDER not in base.levels:
        return None
    columns: Columns = [CIDER], [TRUTH, overview.distinct]
    use = "one caption with the highest CIDEr"
    if overview.is_ahead(best, base, CIDER):
        return _led(overview, base, use, best, columns)
    # So few seeds may tell no two rows apart in it.
    is_blind = not any(row.levels[CIDER].ahead_of for row in overview.rows if CIDER in row.levels)
    note = "In this column no two rows are told apart." if is_blind else ""
    return _advice(overview, use, f"none; the highest number is {best.label}'s", best, columns, note)


def _samples(overview: Overview, base: Row) -> Advice | None:
    best = overview.best(SAMPLES, overview.objectives)
    if best is None or not overview.is_ahead(best, base, SAMPLES):
        return None
    columns = [SAMPLES], [DIVERSITY, RECALL_OF_SAMPLES, CIDER]
    return _led(overview, base, "random samples of high CIDEr", best, columns)


def _diversity(overview: Overview, base: Row) -> Advice | None:
    """The most diverse of those that clearly lower neither the beam's CIDEr and truth nor the samples' CIDEr; where
    there is none, what costs samples least, and the most diverse."""
    if DIVERSITY not in base.levels:
        return None
    use = "diverse samples at little cost"
    columns: Columns = [DIVERSITY], [SAMPLES, RECALL_OF_SAMPLES, CIDER, TRUTH]
    kept = [
        row for row in overview.objectives if not any(overview.is_ahead(base, row, column) for column in (CIDER, TRUTH))
    ]
    diverse = [row for row in kept if overview.is_ahead(row, base, DIVERSITY)]
    cheap = [row for row in diverse if not overview.is_ahead(base, row, SAMPLES)]
    if cheap:
        best = overview.best(DIVERSITY, cheap)
        assert best is not None
        return _advice(overview, use, f"**{best.label}**", best, columns, "")
    nearest = overview.best(SAMPLES, diverse)
    if nearest is None:
        why = "All that is clearly more diverse has clearly less CIDEr, or is less often true, by a beam."
        return Advice(use, "none", "", "", why)
    most = overview.best(DIVERSITY, diverse)
    note = ""
    if most is not None and most is not nearest:
        note = f"More diverse, at a higher cost: {most.label} ({_levels(most, [DIVERSITY, SAMPLES])})."
    return _advice(overview, use, f"none; nearest is {nearest.label}", nearest, columns, note)


def _distinctiveness(overview: Overview, base: Row) -> Advice:
    column = overview.distinct
    use = f"captions that tell images apart, to {'a judge' if column == DISTINCT else 'a twin of what pays'}"
    kept = [row for row in overview.objectives if not overview.is_ahead(base, row, LITERAL)]
    best = overview.best(column, kept)
    if best is None or not overview.is_ahead(best, base, column):
        return Advice(use, "none", "", "", "")
    led = _led(overview, base, use, best, ([column, LITERAL], [TRUTH, CIDER]))
    note = _beside_people(overview, leaders(overview, best, base, column)[0], column)
    if column != DISTINCT:
        note += " A twin may believe what the payer believes."
    return replace(led, note=note.strip())


def _beside_people(overview: Overview, best: Row, column: str) -> str:
    """What people's captions have. A listener that finds others more often, though fewer are true, follows more than
    truth."""
    people = next((row for row in overview.rows if row.run == PEOPLE), None)
    if people is None or not {column, LITERAL, TRUTH} <= people.levels.keys():
        return ""
    text = f"{people.label[0].upper()}{people.label[1:]}: {_levels(people, [column, LITERAL, TRUTH])}."
    ours, theirs = ([row.levels[name].value for name in (column, TRUTH)] for row in (best, people))
    if ours[0] > theirs[0] and ours[1] < theirs[1]:
        text += f" So what {'the judge' if column == DISTINCT else 'the twin'} follows is not truth alone."
    return text


def _distinct_and_true(overview: Overview, base: Row) -> Advice | None:
    """What is found more often and no less often true; where nothing is, what comes nearest."""
    column = overview.distinct
    distinct = [row for row in overview.objectives if overview.is_ahead(row, base, column)]
    if not distinct or not overview.has(TRUTH):
        return None
    use, columns = DISTINCT_AND_TRUE, ([column, LITERAL], [TRUTH, CIDER])
    best = overview.best(column, [row for row in distinct if not overview.is_ahead(base, row, TRUTH)])
    if best is not None:
        return _advice(overview, use, f"**{best.label}**", best, columns, "")
    truest = overview.best(TRUTH, distinct)
    assert truest is not None
    tied = [truest, *(row for row in overview.close(truest, TRUTH) if row in distinct)]
    first = overview.best(CIDER, tied) or truest
    tied = [first, *(row for row in tied if row is not first)]
    names = [f"{row.label} {row.levels[TRUTH].value:.1f} ({row.levels[column].value:.1f})" for row in tied]
    take = f"none; least untrue, with {column} in brackets: {_either(names)}"
    return _advice(overview, use, take, first, columns, "")


def _truth(broken: Collection[str], overview: Overview, base: Row) -> Advice | None:
    """`broken`: objectives that are often ungrammatical, so that others that lead are named first."""
    if not overview.has(TRUTH):
        return None
    use = "captions that are true"
    best = overview.best(TRUTH, overview.objectives)
    if best is None or not overview.is_ahead(best, base, TRUTH):
        return Advice(use, "none", "", "", "")
    columns = [TRUTH, PRECISION], [CIDER, WORDS, RECALL, RECALL_OF_SAMPLES, overview.distinct]
    return _led(overview, base, use, best, columns, broken)


def _led(
    overview: Overview, base: Row, use: str, best: Row, columns: Columns, last: Collection[str] = frozenset()
) -> Advice:
    """Advice where the best one of the first column is ahead of cross-entropy. `last`: objectives that are named after
    the others."""
    column = columns[0][0]
    leading = sorted(leaders(overview, best, base, column), key=lambda row: row.label in last)
    first, *others = leading
    led = _advice(overview, use, f"**{first.label}**{_width(first, column)}", first, columns, "")
    tied = ", ".join(_named(row, column) for row in others)
    labels = tuple(row.label for row in leading)
    return replace(led, leading=labels, tied=tied, unsure=_unsure(overview, base, best, leading, column))


def _advice(overview: Overview, use: str, take: str, row: Row, columns: Columns, note: str) -> Advice:
    gains, otherwise = ("; ".join(filter(None, map(_beside(overview, row), part))) for part in columns)
    base = overview.baseline
    costs = _costs(overview, base, row) if base else ()
    return Advice(use, take, gains, otherwise, note, column=columns[0][0], first=row.label, costs=costs)


def _beside(overview: Overview, row: Row) -> Callable[[str], str]:
    return lambda column: overview.beside_likelihood(row, column)


def _levels(row: Row, columns: Sequence[str]) -> str:
    """ "CIDEr, beam 79.5; words 6.6": a row's numbers."""
    return "; ".join(f"{column} {row.levels[column].value:.1f}" for column in columns if column in row.levels)


def leaders(overview: Overview, best: Row, base: Row, column: str) -> list[Row]:
    """The best one of a column and those ahead of cross-entropy that are not told apart from it, nor behind another of
    these; that with the highest CIDEr of the beam first."""
    tied = [best, *(row for row in overview.close(best, column) if overview.is_ahead(row, base, column))]
    leading = [row for row in tied if not any(overview.is_ahead(other, row, column) for other in tied)]
    first = overview.best(CIDER, leading) or best
    rest = [row for row in leading if row is not first]
    return [first, *sorted(rest, key=lambda row: -row.levels[column].value)]


def _either(names: Sequence[str]) -> str:
    """ "A, B or C"."""
    *before, last = names
    return f"{', '.join(before)} or {last}" if before else last


def _named(row: Row, column: str) -> str:
    return f"{row.label}{_width(row, column)}"


def _width(row: Row, column: str) -> str:
    """ " (±18.3)" where an interval is wide, as where training seeds ended up in different places; else ""."""
    half = row.levels[column].half
    return f" (±{half:.1f})" if half is not None and half > _WIDE else ""


def _unsure(overview: Overview, base: Row, best: Row, leading: Sequence[Row], column: str) -> str:
    """Which rows say nothing: told apart neither from the best nor from cross-entropy; "" if none."""
    close = [row for row in overview.close(best, column) if row not in (*leading, base)]
    vague = [
        row.label
        for row in close
        if not overview.is_ahead(base, row, column) and not overview.is_ahead(row, base, column)
    ]
    return ", ".join(vague)
