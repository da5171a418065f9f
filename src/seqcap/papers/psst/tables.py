"""PSST's tables and Figure 3f's numbers, recall three ways, retrievers, every run and operating points."""

from collections.abc import Mapping
from dataclasses import replace

from seqcap.metrics import registry
from seqcap.papers.psst.methods import IMAGE, PLACES, PSST, SECOND, by_rho, curve, curves, methods, printed_lambda
from seqcap.papers.psst.raters import CHOICE, ENGLISH, accuracy, better_english
from seqcap.papers.psst.rows import (
    COLUMNS,
    GROUND_TRUTH,
    HEARD_BY,
    LANGUAGE,
    PEOPLE,
    PEOPLE_OURS,
    PEOPLE_THEIRS,
    RECALL,
    heard,
    method_of,
    row_of,
)
from seqcap.report.claims import Side
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.tables import HUMAN_LABEL, Cell, Estimate, Made, Make, Measure, records_beside
from seqcap.report.tradeoff import Reading, Score, difference, level, shown


def at_point(table: str) -> Make:
    return lambda run: Made(_at_point(run, table), words={"place": PLACES[table].words(run)})


def footnote(run: Run) -> list[Cell]:
    cells = []
    for printed in run.paper.published.records("table1_footnote"):
        line = curve(run, method_of(run.paper, printed["row"]))
        found = {name: value for name in line.runs if (value := level(run, name, RECALL["R@5"])) is not None}
        if found:
            ours = RECALL["R@5"].of(run, max(found, key=found.__getitem__))
            ours = replace(ours, remarks=(*ours.remarks, f"the largest of {len(found)} runs"))
        else:
            ours = Estimate(None, remarks=(f"{line.label} is not part of this run",), absent=True)
        cells.append(Cell.beside(printed, RECALL["R@5"].metric, ours, run.stand_in(IMAGE)))
    return cells


def table5(run: Run) -> Made:
    cells, note = [], "by automatic raters, not people"
    for printed in run.paper.published.records("table5"):
        row = printed["row"]
        if printed["column"] == "Accuracy":
            metric, ours = CHOICE.metric, shown(accuracy(run, row).drawn(run), _units(run, IMAGE), note)
        elif row == PEOPLE:
            metric, ours = ENGLISH, Estimate(None, remarks=("people's captions have no recall to be compared at",))
        else:
            metric, sides = ENGLISH, [side.drawn(run) for side in better_english(run, row)]
            ours = shown(difference(*sides), _units(run, IMAGE), note)
        cells.append(Cell.beside(printed, metric, ours, run.stand_in(IMAGE)))
    return Made(cells, words={place: PLACES[place].words(run) for place in ("accuracy", "naturalness")})


def figure3f(run: Run) -> Made:
    point, cells = PLACES["fig3f"].point(run), []
    for name, rhos in by_rho(run).items():
        for rho, line in rhos.items():
            sides = {column: Reading(line, measure, point) for column, measure in RECALL.items()}
            made = _own(run, name, f"rho {rho:g}", sides)
            fed = all(run.by_name[one].settings["feedback_grad"] for one in line.runs)
            cells += made if fed else [cell.remarked("the index is fed back, without gradient") for cell in made]
    return Made(cells, words={"place": PLACES["fig3f"].words(run)})


def _at_point(run: Run, table: str) -> list[Cell]:
    place, paper = PLACES[table], run.paper
    exact = place.task in run.config.tasks and run.knows_facts_of(place.task)
    beside = paper.tables[f"psst_{table}"].beside if exact else {}
    columns = {**COLUMNS[table], **{name: Measure("greedy", *of) for name, of in beside.items()}}

    def ours(row: str, measure: Measure, method: str = "") -> Estimate:
        drawn = side_of(run, table, row, measure, method).drawn(run)
        return shown(drawn, _units(run, place.task), registry.find(measure.metric).note)

    cells = []
    for printed in records_beside(run, table, beside):
        measure = columns[printed["column"]]
        value = ours(printed["row"], measure)
        cells.append(Cell.beside(printed, measure.metric, value, run.stand_in(place.task)))
    there = curves(run, place.task)
    for method, known in methods(paper).items():
        if not known.like or method not in there or table == "table3":
            continue
        like = row_of(paper, known.like, table)
        places = [n for n, cell in enumerate(cells) if cell.row == like]
        more = [
            replace(cell, row=known.label, printed="", ours=ours("", columns[cell.column], method))
            for cell in (cells[n] for n in places)
        ]
        cells[places[-1] + 1 : places[-1] + 1] = [cell.remarked("not in the paper's table") for cell in more]
    return cells


def side_of(run: Run, table: str, row: str, measure: Measure, method: str = "") -> Side:
    """The source of a row's (or a method's) number in a table whose rows are read at an operating point."""
    place = PLACES[table]
    if row in (PEOPLE_OURS, PEOPLE_THEIRS) and not measure.metric.startswith("own_"):
        return Score(HUMAN, heard(measure))
    if row == PEOPLE_THEIRS:
        return Score(GROUND_TRUTH, heard(measure))
    if row == PEOPLE_OURS:
        return Reading(curve(run, PSST), heard(measure), place.point(run), of=HEARD_BY)
    return Reading(curve(run, method or method_of(run.paper, row), place.task), measure, place.point(run))


