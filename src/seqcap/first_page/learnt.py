"""What was learnt of the table of all objectives, in a few sentences."""

from collections.abc import Mapping, Sequence

from seqcap.first_page.advice import leaders
from seqcap.first_page.asides import Asides, as_often_misled
from seqcap.first_page.finding import Finding
from seqcap.first_page.outcomes import capital
from seqcap.first_page.overview import (
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
from seqcap.report.wording import MANY, TWO_VERBS

_MOST_NAMED = 8
_MOST_WORDED = 4
_NONE = Asides()


def learnt(overview: Overview, asides: Asides = _NONE) -> list[Finding]:
    """What is found of each quality of captions; "clearly" is what the table tells apart."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    told = [
        _of_quality(overview, base),
        _of_wording(overview, base, asides),
        _of_samples(overview, base, asides),
    ]
    told += [_of_distinctiveness(overview, base, asides), _of_truth(overview, base, asides)]
    return [finding for finding in told if finding]


def _of_quality(overview: Overview, base: Row) -> Finding | None:
    if CIDER not in base.levels:
        return None
    topic = "CIDEr of the best caption"
    better, worse = _ahead(overview, base, CIDER), _behind(overview, base, CIDER)
    number, likelihood = len(overview.objectives), base.levels[CIDER].value
    if not better and not worse:
        values = [row.levels[CIDER].value for row in overview.objectives if CIDER in row.levels]
        ends = " to ".join(dict.fromkeys(f"{value:.1f}" for value in (min(values), max(values))))
        none = "none is told apart from cross-entropy trained further"
        return Finding(topic, f"of {number} objectives {none}", f"{ends} against {likelihood:.1f}.")
    who = f"{len(better) or 'none'} of {number} objectives {_have(better)}"
    answer = f"{who} clearly more than cross-entropy trained further ({likelihood:.1f})"
    answer += f": {_named(better, CIDER)}" if 0 < len(better) <= _MOST_NAMED else ""
    told = [f"{len(worse)} {_have(worse)} clearly less ({_named(worse, CIDER)})"] if worse else []
    told.append(f"{number - len(better) - len(worse)} are not told apart from it")
    return Finding(topic, answer, f"{'; '.join(told)}.")


def _of_wording(overview: Overview, base: Row, asides: Asides) -> Finding | None:
    """How many of the best captions are no sentence, and how many differ, beside cross-entropy's."""
    of_base = asides.worded.get(base.run, {})
    known = [row for row in overview.objectives if row.run in asides.worded]
    if DISTINCT_CAPTIONS not in of_base or not known:
        return None

    def named(rows: Sequence[Row], share: str) -> str:
        return ", ".join(f"{row.label} {asides.worded[row.run][share]:.1f}" for row in rows)

    alike = sorted(known, key=lambda row: asides.worded[row.run][DISTINCT_CAPTIONS])
    fewest = named(alike[:_MOST_WORDED], DISTINCT_CAPTIONS)
    last = named(alike[-1:], DISTINCT_CAPTIONS)
    likelihood = f"cross-entropy {of_base[DISTINCT_CAPTIONS]:.1f}"
    topic = "Wording of the best caption"
    differ = f"different captions in a hundred: fewest {fewest}, most {last}; {likelihood}"
    if TWO_VERBS not in of_base:
        return Finding(topic, differ)
    most = sorted(known, key=lambda row: asides.worded[row.run][TWO_VERBS], reverse=True)[:_MOST_WORDED]
    many = [row for row in most if asides.worded[row.run][TWO_VERBS] > MANY]
    answer = f"no objective writes more than {MANY:.0f} ungrammatical ones in a hundred"
    if many:
        shares = [f"{row.label} {asides.two_verbs.get(row.run, '')}".strip() for row in many]
        answer = f"often ungrammatical are those of {', '.join(shares)} (in a hundred; lowest to highest seed)"
    seen = (
        "These have two verbs (*there is a man is in the grass*), as no reference has, which CIDEr and the checker of "
        "truth do not see; other faults were not counted."
    )
    caveat = [seen, f"{capital(differ)}."] if many else [f"{capital(differ)}."]
    return Finding(topic, answer, _joined(caveat))


def _of_samples(overview: Overview, base: Row, asides: Asides) -> Finding | None:
    better = _ahead(overview, base, SAMPLES)
    if not better:
        return None
    poorer = [row for row in better if overview.is_ahead(base, row, DIVERSITY)]
    best = overview.best(SAMPLES, better)
    assert best is not None
    answer = (
        f"{len(better)} of {len(overview.objectives)} objectives clearly raise their CIDEr (most: "
        f"{_with_levels([best], SAMPLES)}, from {base.levels[SAMPLES].value:.1f}); {_share(poorer, better)} of these "
        "make them clearly less diverse"
    )
    details = [_beyond_temperatures(overview, base)]
    if diverse := _ahead(overview, base, DIVERSITY):
        costly = [row for row in diverse if overview.is_ahead(base, row, SAMPLES)]
        details.append(
            f"Those of {_labels(diverse)} are clearly more diverse; {_share(costly, diverse)} of these have clearly "
            "less CIDEr."
        )
    if asides.rivals:
        of_rivals = "Cross-entropy's at other temperatures have CIDEr, Div-2 and true recall of"
        details.append(f"{of_rivals} {asides.rivals}; all objectives' are drawn at 1.")
    details += _of_temperatures(overview, base, asides.tempered)
    caveat = [_beside_temperatures(overview, base)]
    return Finding("Random samples", answer, _joined(caveat), _joined(details))


def _beside_temperatures(overview: Overview, base: Row) -> str:
    """What samples have over those of cross-entropy at the temperature that makes these as diverse."""
    if not overview.has(MORE_CIDER):
        return "All are drawn at temperature 1; cross-entropy at another one, the cheapest rival, was not tried."
    better, worse = _ahead(overview, base, MORE_CIDER), _behind(overview, base, MORE_CIDER)
    rest = [row for row in overview.objectives if MORE_CIDER in row.levels and row not in (*better, *worse)]
    sides = {"have clearly more CIDEr": better, "have clearly less": worse, "are not told apart": rest}
    told = [f"those of {_with_gains(rows)} {words}" for words, rows in sides.items() if rows]
    what = "Beside cross-entropy's at the temperature of equal Div-2, which takes no training"
    return f"{what}, {', '.join(told)}."


def _beyond_temperatures(overview: Overview, base: Row) -> str:
    """Which samples are more, or less, diverse than cross-entropy's at any temperature."""
    if not overview.has(MORE_CIDER):
        return ""
    beyond = [row for row in overview.objectives if DIVERSITY in row.levels and MORE_CIDER not in row.levels]
    apart = []
    for word, is_more in (("less", True), ("more", False)):
        rows = [row for row in beyond if (row.levels[DIVERSITY].value > base.levels[DIVERSITY].value) == is_more]
        apart += [f"{word} diverse than those of {_labels(rows)}"] if rows else []
    return f"At any temperature that was tried cross-entropy's are {' and '.join(apart)}." if apart else ""


def _of_temperatures(overview: Overview, base: Row, tempered: Mapping[str, str]) -> list[str]:
    """What else is known of the comparison with cross-entropy at other temperatures."""
    if not overview.has(MORE_CIDER):
        return []
    told = []
    known = [row for row in overview.objectives if MORE_RECALL in row.levels]
    poorer, fuller = _behind(overview, base, MORE_RECALL), _ahead(overview, base, MORE_RECALL)
    if poorer:
        also = f", {_labels(fuller)} clearly more" if fuller else ""
        told.append(f"As diverse, {len(poorer)} of {len(known)} tell clearly fewer true facts{also}.")
    if not tempered:
        told.append("Objectives are drawn at temperature 1 alone.")
    return told


def _with_gains(rows: Sequence[Row]) -> str:
    """ "A +12.1": rows with what they have over cross-entropy's samples, the most first; of many, how many."""
    ordered = sorted(rows, key=lambda row: -row.levels[MORE_CIDER].value)
    gains = [f"{row.levels[MORE_CIDER].value:+.1f}" for row in ordered]
    if len(rows) > _MOST_NAMED:
        return f"{len(rows)} others ({gains[0]} to {gains[-1]})"
    return _and([f"{row.label} {gain}" for row, gain in zip(ordered, gains, strict=True)])


def _of_distinctiveness(overview: Overview, base: Row, asides: Asides) -> Finding:
    topic, column = "Distinctive captions", overview.distinct
    better = _ahead(overview, base, column)
    who = "the judge" if column == DISTINCT else "the twin of what pays"
    is_judge = column == DISTINCT
    if not better:
        answer = f"no objective's captions are clearly found more often by {who}"
        return Finding(topic, answer, is_measured_by_judge=is_judge)
    best = overview.best(column, better)
    assert best is not None
    first, *others = leaders(overview, best, base, column)
    levels = "; ".join(filter(None, [overview.beside_likelihood(first, name) for name in (column, CIDER)]))
    answer = f"by those of {first.label} {who} finds most images ({levels})"
    if overview.is_ahead(base, first, TRUTH):
        true, of_base = first.levels[TRUTH].value, base.levels[TRUTH].value
        answer += f", but they are clearly less often true ({true:.1f} of a hundred against {of_base:.1f})"
    also = [name for name in (LITERAL, TRUTH) if overview.has(name)]
    tied = ", ".join(_named_with(row, column, also) for row in others)
    known = "; ".join(filter(None, [overview.beside_likelihood(first, name) for name in (LITERAL, PRECISION)]))
    details = [f"{first.label} has {known}."] if known else []
    details += [f"Not told apart from it: {tied}."] if tied else []
    details.append(f"By those of {_labels(better)} {who} finds clearly more images than by cross-entropy's.")
    details += _by_references(overview, column)
    caveat = _of_literal_listener(overview, base, better)
    if is_judge and asides.judges_agree:
        of_judge = ["has learnt from the same images", as_often_misled(asides.misled)]
        caveat.append(
            f"The judge pays nobody, but {', '.join(filter(None, of_judge))}, "
            f"and ranks objectives like what pays (Spearman {asides.judges_agree})."
        )
    return Finding(topic, answer, _joined(caveat), _joined(details), is_measured_by_judge=is_judge)


def _of_literal_listener(overview: Overview, base: Row, rows: Sequence[Row]) -> list[str]:
    """What a listener finds that takes every word literally; [] where none was asked."""
    if not overview.has(LITERAL):
        return []
    ahead = [row for row in rows if overview.is_ahead(row, base, LITERAL)]
    behind = [row for row in rows if overview.is_ahead(base, row, LITERAL)]
    found = {"more": ahead, "fewer": behind}
    parts = [f"{words} by those of {_named(rows, LITERAL)}" for words, rows in found.items() if rows]
    if not parts:
        return ["A literal listener does not clearly find more, or fewer, by any of them."]
    return [f"The literal listener clearly finds {', '.join(parts)}."]


def _named_with(row: Row, column: str, others: Sequence[str]) -> str:
    """ "RL 67.5 (true captions 51.2)"."""
    beside = ", ".join(f"{name} {row.levels[name].value:.1f}" for name in others if name in row.levels)
    return f"{row.label} {row.levels[column].value:.1f}" + (f" ({beside})" if beside else "")


def _by_references(overview: Overview, column: str) -> list[str]:
    """What the references' own captions are found by, where the judge finds fewer by them than by an objective's."""
    people = next((row for row in overview.rows if row.run == PEOPLE and column in row.levels), None)
    if people is None or all(row.levels[column].value < people.levels[column].value for row in overview.objectives):
        return []
    told = [f"{name} {people.levels[name].value:.1f}" for name in (column, LITERAL, TRUTH) if name in people.levels]
    return [f"By the {people.label} itself: {', '.join(told)}: the judge follows more than truth."]


def _of_truth(overview: Overview, base: Row, asides: Asides) -> Finding | None:
    better = _ahead(overview, base, TRUTH)
    if not better:
        return None
    worse = _behind(overview, base, TRUTH)
    answer = (
        f"those of {_named(better, TRUTH)} are clearly more often true than cross-entropy's "
        f"({base.levels[TRUTH].value:.1f})"
    )
    of_worse = f"Clearly less often true are those of {_named(worse, TRUTH)}"
    rest = len(better) + len(worse) < len([row for row in overview.objectives if TRUTH in row.levels])
    caveat = [f"{of_worse}{'; the others are not told apart from it' * rest}.", _of_facts(overview, base)]
    details = [_in_words(better, base)]
    if worse and asides.at_equal_length:
        caveat.append(
            "Longer captions say something false more easily: at equal length, in WTF-RL's own runs, against TF, "
            f"{asides.at_equal_length} (points, without intervals, of the third of captions that have a pair)."
        )
    if asides.true_samples:
        details.append(
            f"True precision of five samples, in SLE's own runs ([more](sle/report.md)): {asides.true_samples}."
        )
    return Finding("Truth", answer, _joined(caveat), _joined(details))


def _of_facts(overview: Overview, base: Row) -> str:
    """How much is told by what is more often true, and by what is less often; "" where that is not known."""
    better, worse = _ahead(overview, base, TRUTH), _behind(overview, base, TRUTH)
    where = {RECALL: "in the best caption", RECALL_OF_SAMPLES: "in all samples of an image"}
    told = {
        words: _share([row for row in better if overview.is_ahead(base, row, column)], better)
        for column, words in where.items()
        if overview.has(column)
    }
    if not told:
        return ""
    parts = [f"{share} clearly tell fewer facts {words}" for words, share in told.items()]
    text = f"Of the truer ones {', '.join(parts)}"
    fuller = [row for row in worse if overview.has(RECALL) and overview.is_ahead(row, base, RECALL)]
    also = f"; of the less true {_share(fuller, worse)} clearly tell more in the best caption" if fuller else ""
    return f"{text}{also}."


def _in_words(better: Sequence[Row], base: Row) -> str:
    """How long captions are, since a longer one says something false more easily; "" where that is not known."""
    lengths = [row.levels[WORDS].value for row in better if WORDS in row.levels]
    if WORDS not in base.levels or not lengths:
        return ""
    ends = dict.fromkeys(f"{length:.1f}" for length in (min(lengths), max(lengths)))
    return f"Cross-entropy's have {base.levels[WORDS].value:.1f} words; the truer ones have {' to '.join(ends)}."


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


def _have(rows: Sequence[Row]) -> str:
    return "has" if len(rows) < 2 else "have"


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(filter(None, sentences))


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
