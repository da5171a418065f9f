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
    """What metrics are built from: the `build(material)` of each module takes what it needs.

    Attributes:
        references: per image, captions as lists of ids without EOS.
        words: the vocabulary; a word's id is its position.
        paraphrases: file of the stage `paraphrases`, for METEOR.
        eos: whether CIDEr-D counts EOS, so that captions end where they should; evaluation does not.
        parses: file of earlier parses, for SPICE; None keeps none.
    """

    references: Sequence[Sequence[Sequence[int]]]
    words: Sequence[str]
    paraphrases: str | Path | None = None
    eos: bool = True
    parses: Path | None = PARSES

    @cached_property
    def plain(self) -> References:
        """Without EOS, as in evaluation: otherwise three words and EOS would be a 4-gram of BLEU."""
        return References(self.references, eos=False)

    @cached_property
    def ended(self) -> References:
        """With EOS, unless it does not count."""
        return References(self.references, eos=True) if self.eos else self.plain


class Metric(Protocol):
    """What a module's `build` returns: built once from the training references, it scores batch after batch."""

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Scores hypotheses against the references of their images.

        Args:
            hypotheses: [n, time] ids: words, EOS, then PAD; EOS may be missing.
            image: [n] index into the references.

        Returns:
            [n], or [n, k] where the module has k metrics, in the order of `MODULES`.

        Raises:
            InputError: wrong shapes, or ids or indices out of range.
        """
        ...


class Mixture:
    """The weighted sum of metrics, each in the scale of its definition (x1): r(y) = sum_m w_m m(y).

    Args:
        weights: metric -> weight, of any sign. Metrics without a weight are not built.
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
                own = [weights.get(metric, 0.0) for metric, where in MODULES.items() if where == name]
                self._parts.append((np.array(own), module.build(material)))

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Rewards [n]; arguments and errors as of `Metric.score`.

        Raises:
            InputError: no metric has a weight.
        """
        if not self._parts:
            raise InputError("reward", "is asked for by the objective, but the run is paid none", "name one of rewards")
        total = np.zeros(len(np.asarray(image)))
        for weights, metric in self._parts:
            scores = metric.score(hypotheses, image)
            total += scores @ weights if scores.ndim == 2 else weights * scores
        return total
