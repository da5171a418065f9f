"""Loss smoothing's claims, and what this run says that a test of a difference cannot."""

from __future__ import annotations

from collections.abc import Sequence

from seqcap.reporting import published
from seqcap.reporting.claims import Claim, Printed, Result
from seqcap.reporting.inputs import IMAGE, Run
from seqcap.reporting.papers.smoothing.losses import (
    BLOCKS,
    CAPTION_LOSSES,
    ENSEMBLE,
    ENTRIES,
    MLE,
    POOLS,
    SINGLE,
    TASKS,
    TRANSLATION_LOSSES,
)
from seqcap.reporting.papers.smoothing.tables import COLUMNS, PARTS, Part, gain_cells
from seqcap.reporting.tables import best_caption_by_seed, gain

BEST = "tok_seq_cider_refs"

_COLUMN = {metric: column for column, (metric, _) in COLUMNS.items()}


def _caption(number: str, text: str, captioner: str, left: str, right: str, metric: str = "CIDEr") -> Claim:
    """A claim about two rows of one block of Table 1: left is higher."""
    block = BLOCKS[captioner]
    rows = (CAPTION_LOSSES[left], CAPTION_LOSSES[right])
    printed = Printed("smoothing", "table1", _COLUMN[metric], rows, block)
    variants = (f"{captioner}_{left}", f"{captioner}_{right}")
    return Claim(number, f"{text}, {block}", metric, "beam", "best", *variants, +1, printed)


def _translation(number: str, text: str, task: str, left: str) -> Claim:
    """A claim that a loss beats MLE in one column of Table 3."""
    column = TASKS[task]
    printed = Printed("smoothing", "table3", column, (TRANSLATION_LOSSES[left], TRANSLATION_LOSSES[MLE]))
    words = f"{text}, {column.removesuffix(' BLEU')}"
    return Claim(number, words, "BLEU", "beam", "best", f"{task}_{left}", f"{task}_{MLE}", +1, printed)


# Of each family the rows with the paper's best CIDEr; forty rows would be forty claims that the paper does not make.
_SEQ = {"lstm": ("seq_lazy_hamming_batch", "seq_cider_refs"), "attention": ("seq_hamming_refs", "seq_cider_batch")}
_RESTRICTED = {
    "lstm": ("seq_hamming_batch", "seq_cider_refs", "tok_seq_hamming_refs", BEST),
    "attention": ("seq_hamming_refs", "seq_cider_batch", "tok_seq_hamming_batch", BEST),
}
_TOK_SEQ = {"lstm": ("tok_seq_hamming_refs", BEST), "attention": ("tok_seq_hamming_batch", BEST)}
_RUNNER_UP = {"lstm": "tok_seq_hamming_refs", "attention": "seq_cider_batch"}


def _everything(loss: str) -> str:
    """The same loss with substitutes from the whole vocabulary."""
    return f"{loss.rpartition('_')[0]}_v"


CLAIMS = [
    *(
        _caption("L1", "Token-level smoothing beats MLE", captioner, "tok", MLE, metric)
        for captioner in BLOCKS
        for metric in ("CIDEr", "BLEU1", "BLEU4")
        # With attention the paper prints a lower BLEU-4 than MLE's.
        if (captioner, metric) != ("attention", "BLEU4")
    ),
    *(
        _caption("L2", "Promoting rare tokens helps token-level smoothing", captioner, "tok_rfreq", "tok", metric)
        for captioner in BLOCKS
        for metric in ("CIDEr", "BLEU4")
    ),
    *(
        _caption("L3", "Sequence-level smoothing beats MLE", captioner, loss, MLE)
        for captioner, losses in _SEQ.items()
        for loss in losses
    ),
    *(
        _caption("L4", "Fewer substitutes beat the whole vocabulary", captioner, loss, _everything(loss))
        for captioner, losses in _RESTRICTED.items()
        for loss in losses
    ),
    *(
        _caption("L5", "Tok-Seq beats both of its parts", captioner, loss, part)
        for captioner, losses in _TOK_SEQ.items()
        for loss in losses
        for part in ("tok", loss.removeprefix("tok_"))
    ),
    *(
        _caption("L6", "CIDEr-weighted Tok-Seq with Vrefs is the best of all", captioner, BEST, other)
        for captioner, runner_up in _RUNNER_UP.items()
        for other in (MLE, runner_up)
    ),
    *(
        _translation(number, f"{level} smoothing beats MLE in translation", task, loss)
        for number, level, losses in (
            ("L7", "Token-level", ("tok", "tok_rfreq")),
            ("L8", "Sequence-level", ("seq_hamming_v", "seq_hamming_batch", "seq_bleu4_batch")),
            ("L9", "Tok-Seq", ("tok_seq_hamming_batch", "tok_seq_bleu4_batch")),
        )
        for task in TASKS
        for loss in losses
    ),
    Claim(
        "L10",
        "An ensemble of seeds beats a single model on the server",
        "CIDEr c5",
        "beam",
        "best",
        ENSEMBLE,
        SINGLE,
        +1,
        Printed("smoothing", "table2", "CIDEr c5", (ENTRIES[ENSEMBLE], ENTRIES[SINGLE])),
    ),
]

