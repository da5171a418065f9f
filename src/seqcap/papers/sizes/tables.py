"""Gains and levels of the study, and how much each loss smooths."""

from dataclasses import replace

from seqcap.papers.sizes.study import (
    FILE,
    METRIC,
    SMOOTHED,
    decoders,
    gain,
    name_of,
    sizes,
    slope_of_gain,
    strength,
)
from seqcap.report.inputs import Results
from seqcap.report.tables import Cell, Estimate, Measure

PER_DOUBLING = "per doubling"


def gains(results: Results) -> list[Cell]:
    cells = []
    for decoder, words in decoders(results).items():
        for loss in SMOOTHED:
            for size in sizes(results):
                cells.append(_cell(results, words, loss, column(size), gain(results, loss, size, decoder)))
            slope = _cell(results, words, loss, PER_DOUBLING, slope_of_gain(results, loss, decoder))
            # Neither way is better.
            cells.append(replace(slope, direction=""))
    return cells


def levels(results: Results) -> list[Cell]:
    cells = []
    for decoder, words in decoders(results).items():
        for loss in FILE.losses:
            for size in sizes(results):
                ours = Measure(decoder, METRIC).of(results, name_of(loss, size))
                cells.append(_cell(results, words, loss, column(size), ours))
    return cells


def strengths(results: Results) -> list[Cell]:
    cells = []
    for loss in SMOOTHED:
        for size in sizes(results):
            ours = Estimate(strength(results, loss, size))
            label = FILE.losses[loss].label
            cells.append(Cell("", label, column(size), "", "", ours, 1, 3, data(results)))
    return cells


def column(size: int) -> str:
    return f"{size:,} images"


def data(results: Results) -> str:
    return results.stand_in(results.config.pictures)


def _cell(results: Results, block: str, loss: str, name: str, ours: Estimate) -> Cell:
    return Cell.of(results, METRIC, block, FILE.losses[loss].label, name, ours, data(results))


TABLES = {"sizes_gains": gains, "sizes_levels": levels, "sizes_strength": strengths}
