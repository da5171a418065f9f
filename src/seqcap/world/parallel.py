"""Parallel sentences: plans of scenes in several languages, which replace IWSLT'14 and WMT'14.

All languages say the same plan, so the same facts. They share some choices of words ("puppy" becomes "welpe", "there
is" becomes "il y a") and make others alone, so that a sentence has many right translations, as people's have. The word
order follows from grammar, and two words may share a translation ("canine" and "dog", "runs" and "is running").
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args
from zlib import crc32

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from seqcap.errors import InputError
from seqcap.files import schemas, writing
from seqcap.world.captions import DETAILS, DetailWeights, Plan, plan
from seqcap.world.english import English
from seqcap.world.french import French
from seqcap.world.german import German
from seqcap.world.grammar import Grammar
from seqcap.world.graph import pick, sample
from seqcap.world.wording import Draws, fit

Language = Literal["de", "en", "fr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_GRAMMARS: Mapping[Language, type[Grammar]] = {"de": German, "en": English, "fr": French}
# Questions that all languages answer alike: what is added to the facts, and what a person wears.
_KEPT = ("has ", "aside", "opinion", "manner", "determiner", "any clothes", "garment")


class ParallelConfig(BaseModel):
    """Size and difficulty of a parallel corpus. Each sentence pair has a scene of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    train: Annotated[int, Field(ge=1, le=10_000_000)] = 6000
    val: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    test: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    wrong_colours: Annotated[float, Field(ge=0, le=1)] = 0.05  # both languages then name the same wrong colour
    detail: DetailWeights = (1, 4, 5)
    own_words: Annotated[float, Field(ge=0, le=1)] = 0.4  # probability that languages choose a word or an order alone


def write_parallel(folder: str | Path, config: ParallelConfig, seed: int, source: Language, target: Language) -> None:
    """Generates a corpus and writes it into `folder`: `train.de`, `train.en` and so on for val and test. One sentence a
    line; line n of one file translates line n of the other. Each pair has its own random numbers, from (seed, split,
    line): it depends neither on the number of pairs nor on the direction.
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
    """The words of a sentence in each of `languages` that says a plan, partly in the same words and order. If one has
    more than `MAX_WORDS` words, the plan is said in other words, then shortened, in all. Otherwise a sentence does not
    depend on the other languages."""

    def say(plan: Plan) -> list[list[str]]:
        entropy = int(rng.integers(2**63))
        return [_GRAMMARS[language].sentence(plan, _draws(entropy, language, own_words)) for language in languages]

    return fit(say, what)


def _draws(entropy: int, language: Language, own_words: float) -> Draws:
    """Gives each question its own generator, so that its answer does not depend on earlier questions: the language's
    own with probability `own_words`, else (always for `_KEPT`) that of all languages."""

    def draws(about: str) -> np.random.Generator:
        shared = np.random.default_rng([entropy, crc32(about.encode())])
        if shared.random() < own_words and not about.startswith(_KEPT):
            return np.random.default_rng([entropy, crc32(f"{language}: {about}".encode())])
        return shared

    return draws
