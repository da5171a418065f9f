"""Learning curves as CSV, for `dvc plots`."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import fmean

import pyarrow as pa

from seqcap.files import parquet, schemas

HEADER = "paper,run,seed,step,quantity,value"
# Longer curves are so many means: hundreds of runs would make a file of many megabytes. Those of val, by which settings
# are chosen and weights are kept, are whole.
POINTS = 20
_OF_VAL = "val_"


def curve_lines(paper: str, files: Iterable[Path]) -> list[str]:
    """The lines below `HEADER` of every learning curve in some files of `schemas.CURVES`."""
    return lines_of(paper, pa.concat_tables([parquet.read_table(file, schemas.CURVES) for file in files]))


def lines_of(paper: str, curves: pa.Table) -> list[str]:
    """The lines below `HEADER` of learning curves, a table of `schemas.CURVES`."""
    order = ["run", "quantity", "seed", "step"]
    rows = curves.sort_by([(column, "ascending") for column in order]).to_pylist()
    lines = []
    for (run, quantity, seed), curve in groupby(rows, key=itemgetter(*order[:3])):
        # What others continue from is there once more with each of these.
        points = list({row["step"]: row["value"] for row in curve}.items())
        if not quantity.startswith(_OF_VAL):
            points = thinned(points)
        lines += [f"{paper},{run},{seed},{step},{quantity},{value:.4g}" for step, value in points]
    return lines


def thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """At most `POINTS` points: of consecutive ones the last step and the mean value."""
    size = -(-len(points) // POINTS)
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    return [(part[-1][0], fmean(value for _, value in part)) for part in parts]
