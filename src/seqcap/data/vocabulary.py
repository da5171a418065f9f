"""The words of captions, and their ids."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Self

from seqcap.errors import InputError
from seqcap.files.advice import mend
from seqcap.files.json_file import read_json, write_json

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")


class Vocabulary:
    """Words and their ids: `SPECIALS` first, then words by descending count. A word's id is its position.

    Args:
        words: `SPECIALS`, then the words, each once.
        min_count: how often a word had to occur in the training captions.

    Raises:
        ValueError: `words` do not begin with `SPECIALS`, or a word occurs twice.
    """

    def __init__(self, words: Sequence[str], min_count: int = 1) -> None:
        if tuple(words[: len(SPECIALS)]) != SPECIALS:
            raise ValueError(f"the first words must be {SPECIALS}, not {tuple(words[: len(SPECIALS)])}")
        self.words = list(words)
        self.min_count = min_count
        self._ids = {word: i for i, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            raise ValueError("a word occurs twice")

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def build(cls, token_lists: Iterable[Sequence[str]], min_count: int) -> Self:
        """The words that occur at least `min_count` times, by descending count, then alphabetically. Give it training
        captions only, or test words leak into the model."""
        return cls.from_counts(Counter(token for tokens in token_lists for token in tokens), min_count)

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], min_count: int, max_words: int | None = None) -> Self:
        """Like `build`, with at most `max_words` words besides the specials; an `InputError` if there is none."""
        kept = [word for word, count in counts.items() if count >= min_count and word not in SPECIALS]
        if not kept:
            problem = f"no word occurs {min_count} times in the training captions"
            raise InputError("params.yaml", problem, "lower the task's min_count")
        return cls([*SPECIALS, *sorted(kept, key=lambda word: (-counts[word], word))[:max_words]], min_count)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Ids of the words, `UNK` for unknown ones. No EOS is added."""
        # The text "<eos>" does not end a caption.
        return [UNK if (i := self._ids.get(token, UNK)) < len(SPECIALS) else i for token in tokens]

    def encode_reference(self, tokens: Iterable[str]) -> list[int]:
        """Like `encode`, but unknown words become `len(self)`, which no captioner says: no reward pays for "<unk>"."""
        return [len(self) if i == UNK else i for i in self.encode(tokens)]

    @property
    def scored_words(self) -> Sequence[str]:
        """The words that `encode_reference` numbers: rewards compare words."""
        return self.words

    def in_words(self, metric: Any) -> Any:
        """A reward of captions of this vocabulary's tokens, from one (`rewards.mixture.Metric`) of `scored_words`."""
        return metric

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words before the first EOS or PAD; an `IndexError` for an unknown id."""
        return [self.words[i] for i in takewhile(lambda i: i not in (EOS, PAD), ids)]

    def write(self, path: str | Path) -> None:
        """Writes {"words": [...], "min_count": n}."""
        write_json(path, {"words": self.words, "min_count": self.min_count})

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Reads what `write` wrote."""
        try:
            return cls(**read_json(path))
        except (TypeError, ValueError) as error:
            raise InputError(path, f"is not a vocabulary ({error})", mend(path)) from None


def digest(*vocabularies: Vocabulary) -> str:
    """A hash of words and their ids. Weights know words by ids only: with another vocabulary they say other words."""
    words = json.dumps([vocabulary.words for vocabulary in vocabularies])
    return hashlib.sha256(words.encode()).hexdigest()[:16]
