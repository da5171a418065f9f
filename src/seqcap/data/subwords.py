"""Byte-pair encoding: words as sequences of frequent pieces (Sennrich, Haddow & Birch, ACL 2016)."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from seqcap.data.vocabulary import SPECIALS, UNK
from seqcap.files.json_file import read_json, write_json

END = "</w>"  # marks the last piece of a word, so that pieces can be joined to words again


class Subwords:
    """The merges of a byte-pair encoding.

    Args:
        alphabet: the known characters, followed by `END` for those at the end of a word. Others become <unk>.
        merges: pairs of pieces, in the order in which they are applied.
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
        """Learns at most `merges` merges from training sentences, whose words are separated by spaces."""
        tokenizer = Tokenizer(BPE(end_of_word_suffix=END))
        tokenizer.pre_tokenizer = WhitespaceSplit()
        # `vocab_size` includes the alphabet, whose size is not known yet. So the trainer learns too many merges and the
        # last are cut off. Merging is greedy: the first merges stay the same.
        trainer = BpeTrainer(vocab_size=merges + 50_000, end_of_word_suffix=END, show_progress=False, min_frequency=2)
        tokenizer.train_from_iterator(sentences, trainer)
        model = json.loads(tokenizer.to_str())["model"]
        learnt = [(left, right) for left, right in model["merges"]]
        made = {left + right for left, right in learnt}
        return cls(sorted(set(model["vocab"]) - made), learnt[:merges])

    def split(self, words: Iterable[str]) -> list[str]:
        """The pieces of words; characters that are not in the alphabet are <unk>."""
        pieces: list[str] = []
        for word in words:
            if word not in self._known:
                self._known[word] = [token.value for token in self._bpe.tokenize(word)]
            pieces += self._known[word]
        return pieces

    @staticmethod
    def join(pieces: Iterable[str]) -> list[str]:
        """The words of pieces: undoes `split`. The last word may lack its last piece."""
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
        """Reads what `write` wrote."""
        value = read_json(path)
        return cls(value["alphabet"], [(left, right) for left, right in value["merges"]])
