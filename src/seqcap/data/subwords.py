"""Byte-pair encoding: words as sequences of frequent pieces (Sennrich, Haddow & Birch, ACL 2016)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from seqcap.data.vocabulary import SPECIALS, UNK
from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json

# Marks the last piece of a word, so that words can be put together again.
END = "</w>"


class Subwords:
    """The merges of a byte-pair encoding, in the order in which they are applied.

    Args:
        alphabet: the characters it knows, with `END` where a word may end in them; others become <unk>.
        merges: pairs of pieces.
    """

    def __init__(self, alphabet: Sequence[str], merges: Sequence[tuple[str, str]]) -> None:
        self.alphabet, self.merges = list(alphabet), list(merges)
        unknown = SPECIALS[UNK]
        pieces = dict.fromkeys([unknown, *alphabet, *(left + right for left, right in merges)])
        ids = {piece: i for i, piece in enumerate(pieces)}
        self._bpe = BPE(vocab=ids, merges=self.merges, unk_token=unknown, end_of_word_suffix=END)
        self._known: dict[str, list[str]] = {}

    @classmethod
    def learn(cls, sentences: Iterable[str], merges: int) -> Self:
        """Learns the merges of a text.

        Args:
            sentences: words separated by spaces: the training text and no other.
            merges: how many; fewer where every word has become one piece.
        """
        tokenizer = Tokenizer(BPE(end_of_word_suffix=END))
        tokenizer.pre_tokenizer = WhitespaceSplit()
        # `vocab_size` counts alphabet and merges together, and the alphabet's size is not known before. So it learns
        # too many merges, and the last are cut off: merging is greedy, so the first merges stay the same.
        trainer = BpeTrainer(vocab_size=merges + 50_000, end_of_word_suffix=END, show_progress=False, min_frequency=2)
        tokenizer.train_from_iterator(sentences, trainer)
        found = json.loads(tokenizer.to_str())["model"]
        learnt = [(left, right) for left, right in found["merges"]]
        made = {left + right for left, right in learnt}
        return cls(sorted(set(found["vocab"]) - made), learnt[:merges])

    def split(self, words: Iterable[str]) -> list[str]:
        """The pieces of words; a character that training has not seen is <unk>."""
        pieces: list[str] = []
        for word in words:
            if word not in self._known:
                self._known[word] = [token.value for token in self._bpe.tokenize(word)]
            pieces += self._known[word]
        return pieces

    @staticmethod
    def join(pieces: Iterable[str]) -> list[str]:
        """The words of pieces: undoes `split`. The last word may lack its end."""
        words, open_ = [], ""
        for piece in pieces:
            open_ += piece.removesuffix(END)
            if piece.endswith(END) and open_:
                words.append(open_)
                open_ = ""
        return [*words, open_] if open_ else words

    def write(self, path: str | Path) -> None:
        """Writes {"alphabet": [...], "merges": [[left, right], ...]}."""
        write_json(path, {"alphabet": self.alphabet, "merges": [list(pair) for pair in self.merges]})

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Reads what `write` wrote; an `InputError` if the file is missing or holds no merges."""
        value = read_json(path)
        try:
            return cls(value["alphabet"], [(left, right) for left, right in value["merges"]])
        except Exception as error:  # the library raises bare Exceptions for merges of unknown pieces
            raise InputError(path, f"holds no merges ({error})", "delete it and run `dvc repro`") from None
