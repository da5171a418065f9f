"""Learning curves: a column per quantity, a row per group of runs, so that no panel has many lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.report.drawing.colours import lighter, palette
from seqcap.report.inputs import Results
from seqcap.report.paper import LearningCurves, Quantity
from seqcap.report.reported import ReportedRun

_OTHERS, _START = "#d0d0d0", "#666666"  # lines of other groups, and of the start
_SHARES = "share of the training (0: before any)"
_POINTS = 60
Look = tuple[str, str]  # colour and dashes of a line
_PALEST = 0.35  # by how much the first of several runs of one colour is lighter than the last
_DASHES = ("-", "--", ":", "-.")  # of runs of one colour, from the last on
_ONE_SEED = " (one seed)"
_WIDTH, _HEIGHT = 2.7, 1.9  # inches of a panel
_NAMES = 1.9  # inches of the names beside a row


def draw(results: Results, declared: LearningCurves, runs: Sequence[ReportedRun] = ()) -> Figure | str:
    """The figure, or a sentence where none of its runs is there. `runs`: which runs, if not all that were trained."""
    runs = _declared(runs or results.trained, declared)
    columns = [_Column(results, column, runs, declared.shares) for column in declared.columns]
    common = _in_every_row(declared)
    groups = {title: _in_order(runs, labels) for title, labels in declared.rows.items()}
    own = {title: [run for run in group if run.label not in common] for title, group in groups.items()}
    groups = {title: group for title, group in groups.items() if any(column.has(own[title]) for column in columns)}
    columns = [column for column in columns if any(column.has(own[title]) for title in groups)]
    if not groups:
        return "This run has none of the learning curves."
    if declared.compared and len(groups) == 1:
        return f"Of what is compared, only {next(iter(groups))!r} is part of this run."
    size = (_WIDTH * len(columns) + _NAMES, _HEIGHT * len(groups) + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(groups), len(columns), squeeze=False, sharey="col")
    for row, (title, group) in zip(panels, groups.items(), strict=True):
        looks = _looks(group)
        for axis, column in zip(row, columns, strict=True):
            if column.has(own[title]):
                column.plot(axis, group, looks, declared)
            else:
                axis.set_axis_off()
        row[0].set_ylabel(title)
        start = Line2D([], [], color=_START, linestyle="--", linewidth=0.9)
        name_lines(row, {f"{declared.start} (step 0)": start} if declared.start else {})
    for axis, column in zip(panels[0], columns, strict=True):
        axis.set_title(column.title, loc="left", fontsize=8)
    for column, below in zip(columns, panels.T, strict=True):
        column.limit(below, declared.early)
        shown = [axis for axis in below if axis.axison]
        shown[-1].set_xlabel(_SHARES if declared.shares else "training step (0: before any)")
    return figure


def _declared(runs: Sequence[ReportedRun], declared: LearningCurves) -> list[ReportedRun]:
    """The runs that a row names, with their labels as it writes them; of several of one label the first."""
    labels = {label.casefold(): label for labels in declared.rows.values() for label in labels}
    named: dict[tuple[str, str, str], ReportedRun] = {}
    for run in runs:
        if label := labels.get(run.label.casefold()):
            named.setdefault((label, run.task, run.captioner), run.model_copy(update={"label": label}))
    return list(named.values())


def _in_every_row(declared: LearningCurves) -> set[str]:
    """The labels that are in each of several rows, as the baseline: they make no panel by themselves."""
    rows = [set(labels) for labels in declared.rows.values()]
    return set.intersection(*rows) if len(rows) > 1 else set()


def _in_order(runs: Sequence[ReportedRun], labels: Sequence[str]) -> list[ReportedRun]:
    return sorted((run for run in runs if run.label in labels), key=lambda run: labels.index(run.label))


class _Column:
    """The curves of one quantity: run -> its values, a row per step and a column per seed."""

    def __init__(self, results: Results, quantity: Quantity, runs: Sequence[ReportedRun], shares: bool) -> None:
        curves = results.curves
        self.lines: dict[str, pd.DataFrame] = {}
        self.runs = [
            run for run in runs if quantity.task in ("", run.task) and quantity.captioner in ("", run.captioner)
        ]
        for run in self.runs:
            mine = curves[curves["run"] == run.name]
            measured = [name for name in quantity.of if (mine["quantity"] == name).any()]
            mine = mine[mine["quantity"].isin(measured[:1])]
            if not mine.empty and mine["step"].max() > 0:
                line = quantity.scale * mine.pivot_table(index="step", columns="seed", values="value")
                self.lines[run.name] = line.set_axis(line.index / line.index.max()) if shares else line
        firsts = {name: line[line.index == 0].to_numpy() for name, line in self.lines.items()}
        self.start = {name: float(first.mean()) for name, first in firsts.items() if first.size}
        if quantity.relative:
            self.lines = {name: line / self.start[name] for name, line in self.lines.items() if name in self.start}
            self.start = dict.fromkeys(self.lines, 1.0)
        tasks = dict.fromkeys(run.task for run in self.runs if run.name in self.lines)
        data = dict.fromkeys(results.dataset(task) for task in tasks)
        split = "val" if quantity.of[0].startswith("val_") else "train"
        self.title = f"{quantity.title}\n{' and '.join(data)}, {split}"

    def has(self, group: Sequence[ReportedRun]) -> bool:
        return any(run.name in self.lines for run in group)

    def plot(
        self, axis: Axes, group: Sequence[ReportedRun], looks: Mapping[str, Look], declared: LearningCurves
    ) -> None:
        """The group's runs, a thick line for the mean over seeds in a band of all of them, a thin line for a single
        seed; the other runs of their captioners are grey."""
        captioners = {run.captioner for run in group}
        names = {run.name for run in group}
        for run in self.runs:
            if run.name in self.lines and run.name not in names and run.captioner in captioners:
                axis.plot(_binned(self.lines[run.name]).mean(axis=1), color=_OTHERS, linewidth=0.8, zorder=1)
        for run in group:
            if run.name not in self.lines:
                continue
            line = _binned(self.lines[run.name])
            (colour, dashes), seeds = looks[run.name], line.shape[1]
            if seeds > 1:
                band = (line.min(axis=1), line.max(axis=1))
                axis.fill_between(line.index, *band, color=colour, alpha=0.18, linewidth=0, zorder=2)
            label, width = (run.label, 1.8) if seeds > 1 else (f"{run.label}{_ONE_SEED}", 0.9)
            axis.plot(line.mean(axis=1), color=colour, linestyle=dashes, linewidth=width, label=label, zorder=3)
        starts = [self.start[name] for name in names if name in self.start]
        if declared.start and starts:
            axis.axhline(float(np.mean(starts)), color=_START, linestyle="--", linewidth=0.9, zorder=1)

    def limit(self, axes: Sequence[Axes], early: float) -> None:
        """Leaves out what lies below all values after the early steps."""
        if early:
            late = [line[line.index >= early * line.index.max()] for line in self.lines.values()]
            low, high = min(line.min().min() for line in late), max(line.max().max() for line in late)
            margin = 0.05 * (high - low) or 0.01
            axes[0].set_ylim(low - margin, high + margin)


def name_lines(row: Sequence[Axes], more: Mapping[str, Line2D] | None = None) -> None:
    """Names the lines of a row of panels on its right, each once, and of several seeds where one panel has them."""
    lines: dict[str, Any] = {}
    for axis in row:
        handles, labels = axis.get_legend_handles_labels()
        lines |= dict(zip(labels, handles, strict=True))
    repeated = {f"{label}{_ONE_SEED}" for label in lines}
    lines = {label: line for label, line in lines.items() if label not in repeated} | dict(more or {})
    look: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False, "fontsize": 8}
    row[-1].legend(list(lines.values()), list(lines), **look)


def _looks(runs: Sequence[ReportedRun]) -> dict[str, Look]:
    """A look for each run; of several methods of one colour the last is the darkest, and solid."""
    colours = palette(dict.fromkeys(run.label for run in runs))
    looks = dict[str, Look]()
    for colour in set(colours.values()):
        labels = [label for label in reversed(colours) if colours[label] == colour]
        for position, label in enumerate(labels):
            paleness = position / (len(labels) - 1) if position else 0.0
            looks[label] = (lighter(colour, _PALEST * paleness), _DASHES[position % len(_DASHES)])
    return {run.name: looks[run.label] for run in runs}


def _binned(line: pd.DataFrame) -> pd.DataFrame:
    """Averages a long curve over at most `_POINTS` stretches of equal length; step 0 stays by itself."""
    if len(line) <= _POINTS:
        return line
    stretch = np.ceil(line.index / line.index.max() * _POINTS)
    means = line.groupby(stretch).mean()
    means.index = line.index.to_series().groupby(stretch).mean().to_numpy()
    return means
