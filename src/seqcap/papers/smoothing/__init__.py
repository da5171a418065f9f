"""Token-level and sequence-level loss smoothing (Elbayad et al., ACL 2018)."""

from __future__ import annotations

from seqcap.papers import KARPATHY_TEST, Paper

PAPER = Paper(
    name="smoothing",
    label="Loss smoothing",
    title="Token-level and sequence-level loss smoothing for RNN language models (Elbayad, Besacier and Verbeek, "
    "ACL 2018)",
    published_on={"image": KARPATHY_TEST, "en_fr": "WMT'14 En-Fr", "de_en": "IWSLT'14 De-En"},
    limits=(
        "The paper's appendices A to C were not at hand. Settings that only they print are those of the authors' code; "
        "papers/smoothing.yaml says which.",
        "How many sequences the paper samples per caption (L) is not printed. The authors' code samples one, and so "
        "does this run.",
        "On generated data, the temperatures smooth a small vocabulary about as much as the paper's smooth a large "
        "one. Rates and epochs were chosen on val for MLE, and are the same for all losses. The alphas were chosen on "
        "val, too: the paper's, two to four times as large, leave too few steps for the words themselves.",
    ),
)
