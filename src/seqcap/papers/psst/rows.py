"""The methods behind the rows of PSST's tables, and the measure of each column."""

from collections.abc import Mapping

from seqcap.papers.psst.methods import PLACES, curve, methods
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.paper import Paper, Rows
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import nearest

# Rows of people's captions in Table 3, and of people in Table 5.
PEOPLE_OURS, PEOPLE_THEIRS, PEOPLE = ("PSST Multinomial listener, GT captions", "Listener trained on GT", "Human")
# Names in the scores: people's captions found by `listener`, which all runs start from, and by a run's own listener.
GROUND_TRUTH, HEARD_BY = (f"{HUMAN}:listener", f"{HUMAN}:{{run}}")

LANGUAGE = {metric: Measure("greedy", metric) for metric in ("CIDEr", "BLEU4", "METEOR", "ROUGE_L", "SPICE")}
RECALL = {f"R@{k}": Measure("greedy", f"own_R@{k}") for k in (1, 5, 10)}
COLUMNS: Mapping[str, Mapping[str, Measure]] = {
    "table1": LANGUAGE,
    "table2": RECALL,
    "table3": RECALL,
    "table4": LANGUAGE,
}


def heard(measure: Measure) -> Measure:
    return Measure("sample", measure.metric, "every")


def method_of(paper: Paper, row: str) -> str:
    """The method that makes a row of any table."""
    return next(name for name, method in methods(paper).items() if row in (method.label, *method.rows))


def row_of(paper: Paper, method: str, table: str) -> str:
    """The row of a table that a method makes."""
    known = methods(paper)[method]
    return next(row for row in paper.published.rows(table) if row in (known.label, *known.rows))


def rows(run: Run) -> dict[str, Rows]:
    """Published table -> row -> (run, decoder): a method's run nearest to the operating point. People have no row."""
    made: dict[str, Rows] = {}
    for table in ("table1", "table2", "table3", "table4", "table5"):
        place = PLACES["accuracy" if table == "table5" else table]
        point, found = place.point(run), {}
        for row in run.paper.published.rows(table):
            if row not in (PEOPLE_OURS, PEOPLE_THEIRS, PEOPLE):
                line = curve(run, method_of(run.paper, row), place.task)
                found[row] = (nearest(run, line, point) or line.label, "greedy")
        made[table] = found
    return made
