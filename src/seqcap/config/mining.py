"""Configuration of what finds similar training images."""

from __future__ import annotations

from pydantic import Field

from seqcap.config import StageConfig


class MiningConfig(StageConfig):
    """Stage `mine`.

    Attributes:
        retriever: folder of its seed<k>.safetensors.
        seeds: of the runs that read what is found, with one instance of the retriever for each.
        seed_offset: what is added to a run's seed for that of its instance.
        neighbours: how many images are found for each.
        max_length: tokens of a caption, EOS included.
        mined: folder that gets seed<k>.mined.parquet, and the retriever's seed<k>.safetensors.
    """

    name: str
    task: str
    retriever: str
    seeds: tuple[int, ...]
    seed_offset: int
    neighbours: int = Field(ge=1)
    max_length: int
    mined: str
