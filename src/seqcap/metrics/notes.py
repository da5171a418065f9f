"""What a reader of scores should know about the captions: their language, spaces and lengths."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice

import numpy as np

from seqcap.metrics.captions import Caption

# English captions are a quarter of these; in other languages under a tenth of the words are spelled like them.
ENGLISH = frozenset(["a", "the", "of", "with", "and", "on", "to", "at"])
LEAST_ENGLISH, FEW_WORDS = 0.1, 12
SAMPLE = 20_000  # words that are looked at
# Scripts without spaces between words, by their first and last characters.
UNSPACED = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u9fff"),
)
LONGEST_UNSPACED = 6  # characters of a word, on average
MUCH_LONGER = 20  # words; CIDEr-D keeps exp(-20^2 / 72) = 0.4% of such a caption's similarity
ENGLISH_ONLY = "METEOR and SPICE are for English, and these references do not look English"
UNSEGMENTED = "words are split at spaces, and these captions have few: segment them first (Chinese, Japanese, Thai)"


def of_language(references: Iterable[Sequence[Caption]], metrics: Iterable[str]) -> list[str]:
    """Notes about captions that a metric is not made for."""
    flat = chain.from_iterable(chain.from_iterable(references))
    words = Counter(islice(flat, SAMPLE))
    total = words.total()
    notes = []
    english = sum(words[word] for word in ENGLISH)
    if {"METEOR", "SPICE", "SPIDEr"} & set(metrics) and total >= FEW_WORDS and english < LEAST_ENGLISH * total:
        notes.append(ENGLISH_ONLY)
    unspaced = [len(word) for word in words.elements() if any(low <= word[0] <= high for low, high in UNSPACED)]
    if len(unspaced) > total / 2 and np.mean(unspaced) > LONGEST_UNSPACED:
        notes.append(UNSEGMENTED)
    return notes


def of_lengths(candidates: Iterable[Sequence[Caption]], references: Iterable[Sequence[Caption]]) -> list[str]:
    """A note about captions that are much longer than their references, which CIDEr-D pays next to nothing."""
    said = float(np.mean([len(tokens) for captions in candidates for tokens in captions]))
    meant = float(np.mean([len(tokens) for captions in references for tokens in captions]))
    if said - meant <= MUCH_LONGER:
        return []
    return [
        f"captions have {said:.0f} words and references {meant:.0f}: CIDEr-D's length penalty leaves nearly nothing"
    ]
