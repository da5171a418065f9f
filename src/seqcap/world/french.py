"""French sentences.

The grammar has two genders, adjectives after the noun except sizes, participles that agree, and elision. A few choices
exist only in French ("est" or "se trouve"), so no translator can predict them. Words are lower-case. An elided word
keeps its apostrophe and is a word of its own ("l' herbe"), as is a comma.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from seqcap.world.captions import Mention
from seqcap.world.grammar import SubjectFirst, joined
from seqcap.world.words import ANIMALS, PEOPLE, UNCOUNTED, read


class Noun(NamedTuple):
    """A French noun with its plural and its gender.

    Attributes:
        singular: the word for one, without article.
        plural: the word for several, without article.
        feminine: whether it is feminine; else it is masculine.
    """

    singular: str
    plural: str
    feminine: bool = False

    def form(self, plural: bool) -> str:
        return self.plural if plural else self.singular


class Verb(NamedTuple):
    """The forms of an action in the third person; a word in braces agrees with the subject.

    Attributes:
        singular: the finite verb of one.
        plural: the finite verb of several.
        loose: after a noun, where English has a participle.
        infinitive: for "est en train de"; "" where that is not said.
    """

    singular: str
    plural: str
    loose: str
    infinitive: str = ""


TABLES = read("french")
NOUNS, GARMENTS = (
    {word: Noun(singular, plural, bool(rest)) for word, (singular, plural, *rest) in TABLES[name].items()}
    for name in ("nouns", "garments")
)
VERBS: Mapping[str, Verb] = {word: Verb(*forms) for word, forms in TABLES["verbs"].items()}
_THINGS = frozenset({"car", "tree", "ball", "house", "kite", "boat", "umbrella"})
_VOWELS = frozenset("aeiouyhâàéèêîïôœû")
_ELIDED = frozenset({"de", "que"})
# After these, a person's action takes "et": in "une chemise rouge qui marche" the shirt would walk.
_DRESSED = re.compile(r" (portant|\{vêtu\}|vêtue?s?) ")


def agree(adjective: str, feminine: bool, plural: bool) -> str:
    """An adjective or participle, made from its masculine singular."""
    if feminine:
        adjective = TABLES["feminines"].get(adjective, adjective if adjective.endswith("e") else f"{adjective}e")
    return adjective if not plural or adjective.endswith(("s", "x")) else f"{adjective}s"


def elide(words: list[str]) -> list[str]:
    """Elides: "de une" -> "d' une", "que un" -> "qu' un". No word of the tables begins with an aspirated h."""
    return [
        f"{word[:-1]}'" if word in _ELIDED and following[:1] in _VOWELS else word
        for word, following in zip(words, [*words[1:], ""], strict=True)
    ]


def _agreed(text: str, feminine: bool, plural: bool) -> str:
    """The text, with words in braces agreed."""
    return re.sub(r"\{(\w+)\}", lambda match: agree(match[1], feminine, plural), text)


def _simple(participle: str, plural: bool) -> str:
    """ "court", where otherwise the finite form is "est en train de courir"."""
    forms: Sequence[str] = TABLES["simple"].get(participle, VERBS[participle])
    return forms[plural]


class French(SubjectFirst):
    """French sentences about scenes."""

    tables = TABLES
    comma = ","

    def tokens(self) -> list[str]:
        return elide(super().tokens())

    def link(self, word: str) -> str:
        return self.wording.choose("conjunction", TABLES["conjunctions"]) if word == "while" else super().link(word)

    def there_is(self, mention: Mention) -> str:
        return self.say("there", "there is")

    def there(self, mention: Mention) -> str:
        return self.say("there", self.wording.there())

    def add_third(self, text: str, where: str, link: str, third: str, verbal: bool) -> str:
        if link == "and" and verbal:
            # "et un arbre" after a verb would be a second subject.
            return joined(text, where, "et il y a", third)
        return super().add_third(text, where, link, third, verbal)

    def beside(self, host: Mention, relation: str, takes_pronoun: bool) -> str:
        feminine, plural = self._noun(host).feminine, host.plural
        him = ("elles" if plural else "elle") if feminine else ("eux" if plural else "lui")
        adverbs = "animate_adverbs" if host.noun in PEOPLE | ANIMALS else "adverbs"
        return self.say(adverbs, relation).format(him=him, his="leur" if plural else "sa")

    def copula(self, mention: Mention) -> str:
        if mention.noun in _THINGS and self.wording.choose("copula", TABLES["copulas"]) == "se trouver":
            return "se trouvent" if mention.plural else "se trouve"
        return "sont" if mention.plural else "est"

    def finite_verb(self, subjects: Sequence[Mention]) -> str:
        mention = subjects[0]
        plural = len(subjects) > 1 or mention.plural
        feminine = all(self._noun(subject).feminine for subject in subjects)
        participle = self.wording.participle(mention)
        verb = VERBS[participle]
        if self.wording.simple(mention):
            return _agreed(_simple(participle, plural), feminine, plural)
        if verb.infinitive:
            aspect = self.wording.choose(f"aspect {mention.objects}", TABLES["aspects"])
            if aspect == "en train de":
                return f"{'sont' if plural else 'est'} en train de {verb.infinitive}"
        return _agreed(verb.plural if plural else verb.singular, feminine, plural)

    def loose_verb(self, mention: Mention, subject: str) -> str:
        participle = self.wording.participle(mention)
        verb = VERBS[participle].loose
        if verb.split()[0].endswith("ant"):
            choice = self.wording.choose(f"participle or clause {mention.objects}", TABLES["participles"])
            if choice == "relative clause":
                verb = f"qui {_simple(participle, mention.plural)}"
            if _DRESSED.search(subject):
                verb = f"et {verb}"
        return _agreed(verb, self._noun(mention).feminine, mention.plural)

    def _noun(self, mention: Mention) -> Noun:
        return NOUNS[self.wording.noun(mention)[0]]

    def noun_phrase(self, mention: Mention, with_action: bool = False) -> str:
        """ "une petite voiture rouge rayée", "un homme assis vêtu d' une chemise bleue"."""
        person = mention.noun in PEOPLE
        plural = mention.plural
        noun = self._noun(mention)
        determiner = self.wording.determiner(mention)
        words = [self.say("numbers", determiner) if plural else "une" if noun.feminine else "un"]
        if determiner == "another":
            words.append("autre")
        opinion = self.wording.opinion(mention)
        if opinion is not None:
            words.append(agree(self.say("opinions", opinion), noun.feminine, plural))
        size = ""
        if mention.size is not None:
            size = self.say("person_sizes" if person else "sizes", self.wording.size(mention))
        before = size.isalpha()
        words += [agree(size, noun.feminine, plural) if before else "", noun.form(plural), "" if before else size]
        attribute = clause = ""
        if mention.action is not None and with_action:
            if not self.wording.relative(mention):
                attribute = TABLES["attributes"].get(self.wording.attribute(mention), "")
            if not attribute:
                clause = f"qui {_simple(self.wording.participle(mention), plural)}"
        if person:
            clothes = self._clothes(mention)
            words += [attribute, clothes, "et" if clause and _DRESSED.search(f" {clothes} ") else "", clause]
        else:
            words += [*self._look(mention), attribute, clause]
        return _agreed(joined(*words), noun.feminine, plural)

    def _look(self, mention: Mention) -> list[str]:
        colour = self.wording.colour(mention)
        words = [] if colour is None else [self.say("colours", colour)]
        if mention.texture is not None:
            marks = self.wording.marks(mention)
            words.append(
                self.say("textures", self.wording.texture(mention)) if marks is None else self.say("marks", marks)
            )
        return words

    def _clothes(self, mention: Mention) -> str:
        """A person's clothes: "en rouge", "vêtu d' une chemise rayée", "portant des robes bleues"."""
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        colour = "" if clothes.colour is None else self.say("colours", clothes.colour)
        worn = clothes.manner in ("wearing", "sporting")
        if clothes.garment is None:
            colour = colour.strip("{}")
            if worn:
                partitive = "de l'" if colour[0] in _VOWELS else "du"
                return f"portant {partitive} {colour}"
            return {"in": f"en {colour}", "dressed in": f"{{habillé}} en {colour}", "clad in": f"{{vêtu}} de {colour}"}[
                clothes.manner
            ]
        noun = GARMENTS[clothes.garment]
        plural = mention.plural or clothes.garment in UNCOUNTED
        looks = joined(colour, "" if clothes.texture is None else self.say("textures", clothes.texture))
        garment = f"{noun.form(plural)} {_agreed(looks, noun.feminine, plural)}"
        one = "" if plural else "une " if noun.feminine else "un "
        # "vêtu de vêtements" would be redundant.
        if not worn and clothes.garment not in UNCOUNTED:
            return f"{{vêtu}} de {one}{garment}"
        return f"portant {one or 'des '}{garment}"
