"""Captions as token ids and their references come in, rewards go out, fast enough for every training step; may import
errors, files, data and spice.

A reward metric is an entry of `MODULES`. Modules are found by name, so a run loads and depends on only its own metrics.
`corpus` computes corpus metrics from summed counts, in plain NumPy."""

from collections.abc import Iterator, Mapping
from pathlib import Path

# Metric -> its module, with `build(inputs)` (`mixture.RewardInputs`). Sums add metrics in this order.
MODULES = {
    "bleu1": "seqcap.rewards.bleu",
    "bleu2": "seqcap.rewards.bleu",
    "bleu3": "seqcap.rewards.bleu",
    "bleu4": "seqcap.rewards.bleu",
    "cider": "seqcap.rewards.ciderd",
    "rouge_l": "seqcap.rewards.rouge",
    "meteor": "seqcap.rewards.meteor",
    "spice": "seqcap.rewards.spice",
    "bleu4_ended": "seqcap.rewards.ended_bleu",
}
READS = {"meteor": "paraphrases"}  # what a metric reads besides the task's data: files in artifacts/words/<task>/
# SPICE's parses, shared by all runs on a machine. No result depends on the file.
PARSES = Path("scratch/scene_graphs.parquet")
ENGLISH = ("meteor", "spice")  # metrics for English only
# Metrics that decoded captions cannot be scored by: these are words, and no longer tell whether EOS ended them.
TRAINING_ONLY = ("bleu4_ended",)


def modules(weights: Mapping[str, float]) -> Iterator[str]:
    yield from dict.fromkeys(MODULES[metric] for metric, weight in weights.items() if weight)


def reads(weights: Mapping[str, float]) -> Iterator[str]:
    """What metrics that have a weight read besides the task's data."""
    yield from (READS[metric] for metric, weight in weights.items() if weight and metric in READS)
