"""German forms, and the agreement of random sentences."""

from __future__ import annotations

from itertools import product

import pytest
from scenes_languages import sentences

from seqcap.world import german
from seqcap.world.captions import Plan
from seqcap.world.german import GARMENTS, NOUNS, German, adjective, article

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
