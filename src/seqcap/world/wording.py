"""An annotator's choices among words and orders of phrases, in any language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqcap.world.captions import Mention, Plan, shorten
from seqcap.world.graph import MOTIONS, pick
from seqcap.world.motion import PASSING
from seqcap.world.words import ANIMALS, ENGLISH, PEOPLE

MAX_WORDS = 18
REWORDINGS = 2  # how often a plan is said in other words before it is shortened
# Probabilities that an annotator adds "outside", "slowly" and "cute", and says "runs" rather than "is running".
_ASIDES, _MANNERS, _OPINIONS, _SIMPLE = 0.1, 0.12, 0.06, 0.25
# Beginnings of a sentence: its subject and a finite verb, "there is", "a picture of", a subject without a finite verb,
# "a beach with", or the place, then "there is" or the subject. The numbers are cumulative probabilities.
Opening = Literal["sentence", "there", "introduction", "fragment", "setting", "place_there", "place_sentence"]
_OPENINGS: Mapping[Opening, float] = {"sentence": 0.62, "there": 0.82, "introduction": 0.9, "fragment": 1}
_OPENINGS_WITH_PLACE: Mapping[Opening, float] = {
    "setting": 0.14,
    "place_there": 0.22,
    "place_sentence": 0.30,
    "there": 0.40,
    "introduction": 0.46,
    "sentence": 0.78,
    "fragment": 1,
}

Draws = Callable[[str], np.random.Generator]  # question -> the generator that answers it


@dataclass(frozen=True)
class Clothes:
    """How a person's colour and texture are said.

    Attributes:
        manner: "in", "wearing" and the like.
        texture: English word; None: it is not said.
        colour: English word; None: it is not said.
        garment: English word; None where the colour stands alone ("in red").
    """

    manner: str
    texture: str | None
    colour: str | None
    garment: str | None


class Wording:
    """An annotator's choices of words and of the order of phrases for one plan, named by the English words.

    Each method asks one question, and `draws` gives the generator for it. With one generator for all, answers depend on
    the order of the calls. With one for each, all languages get the same answers for a plan.

    Args:
        plan: what the sentence says.
        draws: question -> the generator that answers it.
    """

    def __init__(self, plan: Plan, draws: Draws) -> None:
        self._plan = plan
        self._draws = draws
        self._named: set[str] = set()
        self._chosen: dict[str, str] = {}

    def opening(self) -> Opening:
        choice = self._draws("opening").random()
        openings = _OPENINGS if self._plan.background is None else _OPENINGS_WITH_PLACE
        return next(name for name, below in openings.items() if choice < below)

    def introduction(self) -> str:
        return self.choose("introduction", ENGLISH["introductions"])

    def setting(self) -> str:
        return self.choose("setting", ENGLISH["settings"][str(self._plan.background)])

    def place(self) -> str:
        in_the_air = len(self._plan.mentions) == 1 and self._plan.mentions[0].action == "flying"
        places = ENGLISH["places_below" if in_the_air else "places"]
        return self.choose("place", places[str(self._plan.background)])

    def aside(self, introduced: bool) -> str | None:
        """An addition at the end ("outside"), or None. `introduced`: the sentence has mentioned the image already."""
        if self._draws("has aside").random() >= _ASIDES:
            return None
        weather = {} if self._plan.background is None else ENGLISH["weather"][self._plan.background]
        return self.choose("aside", {**ENGLISH["outdoors"], **({} if introduced else ENGLISH["pictures"]), **weather})

    def there(self) -> str:
        """What follows a place or a relation at the beginning: "there is" or "we see"."""
        return self.choose("there", ENGLISH["there"])

    def order(self, relation: str, finite: bool) -> Literal["host", "fronted", "plain"]:
        """ "a house with a tree next to it", "next to a house there is a tree" or "a tree next to a house"."""
        choice = self._draws("order").random()
        if choice < 0.15 and relation != "carries":
            return "host"
        return "fronted" if choice < 0.27 and finite else "plain"

    def relation(self, relation: str) -> str:
        return self.choose("relation", ENGLISH["passing" if relation in PASSING else "relations"][relation])

    def relation_to_host(self, relation: str) -> tuple[str, bool]:
        """A relation to what was named before: ("next to", True) takes a pronoun, ("on top", False) does not."""
        forms = ENGLISH["self_relations"].get(relation)
        if forms is None or (relation != "on" and self._draws("pronoun").random() >= 0.35):
            return self.relation(relation), True
        # "on top of it" would be wrong for a plural; such pairs are rare enough for a single form.
        return self.choose("relation", forms), False

    def joins_bare(self) -> str:
        """The word between two mentions of which the first has no action: "and" or "with"."""
        return self.choose("link", {"and": 4, "with": 1})

    def joins_clauses(self) -> str:
        """The word between two mentions that both have an action: "and" or "while"."""
        return self.choose("link", {"and": 1, "while": 1})

    def joins_loosely(self) -> str:
        """The word between a mention with an action and a noun phrase: "with" or "and"."""
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
        if self._draws(f"has manner {mention.objects}").random() >= _MANNERS or not self.participle(mention).isalpha():
            return None
        # The speed of a motion could be false.
        if mention.action in MOTIONS:
            return None
        return self.choose(f"manner {mention.objects}", ENGLISH["manners"][str(mention.action)])

    def determiner(self, mention: Mention) -> str:
        """ "a", "the", "one", "another", a number or a group. Call it once for each mention, in order."""
        number = len(mention.objects)
        seen = mention.noun in self._named
        self._named.add(mention.noun)
        point = self._draws(f"determiner {mention.objects}").random()
        if number == 1 and seen:
            return "another" if point < 0.8 else "a"
        if number == 1:
            return "the" if point < 0.05 else "one" if point < 0.08 else "a"
        groups = {name: 1.0 for name, value in ENGLISH["groups"].items() if value == number}
        if groups and point < 0.2:
            return self.choose(f"group {mention.objects}", groups)
        return next(str(word) for word, value in ENGLISH["numbers"].items() if value == number)

    def opinion(self, mention: Mention) -> str | None:
        """An annotator's opinion of it ("cute"), or None."""
        if self._draws(f"has opinion {mention.objects}").random() >= _OPINIONS:
            return None
        sort = "person" if mention.noun in PEOPLE else "animal" if mention.noun in ANIMALS else "thing"
        return self.choose(f"opinion {mention.objects}", ENGLISH["opinions"][sort])

    def colour(self, mention: Mention) -> str | None:
        if mention.colour is None:
            return None
        return self.choose(f"colour {mention.objects}", ENGLISH["colours"][mention.colour])

    def size(self, mention: Mention) -> str:
        sizes = ENGLISH["person_sizes" if mention.noun in PEOPLE else "sizes"]
        return self.choose(f"size {mention.objects}", sizes[str(mention.size)])

    def relative(self, mention: Mention) -> bool:
        """Whether a relative clause says the action, not a word before the noun."""
        return bool(self._draws(f"relative {mention.objects}").random() < 0.35) or not _attributes(mention)

    def marks(self, mention: Mention) -> str | None:
        """The texture as in "with stripes", or None if an adjective says it."""
        if self._draws(f"marks {mention.objects}").random() < 0.3:
            return self.choose(f"mark {mention.objects}", ENGLISH["marks"][str(mention.texture)])
        return None

    def texture_first(self, mention: Mention) -> bool:
        """Whether the texture stands before the colour."""
        return int(self._draws(f"texture first {mention.objects}").integers(2)) == 0

    def texture(self, mention: Mention) -> str:
        return self.choose(f"texture {mention.objects}", ENGLISH["textures"][str(mention.texture)])

    def noun(self, mention: Mention) -> tuple[str, str]:
        singular, plural = self.choose(f"noun {mention.objects}", ENGLISH["nouns"][mention.noun]).split()
        return singular, plural

    def clothes(self, mention: Mention) -> Clothes | None:
        texture = None if mention.texture is None else self.texture(mention)
        colour = self.colour(mention)
        if texture is None and colour is None:
            return None
        if texture is None and self._draws(f"colour alone {mention.objects}").random() < 0.35:
            return Clothes(self.choose(f"dress {mention.objects}", ENGLISH["manners_of_colour"]), None, colour, None)
        plural = mention.plural
        if mention.noun == "person" or (plural and self._draws(f"any clothes {mention.objects}").random() < 0.3):
            garments = "outfits"
        else:
            garments = "shirts" if mention.noun == "man" else "dresses"
        manner = self.choose(f"dress {mention.objects}", ENGLISH["manners_of_dress"])
        garment = self.choose(f"garment {mention.objects}", ENGLISH[f"{garments}_of_several" if plural else garments])
        return Clothes(manner, texture, colour, garment)

    def choose(self, about: str, weights: Mapping[str, float]) -> str:
        """One of the words, by weight; a question has one answer. Languages also use it for choices of their own."""
        if about not in self._chosen:
            self._chosen[about] = pick(self._draws(about), list(weights), list(weights.values()))
        return self._chosen[about]


def _participles(mention: Mention) -> Mapping[str, float]:
    still = "bird_participles" if mention.noun == "bird" else "participles"
    found: Mapping[str, float] = ENGLISH["motions" if mention.action in MOTIONS else still][str(mention.action)]
    return found


def _attributes(mention: Mention) -> Mapping[str, float]:
    """The participles that may precede a noun: "moving left" may not."""
    return {w: n for w, n in _participles(mention).items() if w.isalpha() and w not in ENGLISH["predicative"]}


def fit(say: Callable[[Plan], list[list[str]]], plan: Plan) -> list[list[str]]:
    """Says a plan in sentences of at most `MAX_WORDS` words. If it is still too long after `REWORDINGS` other tries, it
    is shortened. `say`: its sentences, in new words at each call."""
    tries = 0
    while max(map(len, told := say(plan))) > MAX_WORDS:
        tries += 1
        if tries > REWORDINGS:
            plan = shorten(plan)
    return told
