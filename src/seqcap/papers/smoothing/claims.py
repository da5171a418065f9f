"""Loss smoothing's claims, what this run says that a test of a difference cannot, what stands in for what, and an error
in the paper's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seqcap.metrics import registry
from seqcap.papers.smoothing.rows import (
    ENSEMBLE,
    MEMBERS,
    MLE,
    ON_SERVER,
    PARTS,
    SERVER,
    SINGLE,
    Part,
    entries,
    entry_name,
)
from seqcap.report import published
from seqcap.report.claims import Claim, Printed, Result
from seqcap.report.inputs import SCENES, Run
from seqcap.report.tables import Measure, gain

# Of how long captions are.
LENGTH = "words"

METRICS = {
    "CIDEr_beam": Measure("beam", "CIDEr"),
    "BLEU1_beam": Measure("beam", "BLEU1"),
    "BLEU4_beam": Measure("beam", "BLEU4"),
    "words_beam": Measure("beam", LENGTH),
    # Of translations.
    "BLEU_beam": Measure("beam", "BLEU"),
}

TOK, RFREQ, BEST = "Tok | Glove sim", "Tok | Glove sim rfreq", "Tok-Seq | CIDER | Vrefs"
# A pool of more than this share of the vocabulary is no restriction.
_MOST = 0.5
# BLEU of at least so much (x100): sentences with hardly more than one right translation.
_ONE_TRANSLATION = 80
_BLOCKS = [part for part in PARTS if part.table == "table1"]
_TRANSLATIONS = [part for part in PARTS if part.table == "table3"]


# --- Claims


def claims(run: Run) -> list[Claim]:
    """The paper's claims about the runs that make its rows."""
    return [*_of_captions(run), *_of_lengths(run), *_of_translations(run), _of_the_server(run)]


def _claim(
    run: Run, number: str, text: str, part: Part, left: str, right: str, metric: str = "", untestable: str = ""
) -> Claim:
    """A claim about two rows of one part: left is higher."""
    metric = metric or part.metric
    column = part.column if metric == part.metric else registry.find(metric).label
    # Of how long captions are the paper has words, but no numbers.
    printed = None if metric == LENGTH else Printed("smoothing", part.table, column, (left, right), part.block)
    names = (part.maker(run, left), part.maker(run, right))
    words = f"{text}, {part.name}"
    return Claim(number, words, metric, "beam", "best", *names, +1, printed, untestable=untestable)


def best_in_print(part: Part, *starts: str) -> str:
    """Of the rows that start so, the one with the paper's best number."""
    return max((row for row in part.printed if row.startswith(starts)), key=part.printed.__getitem__)


def _restricted(part: Part, loss: str) -> str:
    """The better one of the rows in print whose substitutes are not the whole vocabulary."""
    return best_in_print(part, f"{loss} | Vbatch", f"{loss} | Vrefs")


def _best_sequences(part: Part) -> list[str]:
    """Of either reward, the sequence-level row with the paper's best CIDEr."""
    return [best_in_print(part, f"Seq | {reward}", f"Seq, lazy | {reward}") for reward in ("Hamming", "CIDER")]


def _of_captions(run: Run) -> Iterator[Claim]:
    """Of each family the rows with the paper's best CIDEr: forty rows would be forty claims that the paper does not
    make. L4 and L5 are about eight more rows with attention, where every seed is costly: `_with_attention` tells what
    the one seed of each says."""
    for part in _BLOCKS:
        for metric in ("CIDEr", "BLEU1", "BLEU4"):
            # With attention the paper prints a lower BLEU-4 than MLE's.
            if (part.block, metric) != ("with attention", "BLEU4"):
                yield _claim(run, "L1", "Token-level smoothing beats MLE", part, TOK, MLE, metric)
    for part in _BLOCKS:
        for metric in ("CIDEr", "BLEU4"):
            yield _claim(run, "L2", "Promoting rare tokens helps token-level smoothing", part, RFREQ, TOK, metric)
    for part in _BLOCKS:
        for best in _best_sequences(part):
            yield _claim(run, "L3", "Sequence-level smoothing beats MLE", part, best, MLE)
    part = _BLOCKS[0]
    for fewer, all_words in _fewer_substitutes(part):
        text = "Fewer substitutes beat the whole vocabulary"
        yield _claim(run, "L4", text, part, fewer, all_words, untestable=_same_words(run, part, fewer))
    for both, one in _both_and_parts(part):
        yield _claim(run, "L5", "Tok-Seq beats both of its parts", part, both, one)
    for part in _BLOCKS:
        runner_up = sorted(part.printed, key=part.printed.__getitem__)[-2]
        for other in (MLE, runner_up):
            yield _claim(run, "L6", "CIDEr-weighted Tok-Seq with Vrefs is the best of all", part, BEST, other)


