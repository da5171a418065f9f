"""What was learnt of the table of all objectives, in a few sentences."""

from collections.abc import Mapping, Sequence

from seqcap.report.advice import leaders
from seqcap.report.asides import Asides
from seqcap.report.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    MORE_CIDER,
    MORE_RECALL,
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
from seqcap.report.wording import TWO_VERBS

_MOST_NAMED = 8
_MOST_WORDED = 4
_NONE = Asides()


def learnt(overview: Overview, asides: Asides = _NONE) -> list[str]:
    """A sentence or two on each quality of captions; "clearly" is what the table tells apart."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    told = [_of_quality(overview, base), _of_wording(overview, base, asides), _of_samples(overview, base, asides)]
    told += [_of_distinctiveness(overview, base), _of_truth(overview, base, asides)]
    return [*filter(None, told)]


def _of_quality(overview: Overview, base: Row) -> str:
    if CIDER not in base.levels:
        return ""
    better, worse = _ahead(overview, base, CIDER), _behind(overview, base, CIDER)
    number, likelihood = len(overview.objectives), base.levels[CIDER].value
    begin = f"**CIDEr of the best caption.** Of {number} objectives"
    if not better and not worse:
        values = [row.levels[CIDER].value for row in overview.objectives if CIDER in row.levels]
        ends = " to ".join(dict.fromkeys(f"{value:.1f}" for value in (min(values), max(values))))
        return f"{begin} none is told apart from cross-entropy trained further: {ends} against {likelihood:.1f}."
    told = [
        f"{len(side)} {_is(side)} clearly {word}"
        + (f" ({_with_levels(side, CIDER)})" if len(side) <= _MOST_NAMED else "")
        for word, side in {"above": better, "below": worse}.items()
        if side
    ]
    rest = number - len(better) - len(worse)
    told.append(f"{rest} not told apart from it")
    return f"{begin}, beside cross-entropy trained further ({likelihood:.1f}), {', '.join(told)}."


def _of_wording(overview: Overview, base: Row, asides: Asides) -> str:
    """How many of the best captions are no sentence, and how many differ, beside cross-entropy's."""
    of_base = asides.worded.get(base.run, {})
    known = [row for row in overview.objectives if row.run in asides.worded]
    if DISTINCT_CAPTIONS not in of_base or not known:
        return ""

    def named(rows: Sequence[Row], share: str) -> str:
        return ", ".join(f"{row.label} {asides.worded[row.run][share]:.1f}" for row in rows)

    text = "**Wording of the best caption.**"
    if TWO_VERBS in of_base:
        most = sorted(known, key=lambda row: asides.worded[row.run][TWO_VERBS], reverse=True)[:_MOST_WORDED]
        text += (
            " Of a hundred, so many are ungrammatical, with two verbs (*there is a man is in the grass*), as no "
            f"reference is: {named(most, TWO_VERBS)}; cross-entropy {of_base[TWO_VERBS]:.1f}. CIDEr and the checker of "
            "truth do not see it."
        )
    alike = sorted(known, key=lambda row: asides.worded[row.run][DISTINCT_CAPTIONS])
    fewest = named(alike[:_MOST_WORDED], DISTINCT_CAPTIONS)
    last = named(alike[-1:], DISTINCT_CAPTIONS)
    return (
        f"{text} Of a hundred, so many are different captions: {fewest} are the fewest, {last} the most; cross-entropy "
        f"{of_base[DISTINCT_CAPTIONS]:.1f}."
    )


def _of_samples(overview: Overview, base: Row, asides: Asides) -> str:
    better = _ahead(overview, base, SAMPLES)
    if not better:
        return ""
    poorer = [row for row in better if overview.is_ahead(base, row, DIVERSITY)]
    diverse = _ahead(overview, base, DIVERSITY)
    costly = [row for row in diverse if overview.is_ahead(base, row, SAMPLES)]
    best = overview.best(SAMPLES, better)
    assert best is not None
    text = (
        f"**Random samples.** {len(better)} of {len(overview.objectives)} objectives clearly raise the CIDEr of random "
        f"samples (most: {_with_levels([best], SAMPLES)}, from {base.levels[SAMPLES].value:.1f}); "
        f"{_share(poorer, better)} of these make them clearly less diverse."
    )
    if diverse:
        text += (
            f" Those of {_labels(diverse)} are clearly more diverse; {_share(costly, diverse)} of these have clearly "
            "less CIDEr."
        )
    if asides.rivals:
        text += (
            " Cross-entropy's samples at other temperatures, without training, have CIDEr, Div-2 and true recall of "
            f"{asides.rivals}."
        )
    return f"{text} {_beside_temperatures(overview, base, asides.tempered)}"


