"""PSST's methods, each a curve of runs that differ in the weight w, and the points where they are compared."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from seqcap.config import Frozen
from seqcap.errors import InputError
from seqcap.report.inputs import Results
from seqcap.report.paper import read_yaml
from seqcap.report.reported import ReportedRun
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import Curve, OperatingPoint, choose, nearest

IMAGE, SECOND = "image", "image2"

# The paper's method, the one that it is compared with most, and the paper's with the other rho that it may mean.
PSST, ST, PSST_75 = "multinomial", "st", "multinomial_75"
RHO = 0.25  # the rho of the printed rows
# Suffixes of labels where a straight-through method has other feedback than in print.
FEEDBACK, NO_FEEDBACK = (", gradient through feedback", ", no gradient through feedback")

STRAIGHT_THROUGH = "straight_through"
DISTRIBUTIONS = {"multinomial": "Multinomial", "gumbel": "Gumbel Softmax"}
# Words of a batch of 128 captions, of COCO: the released code divides one of its two terms by their number.
_TOKENS = 1340


class Method(Frozen):
    """A method, as methods.yaml explains it."""

    label: str
    runs: tuple[str, ...]
    rows: tuple[str, ...] = ()
    like: str = ""
    instead: str = ""
    line: Literal["", "-", "--", ":"] = ""


class Place(Frozen):
    """Where the paper compares methods, as methods.yaml explains it."""

    name: str
    metric: str
    printed: float
    scale: float
    others: tuple[str, ...] = ()
    task: str = IMAGE
    share: float = 0.5

    def point(self, results: Results) -> OperatingPoint | None:
        main = curve(results, PSST, self.task)
        if self.others:
            others = [line for method, line in curves(results, self.task).items() if method in self.others]
        else:
            others = [line for rhos in by_rho(results).values() for line in rhos.values() if line != main]
        return choose(results, main, others, Measure("greedy", self.metric), self.printed, self.scale, self.share)

    def at(self, results: Results, method: str) -> str:
        """The run of a method that is nearest to the point; "" if there is none."""
        return nearest(results, curve(results, method, self.task), self.point(results)) or ""

    def words(self, results: Results) -> str:
        point = self.point(results)
        if point is None:
            return "There is no operating point: no method has two runs."
        if point.is_printed:
            return f"The operating point is the paper's, {point.words()}."
        theirs = point.words(self.printed / self.scale)
        return f"The paper's operating point is {theirs}. Ours is {point.words()}, by the rule of the operating points."


class MethodsFile(Frozen):
    """methods.yaml."""

    methods: Mapping[str, Method]
    places: Mapping[str, Place]
    rule: str


_FILE: MethodsFile = read_yaml(Path(__file__).parent / "methods.yaml", MethodsFile)
METHODS, PLACES, RULE = _FILE.methods, _FILE.places, _FILE.rule


def curves(results: Results, task: str = IMAGE) -> dict[str, Curve]:
    """Method -> curve of a task, those of the paper first; a method without runs is not among them. A run of no method
    is a curve of its own. Two runs of a method and weight are an InputError."""
    by_name = {name: method for method, facts in METHODS.items() for name in facts.runs}
    found: dict[str, dict[float | None, ReportedRun]] = {}
    for run in results.trained:
        if run.task == task:
            method = by_name.get(re.sub(r"_w\d+$", "", run.name), run.name)
            weight = weight_of(results, run)
            other = found.setdefault(method, {}).setdefault(weight, run)
            if other is not run:
                problem = f"runs {other.name} and {run.name} are both of method {method} with weight {weight}"
                fix = "the report cannot tell them apart: remove one"
                raise InputError(f"papers/{results.paper.name}.yaml", problem, fix)
    for method, facts in METHODS.items():
        if method in found and facts.instead and facts.instead not in found:
            found[facts.instead] = found.pop(method)
    made = {}
    for method in [*(name for name in METHODS if name in found), *sorted(set(found) - set(METHODS))]:
        line = sorted(found[method].items(), key=lambda pair: pair[0] or 0.0)
        label = METHODS[method].label if method in METHODS else line[0][1].label
        made[method] = Curve(label, tuple(run.name for _, run in line), tuple(weight for weight, _ in line))
    return made


def curve(results: Results, method: str, task: str = IMAGE) -> Curve:
    return curves(results, task).get(method, Curve(METHODS[method].label))


def by_rho(results: Results) -> dict[str, dict[float, Curve]]:
    """ "Multinomial" or "Gumbel Softmax" -> rho -> curve, for Figure 3f. All have their gradient through feedback; only
    where there is no such run, rho 0 is the straight-through of Table 2."""
    found: dict[str, dict[float, Curve]] = {name: {} for name in DISTRIBUTIONS.values()}
    for line in curves(results).values():
        run = results.by_name[line.runs[0]]
        if run.objective != STRAIGHT_THROUGH or run.settings["anneal_rate"]:
            continue
        rho, rhos = float(run.settings["rho"]), found[DISTRIBUTIONS[run.settings["distribution"]]]
        if run.settings["feedback_grad"] or (rho == 0 and rho not in rhos):
            rhos[rho] = line
    return {name: dict(sorted(rhos.items())) for name, rhos in found.items()}


def weight_of(results: Results, run: ReportedRun) -> float | None:
    """The w of a run, of a frozen speaker the w that its speaker was trained with; None where it has none."""
    speaker = next((other for other in results.trained if other.weights == run.start), None)
    weighed = speaker if run.objective == "frozen_speaker" else run
    return None if weighed is None or "weight" not in weighed.settings else float(weighed.settings["weight"])


def printed_lambda(results: Results, name: str) -> float | None:
    """The lambda that the paper would print for a run's w; None where it has none."""
    run = results.by_name[name]
    weight = weight_of(results, run)
    return None if weight is None else weight / (weight + (_TOKENS if run.objective == STRAIGHT_THROUGH else 1))
