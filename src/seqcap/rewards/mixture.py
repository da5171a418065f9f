"""Weighted sums of rewards, as params.yaml names them: BCMR, SPIDEr, or a single metric."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError
from seqcap.rewards import MODULES, PARSES, modules
from seqcap.rewards.sequences import References

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Material:
    """What a metric is built from: the `build(material)` of its module takes what it needs.

    Attributes:
        references: per image, captions as lists of ids without EOS.
        words: the vocabulary; a word's id is its position.
        paraphrases: what the stage `paraphrases` wrote, for METEOR; None: nothing.
        eos: whether CIDEr-D counts EOS, so that captions end where they should; evaluation does not.
        parses: the file of earlier parses, for SPICE; None: none is kept.
    """

    references: Sequence[Sequence[Sequence[int]]]
    words: Sequence[str]
    paraphrases: str | Path | None = None
    eos: bool = True
    parses: Path | None = PARSES

    @cached_property
    def plain(self) -> References:
        """Cooked without EOS, as in evaluation: with EOS as a token of BLEU, three words and an ending would be a
        4-gram."""
        return References(self.references, eos=False)

    @cached_property
    def ended(self) -> References:
        """Cooked with EOS, where it counts."""
        return References(self.references, eos=True) if self.eos else self.plain


class Metric(Protocol):
    """What a module's `build` returns."""

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Of n hypotheses, [n], or [n, k] where the module has k metrics, in the order of `MODULES`."""
        ...


class Mixture:
    """The weighted sum of metrics, each in the scale of its definition (x1): r(y) = sum_m w_m m(y).

    Built once from the training references. Metrics without a weight are not built.

    Args:
        weights: metric -> weight, of any sign.
        material: what the metrics are built from.

    Raises:
        InputError: malformed references, or a file that METEOR or SPICE needs is missing.
    """

    def __init__(self, weights: Mapping[str, float], material: Material) -> None:
        wanted = set(modules(weights))
        self._parts: list[tuple[Floats, Metric]] = []
        # Always in the order of MODULES: the last bits of a sum depend on it.
        for name in dict.fromkeys(MODULES.values()):
            if name in wanted:
                module: Any = importlib.import_module(name)
                of_module = [weights.get(metric, 0.0) for metric, where in MODULES.items() if where == name]
                self._parts.append((np.array(of_module), module.build(material)))

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Rewards [n] of hypotheses [n, time] of images [n] (rows of the references).

        Raises:
            InputError: wrong shapes, ids or indices out of range, or no metric has a weight.
        """
        if not self._parts:
            raise InputError("reward", "is asked for by the objective, but the run is paid none", "name one of rewards")
        total = np.zeros(len(np.asarray(image)))
        for weights, metric in self._parts:
            scores = metric.score(hypotheses, image)
            total += scores @ weights if scores.ndim == 2 else weights * scores
        return total