def _beside_temperatures(overview: Overview, base: Row, tempered: Mapping[str, str]) -> str:
    """What samples have over those of cross-entropy at the temperature that makes these as diverse."""
    if not overview.has(MORE_CIDER):
        return "All are drawn at temperature 1; cross-entropy at another one, the cheapest rival, was not tried."
    better, worse = _ahead(overview, base, MORE_CIDER), _behind(overview, base, MORE_CIDER)
    rest = [row for row in overview.objectives if MORE_CIDER in row.levels and row not in (*better, *worse)]
    sides = {"have clearly more CIDEr": better, "have clearly less": worse, "are not told apart": rest}
    told = [f"those of {_with_gains(rows)} {words}" for words, rows in sides.items() if rows]
    beyond = [row for row in overview.objectives if DIVERSITY in row.levels and MORE_CIDER not in row.levels]
    for word, is_more in (("more", True), ("less", False)):
        rows = [row for row in beyond if (row.levels[DIVERSITY].value > base.levels[DIVERSITY].value) == is_more]
        told += [f"{_labels(rows)} {_is(rows)} {word} diverse than all tried"] if rows else []
    text = f"Beside cross-entropy's samples at the temperature of equal Div-2, {', '.join(told)}"
    known = [row for row in overview.objectives if MORE_RECALL in row.levels]
    poorer, fuller = _behind(overview, base, MORE_RECALL), _ahead(overview, base, MORE_RECALL)
    if poorer:
        text += f"; {len(poorer)} of {len(known)} then tell clearly fewer true facts"
        text += f", {_labels(fuller)} clearly more" if fuller else ""
    if not tempered:
        return f"{text}. Objectives are drawn at temperature 1 alone."
    others = [f"{row.label} {tempered[row.label]}" for row in better if row.label in tempered]
    return f"{text}. At another temperature ([all](across/report.md)): {', '.join(others)}." if others else f"{text}."


def _with_gains(rows: Sequence[Row]) -> str:
    """ "A +12.1": rows with what they have over cross-entropy's samples, the most first; of many, how many."""
    ordered = sorted(rows, key=lambda row: -row.levels[MORE_CIDER].value)
    gains = [f"{row.levels[MORE_CIDER].value:+.1f}" for row in ordered]
    if len(rows) > _MOST_NAMED:
        return f"{len(rows)} others ({gains[0]} to {gains[-1]})"
    return _and([f"{row.label} {gain}" for row, gain in zip(ordered, gains, strict=True)])


def _of_distinctiveness(overview: Overview, base: Row) -> str:
    column = overview.distinct
    better = _ahead(overview, base, column)
    who = "the judge" if column == DISTINCT else "the twin of what pays"
    if not better:
        return f"**Distinctive captions.** No objective's captions are clearly found more often by {who}."
    text = f"**Distinctive captions.** By captions of {_labels(better)} {who} clearly finds more images than by "
    text += "cross-entropy's."
    best = overview.best(column, better)
    assert best is not None
    first, *others = leaders(overview, best, base, column)
    beside = [overview.beside_likelihood(first, name) for name in (column, CIDER, LITERAL, TRUTH, PRECISION)]
    text += f" Ahead is {first.label}: {'; '.join(filter(None, beside))}"
    also = [name for name in (LITERAL, TRUTH) if overview.has(name)]
    tied = ", ".join(_named_with(row, column, also) for row in others)
    text += f"; not told apart from it: {tied}." if tied else "."
    if overview.has(LITERAL):
        ahead = [row for row in better if overview.is_ahead(row, base, LITERAL)]
        behind = [row for row in better if overview.is_ahead(base, row, LITERAL)]
        if ahead or behind:
            found = {"more": ahead, "fewer": behind}
            parts = [f"{words} by those of {_named(rows, LITERAL)}" for words, rows in found.items() if rows]
            text += f" The literal listener clearly finds {', '.join(parts)}."
        else:
            text += " A literal listener does not clearly find more, or fewer, by any of them."
    if overview.has(TRUTH):
        false = [row for row in better if overview.is_ahead(base, row, TRUTH)]
        text += f" The captions of {_share(false, better)} of these are clearly less often true."
    return text + _by_references(overview, column)


