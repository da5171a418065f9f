"""The made-up Table 1."""

from seqcap.papers.made_up.rows import ROWS

from seqcap.report.inputs import Run
from seqcap.report.tables import Table, published_cells


def table1(run: Run) -> Table:
    cells = published_cells(run, "table1", ROWS, {"CIDEr": ("CIDEr", "best")})
    return Table("Made-up, Table 1", f"The first caption of {run.a_beam()}.", cells)


TABLES = {"made_up_table1": table1}
