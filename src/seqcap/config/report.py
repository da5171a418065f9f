"""Configurations of the report and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqcap.config import Frozen, Kind, StageConfig


class ReportedRun(Frozen):
    """What the report says of a run or an ensemble.

    Attributes:
        objective, settings, reward: what it was trained with. `reward` is a name, or None without a reward.
        epochs, learning_rate: how long, and how fast at first.
        row: whether the paper's tables have a row for it where the paper prints none.
        evaluation: the one of the paper's evaluations that it is decoded and scored in.
        seeds: that its scores have: of an ensemble the first of its members.
        members: how many seeds decode together; 0: each by itself.
        start: the weights that it continues from, a folder; None: it starts from scratch.
        weights: folder of its weights and learning curves.
        decoded: file of its captions.
    """

    name: str
    label: str
    row: bool
    task: str
    captioner: str
    objective: str
    settings: Mapping[str, Any]
    reward: str | None
    epochs: int
    learning_rate: float
    seeds: tuple[int, ...]
    evaluation: str
    members: int
    start: str | None
    weights: str
    decoded: str


class ReportedTask(Frozen):
    """A task's kind, the name of its dataset, and whether its images may be shown."""

    kind: Kind
    dataset: str
    show: bool


class ReportedEvaluation(Frozen):
    """How the captions of an evaluation were made.

    Attributes:
        scores: the file that `evaluate` writes.
        retrieval: the files that `retrieve` writes of the same captions.
    """

    task: str
    split: str
    references: tuple[int, ...] | None
    beam: int
    samples: int
    scores: str
    retrieval: tuple[str, ...]


class PaperConfig(StageConfig):
    """Stages `tables` and `figures`: a paper's part of the report.

    Attributes:
        paper: its package in `seqcap.papers`.
        pictures: the task whose images its figures show.
        clips: the task whose clips they show, or None.
        results: folder of the evaluations' scores, and of what else was measured for the paper.
        runs: in the order of the parameters; ensembles after the runs.
    """

    paper: str
    scale: str
    pictures: str
    clips: str | None = None
    tasks: Mapping[str, ReportedTask]
    evaluations: Mapping[str, ReportedEvaluation]
    results: str
    runs: tuple[ReportedRun, ...]


class SectionConfig(PaperConfig):
    """Stage `section`.

    Attributes:
        comparisons: pairs of its runs that it compares, although the paper does not.
    """

    comparisons: tuple[tuple[str, str], ...]


class ReportConfig(StageConfig):
    """Stage `report`.

    Attributes:
        papers: those that take part.
        pictures: the tasks whose features were probed.
        beside: data -> claims.csv that an experiment on it has published.
    """

    scale: str
    papers: tuple[str, ...]
    pictures: tuple[str, ...]
    beside: Mapping[str, str]
