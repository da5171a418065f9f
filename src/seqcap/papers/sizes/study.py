"""The runs of the study by loss and size, and how a gain changes with the number of training images."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqcap.config import Frozen
from seqcap.report.inputs import Results
from seqcap.report.paper import read_yaml
from seqcap.report.statistics import Missing, Number, difference
from seqcap.report.tables import Estimate, Measure, shown

METRIC = "CIDEr"
STRENGTH = "smoothing_strength"  # what training records of how much a loss smooths
UNITS = "images"


class Loss(Frozen):
    """A loss, as methods.yaml has it."""

    label: str
    line: str


class MethodsFile(Frozen):
    """methods.yaml."""

    sizes: tuple[int, ...]
    base: str
    losses: Mapping[str, Loss]
    decoders: Mapping[str, str]


FILE: MethodsFile = read_yaml(Path(__file__).parent / "methods.yaml", MethodsFile)
SMOOTHED = tuple(loss for loss in FILE.losses if loss != FILE.base)


def name_of(loss: str, size: int) -> str:
    """The name of a loss's run on so many training images."""
    return f"{loss}_{size}"


def sizes(results: Results) -> list[int]:
    """The sizes of which maximum likelihood is part of these results, ascending."""
    return [size for size in FILE.sizes if name_of(FILE.base, size) in results.by_name]


def decoders(results: Results) -> dict[str, str]:
    """Decoder -> what it is called here."""
    return {decoder: results.fill(words) for decoder, words in FILE.decoders.items()}


def gain(results: Results, loss: str, size: int, decoder: str) -> Estimate:
    """How much higher a loss scores than maximum likelihood on so many training images."""
    return Measure(decoder, METRIC).gain(results, name_of(loss, size), name_of(FILE.base, size))


def slope_of_gain(results: Results, loss: str, decoder: str) -> Estimate:
    """How much a loss's gain changes with each doubling of the training images."""
    of_loss, of_base = (Slope(each, decoder, tuple(sizes(results))) for each in (loss, FILE.base))
    paired = results.share_start([of_loss.runs, of_base.runs])
    found = difference(of_loss.number(results), of_base.number(results), paired)
    return shown(found, UNITS)


@dataclass(frozen=True)
class Slope:
    """The least-squares slope of a loss's CIDEr on log2 of the number of training images, with each seed."""

    loss: str
    decoder: str
    sizes: tuple[int, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(name_of(self.loss, size) for size in self.sizes)

    def read_from(self, results: Results) -> tuple[str, ...]:
        return self.runs

    def number(self, results: Results) -> Number | Missing:
        if len(self.sizes) < 2:
            return Missing("a slope needs two sizes")
        numbers = []
        for name in self.runs:
            if name not in results.by_name:
                return Missing.run(name)
            number = Measure(self.decoder, METRIC).number(results, name)
            if isinstance(number, Missing):
                return number
            numbers.append(number)
        return _weighed(numbers, _weights(self.sizes))


def _weights(of: tuple[int, ...]) -> list[float]:
    """What the values at some sizes are multiplied by, so that their sum is the slope."""
    places = np.log2(np.array(of, dtype=np.float64))
    apart = places - places.mean()
    found: list[float] = (apart / (apart**2).sum()).tolist()
    return found


def _weighed(numbers: list[Number], weights: list[float]) -> Number | Missing:
    """A weighed sum of numbers, seed by seed: those that all have."""
    seeds = sorted(set.intersection(*(set(number.by_seed) for number in numbers)))
    if not seeds:
        return Missing("no seed was trained at every size")
    by_seed = dict.fromkeys(seeds, 0.0)
    resampled = np.zeros((len(numbers[0].resampled), len(seeds)))
    for number, weight in zip(numbers, weights, strict=True):
        places = [list(number.by_seed).index(seed) for seed in seeds]
        # Each size has test images of its own, so that equal draws of their places are independent.
        resampled += weight * number.resampled[:, places]
        for seed in seeds:
            by_seed[seed] += weight * number.by_seed[seed]
    value = float(np.mean(list(by_seed.values())))
    return Number(value, by_seed, resampled, min(number.items for number in numbers))


def strength(results: Results, loss: str, size: int) -> float | None:
    """The mean share of a target's weight that a loss moves off the caption's own token; None where it was not
    recorded."""
    return results.recorded(name_of(loss, size), STRENGTH)
