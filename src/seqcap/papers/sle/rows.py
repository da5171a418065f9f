"""Which run and decoder make each row of SLE's tables, and which metric each column."""

from __future__ import annotations

from seqcap.papers import Columns

SLL, SLE, MULTI = "sll", "sll_sle", "sll_sle_mr"
# The label of MULTI, and what it is.
MULTI_LABEL = "SLL-SLE (multi-reference)"
MULTI_MEANS = "multi-reference distance, the authors' later code; not in the paper's tables"

# The row of what Table 3's others continue from, and what it is.
START_LABEL = "XE (start)"
START_MEANS = "what the others continue from; not in the paper's table"

# "sample" is a set of random samples per image; "beam" is all of the beam or its best caption.
ROWS: dict[str, dict[str, tuple[str, str]]] = {
    "table1": {
        "XE": ("xe", "sample"),
        "SLL": ("sll", "sample"),
    },
    "table2": {
        "SLL": ("sll", "beam"),
        "SLL-ME": ("sll_me", "beam"),
        "SLL-SLE": ("sll_sle", "beam"),
        MULTI_LABEL: (MULTI, "beam"),
        "SLL*": ("sll_att", "beam"),
        "SLL-ME*": ("sll_me_att", "beam"),
        "SLL-SLE*": ("sll_sle_att", "beam"),
    },
    "table3": {
        START_LABEL: ("xe_clip", "beam"),
        "SLL": ("sll_clip", "beam"),
        "SLL-ME": ("sll_me_clip", "beam"),
        "SLL-SLE": ("sll_sle_clip", "beam"),
    },
    "table4": {
        "XE (rs)": ("xe", "sample"),
        "SLL (rs)": ("sll", "sample"),
        "SLL-ME (rs)": ("sll_me", "sample"),
        "SLL-SLE (rs)": ("sll_sle", "sample"),
        f"{MULTI_LABEL} (rs)": (MULTI, "sample"),
        "XE (bs)": ("xe", "beam"),
        "SLL (bs)": ("sll", "beam"),
        "SLL-ME (bs)": ("sll_me", "beam"),
        "SLL-SLE (bs)": ("sll_sle", "beam"),
        f"{MULTI_LABEL} (bs)": (MULTI, "beam"),
    },
}

# Rows that the paper does not print -> the printed row that each of them follows.
START = {START_LABEL: "SLL-SLE"}
OURS = START | {
    MULTI_LABEL: "SLL-SLE",
    f"{MULTI_LABEL} (rs)": "SLL-SLE (rs)",
    f"{MULTI_LABEL} (bs)": "SLL-SLE (bs)",
}

# Of the captions that a decoder gives for an image.
SET: Columns = {
    "CIDEr": ("CIDEr", "every"),
    "Div1": ("Div1", "set"),
    "Div2": ("Div2", "set"),
    "mBleu4": ("mBleu4", "set"),
}
BEST_CAPTION: Columns = {
    "METEOR": ("METEOR", "best"),
    "CIDEr": ("CIDEr", "best"),
    "SPICE": ("SPICE", "best"),
}
