"""Captions as token ids and their references come in, rewards go out, fast enough for every training step; and corpus
metrics of summed counts (`corpus`, in plain NumPy). Imports spice, files and errors.

A reward metric is an entry of `MODULES`: the module that computes it, found by name, so that a run loads (and depends
on) only the metrics that it is paid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

# Metric -> its module, with `build(material)` (`seqcap.rewards.mixture.Material`). Sums add metrics in this order.
MODULES = {
    "bleu1": "seqcap.rewards.bleu",
    "bleu2": "seqcap.rewards.bleu",
    "bleu3": "seqcap.rewards.bleu",
    "bleu4": "seqcap.rewards.bleu",
    "cider": "seqcap.rewards.ciderd",
    "rouge_l": "seqcap.rewards.rouge",
    "meteor": "seqcap.rewards.meteor",
    "spice": "seqcap.rewards.spice",
}
# What a metric reads besides the task's data: files of artifacts/words/<task>/.
READS = {"meteor": "paraphrases"}
# All runs on a machine share SPICE's parses. No result depends on the file.
PARSES = Path("scratch/scene_graphs.parquet")
# Metrics that only work for English.
ENGLISH = ("meteor", "spice")


def modules(weights: Mapping[str, float]) -> Iterator[str]:
    """The modules of the metrics that have a weight."""
    yield from dict.fromkeys(MODULES[metric] for metric, weight in weights.items() if weight)


def reads(weights: Mapping[str, float]) -> Iterator[str]:
    """What the metrics that have a weight read besides the task's data."""
    yield from (READS[metric] for metric, weight in weights.items() if weight and metric in READS)
