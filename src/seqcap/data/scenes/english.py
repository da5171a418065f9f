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

from seqcap.data.scenes.captions import Mention, Plan, shorten
from seqcap.data.scenes.graph import Colour, pick

MAX_WORDS = 18

# Class -> its (singular, plural) nouns and how often each is used.
NOUNS: Mapping[str, Mapping[tuple[str, str], float]] = {
    "man": {("man", "men"): 5, ("guy", "guys"): 1},
    "woman": {("woman", "women"): 5, ("lady", "ladies"): 1},
    "dog": {("dog", "dogs"): 5, ("puppy", "puppies"): 1},
    "cat": {("cat", "cats"): 5, ("kitten", "kittens"): 1},
    "bird": {("bird", "birds"): 1},
    "ball": {("ball", "balls"): 1},
    "car": {("car", "cars"): 5, ("vehicle", "vehicles"): 1},
    "tree": {("tree", "trees"): 1},
    "house": {("house", "houses"): 5, ("building", "buildings"): 1},
    "kite": {("kite", "kites"): 1},
    "boat": {("boat", "boats"): 5, ("sailboat", "sailboats"): 1},
    "umbrella": {("umbrella", "umbrellas"): 5, ("parasol", "parasols"): 1},
    "person": {("person", "people"): 1},
    "animal": {("animal", "animals"): 1},
}
SIZES: Mapping[str, Mapping[str, float]] = {
    "small": {"small": 5, "little": 3, "tiny": 1},
    "large": {"large": 4, "big": 4, "huge": 1},
}
PERSON_SIZES: Mapping[str, Mapping[str, float]] = {
    "small": {"small": 3, "short": 3, "little": 1},
    "large": {"large": 1, "big": 2, "tall": 4},
}
TEXTURES: Mapping[str, Mapping[str, float]] = {
    "striped": {"striped": 1},
    "dotted": {"dotted": 2, "spotted": 3},
}
MARKS: Mapping[str, Mapping[str, float]] = {"striped": {"stripes": 1}, "dotted": {"dots": 2, "spots": 3}}
# Garments, who wears them, and whether they take an article.
SHIRTS = ("shirt", "sweater")
DRESSES = ("dress",)
GARMENTS: Mapping[str, frozenset[str]] = {
    "shirt": frozenset({"man"}),
    "shirts": frozenset({"man"}),
    "sweater": frozenset({"man"}),
    "dress": frozenset({"woman"}),
    "dresses": frozenset({"woman"}),
    "outfit": frozenset({"man", "woman"}),
    "clothes": frozenset({"man", "woman"}),
}
# Action -> participle phrases, singular and plural finite phrases. The first participle also stands before a noun.
PARTICIPLES: Mapping[str, Mapping[str, float]] = {
    "standing": {"standing": 1},
    "walking": {"walking": 5, "strolling": 1, "taking a walk": 1},
    "waving": {"waving": 4, "waving a hand": 1},
    "sitting": {"sitting": 5, "sitting down": 1},
    "running": {"running": 5, "running around": 1},
    "sleeping": {"sleeping": 4, "lying down": 2, "taking a nap": 1},
    "flying": {"flying": 4, "flying in the sky": 1},
}
FINITE: Mapping[str, tuple[str, str]] = {
    "standing": ("stands", "stand"),
    "walking": ("walks", "walk"),
    "waving": ("waves", "wave"),
    "sitting": ("sits", "sit"),
    "running": ("runs", "run"),
    "sleeping": ("sleeps", "sleep"),
    "flying": ("flies", "fly"),
}
RELATIONS: Mapping[str, Mapping[str, float]] = {
    "left_of": {"to the left of": 3, "left of": 1, "on the left of": 1},
    "right_of": {"to the right of": 3, "right of": 1, "on the right of": 1},
    "next_to": {"next to": 5, "beside": 2, "near": 2, "close to": 1},
    "above": {"above": 3, "over": 2, "high above": 1},
    "below": {"below": 3, "under": 2, "beneath": 1},
    "behind": {"behind": 1},
    "in_front_of": {"in front of": 1},
    "on": {"on top of": 3, "on": 2},
    "carries": {"under": 3, "below": 1, "beneath": 1},
}
# Shorter forms for "it" after a phrase with "with": "a house with a cat on top".
SELF_RELATIONS: Mapping[str, Mapping[str, float]] = {
    "on": {"on top": 3, "on top of it": 1},
    "left_of": {"on the left": 1},
    "right_of": {"on the right": 1},
}
PLACES: Mapping[str, Mapping[str, float]] = {
    "meadow": {"in the grass": 3, "on the grass": 2, "in a field": 4, "on a meadow": 2},
    "beach": {"on the beach": 5, "at the beach": 3, "by the sea": 2, "near the ocean": 1},
    "street": {"on the street": 4, "on the road": 2, "in the city": 3, "on a city street": 1},
    "snow": {"in the snow": 5, "on a snowy day": 2, "in a snowy field": 1, "in winter": 1},
    "night": {"at night": 5, "in the dark": 2, "under the stars": 1},
    "desert": {"in the desert": 4, "in a sandy desert": 1},
}
# Where something flies.
PLACES_BELOW: Mapping[str, Mapping[str, float]] = {
    "meadow": {"over a field": 2, "over the grass": 1, "above a meadow": 1},
    "beach": {"over the beach": 2, "above the sea": 1},
    "street": {"over the street": 1, "over the city": 2},
    "snow": {"over the snow": 1, "over a snowy field": 1},
    "night": PLACES["night"],
    "desert": {"over the desert": 1, "above the desert": 1},
}
# Heads of captions that begin with the place: "a beach with a dog".
SETTINGS: Mapping[str, Mapping[str, float]] = {
    "meadow": {"a field": 2, "a meadow": 1, "a grassy field": 1},
    "beach": {"a beach": 2, "a beach scene": 1},
    "street": {"a street": 2, "a city street": 1, "a street scene": 1},
    "snow": {"a snowy field": 1, "a snow scene": 1},
    "night": {"a night scene": 1},
    "desert": {"a desert": 1, "a desert scene": 1},
}
# Every way to name a place, for the checker: with any of the prepositions or none.
PLACE_NOUNS: Mapping[str, tuple[str, ...]] = {
    "meadow": ("grass", "field", "meadow", "grassy field"),
    "beach": ("beach", "sea", "ocean", "sandy beach"),
    "street": ("street", "road", "city", "city street"),
    "snow": ("snow", "snowy day", "snowy field", "winter"),
    "night": ("night", "dark", "stars"),
    "desert": ("desert", "sandy desert"),
}
PLACE_PREPOSITIONS = frozenset({"in", "on", "at", "by", "near", "under", "over", "above"})
NUMBERS: Mapping[str, int] = {"two": 2, "three": 3, "four": 4}
GROUPS: Mapping[str, int] = {"a couple of": 2, "a pair of": 2}
INTRODUCTIONS: Mapping[str, float] = {"a picture of": 4, "a photo of": 2, "we see": 1}
PRONOUNS: Mapping[str, str] = {"man": "him", "woman": "her", "person": "them"}

