"""Configuration of stage `mine`."""

from pydantic import Field

from seqcap.config import StageConfig


class MiningConfig(StageConfig):
    name: str
    task: str
    retriever: str  # folder of its seed<k>.safetensors
    seeds: tuple[int, ...]  # of the runs that read the mined images; each has its own instance of the retriever
    seed_offset: int  # added to a run's seed: the seed of its retriever
    neighbours: int = Field(ge=1)  # how many images are mined for each image
    max_length: int  # tokens of a caption, EOS included
    mined: str  # folder for seed<k>.mined.parquet and the retriever's seed<k>.safetensors
