"""Parallel sentences: plans of scenes told in several languages, which stand in for IWSLT'14 and WMT'14.

All languages say the same plan, so the same facts. They make some choices of wording together ("puppy" becomes "welpe",
"there is" becomes "il y a") and the others each for itself: a sentence has many right translations, as people's have.
The rest of the word order follows from grammar, and two words may share a translation ("canine" and "dog", "runs" and
"is running").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args
from zlib import crc32

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from seqcap.errors import InputError
from seqcap.files import schemas, writing
from seqcap.world.captions import DETAILS, DetailWeights, Plan, plan, shorten
from seqcap.world.english import English
from seqcap.world.french import French
from seqcap.world.german import German
from seqcap.world.grammar import Grammar
from seqcap.world.graph import pick, sample
from seqcap.world.wording import MAX_WORDS, REWORDINGS, Draws

Language = Literal["de", "en", "fr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_GRAMMARS: Mapping[Language, type[Grammar]] = {"de": German, "en": English, "fr": French}
# Questions whose answers a translation keeps: what is added to the facts, and what a person wears.
_KEPT = ("has ", "aside", "opinion", "manner", "determiner", "any clothes", "garment")


class ParallelConfig(BaseModel):
    """Size and difficulty of a parallel corpus.

    Attributes:
        train, val, test: numbers of sentence pairs, each of a scene of its own.
        wrong_colours: probability that a colour is wrong; both languages then name the same wrong colour.
        detail: the ratio of generic : medium : detailed sentences. Generic ones repeat: with more of them, more test
            sentences also occur in training.
        own_words: probability that the languages answer a question of wording (a noun's synonym, the opening, the
            order) each for itself. With 0, what one says follows from the other; with 1, only the facts are the same.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: Annotated[int, Field(ge=1, le=10_000_000)] = 6000
    val: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    test: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    wrong_colours: Annotated[float, Field(ge=0, le=1)] = 0.05
    detail: DetailWeights = (1, 4, 5)
    own_words: Annotated[float, Field(ge=0, le=1)] = 0.4


def write_parallel(folder: str | Path, config: ParallelConfig, seed: int, source: Language, target: Language) -> None:
    """Generates a parallel corpus and writes it into `folder`: `train.de`, `train.en` and so on for val and test.

    One sentence a line, words separated by spaces; the same line of both files is a pair. Every pair has random numbers
    of its own, from (seed, split, line): it depends neither on the number of pairs nor on the direction.

    Raises:
        InputError: both languages are the same.
    """
    if source == target:
        raise InputError("params.yaml", f"source and target are both {source}", "name two languages")
    for number, split in enumerate(schemas.SPLITS):
        with (
            writing.atomic(Path(folder) / f"{split}.{source}") as source_path,
            writing.atomic(Path(folder) / f"{split}.{target}") as target_path,
            source_path.open("w", encoding="utf-8", newline="\n") as source_file,
            target_path.open("w", encoding="utf-8", newline="\n") as target_file,
        ):
            for line in range(getattr(config, split)):
                rng = np.random.default_rng([seed, number, line])
                what = plan(sample(rng), pick(rng, DETAILS, config.detail), config.wrong_colours, rng)
                pair = parallel(what, rng, (source, target), config.own_words)
                for file, tokens in zip((source_file, target_file), pair, strict=True):
                    file.write(" ".join(tokens) + "\n")


def parallel(what: Plan, rng: np.random.Generator, languages: Sequence[Language], own_words: float) -> list[list[str]]:
    """Says a plan in several languages, partly in the same words and order.

    A plan that takes more than `MAX_WORDS` words in one of them is told in other words, then shortened, in all.

    Args:
        what: what all of them say.
        rng: the annotators.
        languages: in which to say it; what one says does not depend on the others, unless it is too long.
        own_words: as in `ParallelConfig`.

    Returns:
        The tokens, for each of `languages`.
    """
    tries = 0
    while True:
        entropy = int(rng.integers(2**63))
        told = [_GRAMMARS[language].sentence(what, _draws(entropy, language, own_words)) for language in languages]
        if max(map(len, told)) <= MAX_WORDS:
            return told
        tries += 1
        if tries > REWORDINGS:
            what = shorten(what)


def _draws(entropy: int, language: Language, own_words: float) -> Draws:
    """Gives each question a generator, so that its answer does not depend on earlier questions.

    With probability `own_words`, the generator is the language's own, else that of all languages. What a translation
    must keep is never its own.
    """

    def draws(about: str) -> np.random.Generator:
        shared = np.random.default_rng([entropy, crc32(about.encode())])
        if shared.random() < own_words and not about.startswith(_KEPT):
            return np.random.default_rng([entropy, crc32(f"{language}: {about}".encode())])
        return shared

    return draws
