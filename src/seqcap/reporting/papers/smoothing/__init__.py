"""Token-level and sequence-level loss smoothing (Elbayad et al., ACL 2018)."""

from __future__ import annotations

from seqcap.reporting.figures import captioners
from seqcap.reporting.inputs import IMAGE, KARPATHY_TEST, Run
from seqcap.reporting.papers import Paper
from seqcap.reporting.papers.smoothing.claims import CLAIMS, HEADLINES, errors, remarks
from seqcap.reporting.papers.smoothing.figures import FIGURES
from seqcap.reporting.papers.smoothing.losses import ROWS, TASKS, entries, score_files
from seqcap.reporting.papers.smoothing.tables import MEMBERS, SERVER, TABLES
from seqcap.reporting.tables import Measure

METRICS = {
    "CIDEr_beam": Measure("beam", "CIDEr"),
    "BLEU1_beam": Measure("beam", "BLEU1"),
    "BLEU4_beam": Measure("beam", "BLEU4"),
    # Of translations.
    "BLEU_beam": Measure("beam", "BLEU"),
}

LIMITS = (
    "The paper's appendices A to C were not at hand: settings that only they print are those of the authors' code, "
    "params.yaml says which.",
    "How many sequences the paper samples per caption (L) is not printed; here as many as `samples` in params.yaml.",
    "Where params.yaml says `pretrained: true`, every loss starts from the MLE captioner and is trained for a few more "
    "epochs, MLE too; the paper trains each from scratch. Gains are over MLE that was trained as long.",
    "On generated data, temperatures are those that smooth a small vocabulary about as much as the paper's a large "
    "one; rates and epochs were chosen on val with four of the losses.",
    "The paper has many rows, and its claims' p-values here are not corrected for their number.",
)

LINKED = {
    "smoothing_timing": "seconds per epoch of every loss, and relative to MLE. It is measured in the training runs and "
    "differs from one to the next, so it is not repeated here: this report is the same whenever its numbers are.",
}


def stand_ins(run: Run) -> list[tuple[str, str]]:
    images = [variant for variant in run.variants if variant.task == IMAGE]
    texts = [variant for variant in run.variants if variant.task != IMAGE]
    pairs = []
    if images:
        names = " and ".join(f"`{captioner}`" for captioner in captioners(images))
        pairs.append(
            ("captioners without and with attention", f"captioners {names} of params.yaml on its visual features")
        )
        pairs.append(
            (
                "BLEU and CIDEr of the official COCO code",
                "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
            )
        )
    if texts:
        names = " and ".join(f"`{captioner}`" for captioner in captioners(texts))
        pairs.append(("an encoder-decoder with attention (Bahdanau et al.)", f"translator {names} of params.yaml"))
    pairs.append(("GloVe, trained on the captions", "the word embeddings of params.yaml"))
    for entry in run.entries:
        if len(entry.seeds) > 1:
            pairs.append(
                (
                    f"{SERVER}, references of 5 and 40 people; an ensemble of {MEMBERS} seeds",
                    f"a split of our own with 5 and 40 references per image; an ensemble of {len(entry.seeds)} seeds",
                )
            )
    return pairs


PAPER = Paper(
    name="smoothing",
    label="Loss smoothing",
    title="Token-level and sequence-level loss smoothing for RNN language models (Elbayad, Besacier and Verbeek, "
    "ACL 2018)",
    published_on={IMAGE: KARPATHY_TEST, **{task: column.removesuffix(" BLEU") for task, column in TASKS.items()}},
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
    score_files=score_files,
    entries=entries,
    linked=LINKED,
    beam=3,
)
