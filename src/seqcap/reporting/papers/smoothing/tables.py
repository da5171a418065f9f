"""Loss smoothing's Tables 1 to 3, and what it does not print: gains with intervals, all metrics, time per epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from seqcap.reporting import published
from seqcap.reporting.inputs import IMAGE, Captions, Run
from seqcap.reporting.papers.smoothing.losses import (
    BLOCKS,
    CAPTION_LOSSES,
    ENSEMBLE,
    ENTRIES,
    MLE,
    SERVER_CONFIG,
    TASKS,
    TRANSLATION_LOSSES,
    server_config,
)
from seqcap.reporting.papers.smoothing.timing import read_seconds
from seqcap.reporting.tables import Cell, Estimate, Table, gain, published_cells, quality_table

# Column -> (metric in the scores, over which captions of an image).
COLUMNS: dict[str, tuple[str, Captions]] = {
    "BLEU-1": ("BLEU1", "best"),
    "BLEU-4": ("BLEU4", "best"),
    "CIDEr": ("CIDEr", "best"),
}
SERVER_METRICS = {
    "BLEU-1": "BLEU1",
    "BLEU-2": "BLEU2",
    "BLEU-3": "BLEU3",
    "BLEU-4": "BLEU4",
    "METEOR": "METEOR",
    "ROUGE-L": "ROUGE_L",
    "CIDEr": "CIDEr",
    "SPICE": "SPICE",
}
SERVER_COLUMNS: dict[str, tuple[str, Captions]] = {
    f"{column} {references}": (f"{metric} {references}", "best")
    for column, metric in SERVER_METRICS.items()
    for references in ("c5", "c40")
}
TRANSLATION_COLUMNS: dict[str, tuple[str, Captions]] = dict.fromkeys(TASKS.values(), ("BLEU", "best"))

SERVER = "COCO's evaluation server"
# Of the paper's ensemble.
MEMBERS = 5


@dataclass(frozen=True)
class Part:
    """A block of Table 1 or a column of Table 3: what is trained alike but for the loss.

    Attributes:
        system: captioner or task; a variant is <system>_<loss>.
        task: "image" or the translation's.
        name: as the paper prints it.
        metric: that gains are in.
        losses: loss -> its row.
        table, column, block: where the paper prints them.
    """

    system: str
    task: str
    name: str
    metric: str
    losses: Mapping[str, str]
    table: str
    column: str
    block: str | None = None

    @cached_property
    def printed(self) -> dict[str, float]:
        """Loss -> its published number, x100."""
        return {
            loss: published.published_value("smoothing", self.table, row, self.column, self.block)
            for loss, row in self.losses.items()
        }

    def printed_gain(self, loss: str) -> float:
        """The published difference to MLE, x100."""
        return self.printed[loss] - self.printed[MLE]

    def present(self, run: Run) -> list[str]:
        """Its losses that this run has."""
        return [loss for loss in self.losses if f"{self.system}_{loss}" in run.by_name]


PARTS = [
    *(
        Part(captioner, IMAGE, block, "CIDEr", CAPTION_LOSSES, "table1", "CIDEr", block)
        for captioner, block in BLOCKS.items()
    ),
    *(
        Part(task, task, column.removesuffix(" BLEU"), "BLEU", TRANSLATION_LOSSES, "table3", column)
        for task, column in TASKS.items()
    ),
]


def table1(run: Run) -> Table:
    """Every loss on captions, without attention and with."""
    reading = (
        "The first caption of a beam of 3. V, Vbatch, Vrefs: substitutes from the vocabulary, from the batch, from the "
        "image's references. lazy: samples are scored under the ground truth's hidden states."
    )
    return Table("Loss smoothing, Table 1: captions", reading, published_cells(run, "table1", COLUMNS))


def table2(run: Run) -> Table:
    """Our entries on the server's metrics, beside other systems'."""
    reading = (
        "The first caption of a beam of 3, against 5 (c5) and 40 (c40) references per image. The published numbers are "
        "of COCO's evaluation server. +: an ensemble."
    )
    cells = published_cells(run, "table2", SERVER_COLUMNS)
    if SERVER_CONFIG.exists():
        data = run.config.stand_in(SERVER, split=server_config()["split"])
        cells = [replace(cell, data=data).remarked(*_members(run, cell)) for cell in cells]
    return Table("Loss smoothing, Table 2: captions on COCO's server", reading, cells)


def _members(run: Run, cell: Cell) -> tuple[str, ...]:
    """Of which models an entry's number is."""
    entry = next((run.scored[name] for name, row in ENTRIES.items() if row == cell.row and name in run.scored), None)
    if entry is None or cell.ours.value is None:
        return ()
    kind = BLOCKS.get(entry.captioner, f"captioner {entry.captioner}")
    if entry.variant == ENSEMBLE:
        return (f"an ensemble of {len(entry.seeds)} seeds, {kind}; the paper's is of {MEMBERS}",)
    return (f"seed {entry.seeds[0]}, {kind}",)


