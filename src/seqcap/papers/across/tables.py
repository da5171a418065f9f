"""All objectives on one captioner, and how well the papers' yardsticks rank them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from seqcap.config import Frozen
from seqcap.config.report import ReportedRun
from seqcap.metrics import registry
from seqcap.report import overview
from seqcap.report.inputs import Results
from seqcap.report.paper import read_yaml
from seqcap.report.ranking import pareto_front, rank_correlation
from seqcap.report.statistics import Floats
from seqcap.report.tables import Cell, Content, Estimate, Measure, Table
from seqcap.report.tradeoff import level

OTHERS = "others"
CIDER, WORDS, RECALL = "CIDEr, beam", "words", "true recall, samples"
# What quality is set against.
DIVERSITY, DISTINCT, TRUTH = "Div-2, samples", "R@10 by the judge", "true captions"
AGAINST = (DIVERSITY, DISTINCT, TRUTH)
# What tells whether captions are true and told apart.
TRUTHS = (TRUTH, RECALL, DISTINCT)


class Objectives(Frozen):
    """A paper's, as methods.yaml explains them."""

    objectives: tuple[str, ...]
    colour: str


class MethodsFile(Frozen):
    """methods.yaml."""

    papers: Mapping[str, Objectives]
    columns: Mapping[str, Measure]
    yardsticks: Mapping[str, Measure]


FILE: MethodsFile = read_yaml(Path(__file__).parent / "methods.yaml", MethodsFile)
COLUMNS, YARDSTICKS = FILE.columns, FILE.yardsticks


@dataclass(frozen=True)
class Line(Cell):
    run: str
    objective: str
    pareto: str

    def record(self) -> list[str]:
        block, row, column, direction, _, ours, low, high, n, _ = super().record()
        return [block, row, self.run, self.objective, column, direction, ours, low, high, n, self.pareto]


class Overview(Table):
    columns: ClassVar[Sequence[str]] = overview.COLUMNS

    def markdown(self) -> str:
        lines = [dict(zip(self.columns, cell.record(), strict=True)) for cell in self.cells]
        data = "; ".join(dict.fromkeys(f"Data: {cell.data}." for cell in self.cells))
        return "\n".join([f"## {self.title}", "", self.reading, "", *overview.overview(lines), "", data, ""])


def papers(results: Results) -> dict[str, list[ReportedRun]]:
    """Paper -> its runs; at the end those of no paper's objectives."""
    named = FILE.papers.items()
    found = {paper: [run for run in results.trained if run.objective in of.objectives] for paper, of in named}
    of_papers = [run.name for runs in found.values() for run in runs]
    found[OTHERS] = [run for run in results.trained if run.name not in of_papers]
    return {paper: runs for paper, runs in found.items() if runs}


def means(results: Results, runs: Sequence[ReportedRun], of: Measure) -> Floats:
    """A measure's mean over seeds of each run [n]; NaN where it was not measured."""
    return np.array([level(results, run.name, of) for run in runs], dtype=float)


def objectives(results: Results) -> Content:
    blocks = papers(results)
    runs = [run for of_paper in blocks.values() for run in of_paper]
    cider = means(results, runs, COLUMNS[CIDER])
    fronts = {name: pareto_front(np.stack([cider, means(results, runs, COLUMNS[name])], 1)) for name in AGAINST}
    on_front = {(name, runs[place].name) for name, front in fronts.items() for place in np.flatnonzero(front)}
    cells = []
    for paper, of_paper in blocks.items():
        for run in of_paper:
            for name, measure in COLUMNS.items():
                known = registry.find(measure.metric)
                # All numbers but the words are shown x100.
                scale, data = (1 if known.unit else 100), results.stand_in(run.task)
                pareto = overview.FRONT if (name, run.name) in on_front else ""
                named, ours = (paper, run.label, name, known.direction, ""), measure.of(results, run.name)
                cells.append(Line(*named, ours, scale, 5, data, run.name, run.objective, pareto))
    epochs = min((run.epochs for run in runs if run.epochs), default=0)
    return Content(cells, words={"epochs": str(epochs)}, layout=Overview)


def agreement(results: Results, yardstick: str, truth: str) -> Estimate:
    """Rank correlation over all objectives that train. A yardstick of which less is better counts downwards."""
    runs, of = [run for run in results.trained if run.epochs], YARDSTICKS[yardstick]
    sign = -1 if registry.find(of.metric).direction == "lower" else 1
    return rank_correlation(sign * means(results, runs, of), means(results, runs, COLUMNS[truth]))


def yardsticks(results: Results) -> list[Cell]:
    data = results.stand_in(results.config.pictures)
    return [
        Cell("", row, column, "higher", "", agreement(results, row, column), 1, 3, data)
        for row in YARDSTICKS
        for column in TRUTHS
    ]


TABLES = {"across": objectives, "across_yardsticks": yardsticks}
