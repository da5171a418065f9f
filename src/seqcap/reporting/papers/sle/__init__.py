"""Sequence-level exploration (Chen and Jin, CVPR 2020)."""

from __future__ import annotations

from seqcap.reporting.papers import KARPATHY_TEST, Paper

PAPER = Paper(
    name="sle",
    label="SLE",
    title="Better Captioning With Sequence-Level Exploration (Chen and Jin, CVPR 2020)",
    published_on={"image": KARPATHY_TEST},
    limits=(
        "Alpha and the entropy weight were not tuned again on this dataset.",
        "Table 3 of the paper (TGIF video) is not part of this run.",
    ),
)
