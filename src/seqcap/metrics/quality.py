"""Quality of tokenized captions against references, by the code that also rewards training, without Java. BLEU, ROUGE-L
and CIDEr are pycocoevalcap's (`official.py`), METEOR is the jar's. SPICE has another parser than the official one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqcap.data.vocabulary import PAD
from seqcap.errors import InputError
from seqcap.metrics.captions import Caption, Floats, ImageCaption, References, check_captions
from seqcap.metrics.registry import QUALITY, find_metrics
from seqcap.rewards import PARSES
from seqcap.rewards.bleu import Bleu
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.corpus import bleu_from_statistics
from seqcap.rewards.frequencies import DocumentFrequencies, NumberedReferences
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import LARGEST_ID
from seqcap.rewards.sequences import References as CookedReferences

Ints = npt.NDArray[np.int64]
FIRST_ID = 4  # smaller ids are special tokens


@dataclass(frozen=True)
class Measured:
    """A metric's values of n captions, and the counts that give its value of any part of them.

    Attributes:
        per_caption: [n].
        statistics: counts [n, k], whose sums over captions give corpus values.
        aggregate: sums [..., k] -> corpus values [...].
    """

    per_caption: Floats
    statistics: Floats
    aggregate: Callable[[Floats], Floats]

    def corpus(self, rows: npt.ArrayLike | None = None) -> float:
        """The corpus value, not always the mean, of all captions or of some (indices or a mask)."""
        chosen = self.statistics if rows is None else self.statistics[np.asarray(rows)]
        return float(self.aggregate(chosen.sum(axis=0)))

    def by_image(self, number: int) -> Measured:
        """With a row of statistics for each image, of `number` captions in a row."""
        statistics = self.statistics.reshape(-1, number, self.statistics.shape[1]).sum(axis=1)
        return replace(self, statistics=statistics)

    @classmethod
    def mean(cls, per_caption: Floats) -> Measured:
        return cls(per_caption, np.stack([per_caption, np.ones_like(per_caption)], axis=1), _ratio)


def _ratio(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0] / totals[..., 1])


def _bleu_order(totals: Floats, order: int) -> Floats:
    return bleu_from_statistics(totals)[..., order]


class _Ids(dict[str, int]):
    """Gives a new word the next number; known words, which most are, cost a look-up."""

    def __missing__(self, word: str) -> int:
        self[word] = number = FIRST_ID + len(self)
        return number


class Coder:
    """Numbers words in order of appearance, because the rewards score ids."""

    def __init__(self) -> None:
        self._ids = _Ids()

    def encode(self, tokens: Caption) -> list[int]:
        return [self._ids[token] for token in tokens]

    def rows(self, captions: Sequence[Caption]) -> Ints:
        """Ids [n, time], padded, without EOS; InputError if there are more words than ids."""
        encoded = [self.encode(tokens) for tokens in captions]
        if len(self._ids) > LARGEST_ID - FIRST_ID:
            raise InputError(
                "captions", f"hold {len(self._ids)} distinct words", f"score at most {LARGEST_ID - FIRST_ID} at once"
            )
        rows = np.full((len(encoded), max(map(len, encoded), default=0)), PAD, dtype=np.int64)
        for row, ids in zip(rows, encoded, strict=True):
            row[: len(ids)] = ids
        return rows

    def cook(self, references: Iterable[Sequence[Caption]]) -> CookedReferences:
        """References without EOS."""
        return CookedReferences([[self.encode(tokens) for tokens in captions] for captions in references], eos=False)

    @property
    def words(self) -> list[str]:
        return list(self._ids)


def measure(
    references: References,
    captions: Sequence[ImageCaption],
    metrics: Iterable[str] = QUALITY,
    kept: Path | None = None,
    frequencies: DocumentFrequencies | None = None,
) -> dict[str, Measured]:
    """Scores captions, any number per image and in any order; returns metric -> values, x1 scale, in their order.
    Metrics are named in any spelling of `registry.find_metrics`. CIDEr's document frequencies are those of all
    references given, of which one image alone gives 0, or `frequencies`. Empty captions score 0. METEOR and SPICE are
    imported only if they are among the metrics; SPICE's parses and METEOR's numbered phrases stay in folder `kept`.
    InputError for a metric that is not of `registry.QUALITY`, or as in `check_captions`."""
    check_captions(references, captions)
    wanted = find_metrics(metrics)
    coder = Coder()
    index = {image_id: number for number, image_id in enumerate(references)}
    cooked = coder.cook(references.values())
    rows = coder.rows([tokens for _, tokens in captions])
    image = np.array([index[image_id] for image_id, _ in captions], dtype=np.int64)
    measured: dict[str, Measured] = {}
    if any(metric.startswith("BLEU") for metric in wanted):
        measured |= bleu_orders(Bleu(cooked).statistics(rows, image))
    if "METEOR" in wanted:
        measured["METEOR"] = meteor_of(coder, cooked, rows, image, kept)
    if "ROUGE_L" in wanted:
        measured["ROUGE_L"] = Measured.mean(RougeL(cooked).score(rows, image))
    if {"CIDEr", "SPIDEr"} & set(wanted):
        if frequencies is None:
            cider = CiderD(cooked).score(rows, image)
        else:
            cider = cider_of(list(references.values()), [tokens for _, tokens in captions], image, frequencies)
        measured["CIDEr"] = Measured.mean(cider)
    if {"SPICE", "SPIDEr"} & set(wanted):
        from seqcap.metrics.spice import spice
        from seqcap.spice.cache import CachedParser

        parser = CachedParser(None if kept is None else kept / PARSES.name)
        measured["SPICE"] = Measured.mean(spice(references, captions, parser))
    return chosen(measured, wanted)


def meteor_of(coder: Coder, cooked: CookedReferences, rows: Ints, image: Ints, kept: Path | None) -> Measured:
    """METEOR of captions as ids [n, time] of the coder; `kept` and errors as in `measure`."""
    from seqcap.metrics.paraphrases import lexicon_of
    from seqcap.rewards.meteor import Meteor, meteor_from_statistics

    lengths = (rows != PAD).sum(axis=1)
    tokens = np.concatenate([cooked.tokens, rows[rows != PAD]])
    bounds = np.concatenate([cooked.captions, cooked.captions[-1] + lengths.cumsum()])
    lexicon = lexicon_of([""] * FIRST_ID + coder.words, tokens, bounds, kept)
    return Measured(*Meteor(cooked, lexicon).measure(rows, image), meteor_from_statistics)


def cider_of(
    references: Sequence[Sequence[Caption]],
    captions: Sequence[Caption],
    image: Ints,
    frequencies: DocumentFrequencies,
) -> Floats:
    """CIDEr [n] with document frequencies of other images; without EOS, as always in evaluation."""
    frequencies.check_against(references)
    numbered = NumberedReferences(references, frequencies.numbers)
    rows = numbered.rows(captions, image.tolist(), [False] * len(captions))
    return CiderD(numbered.plain, frequencies.table).score(rows, image)


def bleu_orders(statistics: Floats) -> dict[str, Measured]:
    """BLEU1-BLEU4 from the counts [n, 10] of captions."""
    scores = bleu_from_statistics(statistics)
    return {
        f"BLEU{order + 1}": Measured(scores[:, order], statistics, partial(_bleu_order, order=order))
        for order in range(scores.shape[1])
    }


def chosen(measured: dict[str, Measured], metrics: Collection[str]) -> dict[str, Measured]:
    """The given metrics in the order of `QUALITY`, with SPIDEr as the mean of CIDEr and SPICE."""
    if "SPIDEr" in metrics and {"CIDEr", "SPICE"} <= set(measured):
        measured["SPIDEr"] = Measured.mean(spider_sum(measured).per_caption / 2)
    return {metric: measured[metric] for metric in QUALITY if metric in metrics and metric in measured}


def spider_sum(measured: Mapping[str, Measured]) -> Measured:
    """SPIDEr as its paper has it (Liu et al., ICCV 2017, section 3.2): the sum of CIDEr and SPICE, not the mean."""
    return Measured.mean(measured["CIDEr"].per_caption + measured["SPICE"].per_caption)
