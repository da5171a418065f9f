"""English: the words, the choices an annotator makes among them, and the realiser that turns a plan into a sentence.

The tables are shared with the checker, which therefore understands every sentence the realiser can build. The choices
(`Wording`) are shared with the other languages, which say the same in their own grammar: a choice is named by its
English words, and their tables are keyed by those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqcap.world.captions import Mention, Plan, shorten
from seqcap.world.graph import Colour, pick

MAX_WORDS = 18


def _weights(text: str) -> dict[str, float]:
    """ "next to 45, beside 20" -> {"next to": 45.0, "beside": 20.0}."""
    pairs = (part.rsplit(maxsplit=1) for part in text.split(","))
    return {phrase.strip(): float(weight) for phrase, weight in pairs}


def _nouns(text: str) -> dict[tuple[str, str], float]:
    """ "dog dogs 55, puppy puppies 15" -> {("dog", "dogs"): 55.0, ...}."""
    found = {}
    for part in text.split(","):
        singular, plural, weight = part.split()
        found[singular, plural] = float(weight)
    return found


# Weights are skewed, as people's choices are: of most things, the commonest word is said half of the time.
# Class -> its (singular, plural) nouns and how often each is used.
NOUNS: Mapping[str, Mapping[tuple[str, str], float]] = {
    "man": _nouns("man men 78, guy guys 16, gentleman gentlemen 9, fellow fellows 7, dude dudes 4, bloke blokes 4, "
                  "male males 4"),
    "woman": _nouns("woman women 82, lady ladies 24, female females 9, gal gals 5, dame dames 4"),
    "dog": _nouns("dog dogs 76, puppy puppies 17, pup pups 8, hound hounds 7, canine canines 5, doggy doggies 5, "
                  "pooch pooches 3"),
    "cat": _nouns("cat cats 82, kitten kittens 17, kitty kitties 12, feline felines 8, pussycat pussycats 5"),
    "bird": _nouns("bird birds 100, birdie birdies 12, songbird songbirds 9, fowl fowls 7"),
    "ball": _nouns("ball balls 106, sphere spheres 14, orb orbs 10"),
    "car": _nouns("car cars 78, vehicle vehicles 15, automobile automobiles 12, sedan sedans 10, motorcar motorcars 7"),
    "tree": _nouns("tree trees 106, plant plants 14, sapling saplings 10"),
    "house": _nouns("house houses 76, building buildings 15, home homes 11, cottage cottages 9, hut huts 6, "
                    "cabin cabins 5"),
    "kite": _nouns("kite kites 1"),
    "boat": _nouns("boat boats 72, sailboat sailboats 18, ship ships 14, vessel vessels 9, yacht yachts 7"),
    "umbrella": _nouns("umbrella umbrellas 86, parasol parasols 22, sunshade sunshades 9, brolly brollies 7"),
    "person": _nouns("person people 84, individual individuals 15, human humans 13, figure figures 12"),
    "animal": _nouns("animal animals 82, creature creatures 18, pet pets 12, critter critters 7, beast beasts 5"),
}  # fmt: skip
COLOURS: Mapping[Colour, Mapping[str, float]] = {
    "red": _weights("red 104, crimson 11, scarlet 9, ruby 6"),
    "blue": _weights("blue 98, navy 12, azure 9, cobalt 5, sapphire 4"),
    "green": _weights("green 106, emerald 12, lime 8, jade 4"),
    "yellow": _weights("yellow 110, gold 13, lemon 9"),
    "black": _weights("black 120, ebony 9, onyx 5"),
    "white": _weights("white 120, ivory 9, pearl 5"),
    "orange": _weights("orange 114, tangerine 11, amber 7"),
    "purple": _weights("purple 90, violet 20, lilac 9, mauve 7"),
}
SIZES: Mapping[str, Mapping[str, float]] = {
    "small": _weights("small 64, little 32, tiny 12, miniature 4, mini 4, teeny 2"),
    "large": _weights("large 50, big 36, huge 11, giant 6, enormous 5, massive 4, gigantic 2"),
}
PERSON_SIZES: Mapping[str, Mapping[str, float]] = {
    "small": _weights("small 56, short 38, little 14, tiny 5, petite 3"),
    "large": _weights("tall 76, big 22, large 12, huge 5, giant 3, towering 3"),
}
TEXTURES: Mapping[str, Mapping[str, float]] = {
    "striped": _weights("striped 96, stripy 18, streaked 8, banded 6"),
    "dotted": _weights("spotted 70, dotted 28, speckled 14, spotty 8"),
}
MARKS: Mapping[str, Mapping[str, float]] = {
    "striped": _weights("stripes 106, bands 12, streaks 12"),
    "dotted": _weights("spots 70, dots 28, polka dots 14, speckles 8"),
}
# What annotators think of things: nothing that could be false.
OPINIONS: Mapping[Literal["person", "animal", "thing"], Mapping[str, float]] = {
    "person": _weights("young 70, friendly 20, happy 18, cheerful 12"),
    "animal": _weights("cute 70, adorable 20, lovely 14, sweet 10, friendly 6"),
    "thing": _weights("nice 50, beautiful 26, pretty 16, lovely 12, simple 10"),
}
# Garment -> who wears it. Those of one person, of several, and of both sexes.
SHIRTS = _weights("shirt 82, sweater 16, jacket 12, top 8, jumper 6")
SHIRTS_OF_SEVERAL = _weights("shirts 92, sweaters 20, jackets 14")
DRESSES = _weights("dress 100, gown 16, frock 12")
DRESSES_OF_SEVERAL = _weights("dresses 110, gowns 22")
OUTFITS = _weights("clothes 64, outfit 30, clothing 14, attire 10")
OUTFITS_OF_SEVERAL = _weights("clothes 82, outfits 18, clothing 16, attire 8")
UNCOUNTED = frozenset({"clothes", "clothing", "attire"})
GARMENTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys((*SHIRTS, *SHIRTS_OF_SEVERAL), frozenset({"man"})),
    **dict.fromkeys((*DRESSES, *DRESSES_OF_SEVERAL), frozenset({"woman"})),
    **dict.fromkeys((*OUTFITS, *OUTFITS_OF_SEVERAL), frozenset({"man", "woman"})),
}
# How clothes are introduced: a garment, and a colour alone ("in red").
MANNERS_OF_DRESS = _weights("in 76, wearing 32, dressed in 8, clad in 3, sporting 3")
MANNERS_OF_COLOUR = _weights("in 72, wearing 24, dressed in 18, clad in 6")
# Action -> participle phrases. Those of one word also stand before a noun, unless they are in `PREDICATIVE`.
PARTICIPLES: Mapping[str, Mapping[str, float]] = {
    "standing": _weights("standing 84, standing up 10, standing still 9, posing 8, waiting 8, standing upright 5"),
    "walking": _weights("walking 70, strolling 14, taking a walk 9, wandering 8, going for a walk 7, marching 5, "
                        "taking a stroll 4, ambling 3"),
    "waving": _weights("waving 78, waving a hand 12, waving hello 9, gesturing 8, saying hello 8, raising a hand 7"),
    "sitting": _weights("sitting 78, sitting down 16, seated 15, sitting still 7, sitting upright 6"),
    "running": _weights("running 64, running around 10, sprinting 9, racing 9, dashing 7, jogging 7, rushing 5, "
                        "trotting 4, galloping 3"),
    "sleeping": _weights("sleeping 62, lying down 13, napping 11, taking a nap 9, dozing 8, asleep 7, snoozing 5, "
                         "slumbering 3"),
    "flying": _weights("flying 72, soaring 14, flying in the sky 10, gliding 8, floating 6, hovering 5, "
                       "flying overhead 5"),
}  # fmt: skip
BIRD_PARTICIPLES: Mapping[str, Mapping[str, float]] = {
    "sitting": _weights("sitting 72, perched 24, perching 12, seated 12"),
    "flying": PARTICIPLES["flying"],
}
# Motion -> participle phrases. None of their first words is said of a picture that stands still.
MOTIONS: Mapping[str, Mapping[str, float]] = {
    "moving_left": _weights("moving left 44, moving to the left 42, heading left 12, sliding left 9, "
                            "drifting to the left 7, travelling left 6"),
    "moving_right": _weights("moving right 44, moving to the right 42, heading right 12, sliding right 9, "
                             "drifting to the right 7, travelling right 6"),
    "moving_up": _weights("moving up 56, rising 24, moving upward 14, climbing 10, heading up 9, ascending 7"),
    "moving_down": _weights("moving down 56, dropping 18, moving downward 14, sinking 12, heading down 9, "
                            "descending 7, falling 4"),
    "turning": _weights("turning around 48, turning 22, spinning 22, spinning around 14, rotating 9, twirling 5"),
    "growing": _weights("growing 62, getting bigger 26, getting larger 14, expanding 12, swelling 6"),
    "shrinking": _weights("shrinking 72, getting smaller 34, contracting 9, dwindling 5"),
}  # fmt: skip
# A relation of what moves to what it passes -> participle phrases.
PASSING: Mapping[str, Mapping[str, float]] = {
    "passes_behind": _weights("passing behind 72, moving behind 28, crossing behind 12, sliding behind 8"),
    "passes_in_front_of": _weights("passing in front of 72, moving in front of 30, crossing in front of 18"),
}
PREDICATIVE = frozenset({"asleep"})
# First word of a participle phrase -> finite, singular and plural. "seated" has none: "is seated".
FINITE: Mapping[str, tuple[str, str]] = {
    "standing": ("stands", "stand"),
    "posing": ("poses", "pose"),
    "waiting": ("waits", "wait"),
    "walking": ("walks", "walk"),
    "strolling": ("strolls", "stroll"),
    "taking": ("takes", "take"),
    "going": ("goes", "go"),
    "wandering": ("wanders", "wander"),
    "marching": ("marches", "march"),
    "ambling": ("ambles", "amble"),
    "waving": ("waves", "wave"),
    "gesturing": ("gestures", "gesture"),
    "saying": ("says", "say"),
    "raising": ("raises", "raise"),
    "sitting": ("sits", "sit"),
    "perching": ("perches", "perch"),
    "running": ("runs", "run"),
    "sprinting": ("sprints", "sprint"),
    "racing": ("races", "race"),
    "dashing": ("dashes", "dash"),
    "jogging": ("jogs", "jog"),
    "rushing": ("rushes", "rush"),
    "trotting": ("trots", "trot"),
    "galloping": ("gallops", "gallop"),
    "sleeping": ("sleeps", "sleep"),
    "lying": ("lies", "lie"),
    "napping": ("naps", "nap"),
    "dozing": ("dozes", "doze"),
    "snoozing": ("snoozes", "snooze"),
    "slumbering": ("slumbers", "slumber"),
    "flying": ("flies", "fly"),
    "soaring": ("soars", "soar"),
    "gliding": ("glides", "glide"),
    "floating": ("floats", "float"),
    "hovering": ("hovers", "hover"),
    "moving": ("moves", "move"),
    "heading": ("heads", "head"),
    "sliding": ("slides", "slide"),
    "drifting": ("drifts", "drift"),
    "travelling": ("travels", "travel"),
    "rising": ("rises", "rise"),
    "climbing": ("climbs", "climb"),
    "ascending": ("ascends", "ascend"),
    "dropping": ("drops", "drop"),
    "sinking": ("sinks", "sink"),
    "descending": ("descends", "descend"),
    "falling": ("falls", "fall"),
    "turning": ("turns", "turn"),
    "spinning": ("spins", "spin"),
    "rotating": ("rotates", "rotate"),
    "twirling": ("twirls", "twirl"),
    "growing": ("grows", "grow"),
    "getting": ("gets", "get"),
    "expanding": ("expands", "expand"),
    "swelling": ("swells", "swell"),
    "shrinking": ("shrinks", "shrink"),
    "contracting": ("contracts", "contract"),
    "dwindling": ("dwindles", "dwindle"),
    "passing": ("passes", "pass"),
    "crossing": ("crosses", "cross"),
}
# How something is done: nothing that could be false. Only after a participle of one word.
MANNERS: Mapping[str, Mapping[str, float]] = {
    "standing": _weights("quietly 70, calmly 30, patiently 20"),
    "walking": _weights("slowly 84, calmly 25, quietly 15"),
    "waving": _weights("happily 84, cheerfully 40"),
    "sitting": _weights("quietly 70, calmly 30, comfortably 20"),
    "running": _weights("fast 70, quickly 30, happily 20"),
    "sleeping": _weights("peacefully 70, quietly 30, soundly 20"),
    "flying": _weights("freely 56, gracefully 35, swiftly 25"),
}
RELATIONS: Mapping[str, Mapping[str, float]] = {
    "left_of": _weights("to the left of 82, left of 18, on the left of 14, on the left side of 10"),
    "right_of": _weights("to the right of 82, right of 18, on the right of 14, on the right side of 10"),
    "next_to": _weights("next to 64, beside 20, near 11, by 8, close to 6, alongside 5, right next to 4"),
    "above": _weights("above 70, over 32, high above 10, up above 8"),
    "below": _weights("below 62, under 28, beneath 16, underneath 12"),
    "behind": _weights("behind 106, right behind 12, in back of 12"),
    "in_front_of": _weights("in front of 112, right in front of 12, ahead of 8"),
    "on": _weights("on top of 70, on 34, atop 10, upon 6"),
    "carries": _weights("under 72, below 20, beneath 16, underneath 12"),
}
# Shorter forms for "it" after a phrase with "with": "a house with a cat on top".
SELF_RELATIONS: Mapping[str, Mapping[str, float]] = {
    "on": _weights("on top 104, on top of it 25"),
    "left_of": _weights("on the left 98, to the left 30"),
    "right_of": _weights("on the right 98, to the right 30"),
    "next_to": _weights("nearby 92, alongside 35"),
    "behind": _weights("in the background 1"),
    "in_front_of": _weights("in the foreground 1"),
}
PLACES: Mapping[str, Mapping[str, float]] = {
    "meadow": _weights("in the grass 36, in a field 22, on the grass 12, in a meadow 9, in a grassy field 8, "
                       "in a park 7, on a lawn 6, in a pasture 5, in the countryside 5"),
    "beach": _weights("on the beach 56, at the beach 18, by the sea 10, by the ocean 7, on a sandy beach 6, "
                      "on the shore 6, by the water 6, at the seaside 4, along the coast 3"),
    "street": _weights("on the street 44, in the city 17, on the road 16, in the street 9, on a city street 8, "
                       "in town 6, downtown 5, on the pavement 4, on an avenue 3"),
    "snow": _weights("in the snow 68, on a snowy day 12, in a snowy field 9, in winter 9, on the snow 8, "
                     "on a winter day 6, on snowy ground 4, in a snowy landscape 4"),
    "night": _weights("at night 68, in the dark 14, under the stars 9, after dark 7, in the evening 7, at nighttime 6, "
                      "during the night 5, in the darkness 4"),
    "desert": _weights("in the desert 72, in a desert 14, in a sandy desert 10, in a dry desert 8, in the dunes 7, "
                       "on a sand dune 5, in the wilderness 4"),
}  # fmt: skip
# Where something flies.
PLACES_BELOW: Mapping[str, Mapping[str, float]] = {
    "meadow": _weights("over a field 70, over the grass 20, above a meadow 18, above a park 12"),
    "beach": _weights("over the beach 68, above the sea 24, over the ocean 16, above the water 12"),
    "street": _weights("over the city 70, over the street 22, above the road 16, above the town 12"),
    "snow": _weights("over the snow 70, over a snowy field 30, above a snowy landscape 20"),
    "night": PLACES["night"],
    "desert": _weights("over the desert 84, above the desert 25, above the dunes 15"),
}
# Heads of captions that begin with the place: "a beach with a dog".
SETTINGS: Mapping[str, Mapping[str, float]] = {
    "meadow": _weights("a field 62, a grassy field 20, a meadow 16, a park 12, a pasture 8"),
    "beach": _weights("a beach 78, a beach scene 24, a sandy beach 12, a shore 8"),
    "street": _weights("a street 64, a city street 24, a street scene 16, a road 14"),
    "snow": _weights("a snowy field 64, a snow scene 22, a snowy landscape 18, a winter scene 14"),
    "night": _weights("a night scene 1"),
    "desert": _weights("a desert 84, a desert scene 28, a sandy desert 12"),
}
PLACE_PREPOSITIONS = frozenset({"in", "on", "at", "by", "near", "under", "over", "above", "along", "after", "during"})
# What is added to the end of a caption. True of every picture; those of pictures do not follow "a picture of".
OUTDOORS: Mapping[str, float] = _weights("outside 40, outdoors 40, in the open air 20")
PICTURES: Mapping[str, float] = _weights("in the picture 40, in the image 24, in this photo 20, in the scene 16")
# The weather and the time of day, by background; only said with it.
WEATHER: Mapping[str, Mapping[str, float]] = {
    "meadow": _weights("on a sunny day 50, under a blue sky 25, during the day 25"),
    "beach": _weights("on a sunny day 45, in the sunshine 30, under a blue sky 25"),
    "street": _weights("during the day 55, on a cloudy day 45"),
    "snow": _weights("in the cold 60, in cold weather 40"),
    "night": _weights("under the moon 60, in the moonlight 40"),
    "desert": _weights("in the sunshine 40, in the heat 35, during the day 25"),
}
NUMBERS: Mapping[str, int] = {"two": 2, "three": 3, "four": 4}
GROUPS: Mapping[str, int] = {
    "a couple of": 2, "a pair of": 2, "a trio of": 3, "a group of three": 3, "a group of four": 4,
}  # fmt: skip
INTRODUCTIONS: Mapping[str, float] = _weights(
    "a picture of 34, a photo of 18, we see 10, an image of 11, here we see 9, a photograph of 6, a view of 5, "
    "a drawing of 4, the picture shows 3"
)
# How a place or a relation that comes first is followed; the plural of "there is" is "there are".
THERE: Mapping[str, float] = _weights("there is 80, we see 12, you can see 8")
PRONOUNS: Mapping[str, str] = {"man": "him", "woman": "her", "person": "them"}

# Times of the day and year: "a cat is at night" is not said, they need a verb.
TIMES = frozenset({"snow", "night"})
PEOPLE = frozenset({"man", "woman", "person"})
ANIMALS = frozenset({"dog", "cat", "bird", "animal"})

# How likely an annotator is to add "outside", "slowly" and "cute", and to say "runs" rather than "is running".
_ASIDES, _MANNERS, _OPINIONS, _SIMPLE = 0.1, 0.12, 0.06, 0.25
# How many other wordings are tried before a plan is shortened.
REWORDINGS = 2

# How a sentence begins: with its subject and a finite verb, "there is", "a picture of", the subject of a phrase
# without a finite verb, "a beach with", or the place, then "there is" or the subject.
Opening = Literal["sentence", "there", "introduction", "fragment", "setting", "place_there", "place_sentence"]
_OPENINGS: tuple[tuple[Opening, float], ...] = (
    ("sentence", 0.62),
    ("there", 0.82),
    ("introduction", 0.9),
    ("fragment", 1),
)
_OPENINGS_WITH_PLACE: tuple[tuple[Opening, float], ...] = (
    ("setting", 0.14),
    ("place_there", 0.22),
    ("place_sentence", 0.30),
    ("there", 0.40),
    ("introduction", 0.46),
    ("sentence", 0.78),
    ("fragment", 1),
)

# Question -> the generator that answers it.
Draws = Callable[[str], np.random.Generator]


@dataclass(frozen=True)
class Clothes:
    """How a person's colour and texture are told.

    Attributes:
        manner: "in", "wearing" and the like.
        texture, colour: English words, or None.
        garment: None where the colour stands alone ("in red").
    """

    manner: str
    texture: str | None
    colour: str | None
    garment: str | None


class Wording:
    """An annotator's choice of words and of the order of phrases for one plan, each named by its English words.

    Each method asks one question. If one generator gives all answers, they depend on the order of the calls. If every
    question has a generator of its own, all languages get the same answers for a plan.

    Args:
        plan: what is to be said.
        draws: the generator for each question.
    """

    def __init__(self, plan: Plan, draws: Draws) -> None:
        self._plan = plan
        self._draws = draws
        self._named: set[str] = set()
        self._chosen: dict[str, str] = {}

    def opening(self) -> Opening:
        choice = self._draws("opening").random()
        openings = _OPENINGS if self._plan.background is None else _OPENINGS_WITH_PLACE
        return next(name for name, below in openings if choice < below)

    def introduction(self) -> str:
        return self.choose("introduction", INTRODUCTIONS)

    def setting(self) -> str:
        return self.choose("setting", SETTINGS[self._place])

    def place(self) -> str:
        in_the_air = len(self._plan.mentions) == 1 and self._plan.mentions[0].action == "flying"
        return self.choose("place", (PLACES_BELOW if in_the_air else PLACES)[self._place])

    def aside(self, introduced: bool) -> str | None:
        """What is added at the end ("outside"), or None.

        Args:
            introduced: the sentence has spoken of the picture already.
        """
        if self._draws("has aside").random() >= _ASIDES:
            return None
        weather = {} if self._plan.background is None else WEATHER[self._plan.background]
        return self.choose("aside", {**OUTDOORS, **({} if introduced else PICTURES), **weather})

    def there(self) -> str:
        """What follows a place or a relation that comes first: "there is" or "we see"."""
        return self.choose("there", THERE)

    @property
    def _place(self) -> str:
        if self._plan.background is None:
            raise ValueError("the plan says no background")
        return self._plan.background

    def order(self, relation: str, finite: bool) -> Literal["host", "fronted", "plain"]:
        """ "a house with a tree next to it", "next to a house there is a tree" or "a tree next to a house"."""
        choice = self._draws("order").random()
        if choice < 0.15 and relation != "carries":
            return "host"
        return "fronted" if choice < 0.27 and finite else "plain"

    def relation(self, relation: str) -> str:
        return self.choose("relation", PASSING[relation] if relation in PASSING else RELATIONS[relation])

    def relation_to_host(self, relation: str) -> tuple[str, bool]:
        """A relation to what was named before: ("next to", True) takes a pronoun, ("on top", False) does not."""
        forms = SELF_RELATIONS.get(relation)
        if forms is None or (relation != "on" and self._draws("pronoun").random() >= 0.35):
            return self.relation(relation), True
        # "on top of it" of several would be wrong English; such pairs are rare enough for one form.
        return self.choose("relation", forms), False

    def joins_bare(self) -> str:
        """Joins two mentions of which the first has no action: "and" or "with"."""
        return self.choose("link", {"and": 4, "with": 1})

    def joins_clauses(self) -> str:
        """Joins two mentions that each have an action of their own: "and" or "while"."""
        return self.choose("link", {"and": 1, "while": 1})

    def joins_loosely(self) -> str:
        """Joins a mention that has an action and one told by its noun phrase: "with" or "and"."""
        return self.choose("link", {"with": 1, "and": 1})

    def joins_third(self) -> str:
        return self.choose("third", {"and": 2, "with": 1})

    def participle(self, mention: Mention) -> str:
        """The action, after the noun or after "is"."""
        return self.choose(f"participle {mention.objects}", _participles(mention))

    def attribute(self, mention: Mention) -> str:
        """The action in one word, before the noun."""
        return self.choose(f"attribute {mention.objects}", _attributes(mention))

    def simple(self, mention: Mention) -> bool:
        """Whether a finite action is told as "runs" rather than "is running"."""
        return bool(self._draws(f"simple {mention.objects}").random() < _SIMPLE)

    def manner(self, mention: Mention) -> str | None:
        """How the action is done, or None."""
        if self._draws(f"has manner {mention.objects}").random() >= _MANNERS or not self.participle(mention).isalpha():
            return None
        if mention.action in MOTIONS:
            # How fast something moves could be false.
            return None
        return self.choose(f"manner {mention.objects}", MANNERS[str(mention.action)])

    def determiner(self, mention: Mention) -> str:
        """ "a", "the", "one", "another", a number or a group. Call once for each mention, in order."""
        number = len(mention.objects)
        seen = mention.noun in self._named
        self._named.add(mention.noun)
        point = self._draws(f"determiner {mention.objects}").random()
        if number == 1 and seen:
            return "another" if point < 0.8 else "a"
        if number == 1:
            return "the" if point < 0.05 else "one" if point < 0.08 else "a"
        groups = {name: 1.0 for name, value in GROUPS.items() if value == number}
        if groups and point < 0.2:
            return self.choose(f"group {mention.objects}", groups)
        return next(word for word, value in NUMBERS.items() if value == number)

    def opinion(self, mention: Mention) -> str | None:
        """What the annotator thinks of it ("cute"), or None."""
        if self._draws(f"has opinion {mention.objects}").random() >= _OPINIONS:
            return None
        sort: Literal["person", "animal", "thing"] = (
            "person" if mention.noun in PEOPLE else "animal" if mention.noun in ANIMALS else "thing"
        )
        return self.choose(f"opinion {mention.objects}", OPINIONS[sort])

    def colour(self, mention: Mention) -> str | None:
        """A word for its colour, or None if the plan does not tell it."""
        return None if mention.colour is None else self.choose(f"colour {mention.objects}", COLOURS[mention.colour])

    def size(self, mention: Mention) -> str:
        sizes = PERSON_SIZES if mention.noun in PEOPLE else SIZES
        return self.choose(f"size {mention.objects}", sizes[str(mention.size)])

    def relative(self, mention: Mention) -> bool:
        """Whether a noun phrase tells its action in a relative clause rather than before the noun."""
        return bool(self._draws(f"relative {mention.objects}").random() < 0.35) or not _attributes(mention)

    def marks(self, mention: Mention) -> str | None:
        """The texture as in "with stripes", or None where an adjective tells it."""
        if self._draws(f"marks {mention.objects}").random() < 0.3:
            return self.choose(f"mark {mention.objects}", MARKS[str(mention.texture)])
        return None

    def texture_first(self, mention: Mention) -> bool:
        """Whether the texture stands before the colour."""
        return int(self._draws(f"texture first {mention.objects}").integers(2)) == 0

    def texture(self, mention: Mention) -> str:
        return self.choose(f"texture {mention.objects}", TEXTURES[str(mention.texture)])

    def noun(self, mention: Mention) -> tuple[str, str]:
        """The English noun, singular and plural."""
        forms = {pair[0]: pair for pair in NOUNS[mention.noun]}
        weights = {pair[0]: weight for pair, weight in NOUNS[mention.noun].items()}
        return forms[self.choose(f"noun {mention.objects}", weights)]

    def clothes(self, mention: Mention) -> Clothes | None:
        """How a person's colour and texture are told, or None if neither is said."""
        texture = None if mention.texture is None else self.texture(mention)
        colour = self.colour(mention)
        if texture is None and colour is None:
            return None
        about = f"{{}} {mention.objects}"
        if texture is None and self._draws(about.format("colour alone")).random() < 0.35:
            return Clothes(self.choose(about.format("dress"), MANNERS_OF_COLOUR), None, colour, None)
        plural = len(mention.objects) > 1
        if mention.noun == "person" or (plural and self._draws(about.format("any clothes")).random() < 0.3):
            garments = OUTFITS_OF_SEVERAL if plural else OUTFITS
        elif mention.noun == "man":
            garments = SHIRTS_OF_SEVERAL if plural else SHIRTS
        else:
            garments = DRESSES_OF_SEVERAL if plural else DRESSES
        manner = self.choose(about.format("dress"), MANNERS_OF_DRESS)
        return Clothes(manner, texture, colour, self.choose(about.format("garment"), garments))

    def choose(self, about: str, weights: Mapping[str, float]) -> str:
        """One of the words, by their weights; the same one whenever a question is asked again.

        A language also calls it for choices that no other language has.
        """
        if about not in self._chosen:
            self._chosen[about] = pick(self._draws(about), list(weights), list(weights.values()))
        return self._chosen[about]


