"""Loss smoothing's claims, and what this run says beyond tests of differences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from seqcap.metrics import registry
from seqcap.papers.smoothing.rows import (
    ENSEMBLE,
    FILE,
    MEMBERS,
    MLE,
    ON_SERVER,
    PHASE_1,
    SERVER,
    Part,
    entry_name,
    parts,
)
from seqcap.report.by_length import ByLength
from seqcap.report.claims import Comparison, JudgedClaim
from seqcap.report.claims_file import ClaimsFile, Comparisons, StatedClaim
from seqcap.report.inputs import SCENES, Results
from seqcap.report.verdicts import LEAST_SEEDS

_MOST = 0.5  # a pool of more than this share of the vocabulary is no restriction
_ONE_TRANSLATION = 80  # BLEU of at least so much (x100): sentences with hardly more than one right translation
_FEWEST = 2  # losses of which one gains most
_BEST = "tok_seq_cider_refs"  # the loss that the paper recommends
_PER_TOKEN = "per token"
_IN_CODE = "IWSLT'14, in the authors' code: a rate of .001, halved every 10 epochs, Tok alpha .8 and tau .1 (eq. 13)"
# Decoder -> the caption that it is of.
_WHICH = {
    "beam": "best beam {caption}",
    "greedy": "greedy {caption}",
    _PER_TOKEN: "beam's most probable {caption} per token",
}


def claims(results: Results) -> list[Comparison]:
    return ClaimsFile.of(results).made(lambda stated, group: _build(results, stated, group))


def _build(results: Results, stated: StatedClaim, group: Comparisons) -> Iterator[Comparison]:
    known = parts(results)
    for block, column, decoder, left, right in group.each():
        metric = results.paper.facts.columns[group.table][column][0] if group.table else column
        where, phrase, untestable = None, "", ""
        if block:
            part = known[block]
            where, names = part.facts.block, [part.name_of(loss) for loss in (left, right)]
            rows = [part.losses[loss].row for loss in (left, right)]
            phrase = f"{registry.find(metric).label} of the {_WHICH[decoder]}, {part.label}"
            untestable = _same_words(part, left) if stated.id == "L4" else ""
        else:
            names = [entry_name(results, name) for name in (left, right)]
            rows = [FILE.entries.get(name, name) for name in (left, right)]
        printed = results.paper.published.printed(group.table, column, *rows, block=where) if group.table else None
        claim = Comparison(stated.id, stated.sentence, metric, decoder, "best", names[0], names[1], +1, printed)
        sources = (ByLength(names[0]), ByLength(names[1])) if decoder == _PER_TOKEN else None
        yield replace(claim, untestable=untestable, phrase=phrase, sources=sources)


def _same_words(part: Part, loss: str) -> str:
    """Why the source of a loss's substitutes makes no difference here; "" where it does."""
    if part.losses[loss].pool != "Vbatch" or loss not in part.runs:
        return ""
    share = part.results.recorded(part.name_of(loss), "pool_share")
    return f"a batch holds {share:.0%} of the words here" if share is not None and share > _MOST else ""


def stand_ins(results: Results) -> list[tuple[str, str]]:
    pairs = []
    if names := _captioners(results, "table1"):
        code = "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own"
        ours = f"captioners {names} of params.yaml on its visual features"
        pairs = [("captioners without and with attention", ours), ("BLEU and CIDEr of the official COCO code", code)]
        learned = {
            part.label: results.steps[part.runs[MLE].name]
            for part in parts(results, "table1").values()
            if MLE in part.runs and part.runs[MLE].name in results.steps
        }
        if learned:
            theirs = "20 epochs of 113,287 images, 10 a batch: about 226,600 updates"
            pairs.append((theirs, "; ".join(f"{label}: {updates:,} updates" for label, updates in learned.items())))
    if names := _captioners(results, "table3"):
        theirs = "an encoder-decoder with attention (Bahdanau et al.), whose released beam adds probabilities"
        pairs.append((theirs, f"translator {names} of params.yaml, whose beam adds logarithms, and prefers short ones"))
        trained = [_training(part) for part in parts(results, "table3").values() if MLE in part.runs]
        pairs += [(_IN_CODE, "; ".join(trained))] if trained else []
    theirs = "GloVe, trained on the captions; in the authors' code the end of a caption and words without a vector, as "
    theirs += "the unknown one, have a constant one, whose cosine with words is about 0"
    ours = "the word embeddings of params.yaml, in which the end of a caption is a word, too, but in no word's target; "
    ours += "the unknown word as there"
    pairs.append((theirs, ours))
    if ENSEMBLE in results.by_name:
        evaluation, members = results.evaluation(SERVER), results.by_name[ENSEMBLE].members
        numbers = " and ".join(map(str, evaluation.references or ()))
        theirs = f"{ON_SERVER}, references of 5 and 40 people; an ensemble of {MEMBERS} seeds"
        ours = f"the {evaluation.split} split with {numbers} references per image; an ensemble of {members} seeds"
        pairs.append((theirs, ours))
    return pairs


