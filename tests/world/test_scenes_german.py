"""German forms, and the agreement of random sentences."""

from itertools import product

import pytest
from scenes_languages import sentences, table

from seqcap.world import german
from seqcap.world.captions import Plan
from seqcap.world.german import GARMENTS, NOUNS, German, adjective, article

CASES: tuple[german.Case, ...] = ("nominative", "accusative", "dative", "genitive")
FORMS = table("forms.yaml")["german"]
MIXED, STRONG = FORMS["mixed"], FORMS["strong"]


def test_every_form():
    tables = {**NOUNS, **GARMENTS}
    for name, forms in FORMS["nouns"].items():
        singular, plural = (part.split() for part in forms.split(" | "))
        assert [tables[name].form(case, False) for case in CASES] == singular
        assert [tables[name].form(case, True) for case in CASES] == [plural[0], plural[0], plural[1], plural[0]]
    assert set(FORMS["nouns"]) >= set(NOUNS)
    for noun in tables.values():
        assert noun.singular in FORMS["genders"][noun.gender].split()


def test_adjectives():
    genders: tuple[german.Gender, ...] = ("m", "f", "n")
    for gender in genders:
        pairs = [f"{article(gender, case)} {adjective('rot', gender, case, False, True)}" for case in CASES]
        assert ", ".join(pairs) == MIXED[gender]
        assert ", ".join(adjective("rot", gender, case, False, False) for case in CASES) == STRONG[gender]
        assert ", ".join(adjective("rot", gender, case, True, False) for case in CASES) == STRONG["plural"]
        assert adjective("lila", gender, "dative", True, False) == "lila"


@pytest.fixture(scope="module")
def said(full: bool) -> list[tuple[Plan, list[str]]]:
    return sentences(German, 3000 if full else 1500)


STEMS = {"gekleidet", "weiter"}.union(
    *(german.TABLES[name].values() for name in ("colours", "sizes", "textures", "animal_textures", "opinions")),
    german.TABLES["attributes"].values(),
) - {*german.TABLES["invariable"]}
ENDINGS = {f"{stem}{ending}": (stem, ending) for stem, ending in product(STEMS, ("e", "en", "er", "es", "em"))}
COLOUR_WORDS = set(german.TABLES["colour_nouns"].values())
PLURALS = {"zwei", "drei", "vier"}
DATIVES = {"mit", "von", "bei", "neben", "hinter", "vor", "unter", "über", "auf", "in"}


def _phrases(tokens: list[str]) -> list[tuple[str, str, list[str], str]]:
    """(word before, determiner, adjectives, noun) of every noun phrase."""
    nouns = {
        noun.form(case, plural)
        for noun, case, plural in product((*NOUNS.values(), *GARMENTS.values()), CASES, (False, True))
    }
    found = []
    for i, word in enumerate(tokens):
        if word not in nouns:
            continue
        j = i
        adjectives: list[str] = []
        while j > 0 and (tokens[j - 1] in ENDINGS or tokens[j - 1] == "lila"):
            j -= 1
            adjectives.insert(0, tokens[j])
            if tokens[j].startswith("gekleidet"):
                assert tokens[j - 1] in COLOUR_WORDS
                assert tokens[j - 2] == "in"
                j -= 2
        determiner = ""
        if j > 1 and tokens[j - 2 : j] == ["ein", "paar"]:
            determiner, j = "ein paar", j - 2
        elif j > 0 and (tokens[j - 1] in PLURALS or tokens[j - 1].startswith("ein")):
            determiner, j = tokens[j - 1], j - 1
        found.append((tokens[j - 1] if j else "", determiner, adjectives, word))
    return found


def _readings(determiner: str, adjectives: list[str], word: str) -> set[str]:
    """The cases a noun phrase can be in; none if it is no German."""
    endings = {ENDINGS[adjective][1] for adjective in adjectives if adjective != "lila"}
    cases = set()
    for noun in (*NOUNS.values(), *GARMENTS.values()):
        for i, case in enumerate(CASES):
            if determiner.startswith("ein") and determiner != "ein paar":
                indefinite, ending = MIXED[noun.gender].replace("rot", "").split(", ")[i].split(" ")
                fits = word == noun.form(case, False) and determiner == indefinite and endings <= {ending}
            elif determiner or word != "kleidung":
                ending = STRONG["plural"].replace("rot", "").split(", ")[i]
                fits = word == noun.form(case, True) and endings <= {ending}
            else:
                fits = word == noun.singular and endings <= {STRONG["f"].replace("rot", "").split(", ")[i]}
            if fits:
                cases.add(case)
    return cases


def test_noun_phrases_agree(said):
    count = 0
    for _, tokens in said:
        for before, determiner, adjectives, word in _phrases(tokens):
            cases = _readings(determiner, adjectives, word)
            count += 1
            assert cases, tokens
            if before in DATIVES:
                assert "dative" in cases, tokens
            if before in ("nähe", "seite", "oberhalb", "unterhalb"):
                assert "genitive" in cases, tokens
                assert determiner.startswith("eine"), tokens
            if before in ("es", "sehen"):
                assert "accusative" in cases, tokens
            if not before:
                assert "nominative" in cases, tokens
    assert count > 1.6 * len(said)


def test_relative_clauses_agree(said):
    """Of sentences about one mention: the pronoun has its gender or is a plural's, and the verb is last."""
    nouns = {noun.form(case, False): noun for noun, case in product(NOUNS.values(), CASES)}
    verbs = [(verb.prefix + verb.singular, verb.prefix + verb.plural) for verb in (german.WEAR, *german.VERBS.values())]
    seen = 0
    for what, tokens in said:
        starts = [i for i, word in enumerate(tokens[:-1]) if word == "," and tokens[i + 1] in ("der", "die", "das")]
        if len(what.mentions) > 1 or not starts:
            continue
        plural = len(what.mentions[0].objects) > 1
        clause = " ".join(tokens[starts[0] + 1 :]).split(" ,")[0].split()
        assert clause[-1] in {forms[plural] for forms in verbs}, tokens
        if plural:
            assert clause[0] == "die", tokens
        else:
            noun = nouns[next(word for word in tokens if word in nouns)]
            assert clause[0] == {"m": "der", "f": "die", "n": "das"}[noun.gender], tokens
        seen += 1
    assert seen > len(said) / 60
