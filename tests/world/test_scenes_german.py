"""German sentences: dictated ones, and the agreement of random ones."""

from __future__ import annotations

import re
from itertools import pairwise, product
from typing import Any

import pytest
from scenes_languages import dictate, sentences

from seqcap.world import english, german
from seqcap.world.captions import Mention, Plan
from seqcap.world.german import GARMENTS, NOUNS, adjective, article, realise

M = Mention
NEXT, BEHIND, ON = "next_to", "behind", "on"
DOG, CAT, MAN, WOMAN = (M(noun, (0,)) for noun in ("dog", "cat", "man", "woman"))
TWO_DOGS = M("dog", (1, 2), size="small")
RUNNING = M("dog", (0,), action="running")
RED_MAN = M("man", (0,), "red")


@pytest.mark.parametrize(
    ("what", "said", "expected"),
    [
        # The verb second, and last in a relative clause.
        (Plan((RUNNING,), None, "beach"), {"opening": "place_sentence"}, "am strand rennt ein hund"),
        (Plan((RUNNING,), None, "beach"), {"opening": "fragment"}, "ein hund , der am strand rennt"),
        (
            Plan((M("man", (0,), action="walking"), M("dog", (1,), "red", "small")), NEXT, "beach"),
            {"opening": "there"},
            "da geht ein mann am strand neben einem kleinen roten hund",
        ),
        (
            Plan((RUNNING, M("man", (1,))), NEXT, "beach"),
            {"opening": "place_sentence"},
            "am strand rennt ein hund neben einem mann",
        ),
        (
            Plan((M("woman", (0,), action="sitting"), M("cat", (1,), action="sitting")), None, "beach"),
            {"opening": "place_sentence", "place": "by the sea"},
            "am meer sitzen eine frau und eine katze",
        ),
        (
            Plan((M("man", (0,), action="walking"), M("dog", (1,), action="sleeping")), None, "street"),
            {"link": "while"},
            "ein mann geht , während ein hund auf der straße schläft",
        ),
        # Separable verbs and other brackets; a relative clause waits until they are closed.
        (
            Plan((RUNNING, M("cat", (1,), action="sleeping")), NEXT, None),
            {"participle": "running around", "relative": 0.1},
            "ein hund läuft neben einer katze herum , die schläft",
        ),
        (
            Plan((RUNNING, M("cat", (1,), action="sleeping")), NEXT, None),
            {"participle": "running around", "relative": 0.1, "opening": "fragment"},
            "ein hund , der neben einer katze herumläuft , die schläft",
        ),
        (
            Plan((M("woman", (0,), action="walking"),), None, "snow"),
            {"participle": "taking a walk"},
            "eine frau geht im schnee spazieren",
        ),
        (
            Plan((M("man", (0,), action="sitting"),), None, "meadow"),
            {"participle": "sitting down"},
            "ein mann hat im gras platz genommen",
        ),
        (
            Plan((M("cat", (0,), action="sleeping"), M("umbrella", (1,))), "below", None),
            {"participle": "taking a nap", "opening": "fragment", "relation": "under"},
            "eine katze , die unter einem regenschirm ein nickerchen macht",
        ),
        # Accusatives, weak nouns, diminutives.
        (
            Plan((M("dog", (0,), "white", "small", action="sleeping"),), None, "meadow"),
            {"opening": "place_there"},
            "im gras gibt es einen kleinen weißen hund , der schläft",
        ),
        (
            Plan((M("dog", (0,), size="small", action="sitting"),), None, "meadow"),
            {"opening": "introduction", "introduction": "we see", "place": "in a field", "noun": "puppy"},
            "wir sehen einen kleinen welpen , der auf einem feld sitzt",
        ),
        (
            Plan((M("cat", (0,), size="small", action="running"), M("ball", (1,), "blue")), None, "street"),
            {"opening": "place_there", "noun": "kitten", "noun (1,)": "ball", "size": "tiny", "link": "and"},
            "auf der straße gibt es ein winziges kätzchen , das rennt , und einen blauen ball",
        ),
        # Datives and genitives, singular and plural.
        (
            Plan((M("car", (0,), "red"), M("cat", (1,), None, "small", "striped")), BEHIND, None),
            {},
            "ein rotes auto steht hinter einer kleinen gestreiften katze",
        ),
        (Plan((M("car", (0,)), TWO_DOGS), NEXT, None), {}, "ein auto steht neben zwei kleinen hunden"),
        (
            Plan((M("ball", (0,)), M("house", (1,), size="large")), NEXT, None),
            {"relation": "near"},
            "ein ball liegt in der nähe eines großen hauses",
        ),
        (
            Plan((M("ball", (0,)), M("house", (1, 2, 3))), NEXT, None),
            {"relation": "near"},
            "ein ball liegt in der nähe von drei häusern",
        ),
        (
            Plan((M("tree", (0,)), M("woman", (1,), action="standing")), "left_of", None),
            {"relation": "on the left of"},
            "ein baum steht auf der linken seite einer stehenden frau",
        ),
        (
            Plan((M("kite", (0,), "purple", action="flying"), M("boat", (1,), "orange")), "above", None),
            {},
            "ein lila drachen fliegt über einem orangefarbenen boot",
        ),
        (
            Plan((M("bird", (0, 1), action="flying"),), None, None),
            {"opening": "introduction", "simple": 0.0},
            "ein bild von zwei vögeln , die fliegen",
        ),
        (
            Plan((M("cat", (0,)), M("dog", (1, 2), "black")), BEHIND, None),
            {"determiner (1, 2)": 0.1},
            "eine katze ist hinter ein paar schwarzen hunden",
        ),
        (
            Plan((DOG, M("dog", (1,), "white")), "in_front_of", "beach"),
            {"determiner": 0.1},
            "ein hund ist am strand vor einem weiteren weißen hund",
        ),
        # Clothes.
        (
            Plan((M("man", (0,), "red", None, "striped", "waving"),), None, None),
            {"dress": "wearing"},
            "ein mann , der ein gestreiftes rotes hemd trägt , winkt",
        ),
        (
            Plan((M("man", (0,), "red", action="walking"),), None, "beach"),
            {"dress": "wearing", "garment": "sweater", "opening": "fragment"},
            "ein mann , der einen roten pullover trägt und am strand geht",
        ),
        (Plan((M("woman", (0,), "blue", action="sitting"),), None, None), {}, "eine frau in einem blauen kleid sitzt"),
        (Plan((M("man", (0, 1), "red", action="standing"),), None, None), {}, "zwei männer in roten hemden stehen"),
        (
            Plan((M("person", (0, 1), "green"), M("house", (2,))), None, None),
            {},
            "zwei personen in grüner kleidung und ein haus",
        ),
        (
            Plan((M("cat", (0,), action="sitting"), M("woman", (1,), "black")), BEHIND, None),
            {"order": "fronted", "colour alone": 0.1, "dress": "dressed in"},
            "hinter einer in schwarz gekleideten frau sitzt eine katze",
        ),
        (
            Plan((RED_MAN, M("car", (1,), texture="dotted")), NEXT, None),
            {"colour alone": 0.1, "marks": 0.1, "mark": "spots"},
            "ein mann in rot ist neben einem auto mit tupfen",
        ),
        # With something, and what is beside it.
        (
            Plan((M("bird", (0,), action="sitting"), M("house", (1,))), ON, None),
            {"order": "host", "relation": "on", "opening": "there"},
            "da steht ein haus mit einem vogel , der oben darauf sitzt",
        ),
        (Plan((DOG, M("man", (1,))), NEXT, None), {"order": "host"}, "ein mann mit einem hund neben sich"),
        (
            Plan((M("dog", (0, 2), action="sleeping"), M("woman", (1,))), NEXT, None),
            {"order": "host"},
            "eine frau mit zwei hunden , die neben ihr schlafen",
        ),
        (
            Plan((M("ball", (0,)), M("woman", (1, 2))), NEXT, None),
            {"order": "host", "relation": "near"},
            "zwei frauen mit einem ball in ihrer nähe",
        ),
        (
            Plan((M("tree", (0,)), M("car", (1,))), NEXT, None),
            {"order": "host"},
            "ein auto mit einem baum daneben",
        ),
        (
            Plan((M("boat", (0,), size="small"),), None, "beach"),
            {"opening": "setting", "setting": "a beach scene", "noun": "sailboat"},
            "eine strandszene mit einem kleinen segelboot",
        ),
        # Verbs that agree with all they speak of, and phrases that have none.
        (Plan((MAN, M("dog", (1,))), None, None), {"opening": "there"}, "da sind ein mann und ein hund"),
        (
            Plan((MAN, M("dog", (1,), action="sleeping")), None, "night"),
            {"opening": "place_sentence"},
            "bei nacht ein mann und ein schlafender hund",
        ),
        (
            Plan((WOMAN, M("umbrella", (1,), "yellow"), M("cat", (2,), action="running")), BEHIND, "beach"),
            {},
            "eine frau ist am strand hinter einem gelben regenschirm , dazu eine rennende katze",
        ),
        # Manners, opinions, the weather, and what has no place of its own.
        (
            Plan((M("dog", (0,), "red", "small", action="running"), M("cat", (1,), action="sleeping")), NEXT, "meadow"),
            {"has manner (0,)": 0.01, "has opinion (0,)": 0.01, "has aside": 0.01, "aside": "on a sunny day"},
            "ein süßer kleiner roter hund rennt schnell an einem sonnigen tag im gras neben einer schlafenden katze",
        ),
        (
            Plan((M("woman", (0,), action="walking"),), None, "snow"),
            {"has manner": 0.01, "has aside": 0.01, "opening": "place_sentence"},
            "im schnee geht eine frau langsam draußen",
        ),
        (
            Plan((M("bird", (0, 1), action="sitting"),), None, "street"),
            {"opening": "place_there", "there": "we see", "participle": "perched", "noun": "songbird"},
            "auf der straße sehen wir zwei singvögel , die hocken",
        ),
        (
            Plan((M("man", (0,), "yellow"), M("boat", (1,), "white", "large")), NEXT, None),
            {
                "noun (0,)": "gentleman",
                "noun (1,)": "yacht",
                "colour": "gold",
                "garment": "jacket",
                "relation": "by",
                "size": "giant",
            },
            "ein herr in einer goldenen jacke ist bei einer gewaltigen weißen jacht",
        ),
        (
            Plan((M("tree", (0,)), M("man", (1,))), "left_of", None),
            {"noun (1,)": "gentleman", "relation": "on the left side of", "has aside": 0.01},
            "ein baum steht draußen auf der linken seite eines herrn",
        ),
        (
            Plan((M("kite", (0,), action="flying"), M("man", (1,))), "above", "meadow"),
            {"place": "in a field"},
            "ein drachen fliegt über einem mann auf einem feld",
        ),
    ],
)
def test_dictated(what: Plan, said: dict[str, Any], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dictate(german, what, said, monkeypatch) == expected


# --- forms ------------------------------------------------------------------------------------------------------------

CASES: tuple[german.Case, ...] = ("nominative", "accusative", "dative", "genitive")
# Singular forms in the order of CASES, then plural nominative (= accusative, genitive) and dative, as in a dictionary.
FORMS = """
man: mann mann mann mannes | männer männern
guy: typ typ typ typs | typen typen
gentleman: herr herrn herrn herrn | herren herren
fellow: kerl kerl kerl kerls | kerle kerlen
dude: kumpel kumpel kumpel kumpels | kumpel kumpeln
bloke: bursche burschen burschen burschen | burschen burschen
male: mann mann mann mannes | männer männern
woman: frau frau frau frau | frauen frauen
lady: dame dame dame dame | damen damen
female: frau frau frau frau | frauen frauen
gal: mädel mädel mädel mädels | mädels mädels
dame: dame dame dame dame | damen damen
dog: hund hund hund hundes | hunde hunden
puppy: welpe welpen welpen welpen | welpen welpen
pup: hündchen hündchen hündchen hündchens | hündchen hündchen
hound: jagdhund jagdhund jagdhund jagdhundes | jagdhunde jagdhunden
canine: hund hund hund hundes | hunde hunden
doggy: hündchen hündchen hündchen hündchens | hündchen hündchen
pooch: hündchen hündchen hündchen hündchens | hündchen hündchen
cat: katze katze katze katze | katzen katzen
kitten: kätzchen kätzchen kätzchen kätzchens | kätzchen kätzchen
kitty: mieze mieze mieze mieze | miezen miezen
feline: katze katze katze katze | katzen katzen
pussycat: miezekatze miezekatze miezekatze miezekatze | miezekatzen miezekatzen
bird: vogel vogel vogel vogels | vögel vögeln
birdie: vögelchen vögelchen vögelchen vögelchens | vögelchen vögelchen
songbird: singvogel singvogel singvogel singvogels | singvögel singvögeln
fowl: vogel vogel vogel vogels | vögel vögeln
ball: ball ball ball balls | bälle bällen
sphere: kugel kugel kugel kugel | kugeln kugeln
orb: kugel kugel kugel kugel | kugeln kugeln
car: auto auto auto autos | autos autos
vehicle: fahrzeug fahrzeug fahrzeug fahrzeugs | fahrzeuge fahrzeugen
automobile: wagen wagen wagen wagens | wagen wagen
sedan: limousine limousine limousine limousine | limousinen limousinen
motorcar: wagen wagen wagen wagens | wagen wagen
tree: baum baum baum baums | bäume bäumen
plant: pflanze pflanze pflanze pflanze | pflanzen pflanzen
sapling: bäumchen bäumchen bäumchen bäumchens | bäumchen bäumchen
house: haus haus haus hauses | häuser häusern
building: gebäude gebäude gebäude gebäudes | gebäude gebäuden
home: wohnhaus wohnhaus wohnhaus wohnhauses | wohnhäuser wohnhäusern
cottage: häuschen häuschen häuschen häuschens | häuschen häuschen
hut: hütte hütte hütte hütte | hütten hütten
cabin: hütte hütte hütte hütte | hütten hütten
kite: drachen drachen drachen drachens | drachen drachen
boat: boot boot boot boots | boote booten
sailboat: segelboot segelboot segelboot segelboots | segelboote segelbooten
ship: schiff schiff schiff schiffs | schiffe schiffen
vessel: schiff schiff schiff schiffs | schiffe schiffen
yacht: jacht jacht jacht jacht | jachten jachten
umbrella: regenschirm regenschirm regenschirm regenschirms | regenschirme regenschirmen
parasol: sonnenschirm sonnenschirm sonnenschirm sonnenschirms | sonnenschirme sonnenschirmen
sunshade: sonnenschirm sonnenschirm sonnenschirm sonnenschirms | sonnenschirme sonnenschirmen
brolly: schirm schirm schirm schirms | schirme schirmen
person: person person person person | personen personen
individual: mensch menschen menschen menschen | menschen menschen
human: mensch menschen menschen menschen | menschen menschen
figure: gestalt gestalt gestalt gestalt | gestalten gestalten
animal: tier tier tier tieres | tiere tieren
creature: geschöpf geschöpf geschöpf geschöpfs | geschöpfe geschöpfen
pet: haustier haustier haustier haustieres | haustiere haustieren
critter: tierchen tierchen tierchen tierchens | tierchen tierchen
beast: tier tier tier tieres | tiere tieren
shirt: hemd hemd hemd hemdes | hemden hemden
sweater: pullover pullover pullover pullovers | pullover pullovern
jacket: jacke jacke jacke jacke | jacken jacken
top: oberteil oberteil oberteil oberteils | oberteile oberteilen
jumper: pulli pulli pulli pullis | pullis pullis
dress: kleid kleid kleid kleides | kleider kleidern
gown: gewand gewand gewand gewandes | gewänder gewändern
frock: kleidchen kleidchen kleidchen kleidchens | kleidchen kleidchen
"""
GENDERS = {
    "m": "mann typ herr kerl kumpel bursche hund jagdhund welpe vogel singvogel ball wagen baum drachen regenschirm "
    "sonnenschirm schirm mensch pullover pulli",
    "f": "frau dame katze mieze miezekatze kugel limousine pflanze hütte jacht person gestalt jacke kleidung",
    "n": "mädel hündchen kätzchen vögelchen auto fahrzeug bäumchen haus gebäude wohnhaus häuschen boot segelboot "
    "schiff tier geschöpf haustier tierchen hemd oberteil kleid gewand kleidchen outfit",
}


def test_every_form() -> None:
    tables = {**NOUNS, **GARMENTS}
    told = set()
    for line in FORMS.strip().splitlines():
        name, forms = line.split(": ")
        singular, plural = (part.split() for part in forms.split(" | "))
        told.add(name)
        assert [tables[name].form(case, False) for case in CASES] == singular
        assert [tables[name].form(case, True) for case in CASES] == [plural[0], plural[0], plural[1], plural[0]]
    assert told >= set(NOUNS)
    for noun in tables.values():
        assert noun.singular in GENDERS[noun.gender].split()


# Article and adjective, as a grammar book prints them: nominative, accusative, dative, genitive.
MIXED = {
    "m": "ein roter, einen roten, einem roten, eines roten",
    "f": "eine rote, eine rote, einer roten, einer roten",
    "n": "ein rotes, ein rotes, einem roten, eines roten",
}
STRONG = {
    "m": "roter, roten, rotem, roten",
    "f": "rote, rote, roter, roter",
    "n": "rotes, rotes, rotem, roten",
    "plural": "rote, rote, roten, roter",
}


def test_adjectives() -> None:
    genders: tuple[german.Gender, ...] = ("m", "f", "n")
    for gender in genders:
        pairs = [f"{article(gender, case)} {adjective('rot', gender, case, False, True)}" for case in CASES]
        assert ", ".join(pairs) == MIXED[gender]
        assert ", ".join(adjective("rot", gender, case, False, False) for case in CASES) == STRONG[gender]
        assert ", ".join(adjective("rot", gender, case, True, False) for case in CASES) == STRONG["plural"]
        assert adjective("lila", gender, "dative", True, False) == "lila"


def test_tables_cover_english() -> None:
    assert set(NOUNS) == {forms[0] for nouns in english.NOUNS.values() for forms in nouns}
    assert set(GARMENTS) == set(english.GARMENTS)
    assert set(german.COLOURS) == {word for words in english.COLOURS.values() for word in words}
    assert set(german.OPINIONS) == {word for words in english.OPINIONS.values() for word in words}
    assert set(german.MANNERS) == {word for words in english.MANNERS.values() for word in words}
    asides = (english.OUTDOORS, english.PICTURES, *english.WEATHER.values())
    assert set(german.ASIDES) == {phrase for table in asides for phrase in table}
    assert set(german.THERE) == set(english.THERE)
    assert set(german.SIZES) == {
        word for table in (english.SIZES, english.PERSON_SIZES) for words in table.values() for word in words
    }
    places = {
        phrase for table in (english.PLACES, english.PLACES_BELOW) for words in table.values() for phrase in words
    }
    assert set(german.PLACES) == places
    assert set(german.SETTINGS) == {phrase for phrases in english.SETTINGS.values() for phrase in phrases}
    relations = {phrase for phrases in english.RELATIONS.values() for phrase in phrases}
    assert set(german.RELATIONS) == relations
    hosted = relations | {phrase for phrases in english.SELF_RELATIONS.values() for phrase in phrases}
    # "on" has forms of its own.
    assert set(german.ADVERBS) == set(german.ANIMATE_ADVERBS) == hosted - set(english.RELATIONS["on"])
    participles = {
        phrase
        for table in (english.PARTICIPLES, english.BIRD_PARTICIPLES)
        for phrases in table.values()
        for phrase in phrases
    }
    assert set(german.VERBS) == participles
    assert set(german.ATTRIBUTES) == {word for word in participles if word.isalpha()} - english.PREDICATIVE
    assert set(german.TEXTURES) == {word for words in english.TEXTURES.values() for word in words}
    assert set(german.MARKS) == {word for words in english.MARKS.values() for word in words}
    assert set(german.INTRODUCTIONS) == set(english.INTRODUCTIONS)
    assert set(german.NUMBERS) == set(english.NUMBERS) | set(english.GROUPS)


# --- random sentences -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def said(full: bool) -> list[tuple[Plan, list[str]]]:
    return sentences(realise, 3000 if full else 1500)


STEMS = {
    *german.COLOURS.values(), *german.SIZES.values(), *german.TEXTURES.values(), *german.ANIMAL_TEXTURES.values(),
    *german.OPINIONS.values(), *german.ATTRIBUTES.values(), "gekleidet", "weiter",
} - german.INVARIABLE  # fmt: skip
ENDINGS = {f"{stem}{ending}": (stem, ending) for stem, ending in product(STEMS, ("e", "en", "er", "es", "em"))}
COLOUR_WORDS = set(german.COLOUR_NOUNS.values())
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


def test_noun_phrases_agree(said: list[tuple[Plan, list[str]]]) -> None:
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


def test_words_are_plain(said: list[tuple[Plan, list[str]]]) -> None:
    for _, tokens in said:
        assert len(tokens) <= english.MAX_WORDS
        assert "," not in (tokens[0], tokens[-1]), tokens
        for word, following in pairwise(tokens):
            assert word != following, tokens
            assert re.fullmatch("[a-zäöüß]+|,", word), tokens


def test_relative_clauses_agree(said: list[tuple[Plan, list[str]]]) -> None:
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
