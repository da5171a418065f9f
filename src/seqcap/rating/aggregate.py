"""Counts raters' answers: a majority vote on every caption, rates of each model, and how far raters agree.

Accuracy is the share of captions whose own image most raters chose. Naturalness is the share of captions that most
raters preferred to the other model's, less the share where they preferred the other's (the paper does not say how it
forms its -9% and +20%). A tied vote counts half, as a guess would; so do two equal captions, which nobody is asked for.
Vered et al., ICCV 2019, table 5.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqcap.errors import InputError
from seqcap.rating.key import Entry, Key, Task, read_key
from seqcap.report.statistics import bootstrap_interval

# The columns of raters' files. `choice` is the side that was chosen, a or b; `place` where it stood, 1 or 2.
COLUMNS = ("kit", "rater", "task", "question", "choice", "place")
TITLES: Mapping[Task, str] = {
    "accuracy": "Accuracy: captions whose own image most raters chose, %",
    "naturalness": "Naturalness: captions preferred to the other model's, less those not preferred, %",
}


class Answer(NamedTuple):
    """A rater's choice, a or b, and where it stood on the page, 1 or 2."""

    choice: str
    place: str


class Vote(NamedTuple):
    """The majority's vote on one caption: 1 in its favour, 0 against it, .5 for a tie or two equal captions."""

    entry: Entry
    value: float
    answers: int


@dataclass(frozen=True)
class Rate:
    """A model in one task."""

    task: Task
    model: str
    against: str | None  # naturalness: the model that it is compared with
    value: float | None  # accuracy in [0, 1], or naturalness in [-1, 1]; None if no caption has a vote
    # The 95% bootstrap interval over captions; raters are not drawn. None if all votes are alike: so few captions do
    # not tell how sure they are.
    low: float | None
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
    """The content of raters' files: rater -> question -> answer, and votes and rates in the order of the key."""

    asked: int
    raters: Mapping[str, Mapping[str, Answer]]
    votes: Sequence[Vote]
    rates: Sequence[Rate]
    agreement: Mapping[Task, Agreement]


def aggregate(key_file: Path, files: Sequence[Path]) -> Ratings:
    """Counts the answers in the files that raters downloaded; of a rater who did so several times, all or the last."""
    key = read_key(key_file)
    raters = read_answers(files, key)
    # Question -> how many raters chose a and b.
    chosen = Counter((question, one.choice) for answers in raters.values() for question, one in answers.items())
    counted = {question: (chosen[question, "a"], chosen[question, "b"]) for question, _ in chosen}
    votes = count_votes(key.entries, counted)
    tasks: dict[str, Task] = {entry.question: entry.task for entry in key.entries if entry.question}
    agreement = {}
    for task in dict.fromkeys(entry.task for entry in key.entries):
        several = [sides for question, sides in counted.items() if tasks[question] == task and sum(sides) > 1]
        agreement[task] = Agreement(fleiss_kappa(np.array(several)) if several else None, len(several))
    return Ratings(len(tasks), raters, votes, compute_rates(key.entries, votes), agreement)


def read_answers(files: Sequence[Path], key: Key) -> dict[str, dict[str, Answer]]:
    """Rater -> question -> answer, of all files."""
    tasks = {entry.question: entry.task for entry in key.entries if entry.question}
    raters: dict[str, dict[str, Answer]] = {}
    for path in files:
        for line, row in _read_rows(path):
            if row["kit"] != key.kit:
                problem = f"line {line}: kit {row['kit']!r:.60}, and the key's is {key.kit!r}"
                raise InputError(path, problem, "give the key that was written with the raters' page")
            if tasks.get(row["question"]) != row["task"]:
                problem = f"line {line}: the page has no question {row['question']!r:.60} in task {row['task']!r:.60}"
                raise InputError(path, problem, "restore the file that the rater sent")
            if not row["rater"] or row["choice"] not in ("a", "b") or row["place"] not in ("1", "2"):
                values = ", ".join(f"{column} {row[column]!r:.60}" for column in ("rater", "choice", "place"))
                raise InputError(path, f"line {line}: {values}", "expected a name, a or b, and 1 or 2")
            answer = Answer(row["choice"], row["place"])
            if raters.setdefault(row["rater"], {}).setdefault(row["question"], answer) != answer:
                problem = f"line {line}: rater {row['rater']!r:.60} has two answers to question {row['question']}"
                raise InputError(path, problem, "give the rater's last file only, and two raters different names")
    return raters


