"""Captioning trained with sequence-level objectives: five papers, one reproducible pipeline; and, for everyone's
captions, scores (`evaluate`, `compare`, `coco`) and rewards (`CaptionReward`, `TokenReward`)."""

from typing import TYPE_CHECKING, Any

__all__ = [
    "CaptionReward",
    "ClipEvaluation",
    "ClipReward",
    "Comparison",
    "Difference",
    "DocumentFrequencies",
    "Evaluation",
    "InputError",
    "Score",
    "TokenReward",
    "__version__",
    "clip_score",
    "coco",
    "compare",
    "evaluate",
]

if TYPE_CHECKING:
    from seqcap import coco
    from seqcap.errors import InputError
    from seqcap.library.clipscore import ClipEvaluation, ClipReward, clip_score
    from seqcap.library.evaluation import Comparison, Evaluation, compare, evaluate
    from seqcap.library.reward import CaptionReward, TokenReward
    from seqcap.metrics.significance import Difference, Score
    from seqcap.rewards.frequencies import DocumentFrequencies
    from seqcap.version import __version__

# Where each name comes from. Modules are imported when they are first used: numba takes a second.
_HOMES = {
    "InputError": "seqcap.errors",
    **dict.fromkeys(("Comparison", "Evaluation", "compare", "evaluate"), "seqcap.library.evaluation"),
    **dict.fromkeys(("ClipEvaluation", "ClipReward", "clip_score"), "seqcap.library.clipscore"),
    **dict.fromkeys(("CaptionReward", "TokenReward"), "seqcap.library.reward"),
    **dict.fromkeys(("Difference", "Score"), "seqcap.metrics.significance"),
    "DocumentFrequencies": "seqcap.rewards.frequencies",
    "__version__": "seqcap.version",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "coco":
        return import_module("seqcap.coco")
    if name not in _HOMES:
        raise AttributeError(f"module 'seqcap' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
