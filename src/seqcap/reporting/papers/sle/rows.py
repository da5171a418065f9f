"""Which run and decoder make each row of SLE's tables, and which metric each column."""

from __future__ import annotations

from seqcap.reporting.papers import Columns

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
        "SLL*": ("sll_att", "beam"),
        "SLL-ME*": ("sll_me_att", "beam"),
        "SLL-SLE*": ("sll_sle_att", "beam"),
    },
    "table4": {
        "XE (rs)": ("xe", "sample"),
        "SLL (rs)": ("sll", "sample"),
        "SLL-ME (rs)": ("sll_me", "sample"),
        "SLL-SLE (rs)": ("sll_sle", "sample"),
        "XE (bs)": ("xe", "beam"),
        "SLL (bs)": ("sll", "beam"),
        "SLL-ME (bs)": ("sll_me", "beam"),
        "SLL-SLE (bs)": ("sll_sle", "beam"),
    },
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