def _participles(mention: Mention) -> Mapping[str, float]:
    if str(mention.action) in MOTIONS:
        return MOTIONS[str(mention.action)]
    return (BIRD_PARTICIPLES if mention.noun == "bird" else PARTICIPLES)[str(mention.action)]


def _attributes(mention: Mention) -> Mapping[str, float]:
    """The participles that may stand before a noun: "moving left" may not."""
    return {w: n for w, n in _participles(mention).items() if w.isalpha() and w not in PREDICATIVE}


def finite(participle: str, plural: bool) -> str | None:
    """ "runs around" for "running around"; None for "seated", which is only said with "is"."""
    first, _, rest = participle.partition(" ")
    return f"{FINITE[first][plural]} {rest}".strip() if first in FINITE else None


def realise(plan: Plan, rng: np.random.Generator) -> list[str]:
    """One English sentence of at most `MAX_WORDS` lower-case words that says what the plan holds.

    A plan that takes more words is told in other words, then loses its least important statements until it fits.
    """
    return fit(sentence, plan, rng)


def fit(sentence: Callable[[Plan, Draws], list[str]], plan: Plan, rng: np.random.Generator) -> list[str]:
    """Tells a plan by `sentence` in at most `MAX_WORDS` words; all choices come from `rng`.

    Most plans that are too long can be said shorter: after `REWORDINGS` other tries, a plan is shortened.
    """
    tries = 0
    while True:
        words = sentence(plan, lambda about: rng)
        if len(words) <= MAX_WORDS:
            return words
        tries += 1
        if tries > REWORDINGS:
            plan = shorten(plan)


