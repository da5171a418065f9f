"""PSST's Tables 1 to 5 and Figure 3f's numbers, and what it does not print: recall three ways with language drift, how
good the retrievers are, every run, and where methods are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from seqcap.metrics import registry
from seqcap.papers.psst.methods import IMAGE, PSST, SECOND, by_rho, curve, curves, printed_lambda
from seqcap.papers.psst.points import PLACES
from seqcap.papers.psst.raters import CHOICE, ENGLISH, accuracy, better_english
from seqcap.papers.psst.rows import (
    COLUMNS,
    GROUND_TRUTH,
    HEARD_BY,
    LANGUAGE,
    OURS,
    PEOPLE,
    PEOPLE_OURS,
    PEOPLE_THEIRS,
    RECALL,
    heard,
    method_of,
)
from seqcap.report import published
from seqcap.report.claims import Side
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.tables import HUMAN_LABEL, Cell, Estimate, Measure, Table
from seqcap.report.tradeoff import Reading, Score, difference, level, shown

_BRACKETS = "95% bootstrap interval over training seeds and test images, carried through the interpolation"
_CURVES = (
    "Between runs of neighbouring w a method's curve is straight; where it does not get to the operating point, there "
    "is no number."
)


# --- The paper's tables


def table1(run: Run) -> Table:
    """How natural captions are, at one recall."""
    reading = (
        f"Greedy captions where R@5, with the method's own listener, is the same. {PLACES['table1'].words(run)} "
        f"{_CURVES}"
    )
    return Table("PSST, Table 1: language quality at equal recall", reading, _at_point(run, "table1"), _BRACKETS)


def footnote(run: Run) -> Table:
    """The highest recall of methods whose listener does not learn."""
    reading = (
        "Methods that train the captioner alone do not get to Table 1's operating point in the paper. This is the "
        "highest R@5 that any of their runs has; the largest of several is partly so by chance."
    )
    cells = []
    for printed in published.published_table("psst", "table1_footnote").to_dict("records"):
        line = curve(run, method_of(str(printed["row"])))
        found = {name: value for name in line.runs if (value := level(run, name, RECALL["R@5"])) is not None}
        if found:
            ours = RECALL["R@5"].of(run, max(found, key=found.__getitem__))
            ours = replace(ours, remarks=(*ours.remarks, f"the largest of {len(found)} runs"))
        else:
            ours = Estimate(None, remarks=(f"{line.label} is not part of this run",), absent=True)
        record = {str(key): value for key, value in printed.items()}
        cells.append(Cell.beside(record, RECALL["R@5"].metric, ours, run.stand_in(IMAGE)))
    return Table("PSST, Table 1, footnote: the best recall without a learning listener", reading, cells)


def table2(run: Run) -> Table:
    """Recall at one CIDEr."""
    reading = (
        "Share of greedy captions, in percent, by which the method's own listener finds the picture among all of the "
        f"split, within the first K. {PLACES['table2'].words(run)} {_CURVES} A method with a single run is at a CIDEr "
        "of its own, as G-GAN and SR-PL are in print."
    )
    return Table("PSST, Table 2: recall at equal CIDEr", reading, _at_point(run, "table2"), _BRACKETS)


def table3(run: Run) -> Table:
    """Joint training against training one side alone; people's captions."""
    reading = (
        "As Table 2, at another CIDEr: methods that train the speaker (Luo), the listener (frozen speakers) or both. "
        f"{PLACES['table3'].words(run)} Below, people's captions, found by the listener that PSST trained, read at the "
        "same point, and by the listeners that all runs start from, which know people's captions alone."
    )
    return Table("PSST, Table 3: separate and joint training", reading, _at_point(run, "table3"), _BRACKETS)


def table4(run: Run) -> Table:
    """Table 1 on a second domain."""
    reading = f"As Table 1, on a second domain. {PLACES['table4'].words(run)}"
    return Table(
        "PSST, Table 4: language quality at equal recall, a second domain",
        reading,
        _at_point(run, "table4"),
        _BRACKETS,
    )


def table5(run: Run) -> Table:
    """What stands for people's judgement."""
    cells, note = [], "by automatic raters, not people"
    for printed in published.published_table("psst", "table5").to_dict("records"):
        row = str(printed["row"])
        if printed["column"] == "Accuracy":
            metric, ours = CHOICE.metric, shown(accuracy(run, row).drawn(run), _units(run, IMAGE), note)
        elif row == PEOPLE:
            metric, ours = ENGLISH, Estimate(None, remarks=("people's captions have no recall to be compared at",))
        else:
            metric, sides = ENGLISH, [side.drawn(run) for side in better_english(run, row)]
            ours = shown(difference(*sides), _units(run, IMAGE), note)
        record = {str(key): value for key, value in printed.items()}
        cells.append(Cell.beside(record, metric, ours, run.stand_in(IMAGE)))
    reading = (
        "*Paper*: people. *Ours*: automatic raters, no people. Accuracy: how often the judge, a retriever that no run "
        "has seen, prefers the caption's own picture to the one it holds for the most similar, in percent. "
        f"{PLACES['accuracy'].words(run)} Naturalness, against ST Multinomial: percent of pictures where the method's "
        "caption is better English, minus percent where ST Multinomial's is; better is the caption with fewer "
        "statements that the checker cannot read or, if both have as many, with words that are more probable under the "
        "captioner of cross-entropy. How the paper forms its percentages is not known. Of each method the run is taken "
        f"that is nearest to the operating point. {PLACES['naturalness'].words(run)}"
    )
    return Table("PSST, Table 5: accuracy and naturalness, by automatic raters", reading, cells, _BRACKETS)


