"""Configurations of what is decoded."""

from __future__ import annotations

from seqcap.config import Frozen, Kind, StageConfig


class DecodingRun(Frozen):
    """Captions of one split by the captioners of one run, or by an ensemble of them.

    Attributes:
        name: of the run or ensemble.
        weights: folder of seed<k>.safetensors.
        seeds: each decodes by itself. With `ensemble` they decode together, and the rows have the first seed.
        samples: random captions of each item; 0: none.
        decoded: the file to write.
    """

    name: str
    task: str
    kind: Kind
    split: str
    max_length: int
    weights: str
    seeds: tuple[int, ...]
    ensemble: bool
    beam: int
    samples: int
    batch_size: int
    decoded: str


class DecodeConfig(StageConfig):
    """Stage `decode`: the runs of a group, or its ensembles."""

    runs: tuple[DecodingRun, ...]
