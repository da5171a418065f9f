"""What other tables of the papers say beside the table of all objectives, each in a phrase for the first page."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Self

from seqcap.first_page.overview import (
    ACROSS,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    MORE_CIDER,
    RECALL_OF_SAMPLES,
    SAMPLES,
    TRUTH,
    Row,
)
from seqcap.report import wording
from seqcap.report.summary import RESULTS

# Columns that say how many captions are true -> what makes each a number in 100.
_TRUE = {TRUTH: 1, "true of its scene, %": 1}
_RIVAL = "cross-entropy, temperature "  # begins the rows of its samples at other temperatures
_YARDSTICKS = "tables/across_yardsticks.csv"
_NEAR = (0.25, 1.5)  # the lowest and the highest temperature that is told
_OF_SAMPLES = ("XE", "SLL", "SLL-SLE")  # rows of SLE's table of truth
_ABOUT = 5  # points by which two shares of misleading captions may differ and be about as many
JUDGE, PAYER = "the judge", "what pays"  # columns of the table of exchanged facts
WTFRL = "wtfrl"  # the paper that has it
_OF_LENGTH = ("WTF-RL", "WTF", "RL")  # rows of the table of truth at equal length


@dataclass(frozen=True)
class Asides:
    """Each "" without its table."""

    # Objective -> what its samples at one more temperature have over cross-entropy's as diverse.
    tempered: Mapping[str, str] = field(default_factory=dict)
    rivals: str = ""  # cross-entropy's samples at other temperatures
    at_equal_length: str = ""  # how true captions are beside likelihood's of the same length
    true_samples: str = ""  # true precision of five samples, in SLE's own runs
    # Run of the table -> how its captions are worded (`wording.read`).
    worded: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    two_verbs: Mapping[str, str] = field(default_factory=dict)  # run of the table -> share of captions, seeds' range
    judges_agree: str = ""  # how the judge ranks objectives beside the listener that pays
    literal_agrees: str = ""  # how the literal listener does
    # Retriever -> kind of fact -> how many false captions it takes for the true one, in a hundred (`misled`).
    misled: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, report: Path) -> Self:
        """From the tables in the folder of a report."""
        temperatures = report / ACROSS / "tables/across_temperatures.csv"
        by_seed = wording.read_by_seed(report / ACROSS / RESULTS)
        return cls(
            tempered=of_tempered(temperatures),
            rivals=of_rivals(temperatures),
            at_equal_length=of_length(report / WTFRL / "tables/wtfrl_length.csv"),
            true_samples=of_samples(report / "sle/tables/sle_truth.csv"),
            worded=wording.read(report / ACROSS / RESULTS),
            two_verbs={
                run: wording.with_range(of[wording.TWO_VERBS]) for run, of in by_seed.items() if wording.TWO_VERBS in of
            },
            judges_agree=of_ranks(report / ACROSS / _YARDSTICKS, DISTINCT),
            literal_agrees=of_ranks(report / ACROSS / _YARDSTICKS, LITERAL),
            misled=misled(report / WTFRL),
        )


def often_ungrammatical(rows: Sequence[Row], asides: Asides) -> dict[str, float]:
    """Objective -> how many of its best captions have two verbs, in a hundred, of those where many do."""
    shares = {row.label: asides.worded.get(row.run, {}).get(wording.TWO_VERBS, 0.0) for row in rows}
    return {label: share for label, share in shares.items() if share > wording.MANY}


def of_tempered(path: Path) -> dict[str, str]:
    """ "SLL" -> "at 2 -16.0 [-17.9, -14.1]"."""
    told = dict[str, str]()
    for row, gain in column([path], {MORE_CIDER: 1}).items():
        label, _, temperature = row.rpartition(", ")
        # Cross-entropy's own have no interval.
        if gain.endswith("]"):
            told[label] = f"at {temperature.removeprefix('temperature ')} {'' if gain.startswith('-') else '+'}{gain}"
    return told


def of_samples(path: Path) -> str:
    """ "XE 54.8, SLL 93.7": of some rows of the table of truth."""
    shares = column([path], {"precision, 5 samples": 100})
    return ", ".join(f"{row} {shares[row].partition(' [')[0]}" for row in _OF_SAMPLES if row in shares)


def of_ranks(path: Path, whose: str) -> str:
    """ "0.99 [0.94, 1.00]": Spearman's correlation, over objectives, of a column with what the own listener finds."""
    for line in lines_of(path):
        if (line["row"], line["column"]) == ("R@10 by the own listener", whose) and line["ours_low"]:
            ours, low, high = (f"{float(line[name]):.2f}" for name in ("ours", "ours_low", "ours_high"))
            return f"{ours} [{low}, {high}]"
    return ""