def _fewer_substitutes(part: Part) -> list[tuple[str, str]]:
    """Row with the paper's better restriction of the substitutes, and row with all words."""
    losses = ("Seq | Hamming", "Seq | CIDER", "Tok-Seq | Hamming", "Tok-Seq | CIDER")
    return [(_restricted(part, loss), f"{loss} | V") for loss in losses]


def _both_and_parts(part: Part) -> list[tuple[str, str]]:
    """Row of Tok-Seq, and each of its parts."""
    pairs = [_restricted(part, loss) for loss in ("Tok-Seq | Hamming", "Tok-Seq | CIDER")]
    return [(both, one) for both in pairs for one in (TOK, both.removeprefix("Tok-"))]


def _same_words(run: Run, part: Part, row: str) -> str:
    """Why it makes no difference where a row's substitutes come from; "" where it does."""
    if not row.endswith("Vbatch") or row not in part.runs(run.runs):
        return ""
    curves = run.curves
    mine = (curves["quantity"] == "pool_share") & (curves["variant"] == part.maker(run, row))
    share = float(curves.loc[mine, "value"].mean())
    # NaN where training did not say.
    return f"a batch holds {share:.0%} of the words here" if share > _MOST else ""


def _of_lengths(run: Run) -> Iterator[Claim]:
    """From the text: "the sequence-level smoothing tend to generate lengthy captions"."""
    for part in _BLOCKS:
        for row in _best_sequences(part):
            yield _claim(run, "L11", "Sequence-level smoothing generates longer captions", part, row, MLE, LENGTH)


def _of_translations(run: Run) -> Iterator[Claim]:
    """Every loss over MLE."""
    for number, level, kind in (
        ("L7", "Token-level", "tok "),
        ("L8", "Sequence-level", "Seq "),
        ("L9", "Tok-Seq", "Tok-Seq "),
    ):
        for part in _TRANSLATIONS:
            for row in part.printed:
                if row.startswith(kind):
                    yield _claim(run, number, f"{level} smoothing beats MLE in translation", part, row, MLE)


def _of_the_server(run: Run) -> Claim:
    text, metric = "An ensemble of seeds beats a single model on the server", "CIDEr c5"
    printed = Printed("smoothing", "table2", metric, (ENSEMBLE, SINGLE))
    names = (entry_name(run, ENSEMBLE), entry_name(run, SINGLE))
    return Claim("L10", text, metric, "beam", "best", *names, +1, printed)


HEADLINES = frozenset(
    {
        *((number, "CIDEr", "beam") for number in ("L1", "L3", "L6")),
        ("L9", "BLEU", "beam"),
        ("L11", LENGTH, "beam"),
        ("L10", "CIDEr c5", "beam"),
    }
)


# --- What stands in for what


def stand_ins(run: Run) -> list[tuple[str, str]]:
    """What the paper has, and what stands for it here, apart from the data."""
    pairs = []
    if names := _captioners(run, _BLOCKS):
        pairs += [
            ("captioners without and with attention", f"captioners {names} of params.yaml on its visual features"),
            (
                "BLEU and CIDEr of the official COCO code",
                "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
            ),
        ]
    if names := _captioners(run, _TRANSLATIONS):
        pairs.append(("an encoder-decoder with attention (Bahdanau et al.)", f"translator {names} of params.yaml"))
    pairs.append(("GloVe, trained on the captions", "the word embeddings of params.yaml"))
    if ENSEMBLE in entries(run):
        evaluation, members = run.evaluation(SERVER), entries(run)[ENSEMBLE].members
        numbers = " and ".join(map(str, evaluation.references or ()))
        theirs = f"{ON_SERVER}, references of 5 and 40 people; an ensemble of {MEMBERS} seeds"
        ours = f"the {evaluation.split} split with {numbers} references per image; an ensemble of {members} seeds"
        pairs.append((theirs, ours))
    return pairs