_THREE_WAYS = {
    "R@1, own listener": Measure("greedy", "own_R@1"),
    "R@1, judge": Measure("greedy", "fixed_R@1"),
    "R@10, own listener": Measure("greedy", "own_R@10"),
    "R@10, judge": Measure("greedy", "fixed_R@10"),
}
_EXACT = {
    "R@10, literal": Measure("greedy", "literal_R@10"),
    "true of its scene, %": Measure("greedy", "true_of_own"),
    "of it alone, %": Measure("greedy", "alone"),
    "bits": Measure("greedy", "bits"),
}
_DRIFT = {"log p of a word": Measure("greedy", "xe_log_prob")}
_UNPARSED = {"unparsed statements": Measure("greedy", "unparsed")}
_GAP = "own minus judge, R@1"


def drift(run: Run) -> list[Cell]:
    """Recall by the own listener, by a fixed one, and exactly; and how far the language drifts."""
    point, exact = PLACES["table2"].point(run), run.knows_facts
    columns = _THREE_WAYS | (_EXACT if exact else {}) | _DRIFT | (_UNPARSED if exact else {})
    cells = []
    for line in curves(run).values():
        cells += _with_gap(run, line.label, {name: Reading(line, measure, point) for name, measure in columns.items()})
    return [*cells, *_with_gap(run, HUMAN_LABEL, {name: _people_score(measure) for name, measure in columns.items()})]


def _people_score(measure: Measure) -> Score:
    """The same measure of people's captions, whose own listeners are those that runs start from."""
    name = GROUND_TRUTH if measure.metric.startswith("own_") else HUMAN
    return Score(name, heard(measure))


def _with_gap(run: Run, row: str, sides: Mapping[str, Reading | Score]) -> list[Cell]:
    own, judge = (sides[f"R@1, {who}"].drawn(run) for who in ("own listener", "judge"))
    gap = shown(difference(own, judge), _units(run, IMAGE))
    cell = Cell.of(run, "own_R@1", "", row, _GAP, gap, run.stand_in(IMAGE))
    return [*_own(run, "", row, sides), replace(cell, direction="")]


def retrievers(run: Run) -> list[Cell]:
    """How well people's captions are found, and by them the images."""
    cells = []
    for label, name, who in (
        ("the listeners that runs start from", GROUND_TRUTH, "own"),
        ("the judge", HUMAN, "fixed"),
    ):
        columns = {f"R@{k}": Measure("sample", f"{who}_R@{k}", "every") for k in (1, 5, 10)}
        columns["mean rank"] = Measure("sample", f"{who}_rank", "every")
        columns |= {f"R@{k} of captions": Measure("sample", f"{who}_text_R@{k}", "set") for k in (1, 5, 10)}
        cells += _own(run, "", label, {column: Score(name, measure) for column, measure in columns.items()})
    return cells


def points(run: Run) -> list[Cell]:
    columns = {registry.find(measure.metric).label: measure for measure in LANGUAGE.values()} | RECALL
    columns |= {"R@10, judge": _THREE_WAYS["R@10, judge"]}
    columns |= {"bits": _EXACT["bits"]} if run.knows_facts else {}
    cells = []
    for task in (IMAGE, SECOND):
        for line in curves(run, task).values():
            block = line.label if task == IMAGE else f"{line.label}, second domain"
            for name, weight in zip(line.runs, line.weights, strict=True):
                row = "–" if weight is None else f"w {weight:g}, lambda {printed_lambda(run, name):.2g}"
                for column, measure in columns.items():
                    ours = measure.of(run, name)
                    cells.append(Cell.of(run, measure.metric, block, row, column, ours, run.stand_in(task)))
    return cells


def operating(run: Run) -> list[Cell]:
    cells = []
    for place in PLACES.values():
        point, known = place.point(run), registry.find(place.metric)
        value = None if point is None else point.value
        remarks = ("the paper's",) if point is not None and point.is_printed else (place.rule,)
        row, ours = f"{place.name}: {known.label}", Estimate(value, remarks=remarks)
        decimals, data = 4 if place.scale == 1 else 2, run.stand_in(place.task)
        cells.append(Cell("", row, "where", "", f"{place.printed:g}", ours, place.scale, decimals, data))
    return cells


def _own(run: Run, block: str, row: str, sides: Mapping[str, Reading | Score]) -> list[Cell]:
    cells = []
    for column, side in sides.items():
        metric = side.measure.metric
        ours = shown(side.drawn(run), _units(run, IMAGE), registry.find(metric).note)
        cells.append(Cell.of(run, metric, block, row, column, ours, run.stand_in(IMAGE)))
    return cells


def _units(run: Run, task: str) -> str:
    return run.kind(task).units if task in run.config.tasks else "items"


TABLES = {
    "psst_table1": at_point("table1"),
    "psst_table1_footnote": footnote,
    "psst_table2": at_point("table2"),
    "psst_table3": at_point("table3"),
    "psst_table4": at_point("table4"),
    "psst_table5": table5,
    "psst_fig3f": figure3f,
    "psst_operating": operating,
    "psst_drift": drift,
    "psst_retrievers": retrievers,
    "psst_points": points,
}
