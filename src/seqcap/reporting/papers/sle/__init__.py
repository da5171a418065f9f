"""Sequence-level exploration (Chen and Jin, CVPR 2020)."""

from __future__ import annotations

from seqcap.reporting.papers import KARPATHY_TEST, Paper

PAPER = Paper(
    name="sle",
    label="SLE",
    title="Better Captioning With Sequence-Level Exploration (Chen and Jin, CVPR 2020)",
    published_on={"image": KARPATHY_TEST},
    limits=(
        "The paper chose alpha and the entropy weight on validation data among three values each. papers/sle.yaml and "
        "the experiments say which were tried here, and what they gave on val.",
        "The paper's tables have one form of SLL-SLE. Rows (multi-reference) are a second one, by the authors' later "
        "code: each sample is compared with the others together, not with one at a time.",
        "Table 3 of the paper (TGIF video) is not part of this run.",
    ),
)
