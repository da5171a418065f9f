"""PSST's tables and Figure 3f's numbers, recall three ways, retrievers, every run and operating points."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from seqcap.metrics import registry
from seqcap.papers.psst.listeners import ended, why_untestable
from seqcap.papers.psst.methods import IMAGE, METHODS, PLACES, SECOND, STRAIGHT, by_rho, curve, curves, printed_lambda
from seqcap.papers.psst.raters import better_english
from seqcap.papers.psst.rows import COLUMNS, ENGLISH, PEOPLE, RECALL, method_of, people, side_of
from seqcap.report.inputs import Results
from seqcap.report.statistics import Contrast, Missing, Number, difference
from seqcap.report.tables import Cell, Content, Estimate, Measure, columns_beside, people_label, records_beside, shown
from seqcap.report.tradeoff import FixedNumber, Reading, level, nearest

_GAP = "own minus judge, R@1"


def at_point(results: Results, table: str) -> Content:
    place = PLACES[table]
    exact = place.task in results.config.tasks and results.knows_facts_of(place.task)
    beside = results.paper.tables[f"psst_{table}"].beside if exact else {}
    columns = {**COLUMNS, **{name: Measure("greedy", *source) for name, source in beside.items()}}

    of_run = ended(results)

    def ours(row: str, measure: Measure) -> Estimate:
        side = side_of(results, table, row, measure)
        made = shown(side.number(results), _units(results, place.task), registry.find(measure.metric).note)
        if made.value is None and isinstance(side, Reading):
            made = _elsewhere(results, side) or made
        dead = why_untestable(results, side, of_run)
        return replace(made, remarks=(*made.remarks, dead)) if dead else made

    cells = []
    for printed in records_beside(results, table, beside):
        measure = columns[printed["column"]]
        cells.append(Cell.beside(printed, measure.metric, ours(printed["row"], measure), results.stand_in(place.task)))
    there = curves(results, place.task)
    for method, known in METHODS.items():
        if known.like and method in there and table != "table3":
            names = (METHODS[known.like].label, *METHODS[known.like].rows)
            places = [n for n, cell in enumerate(cells) if cell.row in names]
            if not places:
                continue
            more = [
                replace(cell, row=known.label, printed="", ours=ours(known.label, columns[cell.column]))
                for cell in (cells[n] for n in places)
            ]
            cells[places[-1] + 1 : places[-1] + 1] = [cell.remarked("not in the paper's table") for cell in more]
    return Content(cells, words={"place": place.words(results)})


def _elsewhere(results: Results, side: Reading) -> Estimate | None:
    """A method's measure where its curve does not get to the operating point: that of its run nearest to it, which no
    claim compares. None without such a run."""
    name, point = nearest(results, side.curve, side.point), side.point
    if name is None or point is None or side.system != "{run}":
        return None
    theirs = level(results, name, point.measure)
    assert theirs is not None  # `nearest` has read it
    why = point.refused or f"{side.curve.label} does not reach {point.words()}"
    own = f"the number is of {results.by_name[name].label}, at its own {point.words(theirs)}"
    made = side.measure.of(results, name)
    # Without an interval it is not taken for one of the others.
    return replace(made, low=None, high=None, remarks=(*made.remarks, f"{why}: {own}, and compares with no other row"))


def footnote(results: Results) -> list[Cell]:
    cells, measure = [], RECALL["R@5"]
    for printed in results.paper.published.records("table1_footnote"):
        line = curve(results, method_of(printed["row"]))
        found = {name: value for name in line.runs if (value := level(results, name, measure)) is not None}
        ours = Estimate(None, remarks=(f"{line.label} is not part of this run",), absent=True)
        if found:
            ours = measure.of(results, max(found, key=found.__getitem__))
            ours = replace(ours, remarks=(*ours.remarks, f"the largest of {len(found)} runs"))
        cells.append(Cell.beside(printed, measure.metric, ours, results.stand_in(IMAGE)))
    return cells


def table5(results: Results) -> Content:
    cells = []
    for printed in results.paper.published.records("table5"):
        row, measure = printed["row"], COLUMNS[printed["column"]]
        found: Number | Contrast | Missing
        if measure.metric != ENGLISH:
            found = side_of(results, "table5", row, measure).number(results)
        elif row == PEOPLE:
            found = Missing("people's captions have no recall to be compared at")
        else:
            liked, other = better_english(results, row)
            found = difference(liked.number(results), other.number(results))
        ours = shown(found, _units(results, IMAGE), "by automatic raters, not people")
        cells.append(Cell.beside(printed, measure.metric, ours, results.stand_in(IMAGE)))
    return Content(cells, words={place: PLACES[place].words(results) for place in ("table5", "naturalness")})


def figure3f(results: Results) -> Content:
    place, cells = PLACES["fig3f"], []
    for name, rhos in by_rho(results).items():
        for rho, line in rhos.items():
            sides = {column: Reading(line, measure, place.point(results)) for column, measure in RECALL.items()}
            made = _own(results, name, f"rho {rho:g}", sides)
            cells += made
        st = curve(results, STRAIGHT[name])
        if st.runs:
            sides = {column: Reading(st, measure, place.point(results)) for column, measure in RECALL.items()}
            cells += _own(results, name, "rho 0, the index is fed back without gradient", sides)
    return Content(cells, words={"place": place.words(results)})


def drift(results: Results) -> list[Cell]:
    """Recall by the own listener, by a fixed one, and exactly; and how far the language drifts."""
    point, columns = PLACES["table2"].point(results), columns_beside(results, "psst_drift", "greedy")
    sources: dict[str, Callable[[Measure], Reading | FixedNumber]] = {
        line.label: partial(Reading, line, point=point) for line in curves(results).values()
    }
    cells = []
    for row, source in (sources | {people_label(results): people}).items():
        sides = {name: source(measure) for name, measure in columns.items()}
        own, judge = (sides[f"R@1, {who}"].number(results) for who in ("own listener", "judge"))
        gap = shown(difference(own, judge), _units(results, IMAGE))
        cell = Cell.of(results, "own_R@1", "", row, _GAP, gap, results.stand_in(IMAGE))
        cells += [*_own(results, "", row, sides), replace(cell, direction="")]
    return cells


def retrievers(results: Results) -> list[Cell]:
    """How well people's captions are found, and by them the images."""
    cells = []
    for label, who in (("the listeners that runs start from", "own"), ("the judge", "fixed")):
        columns = {f"R@{k}": Measure("sample", f"{who}_R@{k}", "every") for k in (1, 5, 10)}
        columns["mean rank"] = Measure("sample", f"{who}_rank", "every")
        columns |= {f"R@{k} of captions": Measure("sample", f"{who}_text_R@{k}", "set") for k in (1, 5, 10)}
        cells += _own(
            results,
            "",
            label,
            {column: FixedNumber(people(measure).name, measure) for column, measure in columns.items()},
        )
    return cells


