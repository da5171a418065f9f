"""Parses captions: the things that a caption names, and what it says about them.

The parser reads from left to right and is made for captioners' language, grammatical or not. Its rules:

- A noun phrase introduces a new thing: "a dog and a dog" needs two dogs. It says what the thing is (`object`), its
  colour, size, texture (`attribute`) and number (`count`, for "two dogs" or a bare plural).
- "is", "are" and finite verbs are about the subject (if plural, about all subjects joined before it); participles,
  relations and "that is" / "who is" are about the phrase just before them.
- A relation before its subject ("next to a car there is a dog") waits for the next phrase. "with" only says that
  something is there; after it, "on top" or "beside it" relate it to the subject.
- "in a red shirt" is the colour of the person, "on the beach" the background. The weather ("on a sunny day") must fit
  the background, but does not tell which one it is.
- Of a clip, motions ("moves left") are said like actions, and "passes behind" like a relation.
- Opinions ("cute"), manners ("slowly"), "outside" and "in the picture" say nothing that could be false.
- Each run of words that fit nowhere ("a man on a", "<unk>") is one false statement of kind `unparsed`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from seqcap.world.captions import HYPERNYMS
from seqcap.world.graph import KINDS
from seqcap.world.words import ENGLISH, GARMENTS, finite_form

Words = tuple[str, ...]
_Phrases = Mapping[str, tuple[tuple[Words, str], ...]]


def _phrases(table: Iterable[tuple[str, str]]) -> _Phrases:
    """(phrase, meaning) pairs -> first word -> its phrases, the longest first."""
    found: dict[str, list[tuple[Words, str]]] = {}
    for text, meaning in dict(table).items():
        words = tuple(text.split())
        found.setdefault(words[0], []).append((words, meaning))
    return {first: tuple(sorted(options, key=lambda option: -len(option[0]))) for first, options in found.items()}


def _match(table: _Phrases, words: Words, i: int) -> tuple[str, int] | None:
    for phrase, meaning in table.get(words[i], ()) if i < len(words) else ():
        if words[i : i + len(phrase)] == phrase:
            return meaning, i + len(phrase)
    return None


def _finites(phrase: str) -> list[str]:
    """ "moves left" and "move left" for "moving left"; nothing for "seated"."""
    return [text for plural in (False, True) if (text := finite_form(phrase, plural)) is not None]


def _meanings(table: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    return [(text, meaning) for meaning, texts in table.items() for text in texts]


_CLASSES: dict[str, frozenset[str]] = {kind: frozenset({kind}) for kind in KINDS} | {
    name: frozenset(kinds) for name, kinds in HYPERNYMS.items()
}
# Noun -> class, whether it is plural.
_NOUNS = {
    noun: (meaning, plural)
    for meaning, forms in ENGLISH["nouns"].items()
    for pair in forms
    for plural, noun in enumerate(pair.split())
}
_ADJECTIVES: dict[str, tuple[str, str]] = {
    word: ("colour", colour) for colour, words in ENGLISH["colours"].items() for word in words
}
_ADJECTIVES |= {word: ("texture", name) for name, words in ENGLISH["textures"].items() for word in words}
for _table in (ENGLISH["sizes"], ENGLISH["person_sizes"]):
    _ADJECTIVES |= {word: ("size", name) for name, words in _table.items() for word in words}
_OPINIONS = frozenset(chain.from_iterable(ENGLISH["opinions"].values()))
_MARKS = _phrases(_meanings(ENGLISH["marks"]))
_ACTIONS = [
    (phrase, action)
    for table in (ENGLISH["participles"], ENGLISH["bird_participles"], ENGLISH["motions"])
    for action, phrases in table.items()
    for phrase in phrases
]
_PARTICIPLES = _phrases(_ACTIONS)
# Those before a noun.
_ATTRIBUTES = {phrase: action for phrase, action in _ACTIONS if " " not in phrase}
_SINGULAR_VERBS, _PLURAL_VERBS = (
    _phrases((text, action) for phrase, action in _ACTIONS if (text := finite_form(phrase, plural)) is not None)
    for plural in (False, True)
)
# Words that say nothing that could be false.
_MANNERS = frozenset(chain.from_iterable(ENGLISH["manners"].values()))
_ASIDES = _phrases((phrase, phrase) for phrase in (*ENGLISH["outdoors"], *ENGLISH["pictures"]))
_WEATHER = _phrases((phrase, phrase) for phrases in ENGLISH["weather"].values() for phrase in phrases)
# "under" can also mean that one thing carries the other, so `below` includes both.
_RELATIONS = _phrases(
    [
        *_meanings({name: texts for name, texts in ENGLISH["relations"].items() if name != "carries"}),
        *_meanings(ENGLISH["passing"]),
        *((text, name) for name, texts in ENGLISH["passing"].items() for phrase in texts for text in _finites(phrase)),
    ]
)
_SELF_RELATIONS = _phrases(pair for pair in _meanings(ENGLISH["self_relations"]) if not pair[0].endswith("it"))
_GROUPS = _phrases((text, str(number)) for text, number in ENGLISH["groups"].items())
_INTRODUCTIONS = _phrases((text, "") for text in ("there are", *ENGLISH["there"], *ENGLISH["introductions"]))
_ARTICLES = frozenset({"a", "an", "the", "one", "another"})
_NUMBERS: Mapping[str, int] = ENGLISH["numbers"]
_PLACE_PREPOSITIONS = frozenset(ENGLISH["place_prepositions"])
_PRONOUNS = frozenset({"it", *ENGLISH["pronouns"].values()})
_BE = frozenset({"is", "are"})
_LINKS = frozenset({"and", "while"})


def _place_nouns() -> Iterable[tuple[str, str]]:
    """Places without preposition, article and "scene", which do not change the meaning."""
    for table in (ENGLISH["places"], ENGLISH["places_below"], ENGLISH["settings"]):
        for background, phrases in table.items():
            for phrase in phrases:
                words = phrase.split()
                words = words[words[0] in _PLACE_PREPOSITIONS :]
                words = words[words[0] in _ARTICLES :]
                yield " ".join(words).removesuffix(" scene"), background


_PLACES = _phrases(_place_nouns())


@dataclass
class Phrase:
    """A noun phrase, and what is said of it.

    Attributes:
        noun: a kind of `KINDS` or a wider class, as it was said.
        kinds: those that the noun, and what is worn, may stand for.
        number: how many things it stands for; 0 for a bare plural.
        attributes: (kind, value), kind being "colour", "size" or "texture".
        actions: what the things are said to do.
        related: whether a relation of it to another phrase is said.
    """

    noun: str
    kinds: frozenset[str]
    number: int
    attributes: list[tuple[str, str]]
    actions: list[str] = field(default_factory=list)
    related: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        return self.noun, self.kinds, self.number, frozenset(self.attributes), frozenset(self.actions)


@dataclass(frozen=True)
class Parsed:
    """What a caption says of a scene.

    Attributes:
        phrases: in their order.
        relations: (name, phrase, other phrase), phrases by their places in `phrases`.
        backgrounds: places and weather that are named, each once.
        unparsed: runs of words that cannot be understood.
    """

    phrases: tuple[Phrase, ...]
    relations: tuple[tuple[str, int, int], ...]
    backgrounds: tuple[str, ...]
    unparsed: tuple[str, ...]


@lru_cache(maxsize=1 << 15)
def parse(words: Words) -> Parsed:
    return _Parser(words).parse()


class _Parser:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.phrases: list[Phrase] = []
        self.relations: list[tuple[str, int, int]] = []
        self.backgrounds: list[str] = []
        # Subjects joined by "and"; closed as soon as something is said of them.
        self.subjects: list[int] = []
        self.closed = True
        # The phrase (or phrases, after "are") that participles and relations are about.
        self.focus: list[int] = []
        self.waiting: list[tuple[str, int]] = []

    def parse(self) -> Parsed:
        unparsed: list[list[str]] = []
        i, last_bad = 0, -2
        while i < len(self.words):
            end = self._step(i)
            if end is None:
                if last_bad == i - 1:
                    unparsed[-1].append(self.words[i])
                else:
                    unparsed.append([self.words[i]])
                last_bad, end = i, i + 1
            i = end
        texts = tuple(" ".join(run) for run in unparsed)
        return Parsed(tuple(self.phrases), tuple(self.relations), tuple(dict.fromkeys(self.backgrounds)), texts)

    def _word(self, i: int) -> str:
        return self.words[i] if i < len(self.words) else ""

    def _step(self, i: int) -> int | None:
        """Reads one construction at word i. Returns its end; or None, with nothing changed, if there is none."""
        word = self._word(i)
        if word in _LINKS:
            begun = bool(self.phrases or self.backgrounds)
            return self._step(i + 1) if begun and self._word(i + 1) not in _LINKS else None
        if (end := self._aside(i)) is not None:
            return end
        if (found := _match(_INTRODUCTIONS, self.words, i)) is not None:
            return self._place(found[1]) or self._new_subject(found[1], joins=False)
        if word == "with" and (end := self._companion(i + 1)) is not None:
            return end
        if word in ("that", "who") and self._word(i + 1) in _BE:
            return self._predicate(i + 2, [len(self.phrases) - 1] if self.phrases else [])
        if word in _BE:
            return self._predicate(i + 1, self.subjects if word == "are" else self.subjects[-1:])
        if (found := _match(_SINGULAR_VERBS, self.words, i)) is not None:
            return self._act(*found, self.subjects[-1:])
        if (found := _match(_PLURAL_VERBS, self.words, i)) is not None:
            return self._act(*found, self.subjects)
        return self._modifier(i, self.focus) or self._new_subject(i, joins=True)

    def _predicate(self, i: int, subjects: list[int]) -> int | None:
        """What follows "is"; after a waiting relation, it may be the subject: "behind a car is a dog"."""
        if subjects:
            return self._modifier(i, subjects)
        return self._new_subject(i, joins=False) if self.waiting else None

    def _aside(self, i: int) -> int | None:
        if (found := _match(_WEATHER, self.words, i)) is not None:
            self.backgrounds.append(found[0])
            return found[1]
        found = _match(_ASIDES, self.words, i)
        # Alone it says nothing: "outside" needs something that is outside.
        return found[1] if found is not None and (self.phrases or self.backgrounds) else None

    def _modifier(self, i: int, focus: list[int]) -> int | None:
        if (end := self._aside(i) or self._place(i)) is not None:
            return end
        if focus and (found := _match(_PARTICIPLES, self.words, i)) is not None:
            return self._act(*found, focus)
        if len(focus) == 1 and (end := self._clothes(i, self.phrases[focus[0]])) is not None:
            return end
        return self._relation(i, focus)

    def _act(self, action: str, end: int, subjects: list[int]) -> int | None:
        if not subjects:
            return None
        for subject in subjects:
            if action not in self.phrases[subject].actions:
                self.phrases[subject].actions.append(action)
        self.focus, self.closed = list(subjects), True
        return end + (self._word(end) in _MANNERS)

    def _place(self, i: int) -> int | None:
        if self._word(i) in _PLACE_PREPOSITIONS:
            i += 1
        if self._word(i) in _ARTICLES:
            i += 1
        found = _match(_PLACES, self.words, i)
        if found is None:
            return None
        self.backgrounds.append(found[0])
        return found[1] + (self._word(found[1]) == "scene")

    def _relation(self, i: int, focus: list[int]) -> int | None:
        host = self.subjects[-1] if self.subjects else None
        apart = bool(focus) and host is not None and host not in focus
        if (found := _match(_RELATIONS, self.words, i)) is not None:
            name, end = found
            if apart and host is not None and self._word(end) in _PRONOUNS:
                self._relate(name, focus, host)
                return end + 1
            if (phrase := self._noun_phrase(end)) is not None:
                other = self._add(phrase[0])
                if focus:
                    self._relate(name, focus, other)
                    self.focus, self.closed = [other], True
                else:
                    phrase[0].related = True
                    self.waiting.append((name, other))
                return phrase[1]
        if apart and host is not None and (found := _match(_SELF_RELATIONS, self.words, i)) is not None:
            self._relate(found[0], focus, host)
            return found[1]
        return None

    def _relate(self, name: str, subjects: list[int], other: int) -> None:
        for subject in subjects:
            self.relations.append((name, subject, other))
            self.phrases[subject].related = True
        self.phrases[other].related = True

    def _companion(self, i: int) -> int | None:
        if not self.subjects:
            return self._new_subject(i, joins=False)
        if (phrase := self._noun_phrase(i)) is None:
            return None
        self.focus, self.closed = [self._add(phrase[0])], True
        return phrase[1]

    def _new_subject(self, i: int, joins: bool) -> int | None:
        if (phrase := self._noun_phrase(i)) is None:
            return None
        subject = self._add(phrase[0])
        self.subjects = [*self.subjects, subject] if joins and not self.closed else [subject]
        self.focus, self.closed = [subject], False
        for name, other in self.waiting:
            self._relate(name, [subject], other)
        self.waiting.clear()
        return phrase[1]

    def _add(self, phrase: Phrase) -> int:
        self.phrases.append(phrase)
        return len(self.phrases) - 1

    def _noun_phrase(self, i: int) -> tuple[Phrase, int] | None:
        number = 0
        if (found := _match(_GROUPS, self.words, i)) is not None:
            number, i = int(found[0]), found[1]
        elif self._word(i) in _NUMBERS:
            number, i = _NUMBERS[self._word(i)], i + 1
        elif self._word(i) in _ARTICLES:
            i += 1
        attributes: list[tuple[str, str]] = []
        actions: list[str] = []
        while (word := self._word(i)) in _ADJECTIVES or word in _ATTRIBUTES or word in _OPINIONS:
            if word in _ATTRIBUTES:
                actions.append(_ATTRIBUTES[word])
            elif word in _ADJECTIVES and _ADJECTIVES[word] not in attributes:
                attributes.append(_ADJECTIVES[word])
            i += 1
        if word not in _NOUNS:
            return None
        noun, plural = _NOUNS[word]
        if not plural and number == 0:
            number = 1
        phrase = Phrase(noun, _CLASSES[noun], number, attributes, list(dict.fromkeys(actions)))
        i += 1
        while (end := self._clothes(i, phrase)) is not None:
            i = end
        return phrase, i

    def _clothes(self, i: int, phrase: Phrase) -> int | None:
        """ "in a striped red shirt", "wearing red", "with dots": adds to the phrase's attributes."""
        opening = self._word(i)
        if opening in ("dressed", "clad") and self._word(i + 1) == "in":
            i += 1
        elif opening not in ("in", "wearing", "sporting", "with"):
            return None
        i += 1
        article = self._word(i) in _ARTICLES
        i += article
        said: list[tuple[str, str]] = []
        while (adjective := _ADJECTIVES.get(self._word(i), ("", "")))[0] in ("colour", "texture"):
            said.append(adjective)
            i += 1
        word = self._word(i)
        marks = _match(_MARKS, self.words, i) if opening == "with" and not article and not said else None
        if marks is not None:
            said.append(("texture", marks[0]))
            i = marks[1] - 1
        elif wearers := GARMENTS.get(word, frozenset()) & phrase.kinds:
            phrase.kinds = wearers
        elif (
            phrase.kinds <= _CLASSES["person"]
            and opening != "with"
            and [name for name, _ in said] == ["colour"]
            and not article
            and word not in _NOUNS
            and word not in GARMENTS
        ):
            i -= 1
        else:
            return None
        phrase.attributes += [item for item in dict.fromkeys(said) if item not in phrase.attributes]
        return i + 1
