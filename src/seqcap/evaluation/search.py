"""What the stage `decode` decodes, and how. `retrieve`, which reads it, too, imports no decoder for it."""

from pydantic import Field

from seqcap.config import Frozen, StageConfig, TaskKind


class Search(Frozen):
    """How captions are decoded."""

    beam: int = Field(ge=1, le=100)  # width of the beam
    samples: int = Field(ge=0, le=100)  # random captions of each item
    # The random captions are drawn from p(y_t | y_<t, x)^(1 / temperature), normalised; 1: as the captioner says.
    temperature: float = Field(1.0, ge=0.01, le=100)
    # No caption of the beam repeats this many tokens; 0: it may.
    no_repeat_ngram: int = Field(0, ge=0, le=100)


class DecodingRun(Search):
    """Captions of one split by the captioners of one run, or by ensembles of them."""

    name: str  # of the run or ensemble
    task: str
    kind: TaskKind
    split: str
    max_length: int
    weights: str  # folder of seed<k>.safetensors
    teams: tuple[tuple[int, ...], ...]  # seeds that decode together; their rows have the first one's seed
    batch_size: int
    decoded: str  # the file to write


class DecodeConfig(StageConfig):
    """What the stage `decode` decodes: the runs of a group."""

    runs: tuple[DecodingRun, ...]
