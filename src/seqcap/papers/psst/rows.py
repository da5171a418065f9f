"""Which methods make the rows of PSST's tables, and which metric each column."""

from __future__ import annotations

from collections.abc import Mapping

from seqcap.papers import Rows
from seqcap.papers.psst.methods import FEEDBACK, G_GAN, LUO, OTHER_RHO, PSST, PSST_GUMBEL, SR_PL, ST, ST_GUMBEL, curve
from seqcap.papers.psst.points import PLACES
from seqcap.report import published
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import nearest

# Rows whose label is not the method's.
_METHODS = {
    "G-GAN (CIDEr=0.795)": G_GAN,
    "SR-PL (CIDEr=1.17)": SR_PL,
    "ST-Gumbel SM": ST_GUMBEL,
    "Luo 2018": LUO,
}
# Rows of people's captions in Table 3, and of people in Table 5.
PEOPLE_OURS, PEOPLE_THEIRS, PEOPLE = ("PSST Multinomial listener, GT captions", "Listener trained on GT", "Human")
# In the scores: people's captions found by retriever `listener`, which all runs start from, and by a run's listener.
GROUND_TRUTH, HEARD_BY = (f"{HUMAN}:listener", f"{HUMAN}:{{run}}")
# Rows that the paper does not print -> the printed row that each of them follows.
OURS = {
    f"{PSST}, rho {OTHER_RHO}": PSST,
    f"{PSST_GUMBEL}, rho {OTHER_RHO}": PSST_GUMBEL,
    f"{ST}{FEEDBACK}": ST,
    f"{ST_GUMBEL}{FEEDBACK}": ST_GUMBEL,
}

LANGUAGE = {metric: Measure("greedy", metric) for metric in ("CIDEr", "BLEU4", "METEOR", "ROUGE_L", "SPICE")}
RECALL = {f"R@{k}": Measure("greedy", f"own_R@{k}") for k in (1, 5, 10)}
COLUMNS: Mapping[str, Mapping[str, Measure]] = {
    "table1": LANGUAGE,
    "table2": RECALL,
    "table3": RECALL,
    "table4": LANGUAGE,
}


def heard(measure: Measure) -> Measure:
    """The same measure of all captions that people wrote."""
    return Measure("sample", measure.metric, "every")


def method_of(row: str) -> str:
    """The method that makes a row of any table."""
    return _METHODS.get(row, row)


def row_of(method: str, table: str) -> str:
    """The row of a table that a method makes.

    Raises:
        StopIteration: it makes none.
    """
    return next(row for row in map(str, published.published_table("psst", table)["row"]) if method_of(row) == method)


def rows(run: Run) -> dict[str, Rows]:
    """Published table -> row -> (run, decoder): of a method's runs that which is nearest to the operating point. Rows
    of people's captions have none."""
    made: dict[str, Rows] = {}
    for table in ("table1", "table2", "table3", "table4", "table5"):
        place = PLACES["accuracy" if table == "table5" else table]
        point, found = place.point(run), {}
        for row in dict.fromkeys(published.published_table("psst", table)["row"]):
            if row not in (PEOPLE_OURS, PEOPLE_THEIRS, PEOPLE):
                line = curve(run, method_of(row), place.task)
                found[row] = (nearest(run, line, point) or method_of(row), "greedy")
        made[table] = found
    return made
