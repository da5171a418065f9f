"""The papers' objectives on one captioner, on the first page: what to use when, by rules; table and figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seqcap.config.report import Trained
from seqcap.files.json_file import read_json
from seqcap.report import REPORTS, texts
from seqcap.report.overview import Lines, read
from seqcap.report.overview import overview as table_of
from seqcap.report.provenance import Measured

PAPER = "across"  # made like a paper, but of none
CIDER, DIV2, JUDGE, TRUE, RECALL, WORDS = (
    *("CIDEr, beam", "Div-2, samples", "R@10 by the judge", "true captions", "true recall, samples", "words"),
)
LITTLE = 2.0  # points of CIDEr x100
_START = "cross_entropy"
_LISTED = 4  # how many labels a sentence lists


@dataclass(frozen=True)
class Value:
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"


Rows = Mapping[str, Mapping[str, Value]]  # label -> column -> what was measured


def lines() -> Lines:
    return read(REPORTS / PAPER / "tables/across.csv")


def advice(table: Lines, runs: Mapping[str, Trained]) -> list[str]:
    """Which objective is best for what, with number, interval and what it costs."""
    rows: dict[str, dict[str, Value]] = {}
    for line in table:
        if line["ours_low"]:
            numbers = (float(line[column]) for column in ("ours", "ours_low", "ours_high"))
            rows.setdefault(line["row"], {})[line["column"]] = Value(*numbers)
    trained = (runs[line["run"]] for line in table if line["run"] in runs)
    baseline = next((run.label for run in trained if run.objective == _START and run.epochs > 0), "")
    chosen = [
        _choice("Highest CIDEr", rows, CIDER, (DIV2, JUDGE, TRUE)),
        _diverse(rows, baseline),
        _choice("Most distinctive to a judge that no objective saw", rows, JUDGE, (CIDER, TRUE)),
        _choice("Most often true", rows, TRUE, (CIDER, RECALL, WORDS)),
    ]
    found = [line for line in chosen if line]
    return texts.lines("advice", chosen=found) if found else []


def _choice(what: str, rows: Rows, column: str, others: Sequence[str]) -> str:
    ranked = sorted((label for label in rows if column in rows[label]), key=lambda label: -rows[label][column].value)
    if not ranked:
        return ""
    best, *rest = ranked
    known = [f"{other} {rows[best][other]}" for other in others if other in rows[best]]
    told = f"- **{what}: {best}**, {column} {rows[best][column]}{'; ' if known else ''}{', '.join(known)}."
    close = [label for label in rest if rows[label][column].high >= rows[best][column].low]
    if not close:
        return f"{told} No other interval reaches its own."
    more = f" and {len(close) - _LISTED} more" if len(close) > _LISTED else ""
    return f"{told} Intervals overlap with {', '.join(close[:_LISTED])}{more}: no clear winner among these."


def _diverse(rows: Rows, baseline: str) -> str:
    start = rows.get(baseline, {}).get(CIDER)
    if start is None:
        return ""
    kept = {label: row for label, row in rows.items() if CIDER in row and row[CIDER].value >= start.value - LITTLE}
    told = _choice(f"Most diverse at {LITTLE:.0f} points of CIDEr below {baseline} or better", kept, DIV2, (CIDER,))
    if not told or DIV2 not in rows[baseline]:
        return told
    return f"{told} {baseline}: {DIV2} {rows[baseline][DIV2]}, {CIDER} {start}."


def overview(table: Lines, measured: Measured | None) -> list[str]:
    """Table and figure, with the minutes that were measured."""
    if not table:
        return []
    names = dict.fromkeys(line["run"] for line in table)
    minutes = {run: f"{measured.minutes[run]:.1f}" for run in names if run in measured.minutes} if measured else {}
    folder = REPORTS / PAPER / "figures"
    figures = read_json(folder / "figures.json")
    titles = {name: words["title"] for name, words in figures["figures"].items() if "missing" not in words}
    drawn = next((name for name in figures["order"] if name in titles), "")
    return texts.lines(
        "across",
        page=f"{PAPER}/report.md",
        table=table_of(table, {"minutes": minutes}),
        title=titles.get(drawn),
        picture=f"{PAPER}/figures/{drawn}.png",
    )