def _captioners(run: Run, parts: Sequence[Part]) -> str:
    """The captioners of the runs that make some parts."""
    used = [entry.captioner for part in parts for entry in part.runs(run.runs).values()]
    return " and ".join(dict.fromkeys(f"`{captioner}`" for captioner in used))


# --- Remarks


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    """Which loss is best, lazy against full training, what is not judged with attention, how the printed gains compare,
    and what translations leave to gain."""
    found = [_most(run), _lazy(run), _with_attention(run), _as_printed(run), _policy_gradient(run), _determined(run)]
    return [remark for remarks in found for remark in remarks]


def _most(run: Run) -> list[str]:
    """The loss that gains most, here and in print."""
    found = []
    for part in PARTS:
        cells = [cell for cell in part.gain_cells(run) if cell.ours.value is not None]
        if not cells:
            continue
        best = max(cells, key=lambda cell: cell.ours.value or 0.0)
        ours = [
            f"{100 * number:+.2f}" for number in (best.ours.value, best.ours.low, best.ours.high) if number is not None
        ]
        printed = best_in_print(part, "")
        alone = " with one seed" if best.ours.n.endswith(" 1 seed") else ""
        found.append(
            f"{part.name}: {best.row}, {ours[0]} [{', '.join(ours[1:])}] {part.metric} over MLE{alone} (in print "
            f"{float(best.printed):+.2f}; the best there: {printed}, {part.printed_gain(printed):+.2f})"
        )
    if not found:
        return []
    words = "the best of so many is partly so by chance"
    return [f"*Which loss gains most.* {'; '.join(found)}. The intervals are of each loss alone: {words}."]


def _lazy(run: Run) -> list[str]:
    """Lazy minus full training, CIDEr: that two are alike is no difference to be tested."""
    found = []
    for part in _BLOCKS:
        pairs = [(row, row.replace(", lazy", "")) for row in part.printed if ", lazy" in row]
        made = [
            (gain(run, part.maker(run, lazy), part.maker(run, full), "beam", part.metric), (lazy, full))
            for lazy, full in pairs
        ]
        spans = [(ours.low, ours.high) for ours, _ in made if ours.low is not None and ours.high is not None]
        if not spans:
            continue
        ours = [100 * own.value for own, _ in made if own.value is not None]
        printed = [part.printed[lazy] - part.printed[full] for own, (lazy, full) in made if own.value is not None]
        found.append(
            f"{part.name}, lazy minus full is {min(ours):+.2f} to {max(ours):+.2f} in {len(ours)} pairs, whose "
            f"intervals reach up to {max(50 * (high - low) for low, high in spans):.2f} to either side and hold 0 in "
            f"{sum(low <= 0 <= high for low, high in spans)} (in print {min(printed):+.2f} to {max(printed):+.2f})"
        )
    if not found:
        return []
    return [
        "*Lazy or not.* That lazy training is about as good as full training is no difference that a test could find. "
        f"CIDEr {'; '.join(found)}."
    ]


def _with_attention(run: Run) -> list[str]:
    """What the table says of L4 and L5 where they are no claims."""
    part, counts, rows = _BLOCKS[1], [], set()
    for number, pairs in (("L4", _fewer_substitutes(part)), ("L5", _both_and_parts(part))):
        levels = [[_level(run, part, row, part.metric) for row in pair] for pair in pairs]
        ahead = [left > right for left, right in levels if left is not None and right is not None]
        rows |= {row for pair in pairs for row in pair}
        if ahead:
            counts.append(f"{sum(ahead)} of {len(ahead)} comparisons for {number}")
    if not counts:
        return []
    seeds = [len(entry.seeds) for row, entry in part.runs(run.runs).items() if row in rows]
    return [
        f"*L4 and L5 {part.name}.* The paper makes them for both captioners. Here they are claims without attention "
        f"only: {part.name}, {seeds.count(1)} of their {len(seeds)} rows have a single seed. {part.metric} has the "
        f"claimed sign in {' and '.join(counts)}."
    ]