def _named_with(row: Row, column: str, others: Sequence[str]) -> str:
    """ "RL 67.5 (true captions 51.2)"."""
    beside = ", ".join(f"{name} {row.levels[name].value:.1f}" for name in others if name in row.levels)
    return f"{row.label} {row.levels[column].value:.1f}" + (f" ({beside})" if beside else "")


def _by_references(overview: Overview, column: str) -> str:
    """What the references' own captions are found by, where the judge finds fewer by them than by an objective's."""
    people = next((row for row in overview.rows if row.run == PEOPLE and column in row.levels), None)
    if people is None or all(row.levels[column].value < people.levels[column].value for row in overview.objectives):
        return ""
    told = [f"{name} {people.levels[name].value:.1f}" for name in (column, LITERAL, TRUTH) if name in people.levels]
    return f" By the {people.label} itself: {', '.join(told)}: the judge follows more than truth."


def _of_truth(overview: Overview, base: Row, asides: Asides) -> str:
    better = _ahead(overview, base, TRUTH)
    if not better:
        return ""
    worse = _behind(overview, base, TRUTH)
    text = (
        "**Truth.** A caption is true that says something and nothing false. Those of "
        f"{_named(better, TRUTH)} are clearly more often true than cross-entropy's ({base.levels[TRUTH].value:.1f}"
        f"{_in_words(better, base)}); "
    )
    rest = len(better) + len(worse) < len([row for row in overview.objectives if TRUTH in row.levels])
    text += f"{_named(worse, TRUTH)} clearly less often" + ("; the others are not told apart from it." if rest else ".")
    if worse and asides.at_equal_length:
        text += (
            " Longer captions say something false more easily: at equal length, in WTF-RL's own runs, against TF, "
            f"{asides.at_equal_length} (points, without intervals), of a third of captions ([more](wtfrl/report.md))."
        )
    if asides.true_samples:
        text += f" True precision of five samples, in SLE's own runs ([more](sle/report.md)): {asides.true_samples}."
    where = {RECALL: "in the best caption", RECALL_OF_SAMPLES: "in all samples of an image"}
    told = {
        words: _share([row for row in better if overview.is_ahead(base, row, column)], better)
        for column, words in where.items()
        if overview.has(column)
    }
    if not told:
        return text
    shares = set(told.values())
    parts = [f"{share} of the truer ones {words}" for words, share in told.items()]
    if len(shares) == 1:
        parts = [f"{shares.pop()} of the truer ones, {' and '.join(told)}"]
    text += f" Clearly fewer facts are told by {'; '.join(parts)}"
    fuller = [row for row in worse if overview.has(RECALL) and overview.is_ahead(row, base, RECALL)]
    return (
        f"{text}; clearly more in the best caption by {_share(fuller, worse)} of the less true."
        if fuller
        else f"{text}."
    )


def _in_words(better: Sequence[Row], base: Row) -> str:
    """How long captions are, since a longer one says something false more easily; "" where that is not known."""
    lengths = [row.levels[WORDS].value for row in better if WORDS in row.levels]
    if WORDS not in base.levels or not lengths:
        return ""
    ends = dict.fromkeys(f"{length:.1f}" for length in (min(lengths), max(lengths)))
    return f", of {base.levels[WORDS].value:.1f} words; these have {' to '.join(ends)}"


def _ahead(overview: Overview, base: Row, column: str) -> list[Row]:
    return [row for row in overview.objectives if overview.is_ahead(row, base, column)]


def _behind(overview: Overview, base: Row, column: str) -> list[Row]:
    return [row for row in overview.objectives if overview.is_ahead(base, row, column)]


def _labels(rows: Sequence[Row]) -> str:
    """ "A, B and C"; "none"; of many, how many."""
    if len(rows) > _MOST_NAMED:
        return f"{len(rows)} objectives"
    return _and([row.label for row in rows] or ["none"])


def _named(rows: Sequence[Row], column: str) -> str:
    """Rows with their numbers in a column; "none"; of many, how many."""
    return _with_levels(rows, column) if 0 < len(rows) <= _MOST_NAMED else _labels(rows)


def _is(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"


def _and(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _with_levels(rows: Sequence[Row], column: str) -> str:
    """ "A 84.1, B 80.2": rows with their numbers in a column, the highest first."""
    ordered = sorted(rows, key=lambda row: -row.levels[column].value)
    return ", ".join(f"{row.label} {row.levels[column].value:.1f}" for row in ordered)


def _share(some: Sequence[Row], rows: Sequence[Row]) -> str:
    if not some:
        return "none"
    return "all" if len(some) == len(rows) > 1 else f"{len(some)} of {len(rows)}"
