"""Tables with our numbers beside the published ones, as CSV for machines and markdown for readers.

To find where a number comes from: a paper's `rows` say which variant and decoder make a row, its columns which metric
over which captions, and `estimate` how the value and its interval are computed.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import published, statistics
from seqcap.reporting.inputs import IMAGE, REPORTS, Captions, Run, Scores, Variant

COLUMNS = ["block", "row", "column", "direction", "paper", "ours", "ours_low", "ours_high", "n", "note"]

# Which way a column is better, as an arrow; none where neither is.
_ARROWS = {"higher": "↑", "lower": "↓", "": ""}
SEEDS = "the lowest and the highest seed"
HUMAN = Variant(variant="human", label="human captions", captioner="", objective="", seeds=[0])

QUALITY = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "METEOR", "CIDEr", "SPICE", "SPIDEr")
# The metrics that a parser of ours stands behind.
_SPACY = ("SPICE", "SPIDEr")
SPACY_REMARK = "SPICE (spaCy): SPICE's tuples from spaCy's parses, not from the official parser"


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95% interval, in the metric's own scale; `remarks` say what a reader must know."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of a table. `scale` multiplies our numbers into the printed scale; `data` says what was captioned."""

    block: str
    row: str
    column: str
    direction: str
    printed: str
    ours: Estimate
    scale: float
    data: str

    @property
    def decimals(self) -> int:
        if self.column.startswith("vocabulary"):
            return 0
        return 2 if self.scale == 100 else 4

    @property
    def note(self) -> str:
        common = (self.data,) if self.ours.value is not None else ()
        return "; ".join((*common, *self.ours.remarks))

    def remarked(self, *remarks: str) -> Cell:
        """The cell with more remarks."""
        return replace(self, ours=replace(self.ours, remarks=(*self.ours.remarks, *remarks)))

    def number(self, value: float | None) -> str:
        """A number in the printed scale, or nothing."""
        return "" if value is None else f"{value * self.scale:.{self.decimals}f}"

    def record(self) -> list[str]:
        """The cell's line in the CSV file, in the order of `COLUMNS`."""
        ours = self.ours
        numbers = [self.number(ours.value), self.number(ours.low), self.number(ours.high)]
        return [self.block, self.row, self.column, self.direction, self.printed, *numbers, ours.n, self.note]


