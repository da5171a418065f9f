"""Cooperative captioning with partial-sampling straight-through (Vered et al., ICCV 2019)."""

from __future__ import annotations

from seqcap.papers import Paper

PAPER = Paper(
    name="psst",
    label="PSST",
    title="Joint Optimization for Cooperative Image Captioning (Vered et al., ICCV 2019)",
    published_on={"image": "COCO (5,000 test images)", "image2": "Flickr30K (1,000 test images)"},
    limits=(
        "The paper's appendix with its settings was not at hand: what it does not print is the released code's. A "
        "point of its curves is one training run, without errors.",
        "The paper prints rho = .25; in its code .25 is the probability of a one-hot word, which is rho .75 here. The "
        "printed value makes the paper's rows, the other one a row of ours.",
        "The paper's curves are of lambda. Configurations here give w, the weight of the mean hinge against the mean "
        "CIDEr-D reward; lambda is printed beside it. REINFORCE and Luo et al. have lambda in another unit: their code "
        "divides the hinge by the batch.",
        "All of our numbers are of greedy captions. The released code takes recall from greedy captions and the other "
        "metrics from a beam of 2.",
        "G-GAN and SR-PL are quoted in the paper, on other splits and at a CIDEr of their own; here they are trained "
        "like the others. Of G-GAN's generator the noise and the rollouts are left out.",
        "Table 5 has automatic raters in place of people.",
    ),
)
