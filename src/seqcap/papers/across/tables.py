"""All objectives on one captioner, and how well the papers' yardsticks rank them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np

from seqcap.config import Frozen
from seqcap.metrics import registry
from seqcap.report import overview
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.overview import DISTINCT, RECALL_OF_SAMPLES, TRUTH
from seqcap.report.paper import read_yaml
from seqcap.report.ranking import rank_correlation
from seqcap.report.reported import ReportedRun
from seqcap.report.statistics import SIGNIFICANCE, Floats, Missing, q_values
from seqcap.report.tables import Cell, Content, Estimate, Measure, Table, people_label
from seqcap.report.tradeoff import level
from seqcap.report.verdicts import LEAST_SEEDS

OTHERS = "others"
PEOPLE_BLOCK = "people"
# What tells whether captions are true and told apart.
TRUTHS = (TRUTH, RECALL_OF_SAMPLES, DISTINCT)


class Objectives(Frozen):
    """Those of a paper, and their marker, as methods.yaml has them."""

    objectives: tuple[str, ...]
    marker: str


class MethodsFile(Frozen):
    """methods.yaml."""

    papers: Mapping[str, Objectives]
    columns: Mapping[str, Measure]
    people: Mapping[str, Measure]
    shown: tuple[str, ...]  # runs whose captions of one scene the first page shows
    yardsticks: Mapping[str, Measure]


FILE: MethodsFile = read_yaml(Path(__file__).parent / "methods.yaml", MethodsFile)
COLUMNS, OF_PEOPLE, YARDSTICKS = FILE.columns, FILE.people, FILE.yardsticks


@dataclass(frozen=True)
class Line(Cell):
    """A cell of the table across papers, which also names its run and those that it is ahead of."""

    run: str
    objective: str
    ahead_of: tuple[str, ...]  # runs

    def record(self) -> list[str]:
        block, row, column, direction, _, ours, low, high, n, _ = super().record()
        return [block, row, self.run, self.objective, column, direction, ours, low, high, n, " ".join(self.ahead_of)]


class OverviewTable(Table):
    """The table across papers: in CSV a line for each number, on the page a row for each run."""

    columns: ClassVar[Sequence[str]] = overview.FIELDS

    def markdown(self) -> str:
        lines = [dict(zip(self.columns, cell.record(), strict=True)) for cell in self.cells]
        data = "; ".join(dict.fromkeys(f"Data: {cell.data}." for cell in self.cells))
        shown = overview.Overview.of(lines).markdown()
        return "\n".join([f"## {self.title}", "", self.reading, "", *shown, "", data, ""])


def by_paper(results: Results) -> dict[str, list[ReportedRun]]:
    """Paper -> its runs; at the end those of no paper's objectives."""
    named = FILE.papers.items()
    found = {
        paper: [run for run in results.trained if run.objective in declared.objectives] for paper, declared in named
    }
    of_papers = [run.name for runs in found.values() for run in runs]
    found[OTHERS] = [run for run in results.trained if run.name not in of_papers]
    return {paper: runs for paper, runs in found.items() if runs}


def means(results: Results, runs: Sequence[ReportedRun], measure: Measure) -> Floats:
    """A measure's mean over seeds of each run [n]; NaN where it was not measured."""
    return np.array([level(results, run.name, measure) for run in runs], dtype=float)


def objectives(results: Results) -> Content:
    blocks = by_paper(results)
    runs = [run for of_paper in blocks.values() for run in of_paper]
    cells: list[Line] = []
    for column, measure in COLUMNS.items():
        ahead = _ahead(results, runs, measure)
        for paper, of_paper in blocks.items():
            for run in of_paper:
                ours = measure.of(results, run.name)
                named = (paper, run.label, run.name, run.objective)
                cells.append(_line(results, column, measure, ours, named, ahead[run.name]))
        if column in OF_PEOPLE:
            people = OF_PEOPLE[column].of(results, HUMAN)
            named = (PEOPLE_BLOCK, people_label(results), HUMAN, "")
            cells.append(_line(results, column, measure, people, named, ()))
    order = {name: place for place, name in enumerate([*(run.name for run in runs), HUMAN])}
    cells.sort(key=lambda cell: order[cell.run])
    epochs = min((run.epochs for run in runs if run.epochs), default=0)
    captioners = " and ".join(f"`{captioner}`" for captioner in results.captioners)
    return Content(cells, words={"epochs": str(epochs), "captioner": captioners}, layout=OverviewTable)


def _line(
    results: Results,
    column: str,
    measure: Measure,
    ours: Estimate,
    named: tuple[str, str, str, str],
    ahead: tuple[str, ...],
) -> Line:
    """A cell in points: all numbers but the words are x100. `named`: paper, label, run and objective."""
    paper, label, run, objective = named
    known = registry.find(measure.metric)
    scale = 1 if known.unit else 100
    data = results.stand_in(results.config.pictures)
    return Line(paper, label, column, known.direction, "", ours, scale, 5, data, run, objective, ahead)


def _ahead(results: Results, runs: Sequence[ReportedRun], measure: Measure) -> dict[str, tuple[str, ...]]:
    """Run -> those that it is shown to be better than: q < .05 of the paired difference, over all pairs of runs."""
    direction = registry.find(measure.metric).direction
    found: dict[str, list[str]] = {run.name: [] for run in runs}
    if not direction:
        return dict.fromkeys(found, ())
    pairs, p_values = [], []
    for left, right in combinations(found, 2):
        difference = measure.difference(results, left, right)
        if not isinstance(difference, Missing) and min(difference.seeds, default=0) >= LEAST_SEEDS:
            left_is_better = (difference.value > 0) == (direction == "higher")
            pairs.append((left, right) if left_is_better else (right, left))
            p_values.append(float(difference.spread.p_value(difference.value)))
    for (better, worse), q in zip(pairs, q_values(p_values), strict=True):
        if q < SIGNIFICANCE:
            found[better].append(worse)
    return {name: tuple(worse) for name, worse in found.items()}


def agreement(results: Results, yardstick: str, truth: str) -> Estimate:
    """Rank correlation over all objectives that train. A yardstick of which less is better counts downwards."""
    runs, measure = [run for run in results.trained if run.epochs], YARDSTICKS[yardstick]
    sign = -1 if registry.find(measure.metric).direction == "lower" else 1
    return rank_correlation(sign * means(results, runs, measure), means(results, runs, COLUMNS[truth]))


def yardsticks(results: Results) -> list[Cell]:
    data = results.stand_in(results.config.pictures)
    return [
        Cell("", row, column, "higher", "", agreement(results, row, column), 1, 3, data)
        for row in YARDSTICKS
        for column in TRUTHS
    ]


TABLES = {"across": objectives, "across_yardsticks": yardsticks}
