"""What the grammars share: openings of sentences, and the clauses of English and French."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from seqcap.world.captions import Mention, Plan
from seqcap.world.wording import Draws, Opening, Wording
from seqcap.world.words import TIMES


def joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


class Grammar(ABC):
    """Builds one sentence. Noun phrases are made in reading order, because "another" depends on it.

    Args:
        plan: what the sentence says.
        wording: the choices of words and orders for this plan.
    """

    tables: ClassVar[Mapping[str, Any]]  # English words -> those of the language, by kind
    aside_first: ClassVar[bool] = False  # whether "outside on the beach" is said rather than "on the beach outside"

    def __init__(self, plan: Plan, wording: Wording) -> None:
        self.plan = plan
        self.wording = wording

    @classmethod
    def sentence(cls, plan: Plan, draws: Draws) -> list[str]:
        """The words of a sentence, of any length, that says the whole plan in the words that `draws` chooses."""
        return cls(plan, Wording(plan, draws)).tokens()

    def tokens(self) -> list[str]:
        wording = self.wording
        opening = wording.opening()
        aside = wording.aside(opening in ("introduction", "setting"))
        where = "" if aside is None else self.say("asides", aside)
        if opening == "setting":
            return self.open(opening, self.say("settings", wording.setting()), where).split()
        place = "" if self.plan.background is None else self.say("places", wording.place())
        if opening in ("place_there", "place_sentence"):
            return self.open(opening, place, where).split()
        lead = self.say("introductions", wording.introduction()) if opening == "introduction" else ""
        places = (where, place) if self.aside_first else (place, where)
        return self.open(opening, lead, joined(*places)).split()

    @abstractmethod
    def open(self, opening: Opening, lead: str, where: str) -> str:
        """The sentence. `lead`: the setting, place or introduction at its beginning, if any; `where`: the place
        elsewhere, if any."""

    def say(self, table: str, word: str) -> str:
        """Translates an English word or phrase."""
        return str(self.tables[table][word])

    def manner(self, mention: Mention) -> str:
        manner = None if mention.action is None else self.wording.manner(mention)
        return "" if manner is None else self.say("manners", manner)

    def look(self, mention: Mention, textures: str = "textures", marks: str = "marks") -> tuple[list[str], str]:
        """Colour and texture of an animal or a thing: adjectives, and what follows the noun ("with stripes")."""
        colour = self.wording.colour(mention)
        adjectives = [] if colour is None else [self.say("colours", colour)]
        if mention.texture is None:
            return adjectives, ""
        mark = self.wording.marks(mention)
        if mark is not None:
            return adjectives, joined(self.say("links", "with"), self.say(marks, mark))
        place = 0 if self.wording.texture_first(mention) else 1
        adjectives.insert(place, self.say(textures, self.wording.texture(mention)))
        return adjectives, ""


class SubjectFirst(Grammar):
    """English and French: the subject precedes its verb, whatever begins the sentence."""

    comma: ClassVar[str]  # what follows a place or a relation at the beginning

    def open(self, opening: Opening, lead: str, where: str) -> str:
        if opening == "setting":
            lead = joined(lead, self.link("with"))
        elif opening == "place_there":
            lead = joined(lead, self.comma, self.there(self.plan.mentions[0]))
        elif opening == "place_sentence":
            lead = joined(lead, self.comma)
        elif opening == "there":
            lead = self.there_is(self.plan.mentions[0])
        return joined(lead, self._statement(opening in ("sentence", "place_sentence"), where))

    def _statement(self, finite: bool, where: str) -> str:
        """Mentions, actions, relation and place. `finite`: "a dog is running" rather than "a dog running"."""
        mentions, relation = self.plan.mentions, self.plan.relation
        if len(mentions) == 1:
            place_only = mentions[0].action is None and self.plan.background in TIMES
            return self.with_action(mentions[0], finite and not place_only, where)
        if relation is None:
            verbal = finite and mentions[0].action is not None
            text = self._pair(mentions[0], mentions[1], finite)
        else:
            order = self.wording.order(relation, finite)
            verbal = finite and order == "plain"
            text = self._related(order, mentions[0], relation, mentions[1], finite)
        if len(mentions) < 3:
            return joined(text, where)
        link = self.wording.joins_third()
        return self.add_third(text, where, link, self.noun_phrase(mentions[2], True), verbal)

    def _related(self, order: str, subject: Mention, relation: str, other: Mention, finite: bool) -> str:
        if order == "host":
            # "a house with a tree next to it"
            host = joined(self.noun_phrase(other, True), self.link("with"), self.with_action(subject, False))
            return joined(host, self.beside(other, *self.wording.relation_to_host(relation)))
        if order == "fronted":
            # "next to a car there is a dog"
            front = joined(self.say("relations", self.wording.relation(relation)), self.noun_phrase(other, True))
            return joined(front, self.comma, self.there(subject), self.with_action(subject, False))
        return joined(self.toward(subject, relation, finite), self.noun_phrase(other, True))

    def _pair(self, first: Mention, second: Mention, finite: bool) -> str:
        if first.action is None:
            link = self.link(self.wording.joins_bare())
            return joined(self.noun_phrase(first), link, self.noun_phrase(second, True))
        if finite and first.action == second.action:
            both = joined(self.noun_phrase(first), self.link("and"), self.noun_phrase(second))
            return joined(both, self.finite_verb((first, second)), self.manner(first))
        if finite and second.action is not None:
            link = self.link(self.wording.joins_clauses())
            return joined(self.with_action(first, True), link, self.with_action(second, True))
        choice = self.wording.joins_loosely()
        link = joined(self.link(choice), self.there_is(second) if choice == "and" and finite else "")
        return joined(self.with_action(first, finite), link, self.noun_phrase(second, True))

    def with_action(self, mention: Mention, finite: bool, complement: str = "") -> str:
        """ "a dog is running", "a dog running", or "a dog is" / "a dog", then the complement if there is one."""
        text = self.noun_phrase(mention)
        verb = ""
        if mention.action is not None:
            verb = self.finite_verb((mention,)) if finite else self.loose_verb(mention, text)
            verb = joined(verb, self.manner(mention))
        elif finite and complement:
            verb = self.copula(mention)
        return joined(text, verb, complement)

    def toward(self, subject: Mention, relation: str, finite: bool) -> str:
        """The subject, its verb and the relation to what follows."""
        return self.with_action(subject, finite, self.say("relations", self.wording.relation(relation)))

    def add_third(self, text: str, where: str, link: str, third: str, verbal: bool) -> str:
        """The whole statement. `verbal`: its main verb has been said already."""
        return joined(text, self.link(link), third, where)

    def link(self, word: str) -> str:
        """ "and", "with" or "while"."""
        return self.say("links", word)

    @abstractmethod
    def there_is(self, mention: Mention) -> str: ...

    @abstractmethod
    def there(self, mention: Mention) -> str:
        """What follows a place or a relation at the beginning: "there is", "we see"."""

    @abstractmethod
    def noun_phrase(self, mention: Mention, with_action: bool = False) -> str:
        """ "a small red ball", "a tall man in a striped shirt", "two dogs". `with_action`: with the action beside the
        noun, or in a relative clause: "a sleeping cat"."""

    @abstractmethod
    def finite_verb(self, subjects: Sequence[Mention]) -> str:
        """What a mention does, or two mentions together."""

    @abstractmethod
    def loose_verb(self, mention: Mention, subject: str) -> str:
        """A mention's action after its noun phrase `subject`, without a finite verb."""

    @abstractmethod
    def copula(self, mention: Mention) -> str:
        """ "is" before a place or a relation."""

    @abstractmethod
    def beside(self, host: Mention, relation: str, takes_pronoun: bool) -> str:
        """A relation to a mention that precedes it ("next to it")."""