# Times of the day and year: "a cat is at night" is not said, they need a verb.
TIMES = frozenset({"snow", "night"})
PEOPLE = frozenset({"man", "woman", "person"})

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
        manner: "in", "wearing" or "dressed in".
        texture: an English word, or None.
        colour: None if it is not said.
        garment: None where the colour stands alone ("in red").
    """

    manner: str
    texture: str | None
    colour: Colour | None
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
        return self.choose("relation", RELATIONS[relation])

    def relation_to_host(self, relation: str) -> tuple[str, bool]:
        """A relation to what was named before: ("next to", True) takes a pronoun, ("on top", False) does not."""
        forms = SELF_RELATIONS.get(relation)
        if forms is None or (relation != "on" and self._draws("pronoun").random() < 0.5):
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

    def simple(self, mention: Mention) -> bool:
        """Whether a finite action is told as "runs" rather than "is running"."""
        return bool(self._draws(f"simple {mention.objects}").random() < 0.25)

    def participle(self, mention: Mention) -> str:
        return self.choose(f"participle {mention.objects}", PARTICIPLES[str(mention.action)])

    def determiner(self, mention: Mention) -> str:
        """ "a", "another", a number or a group. Call once for each mention, in the order of the sentence."""
        number = len(mention.objects)
        seen = mention.noun in self._named
        self._named.add(mention.noun)
        rng = self._draws(f"determiner {mention.objects}")
        if number == 1:
            return "another" if seen and rng.random() < 0.8 else "a"
        if number == 2 and rng.random() < 0.2:
            return self.choose(f"group {mention.objects}", dict.fromkeys(GROUPS, 1.0))
        return next(word for word, value in NUMBERS.items() if value == number)

    def size(self, mention: Mention) -> str:
        sizes = PERSON_SIZES if mention.noun in PEOPLE else SIZES
        return self.choose(f"size {mention.objects}", sizes[str(mention.size)])

    def relative(self, mention: Mention) -> bool:
        """Whether a noun phrase tells its action in a relative clause rather than before the noun."""
        return bool(self._draws(f"relative {mention.objects}").random() < 0.35)

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
        nouns = NOUNS[mention.noun]
        return pick(self._draws(f"noun {mention.objects}"), list(nouns), list(nouns.values()))

    def clothes(self, mention: Mention) -> Clothes | None:
        """How a person's colour and texture are told, or None if neither is said."""
        texture = None if mention.texture is None else self.texture(mention)
        if texture is None and mention.colour is None:
            return None
        about = f"{{}} {mention.objects}"
        alone = texture is None and self._draws(about.format("colour alone")).random() < 0.35
        if alone:
            manner = self.choose(about.format("manner"), {"in": 3, "wearing": 1, "dressed in": 1})
            return Clothes(manner, None, mention.colour, None)
        manner = self.choose(about.format("manner"), {"in": 3, "wearing": 2})
        plural = len(mention.objects) > 1
        rng = self._draws(about.format("garment"))
        if mention.noun == "person" or (plural and rng.random() < 0.3):
            garment = "clothes" if plural else self.choose(about.format("outfit"), {"clothes": 1, "outfit": 1})
        elif plural:
            garment = "shirts" if mention.noun == "man" else "dresses"
        else:
            garment = pick(rng, SHIRTS, (4, 1)) if mention.noun == "man" else pick(rng, DRESSES)
        return Clothes(manner, texture, mention.colour, garment)

    def choose(self, about: str, weights: Mapping[str, float]) -> str:
        """One of the words, by their weights. A language also calls it for choices that no other language has."""
        return pick(self._draws(about), list(weights), list(weights.values()))


