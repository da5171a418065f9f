"""What the report and a paper's part of it are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.config import Frozen, StageConfig, TaskKind


class ReportedRun(Frozen):
    """A run or an ensemble in the report."""

    name: str
    label: str
    row: bool  # whether the tables have a row for it although the paper prints none
    task: str
    captioner: str
    objective: str
    settings: Mapping[str, Any]
    reward: str | None  # name of its reward; None: it has none
    payer: str | None = None  # name of the retriever that its objective reads; None: it reads none
    epochs: int
    learning_rate: float  # at the start
    keeps_last: bool  # whether a seed's weights are those of the last epoch, not of the one that is best on val
    seeds: tuple[int, ...]  # of its scores; an ensemble's is the first of its members
    evaluation: str
    members: int  # how many seeds decode together; 0: each alone
    start: str | None  # folder of the weights that it continues from; None: it starts from scratch
    weights: str  # folder of its weights and learning curves
    decoded: str  # file of its captions


class ReportedTask(Frozen):
    """What the report says of a task."""

    kind: TaskKind
    dataset: str
    show: bool  # whether its images may be shown


class ReportedEvaluation(Frozen):
    """How the captions of an evaluation were made."""

    task: str
    split: str
    references: tuple[int, ...] | None
    beam: int
    samples: int
    scores: str  # file that `evaluate` writes
    retrieval: tuple[str, ...]  # files that `retrieve` and `people` write for the same images


class PaperConfig(StageConfig):
    """Stages `tables` and `figures`: a paper's part of the report."""

    paper: str  # its package in `seqcap.papers`
    scale: str
    pictures: str  # task whose images its figures show
    clips: str | None = None  # task whose clips its figures show
    tasks: Mapping[str, ReportedTask]
    evaluations: Mapping[str, ReportedEvaluation]
    results: str  # folder of the scores and of the paper's other measurements
    runs: tuple[ReportedRun, ...]  # in the order of the parameters, then the ensembles


class SectionConfig(PaperConfig):
    """What the stage `section` writes: a paper's page and claims."""

    comparisons: tuple[tuple[str, str], ...]  # pairs of runs to compare in addition to the paper's comparisons


class ReportConfig(StageConfig):
    """What the stage `report` writes: the first page."""

    proves: bool  # whether its runs are long enough to say anything of the papers
    papers: tuple[str, ...]
    pictures: tuple[str, ...]  # tasks whose features were probed
    # Data -> folders that experiments on it have published; of a paper the first that has it.
    beside: Mapping[str, Sequence[str]]
