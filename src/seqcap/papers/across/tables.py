"""All objectives on one captioner, and how well the papers' yardsticks rank them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.interpolate import PchipInterpolator

from seqcap.config import Frozen
from seqcap.first_page import overview
from seqcap.first_page.overview import AS_DIVERSE, DISTINCT, DIVERSITY, LITERAL, RECALL_OF_SAMPLES, SAMPLES, TRUTH
from seqcap.metrics import registry
from seqcap.report.convergence import QUALITY
from seqcap.report.evidence import RISING
from seqcap.report.inputs import HUMAN, SCENES, Results
from seqcap.report.paper import read_yaml
from seqcap.report.ranking import rank_correlation
from seqcap.report.reported import ReportedRun
from seqcap.report.selection import kept
from seqcap.report.statistics import SIGNIFICANCE, Contrast, Floats, Missing, Number, common_seeds, q_values
from seqcap.report.tables import Cell, Content, Estimate, Measure, Table, people_label, shown
from seqcap.report.tradeoff import level
from seqcap.report.verdicts import LEAST_SEEDS

OTHERS = "others"
PEOPLE_BLOCK = "references"
# What tells whether captions are true and told apart.
TRUTHS = (TRUTH, RECALL_OF_SAMPLES, DISTINCT, LITERAL)
# Curve of greedy captions of val -> its name in the table. Only what a retriever pays has the second.
_CURVES = {registry.find("CIDEr").curve: "CIDEr", "val_R@10": "own R@10"}
_SHARES = (0.25, 0.5, 0.75, 1.0)  # of a run's steps


class Objectives(Frozen):
    """Those of a paper, and their marker, as methods.yaml has them."""

    objectives: tuple[str, ...]
    marker: str


class Budget(Frozen):
    """What every run is given, as methods.yaml has it."""

    seconds: float  # of one core
    core: str
    steps: Mapping[str, float]  # run -> milliseconds of a training step, of which its number of epochs follows
    longer: Mapping[str, float] = {}  # run that takes longer -> milliseconds of a training step
    left_out: str = ""  # sentences, of objectives that have no run, and why
    short_of: str = ""  # sentences, where the time is too short for the objectives to converge
    rates: str  # whose rates are not those of the papers' own runs
    chosen: str  # sentences, of how the settings of `points` were chosen


class MethodsFile(Frozen):
    """methods.yaml."""

    budgets: Mapping[str, Budget]  # by data
    points: Mapping[str, str]  # run -> its setting that was chosen among the points of its paper's page
    temperatures: tuple[str, ...]  # runs of cross-entropy, from the lowest temperature of their samples to the highest
    tempered: tuple[str, ...]  # runs of objectives whose samples are drawn at another temperature than 1
    said: Mapping[str, str]  # texts that depend on the results
    papers: Mapping[str, Objectives]
    columns: Mapping[str, Measure]
    people: Mapping[str, Measure]
    shown: tuple[str, ...]  # runs whose captions of one scene the first page shows
    yardsticks: Mapping[str, Measure]


FILE: MethodsFile = read_yaml(Path(__file__).parent / "methods.yaml", MethodsFile)
COLUMNS, OF_PEOPLE, YARDSTICKS = FILE.columns, FILE.people, FILE.yardsticks


@dataclass(frozen=True)
class Line(Cell):
    """A cell of the table across papers, which also names its run and those that it is ahead of."""

    run: str
    objective: str
    ahead_of: tuple[str, ...]  # runs

    def record(self) -> list[str]:
        block, row, column, direction, _, ours, low, high, n, _ = super().record()
        return [block, row, self.run, self.objective, column, direction, ours, low, high, n, " ".join(self.ahead_of)]


@dataclass(frozen=True)
class OverviewTable(Table):
    """The table across papers: in CSV a line for each number, on the page a row for each run."""

    columns: ClassVar[Sequence[str]] = overview.FIELDS

    def markdown(self) -> str:
        lines = [dict(zip(self.columns, cell.record(), strict=True)) for cell in self.cells]
        data = "; ".join(dict.fromkeys(f"Data: {cell.data}." for cell in self.cells))
        shown = overview.Overview.of(lines).markdown()
        return "\n".join([f"## {self.title}", "", self.reading, "", *shown, "", *self._undiverse(), data, ""])

    def _undiverse(self) -> list[str]:
        """Why rows have nothing in the columns of `AS_DIVERSE` that others have, a line each, and an empty one."""
        measured = {cell.column for cell in self.cells if cell.ours.value is not None}
        found = dict.fromkeys(
            (cell.row, cell.ours.remarks[0])
            for cell in self.cells
            if cell.column in AS_DIVERSE.keys() & measured and cell.ours.value is None
        )
        return [line for run, why in found for line in (FILE.said["undiverse"].format(run=run, why=why), "")]


def by_paper(results: Results) -> dict[str, list[ReportedRun]]:
    """Paper -> its runs that have a row; at the end those of no paper's objectives."""
    runs = [run for run in results.trained if run.row]
    named = FILE.papers.items()
    found = {paper: [run for run in runs if run.objective in declared.objectives] for paper, declared in named}
    of_papers = [run.name for runs in found.values() for run in runs]
    found[OTHERS] = [run for run in runs if run.name not in of_papers]
    return {paper: runs for paper, runs in found.items() if runs}


