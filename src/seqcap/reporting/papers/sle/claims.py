"""SLE's claims, what this run says about the one that costs CIDEr, what stands in for what, and contradictions in the
paper's own numbers."""

from __future__ import annotations

from collections.abc import Sequence

from seqcap.reporting import published
from seqcap.reporting.claims import Claim, Printed, Result
from seqcap.reporting.inputs import Run
from seqcap.reporting.papers.sle.rows import BEST_CAPTION, ROWS, SET
from seqcap.reporting.tables import Measure, estimate
from seqcap.reporting.verdicts import HOLDS, NOT_RUN

# The sign of a difference that means "more diverse".
_DIVERSE = {"Div1": +1, "Div2": +1, "mBleu4": -1}


def _printed(table: str, metric: str, decoder: str, *names: str) -> Printed:
    rows = {source: row for row, source in ROWS[table].items()}
    return Printed("sle", table, metric, tuple(rows[name, decoder] for name in names))


def _set(number: str, text: str, metric: str, decoder: str, left: str, right: str, sign: int, base: str = "") -> Claim:
    """A claim about the sets of captions of Table 4."""
    captions = SET[metric][1]
    printed = _printed("table4", metric, decoder, left, right, *([base] if base else []))
    return Claim(number, text, metric, decoder, captions, left, right, sign, printed, base or None)


def _best(number: str, text: str, metric: str, left: str, right: str) -> Claim:
    """A claim about the best caption of the beam, Table 2: left is higher."""
    printed = _printed("table2", metric, "beam", left, right)
    return Claim(number, text, metric, "beam", BEST_CAPTION[metric][1], left, right, +1, printed)


CLAIMS = [
    _set("C1", "SLL raises the CIDEr of random samples over XE", "CIDEr", "sample", "sll", "xe", +1),
    *(
        _set("C2", "SLL makes random samples less diverse than XE", metric, "sample", "sll", "xe", -sign)
        for metric, sign in _DIVERSE.items()
    ),
    *(
        _set("C3", "SLL-SLE makes random samples more diverse than SLL", metric, "sample", "sll_sle", "sll", sign)
        for metric, sign in _DIVERSE.items()
    ),
    _set("C4", "SLL-SLE also raises CIDEr over SLL", "CIDEr", "sample", "sll_sle", "sll", +1),
    _best("C4", "SLL-SLE also raises CIDEr over SLL", "CIDEr", "sll_sle", "sll"),
    _set("C5", "SLL-SLE beats SLL-ME", "CIDEr", "sample", "sll_sle", "sll_me", +1),
    _best("C5", "SLL-SLE beats SLL-ME", "CIDEr", "sll_sle", "sll_me"),
    *(
        _set("C5", "SLL-SLE beats SLL-ME", metric, "sample", "sll_sle", "sll_me", sign)
        for metric, sign in _DIVERSE.items()
    ),
    *(
        _set("C6", "SLL-ME changes SLL by less than SLL-SLE does", metric, "sample", "sll_sle", "sll_me", +1, "sll")
        for metric in ("CIDEr", *_DIVERSE)
    ),
    *(
        _best("C7", "With attention too, SLL-SLE beats SLL and SLL-ME", metric, "sll_sle_att", other)
        for metric in ("CIDEr", "METEOR", "SPICE")
        for other in ("sll_att", "sll_me_att")
    ),
    *(
        _set("C8", "SLL-SLE makes the beam's captions more diverse than SLL", metric, "beam", "sll_sle", "sll", sign)
        for metric, sign in _DIVERSE.items()
    ),
    *(
        _best("C9", "SLL-SLE beats SLL and SLL-ME on METEOR and SPICE", metric, "sll_sle", other)
        for metric in ("METEOR", "SPICE")
        for other in ("sll", "sll_me")
    ),
    # The paper explains its results by precision and recall, which it cannot measure. Generated scenes can.
    Claim("C10", "SLL raises true precision over XE", "precision_true", "sample", "every", "sll", "xe", +1),
    Claim("C10", "SLL lowers the true recall of {samples} samples", "recall_true", "sample", "set", "sll", "xe", -1),
    Claim("C10", "SLL-SLE regains true recall over SLL", "recall_true", "sample", "set", "sll_sle", "sll", +1),
]

# The claim that exploration raises the CIDEr of random samples.
_EXPLORED = ("C4", "CIDEr", "sample")

HEADLINES = frozenset(
    {
        ("C1", "CIDEr", "sample"),
        ("C2", "Div2", "sample"),
        ("C3", "Div2", "sample"),
        _EXPLORED,
        ("C4", "CIDEr", "beam"),
        ("C5", "CIDEr", "beam"),
        ("C10", "precision_true", "sample"),
        ("C10", "recall_true", "sample"),
    }
)


