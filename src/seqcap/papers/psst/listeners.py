"""Whether listeners learn. One that gives all images one score has twice its margin as the hinge of both directions, by
the hardest negative, and finds images by chance; what rests on one that ends near that cannot be tested. The hinge
alone does not tell it: where images are much alike, or captions say little, it ends as high although recall is far
above chance."""

from collections.abc import Mapping
from dataclasses import dataclass

from seqcap.papers.psst.methods import SECOND
from seqcap.papers.psst.raters import Preferred
from seqcap.report.claims import Source
from seqcap.report.inputs import Results
from seqcap.report.tradeoff import Curve, OperatingPoint, Reading, mixture

HIGH = 1.8  # times the margin
LEARNED = 10.0  # times the R@10 of chance
_END = 0.9  # what follows this share of the steps is the end


@dataclass(frozen=True)
class Ended:
    """How a run's listener ends: means over the last steps and over seeds."""

    hinge: float
    share: float  # of images whose hinge is above 0
    margin: float
    recall: float  # R@10 of the test images by greedy captions, as a multiple of chance; 0 if it was not measured

    @property
    def times(self) -> float:
        return self.hinge / self.margin

    @property
    def dead(self) -> bool:
        return self.times > HIGH and self.recall < LEARNED


def ended(results: Results) -> dict[str, Ended]:
    """Run -> how its listener ends, of the runs that have a hinge."""
    found = {}
    curves = results.curves[results.curves["quantity"].isin(["hinge", "hinge_share"])]
    for name, its in curves.groupby("run", sort=False):
        settings = results.by_name[str(name)].settings
        last = its[its["step"] > _END * its["step"].max()]
        means = last.groupby("quantity")["value"].mean()
        found[str(name)] = Ended(
            float(means["hinge"]), float(means["hinge_share"]), float(settings["margin"]), _recall(results, str(name))
        )
    return found


def _recall(results: Results, name: str) -> float:
    scores = results.scores.per_item(name, "greedy", "own_R@10", "best")
    return 0.0 if scores is None else float(scores.to_numpy().mean()) * len(scores) / 10


def why_untestable(results: Results, source: Source, of_run: Mapping[str, Ended]) -> str:
    """Why what is read of methods cannot be tested; "" if the listeners of all runs that it is read from, which end as
    `of_run` says, have learned."""
    if isinstance(source, Reading):
        names = _read_from(results, source.curve, source.point)
    elif isinstance(source, Preferred):
        both = (source.method, source.other)
        names = [name for side in both for name in _read_from(results, side, source.point)]
    else:
        return ""
    dead = [results.by_name[name].label for name in names if name in of_run and of_run[name].dead]
    return f"cannot be tested: the listener of {' and '.join(dead)} has not learned" if dead else ""


def line(results: Results) -> str:
    """A line about the listeners that have not learned; "" if all have."""
    dead = {name: its for name, its in ended(results).items() if its.dead}
    if not dead:
        return ""
    rule = f"hinge above {HIGH:g} times its margin, R@10 below {LEARNED:g} times chance"
    return f"*Listeners that have not learned* ({rule}): {_each(results, dead)}. What rests on them is not tested."


def _each(results: Results, those: Mapping[str, Ended]) -> str:
    """Runs with their listeners' hinges and shares."""
    labels = {name: results.by_name[name].label for name in those}
    labels |= {
        name: f"{label}, second domain" for name, label in labels.items() if results.by_name[name].task == SECOND
    }
    return ", ".join(f"{labels[name]} (hinge {its.hinge:.2f}, share {its.share:.2f})" for name, its in those.items())


def _read_from(results: Results, curve: Curve, point: OperatingPoint | None) -> list[str]:
    """The runs beside a point."""
    return list(curve.runs) if point is None else list(mixture(results, curve, point))
