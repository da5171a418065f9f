"""The methods behind the rows of PSST's tables, and the measure of each column."""

from seqcap.papers.psst.methods import METHODS, PLACES, PSST, curve
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.paper import Paper, Rows
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import FixedNumber, Reading

# Rows of people's captions in Table 3, and of people in Table 5.
PEOPLE_OURS, PEOPLE_THEIRS, PEOPLE = ("PSST Multinomial listener, GT captions", "Listener trained on GT", "Human")
OF_PEOPLE = (PEOPLE_OURS, PEOPLE_THEIRS, PEOPLE)
# Names in the scores: people's captions found by `listener`, which all runs start from, and by a run's own listener.
GROUND_TRUTH, HEARD_BY = (f"{HUMAN}:listener", f"{HUMAN}:{{run}}")

LANGUAGE = {metric: Measure("greedy", metric) for metric in ("CIDEr", "BLEU4", "METEOR", "ROUGE_L", "SPICE")}
RECALL = {f"R@{k}": Measure("greedy", f"own_R@{k}") for k in (1, 5, 10)}
ENGLISH = "better_english"
_RATED = {"Accuracy": "fixed_choice", "Naturalness_vs_ST_Multinomial": ENGLISH}
# Of all tables.
COLUMNS = LANGUAGE | RECALL | {name: Measure("greedy", metric) for name, metric in _RATED.items()}


def heard(measure: Measure) -> Measure:
    return Measure("sample", measure.metric, "every")


def method_of(row: str) -> str:
    """The method that makes a row of any table."""
    return next(name for name, method in METHODS.items() if row in (method.label, *method.rows))


def row_of(paper: Paper, method: str, table: str) -> str:
    """The row of a table that a method makes; a row's own name is itself."""
    names = (METHODS[method].label, *METHODS[method].rows) if method in METHODS else (method,)
    return next(row for row in paper.published.rows(table) if row in names)


def side_of(results: Results, table: str, row: str, measure: Measure) -> Reading | FixedNumber:
    """The source of a row's number in a table whose rows are read at an operating point."""
    point = PLACES[table].point(results)
    if row == PEOPLE_OURS and measure.metric.startswith("own_"):
        return Reading(curve(results, PSST), heard(measure), point, system=HEARD_BY)
    if row in OF_PEOPLE:
        return people(measure)
    return Reading(curve(results, method_of(row), PLACES[table].task), measure, point)


def people(measure: Measure) -> FixedNumber:
    """The same measure of people's captions, whose own listeners are those that runs start from."""
    return FixedNumber(GROUND_TRUTH if measure.metric.startswith("own_") else HUMAN, heard(measure))


def rows(results: Results) -> dict[str, Rows]:
    """Published table -> row -> (run, decoder): a method's run nearest to the operating point. People have no row."""
    made: dict[str, Rows] = {}
    for table in ("table1", "table2", "table3", "table4", "table5"):
        methods = {row: method_of(row) for row in results.paper.published.rows(table) if row not in OF_PEOPLE}
        made[table] = {
            row: (PLACES[table].at(results, method) or METHODS[method].label, "greedy")
            for row, method in methods.items()
        }
    return made
