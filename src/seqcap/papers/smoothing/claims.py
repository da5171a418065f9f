"""Loss smoothing's claims, and what this run says beyond tests of differences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from seqcap.metrics import registry
from seqcap.papers.smoothing.rows import ENSEMBLE, MEMBERS, MLE, ON_SERVER, SERVER, Part, entry_name, parts, read_rows
from seqcap.report.claims import Claim, Result
from seqcap.report.claims_file import ClaimsFile, Entry, Stated
from seqcap.report.inputs import SCENES, Run

_MOST = 0.5  # a pool of more than this share of the vocabulary is no restriction
_ONE_TRANSLATION = 80  # BLEU of at least so much (x100): sentences with hardly more than one right translation
_BEST = "tok_seq_cider_refs"  # the loss that the paper recommends


def claims(run: Run) -> list[Claim]:
    return ClaimsFile.read(run.paper).made(lambda stated, entry: _build(run, stated, entry))


def _build(run: Run, stated: Stated, entry: Entry) -> Iterator[Claim]:
    known = parts(run)
    for block, column, _, left, right in entry.each():
        metric = run.paper.facts.columns[entry.table][column][0] if entry.table else column
        if block:
            part = known[block]
            phrase = f"{registry.find(metric).label} of the best beam {{caption}}, {part.facts.name}"
            untestable = _same_words(part, left) if stated.id == "L4" else ""
            names, rows = (part.name_of(left), part.name_of(right)), (part.losses[left].row, part.losses[right].row)
        else:
            phrase, untestable, names = "", "", (entry_name(run, left), entry_name(run, right))
            rows = (read_rows(run.paper).entries[left], read_rows(run.paper).entries[right])
        where = part.facts.block if block else None
        printed = run.paper.published.printed(entry.table, column, *rows, block=where) if entry.table else None
        claim = Claim(stated.id, stated.sentence, metric, "beam", "best", *names, +1, printed)
        yield replace(claim, untestable=untestable, phrase=phrase)


def _same_words(part: Part, loss: str) -> str:
    """Why the source of a loss's substitutes makes no difference here; "" where it does."""
    if part.losses[loss].pool != "Vbatch" or loss not in part.runs:
        return ""
    curves = part.run.curves
    mine = (curves["quantity"] == "pool_share") & (curves["variant"] == part.name_of(loss))
    share = float(curves.loc[mine, "value"].mean())
    # NaN where training did not record it.
    return f"a batch holds {share:.0%} of the words here" if share > _MOST else ""


def stand_ins(run: Run) -> list[tuple[str, str]]:
    pairs = []
    if names := _captioners(run, "table1"):
        pairs += [
            ("captioners without and with attention", f"captioners {names} of params.yaml on its visual features"),
            (
                "BLEU and CIDEr of the official COCO code",
                "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
            ),
        ]
    if names := _captioners(run, "table3"):
        pairs.append(("an encoder-decoder with attention (Bahdanau et al.)", f"translator {names} of params.yaml"))
    pairs.append(("GloVe, trained on the captions", "the word embeddings of params.yaml"))
    if ENSEMBLE in run.by_name:
        evaluation, members = run.evaluation(SERVER), run.by_name[ENSEMBLE].members
        numbers = " and ".join(map(str, evaluation.references or ()))
        theirs = f"{ON_SERVER}, references of 5 and 40 people; an ensemble of {MEMBERS} seeds"
        ours = f"the {evaluation.split} split with {numbers} references per image; an ensemble of {members} seeds"
        pairs.append((theirs, ours))
    return pairs


def _captioners(run: Run, table: str) -> str:
    used = [entry.captioner for part in parts(run, table).values() for entry in part.runs.values()]
    return " and ".join(dict.fromkeys(f"`{captioner}`" for captioner in used))


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    found = [_most(run), _lazy(run), _as_printed(run), _policy_gradient(run), _determined(run)]
    return [remark for remark in found if remark]


def _most(run: Run) -> str:
    found = []
    for part in parts(run).values():
        cells = [cell for cell in part.gains().values() if cell.ours.value is not None]
        if not cells:
            continue
        best = max(cells, key=lambda cell: cell.ours.value or 0.0)
        printed = max(part.printed, key=part.printed.__getitem__)
        alone = " with one seed" if best.ours.n.endswith(" 1 seed") else ""
        found.append(
            f"{part.facts.name}: {best.row}, {best.ours.signed(100, 2)} {part.facts.metric} over MLE{alone} (in "
            f"print {float(best.printed):+.2f}; the best there: {part.losses[printed].row}, "
            f"{part.printed_gain(printed):+.2f})"
        )
    return ClaimsFile.read(run.paper).remark("most", found="; ".join(found)) if found else ""