@dataclass(frozen=True)
class Table:
    """A table of the report: `reading` tells how to read it, `brackets` what [ ] hold."""

    title: str
    reading: str
    cells: list[Cell]
    brackets: str = "95% bootstrap interval of the mean over test images"

    def write(self, name: str, folder: Path = REPORTS / "tables") -> None:
        """Writes <name>.csv and <name>.md."""
        with (
            artifacts.atomic(folder / f"{name}.csv") as path,
            path.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(cell.record() for cell in self.cells)
            if not self.cells:
                writer.writerow([""] * (len(COLUMNS) - 1) + [self.reading])
        with artifacts.atomic(folder / f"{name}.md") as path:
            path.write_text(self.markdown(), encoding="utf-8")

    def markdown(self) -> str:
        """Rows by columns; remarks become lettered notes below the matrix."""
        lines = [f"## {self.title}", "", self.reading, ""]
        if not self.cells:
            return "\n".join(lines)
        columns = list(dict.fromkeys(cell.column for cell in self.cells))
        directions = {cell.column: cell.direction for cell in self.cells}
        with_paper = any(cell.printed for cell in self.cells)
        with_block = len({cell.block for cell in self.cells}) > 1
        header = ["block", "row"] if with_block else ["row"]
        for column in columns:
            name = f"{column} {_ARROWS[directions[column]]}".rstrip()
            header += ([f"{name} paper"] if with_paper else []) + [f"{name} ours"]
        matrix = [[*header, "n"]]
        notes: dict[str, str] = {}
        rows: dict[tuple[str, str], dict[str, Cell]] = {}
        for cell in self.cells:
            rows.setdefault((cell.block, cell.row), {})[cell.column] = cell
        for (block, row), cells in rows.items():
            line = [block, row] if with_block else [row]
            for column in columns:
                cell = cells[column]
                marks = []
                for remark in cell.ours.remarks:
                    marks.append(notes.setdefault(remark, letters(len(notes))))
                mark = f" ({','.join(marks)})" if marks else ""
                line += ([cell.printed or "–"] if with_paper else []) + [_with_interval(cell) + mark]
            # Corpus metrics have fewer (seeds only): their remark says so.
            matrix.append([*line, max((cell.ours.n for cell in cells.values()), key=len) or "–"])
        lines += markdown_table(matrix)
        data = "; ".join(dict.fromkeys(cell.data for cell in self.cells))
        brackets = f"[ ]: {self.brackets}. " if any(cell.ours.low is not None for cell in self.cells) else ""
        lines += ["", f"{brackets}–: no number. Data: {data}.", ""]
        lines += [f"- ({mark}) {remark}" for remark, mark in notes.items()]
        return "\n".join(lines) + "\n"


def letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else letters(number // 26 - 1) + letter


def _with_interval(cell: Cell) -> str:
    ours = cell.ours
    if ours.value is None:
        return "–"
    decimals = max(0, cell.decimals - 1)
    if ours.low is None or ours.high is None:
        return f"{ours.value * cell.scale:.{decimals}f}"
    value, low, high = (number * cell.scale for number in (ours.value, ours.low, ours.high))
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def markdown_table(matrix: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a markdown table whose first row is the header."""
    escaped = [[text.replace("|", "\\|").replace("*", "\\*") for text in row] for row in matrix]
    lines = ["| " + " | ".join(row) + " |" for row in escaped]
    return [lines[0], "|" + "---|" * len(matrix[0]), *lines[1:]]


def estimate(scores: Scores, variant: str, decoder: str, metric: str, captions: Captions) -> Estimate:
    """A variant's mean score with its 95% interval.

    - A metric with a score per image: the mean over images and seeds; bootstrap over images of the images'
      means over seeds and captions.
    - A corpus metric of one caption per image (METEOR): the mean over seeds of the corpus value; the bootstrap
      over images of its sentence scores gives the interval's width on either side.
    - A corpus metric of a set (mBLEU-4): the mean over seeds; bootstrap over seeds.

    Args:
        scores: what the evaluate stage wrote.
        variant, decoder, metric: as in scores.parquet.
        captions: every caption of an image, the best only, or the set as a whole.
    """
    corpus = scores.corpus(variant, decoder, metric) if captions != "every" else None
    images = scores.per_image(variant, decoder, metric, captions)
    if images is None and corpus is None:
        return Estimate(None, remarks=(scores.why_missing(variant, decoder, metric),))
    if images is not None:
        means = images.mean(axis=1).dropna().to_numpy()
        if len(means) == 0:
            return Estimate(None, remarks=(f"{metric} is undefined for every test image",))
        low, high = statistics.bootstrap_interval(means)
        value = float(means.mean())
        shift = 0.0 if corpus is None else float(corpus.mean()) - value
        # On COCO's server a metric is named with its number of references: "SPICE c5".
        remarks = (SPACY_REMARK,) if metric.split()[0] in _SPACY else ()
        return Estimate(value + shift, low + shift, high + shift, _count(len(means), images.shape[1]), remarks)
    assert corpus is not None
    by_seed = np.asarray(corpus.to_numpy(), dtype=np.float64)
    if len(by_seed) == 1:
        return Estimate(by_seed[0], n="1 seed", remarks=("a corpus metric of one seed: no interval",))
    low, high = statistics.bootstrap_interval(by_seed)
    note = "a corpus metric: the interval is over seeds"
    return Estimate(float(by_seed.mean()), low, high, f"{len(by_seed)} seeds", (note,))


def gain(scores: Scores, variant: str, base: str, decoder: str, metric: str) -> Estimate:
    """How much higher a variant's best captions score than those of `base`, with the 95% interval, on common seeds.

    The paired bootstrap over images of the difference of their scores gives the interval; of a corpus metric that has
    sentence scores, too (METEOR, translation's BLEU), these give its width on either side of the corpus difference.

    Raises:
        InputError: the two were scored on different images.
    """
    names = (variant, base)
    found = [scores.per_image(name, decoder, metric, "best") for name in names]
    for name, of_name in zip(names, found, strict=True):
        if of_name is None:
            return Estimate(None, remarks=(scores.why_missing(name, decoder, metric),))
    mine, others = (of_name for of_name in found if of_name is not None)
    if not mine.index.equals(others.index):
        raise InputError(scores.source, f"{variant} and {base} were scored on different images", "run `dvc repro`")
    seeds = sorted(set(mine.columns) & set(others.columns))
    if not seeds:
        return Estimate(None, remarks=(f"{variant} and {base} have no seed in common",))
    differences = (mine[seeds] - others[seeds]).mean(axis=1).dropna().to_numpy()
    if len(differences) == 0:
        return Estimate(None, remarks=(f"{metric} is undefined for every test image",))
    low, high = statistics.bootstrap_interval(differences)
    value = float(differences.mean())
    shift = 0.0
    corpora = [scores.corpus(name, decoder, metric) for name in names]
    if corpora[0] is not None and corpora[1] is not None:
        shift = float((corpora[0] - corpora[1])[seeds].mean()) - value
    return Estimate(value + shift, low + shift, high + shift, _count(len(differences), len(seeds)))


def _count(images: int, seeds: int) -> str:
    return f"{images} images x {seeds} seed{'s' if seeds > 1 else ''}"


def best_caption_by_seed(scores: Scores, variant: str, decoder: str, metric: str) -> pd.Series[float] | None:
    """Value per seed over the first caption of every image: the corpus value, else the mean of sentence scores."""
    corpus = scores.corpus(variant, decoder, metric)
    if corpus is not None:
        return corpus
    images = scores.per_image(variant, decoder, metric, "best")
    return None if images is None else images.mean(axis=0)


@dataclass(frozen=True)
class Measure:
    """A column of ours: a metric of a decoder's captions, which way it is better ("" where neither is), its scale."""

    decoder: str
    metric: str
    captions: Captions = "best"
    direction: str = "higher"
    scale: float = 1.0


def published_cells(run: Run, table: str, columns: Mapping[str, tuple[str, Captions]]) -> list[Cell]:
    """Every cell of a published table, once and in its order, with our number beside it.

    Args:
        run: ours.
        table: as `published.published_table` names it.
        columns: column, as the paper labels it -> (metric, over which captions of an image).
    """
    rows: Mapping[Any, tuple[str, str]] = run.paper.rows[table]
    cells = []
    for published_cell in published.published_table(run.paper.name, table).to_dict("records"):
        block, row, column = (str(published_cell[key]) for key in ("block", "row", "column"))
        source = next((rows[label] for label in (row, (block, row), (column, row)) if label in rows), None)
        if source is None:
            ours = Estimate(None, remarks=("another system's published number; not re-run",))
        elif source[0] not in run.scored:
            ours = Estimate(None, remarks=(f"variant {source[0]} is not in params.yaml",))
        else:
            ours = estimate(run.scores, *source, *columns[column])
        cell = Cell(
            block=block,
            row=row,
            column=column,
            direction=str(published_cell["direction"]),
            printed=str(published_cell["printed"]),
            ours=ours,
            scale=published.SCALES[str(published_cell["scale"])],
            data=run.stand_in(),
        )
        cells.append(cell if cell.printed else cell.remarked("the paper reports no number"))
    return cells


def measured_cells(run: Run, block: str, variant: Variant, columns: Mapping[str, Measure]) -> list[Cell]:
    """One row of our own: a variant's mean of each measure, with its interval."""
    cells = []
    for column, measure in columns.items():
        ours = estimate(run.scores, variant.variant, measure.decoder, measure.metric, measure.captions)
        if variant is HUMAN:
            ours = replace(ours, n=ours.n.split(" x ")[0])  # people have no training seeds
        cells.append(Cell(block, variant.label, column, measure.direction, "", ours, measure.scale, run.stand_in()))
    return cells


def no_truth(run: Run, title: str) -> Table:
    """What stands for a table of true statements where nobody knows which are."""
    reading = f"Not measured on {run.config.dataset}: only generated scenes come with every fact that is true of them."
    return Table(title, reading, [])


def quality_table(run: Run, reading: str) -> Table:
    """Every quality metric of the greedy and of the best beam caption, x100; low and high are over seeds."""
    cells = []
    for decoder in ("greedy", "beam"):
        for variant in run.variants:
            if variant.task != IMAGE:
                continue
            for metric in QUALITY:
                by_seed = best_caption_by_seed(run.scores, variant.variant, decoder, metric)
                ours = over_seeds(by_seed, run.scores.why_missing(variant.variant, decoder, metric))
                if metric in _SPACY and by_seed is not None:
                    ours = replace(ours, remarks=(SPACY_REMARK,))
                block = f"{variant.captioner}, {decoder}"
                cells.append(Cell(block, variant.label, metric, "higher", "", ours, 100.0, run.stand_in()))
    return Table(f"{run.paper.label}: all quality metrics of every variant", reading, cells, SEEDS)


def over_seeds(by_seed: pd.Series[float] | None, missing: str) -> Estimate:
    """The mean over seeds with the lowest and the highest; `missing` says why there is none."""
    if by_seed is None:
        return Estimate(None, remarks=(missing,))
    if len(by_seed) == 1:
        return Estimate(float(by_seed.iloc[0]), n="1 seed")
    return Estimate(float(by_seed.mean()), float(by_seed.min()), float(by_seed.max()), f"{len(by_seed)} seeds")
