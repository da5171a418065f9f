"""The run behind each row of the paper's tables, and each loss's gain over MLE."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from seqcap.config import Frozen
from seqcap.report.inputs import SCENES, Results
from seqcap.report.paper import Rows, read_yaml
from seqcap.report.reported import ReportedRun
from seqcap.report.tables import Cell, Measure

MLE = "mle"
PHASE_1 = "table1_phase1"  # file of published/: Table 1 after the authors' first phase, with a frozen CNN
STRENGTH = "smoothing_strength"  # what training records of how much a loss smooths
# The paper's data for Table 2, and the number of models of its ensemble.
ON_SERVER = "COCO's evaluation server"
MEMBERS = 5
SINGLE, ENSEMBLE = "tok_seq_cider", "tok_seq_cider_ensemble"
SERVER = "smoothing_server"  # the evaluation that stands for the server


class Loss(Frozen):
    """A loss, as rows.yaml explains it."""

    row: str
    level: str = ""
    reward: str = ""
    pool: str = ""
    lazy: bool = False


class PartFacts(Frozen):
    """A block of Table 1 or a column of Table 3, as rows.yaml explains it."""

    name: str
    corpus: str = ""  # the paper's data of a translation
    task: str
    table: str
    block: str = ""
    column: str
    metric: str
    losses: str
    runs: str


class Beams(Frozen):
    """Which runs are decoded with several widths of the beam, as rows.yaml says."""

    of: str  # as `PartFacts.runs`
    width: int  # of the runs themselves
    others: tuple[int, ...]
    losses: tuple[str, ...]

    def again(self, loss: str) -> dict[int, str]:
        """Width -> the run that is a loss's, decoded once more with that width."""
        return {width: f"beam_{width}_{loss}" for width in self.others}


class RowsFile(Frozen):
    """rows.yaml."""

    losses: Mapping[str, Mapping[str, Loss]]
    parts: Mapping[str, PartFacts]
    entries: Mapping[str, str]
    beams: Beams
    others: Mapping[str, Mapping[str, str]]  # `PartFacts.runs` -> run -> the run that it gains over


FILE: RowsFile = read_yaml(Path(__file__).parent / "rows.yaml", RowsFile)


@dataclass(frozen=True)
class Part:
    """A part of the results, and its entry of rows.yaml."""

    results: Results
    facts: PartFacts

    @property
    def losses(self) -> Mapping[str, Loss]:
        return FILE.losses[self.facts.losses]

    @property
    def label(self) -> str:
        """What it is called in words: a translation by what ran, and by the paper's data that this stands for."""
        if not self.facts.corpus or self.facts.task not in self.results.config.tasks:
            return self.facts.name
        dataset = self.results.dataset(self.facts.task)
        pair = self.facts.name.removeprefix(f"{self.facts.corpus} ")
        return f"{'generated sentences' if dataset == SCENES else dataset}, {pair}, for {self.facts.corpus}"

    @property
    def on_data(self) -> str:
        """What it is called, with the data that it ran on."""
        if self.facts.corpus:
            return self.label
        return f"{self.label}, {self.results.dataset(self.facts.task)} {self.results.split(self.facts.task)}"

    @property
    def evaluation(self) -> str:
        return f"smoothing_{self.facts.task}"

    @cached_property
    def printed(self) -> dict[str, float]:
        """Loss -> its published number, x100, in the printed order."""
        return self.printed_in(self.facts.column)

    def printed_in(self, column: str) -> dict[str, float]:
        cells = self.results.paper.published.table(self.facts.table)
        chosen = cells[(cells["block"] == self.facts.block) & (cells["column"] == column)]
        values = dict(zip(chosen["row"], chosen["value"], strict=True))
        return {loss: values[known.row] for loss, known in self.losses.items()}

    def printed_gain(self, loss: str, base: str = MLE) -> float:
        return self.printed[loss] - self.printed[base]

    @cached_property
    def runs(self) -> dict[str, ReportedRun]:
        names = {loss: f"{self.facts.runs}_{loss}" for loss in self.losses}
        return {loss: self.results.by_name[name] for loss, name in names.items() if name in self.results.by_name}

    def carried_over(self, loss: str) -> float:
        """The printed gain, x100, at our level: as large a share of MLE's number as in print."""
        return self.printed_gain(loss) * 100 * self.levels()[MLE] / self.printed[MLE]

    def name_of(self, loss: str) -> str:
        """The name of the run with a loss; a description where there is none."""
        return self.runs[loss].name if loss in self.runs else f"{self.losses[loss].row}, {self.facts.name}"

    def levels(self, metric: str = "", decoder: str = "beam") -> dict[str, float]:
        """Loss -> its mean over seeds, of those that were measured."""
        measured = metric or self.facts.metric
        found = {loss: self.results.scores.by_seed(self.name_of(loss), decoder, measured) for loss in self.losses}
        return {loss: float(by_seed.mean()) for loss, by_seed in found.items() if by_seed is not None}

    def gain(self, loss: str, base: str = MLE) -> Cell:
        printed = f"{self.printed_gain(loss, base):.2f}"
        return self._gain_of(self.name_of(loss), self.name_of(base), self.losses[loss].row, printed, self.label)

    def _gain_of(self, name: str, base: str, row: str, printed: str, where: str) -> Cell:
        metric, block = self.facts.metric, f"{self.facts.metric}, {where}"
        ours = Measure("beam", metric).gain(self.results, name, base)
        data = self.results.stand_in(self.facts.task)
        return Cell.of(self.results, metric, block, row, "gain over MLE", ours, data, printed)

    def gains(self) -> dict[str, Cell]:
        return {loss: self.gain(loss) for loss in self.losses if loss != MLE}

    def other_gains(self) -> list[tuple[str, Cell]]:
        """The runs that the paper's tables do not have, and their gains: less is smoothed, or training is longer."""
        bases = FILE.others.get(self.facts.runs, {})
        runs = [run for run in self.results.trained if run.name in bases]
        where = f"{self.label}, not in print"
        return [(run.name, self._gain_of(run.name, bases[run.name], run.label, "", where)) for run in runs]


def parts(results: Results, table: str = "") -> dict[str, Part]:
    return {key: Part(results, facts) for key, facts in FILE.parts.items() if table in ("", facts.table)}


def entry_name(results: Results, entry: str) -> str:
    """The name of an entry's run, or of a run; an entry's row where it is not part of these results."""
    return entry if entry in results.by_name else FILE.entries.get(entry, entry)


def rows(results: Results) -> dict[str, Rows]:
    """Published table -> (block or column, row) -> (run, decoder)."""
    runs = {("COCO eval server", row): (entry_name(results, name), "beam") for name, row in FILE.entries.items()}
    made: dict[str, dict[tuple[str, str], tuple[str, str]]] = {"table1": {}, "table2": runs, "table3": {}}
    for part in parts(results).values():
        for loss, known in part.losses.items():
            made[part.facts.table][part.facts.block or part.facts.column, known.row] = (part.name_of(loss), "beam")
    return dict(made)
