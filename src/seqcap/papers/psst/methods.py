"""PSST's methods, each a curve of runs that differ in the weight w."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from seqcap.config import Frozen
from seqcap.config.report import ReportedRun
from seqcap.errors import InputError
from seqcap.report.inputs import Run
from seqcap.report.paper import Paper, read_yaml
from seqcap.report.tradeoff import Curve

IMAGE, SECOND = "image", "image2"

# The paper's method, the one that it is compared with most, and the paper's with the other rho that it may mean.
PSST, ST, PSST_75 = "multinomial", "st", "multinomial_75"
# The rho of the printed rows.
RHO = 0.25
# Suffixes of labels where a straight-through method has other feedback than in print.
FEEDBACK, NO_FEEDBACK = (", gradient through feedback", ", no gradient through feedback")

STRAIGHT_THROUGH = "straight_through"
_DISTRIBUTIONS = {"multinomial": "Multinomial", "gumbel": "Gumbel Softmax"}
# Words of a batch of 128 captions, of COCO: the released code divides one of its two terms by their number.
_TOKENS = 1340


class Method(Frozen):
    """A method, as methods.yaml explains it."""

    label: str
    runs: tuple[str, ...]
    rows: tuple[str, ...] = ()
    like: str = ""
    instead: str = ""


def methods(paper: Paper) -> Mapping[str, Method]:
    return _read(paper.folder)


@cache
def _read(folder: Path) -> Mapping[str, Method]:
    found: Mapping[str, Method] = read_yaml(folder / "methods.yaml", Mapping[str, Method])
    return found


def curves(run: Run, task: str = IMAGE) -> dict[str, Curve]:
    """Method -> curve of a task, those of the paper first; a method without runs is not among them.

    A run of no method is a curve of its own, with its own label. Two runs of a method and weight are an InputError.
    """
    known = methods(run.paper)
    by_name = {name: method for method, of in known.items() for name in of.runs}
    found: dict[str, dict[float | None, ReportedRun]] = {}
    for entry in run.trained:
        if entry.task == task:
            name = re.sub(r"_w\d+$", "", entry.name)
            method, weight = by_name.get(name, entry.name), weight_of(run, entry)
            other = found.setdefault(method, {}).setdefault(weight, entry)
            if other is not entry:
                problem = f"runs {other.name} and {entry.name} are both of method {method} with weight {weight}"
                fix = "the report cannot tell them apart: remove one"
                raise InputError(f"papers/{run.paper.name}.yaml", problem, fix)
    for method, of in known.items():
        if method in found and of.instead and of.instead not in found:
            found[of.instead] = found.pop(method)
    made = {}
    for method in [*(name for name in known if name in found), *sorted(set(found) - set(known))]:
        line = sorted(found[method].items(), key=lambda pair: pair[0] or 0.0)
        label = known[method].label if method in known else line[0][1].label
        made[method] = Curve(label, tuple(entry.name for _, entry in line), tuple(weight for weight, _ in line))
    return made


def curve(run: Run, method: str, task: str = IMAGE) -> Curve:
    """The curve of a method, empty where it is not part of this run."""
    return curves(run, task).get(method, Curve(methods(run.paper)[method].label))


def by_rho(run: Run) -> dict[str, dict[float, Curve]]:
    """ "Multinomial" or "Gumbel Softmax" -> rho -> curve, for Figure 3f. All have their gradient through feedback; only
    where there is no such run, rho 0 is the straight-through of Table 2."""
    found: dict[str, dict[float, Curve]] = {name: {} for name in _DISTRIBUTIONS.values()}
    for line in curves(run).values():
        entry = run.by_name[line.runs[0]]
        if entry.objective != STRAIGHT_THROUGH or entry.settings["anneal_rate"]:
            continue
        rho, rhos = float(entry.settings["rho"]), found[_DISTRIBUTIONS[entry.settings["distribution"]]]
        if entry.settings["feedback_grad"] or (rho == 0 and rho not in rhos):
            rhos[rho] = line
    return {name: dict(sorted(rhos.items())) for name, rhos in found.items()}


def weight_of(run: Run, entry: ReportedRun) -> float | None:
    """The w of a run, of a frozen speaker the w that its speaker was trained with; None where it has none."""
    speaker = next((other for other in run.trained if other.weights == entry.start), None)
    of = speaker if entry.objective == "frozen_speaker" else entry
    return None if of is None or "weight" not in of.settings else float(of.settings["weight"])


def printed_lambda(run: Run, name: str) -> float | None:
    """The lambda that the paper would print for a run's w; None where it has none."""
    entry = run.by_name[name]
    weight = weight_of(run, entry)
    return None if weight is None else weight / (weight + (_TOKENS if entry.objective == STRAIGHT_THROUGH else 1))
