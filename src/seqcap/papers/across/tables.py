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
from seqcap.report.inputs import Run
from seqcap.report.paper import read_yaml
from seqcap.report.ranking import pareto_front, rank_correlation
from seqcap.report.statistics import Floats
from seqcap.report.tables import Cell, Estimate, Made, Measure, Table
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


def papers(run: Run) -> dict[str, list[ReportedRun]]:
    """Paper -> its runs; at the end those of no paper's objectives."""
    named = FILE.papers.items()
    found = {paper: [entry for entry in run.trained if entry.objective in of.objectives] for paper, of in named}
    of_papers = [entry.name for entries in found.values() for entry in entries]
    found[OTHERS] = [entry for entry in run.trained if entry.name not in of_papers]
    return {paper: entries for paper, entries in found.items() if entries}


def means(run: Run, entries: Sequence[ReportedRun], of: Measure) -> Floats:
    """A measure's mean over seeds of each run [n]; NaN where it was not measured."""
    return np.array([level(run, entry.name, of) for entry in entries], dtype=float)


def objectives(run: Run) -> Made:
    blocks = papers(run)
    entries = [entry for of_paper in blocks.values() for entry in of_paper]
    cider = means(run, entries, COLUMNS[CIDER])
    fronts = {name: pareto_front(np.stack([cider, means(run, entries, COLUMNS[name])], 1)) for name in AGAINST}
    on_front = {(name, entries[place].name) for name, front in fronts.items() for place in np.flatnonzero(front)}
    cells = []
    for paper, of_paper in blocks.items():
        for entry in of_paper:
            for name, measure in COLUMNS.items():
                known = registry.find(measure.metric)
                # All numbers but the words are shown x100.
                scale, data = (1 if known.unit else 100), run.stand_in(entry.task)
                pareto = overview.FRONT if (name, entry.name) in on_front else ""
                named, ours = (paper, entry.label, name, known.direction, ""), measure.of(run, entry.name)
                cells.append(Line(*named, ours, scale, 5, data, entry.name, entry.objective, pareto))
    epochs = min((entry.epochs for entry in entries if entry.epochs), default=0)
    return Made(cells, words={"epochs": str(epochs)}, layout=Overview)


def agreement(run: Run, yardstick: str, truth: str) -> Estimate:
    """Rank correlation over all objectives that train. A yardstick of which less is better counts downwards."""
    entries, of = [entry for entry in run.trained if entry.epochs], YARDSTICKS[yardstick]
    sign = -1 if registry.find(of.metric).direction == "lower" else 1
    return rank_correlation(sign * means(run, entries, of), means(run, entries, COLUMNS[truth]))


def yardsticks(run: Run) -> list[Cell]:
    data = run.stand_in(run.config.pictures)
    return [
        Cell("", row, column, "higher", "", agreement(run, row, column), 1, 3, data)
        for row in YARDSTICKS
        for column in TRUTHS
    ]


TABLES = {"across": objectives, "across_yardsticks": yardsticks}