def realise(plan: Plan, rng: np.random.Generator) -> list[str]:
    """One English sentence of at most `MAX_WORDS` lower-case words that says what the plan holds.

    A plan that takes more words is told in other words and loses its least important statements until it fits.
    """
    return fit(sentence, plan, rng)


def fit(sentence: Callable[[Plan, Draws], list[str]], plan: Plan, rng: np.random.Generator) -> list[str]:
    """Tells a plan by `sentence`, shortened until it takes at most `MAX_WORDS` words; all choices come from `rng`."""
    while True:
        words = sentence(plan, lambda about: rng)
        if len(words) <= MAX_WORDS:
            return words
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
        if opening == "setting":
            return f"{self.wording.setting()} with {self._statement(finite=False)}"
        where = "" if self.plan.background is None else self.wording.place()
        there = self._there(self.plan.mentions[0])
        if opening == "place_there":
            return f"{where} {there} {self._statement(finite=False)}"
        if opening == "place_sentence":
            return f"{where} {self._statement(finite=True)}"
        if opening == "there":
            return f"{there} {self._statement(finite=False, where=where)}"
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
        text = self._with_action(subject, finite, self.wording.relation(relation))
        return f"{text} {self._noun_phrase(other, True)}"

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
            link = f"and {self._there(second)}"
        return f"{self._with_action(first, finite)} {link} {self._noun_phrase(second, True)}"

    def _with_action(self, mention: Mention, finite: bool, complement: str | None = None) -> str:
        """ "a dog is running", "a dog running", or "a dog is" / "a dog", then the complement if there is one."""
        text = self._noun_phrase(mention, False)
        plural = len(mention.objects) > 1
        if mention.action is not None:
            text = f"{text} {self._finite(mention, plural) if finite else self.wording.participle(mention)}"
        elif finite and complement is not None:
            text = f"{text} {'are' if plural else 'is'}"
        return text if complement is None else f"{text} {complement}"

    def _finite(self, mention: Mention, plural: bool) -> str:
        if self.wording.simple(mention):
            return FINITE[str(mention.action)][plural]
        return f"{'are' if plural else 'is'} {self.wording.participle(mention)}"

    def _noun_phrase(self, mention: Mention, with_action: bool) -> str:
        """ "a small red ball", "a tall man in a striped shirt", "a sleeping cat", "two dogs".

        Args:
            mention: what to name.
            with_action: also say the action here, before the noun or in a relative clause.
        """
        person = mention.noun in PEOPLE
        plural = len(mention.objects) > 1
        words = [self.wording.determiner(mention)]
        if mention.size is not None:
            words.append(self.wording.size(mention))
        action = mention.action if with_action else None
        clause = action is not None and self.wording.relative(mention)
        if action is not None and not clause:
            words.append(action)
        tail = self._clothes(mention, plural) if person else ""
        if not person:
            adjectives: list[str] = [] if mention.colour is None else [mention.colour]
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
            words.append(f"{'who' if person else 'that'} {'are' if plural else 'is'} {action}")
        return " ".join(word for word in words if word)

    def _clothes(self, mention: Mention, plural: bool) -> str:
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        article = "" if clothes.garment in (None, "clothes") or plural else "a"
        words = (clothes.manner, article, clothes.texture, clothes.colour, clothes.garment)
        return " ".join(word for word in words if word)

    @staticmethod
    def _there(mention: Mention) -> str:
        return "there are" if len(mention.objects) > 1 else "there is"
