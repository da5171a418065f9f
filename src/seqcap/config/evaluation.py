"""Configuration of what is scored."""

from __future__ import annotations

from collections.abc import Mapping

from seqcap.config import Kind, StageConfig


class EvaluationConfig(StageConfig):
    """Stage `evaluate`.

    Attributes:
        references: how many references to score against, as COCO's server does; None: every metric, against all.
        rewards: of every reward that a run is trained with: name -> metric -> weight.
        decoded: run or ensemble -> its captions, in the order of the parameters.
    """

    name: str
    paper: str
    task: str
    kind: Kind
    dataset: str
    split: str
    references: tuple[int, ...] | None
    rewards: Mapping[str, Mapping[str, float]]
    decoded: Mapping[str, str]
