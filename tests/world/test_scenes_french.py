"""French forms, and the agreement of random sentences."""

from itertools import product

import pytest
from scenes_languages import sentences, table

from seqcap.world import french
from seqcap.world.captions import Plan
from seqcap.world.french import GARMENTS, NOUNS, French, agree, elide

FORMS = table("forms.yaml")["french"]
# Adjectives: masculine and feminine singular, masculine and feminine plural.
ADJECTIVES = [line.split() for line in FORMS["adjectives"]]


def test_every_form():
    tables = {*NOUNS.values(), *GARMENTS.values()}
    forms = {f"{'une' if noun.feminine else 'un'} {noun.singular} des {noun.plural}" for noun in tables}
    assert forms == set(FORMS["nouns"])


# Names of things as colours do not agree.
UNCHANGED = {word for colour in french.TABLES["colours"].values() if "{" not in colour for word in colour.split()}


def test_adjectives():
    for forms in ADJECTIVES:
        found = [agree(forms[0], feminine, plural) for plural in (False, True) for feminine in (False, True)]
        assert found == forms


def test_elision():
    assert elide(["de", "un", "homme", "et", "de", "une", "femme"]) == ["d'", "un", "homme", "et", "d'", "une", "femme"]
    assert elide(["pendant", "que", "un", "chien", "dort"])[1] == "qu'"
    assert elide(["de", "herbe", "de", "deux", "de"]) == ["d'", "herbe", "de", "deux", "de"]


@pytest.fixture(scope="module")
def said(full: bool) -> list[tuple[Plan, list[str]]]:
    return sentences(French, 3000 if full else 1500)


# Form -> (feminine, plural) it can be, of every adjective that may stand before or after a noun.
AGREEMENT: dict[str, set[tuple[bool, bool]]] = {}
for _forms in ADJECTIVES:
    for _form, _reading in zip(_forms, product((False, True), repeat=2), strict=True):
        AGREEMENT.setdefault(_form, set()).add(_reading[::-1])
_FIRST = {*french.TABLES["sizes"].values(), *french.TABLES["opinions"].values()}
BEFORE = {form for forms in ADJECTIVES for form in forms if forms[0] in _FIRST}
_VERBS = ("assis", "endormi", "allongé", "perché", "immobile", "droit")
PARTICIPLES = {form for forms in ADJECTIVES for form in forms if forms[0] in _VERBS}
CLOTHES = {form for noun in GARMENTS.values() for form in (noun.singular, noun.plural)}
DETERMINERS = {"un": (False, False), "une": (True, False)}
WORDS = {
    form: (noun.feminine, plural)
    for noun in (*NOUNS.values(), *GARMENTS.values())
    for plural, form in enumerate((noun.singular, noun.plural))
}


def test_noun_phrases_agree(said):
    count = 0
    for _, tokens in said:
        for i, word in enumerate(tokens):
            if word not in WORDS:
                continue
            feminine, plural = WORDS[word]
            reading = bool(feminine), bool(plural)
            j = i - 1
            while tokens[j] in BEFORE or tokens[j] == "autre":
                assert tokens[j] == "autre" or reading in AGREEMENT[tokens[j]], tokens
                j -= 1
            if reading[1]:
                assert tokens[j] in {"deux", "trois", "quatre", "des", "de"}, tokens
            else:
                assert DETERMINERS[tokens[j]] == reading, tokens
            # A participle after clothes is the person's.
            j = i + 1
            while j < len(tokens) and not (word in CLOTHES and tokens[j] in PARTICIPLES):
                if tokens[j] not in AGREEMENT and tokens[j] not in UNCHANGED:
                    break
                assert tokens[j] in UNCHANGED or reading in AGREEMENT[tokens[j]], tokens
                j += 1
            count += 1
    assert count > 1.6 * len(said)
