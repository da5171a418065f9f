"""Configuration of stage `decode`."""

from seqcap.config import Frozen, Kind, StageConfig


class DecodingRun(Frozen):
    """Captions of one split by the captioners of one run, or by ensembles of them."""

    name: str  # of the run or ensemble
    task: str
    kind: Kind
    split: str
    max_length: int
    weights: str  # folder of seed<k>.safetensors
    teams: tuple[tuple[int, ...], ...]  # seeds that decode together; their rows have the first one's seed
    beam: int
    samples: int  # random captions of each item
    no_repeat_ngram: int  # no caption of the beam repeats this many tokens; 0: it may
    batch_size: int
    decoded: str  # the file to write


class DecodeConfig(StageConfig):
    runs: tuple[DecodingRun, ...]
