"""Rewards for other people's trainers: on texts (`CaptionReward`) and on token ids of any tokenizer (`TokenReward`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError
from seqcap.library.texts import Texts, Words, by_item, cache_folder, texts_of
from seqcap.metrics.captions import Floats
from seqcap.metrics.registry import METRICS, QUALITY, find_metrics
from seqcap.rewards.bleu import Bleu
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.frequencies import DocumentFrequencies, NumberedReferences, Tokens
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import checked_images
from seqcap.system.extras import OF_METRIC, require

Ints = npt.NDArray[np.int64]
Metrics = str | Iterable[str] | Mapping[str, float]
# Scores [n] of captions (words), of the places of their references in a list.
TextMetric = Callable[[Sequence[Words], Sequence[Sequence[str]], Sequence[int]], Floats]
BLEUS = QUALITY[:4]
ONE_IMAGE = "count over one image, where every CIDEr is 0"
COUNT = "pass references of the whole training set, or `frequencies` counted over them"


class CaptionReward:
    """Pays completions by their similarity to references, in the scale of each metric (CIDEr-D 0 .. 10, others 0 .. 1).

    It is called as TRL's GRPO and RLOO trainers and ms-swift call a reward function: with `completions` and the
    dataset's columns as lists of the same length. CIDEr-D counts the end of a completion as a word, as self-critical
    training does (Rennie et al., CVPR 2017): "a man rides a horse on a" pays less than a caption that ends where it
    should.

    Args:
        metrics: a metric, several (which are added), or weights by metric: "cider", ["cider", "spice"],
            {"cider": 1, "bleu-4": 0.5}. "spider" is the mean of CIDEr and SPICE.
        references: the training set's texts by image; the column `image_column` names each completion's image. None:
            the column `references_column` holds each completion's references.
        frequencies: CIDEr's document frequencies, or their file. None: those of `references`. They are never counted
            over a batch, where a caption's reward would depend on its neighbours.
        eos: the tokenizer's `eos_token_id`. With it, completions whose `completion_ids` (a column that TRL passes) lack
            it count as cut off. None: each completion counts as ended.
        image_column: the column with the completions' images, keys of `references`.
        references_column: the column with the completions' references, a list of texts each.
        cache: folder for METEOR's phrases; None: `seqcap` in the user's cache folder.

    Raises:
        InputError: a metric is unknown or needs an extra that is not installed, CIDEr has no document frequencies, or
            an image has no references.
    """

    def __init__(
        self,
        metrics: Metrics,
        references: Mapping[Any, Texts] | Sequence[Texts] | None = None,
        *,
        frequencies: DocumentFrequencies | str | Path | None = None,
        eos: int | None = None,
        image_column: str = "image_id",
        references_column: str = "references",
        cache: str | Path | None = None,
    ) -> None:
        self._weights = weights_of(metrics)
        for metric in self._weights:
            if metric in OF_METRIC:
                require(OF_METRIC[metric], METRICS[metric].shown)
        # Trainers log a reward by this name.
        self.__name__ = "_".join(metric.lower() for metric in self._weights)
        self._columns = image_column, references_column
        self._end = None if eos is None else _End(eos)
        known = {} if references is None else by_item(references, "references")
        self._places: dict[Hashable, int] | None = None if references is None else _places(known)
        self._references = list(known.values())
        self._frequencies = counted("CIDEr" in self._weights, self._references, frequencies)
        self._ngrams = None if references is None else _Ngrams(self._weights, self._references, self._frequencies)
        self._words: dict[str, TextMetric] = {}
        if "METEOR" in self._weights:
            self._words["METEOR"] = _Meteor(cache_folder() if cache is None else Path(cache))
        if "SPICE" in self._weights:
            self._words["SPICE"] = _Spice()

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """The reward of each completion: a text, or chat messages, of which the last one's text counts."""
        captions = [tokenize(text_of(completion)) for completion in completions]
        ended = self._ended(columns, len(captions))
        references, images, ngrams = self._material(columns, len(captions))
        total = ngrams.score(captions, images, ended)
        for metric, score in self._words.items():
            total += self._weights[metric] * score(references, captions, images)
        rewards: list[float] = total.tolist()
        return rewards

    def _ended(self, columns: Mapping[str, Any], number: int) -> list[bool]:
        ids = columns.get("completion_ids")
        if self._end is None or ids is None:
            return [True] * number
        return self._end.check([self._end.token in row for row in _column(ids, "completion_ids", number)])

    def _material(self, columns: Mapping[str, Any], number: int) -> tuple[list[Words], list[int], _Ngrams]:
        """References, the place of each completion's in them, and the n-gram metrics over them."""
        images, texts = self._columns
        if self._places is not None and self._ngrams is not None:
            if images not in columns:
                problem = f"has no column {images!r}, but {', '.join(sorted(columns)) or 'none'}"
                raise InputError("the call", problem, "name the dataset's column of images by `image_column`")
            found = [self._places.get(image) for image in _column(columns[images], images, number)]
            if None in found:
                unknown = columns[images][found.index(None)]
                raise InputError(images, f"{unknown!r} has no references", "pass those of every training image")
            return self._references, [place for place in found if place is not None], self._ngrams
        if texts not in columns:
            problem = f"has no column {texts!r}, but {', '.join(sorted(columns)) or 'none'}"
            raise InputError("the call", problem, "name it by `references_column`, or pass references when building")
        own = [tuple(texts_of(row, texts)) for row in _column(columns[texts], texts, number)]
        places = _places(own)
        references = [[tokenize(text) for text in row] for row in places]
        if not all(references):
            raise InputError(texts, "hold a completion without references", "pass at least one for each")
        ngrams = _Ngrams(self._weights, references, self._frequencies)
        return references, [places[row] for row in own], ngrams