def _captioners(results: Results, table: str) -> str:
    used = [run.captioner for part in parts(results, table).values() for run in part.runs.values()]
    return " and ".join(dict.fromkeys(f"`{captioner}`" for captioner in used))


def _training(part: Part) -> str:
    """How long and at what rate a part's MLE learned, and how much its tokens are smoothed where Tok is run."""
    mle, tok = part.runs[MLE], part.runs.get("tok")
    strength = f", Tok alpha {tok.settings['alpha']:g} and tau {tok.settings['tau']:g}" if tok else ""
    return f"{part.label}: {mle.epochs} epochs at {mle.learning_rate:g}, decaying{strength}"


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    """The paragraphs of claims.yaml that this run has something to say in: a phrase per part, of its values. What is of
    a table's parts is not said where none of these was run."""
    file, stated = ClaimsFile.of(results), results.paper.published.text_claims()["text4.1"]["value"]
    found = []
    for key, (value_of, table, between) in _VALUES.items():
        those = parts(results, table).values()
        values = [(part.label, value_of(part)) for part in those] if any(part.runs for part in those) else []
        phrases = [file.remark(f"{key} of a part", name=name, **known) for name, known in values if known]
        found += [file.remark(key, found=between.join(phrases), stated=stated)] if phrases else []
    return found


def _most(part: Part) -> dict[str, Any]:
    """The loss that gains most, of those with enough seeds: the best of single ones is the luckiest."""
    cells = [cell for cell in part.gains().values() if cell.ours.seeds >= LEAST_SEEDS]
    # Of one loss none gains most.
    if len(cells) < _FEWEST:
        return {}
    best, there = max(cells, key=lambda cell: cell.ours.value or 0.0), max(part.printed, key=part.printed.__getitem__)
    ours, printed = best.ours.signed(100, 2), [float(best.printed), part.printed_gain(there)]
    over = f"{part.facts.metric} over MLE"
    return {"best": best.row, "ours": ours, "over": over, "printed": printed, "there": part.losses[there].row}


def _frozen(part: Part) -> dict[str, Any]:
    """The authors' gains after their first phase, at our level of MLE, beside ours, of losses with enough seeds."""
    cells = part.results.paper.published.table(PHASE_1)
    chosen = cells[(cells["block"] == part.facts.block) & (cells["column"] == part.facts.column)]
    theirs = dict(zip(chosen["row"], chosen["value"], strict=True))
    level, mle = part.levels().get(MLE), theirs[part.losses[MLE].row]
    told = [
        f"{cell.row} {100 * (theirs[cell.row] - mle) * level / mle:+.1f} ({cell.ours.signed(100, 1)})"
        for cell in part.gains().values()
        if level is not None and cell.row in theirs and cell.ours.seeds >= LEAST_SEEDS
    ]
    return {"losses": ", ".join(told)} if told else {}


