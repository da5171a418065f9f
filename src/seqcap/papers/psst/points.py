"""Where PSST's methods are compared: the paper's operating points, and ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from seqcap.papers.psst.methods import IMAGE, PSST, SECOND, by_rho, curve, curves
from seqcap.report.inputs import Run
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import Curve, OperatingPoint, choose

_JOINT = ("reinforce", "st_gumbel", "st", "gumbel")
_JUDGED = ("luo", "st")


@dataclass(frozen=True)
class Place:
    """Where the paper compares methods, as `name`: where `metric` of greedy captions is `printed`, in `scale`.

    PSST Multinomial is compared with `others` there; without any, with the curves of Figure 3f. `share`: how far up the
    stretch ours is, if it is not the paper's.
    """

    name: str
    metric: str
    printed: float
    scale: float
    others: tuple[str, ...]
    task: str = IMAGE
    share: float = 0.5

    @property
    def rule(self) -> str:
        """How ours is chosen, in words."""
        where = "the middle of" if self.share == 0.5 else f"{self.share:.0%} up"
        return (
            f"{where} the longest stretch that PSST Multinomial and most of the methods it is compared with cover, "
            "without the outer tenths of a curve and, if there are such, between runs with several training seeds"
        )

    def point(self, run: Run) -> OperatingPoint | None:
        """The operating point here; None where no method has two runs."""
        measure = Measure("greedy", self.metric)
        main = curve(run, PSST, self.task)
        others = [line for line in self._curves(run) if line != main]
        return choose(run, main, others, measure, self.printed, self.scale, self.share)

    def words(self, run: Run) -> str:
        point = self.point(run)
        if point is None:
            return "There is no operating point: no method has two runs."
        if point.is_printed:
            return f"The operating point is the paper's, {point.words()}."
        theirs = point.words(self.printed / self.scale)
        return f"The paper's operating point is {theirs}. Ours is {point.words()}, by the rule of the operating points."

    def _curves(self, run: Run) -> Iterable[Curve]:
        if not self.others:
            return [line for rhos in by_rho(run).values() for line in rhos.values()]
        return [line for method, line in curves(run, self.task).items() if method in self.others]


# Table 3's is nearer to the discriminative end, in print and here.
PLACES = {
    "table1": Place("Table 1", "own_R@5", 80, 100, _JOINT),
    "table2": Place("Table 2", "CIDEr", 1.2, 1, ("luo", "sr_pl", "annealed", *_JOINT)),
    "table3": Place("Table 3", "CIDEr", 1.13, 1, ("luo", "frozen_luo", "reinforce", "gumbel"), share=0.25),
    "table4": Place("Table 4", "own_R@5", 90, 100, _JOINT, SECOND),
    "accuracy": Place("Table 5, accuracy", "CIDEr", 1.22, 1, _JUDGED),
    "naturalness": Place("Table 5, naturalness; Figure 4b", "own_R@10", 80, 100, _JUDGED),
    "fig3f": Place("Figure 3f", "CIDEr", 1.22, 1, ()),
}