def figure3f(run: Run) -> Table:
    """The numbers of Figure 3f."""
    point, cells = PLACES["fig3f"].point(run), []
    for name, rhos in by_rho(run).items():
        for rho, line in rhos.items():
            sides = {column: Reading(line, measure, point) for column, measure in RECALL.items()}
            made = _own(run, name, f"rho {rho:g}", sides)
            fed = all(run.by_name[one].settings["feedback_grad"] for one in line.runs)
            cells += made if fed else [cell.remarked("the index is fed back, without gradient") for cell in made]
    reading = (
        "Recall against rho, the probability that a step passes its distribution on instead of a drawn word. All have "
        "their gradient through what is fed back, rho 0 (straight-through) too, unless a note says otherwise. "
        f"{PLACES['fig3f'].words(run)} The paper's numbers are in its image only."
    )
    return Table("PSST, Figure 3f: recall at equal CIDEr against rho", reading, cells, _BRACKETS)


def _at_point(run: Run, table: str) -> list[Cell]:
    """The cells of a table whose rows are read at an operating point; ours follow those like them."""
    place, columns = PLACES[table], COLUMNS[table]
    cells: list[Cell] = []
    for printed in published.published_table("psst", table).to_dict("records"):
        record, measure = {str(key): value for key, value in printed.items()}, columns[str(printed["column"])]
        side = side_of(run, table, str(printed["row"]), measure)
        ours = shown(side.drawn(run), _units(run, place.task), registry.find(measure.metric).note)
        cells.append(Cell.beside(record, measure.metric, ours, run.stand_in(place.task)))
    there = curves(run, place.task)
    for row, like in OURS.items():
        places = [n for n, cell in enumerate(cells) if method_of(cell.row) == like]
        if row in there and places and table != "table3":
            more = []
            for cell in (cells[n] for n in places):
                measure = columns[cell.column]
                drawn = side_of(run, table, row, measure).drawn(run)
                ours = shown(drawn, _units(run, place.task), registry.find(measure.metric).note)
                more.append(replace(cell, row=row, printed="", ours=ours).remarked("not in the paper's table"))
            cells[places[-1] + 1 : places[-1] + 1] = more
    return cells


def side_of(run: Run, table: str, row: str, measure: Measure) -> Side:
    """What makes a row's number in a table whose rows are read at an operating point."""
    place = PLACES[table]
    if row == PEOPLE_THEIRS:
        return Score(GROUND_TRUTH, heard(measure))
    if row == PEOPLE_OURS:
        return Reading(curve(run, PSST), heard(measure), place.point(run), of=HEARD_BY)
    return Reading(curve(run, method_of(row), place.task), measure, place.point(run))


# --- What the paper does not print

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


def drift(run: Run) -> Table:
    """Recall by the own listener, by a fixed one, and exactly; and how far the language drifts."""
    point, exact = PLACES["table2"].point(run), run.knows_facts
    columns = _THREE_WAYS | (_EXACT if exact else {}) | _DRIFT | (_UNPARSED if exact else {})
    cells = []
    for label, line in curves(run).items():
        cells += _with_gap(run, label, {name: Reading(line, measure, point) for name, measure in columns.items()})
    cells += _with_gap(run, HUMAN_LABEL, {name: _of_people(measure) for name, measure in columns.items()})
    reading = (
        "Greedy captions at Table 2's operating point. The own listener may have learnt a language of its own with "
        "its speaker; the judge, a retriever that no run has seen, and the checker, who decides exactly of which "
        "scenes a caption is true, have not. The gap between them is language drift. A literal listener believes "
        "every word: it takes the scenes that a caption is true of, in any order, and finds none by a caption that "
        "says one thing wrong; the others forgive that. Bits: how much of the choice among all scenes of the split a "
        "caption settles, log2(N / scenes that it is true of), 0 if it is not true of its own. log p: mean over a "
        "caption's words under the captioner of cross-entropy, nats. Unparsed: statements that the checker cannot "
        "read. The own listener of people's captions is the one that all runs start from. No paper "
        f"reports these. {_CURVES}"
    )
    return Table("PSST: recall three ways, and language drift", reading, cells, _BRACKETS)