def _read_rows(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    try:
        # A spreadsheet program may have put a byte order mark before the header.
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                found = ", ".join(reader.fieldnames or ()) or "nothing"
                raise InputError(path, f"has columns {found:.120}", f"expected {', '.join(COLUMNS)}")
            for row in reader:
                if None in row or None in row.values():
                    raise InputError(path, f"line {reader.line_num} has not {len(COLUMNS)} values", "restore the file")
                yield reader.line_num, row
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, f"is not a CSV file ({error})", "restore the file that the rater sent") from None


def count_votes(entries: Iterable[Entry], counted: Mapping[str, tuple[int, int]]) -> list[Vote]:
    """The vote on every caption that has an answer or needs none."""
    votes = []
    for entry in entries:
        if entry.question is None:
            votes.append(Vote(entry, 0.5, 0))
        elif entry.question in counted:
            a, b = counted[entry.question]
            favour, against = (a, b) if entry.side == "a" else (b, a)
            votes.append(Vote(entry, 0.5 if favour == against else float(favour > against), a + b))
    return votes


def compute_rates(entries: Iterable[Entry], votes: Iterable[Vote]) -> list[Rate]:
    """The rates of every model that the entries name."""
    found: dict[tuple[Task, str, str | None], list[Vote]] = defaultdict(list)
    for vote in votes:
        found[vote.entry.task, vote.entry.model, vote.entry.against].append(vote)
    captions = Counter((entry.task, entry.model, entry.against) for entry in entries)
    return [_compute_rate(*model, found[model], number) for model, number in captions.items()]


def _compute_rate(task: Task, model: str, against: str | None, votes: Sequence[Vote], captions: int) -> Rate:
    values = np.array([vote.value for vote in votes], dtype=np.float64)
    if task == "naturalness":
        values = 2 * values - 1
    low, high = bootstrap_interval(values) if len(set(values)) > 1 else (None, None)
    equal = sum(vote.entry.question is None for vote in votes)
    return Rate(
        task,
        model,
        against,
        value=float(values.mean()) if votes else None,
        low=low,
        high=high,
        captions=len(votes),
        missing=captions - len(votes),
        ties=sum(vote.value == 0.5 for vote in votes) - equal,
        equal=equal,
    )


def fleiss_kappa(counted: NDArray[np.int64]) -> float | None:
    """Agreement of many raters beyond chance (Fleiss, Psychological Bulletin 1971): 1 if all agree on everything, about
    0 if they guess; None if only one category was ever chosen. `counted` [questions, categories]: how many raters chose
    what, at least two answers a question; a question's agreement is the share of its own pairs of answers that agree.

    The categories are the sides a and b, which chance has dealt out: raters who guess choose each in half of the cases.
    In terms of right and wrong, raters who are all right would have nothing to agree on.
    """
    answers = counted.sum(axis=1)
    agreeing = (counted * (counted - 1)).sum(axis=1) / (answers * (answers - 1))
    shares = counted.sum(axis=0) / counted.sum()
    by_chance = float((shares**2).sum())
    return None if by_chance == 1 else (float(agreeing.mean()) - by_chance) / (1 - by_chance)


def as_table(ratings: Ratings) -> str:
    """A table for reading."""
    lines = []
    for name, answers in ratings.raters.items():
        # A rater who always presses the same key shows here.
        first = sum(answer.place == "1" for answer in answers.values()) / len(answers)
        number = f"{len(answers):,} of {ratings.asked:,} questions"
        lines.append(f"{name!r}: {number}, {first:.0%} of answers the first place")
    for task, agreement in ratings.agreement.items():
        lines += ["", TITLES[task]]
        for rate in ratings.rates:
            if rate.task == task:
                name = rate.model if rate.against is None else f"{rate.model} against {rate.against}"
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
    notes = [f"{rate.captions:,} captions"]
    notes += [f"{number:,} {kind}" for kind, number in (("tied", rate.ties), ("equal", rate.equal)) if number]
    notes += [f"{rate.missing:,} without answers"] if rate.missing else []
    return f"{100 * rate.value:{sign}6.1f}  {interval}  {', '.join(notes)}"
