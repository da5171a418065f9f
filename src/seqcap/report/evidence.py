"""What a claim is judged by, as plain data: the numbers of a comparison's sides, and what the paper says. It is kept
with a paper's results, so that another rule of verdicts needs no training. Light: the report's last stage reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, ConfigDict, PlainSerializer

from seqcap.config import Frozen
from seqcap.report import statistics
from seqcap.report.statistics import Floats, Spread

# difference: left is higher (sign +1) or lower (-1). no worse: left is not worse than right by more than a margin.
Rule = Literal["difference", "no worse"]
MARGIN = 0.03  # of the right side's level
RISING = 1.0  # points that a run gains in the last quarter of its updates which has not converged


def _numbers(row: Any) -> Any:
    return tuple(map(float, row.split())) if isinstance(row, str) else row


def _text(row: tuple[float, ...]) -> str:
    return " ".join(f"{number:.6g}" for number in row)


# A row of numbers, in files as one text: a line each, in place of a line for each number.
Row = Annotated[tuple[float, ...], BeforeValidator(_numbers), PlainSerializer(_text, when_used="json")]


class Registered(Frozen):
    """What was laid down of a claim before its paper was run; `seqcap register` computes it from a pilot's results."""

    day: str
    seeds: int  # of each side
    # The difference of the first primary comparison that so many seeds find four times in five, in the printed scale.
    finds: float
    # The seeds that the paper's differences need, where they are more than can be run; 0: the test items are too few,
    # whatever the seeds.
    needs: int | None = None
    # What the sides of the first primary comparison were in the pilot. Results with these values are the pilot itself,
    # which is judged as if nothing were registered.
    pilot: tuple[float, ...] = ()

    @property
    def lacks(self) -> str:
        """What the claim needs; "" if it can be decided."""
        if self.needs is None:
            return ""
        return f"needs {self.needs} seeds" if self.needs else "needs more test items, whatever the seeds"


class Changed(Frozen):
    """A primary comparison that is another one since a run was seen."""

    day: str
    before: str  # what was compared until then


class Gain(Frozen):
    """What a run's curve gained from the last quarter but one of its updates to the last one, in points. Records of
    before 29 November 2026 have its interval, too."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    points: float  # mean over seeds
    level: float = 100.0  # of the last quarter, in the same points; records of before do not have it
    measure: str = ""  # what the curve measures (`seqcap.report.convergence`); records of before do not have it
    # Whether the curve is its captioner's pretraining: a run without updates is what others start from.
    of_start: bool = False


def _gain(value: Any) -> Any:
    return value if isinstance(value, Gain | dict) else {"points": value}


class Side(Frozen):
    """One side of a comparison, in the printed scale."""

    label: str
    value: float
    by_seed: Mapping[int, float] = {}  # empty: it depends on no training seed
    runs: tuple[str, ...] = ()
    # Run -> what the curve of what the claim measures gained at its end (`seqcap.report.convergence`). A run without
    # updates is not here.
    gained: Mapping[str, Annotated[Gain, BeforeValidator(_gain)]] = {}

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted(self.by_seed))

    @property
    def values(self) -> list[float]:
        """The value with each seed, in their order; of a side without seeds its only one."""
        return [self.by_seed[seed] for seed in self.seeds] or [self.value]

    @property
    def rising(self) -> tuple[str, ...]:
        """The runs that have not converged: they gained a point or more. That seeds scatter is no sign of a plateau."""
        return tuple(run for run, gain in self.gained.items() if gain.points >= RISING)

    @property
    def rise(self) -> float:
        """What it would gain if its runs' curve rose once more as it did, in the printed scale: as large a share of its
        value as of its curve. 0 if it does not rise, and of a start: what starts there would rise with it."""
        shares = [gain.points / gain.level for gain in self.gained.values() if gain.level > 0 and not gain.of_start]
        return max(0.0, *shares) * abs(self.value) if shares else 0.0

    def only(self, seeds: Sequence[int]) -> Side:
        """The same of some of its seeds."""
        by_seed = {seed: self.by_seed[seed] for seed in seeds}
        return self.model_copy(update={"by_seed": by_seed, "value": sum(by_seed.values()) / len(by_seed)})


class Evidence(Frozen):
    """One comparison of a claim."""

    paper: str
    claim: str
    sentence: str
    control: bool = False  # whether it is a question of ours, which the paper does not claim
    level: Literal["primary", "detail"]  # each primary comparison of a claim has to hold
    rule: Rule = "difference"
    margin: float = MARGIN  # of "no worse"
    sign: Literal[1, -1]  # claimed of left - right; of "no worse", where better is
    better: Literal[1, -1, 0]  # where better is on the metric; 0: nowhere
    metric: str
    decoder: str
    left: str
    right: str
    base: str = ""  # if given: left - base is compared with base - right
    what: str  # the metric and the decoder in words
    sides: tuple[Side, ...] = ()  # left, right and the base, if any; empty where there are no numbers
    paired: bool = True  # whether equal seeds of the sides start from the same weights
    # What the choice of test items does to the values by seed of all sides: a triangle of covariances, rows in the
    # order of sides and seeds, one for a side without seeds.
    covariance: tuple[Row, ...] = ()
    items: int = 0
    decimals: int  # that our numbers are printed with
    printed: tuple[float, ...] = ()  # the paper's numbers of the sides; empty without any
    printed_decimals: int = 0
    proportional: bool = False  # whether the paper's difference is carried over in proportion to the right side's level
    absent: bool = False  # whether a run of it is no part of these results
    untestable: str = ""  # why it cannot be tested
    remarks: tuple[str, ...] = ()  # what a reader must know of the numbers
    registered: Registered | None = None
    changed: Changed | None = None

    def contrast(self, numbers: tuple[float, ...]) -> float:
        """left - right, or (left - base) - (base - right), of a number for each side."""
        return sum(weight * number for weight, number in zip(self.weights, numbers, strict=True))

    @property
    def weights(self) -> tuple[float, ...]:
        return (1.0, 1.0, -2.0) if self.base else (1.0, -1.0)

    @property
    def side_labels(self) -> tuple[str, str]:
        """What the sides are called."""
        names = [side.label for side in self.sides] or [name for name in (self.left, self.right, self.base) if name]
        left, right, *base = names
        return (f"{left} - {base[0]}", f"{base[0]} - {right}") if base else (left, right)

    @property
    def null(self) -> float:
        """The difference that p is of."""
        if self.rule == "difference":
            return 0.0
        return -self.sign * self.margin * abs(self.sides[1].value)

    @property
    def undecidable(self) -> bool:
        """Whether it was said before the run that this scale cannot decide it."""
        return self.registered is not None and self.registered.needs is not None

    @property
    def lagging(self) -> Side:
        """The side that would have to rise for the claim to hold: the one that is claimed to be better; where neither
        is, the one that is claimed to be higher."""
        return self.sides[0 if self.sign * (self.better or 1) > 0 else 1]

    @property
    def matrix(self) -> Floats:
        """All of `covariance` [rows, rows]."""
        matrix = np.zeros((len(self.covariance), len(self.covariance)))
        for row, numbers in enumerate(self.covariance):
            matrix[row, : row + 1] = matrix[: row + 1, row] = numbers
        return matrix

    @property
    def spread(self) -> Spread:
        """How far the difference may be from the true one."""
        values = np.array([number for side in self.sides for number in side.values])
        seeds = [side.seeds for side in self.sides]
        return statistics.spread(values, self.matrix, seeds, self.weights, self.items, self.paired)
