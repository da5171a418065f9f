"""Whether listeners learn. One that gives all images one score has twice its margin as the hinge of both directions, by
the hardest negative; what rests on one that ends near that cannot be tested."""

from collections.abc import Mapping
from dataclasses import dataclass

from seqcap.papers.psst.methods import SECOND
from seqcap.papers.psst.raters import Preferred
from seqcap.report.claims import Source
from seqcap.report.inputs import Results
from seqcap.report.tradeoff import Curve, OperatingPoint, Reading, mixture

HIGH = 1.8  # times the margin
_END = 0.9  # what follows this share of the steps is the end


@dataclass(frozen=True)
class Ended:
    """How a run's listener ends: means over the last steps and over seeds."""

    hinge: float
    share: float  # of images whose hinge is above 0
    margin: float

    @property
    def times(self) -> float:
        return self.hinge / self.margin

    @property
    def dead(self) -> bool:
        return self.times > HIGH


def ended(results: Results) -> dict[str, Ended]:
    """Run -> how its listener ends, of the runs that have a hinge."""
    found = {}
    curves = results.curves[results.curves["quantity"].isin(["hinge", "hinge_share"])]
    for name, its in curves.groupby("run", sort=False):
        settings = results.by_name[str(name)].settings
        last = its[its["step"] > _END * its["step"].max()]
        means = last.groupby("quantity")["value"].mean()
        found[str(name)] = Ended(float(means["hinge"]), float(means["hinge_share"]), float(settings["margin"]))
    return found


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
    return f"cannot be tested: the hinge of {' and '.join(dead)}'s listener ends high" if dead else ""


def line(results: Results) -> str:
    """A line about the listeners whose hinge ends high; "" if none does."""
    dead = {name: its for name, its in ended(results).items() if its.dead}
    if not dead:
        return ""
    told = f"*Listeners whose hinge ends high*, above {HIGH:g} times its margin: {_each(results, dead)}."
    limit = "With captions that say little it ends so, too, and recall may be far above chance."
    return f"{told} What rests on them is not tested. {limit}"


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
