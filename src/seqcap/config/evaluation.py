"""Configuration of stage `evaluate`."""

from collections.abc import Mapping

from seqcap.config import Kind, StageConfig


class EvaluationConfig(StageConfig):
    name: str
    paper: str
    task: str
    kind: Kind
    dataset: str
    split: str
    references: tuple[int, ...] | None  # how many to score against, as on COCO's server; None: every metric, all
    rewards: Mapping[str, Mapping[str, float]]  # name -> metric -> weight
    decoded: Mapping[str, str]  # run or ensemble -> file of its captions
