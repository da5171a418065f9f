"""German: the words with their forms, and the realiser that turns a plan into a sentence.

Choices are English's (`english.Wording`), and the tables are keyed by their English words; the grammar is German: three
genders, four cases, strong and mixed adjectives, the verb second in a main clause and last in a subordinate one.
Words are lower-case, nouns too, as in IWSLT'14; a comma is a word of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from seqcap.world.captions import Mention, Plan
from seqcap.world.english import ANIMALS, PEOPLE, TIMES, UNCOUNTED, Draws, Wording, fit

Gender = Literal["m", "f", "n"]
Case = Literal["nominative", "accusative", "dative", "genitive"]


class Noun(NamedTuple):
    """A noun's forms; `weak` ones ("welpe") take the genitive's form in the accusative and dative, too."""

    gender: Gender
    singular: str
    genitive: str
    plural: str
    weak: bool = False

    def form(self, case: Case, plural: bool) -> str:
        if plural:
            return f"{self.plural}n" if case == "dative" and self.plural[-1] not in "ns" else self.plural
        return self.genitive if case == "genitive" or (self.weak and case != "nominative") else self.singular


class Verb(NamedTuple):
    """A finite verb and what stands at the end of a main clause with it.

    Attributes:
        singular, plural: third person.
        rest: words that stay apart from the verb ("spazieren gehen").
        prefix: a separable one, which a verb at the end takes back ("läuft herum", "herumläuft").
    """

    singular: str
    plural: str
    rest: str = ""
    prefix: str = ""

    def second(self, plural: bool) -> str:
        """The verb in second place; `bracket` closes the clause."""
        return self.plural if plural else self.singular

    @property
    def bracket(self) -> str:
        return f"{self.rest} {self.prefix}".strip()

    def last(self, plural: bool, *middle: str) -> str:
        """What a subordinate clause says of its subject: `middle`, then the verb."""
        return _joined(*middle, self.rest, f"{self.prefix}{self.second(plural)}")


# --- words: English -> German -----------------------------------------------------------------------------------------

NOUNS: Mapping[str, Noun] = {
    "man": Noun("m", "mann", "mannes", "männer"),
    "guy": Noun("m", "typ", "typs", "typen"),
    "gentleman": Noun("m", "herr", "herrn", "herren", weak=True),
    "fellow": Noun("m", "kerl", "kerls", "kerle"),
    "dude": Noun("m", "kumpel", "kumpels", "kumpel"),
    "bloke": Noun("m", "bursche", "burschen", "burschen", weak=True),
    "male": Noun("m", "mann", "mannes", "männer"),
    "woman": Noun("f", "frau", "frau", "frauen"),
    "lady": Noun("f", "dame", "dame", "damen"),
    "female": Noun("f", "frau", "frau", "frauen"),
    "gal": Noun("n", "mädel", "mädels", "mädels"),
    "dame": Noun("f", "dame", "dame", "damen"),
    "dog": Noun("m", "hund", "hundes", "hunde"),
    "puppy": Noun("m", "welpe", "welpen", "welpen", weak=True),
    "pup": Noun("n", "hündchen", "hündchens", "hündchen"),
    "hound": Noun("m", "jagdhund", "jagdhundes", "jagdhunde"),
    "canine": Noun("m", "hund", "hundes", "hunde"),
    "doggy": Noun("n", "hündchen", "hündchens", "hündchen"),
    "pooch": Noun("n", "hündchen", "hündchens", "hündchen"),
    "cat": Noun("f", "katze", "katze", "katzen"),
    "kitten": Noun("n", "kätzchen", "kätzchens", "kätzchen"),
    "kitty": Noun("f", "mieze", "mieze", "miezen"),
    "feline": Noun("f", "katze", "katze", "katzen"),
    "pussycat": Noun("f", "miezekatze", "miezekatze", "miezekatzen"),
    "bird": Noun("m", "vogel", "vogels", "vögel"),
    "birdie": Noun("n", "vögelchen", "vögelchens", "vögelchen"),
    "songbird": Noun("m", "singvogel", "singvogels", "singvögel"),
    "fowl": Noun("m", "vogel", "vogels", "vögel"),
    "ball": Noun("m", "ball", "balls", "bälle"),
    "sphere": Noun("f", "kugel", "kugel", "kugeln"),
    "orb": Noun("f", "kugel", "kugel", "kugeln"),
    "car": Noun("n", "auto", "autos", "autos"),
    "vehicle": Noun("n", "fahrzeug", "fahrzeugs", "fahrzeuge"),
    "automobile": Noun("m", "wagen", "wagens", "wagen"),
    "sedan": Noun("f", "limousine", "limousine", "limousinen"),
    "motorcar": Noun("m", "wagen", "wagens", "wagen"),
    "tree": Noun("m", "baum", "baums", "bäume"),
    "plant": Noun("f", "pflanze", "pflanze", "pflanzen"),
    "sapling": Noun("n", "bäumchen", "bäumchens", "bäumchen"),
    "house": Noun("n", "haus", "hauses", "häuser"),
    "building": Noun("n", "gebäude", "gebäudes", "gebäude"),
    "home": Noun("n", "wohnhaus", "wohnhauses", "wohnhäuser"),
    "cottage": Noun("n", "häuschen", "häuschens", "häuschen"),
    "hut": Noun("f", "hütte", "hütte", "hütten"),
    "cabin": Noun("f", "hütte", "hütte", "hütten"),
    "kite": Noun("m", "drachen", "drachens", "drachen"),
    "boat": Noun("n", "boot", "boots", "boote"),
    "sailboat": Noun("n", "segelboot", "segelboots", "segelboote"),
    "ship": Noun("n", "schiff", "schiffs", "schiffe"),
    "vessel": Noun("n", "schiff", "schiffs", "schiffe"),
    "yacht": Noun("f", "jacht", "jacht", "jachten"),
    "umbrella": Noun("m", "regenschirm", "regenschirms", "regenschirme"),
    "parasol": Noun("m", "sonnenschirm", "sonnenschirms", "sonnenschirme"),
    "sunshade": Noun("m", "sonnenschirm", "sonnenschirms", "sonnenschirme"),
    "brolly": Noun("m", "schirm", "schirms", "schirme"),
    "person": Noun("f", "person", "person", "personen"),
    "individual": Noun("m", "mensch", "menschen", "menschen", weak=True),
    "human": Noun("m", "mensch", "menschen", "menschen", weak=True),
    "figure": Noun("f", "gestalt", "gestalt", "gestalten"),
    "animal": Noun("n", "tier", "tieres", "tiere"),
    "creature": Noun("n", "geschöpf", "geschöpfs", "geschöpfe"),
    "pet": Noun("n", "haustier", "haustieres", "haustiere"),
    "critter": Noun("n", "tierchen", "tierchens", "tierchen"),
    "beast": Noun("n", "tier", "tieres", "tiere"),
}
# "clothes" and the like are a singular without an article, even of several people.
_CLOTHING = Noun("f", "kleidung", "kleidung", "kleidungen")
GARMENTS: Mapping[str, Noun] = {
    **dict.fromkeys(("shirt", "shirts"), Noun("n", "hemd", "hemdes", "hemden")),
    **dict.fromkeys(("sweater", "sweaters"), Noun("m", "pullover", "pullovers", "pullover")),
    **dict.fromkeys(("jacket", "jackets"), Noun("f", "jacke", "jacke", "jacken")),
    "top": Noun("n", "oberteil", "oberteils", "oberteile"),
    "jumper": Noun("m", "pulli", "pullis", "pullis"),
    **dict.fromkeys(("dress", "dresses"), Noun("n", "kleid", "kleides", "kleider")),
    **dict.fromkeys(("gown", "gowns"), Noun("n", "gewand", "gewandes", "gewänder")),
    "frock": Noun("n", "kleidchen", "kleidchens", "kleidchen"),
    **dict.fromkeys(("outfit", "outfits"), Noun("n", "outfit", "outfits", "outfits")),
    **dict.fromkeys(("clothes", "clothing", "attire"), _CLOTHING),
}
COLOURS: Mapping[str, str] = {
    "red": "rot",
    "crimson": "karmesinrot",
    "scarlet": "scharlachrot",
    "ruby": "rubinrot",
    "blue": "blau",
    "navy": "marineblau",
    "azure": "himmelblau",
    "cobalt": "kobaltblau",
    "sapphire": "saphirblau",
    "green": "grün",
    "emerald": "smaragdgrün",
    "lime": "limettengrün",
    "jade": "jadegrün",
    "yellow": "gelb",
    "gold": "golden",
    "lemon": "zitronengelb",
    "black": "schwarz",
    "ebony": "tiefschwarz",
    "onyx": "pechschwarz",
    "white": "weiß",
    "ivory": "elfenbeinfarben",
    "pearl": "perlweiß",
    "orange": "orangefarben",
    "tangerine": "mandarinfarben",
    "amber": "bernsteinfarben",
    "purple": "lila",
    "violet": "violett",
    "lilac": "fliederfarben",
    "mauve": "malvenfarben",
}
# Colours as nouns: "in orange".
COLOUR_NOUNS: Mapping[str, str] = {
    **COLOURS,
    "gold": "gold",
    "ivory": "elfenbein",
    "orange": "orange",
    "tangerine": "mandarin",
    "amber": "bernstein",
    "lilac": "flieder",
    "mauve": "malve",
}
INVARIABLE = frozenset({"lila"})
SIZES: Mapping[str, str] = {
    "small": "klein",
    "little": "klein",
    "short": "klein",
    "tiny": "winzig",
    "miniature": "winzig",
    "mini": "klitzeklein",
    "teeny": "klitzeklein",
    "petite": "zierlich",
    "large": "groß",
    "big": "groß",
    "tall": "groß",
    "huge": "riesig",
    "giant": "gewaltig",
    "enormous": "enorm",
    "massive": "gewaltig",
    "gigantic": "gigantisch",
    "towering": "hochgewachsen",
}
TEXTURES: Mapping[str, str] = {
    "striped": "gestreift",
    "stripy": "streifig",
    "streaked": "streifig",
    "banded": "geringelt",
    "dotted": "gepunktet",
    "spotted": "getupft",
    "speckled": "gesprenkelt",
    "spotty": "getupft",
}
MARKS: Mapping[str, str] = {
    "stripes": "streifen",
    "bands": "ringeln",
    "streaks": "streifen",
    "dots": "punkten",
    "polka dots": "punkten",
    "spots": "tupfen",
    "speckles": "sprenkeln",
}
# German has another word for an animal's spots than for a shirt's.
ANIMAL_TEXTURES: Mapping[str, str] = {**TEXTURES, "spotted": "gefleckt", "spotty": "gescheckt"}
ANIMAL_MARKS: Mapping[str, str] = {**MARKS, "spots": "flecken"}
OPINIONS: Mapping[str, str] = {
    "young": "jung",
    "friendly": "freundlich",
    "happy": "fröhlich",
    "cheerful": "vergnügt",
    "cute": "süß",
    "adorable": "niedlich",
    "sweet": "süß",
    "nice": "schön",
    "beautiful": "wunderschön",
    "pretty": "hübsch",
    "lovely": "hübsch",
    "simple": "einfach",
}
# Of one thing the article is declined; "another" is "ein" and an adjective; the others do not change.
NUMBERS: Mapping[str, str] = {
    "two": "zwei",
    "three": "drei",
    "four": "vier",
    "a couple of": "ein paar",
    "a pair of": "zwei",
    "a trio of": "drei",
    "a group of three": "drei",
    "a group of four": "vier",
}
VERBS: Mapping[str, Verb] = {
    "standing": Verb("steht", "stehen"),
    "standing up": Verb("steht", "stehen", rest="aufrecht"),
    "standing still": Verb("steht", "stehen", rest="still"),
    "standing upright": Verb("steht", "stehen", rest="aufrecht"),
    "posing": Verb("posiert", "posieren"),
    "waiting": Verb("wartet", "warten"),
    "walking": Verb("geht", "gehen"),
    "strolling": Verb("schlendert", "schlendern"),
    "taking a walk": Verb("geht", "gehen", rest="spazieren"),
    "wandering": Verb("wandert", "wandern"),
    "going for a walk": Verb("spaziert", "spazieren"),
    "marching": Verb("marschiert", "marschieren"),
    "taking a stroll": Verb("bummelt", "bummeln"),
    "ambling": Verb("schlendert", "schlendern"),
    "waving": Verb("winkt", "winken"),
    "waving a hand": Verb("winkt", "winken", rest="mit der hand"),
    "waving hello": Verb("winkt", "winken", rest="zum gruß"),
    "gesturing": Verb("gestikuliert", "gestikulieren"),
    "saying hello": Verb("grüßt", "grüßen"),
    "raising a hand": Verb("hebt", "heben", rest="die hand"),
    "sitting": Verb("sitzt", "sitzen"),
    "sitting down": Verb("hat", "haben", rest="platz genommen"),
    "seated": Verb("sitzt", "sitzen"),
    "sitting still": Verb("sitzt", "sitzen", rest="still"),
    "sitting upright": Verb("sitzt", "sitzen", rest="aufrecht"),
    "perched": Verb("hockt", "hocken"),
    "perching": Verb("hockt", "hocken"),
    "running": Verb("rennt", "rennen"),
    "running around": Verb("läuft", "laufen", prefix="herum"),
    "sprinting": Verb("sprintet", "sprinten"),
    "racing": Verb("rast", "rasen"),
    "dashing": Verb("flitzt", "flitzen"),
    "jogging": Verb("joggt", "joggen"),
    "rushing": Verb("eilt", "eilen"),
    "trotting": Verb("trabt", "traben"),
    "galloping": Verb("galoppiert", "galoppieren"),
    "sleeping": Verb("schläft", "schlafen"),
    "lying down": Verb("liegt", "liegen"),
    "napping": Verb("schlummert", "schlummern"),
    "taking a nap": Verb("macht", "machen", rest="ein nickerchen"),
    "dozing": Verb("döst", "dösen"),
    "asleep": Verb("schläft", "schlafen"),
    "snoozing": Verb("döst", "dösen"),
    "slumbering": Verb("schlummert", "schlummern"),
    "flying": Verb("fliegt", "fliegen"),
    "soaring": Verb("segelt", "segeln"),
    "flying in the sky": Verb("fliegt", "fliegen", rest="am himmel"),
    "gliding": Verb("gleitet", "gleiten"),
    "floating": Verb("schwebt", "schweben"),
    "hovering": Verb("schwebt", "schweben"),
    "flying overhead": Verb("fliegt", "fliegen", rest="in der luft"),
}
# Participles before a noun.
ATTRIBUTES: Mapping[str, str] = {
    "standing": "stehend",
    "posing": "posierend",
    "waiting": "wartend",
    "walking": "gehend",
    "strolling": "schlendernd",
    "wandering": "wandernd",
    "marching": "marschierend",
    "ambling": "schlendernd",
    "waving": "winkend",
    "gesturing": "gestikulierend",
    "sitting": "sitzend",
    "seated": "sitzend",
    "perched": "hockend",
    "perching": "hockend",
    "running": "rennend",
    "sprinting": "sprintend",
    "racing": "rasend",
    "dashing": "flitzend",
    "jogging": "joggend",
    "rushing": "eilend",
    "trotting": "trabend",
    "galloping": "galoppierend",
    "sleeping": "schlafend",
    "napping": "schlummernd",
    "dozing": "dösend",
    "snoozing": "dösend",
    "slumbering": "schlummernd",
    "flying": "fliegend",
    "soaring": "segelnd",
    "gliding": "gleitend",
    "floating": "schwebend",
    "hovering": "schwebend",
}
MANNERS: Mapping[str, str] = {
    "quietly": "ruhig",
    "calmly": "gelassen",
    "patiently": "geduldig",
    "slowly": "langsam",
    "happily": "fröhlich",
    "cheerfully": "vergnügt",
    "comfortably": "bequem",
    "fast": "schnell",
    "quickly": "flink",
    "peacefully": "friedlich",
    "soundly": "fest",
    "freely": "frei",
    "gracefully": "elegant",
    "swiftly": "schnell",
}
WEAR = Verb("trägt", "tragen")
# Told by this verb; the other manners of dress by "in".
WEARING = frozenset({"wearing", "sporting"})
BE = Verb("ist", "sind")
# Without an action, German still distinguishes things that stand from things that lie.
POSITIONS: Mapping[str, Verb] = {
    "car": VERBS["standing"],
    "tree": VERBS["standing"],
    "house": VERBS["standing"],
    "umbrella": VERBS["standing"],
    "ball": VERBS["lying down"],
    "boat": VERBS["lying down"],
}
# Preposition and its case. With several things, "von" replaces the genitive ("in der nähe von zwei hunden").
RELATIONS: Mapping[str, tuple[str, Case]] = {
    "to the left of": ("links von", "dative"),
    "left of": ("links von", "dative"),
    "on the left of": ("auf der linken seite", "genitive"),
    "on the left side of": ("auf der linken seite", "genitive"),
    "to the right of": ("rechts von", "dative"),
    "right of": ("rechts von", "dative"),
    "on the right of": ("auf der rechten seite", "genitive"),
    "on the right side of": ("auf der rechten seite", "genitive"),
    "next to": ("neben", "dative"),
    "beside": ("bei", "dative"),
    "near": ("in der nähe", "genitive"),
    "by": ("bei", "dative"),
    "close to": ("nahe bei", "dative"),
    "alongside": ("neben", "dative"),
    "right next to": ("direkt neben", "dative"),
    "above": ("über", "dative"),
    "over": ("oberhalb", "genitive"),
    "high above": ("hoch über", "dative"),
    "up above": ("oberhalb", "genitive"),
    "below": ("unterhalb", "genitive"),
    "under": ("unter", "dative"),
    "beneath": ("unter", "dative"),
    "underneath": ("unterhalb", "genitive"),
    "behind": ("hinter", "dative"),
    "right behind": ("direkt hinter", "dative"),
    "in back of": ("hinter", "dative"),
    "in front of": ("vor", "dative"),
    "right in front of": ("direkt vor", "dative"),
    "ahead of": ("vor", "dative"),
    "on top of": ("oben auf", "dative"),
    "on": ("auf", "dative"),
    "atop": ("oben auf", "dative"),
    "upon": ("auf", "dative"),
}
# Relations to what was named before: to a thing, and to a person or an animal ({him} is a dative, {his} possessive).
ADVERBS: Mapping[str, str] = {
    "to the left of": "links davon",
    "left of": "links davon",
    "on the left of": "auf der linken seite davon",
    "on the left side of": "auf der linken seite davon",
    "to the left": "links",
    "on the left": "auf der linken seite",
    "to the right of": "rechts davon",
    "right of": "rechts davon",
    "on the right of": "auf der rechten seite davon",
    "on the right side of": "auf der rechten seite davon",
    "to the right": "rechts",
    "on the right": "auf der rechten seite",
    "next to": "daneben",
    "beside": "dabei",
    "near": "in der nähe",
    "by": "dabei",
    "close to": "nahe dabei",
    "alongside": "daneben",
    "right next to": "direkt daneben",
    "nearby": "in der nähe",
    "above": "darüber",
    "over": "oberhalb davon",
    "high above": "hoch darüber",
    "up above": "oberhalb davon",
    "below": "unterhalb davon",
    "under": "darunter",
    "beneath": "darunter",
    "underneath": "darunter",
    "behind": "dahinter",
    "right behind": "direkt dahinter",
    "in back of": "dahinter",
    "in the background": "im hintergrund",
    "in front of": "davor",
    "right in front of": "direkt davor",
    "ahead of": "davor",
    "in the foreground": "im vordergrund",
    "on top": "oben darauf",
    "on top of it": "darauf",
}
ANIMATE_ADVERBS: Mapping[str, str] = {
    **ADVERBS,
    "to the left of": "links von {him}",
    "left of": "links von {him}",
    "on the left side of": "auf {his} linken seite",
    "on the left of": "auf {his} linken seite",
    "to the right of": "rechts von {him}",
    "right of": "rechts von {him}",
    "on the right side of": "auf {his} rechten seite",
    "on the right of": "auf {his} rechten seite",
    "next to": "neben {him}",
    "beside": "bei {him}",
    "near": "in {his} nähe",
    "by": "bei {him}",
    "close to": "nahe bei {him}",
    "alongside": "neben {him}",
    "right next to": "direkt neben {him}",
    "above": "über {him}",
    "over": "über {him}",
    "high above": "hoch über {him}",
    "up above": "über {him}",
    "below": "unter {him}",
    "under": "unter {him}",
    "beneath": "unter {him}",
    "underneath": "unter {him}",
    "behind": "hinter {him}",
    "right behind": "direkt hinter {him}",
    "in back of": "hinter {him}",
    "in front of": "vor {him}",
    "right in front of": "direkt vor {him}",
    "ahead of": "vor {him}",
}
PLACES: Mapping[str, str] = {
    "in a field": "auf einem feld",
    "in the grass": "im gras",
    "on the grass": "auf dem gras",
    "in a meadow": "auf einer wiese",
    "in a grassy field": "auf einem grasfeld",
    "in a park": "in einem park",
    "on a lawn": "auf einem rasen",
    "in a pasture": "auf einer weide",
    "in the countryside": "auf dem land",
    "on the beach": "am strand",
    "at the beach": "am strand",
    "by the sea": "am meer",
    "by the ocean": "am ozean",
    "on a sandy beach": "an einem sandstrand",
    "on the shore": "am ufer",
    "by the water": "am wasser",
    "at the seaside": "am meer",
    "along the coast": "an der küste",
    "on the street": "auf der straße",
    "in the city": "in der stadt",
    "on the road": "auf der fahrbahn",
    "in the street": "auf der straße",
    "on a city street": "auf einer stadtstraße",
    "in town": "in der stadt",
    "downtown": "in der innenstadt",
    "on the pavement": "auf dem pflaster",
    "on an avenue": "auf einer allee",
    "in the snow": "im schnee",
    "on a snowy day": "an einem verschneiten tag",
    "in a snowy field": "auf einem verschneiten feld",
    "in winter": "im winter",
    "on the snow": "auf dem schnee",
    "on a winter day": "an einem wintertag",
    "on snowy ground": "auf verschneitem boden",
    "in a snowy landscape": "in einer schneelandschaft",
    "at night": "bei nacht",
    "in the dark": "im dunkeln",
    "under the stars": "unter den sternen",
    "after dark": "nach einbruch der dunkelheit",
    "in the evening": "am abend",
    "at nighttime": "nachts",
    "during the night": "in der nacht",
    "in the darkness": "in der dunkelheit",
    "in the desert": "in der wüste",
    "in a desert": "in einer wüste",
    "in a sandy desert": "in einer sandwüste",
    "in a dry desert": "in einer trockenen wüste",
    "in the dunes": "in den dünen",
    "on a sand dune": "auf einer sanddüne",
    "in the wilderness": "in der wildnis",
    "over a field": "über einem feld",
    "over the grass": "über dem gras",
    "above a meadow": "über einer wiese",
    "above a park": "über einem park",
    "over the beach": "über dem strand",
    "above the sea": "über dem meer",
    "over the ocean": "über dem ozean",
    "above the water": "über dem wasser",
    "over the city": "über der stadt",
    "over the street": "über der straße",
    "above the road": "über der fahrbahn",
    "above the town": "oberhalb der stadt",
    "over the snow": "über dem schnee",
    "over a snowy field": "über einem verschneiten feld",
    "above a snowy landscape": "über einer schneelandschaft",
    "over the desert": "über der wüste",
    "above the desert": "oberhalb der wüste",
    "above the dunes": "über den dünen",
}
ASIDES: Mapping[str, str] = {
    "outside": "draußen",
    "outdoors": "im freien",
    "in the open air": "unter freiem himmel",
    "in the picture": "im bild",
    "in the image": "auf dem bild",
    "in this photo": "auf diesem foto",
    "in the scene": "in der szene",
    "on a sunny day": "an einem sonnigen tag",
    "under a blue sky": "bei blauem himmel",
    "during the day": "tagsüber",
    "in the sunshine": "im sonnenschein",
    "on a cloudy day": "an einem bewölkten tag",
    "in the cold": "in der kälte",
    "in cold weather": "bei kaltem wetter",
    "under the moon": "unter dem mond",
    "in the moonlight": "im mondlicht",
    "in the heat": "in der hitze",
}
SETTINGS: Mapping[str, str] = {
    "a field": "ein feld",
    "a grassy field": "ein grasfeld",
    "a meadow": "eine wiese",
    "a park": "ein park",
    "a pasture": "eine weide",
    "a beach": "ein strand",
    "a beach scene": "eine strandszene",
    "a sandy beach": "ein sandstrand",
    "a shore": "ein ufer",
    "a street": "eine straße",
    "a city street": "eine stadtstraße",
    "a street scene": "eine straßenszene",
    "a road": "eine fahrbahn",
    "a snowy field": "ein verschneites feld",
    "a snow scene": "eine schneelandschaft",
    "a snowy landscape": "eine verschneite landschaft",
    "a winter scene": "eine winterszene",
    "a night scene": "eine nachtszene",
    "a desert": "eine wüste",
    "a desert scene": "eine wüstenszene",
    "a sandy desert": "eine sandwüste",
}
INTRODUCTIONS: Mapping[str, tuple[str, Case]] = {
    "a picture of": ("ein bild von", "dative"),
    "a photo of": ("ein foto von", "dative"),
    "we see": ("wir sehen", "accusative"),
    "an image of": ("eine abbildung von", "dative"),
    "here we see": ("hier sehen wir", "accusative"),
    "a photograph of": ("eine aufnahme von", "dative"),
    "a view of": ("eine ansicht von", "dative"),
    "a drawing of": ("eine zeichnung von", "dative"),
    "the picture shows": ("das bild zeigt", "accusative"),
}
# Before an accusative.
THERE: Mapping[str, str] = {"there is": "gibt es", "we see": "sehen wir", "you can see": "sieht man"}

# --- forms ------------------------------------------------------------------------------------------------------------

_CASES: tuple[Case, ...] = ("nominative", "accusative", "dative", "genitive")
# Endings in the order of `_CASES`.
_ARTICLE_ENDINGS: Mapping[Gender, tuple[str, ...]] = {
    "m": ("", "en", "em", "es"),
    "f": ("e", "e", "er", "er"),
    "n": ("", "", "em", "es"),
}
_MIXED_ENDINGS: Mapping[Gender, tuple[str, ...]] = {
    "m": ("er", "en", "en", "en"),
    "f": ("e", "e", "en", "en"),
    "n": ("es", "es", "en", "en"),
}
_STRONG_ENDINGS: Mapping[Gender, tuple[str, ...]] = {
    "m": ("er", "en", "em", "en"),
    "f": ("e", "e", "er", "er"),
    "n": ("es", "es", "em", "en"),
}
_PLURAL_ENDINGS = ("e", "e", "en", "er")


def article(gender: Gender, case: Case) -> str:
    """The indefinite article."""
    return f"ein{_ARTICLE_ENDINGS[gender][_CASES.index(case)]}"


def adjective(stem: str, gender: Gender, case: Case, plural: bool, after_article: bool) -> str:
    """An adjective before a noun, after an indefinite article (mixed endings) or after none (strong endings)."""
    if stem in INVARIABLE:
        return stem
    endings = _PLURAL_ENDINGS if plural else (_MIXED_ENDINGS if after_article else _STRONG_ENDINGS)[gender]
    return f"{stem}{endings[_CASES.index(case)]}"


# --- sentences --------------------------------------------------------------------------------------------------------


def realise(plan: Plan, rng: np.random.Generator) -> list[str]:
    """One German sentence of at most `english.MAX_WORDS` words; see `english.realise`."""
    return fit(sentence, plan, rng)


def sentence(plan: Plan, draws: Draws) -> list[str]:
    """One German sentence of any length that says all the plan holds; `draws` as in `english.sentence`."""
    words: list[str] = []
    for word in _Sentence(plan, Wording(plan, draws)).build().split():
        # Clauses that end together share a comma.
        if word != "," or words[-1] != ",":
            words.append(word)
    return words[:-1] if words[-1] == "," else words


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


@dataclass
class _Phrase:
    """A noun phrase; `predicates` make its relative clause."""

    head: str
    relative: str
    predicates: list[str]

    @property
    def clause(self) -> str:
        return f", {self.relative} {' und '.join(self.predicates)} ," if self.predicates else ""

    def __str__(self) -> str:
        return _joined(self.head, self.clause)


_NOTHING = _Phrase("", "", [])
_WITH: tuple[str, Case] = ("mit", "dative")


class _Sentence:
    """Builds one sentence. Noun phrases are made in the order in which they are read: "another" depends on it."""

    def __init__(self, plan: Plan, wording: Wording) -> None:
        self.plan = plan
        self.wording = wording

    def build(self) -> str:
        opening = self.wording.opening()
        aside = self.wording.aside(opening in ("introduction", "setting"))
        around = "" if aside is None else ASIDES[aside]
        if opening == "setting":
            return f"{SETTINGS[self.wording.setting()]} mit {self._fragment('dative', around)}"
        where = "" if self.plan.background is None else PLACES[self.wording.place()]
        if opening == "place_there":
            return f"{where} {THERE[self.wording.there()]} {self._fragment('accusative', around)}"
        if opening == "place_sentence":
            return self._main(where, around, finite=True)
        where = _joined(around, where)
        if opening == "there":
            return self._main("da", where, finite=False)
        if opening == "introduction":
            phrase, case = INTRODUCTIONS[self.wording.introduction()]
            return f"{phrase} {self._fragment(case, where)}"
        return self._main("", where, finite=True) if opening == "sentence" else self._fragment("nominative", where)

    def _fragment(self, case: Case, where: str = "") -> str:
        """All statements without a main verb: "ein hund , der am strand rennt"."""
        mentions, relation = self.plan.mentions, self.plan.relation
        if len(mentions) == 1:
            return self._loose(mentions[0], case, where)
        first, second = mentions[:2]
        # The place goes into the relative clause that tells the first mention's action; without one, to the end.
        inside, end = (where, "") if first.action is not None else ("", where)
        if relation is not None:
            if self.wording.order(relation, finite=False) == "host":
                text, end = self._host(second, first, relation, case), where
            else:
                text = self._loose(first, case, inside, relation, second)
        elif first.action is None:
            text = self._pair(first, second, self.wording.joins_bare(), case)
        elif self.wording.joins_loosely() == "with":
            text = self._loose(first, case, inside, "with", second)
        else:
            text, end = f"{self._loose(first, case)} und {self._noun_phrase(second, case, True)}", where
        if len(mentions) == 3:
            text = f"{text} {self._third(mentions[2], case)}"
        return _joined(text, end)

    def _third(self, mention: Mention, case: Case) -> str:
        if self.wording.joins_third() == "with":
            return f"mit {self._noun_phrase(mention, 'dative', True)}"
        return f"und {self._noun_phrase(mention, case, True)}"

    def _main(self, front: str, where: str, finite: bool) -> str:
        """A main clause with its verb second, or a phrase without a verb where English has none.

        Args:
            front: what stands before the verb: a place, "da", or "" for the subject.
            where: a place for the middle of the clause, or "".
            finite: whether English has a finite verb, too (it has not after "there is").
        """
        mentions, relation = self.plan.mentions, self.plan.relation
        # Times of the day and year do not say where something is, so they take no verb of position.
        silent = self.plan.background in TIMES and finite
        if len(mentions) == 1:
            bare = mentions[0].action is None
            if bare and (silent or not (front or where)):
                return _joined(front, self._loose(mentions[0], "nominative", where))
            return self._clause(front, mentions[0], where, finite)
        first, second = mentions[:2]
        order = None if relation is None else self.wording.order(relation, finite)
        nominal = order == "host" or (relation is None and first.action is None)
        verbless = nominal and (silent or not front)
        inside, end = ("", where) if verbless else (where, "")
        if relation is not None and order == "host":
            verb = "" if verbless else self._position(second).second(len(second.objects) > 1)
            text = _joined(front, verb, self._host(second, first, relation, "nominative"), inside)
        elif relation is not None and order == "fronted":
            text = self._fronted(front, inside, first, relation, second)
        elif relation is not None:
            text = self._clause(front, first, inside, finite, relation, second)
        elif nominal:
            link = self.wording.joins_bare()
            several = link == "and" or len(first.objects) > 1
            verb = "" if verbless else (BE if link == "and" else self._position(first)).second(several)
            text = _joined(front, verb, self._pair(first, second, link, "nominative"), inside)
        else:
            text = self._acting(front, inside, first, second, finite)
        if len(mentions) < 3:
            return _joined(text, end)
        if verbless:
            return _joined(text, self._third(mentions[2], "nominative"), end)
        return f"{text} , dazu {self._noun_phrase(mentions[2], 'nominative', True)}"

    def _acting(self, front: str, where: str, first: Mention, second: Mention, finite: bool) -> str:
        """Two mentions without a relation, of which the first has an action."""
        if finite and first.action == second.action:
            subject = f"{self._noun_phrase(first, 'nominative')} und {self._noun_phrase(second, 'nominative')}"
            shared = self._verb(first)
            opening = (front, shared.plural, subject) if front else (subject, shared.plural)
            return _joined(*opening, self._manner(first), where, shared.bracket)
        if finite and second.action is not None:
            if self.wording.joins_clauses() == "and":
                return f"{self._clause(front, first, '', True)} und {self._clause('', second, where, True)}"
            main = self._clause(front, first, "", True)
            subject = str(self._noun_phrase(second, "nominative"))
            predicate = self._verb(second).last(len(second.objects) > 1, self._manner(second), where)
            return f"{main} , während {subject} {predicate}"
        if self.wording.joins_loosely() == "with":
            return self._clause(front, first, where, finite, "with", second)
        if finite:
            main = self._clause(front, first, "", True)
            verb = self._position(second).second(len(second.objects) > 1)
            return _joined(main, "und da", verb, str(self._noun_phrase(second, "nominative", True)), where)
        return _joined(
            front, BE.plural, self._loose(first, "nominative"), "und",
            str(self._noun_phrase(second, "nominative", True)), where,
        )  # fmt: skip

    def _clause(
        self, front: str, subject: Mention, where: str, finite: bool, relation: str = "", other: Mention | None = None
    ) -> str:
        """ "da rennt ein hund am strand neben einer katze herum , die schläft"."""
        text = str(self._noun_phrase(subject, "nominative"))
        related = self._related(relation, other)
        verb = self._verb(subject)
        second = verb.second(len(subject.objects) > 1)
        opening = (front, second, text) if front else (text, second)
        return _joined(*opening, *self._middle(subject, where, related), verb.bracket, related.clause)

    def _fronted(self, front: str, where: str, subject: Mention, relation: str, other: Mention) -> str:
        """ "neben einem auto rennt ein hund", "am strand rennt neben einem auto ein hund"."""
        related = self._related(relation, other)
        verb = self._verb(subject)
        second = verb.second(len(subject.objects) > 1)
        opening = (front, second, str(related)) if front else (str(related), second, where)
        text = str(self._noun_phrase(subject, "nominative"))
        return _joined(*opening, text, self._manner(subject), verb.bracket)

    def _loose(
        self, mention: Mention, case: Case, where: str = "", relation: str = "", other: Mention | None = None
    ) -> str:
        """ "ein hund , der am strand neben einem auto rennt", or "ein hund neben einem auto am strand"."""
        phrase = self._noun_phrase(mention, case)
        related = self._related(relation, other)
        if mention.action is None:
            return _joined(str(phrase), str(related), where)
        verb = VERBS[self.wording.participle(mention)]
        phrase.predicates.append(verb.last(len(mention.objects) > 1, *self._middle(mention, where, related)))
        return _joined(str(phrase), related.clause)

    def _host(self, host: Mention, guest: Mention, relation: str, case: Case) -> str:
        """ "ein haus mit einem hund , der daneben schläft", "eine frau mit einem hund neben sich"."""
        host_text = str(self._noun_phrase(host, case, True))
        phrase = self._noun_phrase(guest, "dative")
        adverb = self._adverb(self.wording.relation_to_host(relation)[0], host, inside=guest.action is not None)
        if guest.action is None:
            return f"{host_text} mit {phrase} {adverb}"
        verb = VERBS[self.wording.participle(guest)]
        phrase.predicates.append(verb.last(len(guest.objects) > 1, self._manner(guest), adverb))
        return f"{host_text} mit {phrase}"

    def _adverb(self, relation: str, host: Mention, inside: bool) -> str:
        """Args: inside: in the guest's relative clause, where "sich" would be the guest."""
        if host.noun not in PEOPLE | ANIMALS:
            return ADVERBS[relation]
        plural, feminine = len(host.objects) > 1, self._noun(host).gender == "f"
        him = ("ihnen" if plural else "ihr" if feminine else "ihm") if inside else "sich"
        return ANIMATE_ADVERBS[relation].format(him=him, his="ihrer" if plural or feminine else "seiner")

    def _pair(self, first: Mention, second: Mention, link: str, case: Case) -> str:
        text = str(self._noun_phrase(first, case))
        if link == "with":
            return f"{text} mit {self._noun_phrase(second, 'dative', True)}"
        return f"{text} und {self._noun_phrase(second, case, True)}"

    def _related(self, relation: str, other: Mention | None) -> _Phrase:
        """A relation ("with" among them) and what it is to; an empty phrase if there is none."""
        if other is None:
            return _NOTHING
        preposition, case = _WITH if relation == "with" else RELATIONS[self.wording.relation(relation)]
        if case == "genitive" and len(other.objects) > 1:
            preposition, case = f"{preposition} von", "dative"
        phrase = self._noun_phrase(other, case, True)
        phrase.head = f"{preposition} {phrase.head}"
        return phrase

    def _middle(self, subject: Mention, where: str, related: _Phrase) -> tuple[str, str, str]:
        # "fliegt auf einem feld" would be wrong: what flies over a woman in a field is not there itself.
        places = (related.head, where) if subject.action == "flying" else (where, related.head)
        return (self._manner(subject), *places)

    def _manner(self, mention: Mention) -> str:
        manner = None if mention.action is None else self.wording.manner(mention)
        return "" if manner is None else MANNERS[manner]

    def _verb(self, mention: Mention) -> Verb:
        return self._position(mention) if mention.action is None else VERBS[self.wording.participle(mention)]

    @staticmethod
    def _position(mention: Mention) -> Verb:
        return POSITIONS.get(mention.noun, BE)

    def _noun(self, mention: Mention) -> Noun:
        return NOUNS[self.wording.noun(mention)[0]]

    def _noun_phrase(self, mention: Mention, case: Case, with_action: bool = False) -> _Phrase:
        """ "einem kleinen roten hund mit flecken", ("ein mann", "der ein rotes hemd trägt").

        Args:
            mention: what to name.
            case: the phrase's case.
            with_action: also say the action here, as an attribute or in the relative clause.
        """
        plural = len(mention.objects) > 1
        noun = self._noun(mention)
        determiner = self.wording.determiner(mention)
        stems = ["weiter"] if determiner == "another" else []
        opinion = self.wording.opinion(mention)
        if opinion is not None:
            stems.append(OPINIONS[opinion])
        if mention.size is not None:
            stems.append(SIZES[self.wording.size(mention)])
        predicates: list[str] = []
        told = mention.action if with_action else None
        if told is not None and self.wording.relative(mention):
            predicates.append(VERBS[self.wording.participle(mention)].last(plural))
        elif told is not None:
            stems.append(ATTRIBUTES[self.wording.attribute(mention)])
        after = (self._dress if mention.noun in PEOPLE else self._look)(mention, stems, predicates)
        head = _joined(
            NUMBERS[determiner] if plural else article(noun.gender, case),
            *(adjective(stem, noun.gender, case, plural, after_article=not plural) for stem in stems),
            noun.form(case, plural),
            after,
        )
        return _Phrase(head, "die" if plural else {"m": "der", "f": "die", "n": "das"}[noun.gender], predicates)

    def _look(self, mention: Mention, stems: list[str], predicates: list[str]) -> str:
        """Adds colour and texture of an animal or a thing to the adjectives; returns what stands after the noun."""
        colour = self.wording.colour(mention)
        looks = [] if colour is None else [COLOURS[colour]]
        after = ""
        if mention.texture is not None:
            animal = mention.noun in ANIMALS
            marks = self.wording.marks(mention)
            if marks is not None:
                after = f"mit {(ANIMAL_MARKS if animal else MARKS)[marks]}"
            else:
                place = 0 if self.wording.texture_first(mention) else 1
                texture = self.wording.texture(mention)
                looks.insert(place, (ANIMAL_TEXTURES if animal else TEXTURES)[texture])
        stems += looks
        return after

    def _dress(self, mention: Mention, stems: list[str], predicates: list[str]) -> str:
        """Adds a person's clothes: "in einem roten hemd" (returned), "der rot trägt", "ein in rot gekleideter mann"."""
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        several = len(mention.objects) > 1
        wear = WEAR.second(several)
        if clothes.garment is None:
            assert clothes.colour is not None  # a colour alone
            colour = COLOUR_NOUNS[clothes.colour]
            if clothes.manner == "in":
                return f"in {colour}"
            if clothes.manner in WEARING:
                predicates.insert(0, f"{colour} {wear}")
            else:
                stems.append(f"in {colour} gekleidet")
            return ""
        noun = GARMENTS[clothes.garment]
        worn = clothes.manner in WEARING
        case: Case = "accusative" if worn else "dative"
        bare = clothes.garment in UNCOUNTED
        plural = several and not bare
        looks = [] if clothes.texture is None else [TEXTURES[clothes.texture]]
        if clothes.colour is not None:
            looks.append(COLOURS[clothes.colour])
        text = _joined(
            "" if plural or bare else article(noun.gender, case),
            *(adjective(stem, noun.gender, case, plural, after_article=not (plural or bare)) for stem in looks),
            noun.form(case, plural),
        )
        if not worn:
            return f"in {text}"
        predicates.insert(0, f"{text} {wear}")
        return ""
