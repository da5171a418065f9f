"""Sequence-level exploration (Chen and Jin, CVPR 2020)."""

from __future__ import annotations

from seqcap.reporting.figures import captioners
from seqcap.reporting.inputs import IMAGE, KARPATHY_TEST, Run
from seqcap.reporting.papers import Paper
from seqcap.reporting.papers.sle.claims import CLAIMS, HEADLINES, errors, remarks
from seqcap.reporting.papers.sle.figures import FIGURES
from seqcap.reporting.papers.sle.tables import ROWS, TABLES
from seqcap.reporting.tables import Measure

METRICS = {
    "CIDEr_samples": Measure("sample", "CIDEr", "every"),
    "CIDEr_beam": Measure("beam", "CIDEr"),
    "Div1": Measure("sample", "Div1", "set"),
    "Div2": Measure("sample", "Div2", "set"),
    "mBleu4": Measure("sample", "mBleu4", "set"),
}

LIMITS = (
    "Alpha and the entropy weight were not tuned again on this dataset.",
    "Table 3 of the paper (TGIF video) is not part of this run.",
)


def stand_ins(run: Run) -> list[tuple[str, str]]:
    names = " and ".join(f"`{captioner}`" for captioner in captioners(run.variants))
    return [
        (
            "LSTM of 512 units on ResNet-152; rows *: attention over bottom-up regions",
            f"captioners {names} of params.yaml on its visual features; rows *: attention over a grid of cells",
        ),
        (
            "METEOR, CIDEr, SPICE of the official COCO code",
            "METEOR and CIDEr of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
        ),
    ]


PAPER = Paper(
    name="sle",
    label="SLE",
    title="Better Captioning With Sequence-Level Exploration (Chen and Jin, CVPR 2020)",
    published_on={IMAGE: KARPATHY_TEST},
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
