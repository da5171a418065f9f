"""Which run makes which row of the paper's tables, and each loss's gain over MLE.

A run's label is its row as printed. Its captioner or its task says which part of which table it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from seqcap.config.report import ReportedRun
from seqcap.errors import InputError
from seqcap.papers import Rows
from seqcap.report import published
from seqcap.report.inputs import Run
from seqcap.report.tables import Cell, gain

MLE = "MLE"
# What the paper measured Table 2 on, what it sent there, and how many models the second of these has.
ON_SERVER = "COCO's evaluation server"
SINGLE, ENSEMBLE = "Ours: Tok-Seq CIDER", "Ours: Tok-Seq CIDER +"
MEMBERS = 5
# The evaluation that stands for it.
SERVER = "smoothing_server"


@dataclass(frozen=True)
class Part:
    """A block of Table 1 or a column of Table 3: runs that differ in their loss alone.

    Attributes:
        task: of its runs.
        table: where the paper prints it.
        column: there, of the metric that losses are compared in; it ends in that.
        block: of Table 1.
        captioner: of its runs; "": any.
    """

    task: str
    table: str
    column: str
    block: str = ""
    captioner: str = ""

    @property
    def metric(self) -> str:
        return self.column.split()[-1]

    @property
    def evaluation(self) -> str:
        """That its runs are decoded and scored in."""
        return f"smoothing_{self.task}"

    @property
    def name(self) -> str:
        """As the paper prints it."""
        return self.block or self.column.removesuffix(f" {self.metric}")

    @cached_property
    def printed(self) -> dict[str, float]:
        """Row -> its published number, x100, in the printed order."""
        return self.printed_in(self.column)

    def printed_in(self, column: str) -> dict[str, float]:
        """The same of another column."""
        cells = published.published_table("smoothing", self.table)
        chosen = cells[(cells["block"] == self.block) & (cells["column"] == column)]
        return dict(zip(chosen["row"], chosen["value"], strict=True))

    def printed_gain(self, row: str) -> float:
        """The published difference to MLE, x100."""
        return self.printed[row] - self.printed[MLE]

    def runs(self, runs: Iterable[ReportedRun]) -> dict[str, ReportedRun]:
        """Row -> the run that makes it, of those there are, in the printed order.

        Raises:
            InputError: two runs have one label.
        """
        found: dict[str, ReportedRun] = {}
        for run in runs:
            if run.task != self.task or self.captioner not in ("", run.captioner) or run.members:
                continue
            if run.label in found:
                problem = f"runs {found[run.label].name} and {run.name} have the label {run.label!r}"
                raise InputError("papers/smoothing.yaml", problem, "give one of them another")
            found[run.label] = run
        return {row: found[row] for row in self.printed if row in found}

    def maker(self, run: Run, row: str) -> str:
        """The name of the run that makes a row; a description where there is none."""
        made = self.runs(run.runs)
        return made[row].name if row in made else f"{row}, {self.name}"

    def gain_cells(self, run: Run) -> list[Cell]:
        """How much more each loss scores than MLE, and by how much the paper's does."""
        base, block, data = self.maker(run, MLE), f"{self.metric}, {self.name}", run.stand_in(self.task)
        cells = []
        for row in self.printed:
            if row != MLE:
                ours = gain(run, self.maker(run, row), base, "beam", self.metric)
                printed = f"{self.printed_gain(row):.2f}"
                cells.append(Cell.of(self.metric, block, row, "gain over MLE", ours, data, printed))
        return cells


PARTS = (
    Part("image", "table1", "CIDEr", "without attention", "lstm"),
    Part("image", "table1", "CIDEr", "with attention", "attention"),
    Part("en_fr", "table3", "WMT'14 En-Fr BLEU"),
    Part("de_en", "table3", "IWSLT'14 De-En BLEU"),
)


def entries(run: Run) -> dict[str, ReportedRun]:
    """Row of Table 2 -> the run or ensemble that makes it."""
    return {entry.label: entry for entry in run.runs if entry.members}


def entry_name(run: Run, row: str) -> str:
    """The name of what makes a row of Table 2; the row where there is nothing."""
    return entries(run)[row].name if row in entries(run) else row


def rows(run: Run) -> dict[str, Rows]:
    """Published table -> (block or column, row) -> (run, decoder)."""
    server = {("COCO eval server", row): (entry_name(run, row), "beam") for row in (SINGLE, ENSEMBLE)}
    made: dict[str, dict[tuple[str, str], tuple[str, str]]] = {"table1": {}, "table2": server, "table3": {}}
    for part in PARTS:
        for row in part.printed:
            made[part.table][part.block or part.column, row] = (part.maker(run, row), "beam")
    return dict(made)