def means(results: Results, runs: Sequence[ReportedRun], measure: Measure) -> Floats:
    """A measure's mean over seeds of each run [n]; NaN where it was not measured."""
    return np.array([level(results, run.name, measure) for run in runs], dtype=float)


def objectives(results: Results) -> Content:
    blocks = by_paper(results)
    runs = [run for of_paper in blocks.values() for run in of_paper]
    cells: list[Line] = []
    for column, measure in COLUMNS.items():
        ahead = _ahead(results, runs, measure)
        for paper, of_paper in blocks.items():
            for run in of_paper:
                ours = measure.of(results, run.name)
                named = (paper, run.label, run.name, run.objective)
                cells.append(_line(results, column, measure, ours, named, ahead[run.name]))
        if column in OF_PEOPLE:
            people = OF_PEOPLE[column].of(results, HUMAN)
            named = (PEOPLE_BLOCK, people_label(results), HUMAN, "")
            cells.append(_line(results, column, measure, people, named, ()))
    cells += _beside_as_diverse(results, blocks)
    order = {name: place for place, name in enumerate([*(run.name for run in runs), HUMAN])}
    cells.sort(key=lambda cell: order[cell.run])
    words = {
        "part": _part(results, runs),
        "budget": _budget(results),
        "points": _points(results),
        "start": _start(results, runs),
        "people": _of_people(results, cells),
        **_of_budget(results),
    }
    return Content(cells, words=words, layout=OverviewTable)


def _part(results: Results, runs: Sequence[ReportedRun]) -> str:
    """How many of the objectives of generated scenes are here; "" of all."""
    budget, scenes = _budget_of(results), FILE.budgets[SCENES]
    everything = scenes.steps.keys() | scenes.longer.keys()
    here = {run.name for run in runs} & everything
    if budget is None or not budget.left_out or here == everything:
        return ""
    return FILE.said["part"].format(here=len(here), all=len(everything), left_out=budget.left_out)


def _start(results: Results, runs: Sequence[ReportedRun]) -> str:
    """That what all start from was still rising, where it was."""
    start = next((run.name for run in runs if not run.epochs), "")
    gained = results.gained.get(start, {}).get(QUALITY)
    if gained is None or gained.points < RISING:
        return ""
    return FILE.said["start"].format(gained=f"{gained.points:.1f}") + " "


def _of_people(results: Results, cells: Sequence[Line]) -> str:
    """That the judge finds images less often by people's captions than by cross-entropy's, where it does."""
    found = {cell.run: cell for cell in cells if cell.column == DISTINCT and cell.ours.value is not None}
    people = found.get(HUMAN)
    likelihood = [cell for cell in found.values() if cell.objective == overview.CROSS_ENTROPY]
    if people is None or not likelihood or _value(people) >= _value(likelihood[-1]):
        return ""
    numbers = {"people": people.number(people.ours.value), "ours": likelihood[-1].number(likelihood[-1].ours.value)}
    return FILE.said["people"].format(**{name: f"{float(number):.1f}" for name, number in numbers.items()}) + " "


