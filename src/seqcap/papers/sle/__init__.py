"""Sequence-level exploration (Chen and Jin, CVPR 2020)."""

from __future__ import annotations

from seqcap.papers import KARPATHY_TEST, Paper

PAPER = Paper(
    name="sle",
    label="SLE",
    title="Better Captioning With Sequence-Level Exploration (Chen and Jin, CVPR 2020)",
    published_on={"image": KARPATHY_TEST, "clip": "TGIF test (animated GIFs)"},
    limits=(
        "The paper chose alpha and the entropy weight on validation data among three values each. papers/sle.yaml and "
        "the experiments say which were tried here, and what they gave on val.",
        "The paper's tables have one form of SLL-SLE. Rows (multi-reference) are a second one, by the authors' later "
        "code: each sample is compared with the others together, not with one at a time.",
        "Table 3 (TGIF): the paper pools ResNet-152's features of single frames over frames and space, which loses the "
        "frames' order. Those of generated clips are pooled so, too, but they are of a frame and of what moves until "
        "the next one: captions tell directions, which single frames do not hold.",
    ),
)
