"""French and German: dictated sentences, tables that translate all that English says, and plain words."""

import re
from itertools import pairwise

import pytest
from scenes_languages import dictate, english_words, sentences, table

from seqcap.world import french, german
from seqcap.world.french import French
from seqcap.world.german import German
from seqcap.world.grammar import Grammar
from seqcap.world.wording import MAX_WORDS
from seqcap.world.words import ENGLISH, GARMENTS

GRAMMARS: dict[str, type[Grammar]] = {"french": French, "german": German}
DICTATED = table("sentences.yaml")


@pytest.mark.parametrize(
    ("language", "case"),
    [(language, case) for language, cases in DICTATED.items() for case in cases],
    ids=lambda value: value["says"] if isinstance(value, dict) else value,
)
def test_dictated(language, case):
    assert dictate(GRAMMARS[language], case["plan"], case.get("said", {})) == case["says"]


@pytest.mark.parametrize("tables", [french.TABLES, german.TABLES], ids=list(GRAMMARS))
def test_tables_cover_english(tables):
    same = {name: english_words(name) for name in ("colours", "opinions", "manners", "relations", "settings", "there")}
    same |= {name: english_words(name) for name in ("textures", "marks", "introductions")}
    same["nouns"] = {pair.split()[0] for pair in english_words("nouns")}
    same["garments"] = set(GARMENTS)
    same["asides"] = english_words("outdoors", "pictures", "weather")
    same["numbers"] = english_words("numbers", "groups")
    same["places"] = english_words("places", "places_below")
    same["verbs"] = english_words("participles", "bird_participles")
    # "on" has forms of its own.
    same["adverbs"] = english_words("relations", "self_relations") - set(ENGLISH["relations"]["on"])
    same["animate_adverbs"] = same["adverbs"]
    for name, words in same.items():
        assert set(tables[name]) == words, name


def test_sizes_and_attributes_cover_english():
    assert set(french.TABLES["sizes"]) == english_words("sizes")
    assert set(french.TABLES["person_sizes"]) == english_words("person_sizes")
    assert set(german.TABLES["sizes"]) == english_words("sizes", "person_sizes")
    participles = english_words("participles", "bird_participles")
    assert set(french.TABLES["attributes"]) | set(french.TABLES["simple"]) <= participles
    single = {word for word in participles if word.isalpha()} - set(ENGLISH["predicative"])
    assert set(german.TABLES["attributes"]) == single


@pytest.mark.parametrize(("language", "word"), [("french", "[a-zàâçéèêîôû-]+'?"), ("german", "[a-zäöüß]+")])
def test_words_are_plain(language, word, full):
    for _, tokens in sentences(GRAMMARS[language], 3000 if full else 1500):
        assert len(tokens) <= MAX_WORDS
        assert "," not in (tokens[0], tokens[-1]), tokens
        for token, following in pairwise(tokens):
            assert token != following, tokens
            assert re.fullmatch(f"{word}|,", token), tokens
            if language == "french":
                assert token not in ("de", "que", "le", "la", "se") or following[0] not in "aeiouéêhy", tokens
                assert not token.endswith("'") or following[0] in "aeiouéêh", tokens
                assert (token, following) not in {("de", "le"), ("de", "les"), ("à", "le"), ("à", "les")}, tokens
