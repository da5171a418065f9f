"""SPICE (spaCy) on token ids, the reward of PG-SPICE (Liu, Zhu, Ye, Guadarrama and Murphy, ICCV 2017). SPICE counts
distinct tuples, so repetition costs nothing: captions trained on it alone ramble, as published there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError
from seqcap.rewards.sequences import References
from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Graph, build_graph, match
from seqcap.spice.references import reference_graphs

if TYPE_CHECKING:
    from seqcap.rewards.mixture import RewardInputs

SPECIALS = 4  # the first ids, PAD, BOS, EOS and UNK, are not words
# Nouns without synonyms, so that "<unk>" never matches a rare word of a reference.
UNKNOWN_SAID, UNKNOWN_MEANT = "unkword", "oovword"


class SpiceReward:
    """SPICE (spaCy) as a reward, against references without EOS; see `mixture.Metric`. Each distinct hypothesis is
    parsed once.

    Args:
        references: of all images that hypotheses are scored for, without EOS.
        words: a word's id is its position; the first four are special tokens.
        parser: its file of earlier parses is used for the references only.
        remembered: of how many of the last used hypotheses the graphs are kept, about 1 kB each.

    Raises:
        InputError: spaCy's model or METEOR's synsets are missing.
    """

    def __init__(
        self, references: References, words: Sequence[str], parser: CachedParser, remembered: int = 50_000
    ) -> None:
        self._words = [UNKNOWN_SAID if id_ < SPECIALS else word for id_, word in enumerate(words)]
        meant = [UNKNOWN_MEANT] * SPECIALS + self._words[SPECIALS:]
        texts = [
            [" ".join(meant[id_] if id_ < len(meant) else UNKNOWN_MEANT for id_ in caption) for caption in captions]
            for captions in map(references.captions_of, range(len(references)))
        ]
        self._references, self._meant = references, reference_graphs(texts, parser)
        self._parser = CachedParser(None, parser.parser)
        self._remembered = remembered
        self._graphs: dict[bytes, Graph] = {}

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """F-scores [n] in 0 .. 1 (SPICE, eq. 4). A hypothesis without objects scores 0."""
        rows, lengths, images = self._references.checked(hypotheses, image)
        if rows.size and rows.max() >= len(self._words):
            raise InputError("hypotheses", f"hold token id {rows.max()}", f"use ids below {len(self._words)}")
        spoken = [row[:length] for row, length in zip(rows, lengths, strict=True)]
        keys = [ids.tobytes() for ids in spoken]
        graphs = self._parsed(dict(zip(keys, spoken, strict=True)))
        return np.array(
            [match(graphs[key], self._meant(index)).f for key, index in zip(keys, images.tolist(), strict=True)],
            dtype=np.float64,
        )

    def _parsed(self, wanted: dict[bytes, npt.NDArray[np.int64]]) -> dict[bytes, Graph]:
        texts = {
            key: " ".join(self._words[id_] for id_ in ids.tolist())
            for key, ids in wanted.items()
            if key not in self._graphs
        }
        parsed = self._parser.parse(texts.values())
        graphs = {key: build_graph(parsed[texts[key]]) if key in texts else self._graphs.pop(key) for key in wanted}
        self._graphs.update(graphs)
        while len(self._graphs) > self._remembered:
            del self._graphs[next(iter(self._graphs))]
        return graphs


def build(inputs: RewardInputs) -> SpiceReward:
    return SpiceReward(inputs.plain, inputs.words, CachedParser(inputs.parses))
