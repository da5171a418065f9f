"""All objectives on one captioner, and how well the papers' yardsticks rank them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from seqcap.metrics import registry
from seqcap.papers.across.measures import AGAINST, CIDER, COLUMNS, TRUTHS, YARDSTICKS, means, papers
from seqcap.report import overview
from seqcap.report.inputs import Run
from seqcap.report.ranking import pareto_front, rank_correlation
from seqcap.report.tables import Cell, Estimate, Made, Table


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
                cells.append(Line(*named, ours, scale, 2, data, entry.name, entry.objective, pareto))
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
