"""French forms, and the agreement of random sentences."""

from __future__ import annotations

import pytest
from scenes_languages import sentences

from seqcap.world import french
from seqcap.world.captions import Plan
from seqcap.world.french import GARMENTS, NOUNS, French, agree, elide

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
UNCHANGED = {word for colour in french.TABLES["colours"].values() if "{" not in colour for word in colour.split()}


def test_adjectives() -> None:
    for line in ADJECTIVES.split(","):
        forms = line.split()
        found = [agree(forms[0], feminine, plural) for plural in (False, True) for feminine in (False, True)]
        assert found == forms


def test_elision() -> None:
    assert elide(["de", "un", "homme", "et", "de", "une", "femme"]) == ["d'", "un", "homme", "et", "d'", "une", "femme"]
    assert elide(["pendant", "que", "un", "chien", "dort"])[1] == "qu'"
    assert elide(["de", "herbe", "de", "deux", "de"]) == ["d'", "herbe", "de", "deux", "de"]


@pytest.fixture(scope="module")
def said(full: bool) -> list[tuple[Plan, list[str]]]:
    return sentences(French, 3000 if full else 1500)


# Form -> (feminine, plural) it can be, of every adjective that may stand before or after a noun.
AGREEMENT: dict[str, set[tuple[bool, bool]]] = {}
for _line in ADJECTIVES.split(","):
    for _form, _reading in zip(
        _line.split(), ((False, False), (True, False), (False, True), (True, True)), strict=True
    ):
        AGREEMENT.setdefault(_form, set()).add(_reading)
BEFORE = {
    form for line in ADJECTIVES.split(",") for form in line.split()
    if line.split()[0] in {*french.TABLES["sizes"].values(), *french.TABLES["opinions"].values()}
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
