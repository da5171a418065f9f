"""`seqcap verify`: whether today's code still trains what was published. It trains one seed of a run anew, beside the
checkout's results, and compares its learning curves with the committed ones."""

import csv
import io
from collections import defaultdict
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

import pyarrow as pa
from scipy import stats

from seqcap.errors import InputError
from seqcap.files.schemas import CURVES
from seqcap.pipeline.graph import graph_file
from seqcap.pipeline.params import Params, read_params
from seqcap.pipeline.project import Project
from seqcap.pipeline.repro import absent_makers, check_checkout, repro
from seqcap.report import REPORTS
from seqcap.report.curves import HEADER, lines_of
from seqcap.report.summary import Summary
from seqcap.system.hardware import this_machine
from seqcap.system.scratch import alone, checkpoints, forget
from seqcap.tools.show import find_run
from seqcap.training.captioners import train_all
from seqcap.training.run import TrainConfig

Curve = dict[int, float]  # step -> value
Curves = dict[str, Curve]  # quantity -> its curve

# The last training loss is of a batch, which differs from seed to seed; a validation score is of all images.
VALIDATED = "val_"
CONFIDENCE = 0.95


def verify(name: str) -> tuple[list[str], bool]:
    """Trains the first seed of a run and compares it with what is committed in reports/. Lines that say what was
    compared, and whether it fits: on a processor with the same instruction set every printed digit of every curve must
    be the same; on another one the last value of each validation curve must lie in the 95% prediction interval of the
    committed seeds. InputError if the run takes no step, or nothing that can be compared is committed."""
    check_checkout(Path())
    params = read_params()
    run = find_run(params, name)
    folder = REPORTS / params.paper(name)
    if run.training.epochs == 0:
        raise InputError(params.source(name), f"runs.{name} takes no step", "verify a run that trains")
    committed = Summary.read(folder)
    published = curves_by_seed(committed.curves, name)
    if params.shared.seed not in published:
        fix = "run the paper with `seqcap repro`, and commit its results"
        raise InputError(folder, f"has no curve of {name} with seed {params.shared.seed}", fix)
    ours = train_first_seed(params, name)
    theirs = published[params.shared.seed]
    if steps(ours) != steps(theirs):
        fix = "they cannot be compared: run the paper with `seqcap repro`"
        raise InputError(folder, f"has curves of {name} at other steps than today's parameters give", fix)
    here, there = this_machine()["instructions"], committed.provenance["instructions"]
    heading = f"{name}, seed {params.shared.seed}: {committed.provenance['commit']} on {there}, today's code on {here}"
    if here == there:
        lines, fits = same_digits(ours, theirs)
    else:
        lines, fits = among_seeds(ours, list(published.values()))
    return [heading, *lines], fits


def train_first_seed(params: Params, name: str) -> Curves:
    """Trains a run's first seed in scratch/, where a killed one resumes. What it reads is made where it is absent, and
    used as it is where it is there, so that one run is verified and not the graph."""
    group, stage = params.runs[name].group, f"verify-{name}"
    absent = absent_makers(Path(), f"{graph_file(params.paper(name))}:train-{group}")
    if absent:
        repro(Path(), None, absent)
    config = Project(params).configs("train", TrainConfig)[group]
    (run,) = (run for run in config.runs if run.name == name)
    seed = run.seeds[0]
    run = run.model_copy(update={"seeds": (seed,), "weights": str(checkpoints(stage) / "weights")})
    with alone(stage):
        ((result,),) = train_all([run], config.code, checkpoints(stage))
    forget(Path(), stage)
    curves = pa.Table.from_pylist(result.curves, CURVES)
    return curves_by_seed("\n".join([HEADER, *lines_of(run.paper, curves)]), name)[seed]


def curves_by_seed(text: str, name: str) -> dict[int, Curves]:
    """Seed -> a run's curves, of the text of curves.csv."""
    found: dict[int, Curves] = defaultdict(lambda: defaultdict(dict))
    for row in csv.DictReader(io.StringIO(text)):
        if row["run"] == name:
            found[int(row["seed"])][row["quantity"]][int(row["step"])] = float(row["value"])
    return found


def steps(curves: Curves) -> dict[str, list[int]]:
    return {quantity: sorted(curve) for quantity, curve in curves.items()}


def same_digits(ours: Curves, theirs: Curves) -> tuple[list[str], bool]:
    """Whether all values are the same, as they are printed; where they are not, the first that differs."""
    lines = []
    for quantity, curve in theirs.items():
        other = [step for step in sorted(curve) if ours[quantity][step] != curve[step]]
        if other:
            first = other[0]
            values = f"{ours[quantity][first]:.4g}, committed {curve[first]:.4g}"
            lines.append(f"{quantity}: differs at {len(other)} of {len(curve)} points, first at step {first}: {values}")
        else:
            lines.append(f"{quantity}: the same digits at {len(curve)} points")
    return lines, ours == theirs


def among_seeds(ours: Curves, seeds: list[Curves]) -> tuple[list[str], bool]:
    """Whether the last value of each validation curve lies where a further seed's would, by a t interval."""
    if len(seeds) < 2:
        return ["one seed is committed, of another instruction set: nothing says how far a further one may be"], False
    lines, fits = [], True
    for quantity in sorted(ours):
        if not quantity.startswith(VALIDATED):
            continue
        last = max(ours[quantity])
        values = [curves[quantity][last] for curves in seeds]
        half = stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * stdev(values) * sqrt(1 + 1 / len(values))
        low, high = fmean(values) - half, fmean(values) + half
        inside = low <= ours[quantity][last] <= high
        fits &= inside
        where = "within" if inside else "OUTSIDE"
        among = f"[{low:.4g}, {high:.4g}] of a further seed beside {len(values)} committed ones"
        lines.append(f"{quantity}: {ours[quantity][last]:.4g} at step {last}, {where} {among}")
    return lines, fits