HEADLINES = frozenset(
    {
        *((number, "CIDEr", "beam") for number in ("L1", "L3", "L6")),
        ("L9", "BLEU", "beam"),
        ("L10", "CIDEr c5", "beam"),
    }
)


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    """Which loss is best, lazy against full training, how the printed gains compare, and what translations leave to
    gain."""
    return [*_best(run), *_lazy(run), *_as_printed(run), *_policy_gradient(run), *_determined(run)]


def _best(run: Run) -> list[str]:
    found = []
    for part in PARTS:
        cells = [cell for cell in gain_cells(run, part) if cell.ours.value is not None]
        if not cells:
            continue
        best = max(cells, key=lambda cell: cell.ours.value or 0.0)
        printed = max((loss for loss in part.losses if loss != MLE), key=part.printed_gain)
        found.append(
            f"{part.name}: {best.row}, {_span(best.ours.value, best.ours.low, best.ours.high)} {part.metric} over MLE "
            f"(in print {float(best.printed):+.2f}; the best there: {part.losses[printed]}, "
            f"{part.printed_gain(printed):+.2f})"
        )
    if not found:
        return []
    words = "the best of so many is partly so by chance"
    return [f"*Which loss gains most.* {'; '.join(found)}. The intervals are of each loss alone: {words}."]


def _lazy(run: Run) -> list[str]:
    """Lazy minus full training, CIDEr: that two are alike is no difference to be tested."""
    found = []
    for part in PARTS:
        ours, printed, around_zero, widest = [], [], 0, 0.0
        for reward in ("hamming", "cider"):
            for pool in POOLS:
                lazy, full = f"seq_lazy_{reward}_{pool}", f"seq_{reward}_{pool}"
                if not {lazy, full} <= set(part.present(run)):
                    continue
                made = gain(run.scores, f"{part.system}_{lazy}", f"{part.system}_{full}", "beam", part.metric)
                if made.value is None or made.low is None or made.high is None:
                    continue
                ours.append(made.value * 100)
                printed.append(part.printed[lazy] - part.printed[full])
                around_zero += made.low <= 0 <= made.high
                widest = max(widest, 50 * (made.high - made.low))
        if ours:
            found.append(
                f"{part.name}, lazy minus full is {min(ours):+.2f} to {max(ours):+.2f} in {len(ours)} pairs, whose "
                f"intervals reach up to {widest:.2f} to either side and hold 0 in {around_zero} (in print "
                f"{min(printed):+.2f} to {max(printed):+.2f})"
            )
    if not found:
        return []
    return [
        "*Lazy or not.* That lazy training is about as good as full training is no difference that a test could find. "
        f"CIDEr {'; '.join(found)}."
    ]


def _as_printed(run: Run) -> list[str]:
    """How many of the printed rows beat MLE, and of ours, and where fewer substitutes do not help."""
    counts, against = [], []
    for captioner, block in BLOCKS.items():
        others = [loss for loss in CAPTION_LOSSES if loss != MLE]
        value = {
            (loss, column): published.published_value("smoothing", "table1", CAPTION_LOSSES[loss], column, block)
            for loss in CAPTION_LOSSES
            for column in ("CIDEr", "BLEU-4")
        }
        cider, bleu = (
            sum(value[loss, column] > value[MLE, column] for loss in others) for column in ("CIDEr", "BLEU-4")
        )
        counts.append(
            f"{block} {cider} of {len(others)} losses beat MLE in CIDEr{_here(run, captioner, 'CIDEr')} and {bleu} in "
            f"BLEU-4{_here(run, captioner, 'BLEU4')}"
        )
        for loss in others:
            if loss.endswith("_v"):
                restricted = [value[f"{loss[:-1]}{pool}", "CIDEr"] for pool in POOLS if pool != "v"]
                if max(restricted) < value[loss, "CIDEr"]:
                    against.append(f"{CAPTION_LOSSES[loss].removesuffix(' | V')} ({block})")
    words = f"*In print*, {'; '.join(counts)}."
    if against:
        words += f" Against L4, neither Vbatch nor Vrefs gets V's CIDEr with {' and '.join(against)}."
    return [words]


