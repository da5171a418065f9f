"""Which run makes each row of WTF-RL's Table 1, which metric each column, and what else its runs are measured by."""

from __future__ import annotations

from seqcap.config.report import ReportedRun
from seqcap.papers import Columns
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.tables import Measure

# Runs.
TF, LONGER, WTF, WTF_RL, RL, ALONE = ("tf", "tf_longer", "wtf", "wtf_rl", "rl", "rl_alone")
UNIDIRECTIONAL, DISCRIMINATOR, GRAMMAR = ("rl_unidirectional", "scst_discriminator", "scst_grammar")
# In the scores: people's captions, found by the retriever that pays.
PEOPLE = f"{HUMAN}:reward"

# One caption of each image, the best of the beam.
_DECODER = "beam"

ROWS: dict[str, dict[str, tuple[str, str]]] = {
    "table1": {
        "TF": (TF, _DECODER),
        "TF, as many steps more": (LONGER, _DECODER),
        "WTF": (WTF, _DECODER),
        "WTF-RL": (WTF_RL, _DECODER),
        "RL": (RL, _DECODER),
        "RL, alpha 1": (ALONE, _DECODER),
        "RL - Unidirectional": (UNIDIRECTIONAL, _DECODER),
        "SCST - Discriminator": (DISCRIMINATOR, _DECODER),
        "SCST - Grammar": (GRAMMAR, _DECODER),
    },
}
# Rows that the paper does not print -> the printed row that each of them follows.
OURS = {"TF, as many steps more": "TF", "RL, alpha 1": "RL"}
# Run -> its row.
ROW = {name: row for row, (name, _) in ROWS["table1"].items()}
# Those that the paper prints.
PRINTED = tuple(name for name, row in ROW.items() if row not in OURS)

# T2I: captions find their image among all. I2T: images find their caption among all that were generated.
COLUMNS: Columns = {
    **{f"T2I R@{k}": (f"own_R@{k}", "best") for k in (1, 5, 10)},
    **{f"I2T R@{k}": (f"own_text_R@{k}", "set") for k in (1, 5, 10)},
    **{metric: (metric, "best") for metric in ("BLEU4", "ROUGE_L", "CIDEr", "METEOR", "SPICE", "Self-BLEU")},
}
RECALLS = tuple(column for column in COLUMNS if "R@" in column)
QUALITY = ("BLEU4", "ROUGE_L", "CIDEr", "METEOR", "SPICE")


def measure(column: str) -> Measure:
    """What makes our number in a column."""
    return Measure(_DECODER, *COLUMNS[column])


def by_judge(column: str) -> Measure:
    """The same recall by the judge, which no objective has seen."""
    metric, captions = COLUMNS[column]
    return Measure(_DECODER, metric.replace("own_", "fixed_"), captions)


def of_table(run: Run) -> list[ReportedRun]:
    """The runs that make rows, in their order, without the ablations."""
    return [run.by_name[name] for name in ROW if name in run.by_name]
