"""Scores of captions, and of the difference between systems, in one call."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seqcap.errors import InputError
from seqcap.library.texts import Captions, Paired, cache_folder, pair
from seqcap.metrics import notes
from seqcap.metrics.captions import Floats
from seqcap.metrics.quality import Measured, measure
from seqcap.metrics.registry import METRICS, QUALITY, find_metrics
from seqcap.metrics.signatures import signature, span
from seqcap.metrics.significance import TEST, Difference, Score, differences, with_intervals
from seqcap.rewards.frequencies import DocumentFrequencies
from seqcap.system.extras import OF_METRIC, require, why_missing

FEW = 100  # with fewer images, words have document frequencies by accident
ONE_IMAGE = "is 0 by definition for one image: score several together, or pass document frequencies"
Frequencies = DocumentFrequencies | str | Path


@dataclass(frozen=True)
class Evaluation:
    """Scores of one system, x1 scale: CIDEr is in 0 .. 10, everything else in 0 .. 1.

    `evaluation["CIDEr"]` is a `Score` (value, low, high), by a name in any spelling. BLEU's and METEOR's corpus value
    is not the mean of the items' values.

    Attributes:
        items: places in the lists, or keys of the dicts.
        corpus: metric -> its value of all captions, with a 95% bootstrap interval.
        per_item: metric -> a value for each of `items`, [items], the mean over its candidates.
        reasons: metric -> why it has no value.
        signatures: metric -> what its values depend on, a line to paste into a paper.
        notes: what a reader should know: items that are not scored, empty captions.
        measured: metric -> its values with statistics of each item.
    """

    items: Sequence[Hashable]
    corpus: Mapping[str, Score]
    per_item: Mapping[str, Floats]
    reasons: Mapping[str, str]
    signatures: Mapping[str, str]
    notes: Sequence[str]
    measured: Mapping[str, Measured]

    def __getitem__(self, metric: str) -> Score:
        """InputError with the reason, if the metric has no value."""
        name = _one(metric)
        if name not in self.corpus:
            raise InputError(metric, self.reasons.get(name, "was not asked for"), f"there is {', '.join(self.corpus)}")
        return self.corpus[name]

    def __str__(self) -> str:
        """A table, x100, with intervals and what is missing."""
        width = max(len(METRICS[name].shown) for name in [*self.corpus, *self.reasons])
        lines = []
        for name, score in self.corpus.items():
            interval = f"  [{100 * (score.low or 0):6.2f}, {100 * (score.high or 0):6.2f}]"
            lines.append(f"{METRICS[name].shown:{width}}  {100 * score.value:6.2f}{interval}")
        lines += [f"{METRICS[name].shown:{width}}       –  {reason}" for name, reason in self.reasons.items()]
        return "\n".join([*lines, *self.notes])


@dataclass(frozen=True)
class Comparison:
    """Systems, and how far each is from the first.

    Attributes:
        systems: name -> its scores; the others are compared with the first.
        differences: system -> metric, by its name in `Evaluation.corpus` -> how far it is from the first system.
    """

    systems: Mapping[str, Evaluation]
    differences: Mapping[str, Mapping[str, Difference]]

    def __str__(self) -> str:
        """A table, x100, with a line for each system and metric."""
        first, *others = self.systems
        lines = [f"difference from {first} [95% paired bootstrap], p: {TEST}"]
        for name in others:
            for metric, found in self.differences[name].items():
                interval = f"[{100 * found.low:+.2f}, {100 * found.high:+.2f}]"
                lines.append(
                    f"{name}  {METRICS[metric].shown}  {100 * found.value:+.2f}  {interval}  p {found.p_value:.4f}"
                )
        return "\n".join(lines)


def evaluate(
    candidates: Captions,
    references: Captions,
    metrics: str | Iterable[str] | None = None,
    *,
    frequencies: Frequencies | None = None,
    cache: str | Path | None = None,
) -> Evaluation:
    """Scores captions against references, as pycocoevalcap does from the raw text on, but for SPICE's parser.

    Args:
        candidates: a text for each item, or several (the same number for each): a list, or a dict by image.
        references: an item's texts: a list in the same order, or a dict by image. Images of it that have no candidate
            are not scored.
        metrics: names in any spelling ("cider", "BLEU-4", "bleu" for all four). None: all that are installed; the
            others are in `reasons`.
        frequencies: CIDEr's document frequencies, or their file; None: those of the references that are scored, of
            which one image alone has no CIDEr.
        cache: folder for SPICE's parses and METEOR's phrases; None: `seqcap` in the user's cache folder.

    Raises:
        InputError: texts and references do not belong together, a metric is unknown or needs an extra that is not
            installed, or a file cannot be read.
    """
    wanted = _wanted(metrics)
    return _evaluate(pair(candidates, references), wanted, _read(frequencies), cache, explicit=metrics is not None)


def compare(
    systems: Mapping[str, Captions],
    references: Captions,
    metrics: str | Iterable[str] | None = None,
    *,
    frequencies: Frequencies | None = None,
    cache: str | Path | None = None,
) -> Comparison:
    """Scores systems that captioned the same items, and compares each with the first one.

    Every difference has the 95% interval of the paired bootstrap over items, and a two-sided p-value by approximate
    randomisation (Riezler and Maxwell, 2005). Both are about other items, not about other training runs.

    Args:
        systems: by name, candidates as `evaluate` takes them; at least two.
        references: as `evaluate` takes them, and so are all that follow.
        metrics: which are computed.
        frequencies: CIDEr's document frequencies.
        cache: a folder for parses and phrases.

    Raises:
        InputError: as `evaluate`, or the systems captioned different items.
    """
    if len(systems) < 2:
        raise InputError("systems", f"are {len(systems)}", "compare at least two")
    wanted, counted = _wanted(metrics), _read(frequencies)
    found = {
        name: _evaluate(pair(candidates, references), wanted, counted, cache, explicit=metrics is not None)
        for name, candidates in systems.items()
    }
    first, *others = found
    for name in others:
        if found[name].items != found[first].items:
            raise InputError("systems", f"{name} captions other items than {first}", "compare captions of the same")
    base, number = found[first].measured, len(found[first].items)
    return Comparison(found, {name: differences(base, found[name].measured, number) for name in others})


def _evaluate(
    paired: Paired,
    metrics: Sequence[str],
    frequencies: DocumentFrequencies | None,
    cache: str | Path | None,
    explicit: bool,
) -> Evaluation:
    reasons = why_without(metrics, explicit, len(paired.items) == 1 and frequencies is None)
    wanted = [name for name in metrics if name not in reasons]
    references = dict(enumerate(paired.references))
    flat = [(item, words) for item, texts in enumerate(paired.candidates) for words in texts]
    folder = cache_folder() if cache is None else Path(cache)
    found = measure(references, flat, wanted, folder, frequencies) if wanted else {}
    measured = {name: values.by_image(paired.number) for name, values in found.items()}
    images, spans = str(len(paired.items)), span([len(texts) for texts in paired.references])
    return Evaluation(
        paired.items,
        with_intervals(measured, len(paired.items)),
        {name: values.per_caption.reshape(-1, paired.number).mean(axis=1) for name, values in measured.items()},
        reasons,
        {name: signature(name, images, spans, frequencies) for name in measured},
        _notes(paired, list(measured), frequencies),
        measured,
    )


def why_without(metrics: Sequence[str], explicit: bool, alone: bool) -> dict[str, str]:
    """Why metrics have no value: one image `alone` has no CIDEr, and not all may be installed. InputError for one that
    is asked for by name (`explicit`) and not installed."""
    reasons = {}
    for name in metrics:
        extra = OF_METRIC.get(name)
        if extra is not None and explicit:
            require(extra, METRICS[name].shown)
        if extra is not None and (why := why_missing(extra)):
            reasons[name] = why
        elif alone and name in ("CIDEr", "SPIDEr"):
            reasons[name] = ONE_IMAGE
    return reasons


def _notes(paired: Paired, metrics: Sequence[str], frequencies: DocumentFrequencies | None) -> list[str]:
    said = []
    if paired.missing:
        said.append(f"{paired.missing:,} items of the references have no caption and are not scored")
    empty = sum(not words for texts in paired.candidates for words in texts)
    if empty:
        said.append(f"{empty:,} captions have no words and score 0")
    said += notes.of_language(paired.references, metrics)
    if {"CIDEr", "SPIDEr"} & set(metrics):
        said += notes.of_lengths(paired.candidates, paired.references)
        if frequencies is None and len(paired.items) < FEW:
            said.append(f"CIDEr's document frequencies come from {len(paired.items)} items: scores of others differ")
    return said


def _wanted(metrics: str | Iterable[str] | None) -> list[str]:
    if metrics is None:
        return list(QUALITY)
    wanted = find_metrics([metrics] if isinstance(metrics, str) else metrics)
    if not wanted:
        raise InputError("metrics", "are none", f"choose among {', '.join(QUALITY)}")
    return wanted


def _one(metric: str) -> str:
    found = find_metrics([metric])
    if len(found) > 1:
        raise InputError("metrics", f"{metric!r} is several", f"choose one of {', '.join(found)}")
    return found[0]


def _read(frequencies: Frequencies | None) -> DocumentFrequencies | None:
    return None if frequencies is None else DocumentFrequencies.given(frequencies)
