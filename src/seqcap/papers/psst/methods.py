"""PSST's methods, each a curve of runs, found by what they were trained with, whatever their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqcap.config.report import ReportedRun
from seqcap.errors import InputError
from seqcap.report.inputs import Run
from seqcap.report.tradeoff import Curve

IMAGE, SECOND = "image", "image2"

# Labels as Table 2 and Table 3 have them.
MLE, LUO, SR_PL, G_GAN, REINFORCE = ("MLE", "Luo et al. 2018", "SR-PL", "G-GAN", "REINFORCE")
FROZEN_MLE, FROZEN_LUO, ANNEALED = ("Frozen Speaker (MLE)", "Frozen Speaker (Luo)", "Gumbel Temperature Annealing")
ST, ST_GUMBEL, PSST, PSST_GUMBEL = ("ST Multinomial", "ST Gumbel Softmax", "PSST Multinomial", "PSST Gumbel Softmax")
# What follows the label of a straight-through method whose feedback is another than in print.
FEEDBACK, NO_FEEDBACK = (", gradient through feedback", ", no gradient through feedback")
# The rho of the printed rows, and the other one that the print may mean.
RHO, OTHER_RHO = 0.25, 0.75

STRAIGHT_THROUGH = "straight_through"
_FROZEN, _LUO = "frozen_speaker", "discriminability"
_OF_OBJECTIVE = {
    "cross_entropy": MLE,
    _LUO: LUO,
    "self_retrieval": SR_PL,
    "gan": G_GAN,
    "joint_reinforce": REINFORCE,
}
_OF_DISTRIBUTION = {"multinomial": "Multinomial", "gumbel": "Gumbel Softmax"}
# Methods in the order of the tables; then those of ours.
_ORDER = (MLE, G_GAN, LUO, SR_PL, FROZEN_MLE, FROZEN_LUO, REINFORCE, ANNEALED, ST_GUMBEL, ST, PSST_GUMBEL, PSST)
# Words of a batch of 128 captions, of COCO: the released code divides one of its two terms by their number.
_TOKENS = 1340


def curves(run: Run, task: str = IMAGE) -> dict[str, Curve]:
    """Label -> curve of a task, those of the paper first; a method without runs is not among them.

    Raises:
        InputError: two runs of a method have the same weight.
    """
    found: dict[str, dict[float | None, ReportedRun]] = {}
    for entry in run.trained:
        if entry.task != task:
            continue
        label, weight = _label(run, entry), weight_of(run, entry)
        other = found.setdefault(label, {}).setdefault(weight, entry)
        if other is not entry:
            problem = f"runs {other.name} and {entry.name} are both {label} with weight {weight}"
            raise InputError(f"papers/{run.paper.name}.yaml", problem, "the report cannot tell them apart: remove one")
    for label in (ST, ST_GUMBEL):
        # Where it was trained in one way alone, that way makes the paper's row.
        if label not in found and label + FEEDBACK in found:
            found[label] = found.pop(label + FEEDBACK)
    made = {}
    for label in sorted(found, key=lambda label: (_ORDER.index(label) if label in _ORDER else len(_ORDER), label)):
        line = sorted(found[label].items(), key=lambda pair: pair[0] or 0.0)
        made[label] = Curve(label, tuple(entry.name for _, entry in line), tuple(weight for weight, _ in line))
    return made


def curve(run: Run, label: str, task: str = IMAGE) -> Curve:
    """The curve of a method, empty where it is not part of this run."""
    return curves(run, task).get(label, Curve(label))


def by_rho(run: Run) -> dict[str, dict[float, Curve]]:
    """ "Multinomial" or "Gumbel Softmax" -> rho -> curve, for Figure 3f. All have their gradient through feedback; only
    where there is no such run, rho 0 is the straight-through of Table 2."""
    found: dict[str, dict[float, Curve]] = {name: {} for name in _OF_DISTRIBUTION.values()}
    for line in curves(run).values():
        entry = run.by_name[line.runs[0]]
        if entry.objective != STRAIGHT_THROUGH or entry.settings["anneal_rate"]:
            continue
        rho, rhos = float(entry.settings["rho"]), found[_OF_DISTRIBUTION[entry.settings["distribution"]]]
        if entry.settings["feedback_grad"] or (rho == 0 and rho not in rhos):
            rhos[rho] = line
    return {name: dict(sorted(rhos.items())) for name, rhos in found.items()}


def weight_of(run: Run, entry: ReportedRun) -> float | None:
    """The w of a run; that of a frozen speaker is the w which its speaker was trained with. None: it has none."""
    of = _speaker(run, entry) if entry.objective == _FROZEN else entry
    return None if of is None or "weight" not in of.settings else float(of.settings["weight"])


def printed_lambda(run: Run, name: str) -> float | None:
    """The lambda that the paper would print for a run's w; None where it has none."""
    entry = run.by_name[name]
    weight = weight_of(run, entry)
    return None if weight is None else weight / (weight + (_TOKENS if entry.objective == STRAIGHT_THROUGH else 1))


def _speaker(run: Run, entry: ReportedRun) -> ReportedRun | None:
    """The run that a run continues from; None where that is the pretrained captioner."""
    return next((other for other in run.trained if other.weights == entry.start), None)


def _label(run: Run, entry: ReportedRun) -> str:
    """What a method is called in the paper; of one that is ours, what it is.

    Raises:
        InputError: it is no method of the paper.
    """
    if entry.objective == _FROZEN:
        speaker = _speaker(run, entry)
        return FROZEN_LUO if speaker is not None and speaker.objective == _LUO else FROZEN_MLE
    if entry.objective == STRAIGHT_THROUGH:
        return _straight_through(entry.settings)
    if entry.objective not in _OF_OBJECTIVE:
        problem = f"the objective of run {entry.name} is {entry.objective}"
        known = ", ".join([*_OF_OBJECTIVE, _FROZEN, STRAIGHT_THROUGH])
        raise InputError(f"papers/{run.paper.name}.yaml", problem, f"the report knows {known}")
    return _OF_OBJECTIVE[entry.objective]


def _straight_through(settings: Mapping[str, Any]) -> str:
    """The label of a method of the straight-through family."""
    rho = float(settings["rho"])
    if settings["anneal_rate"] and not rho:
        return ANNEALED
    label = f"{'PSST' if rho else 'ST'} {_OF_DISTRIBUTION[settings['distribution']]}"
    if rho not in (0.0, RHO):
        label += f", rho {rho:g}"
    if settings["anneal_rate"]:
        label += ", annealed"
    if bool(settings["feedback_grad"]) != bool(rho):
        label += NO_FEEDBACK if rho else FEEDBACK
    return label
