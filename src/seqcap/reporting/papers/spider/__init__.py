"""Policy gradient optimization of SPIDEr (Liu et al., ICCV 2017)."""

from __future__ import annotations

from seqcap.reporting.figures import captioners
from seqcap.reporting.inputs import IMAGE, Run
from seqcap.reporting.papers import Paper
from seqcap.reporting.papers.spider.claims import CLAIMS, HEADLINES, errors, remarks
from seqcap.reporting.papers.spider.figures import FIGURES
from seqcap.reporting.papers.spider.tables import MIXER_A, ROWS, TABLES
from seqcap.reporting.tables import Measure

METRICS = {
    "CIDEr_beam": Measure("beam", "CIDEr"),
    "BLEU4_beam": Measure("beam", "BLEU4"),
    "SPICE_beam": Measure("beam", "SPICE"),
    "all_true_beam": Measure("beam", "all_true"),
    "words_beam": Measure("beam", "words"),
    "seq-rep-2_beam": Measure("beam", "seq-rep-2"),
}

LIMITS = (
    "The paper's numbers are read off images of its table and figure; its text has none.",
    f"MIXER-BCMR-A: {MIXER_A}.",
    "The paper does not print BCMR's weights: those of params.yaml are from code and secondary sources. SPIDEr is the "
    "sum of CIDEr and SPICE; others take their mean.",
    "At laptop scale rows are not matched in training: MIXER has more epochs, since its prefix has to shrink first, "
    "and what is paid with SPICE has fewer, since it takes longest; see params.yaml. An epoch of the policy gradient "
    "scores some 25 captions an image, one of MIXER a single one.",
    "Nobody was asked to judge captions. The checker that stands in for people does not see whether a caption is "
    "fluent or says what matters.",
    "Figures 1 and 2 of the paper, sketches of the rollouts and of the captioner, hold no data and are not drawn.",
)


def stand_ins(run: Run) -> list[tuple[str, str]]:
    names = " and ".join(f"`{captioner}`" for captioner in captioners(run.variants))
    judged = "a checker's share of captions whose every statement is true of the scene"
    return [
        ("LSTM of 512 units on Inception-V3", f"captioner {names} of params.yaml on its visual features"),
        (
            "metrics of COCO's evaluation server; SPICE of the official code as a reward",
            "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own, as a "
            "reward, too",
        ),
        (
            "people's judgement of captions of 492 images, % not bad (Figure 3)",
            judged if run.config.dataset == "scenes" else "not measured: only generated scenes know their own facts",
        ),
    ]


PAPER = Paper(
    name="spider",
    label="SPIDEr",
    title="Improved Image Captioning via Policy Gradient optimization of SPIDEr (Liu et al., ICCV 2017)",
    published_on={IMAGE: "COCO's C-5 test server"},
    rows=ROWS,
    tables=TABLES,
    figures=FIGURES,
    claims=CLAIMS,
    headlines=HEADLINES,
    metrics=METRICS,
    stand_ins=stand_ins,
    limits=LIMITS,
    remarks=remarks,
    errors=errors,
)