def _lazy(part: Part) -> dict[str, Any]:
    """CIDEr of lazy minus full training. No test can show that two losses are equally good."""
    cells = [part.gain(loss, loss.replace("_lazy", "")) for loss, known in part.losses.items() if known.lazy]
    made = [cell for cell in cells if cell.ours.value is not None]
    if not made:
        return {}
    spans = np.array([(cell.ours.value, cell.ours.low, cell.ours.high) for cell in made], dtype=np.float64)
    (ours, low, high), printed = 100 * spans.T, [float(cell.printed) for cell in made]
    reach, equal = (high - low).max() / 2, ((low <= 0) & (high >= 0)).sum()
    ends = [min(ours), max(ours), min(printed), max(printed)]
    return {"ends": ends, "pairs": len(ours), "reach": reach, "equal": equal}


def _in_print(part: Part) -> dict[str, Any]:
    """How many losses beat MLE, in CIDEr and in BLEU-4."""
    theirs = [_beating(part.printed_in(column)) for column in ("CIDEr", "BLEU-4")]
    ours = [_beating(part.levels(metric)) for metric in ("CIDEr", "BLEU4")]
    here = [f" (here {better} of {number})" if number else "" for better, number in ours]
    better, number = _beating(part.levels("CIDEr", "greedy"))
    return {"theirs": theirs, "here": here, "greedy": f", greedy here {better} of {number}," if number else ""}


def _beating(levels: Mapping[str, float]) -> tuple[int, int]:
    """How many losses are above MLE, and of how many; 0 without MLE."""
    above = [levels[loss] > levels[MLE] for loss in levels if loss != MLE] if MLE in levels else []
    return sum(above), len(above)


def _policy_gradient(part: Part) -> dict[str, Any]:
    gain, mle = part.gain(_BEST).ours.value, part.levels().get(MLE)
    here = f" (here {100 * gain / mle:.1f}%)" if gain is not None and mle is not None else ""
    return {"printed": 100 * part.printed_gain(_BEST) / part.printed[MLE], "here": here}


def _determined(part: Part) -> dict[str, Any]:
    """How little there is to gain where MLE's translations of generated sentences are close to perfect."""
    level = 100 * part.levels().get(MLE, 0.0)
    # A part that was not run has no dataset.
    perfect = level >= _ONE_TRANSLATION and part.results.dataset(part.facts.task) == SCENES
    return {"level": level, "printed": part.printed[MLE]} if perfect else {}


def _lengths(part: Part) -> dict[str, Any]:
    """How long translations of the beam are, what BLEU's brevity penalty leaves of their score, and how many have no
    word at all: a beam without length normalisation may lose by that alone."""
    of_losses, references = [], 0.0
    for loss, run in part.runs.items():
        sample = part.results.scores.sample(run.name, "beam", part.facts.metric, "best")
        if sample is None:
            continue
        # The last two counts of a sentence (`seqcap.evaluation.translations`).
        of_sentences = sample.statistics[:, :, -2:]
        written, expected = np.moveaxis(of_sentences.mean(axis=0), -1, 0)
        # Without a word nothing is left.
        penalty = float(np.exp(np.minimum(0.0, 1.0 - expected / np.maximum(written, 1e-9))).mean())
        is_empty = of_sentences[..., 0] == 0
        without_words = f", {is_empty.sum()} of {is_empty.size:,} are empty" if is_empty.any() else ""
        few = " °" * (len(run.seeds) < LEAST_SEEDS)
        of_losses.append(f"{part.losses[loss].row}{few} {written.mean():.2f} ({penalty:.3f}){without_words}")
        references = float(expected.mean())
    return {"losses": "; ".join(of_losses), "references": references} if len(of_losses) > 1 else {}


# Paragraph of claims.yaml -> the values of its phrase on a part, which parts it is of, what stands between phrases.
_VALUES: Mapping[str, tuple[Callable[[Part], dict[str, Any]], str, str]] = {
    "most": (_most, "", "; "),
    "frozen": (_frozen, "table1", "; "),
    "lazy": (_lazy, "table1", "; "),
    "print": (_in_print, "table1", "; "),
    "policy": (_policy_gradient, "table1", " and "),
    "lengths": (_lengths, "table3", ". "),
    "determined": (_determined, "table3", " and "),
}