class TokenReward:
    """Pays captions as token ids of any tokenizer, by n-grams: CIDEr-D, BLEU-1 .. 4 and ROUGE-L, as `CaptionReward`.

    A caption is what comes before the first `eos` or `pad`. CIDEr-D counts `eos` as a word, so that a caption that was
    cut off pays less.

    Args:
        metrics: as for `CaptionReward`; METEOR and SPICE read words and are not among them.
        references: token ids of the training set's captions, `[images][captions][tokens]`. What comes from `eos` on is
            dropped. Ids may be of any size.
        pad: the tokenizer's `pad_token_id`; it may be the same as `eos`.
        eos: the tokenizer's `eos_token_id`.
        frequencies: document frequencies of such ids, or their file; None: those of `references`.

    Raises:
        InputError: as `CaptionReward`, or an id is negative.
    """

    def __init__(
        self,
        metrics: Metrics,
        references: Sequence[Sequence[Sequence[int]]],
        *,
        pad: int,
        eos: int,
        frequencies: DocumentFrequencies | str | Path | None = None,
    ) -> None:
        weights = weights_of(metrics)
        words = [metric for metric in weights if metric in OF_METRIC]
        if words:
            raise InputError("metrics", f"{words[0]} reads words, not token ids", "use CaptionReward with texts")
        self._pad, self._end = pad, _End(eos)
        captions = [[self._before_end([int(token) for token in ids]) for ids in group] for group in references]
        found = counted("CIDEr" in weights, captions, frequencies)
        self._ngrams = _Ngrams(weights, captions, found)
        self._images = len(captions)

    def __call__(self, ids: Any, image: Any) -> list[float]:
        """The reward of each caption. `ids` [n, time] integers (an array, a list or a tensor) with `pad` after the end;
        `image` [n] are places in the references. InputError for other shapes, or if no caption of this and of earlier
        calls has ended with `eos`: another tokenizer's number for it would make every caption look cut off."""
        rows = _integers(ids)
        images = checked_images(image.cpu() if hasattr(image, "cpu") else image, len(rows), self._images)
        # With a column that no token has, every caption stops somewhere; where eos is pad, too, not every one ends.
        closed = np.full((len(rows), rows.shape[1] + 1), -1)
        closed[:, :-1] = rows
        lengths = ((closed == self._end.token) | (closed == self._pad) | (closed == -1)).argmax(axis=1)
        ended = self._end.check((closed[np.arange(len(rows)), lengths] == self._end.token).tolist())
        captions = [row[:length] for row, length in zip(rows.tolist(), lengths.tolist(), strict=True)]
        rewards: list[float] = self._ngrams.score(captions, images.tolist(), ended).tolist()
        return rewards

    def _before_end(self, ids: Sequence[int]) -> list[int]:
        return list(takewhile(lambda token: token not in (self._end.token, self._pad), ids))