def _here(run: Run, captioner: str, metric: str) -> str:
    """How many of our losses beat MLE, in brackets."""
    levels = {
        loss: best_caption_by_seed(run.scores, f"{captioner}_{loss}", "beam", metric)
        for loss in CAPTION_LOSSES
        if f"{captioner}_{loss}" in run.by_name
    }
    means = {loss: float(by_seed.mean()) for loss, by_seed in levels.items() if by_seed is not None}
    if MLE not in means or len(means) == 1:
        return ""
    return f" (here {sum(mean > means[MLE] for mean in means.values())} of {len(means) - 1})"


def _policy_gradient(run: Run) -> list[str]:
    """The relative gain that the text quotes of policy gradient, beside those of the paper's best loss."""
    stated = published.text_claims("smoothing")["text4.1"]["value"]
    found = []
    for part in PARTS:
        if part.metric != "CIDEr":
            continue
        words = f"{100 * part.printed_gain(BEST) / part.printed[MLE]:.1f}% {part.name}"
        ours = _relative(run, part)
        found.append(f"{words} (here {ours:.1f}%)" if ours is not None else words)
    return [
        f"*Against policy gradient.* Section 4.1 quotes a relative gain in CIDEr of {stated}% by policy gradient "
        f"(Up-Down), which Table 2 lists only after it. CIDEr-weighted Tok-Seq with Vrefs gains {' and '.join(found)} "
        "over MLE."
    ]


def _relative(run: Run, part: Part) -> float | None:
    """Our relative gain of the best loss in print, in per cent."""
    levels = [best_caption_by_seed(run.scores, f"{part.system}_{loss}", "beam", part.metric) for loss in (BEST, MLE)]
    if levels[0] is None or levels[1] is None:
        return None
    return 100 * (float(levels[0].mean()) / float(levels[1].mean()) - 1)


def _determined(run: Run) -> list[str]:
    """Where translations are generated: how close to perfect MLE is."""
    levels = []
    for part in PARTS:
        if part.task == IMAGE or run.config.datasets[part.task] != "scenes":
            continue
        by_seed = best_caption_by_seed(run.scores, f"{part.system}_{MLE}", "beam", part.metric)
        if by_seed is not None:
            levels.append(f"{100 * float(by_seed.mean()):.1f} {part.name}")
    if not levels:
        return []
    return [
        f"*Translation of generated sentences.* MLE reaches a BLEU of {' and '.join(levels)}: a generated sentence has "
        "hardly more than one right translation, and what smoothing says of words near the right one, that they are "
        "right, too, is seldom so. People's sentences have many."
    ]


def _span(value: float | None, low: float | None, high: float | None) -> str:
    """A gain x100 with its interval."""
    numbers = [f"{100 * number:+.2f}" for number in (value, low, high) if number is not None]
    return f"{numbers[0]} [{', '.join(numbers[1:])}]"


def errors() -> list[str]:
    """Numbers of Table 2 that cannot be in the scale of their neighbours."""
    cells = published.published_table("smoothing", "table2")
    spice = {
        (str(cell["row"]), str(cell["column"])): float(cell["printed"])
        for cell in cells.to_dict("records")
        if str(cell["column"]).startswith("SPICE") and cell["printed"]
    }
    c5, c40 = ([value for (_, column), value in spice.items() if column == f"SPICE {of}"] for of in ("c5", "c40"))
    if min(c40) < max(c5):
        return []
    return [
        f"Table 2, SPICE c40: {min(c40)} to {max(c40)}, beside {min(c5)} to {max(c5)} with c5. Forty captions state "
        "far more than one caption can, so recall, and SPICE with it, must fall from c5 to c40. The column looks like "
        f"a thousandfold, not a hundredfold: {min(c40) / 1000:.4f} to {max(c40) / 1000:.4f}."
    ]
