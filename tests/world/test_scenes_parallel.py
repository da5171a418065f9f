"""Parallel corpora: every language says the whole plan, and the files are pairs."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scenes_languages import digests, plans, table

from seqcap.world import french, german
from seqcap.world.captions import Mention, Plan
from seqcap.world.english import English
from seqcap.world.french import French
from seqcap.world.german import German
from seqcap.world.grammar import Grammar
from seqcap.world.parallel import ParallelConfig, parallel, write_parallel
from seqcap.world.wording import MAX_WORDS
from seqcap.world.words import ENGLISH

# Language -> kind of statement -> value -> beginnings of words that tell it.
MEANINGS = table("meanings.yaml")
LOOKS = ("colour", "size", "texture")
CASES: tuple[german.Case, ...] = ("nominative", "accusative", "dative", "genitive")
LANGUAGES: dict[str, type[Grammar]] = {"de": German, "en": English, "fr": French}


def _nouns(language: str) -> dict[str, tuple[str, bool | None]]:
    """Form -> (class, plural or None if the form is both)."""
    found: dict[str, tuple[str, bool | None]] = {}
    for name, pairs in ENGLISH["nouns"].items():
        for pair in map(str.split, pairs):
            if language == "en":
                forms = [(pair[0], False), (pair[1], True)]
            elif language == "fr":
                noun = french.NOUNS[pair[0]]
                forms = [(noun.singular, False), (noun.plural, True)]
            else:
                forms = [(german.NOUNS[pair[0]].form(*form), form[1]) for form in product(CASES, (False, True))]
            for form, plural in forms:
                both = form in found and found[form][1] != plural
                found[form] = name, None if both else plural
    return found


NOUNS = {language: _nouns(language) for language in LANGUAGES}


def _told(tokens: list[str], meanings: Mapping[str, list[str]]) -> Counter[str]:
    return Counter(value for word in tokens for value, starts in meanings.items() if word.startswith(tuple(starts)))


def _without(tokens: list[str], phrases: list[str]) -> list[str]:
    text = f" {' '.join(tokens)} "
    for phrase in phrases:
        text = text.replace(f" {phrase} ", " ")
    return text.split()


def check_all_is_said(what: Plan, tokens: list[str], language: str) -> None:
    text = f" {' '.join(tokens)} "
    plain = _without(tokens, MEANINGS[language]["other"])
    assert sorted(NOUNS[language][word][0] for word in tokens if word in NOUNS[language]) == sorted(
        mention.noun for mention in what.mentions
    ), text
    for mention in what.mentions:
        plural = len(mention.objects) > 1
        forms = [
            form for form, (name, many) in NOUNS[language].items() if name == mention.noun and many in (plural, None)
        ]
        assert any(f" {form} " in text for form in forms), text
    for name in LOOKS:
        planned = Counter(getattr(mention, name) for mention in what.mentions if getattr(mention, name) is not None)
        assert _told(plain, MEANINGS[language][name]) == planned, (name, text)
    for mention in what.mentions:
        if mention.action is not None:
            assert any(word.startswith(tuple(MEANINGS[language]["action"][mention.action])) for word in tokens), text
    if what.relation is not None:
        phrases = [*ENGLISH["relations"][what.relation], *ENGLISH["self_relations"].get(what.relation, ())]
        tables = (
            [{phrase: phrase for phrase in phrases}]
            if language == "en"
            else [LANGUAGES[language].tables[name] for name in ("relations", "adverbs", "animate_adverbs")]
        )
        told = [table[phrase] for phrase in phrases for table in tables if phrase in table]
        words = {phrase[0] if isinstance(phrase, list) else phrase for phrase in told}
        # Up to a pronoun or an elision.
        assert any(f" {word.split('{')[0].removesuffix(' de').strip()} " in text for word in words), text
    if what.background is not None:
        names = [*ENGLISH["places"][what.background], *ENGLISH["places_below"][what.background]]
        names += ENGLISH["settings"][what.background]
        if language != "en":
            tables = LANGUAGES[language].tables
            names = [tables["places"].get(name) or tables["settings"][name] for name in names]
        told_place = text.replace(" an ", " a ") if language == "en" else text
        assert any(f" {name.replace(' an ', ' a ')} " in told_place for name in names), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_is_said(language, full):
    for number, what in enumerate(plans(1500 if full else 600)):
        rng = np.random.default_rng([2, number])
        tokens = LANGUAGES[language].sentence(what, lambda about, rng=rng: rng)
        check_all_is_said(what, tokens, language)


def test_long_plans_are_cut_in_all_languages():
    mentions = tuple(
        Mention(noun, (i,), "yellow", "large", "striped", "sitting") for i, noun in enumerate(("man", "woman", "cat"))
    )
    what = Plan(mentions, "left_of", "desert")
    for number in range(30):
        told = parallel(what, np.random.default_rng(number), (*LANGUAGES,), 0.4)
        assert max(map(len, told)) <= MAX_WORDS
        facts = set()
        for language, tokens in zip(LANGUAGES, told, strict=True):
            nouns = {NOUNS[language][word][0] for word in tokens if word in NOUNS[language]}
            colours = _told(tokens, MEANINGS[language]["colour"])["yellow"]
            facts.add(("cat" in nouns, "man" in nouns, colours))
        assert len(facts) == 1, told


# The same choices in German, English and French.
GUYS = ({"typ", "typs", "typen"}, {"guy", "guys"}, {"type", "types"})
LADIES = ({"dame", "damen"}, {"lady", "ladies", "dame", "dames"}, {"dame", "dames"})
WHILE = ({"während"}, {"while"}, {"pendant", "tandis"})


def test_languages_share_the_wording(full):
    """Without words of their own, a synonym in one language is one in the others."""
    synonyms = [GUYS, LADIES, WHILE]
    seen = Counter[int]()
    for number, what in enumerate(plans(1500 if full else 1000)):
        told = parallel(what, np.random.default_rng([3, number]), ("de", "en", "fr"), 0.0)
        # "during the day" in French.
        told[2] = _without(told[2], ["pendant la"])
        for i, words in enumerate(synonyms):
            said = {bool(group & set(tokens)) for group, tokens in zip(words, told, strict=True)}
            assert len(said) == 1, (words, told)
            seen[i] += True in said
    assert all(seen[i] >= 3 for i in range(len(synonyms))), seen
    # What a language says does not depend on the others.
    what = plans(20)[19]
    once, again = (
        parallel(what, np.random.default_rng(4), languages, 0.4) for languages in (("en",), ("fr", "de", "en"))
    )
    assert once[0] == again[2]


CONFIG = ParallelConfig(train=100, val=20, test=30)
DIGEST = "0a1f79f1b847a53d6448302b4a2417c159dc8263370de4752adebaf4655af896"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parallel")
    write_parallel(path, CONFIG, 5, "de", "en")
    return path


def read(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text.splitlines()


def test_files_are_the_same_on_every_machine(tmp_path):
    """Committed results are built on them. Whoever changes scenes, plans or words on purpose changes the digest."""
    write_parallel(tmp_path / "de_en", CONFIG, 5, "de", "en")
    write_parallel(tmp_path / "en_fr", CONFIG, 5, "en", "fr")
    found = digests(tmp_path)
    assert {Path(name).name for name in found} == {
        f"{split}.{language}" for split in ("train", "val", "test") for language in LANGUAGES
    }
    assert hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest() == DIGEST


def test_lines_of_two_files_are_pairs(folder):
    for split in ("train", "val", "test"):
        source, target = read(folder / f"{split}.de"), read(folder / f"{split}.en")
        assert len(source) == len(target) == getattr(CONFIG, split)
        for line in source + target:
            assert line == " ".join(line.split())
            assert 1 < len(line.split()) <= MAX_WORDS
    assert set(read(folder / "val.de")) != set(read(folder / "test.de"))


def test_files_do_not_depend_on_their_number(folder, tmp_path):
    write_parallel(tmp_path / "turned", CONFIG.model_copy(update={"train": 110, "val": 10}), 5, "en", "de")
    for language in ("de", "en"):
        assert read(tmp_path / "turned" / f"test.{language}") == read(folder / f"test.{language}")
        assert read(tmp_path / "turned" / f"train.{language}")[:100] == read(folder / f"train.{language}")
    write_parallel(tmp_path / "other", CONFIG, 6, "de", "en")
    assert read(tmp_path / "other" / "test.de") != read(folder / "test.de")
