"""Learning curves as CSV, for `dvc plots`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from seqcap import artifacts

HEADER = "paper,variant,seed,step,quantity,value"


def curve_lines(paper: str, files: Iterable[Path]) -> list[str]:
    """The lines below `HEADER` of every learning curve in some files of `artifacts.CURVES`."""
    tables = [artifacts.read_table(file, artifacts.CURVES) for file in files]
    order = ["variant", "quantity", "seed", "step"]
    rows = pa.concat_tables(tables).sort_by([(column, "ascending") for column in order]).to_pylist()
    keys = ("variant", "seed", "step", "quantity")
    return [",".join([paper, *(str(row[key]) for key in keys), f"{row['value']:.6g}"]) for row in rows]
