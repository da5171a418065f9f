"""Distinctive captioning with a fixed retriever's reward (Chaffin et al., 2024)."""

from __future__ import annotations

from seqcap.papers import KARPATHY_TEST, Paper

PAPER = Paper(
    name="wtfrl",
    label="WTF-RL",
    title=(
        "Distinctive Image Captioning: Leveraging Ground Truth Captions in CLIP Guided Reinforcement Learning (Chaffin "
        "et al., 2024)"
    ),
    published_on={"image": KARPATHY_TEST},
    limits=(
        "The paper measures recall with the retriever that pays the captioner. Here a judge that no objective has seen "
        "measures it, too.",
        "Alpha .94 and tau .01 suit CLIP's similarities. What others do with this run's retriever, ablations show.",
        "Not in print, and so by eq. 1 or the released code: P_D of the greedy caption is not subtracted in SCST - "
        "Discriminator; every row, TF included, is decoded without repeated trigrams. For how long the discriminator "
        "learns alone is not known.",
        "Figure 1's hacked sample is of RL without regularisation. The paper's table has no such row, nor one of TF "
        "that is trained for as long as the others: here both are rows of ours.",
        "Figure 2 of the paper, a sketch of the method, holds no data and is not drawn.",
    ),
)
