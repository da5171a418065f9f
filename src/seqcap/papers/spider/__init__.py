"""Policy gradient optimization of SPIDEr (Liu et al., ICCV 2017)."""

from __future__ import annotations

from seqcap.papers import Paper

# What the paper leaves open, and what is done here.
MIXER_A = (
    "the paper does not say what -A is; here: MIXER whose weight of cross-entropy falls to 0 with the prefix, instead "
    "of staying the same"
)

PAPER = Paper(
    name="spider",
    label="SPIDEr",
    title="Improved Image Captioning via Policy Gradient optimization of SPIDEr (Liu et al., ICCV 2017)",
    published_on={"image": "COCO's C-5 test server"},
    limits=(
        "The paper's numbers are read off images of its table and figure; its text has none.",
        f"MIXER-BCMR-A: {MIXER_A}.",
        "The paper does not print BCMR's weights: those of params.yaml are from code and secondary sources. SPIDEr is "
        "the sum of CIDEr and SPICE; others take their mean.",
        "Equal numbers of updates are not equal costs: an update of the policy gradient scores the rollouts of every "
        "prefix of a caption, one of MIXER a single caption an image. What is paid with SPICE has fewer updates, since "
        "it takes longest.",
        "Nobody was asked to judge captions. The checker that stands in for people does not see whether a caption is "
        "fluent or says what matters.",
        "Figures 1 and 2 of the paper, sketches of the rollouts and of the captioner, hold no data and are not drawn.",
    ),
)
