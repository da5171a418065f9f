"""Weighted sums of reward metrics, as params.yaml names them: BCMR, SPIDEr, or a single metric."""

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
class RewardInputs:
    """What rewards are made of: the training captions and files about their words.

    Attributes:
        references: per image, captions as lists of ids without EOS: `[images][captions][tokens]`.
        words: the vocabulary; a word's id is its position.
        paraphrases: file of the stage `paraphrases`; METEOR needs it.
        eos: whether CIDEr-D counts EOS, so that captions end where they should; not in evaluation.
        parses: file of earlier parses, for SPICE; None: nothing is kept.
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
        return References(self.references, eos=True) if self.eos else self.plain


class Metric(Protocol):
    """What a module's `build` returns. It is built once from the training references and scores many batches."""

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Scores [n] of hypotheses, or [n, k] if the module has k metrics, in the order of `MODULES`. Hypotheses are
        ids [n, time]: words, EOS, which may be missing, then PAD; `image` [n] are indices into the references.
        InputError for wrong shapes, or ids or indices out of range."""
        ...


class Mixture:
    """The weighted sum of metrics, each in the scale of its definition (x1): r(y) = sum_m w_m m(y). Weights may be
    negative.

    Args:
        weights: by metric, keys of `MODULES`. A metric that is absent, or has weight 0, does not count.
        inputs: the training references and files that the metrics are made of.

    Raises:
        InputError: references are malformed, or a file that METEOR or SPICE needs is missing.
    """

    def __init__(self, weights: Mapping[str, float], inputs: RewardInputs) -> None:
        wanted = set(modules(weights))
        self._parts: list[tuple[Floats, Metric]] = []
        # In the order of MODULES, on which the last bits of a sum depend.
        for name in dict.fromkeys(MODULES.values()):
            if name in wanted:
                module: Any = importlib.import_module(name)
                own = [weights.get(metric, 0.0) for metric, where in MODULES.items() if where == name]
                self._parts.append((np.array(own), module.build(inputs)))

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Rewards [n]; arguments and errors as in `Metric.score`, or if no metric has a weight."""
        if not self._parts:
            raise InputError("reward", "is asked for by the objective, but the run is paid none", "name one of rewards")
        total = np.zeros(len(np.asarray(image)))
        for weights, metric in self._parts:
            scores = metric.score(hypotheses, image)
            total += scores @ weights if scores.ndim == 2 else weights * scores
        return total
