"""Counts raters' answers: a majority vote on every caption, rates of each model, and how far raters agree.

Accuracy is the share of captions whose own image most raters chose. Naturalness is the share of captions that most
raters preferred to the other model's, less the share where they preferred the other's (the paper does not say how it
forms its -9% and +20%). A tied vote counts half, as a guess would; so do two equal captions, which nobody is asked for.
Vered et al., ICCV 2019, table 5.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seqcap.errors import InputError
from seqcap.files.reading import read_text
from seqcap.rating import Entry, Key, Task, read_key
from seqcap.report.statistics import bootstrap_interval

# The columns of raters' files. `choice` is the side that was chosen, a or b; `place` where it stood, 1 or 2.
COLUMNS = ("kit", "rater", "task", "question", "choice", "place")
TITLES: Mapping[Task, str] = {
    "accuracy": "Accuracy: captions whose own image most raters chose, %",
    "naturalness": "Naturalness: captions preferred to the other model's, less those not preferred, %",
}


@dataclass(frozen=True)
class Rate:
    """A model in one task, with the 95% bootstrap interval over captions; raters are not drawn."""

    task: Task
    model: str
    against: str  # naturalness: the model that it is compared with
    value: float | None  # accuracy in [0, 1], or naturalness in [-1, 1]; None if no caption has a vote
    low: float | None  # None if all votes are alike: so few captions do not tell how sure they are
    high: float | None
    captions: int  # with a vote
    missing: int  # captions without any answer
    ties: int  # captions with a tied vote
    equal: int  # pairs of equal captions


class Agreement(NamedTuple):
    """Fleiss' kappa of a task over the questions with two answers or more; None if it is undefined."""

    kappa: float | None
    questions: int


@dataclass(frozen=True)
class Ratings:
    """The content of raters' files."""

    asked: int
    answers: pd.DataFrame  # a row per rater and question, with `COLUMNS`
    # A row per caption of the key: its `Entry`, how many raters chose sides `a` and `b`, and the majority's `value`: 1
    # in the caption's favour, 0 against it, .5 for a tie or two equal captions, NaN without any answer.
    votes: pd.DataFrame
    rates: Sequence[Rate]
    agreement: Mapping[Task, Agreement]


def aggregate(key_file: Path, files: Sequence[Path]) -> Ratings:
    """Counts the answers in the files that raters downloaded; of a rater who did so several times, all or the last."""
    key = read_key(key_file)
    answers = read_answers(files, key)
    entries = pd.DataFrame([dict(entry) for entry in key.entries], columns=list(Entry.model_fields))
    chosen = pd.crosstab(answers["question"], answers["choice"]).reindex(columns=["a", "b"], fill_value=0)
    votes = entries.fillna({"against": ""}).join(chosen, on="question")
    lead = votes["a"] - votes["b"]
    favour = lead.where(votes["side"] == "a", -lead)
    majority = (favour.clip(-1, 1) + 1) / 2
    votes["value"] = majority.mask(votes["question"].isna(), 0.5)
    rates = [_rate(captions) for _, captions in votes.groupby(["task", "model", "against"], sort=False)]
    agreement = {task: _agreement(votes[votes["task"] == task]) for task in TITLES if task in votes["task"].array}
    return Ratings(votes["question"].nunique(), answers, votes, rates, agreement)


def read_answers(files: Sequence[Path], key: Key) -> pd.DataFrame:
    """The answers in all files, each of a rater and question once."""
    asked = {(entry.question, entry.task) for entry in key.entries}
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for path in files:
        for line, row in _read_rows(path):
            rater, task, question = row["rater"], row["task"], row["question"]
            if row["kit"] != key.kit:
                problem = f"line {line}: kit {row['kit']!r:.60}, and the key's is {key.kit!r}"
                raise InputError(path, problem, "give the key that was written with the raters' page")
            if (question, task) not in asked:
                problem = f"line {line}: the page has no question {question!r:.60} in task {task!r:.60}"
                raise InputError(path, problem, "restore the file that the rater sent")
            if not rater or row["choice"] not in ("a", "b") or row["place"] not in ("1", "2"):
                values = ", ".join(f"{name} {row[name]!r:.60}" for name in ("rater", "choice", "place"))
                raise InputError(path, f"line {line}: {values}", "expected a name, a or b, and 1 or 2")
            if answers.setdefault((rater, question), row) != row:
                problem = f"line {line}: rater {rater!r:.60} has two answers to question {question}"
                raise InputError(path, problem, "give the rater's last file only, and two raters different names")
    return pd.DataFrame(list(answers.values()), columns=list(COLUMNS))


