"""English: the words, and the realiser that turns a plan into a sentence.

The tables are shared with the checker, which therefore understands every sentence the realiser can build.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from seqcap.data.scenes.captions import Mention, Plan, shorten
from seqcap.data.scenes.graph import pick

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

_TIMES = frozenset({"snow", "night"})
_PEOPLE = frozenset({"man", "woman", "person"})


def realise(plan: Plan, rng: np.random.Generator) -> list[str]:
    """One English sentence of at most `MAX_WORDS` lower-case words that says what the plan holds.

    A plan that takes more words loses its least important statements, and is told in other words, until it fits.
    """
    while True:
        words = _Sentence(plan, rng).build().split()
        if len(words) <= MAX_WORDS:
            return _with_articles(words)
        plan = shorten(plan)


def _with_articles(words: list[str]) -> list[str]:
    return [
        "an" if word == "a" and following[:1] in set("aeiou") else word
        for word, following in zip(words, [*words[1:], ""], strict=True)
    ]


class _Sentence:
    """Builds one sentence; every choice of words is the annotator's (`rng`)."""

    def __init__(self, plan: Plan, rng: np.random.Generator) -> None:
        self.plan = plan
        self.rng = rng
        self.named: set[str] = set()

    def build(self) -> str:
        place = self.plan.background
        choice = self.rng.random()
        if place is None:
            opening = choice
            if opening < 0.62:
                return self._statement(finite=True)
            if opening < 0.82:
                return f"{self._there(self.plan.mentions[0])} {self._statement(finite=False)}"
            if opening < 0.9:
                return f"{self._choose(INTRODUCTIONS)} {self._statement(finite=False)}"
            return self._statement(finite=False)
        if choice < 0.14:
            return f"{self._choose(SETTINGS[place])} with {self._statement(finite=False)}"
        in_the_air = len(self.plan.mentions) == 1 and self.plan.mentions[0].action == "flying"
        where = self._choose((PLACES_BELOW if in_the_air else PLACES)[place])
        if choice < 0.22:
            return f"{where} {self._there(self.plan.mentions[0])} {self._statement(finite=False)}"
        if choice < 0.30:
            return f"{where} {self._statement(finite=True)}"
        if choice < 0.40:
            return f"{self._there(self.plan.mentions[0])} {self._statement(finite=False, where=where)}"
        if choice < 0.46:
            return f"{self._choose(INTRODUCTIONS)} {self._statement(finite=False, where=where)}"
        return self._statement(finite=choice < 0.78, where=where)

    def _statement(self, finite: bool, where: str = "") -> str:
        """Mentions, actions and relation, and the place at the end if one is given.

        Args:
            finite: "a dog is running" rather than "a dog running".
            where: a place phrase, or "".
        """
        mentions, relation = self.plan.mentions, self.plan.relation
        if len(mentions) == 1:
            # "a cat is at night" is not said: times of the day and year need a verb.
            place_only = mentions[0].action is None and self.plan.background in _TIMES
            return self._with_action(mentions[0], finite and not place_only, where or None)
        if relation is not None:
            text = self._related(mentions[0], relation, mentions[1], finite)
        else:
            text = self._joined(mentions[0], mentions[1], finite)
        if len(mentions) == 3:
            text = f"{text} {self._choose({'and': 2, 'with': 1})} {self._noun_phrase(mentions[2], True)}"
        return f"{text} {where}".strip()

    def _related(self, subject: Mention, relation: str, other: Mention, finite: bool) -> str:
        choice = self.rng.random()
        if choice < 0.15 and relation != "carries":
            # "a house with a tree next to it"
            host = self._noun_phrase(other, True)
            guest = self._with_action(subject, False)
            forms = SELF_RELATIONS.get(relation)
            if forms is None or (relation != "on" and self.rng.random() < 0.5):
                pronoun = PRONOUNS.get(other.noun, "it") if len(other.objects) == 1 else "them"
                return f"{host} with {guest} {self._choose(RELATIONS[relation])} {pronoun}"
            # "on top of it" of several would be wrong English; such pairs are rare enough for one form.
            return f"{host} with {guest} {self._choose(forms)}"
        if choice < 0.27 and finite:
            # "next to a car there is a dog"
            other_text = f"{self._choose(RELATIONS[relation])} {self._noun_phrase(other, True)}"
            return f"{other_text} {self._there(subject)} {self._with_action(subject, False)}"
        text = self._with_action(subject, finite, self._choose(RELATIONS[relation]))
        return f"{text} {self._noun_phrase(other, True)}"

    def _joined(self, first: Mention, second: Mention, finite: bool) -> str:
        if first.action is None:
            link = self._choose({"and": 4, "with": 1})
            return f"{self._noun_phrase(first, False)} {link} {self._noun_phrase(second, True)}"
        if finite and first.action == second.action:
            both = f"{self._noun_phrase(first, False)} and {self._noun_phrase(second, False)}"
            return f"{both} {self._finite(first.action, plural=True)}"
        if finite and second.action is not None:
            link = self._choose({"and": 1, "while": 1})
            return f"{self._with_action(first, True)} {link} {self._with_action(second, True)}"
        link = self._choose({"with": 1, f"and {self._there(second)}" if finite else "and": 1})
        return f"{self._with_action(first, finite)} {link} {self._noun_phrase(second, True)}"

    def _with_action(self, mention: Mention, finite: bool, complement: str | None = None) -> str:
        """ "a dog is running", "a dog running", or "a dog is" / "a dog", then the complement if there is one."""
        text = self._noun_phrase(mention, False)
        plural = len(mention.objects) > 1
        if mention.action is not None:
            verb = self._finite(mention.action, plural) if finite else self._choose(PARTICIPLES[mention.action])
            text = f"{text} {verb}"
        elif finite and complement is not None:
            text = f"{text} {'are' if plural else 'is'}"
        return text if complement is None else f"{text} {complement}"

    def _finite(self, action: str, plural: bool) -> str:
        if self.rng.random() < 0.25:
            return FINITE[action][plural]
        return f"{'are' if plural else 'is'} {self._choose(PARTICIPLES[action])}"

    def _noun_phrase(self, mention: Mention, with_action: bool) -> str:
        """ "a small red ball", "a tall man in a striped shirt", "a sleeping cat", "two dogs".

        Args:
            mention: what to name.
            with_action: also say the action here, before the noun or in a relative clause.
        """
        person = mention.noun in _PEOPLE
        plural = len(mention.objects) > 1
        words = [self._determiner(mention)]
        if mention.size is not None:
            words.append(self._choose((PERSON_SIZES if person else SIZES)[mention.size]))
        action = mention.action if with_action else None
        clause = action is not None and self.rng.random() < 0.35
        if action is not None and not clause:
            words.append(action)
        tail = self._clothes(mention, plural) if person else ""
        if not person:
            adjectives: list[str] = [] if mention.colour is None else [mention.colour]
            if mention.texture is not None and self.rng.random() < 0.3:
                tail = f"with {self._choose(MARKS[mention.texture])}"
            elif mention.texture is not None:
                adjectives.insert(int(self.rng.integers(2)), self._choose(TEXTURES[mention.texture]))
            words += adjectives
        words.append(pick(self.rng, list(NOUNS[mention.noun]), list(NOUNS[mention.noun].values()))[plural])
        words.append(tail)
        if action is not None and clause:
            words.append(f"{'who' if person else 'that'} {'are' if plural else 'is'} {action}")
        return " ".join(word for word in words if word)

    def _determiner(self, mention: Mention) -> str:
        number = len(mention.objects)
        seen = mention.noun in self.named
        self.named.add(mention.noun)
        if number == 1:
            return "another" if seen and self.rng.random() < 0.8 else "a"
        if number == 2 and self.rng.random() < 0.2:
            return self._choose(dict.fromkeys(GROUPS, 1.0))
        return next(word for word, value in NUMBERS.items() if value == number)

    def _clothes(self, mention: Mention, plural: bool) -> str:
        words = [
            "" if mention.texture is None else self._choose(TEXTURES[mention.texture]),
            mention.colour or "",
        ]
        if not any(words):
            return ""
        if mention.texture is None and self.rng.random() < 0.35:
            return f"{self._choose({'in': 3, 'wearing': 1, 'dressed in': 1})} {mention.colour}"
        wear = self._choose({"in": 3, "wearing": 2})
        if mention.noun == "person" or (plural and self.rng.random() < 0.3):
            garment = "clothes" if plural else self._choose({"clothes": 1, "outfit": 1})
        elif plural:
            garment = "shirts" if mention.noun == "man" else "dresses"
        else:
            garment = pick(self.rng, SHIRTS, (4, 1)) if mention.noun == "man" else pick(self.rng, DRESSES)
        article = "" if garment == "clothes" or plural else "a"
        return " ".join(word for word in (wear, article, *words, garment) if word)

    @staticmethod
    def _there(mention: Mention) -> str:
        return "there are" if len(mention.objects) > 1 else "there is"

    def _choose(self, weights: Mapping[str, float]) -> str:
        return pick(self.rng, list(weights), list(weights.values()))