def _value(cell: Line) -> float:
    return cell.ours.value or 0.0


def _beside_as_diverse(results: Results, blocks: Mapping[str, Sequence[ReportedRun]]) -> Iterator[Line]:
    """The columns of `AS_DIVERSE`: a line for each objective, and one of 0 for cross-entropy itself."""
    units = results.kind(results.config.pictures).units
    for column, of in AS_DIVERSE.items():
        measure = COLUMNS[of]
        found = {run.name: over_cross_entropy(results, run.name, measure) for runs in blocks.values() for run in runs}
        base = next((name for name in found if name in FILE.temperatures), "")
        told = {name: gain for name, gain in found.items() if isinstance(gain, Contrast) and name != base}
        p_values = [float(gain.spread.p_value(gain.value)) for gain in told.values()]
        apart = [name for name, q in zip(told, q_values(p_values), strict=True) if q < SIGNIFICANCE]
        for paper, runs in blocks.items() if told else ():
            for run in runs:
                ahead = [base] if run.name in apart and told[run.name].value > 0 else []
                ours = shown(found[run.name], units)
                if run.name == base:
                    ahead, ours = [name for name in apart if told[name].value < 0], Estimate(0.0)
                named = (paper, run.label, run.name, run.objective)
                yield _line(results, column, measure, ours, named, tuple(ahead))


def over_cross_entropy(results: Results, name: str, measure: Measure) -> Contrast | Missing:
    """How much more of a measure a run's samples have than cross-entropy's at the temperature with which these have
    its Div-2, seed by seed. Through the temperatures a monotone cubic is drawn (PCHIP): the curve is concave, so that
    straight lines would lie below it. How far test items move the difference is read off straight lines, though, whose
    error hardly depends on the items. What no temperature is as diverse as with each seed is missing."""
    runs = tuple(of for of in FILE.temperatures if of in results.by_name)
    if len(runs) < 2:
        return Missing("cross-entropy's samples were drawn at one temperature", absent=True)
    of_diversity = COLUMNS[DIVERSITY]
    names = (name, *runs)
    diversity = results.scores.samples(names, of_diversity.decoder, of_diversity.metric, of_diversity.captions)
    value = results.scores.samples(names, measure.decoder, measure.metric, measure.captions)
    if isinstance(diversity, Missing):
        return diversity
    if isinstance(value, Missing):
        return value
    seeds = common_seeds([tuple(sample.seeds.tolist()) for sample in (*diversity, *value)])
    by_seed, moved = dict[int, float](), []
    for seed in seeds:
        x, y = (np.array([sample.by_seed[sample.seeds == seed][0] for sample in of]) for of in (diversity, value))
        curve = PchipInterpolator(x[1:], y[1:], extrapolate=False)
        by_seed[seed] = float(y[0] - curve(x[0]))
        xs, ys = (
            np.stack([sample.resampled[:, sample.seeds == seed][:, 0] for sample in of], axis=1)
            for of in (diversity, value)
        )
        moved.append(_over_lines(xs, ys) - _over_lines(x[None], y[None]) + by_seed[seed])
    beyond = [str(seed) for seed, gain in by_seed.items() if np.isnan(gain)]
    if beyond or not seeds:
        return Missing(
            f"no temperature is as diverse with seed {' and '.join(beyond)}" if seeds else "no seeds in common"
        )
    items = min(int(sample.counted.any(axis=1).sum()) for sample in value)
    number = Number(float(np.mean(list(by_seed.values()))), by_seed, np.stack(moved, axis=1), items)
    return Contrast((number,), (1.0,))