class _Ngrams:
    """The weighted sum of metrics that compare n-grams, over references [images][captions][tokens]."""

    def __init__(
        self,
        weights: Mapping[str, float],
        references: Sequence[Sequence[Tokens]],
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self._weights = weights
        self._numbered = NumberedReferences(references, {} if frequencies is None else frequencies.numbers)
        self._bleu = Bleu(self._numbered.plain) if set(BLEUS) & set(weights) else None
        self._rouge = RougeL(self._numbered.plain) if "ROUGE_L" in weights else None
        self._cider = None if frequencies is None else CiderD(self._numbered.ended, frequencies.table)

    def score(self, captions: Sequence[Tokens], images: Sequence[int], ended: Sequence[bool]) -> Floats:
        """[n] of captions without EOS, of the places of their references, and whether they have ended."""
        rows, image = self._numbered.rows(captions, images, ended), np.array(images, dtype=np.int64)
        total = np.zeros(len(captions))
        if self._bleu is not None:
            total += self._bleu.score(rows, image) @ np.array([self._weights.get(metric, 0.0) for metric in BLEUS])
        if self._rouge is not None:
            total += self._weights["ROUGE_L"] * self._rouge.score(rows, image)
        if self._cider is not None:
            total += self._weights["CIDEr"] * self._cider.score(rows, image)
        return total


class _End:
    """The token that ends a caption, and whether it has ever been seen."""

    def __init__(self, token: int) -> None:
        self.token = int(token)
        self._seen = False

    def check(self, ended: Sequence[bool]) -> list[bool]:
        """The same; InputError if neither these captions nor earlier ones have ended."""
        self._seen = self._seen or any(ended) or not ended
        if not self._seen:
            problem = f"hold no end: the token {self.token} is in none of {len(ended)}"
            raise InputError(
                "captions", problem, "pass the tokenizer's eos_token_id as `eos`, or let captions be longer"
            )
        return list(ended)


class _Meteor:
    """METEOR of texts that may hold any word."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache

    def __call__(self, references: Sequence[Words], captions: Sequence[Sequence[str]], images: Sequence[int]) -> Floats:
        from seqcap.metrics.quality import measure

        own = {image: references[image] for image in images}
        return measure(own, list(zip(images, captions, strict=True)), ["METEOR"], self._cache)["METEOR"].per_caption


class _Spice:
    """SPICE (spaCy) of texts; the graphs of what came last are kept."""

    def __init__(self) -> None:
        from seqcap.spice.cache import CachedParser

        self._parser = CachedParser()

    def __call__(self, references: Sequence[Words], captions: Sequence[Sequence[str]], images: Sequence[int]) -> Floats:
        from seqcap.metrics.spice import spice

        own = {image: references[image] for image in images}
        return spice(own, list(zip(images, captions, strict=True)), self._parser)


def weights_of(metrics: Metrics) -> dict[str, float]:
    """Weights by metrics of `registry.QUALITY`, with half of SPIDEr's for CIDEr and for SPICE. InputError for unknown
    metrics, or none."""
    given = {metrics: 1.0} if isinstance(metrics, str) else metrics
    pairs = given.items() if isinstance(given, Mapping) else [(metric, 1.0) for metric in given]
    weights: dict[str, float] = {}
    for name, weight in pairs:
        for metric in find_metrics([name]):
            parts = {"CIDEr": weight / 2, "SPICE": weight / 2} if metric == "SPIDEr" else {metric: weight}
            for part, share in parts.items():
                weights[part] = weights.get(part, 0.0) + float(share)
    if not weights:
        raise InputError("metrics", "are none", f"choose among {', '.join(QUALITY)}")
    return weights


def counted(
    cider: bool, references: Sequence[Sequence[Tokens]], frequencies: DocumentFrequencies | str | Path | None
) -> DocumentFrequencies | None:
    """The document frequencies for CIDEr, if it is paid; InputError if there are none, or of one image alone."""
    if not cider:
        return None
    if frequencies is None:
        if not references:
            raise InputError("CIDEr", "has no document frequencies", COUNT)
        found = DocumentFrequencies.of_tokens(references)
    else:
        found = DocumentFrequencies.given(frequencies)
        if references:
            found.check_against(references)
    if found.images == 1:
        raise InputError("document frequencies", ONE_IMAGE, COUNT)
    return found


def text_of(completion: Any) -> str:
    """The text of a completion: itself, or the content of the last of its chat messages, whose parts are joined."""
    if isinstance(completion, str):
        return completion
    content = completion
    if isinstance(completion, Sequence) and completion:
        content = completion[-1]
    if isinstance(content, Mapping):
        content = content.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        content = " ".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    if not isinstance(content, str):
        raise InputError("completions", f"hold {completion!r:.60}", "pass texts, or lists of chat messages")
    return content


def _column(values: Any, name: str, number: int) -> list[Any]:
    listed = list(values)
    if len(listed) != number:
        raise InputError(name, f"has {len(listed)} entries for {number} completions", "pass one for each")
    return listed


def _places(keys: Iterable[Any]) -> dict[Any, int]:
    """The place of each distinct key."""
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}


def _integers(ids: Any) -> Ints:
    """Ids [n, time] as an array; InputError unless they are integers from 0 on."""
    array = np.asarray(ids.cpu() if hasattr(ids, "cpu") else ids)
    if array.ndim != 2 or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise InputError("captions", f"have {array.ndim} dimensions of {array.dtype}", "pass integer ids [n, time]")
    if array.size and array.min() < 0:
        raise InputError("captions", f"hold token id {array.min()}", "fill up with `pad`")
    return array.astype(np.int64)
