"""Configuration of what finds similar training images."""

from __future__ import annotations

from pydantic import Field

from seqcap.config import StageConfig


class MiningConfig(StageConfig):
    """Stage `mine`.

    Attributes:
        retriever: folder of its seed<k>.safetensors.
        seeds: of the instances; each finds images of its own.
        neighbours: how many images are found for each.
        max_length: tokens of a caption, EOS included.
        mined: folder that gets seed<k>.mined.parquet, and the retriever's seed<k>.safetensors.
    """

    name: str
    task: str
    retriever: str
    seeds: tuple[int, ...]
    neighbours: int = Field(ge=1)
    max_length: int
    mined: str