def _lazy(run: Run) -> str:
    """CIDEr of lazy minus full training. No test can show that two losses are equally good."""
    found = []
    for part in parts(run, "table1").values():
        pairs = [
            (lazy, full)
            for lazy, known in part.losses.items()
            for full, other in part.losses.items()
            if known.lazy and other == known.model_copy(update={"lazy": False, "row": other.row})
        ]
        cells = [part.gain(lazy, full) for lazy, full in pairs]
        made = [cell for cell in cells if cell.ours.value is not None]
        spans = [(cell.ours.low or 0.0, cell.ours.high or 0.0) for cell in made if cell.ours.low is not None]
        if not spans:
            continue
        ours = [100 * (cell.ours.value or 0.0) for cell in made]
        printed = [
            part.printed[lazy] - part.printed[full]
            for cell, (lazy, full) in zip(cells, pairs, strict=True)
            if cell.ours.value is not None
        ]
        found.append(
            f"{part.facts.name}, lazy minus full is {min(ours):+.2f} to {max(ours):+.2f} in {len(ours)} pairs, whose "
            f"intervals reach up to {max(50 * (high - low) for low, high in spans):.2f} to either side and hold 0 in "
            f"{sum(low <= 0 <= high for low, high in spans)} (in print {min(printed):+.2f} to {max(printed):+.2f})"
        )
    return ClaimsFile.read(run.paper).remark("lazy", found="; ".join(found)) if found else ""


def _as_printed(run: Run) -> str:
    counts, against = [], []
    for part in parts(run, "table1").values():
        name, cider, bleu = part.facts.name, part.printed, part.printed_in("BLEU-4")
        in_cider, in_bleu = (sum(value > values[MLE] for value in values.values()) for values in (cider, bleu))
        counts.append(
            f"{name} {in_cider} of {len(cider) - 1} losses beat MLE in CIDEr{_here(part, 'CIDEr')} and {in_bleu} in "
            f"BLEU-4{_here(part, 'BLEU4')}"
        )
        for loss, known in part.losses.items():
            alike = [
                cider[other]
                for other, value in part.losses.items()
                if (value.level, value.reward, value.lazy) == (known.level, known.reward, known.lazy) and other != loss
            ]
            if known.pool == "V" and max(alike) < cider[loss]:
                against.append(f"{known.row.removesuffix(' | V')} ({name})")
    words = f"*In print*, {'; '.join(counts)}."
    if against:
        words += f" Against L4, neither Vbatch nor Vrefs gets V's CIDEr with {' and '.join(against)}."
    return words


def _here(part: Part, metric: str) -> str:
    means = {loss: part.level(loss, metric) for loss in part.losses}
    base = means.pop(MLE)
    others = [mean for mean in means.values() if mean is not None]
    if base is None or not others:
        return ""
    return f" (here {sum(mean > base for mean in others)} of {len(others)})"


def _policy_gradient(run: Run) -> str:
    stated = run.paper.published.text_claims()["text4.1"]["value"]
    found = []
    for part in parts(run, "table1").values():
        words = f"{100 * part.printed_gain(_BEST) / part.printed[MLE]:.1f}% {part.facts.name}"
        best, base = part.level(_BEST), part.level(MLE)
        found.append(words if best is None or base is None else f"{words} (here {100 * (best / base - 1):.1f}%)")
    return ClaimsFile.read(run.paper).remark("policy", stated=stated, found=" and ".join(found))


def _determined(run: Run) -> str:
    """How little there is to gain where MLE's translations of generated sentences are close to perfect."""
    levels = []
    for part in parts(run, "table3").values():
        level = part.level(MLE)
        if level is not None and 100 * level >= _ONE_TRANSLATION and run.dataset(part.facts.task) == SCENES:
            levels.append(f"{100 * level:.1f} {part.facts.name} ({part.printed[MLE]:.1f} in print)")
    return ClaimsFile.read(run.paper).remark("determined", levels=" and ".join(levels)) if levels else ""
