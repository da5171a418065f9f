"""German sentences.

The grammar has three genders, four cases, strong and mixed adjectives. The verb is second in a main clause and last in
a subordinate one. Words are lower-case, nouns too, as in IWSLT'14; a comma is a word of its own.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from seqcap.world.captions import Mention
from seqcap.world.grammar import Grammar, joined
from seqcap.world.wording import Opening
from seqcap.world.words import ANIMALS, PEOPLE, TIMES, UNCOUNTED, read

Gender = Literal["m", "f", "n"]
Case = Literal["nominative", "accusative", "dative", "genitive"]


class Noun(NamedTuple):
    """A noun's forms.

    Attributes:
        gender: "m", "f" or "n".
        singular: its nominative singular.
        genitive: its genitive singular.
        plural: its nominative plural.
        weak: whether the accusative and dative have the form of the genitive, too ("welpe").
    """

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
    """A finite verb in the third person, and what follows it at the end of a main clause.

    Attributes:
        singular: the finite verb of one.
        plural: the finite verb of several.
        rest: words apart from the verb ("spazieren gehen").
        prefix: a separable one ("läuft herum", "herumläuft").
    """

    singular: str
    plural: str
    rest: str = ""
    prefix: str = ""

    def second(self, plural: bool) -> str:
        """The verb in second place; `bracket` ends the clause."""
        return self.plural if plural else self.singular

    @property
    def bracket(self) -> str:
        return f"{self.rest} {self.prefix}".strip()

    def last(self, plural: bool, *middle: str) -> str:
        """The predicate of a subordinate clause: `middle`, then the verb."""
        return joined(*middle, self.rest, f"{self.prefix}{self.second(plural)}")


TABLES = read("german")
NOUNS, GARMENTS = (
    {
        word: Noun(gender, singular, genitive, plural, bool(weak))
        for word, (gender, singular, genitive, plural, *weak) in TABLES[name].items()
    }
    for name in ("nouns", "garments")
)
VERBS = {word: Verb(*forms) for word, forms in TABLES["verbs"].items()}
WEAR, BE = Verb("trägt", "tragen"), Verb("ist", "sind")
# These take the verb "tragen", other manners of dress "in".
WEARING = frozenset({"wearing", "sporting"})
_CASES: tuple[Case, ...] = ("nominative", "accusative", "dative", "genitive")


def article(gender: Gender, case: Case) -> str:
    """The indefinite article."""
    return f"ein{TABLES['article_endings'][gender][_CASES.index(case)]}"


def adjective(stem: str, gender: Gender, case: Case, plural: bool, after_article: bool) -> str:
    """An adjective before a noun, after an indefinite article (mixed endings) or without one (strong endings)."""
    if stem in TABLES["invariable"]:
        return stem
    singular = TABLES["mixed_endings" if after_article else "strong_endings"]
    endings = TABLES["plural_endings"] if plural else singular[gender]
    return f"{stem}{endings[_CASES.index(case)]}"


@dataclass
class _Phrase:
    """A noun phrase with the `predicates` of its relative clause."""

    head: str
    relative: str
    predicates: list[str]

    @property
    def clause(self) -> str:
        return f", {self.relative} {' und '.join(self.predicates)} ," if self.predicates else ""

    def __str__(self) -> str:
        return joined(self.head, self.clause)


_NOTHING = _Phrase("", "", [])
_WITH: tuple[str, Case] = ("mit", "dative")


class German(Grammar):
    """German sentences about scenes."""

    tables = TABLES
    aside_first = True

    def tokens(self) -> list[str]:
        words: list[str] = []
        for word in super().tokens():
            # Clauses that end together share a comma.
            if word != "," or words[-1] != ",":
                words.append(word)
        return words[:-1] if words[-1] == "," else words

    def open(self, opening: Opening, lead: str, where: str) -> str:
        match opening:
            case "setting":
                return f"{lead} mit {self._fragment('dative', where)}"
            case "place_there":
                return f"{lead} {self.say('there', self.wording.there())} {self._fragment('accusative', where)}"
            case "introduction":
                return f"{lead} {self._fragment('dative' if lead.endswith(' von') else 'accusative', where)}"
            case "fragment":
                return self._fragment("nominative", where)
        return self._main("da" if opening == "there" else lead, where, finite=opening != "there")

    def _fragment(self, case: Case, where: str = "") -> str:
        """The whole plan without a main verb: "ein hund , der am strand rennt"."""
        mentions, relation = self.plan.mentions, self.plan.relation
        if len(mentions) == 1:
            return self._loose(mentions[0], case, where)
        first, second = mentions[:2]
        # The place goes into the relative clause with the first mention's action; without an action, to the end.
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
        return joined(text, end)

    def _third(self, mention: Mention, case: Case) -> str:
        return self._linked(self.wording.joins_third(), mention, case)

    def _linked(self, link: str, mention: Mention, case: Case) -> str:
        return f"{self.say('links', link)} {self._noun_phrase(mention, 'dative' if link == 'with' else case, True)}"

    def _main(self, front: str, where: str, finite: bool) -> str:
        """A main clause with its verb second, or a phrase without a verb where English has none. `front`: a place or
        "da" before the verb, or "" for the subject; `where`: a place in mid-clause, or ""; `finite`: whether English
        has a finite verb besides "there is"."""
        mentions, relation = self.plan.mentions, self.plan.relation
        # Times of the day and year do not locate anything, so they take no verb of position.
        silent = self.plan.background in TIMES and finite
        if len(mentions) == 1:
            bare = mentions[0].action is None
            if bare and (silent or not (front or where)):
                return joined(front, self._loose(mentions[0], "nominative", where))
            return self._clause(front, mentions[0], where)
        first, second = mentions[:2]
        order = None if relation is None else self.wording.order(relation, finite)
        nominal = order == "host" or (relation is None and first.action is None)
        verbless = nominal and (silent or not front)
        inside, end = ("", where) if verbless else (where, "")
        if relation is not None and order == "host":
            verb = "" if verbless else self._position(second).second(second.plural)
            text = joined(front, verb, self._host(second, first, relation, "nominative"), inside)
        elif relation is not None and order == "fronted":
            text = self._fronted(front, inside, first, relation, second)
        elif relation is not None:
            text = self._clause(front, first, inside, relation, second)
        elif nominal:
            link = self.wording.joins_bare()
            several = link == "and" or first.plural
            verb = "" if verbless else (BE if link == "and" else self._position(first)).second(several)
            text = joined(front, verb, self._pair(first, second, link, "nominative"), inside)
        else:
            text = self._acting(front, inside, first, second, finite)
        if len(mentions) < 3:
            return joined(text, end)
        if verbless:
            return joined(text, self._third(mentions[2], "nominative"), end)
        return f"{text} , dazu {self._noun_phrase(mentions[2], 'nominative', True)}"

    def _acting(self, front: str, where: str, first: Mention, second: Mention, finite: bool) -> str:
        """Two mentions without a relation; the first has an action."""
        if finite and first.action == second.action:
            subject = f"{self._noun_phrase(first, 'nominative')} und {self._noun_phrase(second, 'nominative')}"
            shared = self._verb(first)
            opening = (front, shared.plural, subject) if front else (subject, shared.plural)
            return joined(*opening, self.manner(first), where, shared.bracket)
        if finite and second.action is not None:
            if self.wording.joins_clauses() == "and":
                return f"{self._clause(front, first)} und {self._clause('', second, where)}"
            main = self._clause(front, first)
            subject = str(self._noun_phrase(second, "nominative"))
            predicate = self._verb(second).last(second.plural, self.manner(second), where)
            return f"{main} , während {subject} {predicate}"
        if self.wording.joins_loosely() == "with":
            return self._clause(front, first, where, "with", second)
        if finite:
            main = self._clause(front, first)
            verb = self._position(second).second(second.plural)
            return joined(main, "und da", verb, str(self._noun_phrase(second, "nominative", True)), where)
        return joined(
            front, BE.plural, self._loose(first, "nominative"), "und",
            str(self._noun_phrase(second, "nominative", True)), where,
        )  # fmt: skip

    def _clause(
        self, front: str, subject: Mention, where: str = "", relation: str = "", other: Mention | None = None
    ) -> str:
        """ "da rennt ein hund am strand neben einer katze herum , die schläft"."""
        text = str(self._noun_phrase(subject, "nominative"))
        related = self._related(relation, other)
        verb = self._verb(subject)
        second = verb.second(subject.plural)
        opening = (front, second, text) if front else (text, second)
        return joined(*opening, *self._middle(subject, where, related), verb.bracket, related.clause)

    def _fronted(self, front: str, where: str, subject: Mention, relation: str, other: Mention) -> str:
        """ "neben einem auto rennt ein hund", "am strand rennt neben einem auto ein hund"."""
        related = self._related(relation, other)
        verb = self._verb(subject)
        second = verb.second(subject.plural)
        opening = (front, second, str(related)) if front else (str(related), second, where)
        text = str(self._noun_phrase(subject, "nominative"))
        return joined(*opening, text, self.manner(subject), verb.bracket)

    def _loose(
        self, mention: Mention, case: Case, where: str = "", relation: str = "", other: Mention | None = None
    ) -> str:
        """ "ein hund , der am strand neben einem auto rennt", or "ein hund neben einem auto am strand"."""
        phrase = self._noun_phrase(mention, case)
        related = self._related(relation, other)
        if mention.action is None:
            return joined(str(phrase), str(related), where)
        verb = VERBS[self.wording.participle(mention)]
        phrase.predicates.append(verb.last(mention.plural, *self._middle(mention, where, related)))
        return joined(str(phrase), related.clause)

    def _host(self, host: Mention, guest: Mention, relation: str, case: Case) -> str:
        """ "ein haus mit einem hund , der daneben schläft", "eine frau mit einem hund neben sich"."""
        host_text = str(self._noun_phrase(host, case, True))
        phrase = self._noun_phrase(guest, "dative")
        adverb = self._adverb(self.wording.relation_to_host(relation)[0], host, inside=guest.action is not None)
        if guest.action is None:
            return f"{host_text} mit {phrase} {adverb}"
        verb = VERBS[self.wording.participle(guest)]
        phrase.predicates.append(verb.last(guest.plural, self.manner(guest), adverb))
        return f"{host_text} mit {phrase}"

    def _adverb(self, relation: str, host: Mention, inside: bool) -> str:
        """The relation to `host`. `inside`: in the guest's relative clause, where "sich" would mean the guest."""
        if host.noun not in PEOPLE | ANIMALS:
            return self.say("adverbs", relation)
        plural, feminine = host.plural, self._noun(host).gender == "f"
        him = ("ihnen" if plural else "ihr" if feminine else "ihm") if inside else "sich"
        return self.say("animate_adverbs", relation).format(him=him, his="ihrer" if plural or feminine else "seiner")

    def _pair(self, first: Mention, second: Mention, link: str, case: Case) -> str:
        return f"{self._noun_phrase(first, case)} {self._linked(link, second, case)}"

    def _related(self, relation: str, other: Mention | None) -> _Phrase:
        """A relation, or "with", and its object; an empty phrase if there is none."""
        if other is None:
            return _NOTHING
        preposition, case = _WITH if relation == "with" else TABLES["relations"][self.wording.relation(relation)]
        if case == "genitive" and other.plural:
            preposition, case = f"{preposition} von", "dative"
        phrase = self._noun_phrase(other, case, True)
        phrase.head = f"{preposition} {phrase.head}"
        return phrase

    def _middle(self, subject: Mention, where: str, related: _Phrase) -> tuple[str, str, str]:
        # "fliegt auf einem feld" would be wrong: what flies over a woman in a field is not in the field.
        places = (related.head, where) if subject.action == "flying" else (where, related.head)
        return (self.manner(subject), *places)

    def _verb(self, mention: Mention) -> Verb:
        return self._position(mention) if mention.action is None else VERBS[self.wording.participle(mention)]

    @staticmethod
    def _position(mention: Mention) -> Verb:
        participle = TABLES["positions"].get(mention.noun)
        return BE if participle is None else VERBS[participle]

    def _noun(self, mention: Mention) -> Noun:
        return NOUNS[self.wording.noun(mention)[0]]

    def _noun_phrase(self, mention: Mention, case: Case, with_action: bool = False) -> _Phrase:
        """ "einem kleinen roten hund mit flecken", ("ein mann", "der ein rotes hemd trägt")."""
        plural = mention.plural
        noun = self._noun(mention)
        determiner = self.wording.determiner(mention)
        stems = ["weiter"] if determiner == "another" else []
        opinion = self.wording.opinion(mention)
        if opinion is not None:
            stems.append(self.say("opinions", opinion))
        if mention.size is not None:
            stems.append(self.say("sizes", self.wording.size(mention)))
        predicates: list[str] = []
        told = mention.action if with_action else None
        if told is not None and self.wording.relative(mention):
            predicates.append(VERBS[self.wording.participle(mention)].last(plural))
        elif told is not None:
            stems.append(self.say("attributes", self.wording.attribute(mention)))
        if mention.noun in PEOPLE:
            after = self._dress(mention, stems, predicates)
        else:
            tables = ("animal_textures", "animal_marks") if mention.noun in ANIMALS else ("textures", "marks")
            looks, after = self.look(mention, *tables)
            stems += looks
        head = joined(
            self.say("numbers", determiner) if plural else article(noun.gender, case),
            *(adjective(stem, noun.gender, case, plural, after_article=not plural) for stem in stems),
            noun.form(case, plural),
            after,
        )
        return _Phrase(head, "die" if plural else {"m": "der", "f": "die", "n": "das"}[noun.gender], predicates)

    def _dress(self, mention: Mention, stems: list[str], predicates: list[str]) -> str:
        """Adds clothes: "in einem roten hemd" (returned), "der rot trägt", "ein in rot gekleideter mann"."""
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        several = mention.plural
        wear = WEAR.second(several)
        if clothes.garment is None:
            colour = self.say("colour_nouns", str(clothes.colour))
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
        looks = [] if clothes.texture is None else [self.say("textures", clothes.texture)]
        if clothes.colour is not None:
            looks.append(self.say("colours", clothes.colour))
        text = joined(
            "" if plural or bare else article(noun.gender, case),
            *(adjective(stem, noun.gender, case, plural, after_article=not (plural or bare)) for stem in looks),
            noun.form(case, plural),
        )
        if not worn:
            return f"in {text}"
        predicates.insert(0, f"{text} {wear}")
        return ""