def _as_printed(run: Run) -> list[str]:
    """How many of the printed rows beat MLE, and of ours, and where fewer substitutes do not help."""
    counts, against = [], []
    for part in _BLOCKS:
        cider, bleu = part.printed, part.printed_in("BLEU-4")
        in_cider, in_bleu = (sum(value > values[MLE] for value in values.values()) for values in (cider, bleu))
        counts.append(
            f"{part.name} {in_cider} of {len(cider) - 1} losses beat MLE in CIDEr{_here(run, part, 'CIDEr')} and "
            f"{in_bleu} in BLEU-4{_here(run, part, 'BLEU4')}"
        )
        for row in cider:
            if row.endswith(" | V") and max(cider[f"{row}batch"], cider[f"{row}refs"]) < cider[row]:
                against.append(f"{row.removesuffix(' | V')} ({part.name})")
    words = f"*In print*, {'; '.join(counts)}."
    if against:
        words += f" Against L4, neither Vbatch nor Vrefs gets V's CIDEr with {' and '.join(against)}."
    return [words]


def _here(run: Run, part: Part, metric: str) -> str:
    """How many of our losses beat MLE, in brackets."""
    means = {row: _level(run, part, row, metric) for row in part.printed}
    base = means.pop(MLE)
    others = [mean for mean in means.values() if mean is not None]
    if base is None or not others:
        return ""
    return f" (here {sum(mean > base for mean in others)} of {len(others)})"


def _level(run: Run, part: Part, row: str, metric: str) -> float | None:
    """The mean over seeds of a row's best captions."""
    by_seed = run.scores.by_seed(part.maker(run, row), "beam", metric)
    return None if by_seed is None else float(by_seed.mean())


def _policy_gradient(run: Run) -> list[str]:
    """The relative gain that the text quotes of policy gradient, beside those of the paper's best loss."""
    stated = published.text_claims("smoothing")["text4.1"]["value"]
    found = []
    for part in _BLOCKS:
        words = f"{100 * part.printed_gain(BEST) / part.printed[MLE]:.1f}% {part.name}"
        best, base = (_level(run, part, row, part.metric) for row in (BEST, MLE))
        found.append(words if best is None or base is None else f"{words} (here {100 * (best / base - 1):.1f}%)")
    return [
        f"*Against policy gradient.* Section 4.1 quotes a relative gain in CIDEr of {stated}% by policy gradient "
        f"(Up-Down), which Table 2 lists only after it. CIDEr-weighted Tok-Seq with Vrefs gains {' and '.join(found)} "
        "over MLE."
    ]


def _determined(run: Run) -> list[str]:
    """Where MLE's translations of generated sentences are close to perfect: how little there is to gain."""
    levels = []
    for part in _TRANSLATIONS:
        level = _level(run, part, MLE, part.metric)
        if level is not None and 100 * level >= _ONE_TRANSLATION and run.dataset(part.task) == SCENES:
            levels.append(f"{100 * level:.1f} {part.name} ({part.printed[MLE]:.1f} in print)")
    if not levels:
        return []
    return [
        f"*Translation of generated sentences.* MLE reaches a BLEU of {' and '.join(levels)}. Such a sentence has "
        "hardly more than one right translation, so little is left to gain, and words near the right one are seldom "
        "right, too. People's sentences have many translations."
    ]


# --- The paper's own numbers


def errors() -> list[str]:
    """Numbers of Table 2 that cannot be in the scale of their neighbours."""
    cells = published.published_table("smoothing", "table2").dropna(subset="value")
    c5, c40 = (cells.loc[cells["column"] == f"SPICE {of}", "value"] for of in ("c5", "c40"))
    if c40.min() < c5.max():
        return []
    return [
        f"Table 2, SPICE c40: {c40.min()} to {c40.max()}, beside {c5.min()} to {c5.max()} with c5. Forty captions "
        "state far more than one caption can, so recall, and SPICE with it, must fall from c5 to c40. The column looks "
        f"like a thousandfold, not a hundredfold: {c40.min() / 1000:.4f} to {c40.max() / 1000:.4f}."
    ]
