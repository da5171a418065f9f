"""What was learnt, in a few sentences that are made of the results: how sure each is, is said in words."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from seqcap.report.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    RECALL,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    TWIN,
    WORDS,
    Overview,
    Row,
)

YARDSTICKS = "across_yardsticks"  # rank correlations of the papers' yardsticks with TRUTH and others, a table


def learnt(overview: Overview, yardsticks: Sequence[Mapping[str, str]]) -> list[str]:
    """What the table of all objectives tells; `yardsticks`: lines of YARDSTICKS."""
    base = overview.baseline
    if base is None or not overview.objectives:
        return []
    found = [
        _of_quality(overview, base),
        _of_samples(overview, base),
        _of_distinctiveness(overview, base),
        _of_truth(overview, base),
        _of_yardsticks(yardsticks, len(overview.objectives)),
    ]
    return [sentence for sentence in found if sentence]


def read_yardsticks(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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


def _of_distinctiveness(overview: Overview, base: Row) -> str:
    better = _ahead(overview, base, DISTINCT)
    best = overview.best(DISTINCT, better)
    if best is None:
        return "**Distinctive captions.** No objective's captions are shown to be found more often by the judge."
    kind = "of another kind than the retriever that pays" if overview.has(TWIN) else "a retriever of the kind that pays"
    text = f"**Distinctive captions.** By captions of {_labels(better)} the judge, {kind}, is "
    text += f"shown to find more images than by cross-entropy's ({best.label}: R@10 {_change(best, base, DISTINCT)})."
    if overview.has(LITERAL):
        ahead = [row for row in better if overview.is_ahead(row, base, LITERAL)]
        behind = [row for row in better if overview.is_ahead(base, row, LITERAL)]
        text += f" A listener that takes every word literally is shown to find more by those of {_labels(ahead)}, "
        text += f"fewer by those of {_labels(behind)} ({best.label}: {_change(best, base, LITERAL)})."
    else:
        text += " Whether a listener that takes every word literally does, too, is not in this table."
    if overview.has(TRUTH):
        false = [row for row in better if overview.is_ahead(base, row, TRUTH)]
        text += f" Of {_share(false, better)} of these the captions are shown to be true less often"
        text += f" ({best.label}: {_change(best, base, TRUTH)} in a hundred)."
    return text


def _of_truth(overview: Overview, base: Row) -> str:
    better = _ahead(overview, base, TRUTH)
    best = overview.best(TRUTH, better)
    if best is None:
        return ""
    text = f"**Truth.** {_labels(better)} {_is(better)} shown to have true captions, which say something and nothing "
    text += f"false, more often than cross-entropy ({best.label}: {_change(best, base, TRUTH)} in a hundred"
    for column in (WORDS, DISTINCT, RECALL_OF_SAMPLES):
        if column in best.levels and column in base.levels:
            text += f"; {column} {_change(best, base, column)}"
    text += ")"
    if overview.has(RECALL):
        less = [row for row in better if overview.is_ahead(base, row, RECALL)]
        text += f"; {_share(less, better)} of these are shown to tell less of the scene"
    return f"{text}."


def _of_yardsticks(lines: Sequence[Mapping[str, str]], number: int) -> str:
    """Which yardsticks of the papers are shown to rank objectives as the truth of their captions, or against it."""
    known = [line for line in lines if line["column"] == TRUTH and line["ours_low"]]
    if not known:
        return ""
    like = [line for line in known if float(line["ours_low"]) > 0]
    against = [line for line in known if float(line["ours_high"]) < 0]
    rest = [line for line in known if line not in like and line not in against]
    parts = []
    if against:
        parts.append(f"Fewer true captions are shown of objectives that do better by {_rhos(against)}.")
    if like:
        parts.append(f"More are shown of those that do better by {_rhos(like)}.")
    if rest:
        parts.append(f"It cannot be told by {_rhos(rest)}.")
    return (
        f"**What is measured, and truth** (in brackets, rank correlations over {number} objectives, of which those of "
        f"one paper are alike). {' '.join(parts)}"
    )


def _rhos(lines: Sequence[Mapping[str, str]]) -> str:
    """ "*Div-1, samples* (-0.60) or *R@10 by the own listener* (-0.90)"."""
    *before, last = [f"*{line['row']}* ({float(line['ours']):+.2f})" for line in lines]
    return f"{'; '.join(before)} or {last}" if before else last


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