def _of_people(measure: Measure) -> Score:
    """The same of all captions that people wrote; the listeners that runs start from are their own."""
    name = GROUND_TRUTH if measure.metric.startswith("own_") else HUMAN
    return Score(name, heard(measure))


def _with_gap(run: Run, row: str, sides: Mapping[str, Reading | Score]) -> list[Cell]:
    """A row, and what the own listener finds more than the judge."""
    own, judge = (sides[f"R@1, {who}"].drawn(run) for who in ("own listener", "judge"))
    gap = shown(difference(own, judge), _units(run, IMAGE))
    cell = Cell.of("own_R@1", "", row, _GAP, gap, run.stand_in(IMAGE))
    return [*_own(run, "", row, sides), replace(cell, direction="")]


def retrievers(run: Run) -> Table:
    """How well people's captions are found, and by them the pictures."""
    cells = []
    for label, name, who in (
        ("the listeners that runs start from", GROUND_TRUTH, "own"),
        ("the judge", HUMAN, "fixed"),
    ):
        columns = {f"R@{k}": Measure("sample", f"{who}_R@{k}", "every") for k in (1, 5, 10)}
        columns["mean rank"] = Measure("sample", f"{who}_rank", "every")
        columns |= {f"R@{k} of captions": Measure("sample", f"{who}_text_R@{k}", "set") for k in (1, 5, 10)}
        cells += _own(run, "", label, {column: Score(name, measure) for column, measure in columns.items()})
    reading = (
        "People's captions, all of each picture: percent of them by which a retriever finds their picture among all of "
        "the split within the first K, and the picture's mean rank; and percent of pictures by which it finds one of "
        "their captions among all. The median ranks are in artifacts/retriever."
    )
    return Table("PSST: recall of the retrievers on people's captions", reading, cells)


def points(run: Run) -> Table:
    """Every run."""
    columns = {registry.find(measure.metric).label: measure for measure in LANGUAGE.values()} | RECALL
    columns |= {"R@10, judge": _THREE_WAYS["R@10, judge"]}
    columns |= {"bits": _EXACT["bits"]} if run.knows_facts else {}
    cells = []
    for task in (IMAGE, SECOND):
        for label, line in curves(run, task).items():
            block = label if task == IMAGE else f"{label}, second domain"
            for name, weight in zip(line.runs, line.weights, strict=True):
                row = "–" if weight is None else f"w {weight:g}, lambda {printed_lambda(run, name):.2g}"
                for column, measure in columns.items():
                    ours = measure.of(run, name)
                    cells.append(Cell.of(measure.metric, block, row, column, ours, run.stand_in(task)))
    reading = (
        "Greedy captions of every run: the points of the curves. w: weight of the mean hinge against CIDEr-D; lambda: "
        "what the paper would print for it, w / (w + 1,340) in the straight-through family and w / (w + 1) with the "
        "hinge as a reward."
    )
    return Table("PSST: every run", reading, cells)


def operating(run: Run) -> Table:
    """The paper's operating points and ours."""
    cells = []
    for place in PLACES.values():
        point, known = place.point(run), registry.find(place.metric)
        value = None if point is None else point.value
        remarks = ("the paper's",) if point is not None and point.is_printed else (place.rule,)
        cell = Cell.of(
            place.metric, "", place.name, "where", Estimate(value, remarks=remarks), run.stand_in(place.task)
        )
        named = replace(cell, row=f"{place.name}: {known.label}", direction="", printed=f"{place.printed:g}")
        cells.append(replace(named, scale=place.scale, decimals=4 if place.scale == 1 else 2))
    reading = (
        "Where methods are compared. The paper's value if PSST Multinomial and as many others cover it as any other; "
        "else by a rule that looks at this one metric, not at what is compared. Own listeners, greedy captions."
    )
    return Table("PSST: operating points", reading, cells)


def _own(run: Run, block: str, row: str, sides: Mapping[str, Reading | Score]) -> list[Cell]:
    """A row of our own."""
    cells = []
    for column, side in sides.items():
        metric = side.measure.metric
        ours = shown(side.drawn(run), _units(run, IMAGE), registry.find(metric).note)
        cells.append(Cell.of(metric, block, row, column, ours, run.stand_in(IMAGE)))
    return cells


def _units(run: Run, task: str) -> str:
    """What test items are called."""
    return run.kind(task).units if task in run.config.tasks else "items"


TABLES = {
    "psst_table1": table1,
    "psst_table1_footnote": footnote,
    "psst_table2": table2,
    "psst_table3": table3,
    "psst_table4": table4,
    "psst_table5": table5,
    "psst_fig3f": figure3f,
    "psst_operating": operating,
    "psst_drift": drift,
    "psst_retrievers": retrievers,
    "psst_points": points,
}