def _over_lines(x: Floats, y: Floats) -> Floats:
    """y over straight lines through the others [n]: of n cases [n, 1 + points], the first column is compared."""
    lines: Floats = np.array([np.interp(at[0], at[1:], of[1:]) for at, of in zip(x, y, strict=True)])
    return y[:, 0] - lines


def _measured(results: Results, columns: Iterable[str]) -> list[str]:
    """Those of some columns that any run with a row has a number of."""
    runs = [run for run in results.trained if run.row]
    return [column for column in columns if np.isfinite(means(results, runs, COLUMNS[column])).any()]


def _lacking(columns: Iterable[str], measured: Sequence[str]) -> dict[str, str]:
    """What a table says of its columns of which nothing was measured."""
    lacking = [column for column in columns if column not in measured]
    return {"lacking": FILE.said["lacking"].format(columns="; ".join(lacking)) if lacking else ""}


def temperatures(results: Results) -> list[Cell] | Content:
    """Cross-entropy's samples at each temperature; and those of objectives at one more, beside cross-entropy's that are
    as diverse."""
    names = [name for name in FILE.temperatures if name in results.by_name]
    columns = (SAMPLES, DIVERSITY, RECALL_OF_SAMPLES)
    measured = _measured(results, columns)
    words = _lacking(columns, measured)
    if len(names) < 2:
        return Content([], words=words)
    data = results.stand_in(results.config.pictures)
    units = results.kind(results.config.pictures).units
    tempered = [name for name in FILE.tempered if name in results.by_name]
    cells = []
    for name in [*names, *tempered]:
        row = results.by_name[name].label
        for column in measured:
            measure = COLUMNS[column]
            direction = registry.find(measure.metric).direction
            cells.append(Cell("", row, column, direction, "", measure.of(results, name), 100, 1, data))
        for column, of in AS_DIVERSE.items() if tempered else ():
            if of not in measured:
                continue
            gain = shown(over_cross_entropy(results, name, COLUMNS[of]), units)
            ours = gain if name in tempered else Estimate(0.0)
            cells.append(Cell("", row, column, "higher", "", ours, 100, 1, data))
    return Content(cells, words=words)


def _budget(results: Results) -> str:
    """The budget of the data; of others only the minutes on the first page are known."""
    budget = _budget_of(results)
    if budget is None:
        return "that on the first page"
    longer = [results.by_name[name].label for name in budget.longer if name in results.by_name]
    more = f"; {', '.join(longer)} longer" if longer else ""
    return f"about {budget.seconds:g} seconds of one core ({budget.core}{more})"


def _of_budget(results: Results) -> dict[str, str]:
    """What is said of the budget of the data; nothing where nothing is known of it."""
    budget = _budget_of(results)
    if budget is None:
        return {"short_of": "", "rates": "", "chosen": ""}
    return {
        "short_of": f"{budget.short_of} " if budget.short_of else "",
        "rates": f", and the rates of {budget.rates}",
        "chosen": f"{budget.chosen} ",
    }


def _budget_of(results: Results) -> Budget | None:
    return FILE.budgets.get(results.dataset(results.config.pictures))


def _points(results: Results) -> str:
    """ "PSST weight 3.4; SLL-SLE alpha 0.5": the settings that were chosen among the points of papers' pages."""
    found = []
    for name, setting in FILE.points.items():
        if name in results.by_name:
            run = results.by_name[name]
            found.append(f"{run.label} {setting} {run.settings[setting]:g}")
    return "; ".join(found)


def _line(
    results: Results,
    column: str,
    measure: Measure,
    ours: Estimate,
    named: tuple[str, str, str, str],
    ahead: tuple[str, ...],
) -> Line:
    """A cell in points: all numbers but the words are x100. `named`: paper, label, run and objective."""
    paper, label, run, objective = named
    known = registry.find(measure.metric)
    scale = 1 if known.unit else 100
    data = results.stand_in(results.config.pictures)
    return Line(paper, label, column, known.direction, "", ours, scale, 5, data, run, objective, ahead)