def sentence(plan: Plan, draws: Draws) -> list[str]:
    """One English sentence of any length that says all the plan holds, in the words that `draws` chooses."""
    words = _Sentence(plan, Wording(plan, draws)).build().split()
    return [
        "an" if word == "a" and following[:1] in set("aeiou") else word
        for word, following in zip(words, [*words[1:], ""], strict=True)
    ]


class _Sentence:
    """Builds one sentence; every choice of words is the annotator's (`wording`)."""

    def __init__(self, plan: Plan, wording: Wording) -> None:
        self.plan = plan
        self.wording = wording

    def build(self) -> str:
        opening = self.wording.opening()
        aside = self.wording.aside(opening in ("introduction", "setting")) or ""
        if opening == "setting":
            return f"{self.wording.setting()} with {self._statement(finite=False, where=aside)}"
        where = "" if self.plan.background is None else self.wording.place()
        first = self.plan.mentions[0]
        if opening == "place_there":
            return f"{where} {self._there(first)} {self._statement(finite=False, where=aside)}"
        if opening == "place_sentence":
            return f"{where} {self._statement(finite=True, where=aside)}"
        where = f"{where} {aside}".strip()
        if opening == "there":
            return f"{self._there_is(first)} {self._statement(finite=False, where=where)}"
        if opening == "introduction":
            return f"{self.wording.introduction()} {self._statement(finite=False, where=where)}"
        return self._statement(finite=opening == "sentence", where=where)

    def _statement(self, finite: bool, where: str = "") -> str:
        """Mentions, actions and relation, and the place at the end if one is given.

        Args:
            finite: "a dog is running" rather than "a dog running".
            where: a place phrase, or "".
        """
        mentions, relation = self.plan.mentions, self.plan.relation
        if len(mentions) == 1:
            place_only = mentions[0].action is None and self.plan.background in TIMES
            return self._with_action(mentions[0], finite and not place_only, where or None)
        if relation is not None:
            text = self._related(mentions[0], relation, mentions[1], finite)
        else:
            text = self._joined(mentions[0], mentions[1], finite)
        if len(mentions) == 3:
            text = f"{text} {self.wording.joins_third()} {self._noun_phrase(mentions[2], True)}"
        return f"{text} {where}".strip()

    def _related(self, subject: Mention, relation: str, other: Mention, finite: bool) -> str:
        order = self.wording.order(relation, finite)
        if order == "host":
            # "a house with a tree next to it"
            host = self._noun_phrase(other, True)
            guest = self._with_action(subject, False)
            phrase, takes_pronoun = self.wording.relation_to_host(relation)
            if takes_pronoun:
                phrase = f"{phrase} {PRONOUNS.get(other.noun, 'it') if len(other.objects) == 1 else 'them'}"
            return f"{host} with {guest} {phrase}"
        if order == "fronted":
            # "next to a car there is a dog"
            other_text = f"{self.wording.relation(relation)} {self._noun_phrase(other, True)}"
            return f"{other_text} {self._there(subject)} {self._with_action(subject, False)}"
        if relation in PASSING and finite and subject.action is None and self.wording.simple(subject):
            text = self._passes(subject, relation)
        else:
            text = self._with_action(subject, finite, self.wording.relation(relation))
        return f"{text} {self._noun_phrase(other, True)}"

    def _passes(self, subject: Mention, relation: str) -> str:
        """ "a dog passes behind"."""
        verb = finite(self.wording.relation(relation), len(subject.objects) > 1)
        return f"{self._noun_phrase(subject, False)} {verb}"

    def _joined(self, first: Mention, second: Mention, finite: bool) -> str:
        if first.action is None:
            link = self.wording.joins_bare()
            return f"{self._noun_phrase(first, False)} {link} {self._noun_phrase(second, True)}"
        if finite and first.action == second.action:
            both = f"{self._noun_phrase(first, False)} and {self._noun_phrase(second, False)}"
            return f"{both} {self._finite(first, plural=True)}"
        if finite and second.action is not None:
            link = self.wording.joins_clauses()
            return f"{self._with_action(first, True)} {link} {self._with_action(second, True)}"
        link = self.wording.joins_loosely()
        if link == "and" and finite:
            link = f"and {self._there_is(second)}"
        return f"{self._with_action(first, finite)} {link} {self._noun_phrase(second, True)}"

    def _with_action(self, mention: Mention, finite: bool, complement: str | None = None) -> str:
        """ "a dog is running", "a dog running", or "a dog is" / "a dog", then the complement if there is one."""
        text = self._noun_phrase(mention, False)
        plural = len(mention.objects) > 1
        if mention.action is not None:
            text = f"{text} {self._finite(mention, plural) if finite else self._participle(mention)}"
        elif finite and complement is not None:
            text = f"{text} {'are' if plural else 'is'}"
        return text if complement is None else f"{text} {complement}"

    def _participle(self, mention: Mention) -> str:
        return f"{self.wording.participle(mention)} {self.wording.manner(mention) or ''}".strip()

    def _finite(self, mention: Mention, plural: bool) -> str:
        simple = finite(self.wording.participle(mention), plural) if self.wording.simple(mention) else None
        if simple is None:
            return f"{'are' if plural else 'is'} {self._participle(mention)}"
        return f"{simple} {self.wording.manner(mention) or ''}".strip()

    def _noun_phrase(self, mention: Mention, with_action: bool) -> str:
        """ "a small red ball", "a tall man in a striped shirt", "a sleeping cat", "two dogs".

        Args:
            mention: what to name.
            with_action: also say the action here, before the noun or in a relative clause.
        """
        person = mention.noun in PEOPLE
        plural = len(mention.objects) > 1
        words = [self.wording.determiner(mention), self.wording.opinion(mention) or ""]
        if mention.size is not None:
            words.append(self.wording.size(mention))
        action = mention.action if with_action else None
        clause = action is not None and self.wording.relative(mention)
        if action is not None and not clause:
            words.append(self.wording.attribute(mention))
        tail = self._clothes(mention, plural) if person else ""
        if not person:
            colour = self.wording.colour(mention)
            adjectives = [] if colour is None else [colour]
            if mention.texture is not None:
                marks = self.wording.marks(mention)
                if marks is not None:
                    tail = f"with {marks}"
                else:
                    place = 0 if self.wording.texture_first(mention) else 1
                    adjectives.insert(place, self.wording.texture(mention))
            words += adjectives
        words.append(self.wording.noun(mention)[plural])
        words.append(tail)
        if action is not None and clause:
            be = "are" if plural else "is"
            words.append(f"{'who' if person else 'that'} {be} {self.wording.participle(mention)}")
        return " ".join(word for word in words if word)

    def _clothes(self, mention: Mention, plural: bool) -> str:
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        article = "" if clothes.garment is None or clothes.garment in UNCOUNTED or plural else "a"
        words = (clothes.manner, article, clothes.texture, clothes.colour, clothes.garment)
        return " ".join(word for word in words if word)

    def _there(self, mention: Mention) -> str:
        there = self.wording.there()
        return self._there_is(mention) if there == "there is" else there

    @staticmethod
    def _there_is(mention: Mention) -> str:
        return "there are" if len(mention.objects) > 1 else "there is"
