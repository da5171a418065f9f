"""Configurations of what is decoded."""

from __future__ import annotations

from seqcap.config import Frozen, Kind, StageConfig


class DecodingRun(Frozen):
    """Captions of one split by the captioners of one run, or by ensembles of them.

    Attributes:
        name: of the run or ensemble.
        weights: folder of seed<k>.safetensors.
        teams: seeds that decode together. Their rows have the first one's seed.
        samples: random captions of each item; 0: none.
        no_repeat_ngram: no caption of the beam says so many tokens in a row twice; 0: it may.
        decoded: the file to write.
    """

    name: str
    task: str
    kind: Kind
    split: str
    max_length: int
    weights: str
    teams: tuple[tuple[int, ...], ...]
    beam: int
    samples: int
    no_repeat_ngram: int
    batch_size: int
    decoded: str


class DecodeConfig(StageConfig):
    """Stage `decode`: the runs of a group, or its ensembles."""

    runs: tuple[DecodingRun, ...]
