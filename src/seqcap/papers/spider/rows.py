"""Which run and decoder make each row of SPIDEr's Table 1, and which metric each column."""

from __future__ import annotations

from seqcap.papers import Columns

# Figure 3's bars are not here: people judged those captions.
ROWS: dict[str, dict[str, tuple[str, str]]] = {
    "table1": {
        "MLE": ("mle", "beam"),
        "PG-BLEU-4": ("pg_bleu4", "beam"),
        "PG-CIDEr": ("pg_cider", "beam"),
        "MIXER-BCMR": ("mixer_bcmr", "beam"),
        "MIXER-BCMR-A": ("mixer_bcmr_a", "beam"),
        "PG-BCMR": ("pg_bcmr", "beam"),
        "PG-SPIDEr": ("pg_spider", "beam"),
    },
}

COLUMNS: Columns = {
    "CIDEr-D": ("CIDEr", "best"),
    "METEOR": ("METEOR", "best"),
    "ROUGE-L": ("ROUGE_L", "best"),
    "BLEU-1": ("BLEU1", "best"),
    "BLEU-2": ("BLEU2", "best"),
    "BLEU-3": ("BLEU3", "best"),
    "BLEU-4": ("BLEU4", "best"),
}