METRICS = {
    "CIDEr_samples": Measure("sample", "CIDEr", "every"),
    "CIDEr_beam": Measure("beam", "CIDEr"),
    "Div1": Measure("sample", "Div1", "set"),
    "Div2": Measure("sample", "Div2", "set"),
    "mBleu4": Measure("sample", "mBleu4", "set"),
}


def stand_ins(run: Run) -> list[tuple[str, str]]:
    """What stands in for what, apart from the data."""
    names = " and ".join(f"`{captioner}`" for captioner in run.captioners)
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


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    """Where exploration costs the samples CIDEr: how much of it is spread, how much a worse best guess."""
    claim = next((result for result in results if result.claim.key == _EXPLORED), None)
    if claim is None or claim.verdict in (HOLDS, NOT_RUN):
        return []
    rows = {}
    for name in ("sll_sle", "sll"):
        corpora = [run.scores.corpus(name, "sample", metric) for metric in ("log_prob_mean", "oracle")]
        greedy = estimate(run, name, "greedy", "CIDEr", "best").value
        if greedy is None or any(values is None for values in corpora):
            return []
        rows[name] = (greedy, *(float(values.mean()) for values in corpora if values is not None))
    (greedy, log_prob, oracle), (greedy_sll, log_prob_sll, oracle_sll) = rows.values()
    return [
        "*Why SLL-SLE does not gain CIDEr here.* Its samples are drawn from a flatter policy: -log p(y|x) of a sample "
        f"is {-log_prob:.1f} nats on average, SLL's {-log_prob_sll:.1f} (Figure 3), and a sample away from the mode "
        f"scores less. At the mode, greedy captions, CIDEr is {100 * greedy:.1f} with SLL-SLE and "
        f"{100 * greedy_sll:.1f} with SLL. The objective (eq. 8) asks for this trade: with alpha below 1 it pays for "
        f"distance between samples. The best of {run.samples().word} samples (oracle) reaches CIDEr "
        f"{100 * oracle:.1f} with SLL-SLE and {100 * oracle_sll:.1f} with SLL.",
    ]


def errors() -> list[str]:
    """Contradictions inside the paper, found by computing with its own printed numbers."""
    found = []
    text = published.text_claims("sle")
    for section, table, blocks in (
        ("5.2", "table2", {"": "mean-pooled", "*": "attention"}),
        ("5.3", "table3", {"": "TGIF"}),
    ):
        claim = text[f"text{section}"]
        columns = claim["column"].removesuffix(" gain").split("/")
        stated = [float(number) for number in claim["value"].split("/")]
        left, right = claim["row"].replace("SLE minus", "SLL-SLE minus").split(" minus ")
        printed = {label: _gains(table, left + star, right + star, columns) for star, label in blocks.items()}
        wrong = [
            column
            for index, column in enumerate(columns)
            if all(round(gains[index], 1) != stated[index] for gains in printed.values())
        ]
        if not wrong:
            continue
        shown = "; ".join(f"{label} {_slashes(gains)}" for label, gains in printed.items())
        said = f"Section {section} says that {left} gains {_slashes(stated)} {'/'.join(columns)} over {right}"
        if right != "SLL-ME" and [round(gain, 1) for gain in _gains(table, left, "SLL-ME", columns)] == stated:
            verdict = (
                f"The stated gains equal {left} minus the row printed as SLL-ME: the rows {right} and SLL-ME are "
                "probably swapped in print. We keep the printed values"
            )
        else:
            verdict = f"No printed pair of rows gives the stated {', '.join(wrong)}"
        found.append(f"{said}; Table {table.removeprefix('table')} gives {shown}. {verdict}.")
    table2, table4 = (published.published_table("sle", table) for table in ("table2", "table4"))
    best = {row["row"]: row["value"] for row in table2.to_dict("records") if row["column"] == "CIDEr"}
    beams = table4[(table4["block"] == "bs") & (table4["column"] == "CIDEr")]
    same = [
        row["row"] for row in beams.to_dict("records") if best.get(row["row"].removesuffix(" (bs)")) == row["value"]
    ]
    if same:
        found.append(
            f"Table 4's CIDEr of {', '.join(same)}, beside the diversity of a beam's five captions, is exactly Table "
            "2's CIDEr of the single best caption. Our Table 4 gives the mean over all of them, as in its (rs) rows, "
            "and notes our value for the best caption."
        )
    return found


def _gains(table: str, left: str, right: str, columns: Sequence[str]) -> list[float]:
    return [
        published.published_value("sle", table, left, column) - published.published_value("sle", table, right, column)
        for column in columns
    ]


def _slashes(numbers: Sequence[float]) -> str:
    return "/".join(f"{number:.1f}" for number in numbers)
