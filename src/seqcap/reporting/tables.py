"""The papers' tables with our numbers beside theirs, as CSV for machines and markdown for readers.

To find where a number comes from: `SLE_ROWS` says which variant and decoder make a row, `SLE_COLUMNS` which
metric over which captions makes a column, and `estimate` how the value and its interval are computed.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from seqcap import artifacts
from seqcap.reporting import published, statistics
from seqcap.reporting.inputs import REPORTS, Captions, ReportConfig, Scores, Variant

COLUMNS = ["block", "row", "column", "direction", "paper", "ours", "ours_low", "ours_high", "n", "note"]

# Table -> row, as the paper labels it -> (variant in params.yaml, decoder). Rows that are not here are other
# systems' published numbers. "sample" is 5 random samples per image; "beam" is a beam of 5.
SLE_ROWS: dict[int, dict[str, tuple[str, str]]] = {
    1: {
        "XE": ("xe", "sample"),
        "SLL": ("sll", "sample"),
    },
    2: {
        "SLL": ("sll", "beam"),
        "SLL-ME": ("sll_me", "beam"),
        "SLL-SLE": ("sll_sle", "beam"),
        "SLL*": ("sll_att", "beam"),
        "SLL-ME*": ("sll_me_att", "beam"),
        "SLL-SLE*": ("sll_sle_att", "beam"),
    },
    4: {
        "XE (rs)": ("xe", "sample"),
        "SLL (rs)": ("sll", "sample"),
        "SLL-ME (rs)": ("sll_me", "sample"),
        "SLL-SLE (rs)": ("sll_sle", "sample"),
        "XE (bs)": ("xe", "beam"),
        "SLL (bs)": ("sll", "beam"),
        "SLL-ME (bs)": ("sll_me", "beam"),
        "SLL-SLE (bs)": ("sll_sle", "beam"),
    },
}

# Column -> (metric in scores.parquet, over which captions of an image).
SET_OF_FIVE: dict[str, tuple[str, Captions]] = {
    "CIDEr": ("CIDEr", "every"),
    "Div1": ("Div1", "set"),
    "Div2": ("Div2", "set"),
    "mBleu4": ("mBleu4", "set"),
}
BEST_CAPTION: dict[str, tuple[str, Captions]] = {
    "METEOR": ("METEOR", "best"),
    "CIDEr": ("CIDEr", "best"),
    "SPICE": ("SPICE", "best"),
}
SLE_COLUMNS = {1: SET_OF_FIVE, 2: BEST_CAPTION, 4: SET_OF_FIVE}

SLE_TITLES = {
    1: "SLE, Table 1: random samples of XE and SLL",
    2: "SLE, Table 2: quality of the best beam caption",
    4: "SLE, Table 4: quality and diversity of random samples and of beams",
}
SLE_READING = {
    1: "Sets of 5 random samples per image. CIDEr is the mean over the five captions (precision's stand-in), Div-1, "
    "Div-2 and mBLEU-4 say how much the five differ (recall's stand-in; a low mBLEU-4 is diverse).",
    2: "The first caption of a beam of 5. Rows marked * are captioners with attention.",
    4: "(rs): 5 random samples per image; (bs): the five captions of a beam of 5. CIDEr is the mean over the five.",
}

# Column -> (decoder, metric, captions): what only a generated scene, whose facts are known, lets us measure.
TRUTH: dict[str, tuple[str, str, Captions]] = {
    "precision, greedy": ("greedy", "precision_true", "best"),
    "precision, beam": ("beam", "precision_true", "best"),
    "precision, 5 samples": ("sample", "precision_true", "every"),
    "recall, one sample": ("sample", "recall_true", "every"),
    "recall, 5 samples together": ("sample", "recall_true", "set"),
    "recall, beam of 5 together": ("beam", "recall_true", "set"),
}
SEEDS = "the lowest and the highest seed"
HUMAN = Variant(variant="human", label="human captions", captioner="", objective="", seeds=[0])

QUALITY = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "METEOR", "CIDEr", "SPICE", "SPIDEr")
# Metric of a decoder's five captions -> (which way is more diverse, or better; scale).
DIVERSITY = {
    "Div1": ("higher", 1.0),
    "Div2": ("higher", 1.0),
    "mBleu1": ("lower", 1.0),
    "mBleu2": ("lower", 1.0),
    "mBleu3": ("lower", 1.0),
    "mBleu4": ("lower", 1.0),
    "self-CIDEr": ("higher", 1.0),
    "Self-BLEU4": ("lower", 1.0),
    "oracle": ("higher", 100.0),
    "vocabulary": ("higher", 1.0),
    "novel": ("higher", 1.0),
    "unique": ("higher", 1.0),
    "length": ("higher", 1.0),
    "bad_endings": ("lower", 1.0),
}
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
        if self.column == "vocabulary":
            return 0
        return 2 if self.scale == 100 else 4

    @property
    def note(self) -> str:
        common = (self.data,) if self.ours.value is not None else ()
        return "; ".join((*common, *self.ours.remarks))

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
    """A table of the report: `name` is its file's name, `reading` tells how to read it, `brackets` what [ ] hold."""

    name: str
    title: str
    reading: str
    cells: list[Cell]
    brackets: str = "95% bootstrap interval of the mean over test images"

    def write(self, folder: Path = REPORTS / "tables") -> None:
        """Writes <name>.csv and <name>.md."""
        with (
            artifacts.atomic(folder / f"{self.name}.csv") as path,
            path.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(cell.record() for cell in self.cells)
            if not self.cells:
                writer.writerow([""] * (len(COLUMNS) - 1) + [self.reading])
        with artifacts.atomic(folder / f"{self.name}.md") as path:
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
            arrow = {"higher": "↑", "lower": "↓"}[directions[column]]
            header += ([f"{column} {arrow} paper"] if with_paper else []) + [f"{column} {arrow} ours"]
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
                    marks.append(notes.setdefault(remark, _letters(len(notes))))
                mark = f" ({','.join(marks)})" if marks else ""
                line += ([cell.printed or "–"] if with_paper else []) + [_with_interval(cell) + mark]
            # Corpus metrics have fewer (seeds only): their remark says so.
            matrix.append([*line, max((cell.ours.n for cell in cells.values()), key=len) or "–"])
        lines += markdown_table(matrix)
        data = "; ".join(dict.fromkeys(cell.data for cell in self.cells))
        lines += ["", f"[ ]: {self.brackets}. –: no number. Data: {data}.", ""]
        lines += [f"- ({mark}) {remark}" for remark, mark in notes.items()]
        return "\n".join(lines) + "\n"


def _letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else _letters(number // 26 - 1) + letter


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
        remarks = (SPACY_REMARK,) if metric in _SPACY else ()
        return Estimate(value + shift, low + shift, high + shift, _count(len(means), images.shape[1]), remarks)
    assert corpus is not None
    by_seed = np.asarray(corpus.to_numpy(), dtype=np.float64)
    if len(by_seed) == 1:
        return Estimate(by_seed[0], n="1 seed", remarks=("a corpus metric of one seed: no interval",))
    low, high = statistics.bootstrap_interval(by_seed)
    note = "a corpus metric: the interval is over seeds"
    return Estimate(float(by_seed.mean()), low, high, f"{len(by_seed)} seeds", (note,))


def _count(images: int, seeds: int) -> str:
    return f"{images} images x {seeds} seed{'s' if seeds > 1 else ''}"


def best_caption_by_seed(scores: Scores, variant: str, decoder: str, metric: str) -> pd.Series[float] | None:
    """Value per seed over the first caption of every image: the corpus value, else the mean of sentence scores."""
    corpus = scores.corpus(variant, decoder, metric)
    if corpus is not None:
        return corpus
    images = scores.per_image(variant, decoder, metric, "best")
    return None if images is None else images.mean(axis=0)


def sle_table(number: int, scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> Table:
    """Table 1, 2 or 4 of the SLE paper: every published cell, once, with our number beside it."""
    present = {variant.variant for variant in variants}
    cells = []
    for published_cell in published.published_table("sle", number).to_dict("records"):
        row, column = str(published_cell["row"]), str(published_cell["column"])
        remarks: tuple[str, ...] = ()
        if row not in SLE_ROWS[number]:
            ours = Estimate(None, remarks=("another system's published number; not re-run",))
        elif SLE_ROWS[number][row][0] not in present:
            ours = Estimate(None, remarks=(f"variant {SLE_ROWS[number][row][0]} is not in params.yaml",))
        else:
            variant, decoder = SLE_ROWS[number][row]
            ours = estimate(scores, variant, decoder, *SLE_COLUMNS[number][column])
            if number == 4 and decoder == "beam" and column == "CIDEr" and ours.value is not None:
                remarks = _single_caption_remark(scores, variant, row)
        if not published_cell["printed"]:
            remarks = (*remarks, "the paper reports no number")
        cells.append(
            Cell(
                block=str(published_cell["block"]),
                row=row,
                column=column,
                direction=str(published_cell["direction"]),
                printed=str(published_cell["printed"]),
                ours=replace(ours, remarks=(*ours.remarks, *remarks)),
                scale=published.SCALES[str(published_cell["scale"])],
                data=config.stand_in,
            )
        )
    return Table(f"sle_table{number}", SLE_TITLES[number], SLE_READING[number], cells)


def _single_caption_remark(scores: Scores, variant: str, row: str) -> tuple[str, ...]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    table2 = published.published_table("sle", 2)
    label = row.removesuffix(" (bs)")
    best = table2.loc[(table2["row"] == label) & (table2["column"] == "CIDEr"), "value"].tolist()
    if best != [published.published_value("sle", 4, row, "CIDEr")]:
        return ()
    ours = best_caption_by_seed(scores, variant, "beam", "CIDEr")
    if ours is None:
        return ()
    return (
        f"the paper prints Table 2's value, that of the best caption alone; ours for that is {ours.mean() * 100:.1f}",
    )


def truth_table(scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> Table:
    """True precision and recall of every variant's captions, and of human ones: only scenes know their own facts."""
    title = "SLE: true precision and recall, which the paper says cannot be measured"
    if config.dataset != "scenes":
        return Table(
            "sle_truth",
            title,
            f"Not measured on {config.dataset}: only generated scenes come with every fact that is true of them.",
            [],
        )
    cells = []
    for variant in (*variants, HUMAN):
        for column, (decoder, metric, captions) in TRUTH.items():
            ours = estimate(scores, variant.variant, decoder, metric, captions)
            if variant is HUMAN:
                ours = replace(ours, n=ours.n.split(" x ")[0])
            if variant is HUMAN and decoder != "sample":
                ours = Estimate(None, remarks=("human captions come from no decoder: see 5 samples",))
            cells.append(Cell(variant.captioner, variant.label, column, "higher", "", ours, 1.0, config.stand_in))
    reading = (
        "A checker decides exactly which statements of a caption are true of its scene. Precision: the share of a "
        "caption's statements that are true. Recall: the share of the scene's facts that one caption, or five "
        "together, state. Greedy and beam: the first caption. No paper reports these."
    )
    return Table("sle_truth", title, reading, cells)


def quality_table(scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> Table:
    """Every quality metric of the greedy and of the best beam caption, x100; low and high are over seeds."""
    cells = []
    for decoder in ("greedy", "beam"):
        for variant in variants:
            for metric in QUALITY:
                by_seed = best_caption_by_seed(scores, variant.variant, decoder, metric)
                ours = _over_seeds(by_seed, scores.why_missing(variant.variant, decoder, metric))
                if metric in _SPACY and by_seed is not None:
                    ours = replace(ours, remarks=(SPACY_REMARK,))
                block = f"{variant.captioner}, {decoder}"
                cells.append(Cell(block, variant.label, metric, "higher", "", ours, 100.0, config.stand_in))
    reading = (
        "Corpus scores of one caption per image, x100, averaged over seeds. SPIDEr is the sum CIDEr + SPICE. No paper "
        "reports these."
    )
    return Table("sle_quality", "SLE: all quality metrics of every variant", reading, cells, SEEDS)


def _over_seeds(by_seed: pd.Series[float] | None, missing: str) -> Estimate:
    """The mean over seeds with the lowest and the highest."""
    if by_seed is None:
        return Estimate(None, remarks=(missing,))
    if len(by_seed) == 1:
        return Estimate(float(by_seed.iloc[0]), n="1 seed")
    return Estimate(float(by_seed.mean()), float(by_seed.min()), float(by_seed.max()), f"{len(by_seed)} seeds")


def diversity_table(scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> Table:
    """The diversity suite over the five random samples and the five of the beam; low and high are over seeds."""
    cells = []
    for decoder, block in (("sample", "5 samples"), ("beam", "beam of 5")):
        for variant in variants:
            for metric, (direction, scale) in DIVERSITY.items():
                by_seed = scores.corpus(variant.variant, decoder, metric)
                ours = _over_seeds(by_seed, scores.why_missing(variant.variant, decoder, metric))
                cells.append(Cell(block, variant.label, metric, direction, "", ours, scale, config.stand_in))
    reading = (
        "Means over seeds. Self-BLEU4 compares captions of different images, the others those of one. oracle: CIDEr "
        "x100 of each image's best caption. vocabulary: distinct words; length: words per caption; novel (not a "
        "training caption), unique and bad_endings (cut off after an article or preposition): percent of captions. No "
        "paper reports these."
    )
    return Table("sle_diversity", "SLE: the diversity suite", reading, cells, SEEDS)


def sle_tables(scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> list[Table]:
    """Every table of the SLE part of the report."""
    papers = [sle_table(number, scores, variants, config) for number in SLE_ROWS]
    ours = (truth_table, quality_table, diversity_table)
    return [*papers, *(make(scores, variants, config) for make in ours)]


PAPERS = {"sle": sle_tables}