def of_rivals(path: Path) -> str:
    """ "59.5, 53.8, 44.9 at 0.5": CIDEr, Div-2 and true recall of samples, and their temperature."""
    columns = [column([path], {name: 1}) for name in (SAMPLES, DIVERSITY, RECALL_OF_SAMPLES)]
    told = []
    for row in columns[0]:
        temperature = row.removeprefix(_RIVAL)
        known = row.startswith(_RIVAL) and all(row in of for of in columns)
        if known and _NEAR[0] <= float(temperature) <= _NEAR[1]:
            told.append(f"{', '.join(of[row].partition(' [')[0] for of in columns)} at {temperature}")
    return "; ".join(told)


def of_length(path: Path) -> str:
    """ "WTF-RL -7, WTF -27": the difference in points of true captions."""
    differences = column([path], {"difference": 1})
    return ", ".join(f"{row} {float(differences[row]):+.0f}" for row in _OF_LENGTH if row in differences)


def misled(folder: Path) -> dict[str, dict[str, float]]:
    """Retriever -> kind of fact -> how many false captions, people's with one fact of that kind exchanged, it takes for
    the true one, in a hundred, by the table in the folder of WTF-RL's results; {} without."""
    shares = dict[str, dict[str, float]]()
    for line in lines_of(folder / "tables/wtfrl_exchanged.csv"):
        if line["ours"]:
            shares.setdefault(line["column"], {})[line["row"]] = 100 - float(line["ours"])
    return shares


def misled_in_words(shares: Mapping[str, float]) -> str:
    """ "19 of a hundred (mean of 8 kinds; 48 where texture is exchanged)": the mean over kinds, and the worst."""
    worst = max(shares, key=shares.__getitem__)
    kinds = f"mean of {len(shares)} kinds; {shares[worst]:.0f} where {worst} is exchanged"
    return f"{fmean(shares.values()):.0f} of a hundred ({kinds})"


def as_often_misled(shares: Mapping[str, Mapping[str, float]]) -> str:
    """What is known of how often the judge is taken in by false captions beside what pays; "" where it is not."""
    if JUDGE not in shares or PAYER not in shares:
        return ""
    judge, payer = fmean(shares[JUDGE].values()), fmean(shares[PAYER].values())
    if abs(judge - payer) < _ABOUT:
        return "is taken in by false captions about as often"
    how = "less" if judge < payer else "more"
    return f"is taken in by false captions {how} often ({judge:.0f} of a hundred against {payer:.0f})"


def have_one_blind_spot(shares: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether the judge and what pays are misled most by the same kind of fact."""
    worst = {max(shares[who], key=shares[who].__getitem__) for who in (JUDGE, PAYER) if who in shares}
    return len(worst) == 1 and {JUDGE, PAYER} <= shares.keys()


def true_shares(tables: Sequence[Path]) -> dict[str, str]:
    """Row -> how many of a hundred captions are true, with the interval, by a paper's tables."""
    return column(tables, _TRUE)


def column(tables: Sequence[Path], scales: Mapping[str, int]) -> dict[str, str]:
    """Row -> its number, with its interval: of a column that tables have under one of some names. `scales`: name ->
    what makes it a number in points."""
    numbers_of_rows = dict[str, str]()
    for path in tables:
        for line in lines_of(path):
            if line["column"] in scales and line["ours"]:
                values = [line[name] for name in ("ours", "ours_low", "ours_high") if line[name]]
                ours, *ends = [f"{scales[line['column']] * float(value):.1f}" for value in values]
                numbers_of_rows.setdefault(line["row"], f"{ours} [{', '.join(ends)}]" if ends else ours)
    return numbers_of_rows


def updates(folder: Path, run: str) -> int:
    """How often a run of a paper's results was updated, by its learning curves; 0 without any."""
    steps = [line["step"] for line in lines_of(folder / RESULTS / "curves.csv") if line["run"] == run]
    return max((int(step) for step in steps if step), default=0)


def minutes_of_updates(folder: Path, minutes: Mapping[str, float]) -> dict[str, float]:
    """Run -> the minutes that 1,000 updates take, of the runs of a paper's results that were updated. `minutes`: run ->
    those of its training."""
    made = {run: updates(folder, run) for run in minutes}
    return {run: 1000 * minutes[run] / number for run, number in made.items() if number}


def lines_of(path: Path) -> list[dict[str, str]]:
    """The lines of a table's file; [] where there is none."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
