"""The vocabulary of a pretrained captioner: its tokenizer's tokens, which are pieces of words."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from seqcap.data.tokenizer import tokenize
from seqcap.data.vocabulary import EOS, PAD, SPECIALS, UNK, Vocabulary
from seqcap.errors import InputError
from seqcap.files.advice import mend
from seqcap.files.json_file import parse_json, read_json, write_json
from seqcap.files.reading import read_text
from seqcap.files.writing import atomic

TOKENIZER = "tokenizer.json"  # beside the vocabulary's file


class TokenVocabulary(Vocabulary):
    """Tokens in this package's order, `SPECIALS` first, and how captions become tokens and words again.

    Captions are words, as `seqcap.data.tokenizer` splits them: `encode` joins them by spaces before the tokenizer reads
    them, `decode` splits what the tokenizer writes.

    Args:
        words: the text of each token, [V], `SPECIALS` first.
        ids: the model's id of each, [V]. The model may use one id for several specials, as GPT-2 does.
        knows_unknown: whether the model has a token for the unknown; else <unk> has probability zero.
        tokenizer: the model's own.

    Raises:
        ValueError: `words` and `ids` differ in number, or as `Vocabulary`.
    """

    def __init__(self, words: Sequence[str], ids: Sequence[int], knows_unknown: bool, tokenizer: Tokenizer) -> None:
        super().__init__(words)
        self.ids, self.knows_unknown, self._tokenizer = list(ids), knows_unknown, tokenizer
        if len(self.ids) != len(self.words):
            raise ValueError(f"there are {len(self.words)} tokens and {len(self.ids)} ids")
        # The first token that has an id: BOS and PAD never come from a tokenizer.
        self._own = {number: place for place, number in enumerate(self.ids) if place > UNK}
        if knows_unknown:
            self._own[self.ids[UNK]] = UNK
        self._scored: dict[str, int] = {}  # word of a reference -> its number

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Ids of the tokens of a caption's words, `UNK` for what the tokenizer does not know. No EOS is added."""
        numbers = self._tokenizer.encode(" ".join(tokens), add_special_tokens=False).ids
        return [self._own.get(number, UNK) for number in numbers]

    def encode_reference(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of a reference's words, which `scored_words` grows by: rewards compare words, not tokens."""
        return [self._scored.setdefault(word, len(SPECIALS) + len(self._scored)) for word in tokens]

    @property
    def scored_words(self) -> Sequence[str]:
        return [*SPECIALS, *self._scored]

    def in_words(self, metric: Any) -> Any:
        return InWords(self, metric)

    def numbers(self, caption: Sequence[int]) -> list[int]:
        """The numbers of a caption's words, and EOS if it has ended; a word of no reference is UNK."""
        found = [self._scored.get(word, UNK) for word in self.decode(caption)]
        return [*found, EOS] if EOS in caption else found

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words of the tokens before the first EOS or PAD; an `IndexError` for an unknown id."""
        said = [self.ids[i] for i in takewhile(lambda i: i not in (EOS, PAD), ids)]
        return tokenize(self._tokenizer.decode(said, skip_special_tokens=True))

    def write(self, path: str | Path) -> None:
        """Writes {"words": [...], "ids": [...], "knows_unknown": ...}, and the tokenizer beside it."""
        write_json(path, {"words": self.words, "ids": self.ids, "knows_unknown": self.knows_unknown})
        with atomic(Path(path).with_name(TOKENIZER)) as temporary:
            temporary.write_text(self._tokenizer.to_str(), encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Reads what `write` wrote."""
        value: Any = read_json(path)
        tokenizer, _ = read_tokenizer(Path(path).with_name(TOKENIZER))
        try:
            return cls(value["words"], value["ids"], value["knows_unknown"], tokenizer)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(path, f"is not a vocabulary of tokens ({error})", mend(path)) from None


def load_vocabulary(path: str | Path) -> Vocabulary:
    """A task's vocabulary, of words or of tokens."""
    content = read_json(path)
    is_of_tokens = isinstance(content, dict) and "ids" in content
    return (TokenVocabulary if is_of_tokens else Vocabulary).read(path)


class InWords:
    """A reward of words (`rewards.mixture.Metric`) for captions of tokens.

    Args:
        vocabulary: of the captions' tokens. It has encoded the references (`encode_reference`).
        metric: scores captions as numbers of `vocabulary.scored_words`.
    """

    def __init__(self, vocabulary: TokenVocabulary, metric: Any) -> None:
        self._vocabulary, self._metric = vocabulary, metric

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Rewards [n] of hypotheses, ids of tokens [n, time]."""
        captions = [self._vocabulary.numbers(row) for row in np.asarray(hypotheses).tolist()]
        numbers = np.full((len(captions), max(map(len, captions), default=0) + 1), PAD)
        for row, caption in zip(numbers, captions, strict=True):
            row[: len(caption)] = caption
        return self._metric.score(numbers, image)  # type: ignore[no-any-return]


def read_tokenizer(path: Path) -> tuple[Tokenizer, int | None]:
    """A tokenizer of Hugging Face, and the id of its unknown token, if it has one; an InputError if it is damaged."""
    fix = "restore the file, or save the tokenizer again"
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", fix) from None
    content = parse_json(path, text)
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # tokenizers raises plain exceptions
        raise InputError(path, f"is no tokenizer ({error})", fix) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    unknown = content["model"].get("unk_token")
    return tokenizer, None if unknown is None else tokenizer.token_to_id(unknown)