def _ahead(results: Results, runs: Sequence[ReportedRun], measure: Measure) -> dict[str, tuple[str, ...]]:
    """Run -> those that it is shown to be better than, by the paired difference."""
    direction = registry.find(measure.metric).direction
    found: dict[str, list[str]] = {run.name: [] for run in runs}
    p_values: dict[tuple[str, str], float] = {}
    for left, right in combinations(found, 2) if direction else ():
        gain = measure.difference(results, left, right)
        if not isinstance(gain, Missing) and min(gain.seeds, default=0) >= LEAST_SEEDS:
            left_is_better = (gain.value > 0) == (direction == "higher")
            pair = (left, right) if left_is_better else (right, left)
            p_values[pair] = float(gain.spread.p_value(gain.value))
    base = next((run.name for run in reversed(runs) if run.objective == overview.CROSS_ENTROPY), "")
    for better, worse in told_apart(p_values, base):
        found[better].append(worse)
    return {name: tuple(worse) for name, worse in found.items()}


def told_apart(p_values: Mapping[tuple[str, str], float], base: str) -> list[tuple[str, str]]:
    """The pairs with q < .05. Whether a run does better than the base is one question, asked of each; which of the
    others does better than which is another. Each has its own q."""
    with_base = [pair for pair in p_values if base in pair]
    others = [pair for pair in p_values if base not in pair]
    found = []
    for family in (with_base, others):
        q = q_values(p_values[pair] for pair in family)
        found += [pair for pair, its in zip(family, q, strict=True) if its < SIGNIFICANCE]
    return found


def agreement(results: Results, yardstick: str, truth: str) -> Estimate:
    """Rank correlation over all objectives that train, of which those of one paper count as one for the interval. A
    yardstick of which less is better counts downwards."""
    measure = YARDSTICKS[yardstick]
    of_run = {run.name: paper for paper, runs in by_paper(results).items() for run in runs}
    runs = [run for run in results.trained if run.epochs]
    sign = -1 if registry.find(measure.metric).direction == "lower" else 1
    theirs, true = (means(results, runs, each) for each in (measure, COLUMNS[truth]))
    return rank_correlation(sign * theirs, true, [of_run[run.name] for run in runs])


def yardsticks(results: Results) -> Content:
    data = results.stand_in(results.config.pictures)
    measured = _measured(results, TRUTHS)
    cells = [
        Cell("", row, column, "higher", "", agreement(results, row, column), 1, 3, data)
        for row in YARDSTICKS
        for column in measured
    ]
    return Content(cells, words=_lacking(TRUTHS, measured))


def along_budget(results: Results) -> list[Cell]:
    """Each run's steps, and where its greedy captions of val are at some shares of them."""
    curves = results.curves
    measured = {quantity: name for quantity, name in _CURVES.items() if (curves["quantity"] == quantity).any()}
    data = f"{results.dataset(results.config.pictures)}, val split"
    cells = []
    for paper, runs in by_paper(results).items():
        for run in runs:
            steps = results.steps.get(run.name)
            if steps is None:
                continue
            n = f"{len(run.seeds)} seeds"
            cells.append(Cell(paper, run.label, "steps", "", "", Estimate(steps, n=n), 1, 1, data))
            shares = [1.0] if run.keeps_last else kept(results.decisive(run.name)).values()
            first = Estimate(min(shares, default=None), n=n)
            cells.append(Cell(paper, run.label, "first kept", "", "", first, 1, 3, data))
            for quantity, name in measured.items():
                mine = curves[(curves["run"] == run.name) & (curves["quantity"] == quantity)]
                line = mine.groupby("step")["value"].mean()
                for share in _SHARES:
                    # Between the ends of two epochs a straight line.
                    value = float(np.interp(share * steps, line.index, line)) if len(line) else None
                    level = Estimate(value, n=n)
                    cells.append(Cell(paper, run.label, f"{name} at {share:g}", "higher", "", level, 100, 2, data))
    return cells


TABLES = {
    "across": objectives,
    "across_temperatures": temperatures,
    "across_budget": along_budget,
    "across_yardsticks": yardsticks,
}