def table3(run: Run) -> Table:
    """Every loss on both translation tasks."""
    reading = (
        "Corpus BLEU-4 of the first translation of a beam; the interval's width is that of sentence scores. V, Vbatch: "
        "substitutes from the vocabulary, from the batch."
    )
    tasks = {column: task for task, column in TASKS.items()}
    cells = [
        replace(cell, data=run.stand_in(tasks[cell.column]), ours=_of_sentences(cell.ours))
        for cell in published_cells(run, "table3", TRANSLATION_COLUMNS)
    ]
    brackets = "95% bootstrap interval over test sentences"
    return Table("Loss smoothing, Table 3: translation", reading, cells, brackets)


def _of_sentences(ours: Estimate) -> Estimate:
    """The same of a translation, whose `image_id` is a sentence's."""
    return replace(ours, n=ours.n.replace("images", "sentences"))


def gain_cells(run: Run, part: Part) -> list[Cell]:
    """A part's losses other than MLE: how much more they score than MLE, and by how much the paper's do."""
    cells = []
    base = f"{part.system}_{MLE}"
    for loss, row in part.losses.items():
        if loss == MLE:
            continue
        variant = f"{part.system}_{loss}"
        absent = next((name for name in (variant, base) if name not in run.by_name), None)
        if absent is None:
            ours = gain(run.scores, variant, base, "beam", part.metric)
        else:
            ours = Estimate(None, remarks=(f"variant {absent} is not in params.yaml",))
        if part.task != IMAGE:
            ours = _of_sentences(ours)
        printed = f"{part.printed_gain(loss):.2f}"
        block = f"{part.metric}, {part.name}"
        cells.append(Cell(block, row, "gain over MLE", "higher", printed, ours, 100.0, run.stand_in(part.task)))
    return cells


def gains(run: Run) -> Table:
    """Each loss minus MLE."""
    reading = (
        "Each loss minus MLE of the same captioner or task: CIDEr of captions, BLEU of translations, x100, first of "
        "the beam. The interval resamples images, or sentences, together for both. BLEU's width is that of sentence "
        "scores. The published gain is the difference of the printed numbers."
    )
    cells = [cell for part in PARTS for cell in gain_cells(run, part)]
    brackets = "95% paired bootstrap interval over test images or sentences"
    return Table("Loss smoothing: gains over MLE", reading, cells, brackets)


def quality(run: Run) -> Table:
    """Every quality metric of every loss on captions."""
    reading = "Corpus scores of one caption per image (greedy; first of a beam of 3), x100, averaged over seeds."
    if not any(variant.task == IMAGE for variant in run.variants):
        reading = "Not measured: no captioner is part of this run."
    return quality_table(run, reading)


def timing(run: Run) -> Table:
    """Seconds per epoch, and relative to MLE of the same captioner or task."""
    seconds = read_seconds(run)
    cells = []
    for part in PARTS:
        base, data = seconds.get(f"{part.system}_{MLE}"), run.stand_in(part.task)
        for loss in part.present(run):
            own = seconds.get(f"{part.system}_{loss}")
            ratio = own / base if own is not None and base is not None else None
            for column, value in (("seconds per epoch", own), ("ratio to MLE", ratio)):
                ours = Estimate(value, remarks=() if value is not None else ("not timed: trained for no epoch",))
                cells.append(Cell(part.name, part.losses[loss], column, "lower", "", ours, 1.0, data))
    reading = (
        "Seconds of training steps per epoch, measured in the training runs themselves, on the machine and beside "
        "whatever else it did: they differ from run to run."
    )
    return Table("Loss smoothing: time per epoch", reading, cells)


TABLES = {
    "smoothing_table1": table1,
    "smoothing_table2": table2,
    "smoothing_table3": table3,
    "smoothing_gains": gains,
    "smoothing_quality": quality,
    "smoothing_timing": timing,
}