def listeners(results: Results) -> list[Cell]:
    """How the listener of every run ends."""
    cells = []
    for name, its in ended(results).items():
        run = results.by_name[name]
        columns = {"hinge": its.hinge, "share above 0": its.share, "hinge / margin": its.times}
        remarks = ("it has not learned",) if its.dead else ()
        for column, value in columns.items():
            ours = Estimate(value, remarks=remarks, seeds=len(run.seeds))
            block = "" if run.task == IMAGE else "second domain"
            cells.append(Cell(block, run.label, column, "", "", ours, 1, 3, results.stand_in(run.task)))
    return cells


def points(results: Results) -> list[Cell]:
    columns, cells = columns_beside(results, "psst_points", "greedy"), []
    for task in (IMAGE, SECOND):
        for line in curves(results, task).values():
            block = line.label if task == IMAGE else f"{line.label}, second domain"
            for name, weight in zip(line.runs, line.weights, strict=True):
                row = "–" if weight is None else f"w {weight:g}, lambda {printed_lambda(results, name):.2g}"
                for column, measure in columns.items():
                    ours = measure.of(results, name)
                    cells.append(Cell.of(results, measure.metric, block, row, column, ours, results.stand_in(task)))
    return cells


def operating(results: Results) -> list[Cell]:
    cells = []
    for place in PLACES.values():
        point, row = place.point(results), f"{place.name}: {registry.find(place.metric).label}"
        ours = Estimate(None)
        if point:
            ours = Estimate(point.value, remarks=tuple(filter(None, (place.rule(point), point.refused))))
        decimals, data = 4 if place.scale == 1 else 2, results.stand_in(place.task)
        cells.append(Cell("", row, "where", "", f"{place.printed:g}", ours, place.scale, decimals, data))
    return cells


def _own(results: Results, block: str, row: str, sides: Mapping[str, Reading | FixedNumber]) -> list[Cell]:
    cells = []
    for column, side in sides.items():
        metric = side.measure.metric
        ours = shown(side.number(results), _units(results, IMAGE), registry.find(metric).note)
        cells.append(Cell.of(results, metric, block, row, column, ours, results.stand_in(IMAGE)))
    return cells


def _units(results: Results, task: str) -> str:
    return results.kind(task).units if task in results.config.tasks else "items"


TABLES = {
    "psst_table1": partial(at_point, table="table1"),
    "psst_table1_footnote": footnote,
    "psst_table2": partial(at_point, table="table2"),
    "psst_table3": partial(at_point, table="table3"),
    "psst_table4": partial(at_point, table="table4"),
    "psst_table5": table5,
    "psst_fig3f": figure3f,
    "psst_operating": operating,
    "psst_drift": drift,
    "psst_listeners": listeners,
    "psst_retrievers": retrievers,
    "psst_points": points,
}
