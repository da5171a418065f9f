"""French sentences: dictated ones, and the agreement of random ones."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from scenes_languages import dictate, sentences

from seqcap.world import english, french
from seqcap.world.captions import Mention, Plan
from seqcap.world.french import GARMENTS, NOUNS, agree, elide, realise

M = Mention
NEXT, BEHIND = "next_to", "behind"
DOG, WOMAN = M("dog", (0,)), M("woman", (0,))
RUNNING = M("dog", (0,), action="running")


@pytest.mark.parametrize(
    ("what", "said", "expected"),
    [
        # Gender, number, the place of adjectives.
        (
            Plan((M("car", (0,), "red", "small", "striped"), M("tree", (1,))), NEXT, None),
            {},
            "une petite voiture rouge rayée se trouve à côté d' un arbre",
        ),
        (
            Plan((M("car", (0, 1), "red", "small"),), None, "street"),
            {"opening": "fragment"},
            "deux petites voitures rouges dans la rue",
        ),
        (
            Plan((M("ball", (0, 1), "white"), M("house", (2,), "purple")), BEHIND, None),
            {"opening": "there"},
            "il y a deux balles blanches derrière une maison violette",
        ),
        (
            Plan((M("car", (0, 1, 2), "orange"), M("bird", (3,), "black")), None, None),
            {},
            "trois voitures orange et un oiseau noir",
        ),
        (
            Plan((M("bird", (0, 1), "green", "large"),), None, "meadow"),
            {"opening": "fragment", "size": "big"},
            "deux gros oiseaux verts dans l' herbe",
        ),
        (
            Plan((M("animal", (0, 1), None, "large"),), None, "meadow"),
            {"opening": "place_there", "size": "huge", "place": "in a field"},
            "dans un champ , il y a deux énormes animaux",
        ),
        (
            Plan((M("kite", (0, 1), action="flying"),), None, "desert"),
            {"place": "over the desert"},
            "deux cerfs-volants volent au-dessus du désert",
        ),
        (
            Plan((M("ball", (0,)), M("ball", (1,), "blue", "large", "dotted")), BEHIND, None),
            {"determiner": 0.1, "size": "big", "texture": "dotted"},
            "une balle se trouve derrière une autre grosse balle bleue à pois",
        ),
        (
            Plan((M("dog", (0,), texture="dotted"), M("cat", (1,), texture="striped")), None, None),
            {"texture": "spotted", "marks (1,)": 0.1},
            "un chien tacheté et un chat à rayures",
        ),
        # Elision and contraction.
        (
            Plan((M("bird", (0,), action="flying"),), None, "beach"),
            {"place": "over the beach", "opening": "place_sentence"},
            "au-dessus de la plage , un oiseau vole",
        ),
        (
            Plan((M("boat", (0,), "yellow"),), None, "beach"),
            {"place": "by the ocean", "copula": "être"},
            "un bateau jaune est au bord de l' océan",
        ),
        (
            Plan((M("boat", (0,)),), None, "beach"),
            {"place": "by the sea", "noun": "sailboat"},
            "un voilier se trouve au bord de la mer",
        ),
        (
            Plan((M("tree", (0,)), M("bird", (1, 2))), "left_of", None),
            {"copula": "être"},
            "un arbre est à gauche de deux oiseaux",
        ),
        (
            Plan((M("tree", (0,)), M("house", (1,))), "right_of", None),
            {"opening": "introduction", "introduction": "a photo of"},
            "une photo d' un arbre à droite d' une maison",
        ),
        # Actions.
        (
            Plan((RUNNING,), None, "beach"),
            {"opening": "place_sentence"},
            "sur la plage , un chien est en train de courir",
        ),
        (Plan((RUNNING,), None, "beach"), {"simple": 0.1}, "un chien court sur la plage"),
        (
            Plan((M("cat", (0,), "black", "large", action="sleeping"),), None, "meadow"),
            {"opening": "introduction", "introduction": "we see", "size": "big"},
            "on voit un gros chat noir endormi dans l' herbe",
        ),
        (
            Plan((WOMAN, M("house", (1,)), M("dog", (2,), action="running")), NEXT, None),
            {"relative": 0.1},
            "une femme est à côté d' une maison et il y a un chien qui court",
        ),
        (
            Plan((M("person", (0, 1), action="walking"),), None, "street"),
            {"participle": "taking a walk", "place": "in the city"},
            "deux personnes se promènent en ville",
        ),
        (
            Plan((M("man", (0,), action="sitting"), M("woman", (1,), action="sitting")), None, None),
            {},
            "un homme et une femme sont assis",
        ),
        (
            Plan((M("woman", (0,), action="sitting"), M("person", (1,), action="sitting")), None, "snow"),
            {},
            "une femme et une personne sont assises dans la neige",
        ),
        (
            Plan((M("man", (0,), action="walking"), M("bird", (1,), action="flying")), None, None),
            {"link": "while"},
            "un homme marche pendant qu' un oiseau vole",
        ),
        (
            Plan((M("man", (0,), action="walking"), M("cat", (1, 2), action="sleeping")), None, None),
            {"link": "while", "conjunction": "tandis que", "aspect (1, 2)": "en train de"},
            "un homme marche tandis que deux chats sont en train de dormir",
        ),
        (
            Plan((M("dog", (0,), action="sitting"),), None, "meadow"),
            {"participle": "sitting down", "noun": "puppy"},
            "un chiot est en train de s' asseoir dans l' herbe",
        ),
        (
            Plan((M("bird", (0,), action="sitting"), M("car", (1,), "green")), "on", None),
            {"order": "fronted"},
            "sur une voiture verte , il y a un oiseau assis",
        ),
        # People.
        (
            Plan((M("woman", (0,), "blue"),), None, "beach"),
            {"opening": "introduction"},
            "une image d' une femme vêtue d' une robe bleue sur la plage",
        ),
        (
            Plan((M("woman", (0, 1), "white", action="standing"),), None, None),
            {"dress": "wearing"},
            "deux femmes portant des robes blanches sont debout",
        ),
        (
            Plan((M("man", (0, 1), "red", None, "striped", "waving"),), None, None),
            {"opening": "fragment"},
            "deux hommes vêtus de chemises rouges rayées et faisant signe",
        ),
        (
            Plan((M("man", (0,), "purple", "large", action="walking"),), None, None),
            {"size": "tall", "opening": "fragment", "dress": "wearing", "garment": "sweater"},
            "un homme de grande taille portant un pull violet et marchant",
        ),
        (
            Plan((M("woman", (0,), "orange"), M("umbrella", (1,))), None, None),
            {"colour alone": 0.1, "dress": "wearing", "noun (1,)": "parasol"},
            "une femme portant de l' orange et un parasol",
        ),
        (
            Plan((M("woman", (0, 1), "black"), M("cat", (2,))), None, None),
            {"colour alone": 0.1, "dress": "dressed in", "noun (0, 1)": "lady"},
            "deux dames habillées en noir et un chat",
        ),
        (
            Plan((M("person", (0,), "white", "small"), DOG), None, None),
            {},
            "une petite personne portant des vêtements blancs et un chien",
        ),
        # Manners, opinions, the weather; colours of two words.
        (
            Plan(
                (M("dog", (0,), "blue", "small", action="running"), M("cat", (1,), action="sleeping")), NEXT, "meadow"
            ),
            {
                "has manner (0,)": 0.01,
                "has opinion (0,)": 0.01,
                "has aside": 0.01,
                "aside": "in the open air",
                "colour": "navy",
                "simple (0,)": 0.1,
            },
            "un mignon petit chien bleu marine court vite à côté d' un chat endormi dans l' herbe en plein air",
        ),
        (
            Plan((M("woman", (0, 1), "yellow", action="sitting"),), None, "beach"),
            {"has manner": 0.01, "has opinion": 0.01, "opinion": "happy", "colour": "gold", "has aside": 0.01},
            "deux joyeuses femmes vêtues de robes dorées sont assises tranquillement sur la plage dehors",
        ),
        (
            Plan((M("bird", (0, 1), "red", action="sitting"),), None, "street"),
            {"opening": "place_there", "there": "you can see", "participle": "perched", "colour": "ruby"},
            "dans la rue , on peut voir deux oiseaux rubis perchés",
        ),
        (
            Plan((M("cat", (0,), action="sitting"), M("house", (1,))), BEHIND, None),
            {"order": "host", "pronoun": 0.1, "attribute": "seated"},
            "une maison avec un chat assis à l' arrière-plan",
        ),
        # With something, and what is beside it.
        (
            Plan((M("cat", (0,), action="sitting"), M("house", (1,))), "on", None),
            {"order": "host", "relation": "on top"},
            "une maison avec un chat assis dessus",
        ),
        (
            Plan((M("dog", (0, 2)), M("woman", (1,))), BEHIND, None),
            {"order": "host"},
            "une femme avec deux chiens derrière elle",
        ),
        (
            Plan((M("ball", (0,)), M("man", (1, 2))), NEXT, None),
            {"order": "host"},
            "deux hommes avec une balle à côté d' eux",
        ),
        (
            Plan((M("tree", (0,)), M("car", (1, 2))), "left_of", None),
            {"order": "host"},
            "deux voitures avec un arbre à leur gauche",
        ),
        (
            Plan((M("boat", (0,)),), None, "beach"),
            {"opening": "setting", "setting": "a beach scene"},
            "une scène de plage avec un bateau",
        ),
    ],
)
def test_dictated(what: Plan, said: dict[str, Any], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dictate(french, what, said, monkeypatch) == expected


# --- forms ------------------------------------------------------------------------------------------------------------

FORMS = """
un homme des hommes, un type des types, un monsieur des messieurs, un bonhomme des bonshommes, un mec des mecs,
un gaillard des gaillards, une femme des femmes, une dame des dames, une demoiselle des demoiselles,
un chien des chiens, un chiot des chiots, un limier des limiers, un toutou des toutous, un chat des chats,
un chaton des chatons, un minou des minous, un félin des félins, un minet des minets, un oiseau des oiseaux,
un oisillon des oisillons, un passereau des passereaux, un volatile des volatiles, une balle des balles,
une sphère des sphères, une boule des boules, une voiture des voitures, un véhicule des véhicules,
une automobile des automobiles, une berline des berlines, une auto des autos, un arbre des arbres,
une plante des plantes, un arbuste des arbustes, une maison des maisons, un bâtiment des bâtiments,
une demeure des demeures, une maisonnette des maisonnettes, une cabane des cabanes,
un cerf-volant des cerfs-volants, un bateau des bateaux, un voilier des voiliers, un navire des navires,
un yacht des yachts, un parapluie des parapluies, un parasol des parasols, une ombrelle des ombrelles,
une personne des personnes, un individu des individus, un humain des humains, une silhouette des silhouettes,
un animal des animaux, une créature des créatures, une bestiole des bestioles, une bête des bêtes,
une chemise des chemises, un pull des pulls, une veste des vestes, un débardeur des débardeurs,
un chandail des chandails, une robe des robes, une tunique des tuniques, une tenue des tenues,
un vêtement des vêtements, un habit des habits
"""


def test_every_form() -> None:
    tables = {*NOUNS.values(), *GARMENTS.values()}
    forms = {f"{'une' if noun.feminine else 'un'} {noun.singular} des {noun.plural}" for noun in tables}
    assert forms == {" ".join(line.split()) for line in FORMS.split(",")}


# Masculine and feminine singular, masculine and feminine plural, as a dictionary prints them.
ADJECTIVES = """
rouge rouge rouges rouges, bleu bleue bleus bleues, vert verte verts vertes, jaune jaune jaunes jaunes,
noir noire noirs noires, blanc blanche blancs blanches, violet violette violets violettes,
petit petite petits petites, minuscule minuscule minuscules minuscules, grand grande grands grandes,
gros grosse gros grosses, énorme énorme énormes énormes, costaud costaude costauds costaudes,
rayé rayée rayés rayées, tacheté tachetée tachetés tachetées, assis assise assis assises,
endormi endormie endormis endormies, allongé allongée allongés allongées, vêtu vêtue vêtus vêtues,
habillé habillée habillés habillées, cramoisi cramoisie cramoisis cramoisies, écarlate écarlate écarlates écarlates,
doré dorée dorés dorées, nacré nacrée nacrés nacrées, mauve mauve mauves mauves, strié striée striés striées,
moucheté mouchetée mouchetés mouchetées, immense immense immenses immenses,
gigantesque gigantesque gigantesques gigantesques, menu menue menus menues, imposant imposante imposants imposantes,
jeune jeune jeunes jeunes, gentil gentille gentils gentilles, joyeux joyeuse joyeux joyeuses,
mignon mignonne mignons mignonnes, adorable adorable adorables adorables, charmant charmante charmants charmantes,
joli jolie jolis jolies, magnifique magnifique magnifiques magnifiques, simple simple simples simples,
perché perchée perchés perchées, immobile immobile immobiles immobiles, droit droite droits droites
"""
# Names of things as colours do not agree.
UNCHANGED = {word for colour in french.COLOURS.values() if "{" not in colour for word in colour.split()}


def test_adjectives() -> None:
    for line in ADJECTIVES.split(","):
        forms = line.split()
        found = [agree(forms[0], feminine, plural) for plural in (False, True) for feminine in (False, True)]
        assert found == forms


def test_elision() -> None:
    assert elide(["de", "un", "homme", "et", "de", "une", "femme"]) == ["d'", "un", "homme", "et", "d'", "une", "femme"]
    assert elide(["pendant", "que", "un", "chien", "dort"])[1] == "qu'"
    assert elide(["de", "herbe", "de", "deux", "de"]) == ["d'", "herbe", "de", "deux", "de"]


def test_tables_cover_english() -> None:
    assert set(NOUNS) == {forms[0] for nouns in english.NOUNS.values() for forms in nouns}
    assert set(GARMENTS) == set(english.GARMENTS)
    assert set(french.COLOURS) == {word for words in english.COLOURS.values() for word in words}
    assert set(french.OPINIONS) == {word for words in english.OPINIONS.values() for word in words}
    assert set(french.MANNERS) == {word for words in english.MANNERS.values() for word in words}
    asides = (english.OUTDOORS, english.PICTURES, *english.WEATHER.values())
    assert set(french.ASIDES) == {phrase for table in asides for phrase in table}
    assert set(french.THERE) == set(english.THERE)
    assert set(french.SIZES) == {word for words in english.SIZES.values() for word in words}
    assert set(french.PERSON_SIZES) == {word for words in english.PERSON_SIZES.values() for word in words}
    places = {
        phrase for table in (english.PLACES, english.PLACES_BELOW) for words in table.values() for phrase in words
    }
    assert set(french.PLACES) == places
    assert set(french.SETTINGS) == {phrase for phrases in english.SETTINGS.values() for phrase in phrases}
    relations = {phrase for phrases in english.RELATIONS.values() for phrase in phrases}
    assert set(french.RELATIONS) == relations
    hosted = relations | {phrase for phrases in english.SELF_RELATIONS.values() for phrase in phrases}
    # "on" has forms of its own.
    assert set(french.ADVERBS) == set(french.ANIMATE_ADVERBS) == hosted - set(english.RELATIONS["on"])
    participles = {
        phrase
        for table in (english.PARTICIPLES, english.BIRD_PARTICIPLES)
        for phrases in table.values()
        for phrase in phrases
    }
    assert set(french.VERBS) == participles
    assert set(french.ATTRIBUTES) | set(french.SIMPLE) <= participles
    assert set(french.TEXTURES) == {word for words in english.TEXTURES.values() for word in words}
    assert set(french.MARKS) == {word for words in english.MARKS.values() for word in words}
    assert set(french.INTRODUCTIONS) == set(english.INTRODUCTIONS)
    assert set(french.NUMBERS) == set(english.NUMBERS) | set(english.GROUPS)


# --- random sentences -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def said(full: bool) -> list[tuple[Plan, list[str]]]:
    return sentences(realise, 3000 if full else 1500)


# Form -> (feminine, plural) it can be, of every adjective that may stand before or after a noun.
AGREEMENT: dict[str, set[tuple[bool, bool]]] = {}
for _line in ADJECTIVES.split(","):
    for _form, _reading in zip(
        _line.split(), ((False, False), (True, False), (False, True), (True, True)), strict=True
    ):
        AGREEMENT.setdefault(_form, set()).add(_reading)
BEFORE = {
    form for line in ADJECTIVES.split(",") for form in line.split()
    if line.split()[0] in {*french.SIZES.values(), *french.OPINIONS.values()}
}  # fmt: skip
PARTICIPLES = {
    form
    for line in ADJECTIVES.split(",")
    for form in line.split()
    if line.split()[0] in ("assis", "endormi", "allongé", "perché", "immobile", "droit")
}
CLOTHES = {form for noun in GARMENTS.values() for form in (noun.singular, noun.plural)}
DETERMINERS = {"un": (False, False), "une": (True, False)}
WORDS = {
    form: (noun.feminine, plural)
    for noun in (*NOUNS.values(), *GARMENTS.values())
    for plural, form in enumerate((noun.singular, noun.plural))
}


def test_noun_phrases_agree(said: list[tuple[Plan, list[str]]]) -> None:
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


def test_words_are_plain(said: list[tuple[Plan, list[str]]]) -> None:
    for _, tokens in said:
        assert len(tokens) <= english.MAX_WORDS
        assert "," not in (tokens[0], tokens[-1]), tokens
        for word, following in pairwise(tokens):
            assert word != following, tokens
            assert re.fullmatch("[a-zàâçéèêîôû-]+'?|,", word), tokens
            if word in ("de", "que", "le", "la", "se"):
                assert following[0] not in "aeiouéêhy", tokens
            if word.endswith("'"):
                assert following[0] in "aeiouéêh", tokens
            assert (word, following) not in {("de", "le"), ("de", "les"), ("à", "le"), ("à", "les")}, tokens