def _read_rows(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    try:
        # A spreadsheet program may have put a byte order mark before the header.
        reader = csv.DictReader(io.StringIO(read_text(path, "utf-8-sig", newline=""), newline=""), strict=True)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            columns = ", ".join(reader.fieldnames or ()) or "nothing"
            raise InputError(path, f"has columns {columns:.120}", f"expected {', '.join(COLUMNS)}")
        for row in reader:
            if None in row or None in row.values():
                raise InputError(path, f"line {reader.line_num} has not {len(COLUMNS)} values", "restore the file")
            yield reader.line_num, row
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, f"is not a CSV file ({error})", "restore the file that the rater sent") from None


def _rate(votes: pd.DataFrame) -> Rate:
    task, model, against = votes[["task", "model", "against"]].iloc[0]
    known = votes["value"].dropna()
    ties, equal = int((known == 0.5).sum()), int(votes["question"].isna().sum())
    values = 2 * known - 1 if task == "naturalness" else known
    value = float(values.mean()) if len(values) else None
    low, high = bootstrap_interval(values.to_numpy()) if values.nunique() > 1 else (None, None)
    return Rate(task, model, against, value, low, high, len(known), len(votes) - len(known), ties - equal, equal)


def _agreement(votes: pd.DataFrame) -> Agreement:
    counted = votes.drop_duplicates("question")[["a", "b"]]
    several = counted[counted.sum(axis=1) > 1].to_numpy(dtype=int)
    return Agreement(fleiss_kappa(several) if len(several) else None, len(several))


def fleiss_kappa(counted: NDArray[np.int64]) -> float | None:
    """Agreement of many raters beyond chance (Fleiss, Psychological Bulletin 1971): 1 if all agree on everything, about
    0 if they guess; None if only one category was ever chosen. `counted` [questions, categories]: how many raters chose
    what, at least two answers a question; a question's agreement is the share of its own pairs of answers that agree.

    The categories are the sides a and b, which chance has dealt out: raters who guess choose each in half of the cases.
    In terms of right and wrong, raters who are all right would have nothing to agree on.
    """
    answers = counted.sum(axis=1)
    agreeing = (counted * (counted - 1)).sum(axis=1) / (answers * (answers - 1))
    by_chance = float(((counted.sum(axis=0) / counted.sum()) ** 2).sum())
    return None if by_chance == 1 else (float(agreeing.mean()) - by_chance) / (1 - by_chance)


def as_table(ratings: Ratings) -> str:
    """A table for reading."""
    lines = []
    for name, answers in ratings.answers.groupby("rater", sort=False):
        # A rater who always presses the same key shows here.
        first = (answers["place"] == "1").mean()
        number = f"{len(answers):,} of {ratings.asked:,} questions"
        lines.append(f"{name!r}: {number}, {first:.0%} of answers the first place")
    for task, agreement in ratings.agreement.items():
        lines += ["", TITLES[task]]
        for rate in ratings.rates:
            if rate.task == task:
                name = f"{rate.model} against {rate.against}" if rate.against else rate.model
                lines.append(f"  {name:<40} {_format_rate(rate)}")
        kappa = "undefined" if agreement.kappa is None else f"{agreement.kappa:.2f}"
        lines.append(f"  Fleiss' kappa {kappa}, of {agreement.questions:,} questions with two answers or more")
    return "\n".join(lines)


def _format_rate(rate: Rate) -> str:
    if rate.value is None:
        return "     –  no answers"
    sign = "+" if rate.task == "naturalness" else ""
    interval = " " * 16
    if rate.low is not None and rate.high is not None:
        interval = f"[{100 * rate.low:{sign}6.1f}, {100 * rate.high:{sign}6.1f}]"
    counts = {"tied": rate.ties, "equal": rate.equal, "without answers": rate.missing}
    notes = [f"{rate.captions:,} captions"] + [f"{number:,} {kind}" for kind, number in counts.items() if number]
    return f"{100 * rate.value:{sign}6.1f}  {interval}  {', '.join(notes)}"
