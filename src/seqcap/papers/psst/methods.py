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
NO_FEEDBACK = ", no gradient through feedback"  # of straight-through, as in the paper's rows

STRAIGHT_THROUGH = "straight_through"
# Distribution -> straight-through with it, whose index is fed back.
STRAIGHT = {"Multinomial": ST, "Gumbel Softmax": "st_gumbel"}
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
    level: str = ""  # the method whose value the point is, if not the paper's, where as many reach it as anywhere

    def point(self, results: Results) -> OperatingPoint | None:
        main, measure = curve(results, PSST, self.task), Measure("greedy", self.metric)
        if self.others:
            others = [line for method, line in curves(results, self.task).items() if method in self.others]
        else:
            others = [line for rhos in by_rho(results).values() for line in rhos.values() if line != main]
        runs = curve(results, self.level, self.task).runs if self.level else ()
        return choose(results, main, others, measure, self.printed, self.scale, of_run=runs[0] if runs else "")

    def at(self, results: Results, method: str) -> str:
        """The run of a method that is nearest to the point; "" if there is none."""
        return nearest(results, curve(results, method, self.task), self.point(results)) or ""

    def nearest_seed(self, results: Results, method: str) -> tuple[str, int, float] | None:
        """The run of a method and its training seed that are nearest to the point, and where they are."""
        point, found = self.point(results), list[tuple[str, int, float]]()
        for name in curve(results, method, self.task).runs if point else ():
            values = results.scores.by_seed(name, "greedy", self.metric)
            if values is not None:
                found += zip([name] * len(values), values.index.tolist(), values.tolist(), strict=True)
        return min(found, key=lambda place: abs(place[2] - point.value)) if found and point else None

    def words(self, results: Results) -> str:
        point = self.point(results)
        if point is None:
            return "There is no operating point: no method has two runs."
        refused = f" {point.refused}." if point.refused else ""
        if point.is_printed:
            return f"The operating point is the paper's, {point.words()}.{refused}"
        theirs, rule = point.words(self.printed / self.scale), self.rule(point)
        return f"The paper's operating point is {theirs}. Ours is {point.words()}, {rule}.{refused}"

    def rule(self, point: OperatingPoint) -> str:
        """How the point was chosen."""
        if point.is_printed:
            return "the paper's"
        if point.of_run:
            return RULES["level"].format(method=METHODS[self.level].label)
        return RULES["middle"]


class MethodsFile(Frozen):
    """methods.yaml."""

    methods: Mapping[str, Method]
    places: Mapping[str, Place]
    rules: Mapping[str, str]


_FILE: MethodsFile = read_yaml(Path(__file__).parent / "methods.yaml", MethodsFile)
METHODS, PLACES, RULES = _FILE.methods, _FILE.places, _FILE.rules


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
    """A method's curve of a task; one without runs where it is not part of the results, and says of which task."""
    where = "" if task == IMAGE else ", second domain"
    return curves(results, task).get(method, Curve(f"{METHODS[method].label}{where}"))


def by_rho(results: Results) -> dict[str, dict[float, Curve]]:
    """ "Multinomial" or "Gumbel Softmax" -> rho -> curve, for Figure 3f. All have their gradient through feedback, at
    rho 0, too: the straight-through of Table 2 is not among them."""
    found: dict[str, dict[float, Curve]] = {name: {} for name in DISTRIBUTIONS.values()}
    for line in curves(results).values():
        run = results.by_name[line.runs[0]]
        if run.objective != STRAIGHT_THROUGH or run.settings["anneal_rate"]:
            continue
        if run.settings["feedback_grad"]:
            found[DISTRIBUTIONS[run.settings["distribution"]]][float(run.settings["rho"])] = line
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
