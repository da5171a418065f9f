"""French: the words with their forms, and the realiser that turns a plan into a sentence.

Choices are English's (`english.Wording`), and the tables are keyed by their English words; the grammar is French: two
genders, adjectives after the noun except sizes, participles that agree, elision. A few choices exist only in French
("est" or "se trouve"): no translator can foresee them. Words are lower-case; an elided word keeps its apostrophe and is
a word of its own ("l' herbe"), and so is a comma.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from seqcap.data.scenes.captions import Mention, Plan
from seqcap.data.scenes.english import PEOPLE, TIMES, Draws, Wording, fit
from seqcap.data.scenes.graph import Action, Colour


class Noun(NamedTuple):
    singular: str
    plural: str
    feminine: bool = False

    def form(self, plural: bool) -> str:
        return self.plural if plural else self.singular


class Verb(NamedTuple):
    """Ways to tell an action; a word in braces agrees with the subject.

    Attributes:
        singular, plural: finite, third person.
        loose: after a noun, where English has a participle.
        infinitive: for "est en train de", or "" where that is not said.
    """

    singular: str
    plural: str
    loose: str
    infinitive: str = ""

    def finite(self, plural: bool) -> str:
        return self.plural if plural else self.singular


# --- words: English -> French -----------------------------------------------------------------------------------------

NOUNS: Mapping[str, Noun] = {
    "man": Noun("homme", "hommes"),
    "guy": Noun("type", "types"),
    "woman": Noun("femme", "femmes", feminine=True),
    "lady": Noun("dame", "dames", feminine=True),
    "dog": Noun("chien", "chiens"),
    "puppy": Noun("chiot", "chiots"),
    "cat": Noun("chat", "chats"),
    "kitten": Noun("chaton", "chatons"),
    "bird": Noun("oiseau", "oiseaux"),
    "ball": Noun("balle", "balles", feminine=True),
    "car": Noun("voiture", "voitures", feminine=True),
    "vehicle": Noun("véhicule", "véhicules"),
    "tree": Noun("arbre", "arbres"),
    "house": Noun("maison", "maisons", feminine=True),
    "building": Noun("bâtiment", "bâtiments"),
    "kite": Noun("cerf-volant", "cerfs-volants"),
    "boat": Noun("bateau", "bateaux"),
    "sailboat": Noun("voilier", "voiliers"),
    "umbrella": Noun("parapluie", "parapluies"),
    "parasol": Noun("parasol", "parasols"),
    "person": Noun("personne", "personnes", feminine=True),
    "animal": Noun("animal", "animaux"),
}
GARMENTS: Mapping[str, Noun] = {
    "shirt": Noun("chemise", "chemises", feminine=True),
    "shirts": Noun("chemise", "chemises", feminine=True),
    "sweater": Noun("pull", "pulls"),
    "dress": Noun("robe", "robes", feminine=True),
    "dresses": Noun("robe", "robes", feminine=True),
    "outfit": Noun("tenue", "tenues", feminine=True),
    "clothes": Noun("vêtement", "vêtements"),
}
COLOURS: Mapping[Colour, str] = {
    "red": "rouge",
    "blue": "bleu",
    "green": "vert",
    "yellow": "jaune",
    "black": "noir",
    "white": "blanc",
    "orange": "orange",
    "purple": "violet",
}
# Before the noun.
SIZES: Mapping[str, str] = {
    "small": "petit",
    "little": "petit",
    "tiny": "minuscule",
    "large": "grand",
    "big": "gros",
    "huge": "énorme",
}
# Of people: "un grand homme" would be a great man, "un gros homme" a fat one. All but single words follow the noun.
PERSON_SIZES: Mapping[str, str] = {
    "small": "petit",
    "little": "petit",
    "short": "de petite taille",
    "large": "de grande taille",
    "big": "{costaud}",
    "tall": "de grande taille",
}
TEXTURES: Mapping[str, str] = {"striped": "{rayé}", "dotted": "à pois", "spotted": "{tacheté}"}
MARKS: Mapping[str, str] = {"stripes": "à rayures", "dots": "à pois", "spots": "{tacheté}"}
NUMBERS: Mapping[str, str] = {
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "a couple of": "deux",
    "a pair of": "deux",
}
VERBS: Mapping[str, Verb] = {
    "standing": Verb("est debout", "sont debout", "debout"),
    "walking": Verb("marche", "marchent", "marchant", "marcher"),
    "strolling": Verb("flâne", "flânent", "en train de flâner", "flâner"),
    "taking a walk": Verb("se promène", "se promènent", "en train de se promener"),
    "waving": Verb("est en train de faire signe", "sont en train de faire signe", "faisant signe"),
    "waving a hand": Verb("fait un signe de la main", "font un signe de la main", "faisant un signe de la main"),
    "sitting": Verb("est {assis}", "sont {assis}", "{assis}"),
    "sitting down": Verb("est en train de s' asseoir", "sont en train de s' asseoir", "en train de s' asseoir"),
    "running": Verb("est en train de courir", "sont en train de courir", "en train de courir"),
    "running around": Verb("court dans tous les sens", "courent dans tous les sens", "courant dans tous les sens"),
    "sleeping": Verb("dort", "dorment", "{endormi}", "dormir"),
    "lying down": Verb("est {allongé}", "sont {allongé}", "{allongé}"),
    "taking a nap": Verb("fait la sieste", "font la sieste", "en train de faire la sieste"),
    "flying": Verb("vole", "volent", "en train de voler", "voler"),
    "flying in the sky": Verb("vole dans le ciel", "volent dans le ciel", "en train de voler dans le ciel"),
}
# Finite where English has no "is", and after "qui".
SIMPLE: Mapping[Action, tuple[str, str]] = {
    "standing": ("se tient debout", "se tiennent debout"),
    "walking": ("marche", "marchent"),
    "waving": ("fait signe", "font signe"),
    "sitting": ("est {assis}", "sont {assis}"),
    "running": ("court", "courent"),
    "sleeping": ("dort", "dorment"),
    "flying": ("vole", "volent"),
}
# An action as an adjective; for others French has a relative clause.
ATTRIBUTES: Mapping[Action, str] = {
    "standing": "debout",
    "sitting": "{assis}",
    "running": "en pleine course",
    "sleeping": "{endormi}",
    "flying": "en plein vol",
}
RELATIONS: Mapping[str, str] = {
    "to the left of": "à gauche de",
    "left of": "à gauche de",
    "on the left of": "sur la gauche de",
    "to the right of": "à droite de",
    "right of": "à droite de",
    "on the right of": "sur la droite de",
    "next to": "à côté de",
    "beside": "juste à côté de",
    "near": "près de",
    "close to": "tout près de",
    "above": "au-dessus de",
    "over": "au-dessus de",
    "high above": "bien au-dessus de",
    "below": "en dessous de",
    "under": "sous",
    "beneath": "sous",
    "behind": "derrière",
    "in front of": "devant",
    "on top of": "sur",
    "on": "sur",
}
# Relations to what was named before: to a thing, and to a person or an animal.
ADVERBS: Mapping[str, str] = {
    "to the left of": "à {his} gauche",
    "left of": "à {his} gauche",
    "on the left of": "sur {his} gauche",
    "on the left": "à gauche",
    "to the right of": "à {his} droite",
    "right of": "à {his} droite",
    "on the right of": "sur {his} droite",
    "on the right": "à droite",
    "next to": "à côté",
    "beside": "juste à côté",
    "near": "à proximité",
    "close to": "tout près",
    "above": "au-dessus",
    "over": "au-dessus",
    "high above": "bien au-dessus",
    "below": "en dessous",
    "under": "dessous",
    "beneath": "dessous",
    "behind": "derrière",
    "in front of": "devant",
    "on top": "dessus",
    "on top of it": "dessus",
}
ANIMATE_ADVERBS: Mapping[str, str] = {
    **ADVERBS,
    "next to": "à côté de {him}",
    "beside": "juste à côté de {him}",
    "near": "près de {him}",
    "close to": "tout près de {him}",
    "above": "au-dessus de {him}",
    "over": "au-dessus de {him}",
    "high above": "bien au-dessus de {him}",
    "below": "en dessous de {him}",
    "under": "sous {him}",
    "beneath": "sous {him}",
    "behind": "derrière {him}",
    "in front of": "devant {him}",
}
PLACES: Mapping[str, str] = {
    "in the grass": "dans l' herbe",
    "on the grass": "sur l' herbe",
    "in a field": "dans un champ",
    "on a meadow": "dans une prairie",
    "on the beach": "sur la plage",
    "at the beach": "à la plage",
    "by the sea": "au bord de la mer",
    "near the ocean": "près de l' océan",
    "on the street": "dans la rue",
    "on the road": "sur la route",
    "in the city": "en ville",
    "on a city street": "dans une rue de la ville",
    "in the snow": "dans la neige",
    "on a snowy day": "par un jour de neige",
    "in a snowy field": "dans un champ enneigé",
    "in winter": "en hiver",
    "at night": "la nuit",
    "in the dark": "dans l' obscurité",
    "under the stars": "sous les étoiles",
    "in the desert": "dans le désert",
    "in a sandy desert": "dans un désert de sable",
    "over a field": "au-dessus d' un champ",
    "over the grass": "au-dessus de l' herbe",
    "above a meadow": "au-dessus d' une prairie",
    "over the beach": "au-dessus de la plage",
    "above the sea": "au-dessus de la mer",
    "over the street": "au-dessus de la rue",
    "over the city": "au-dessus de la ville",
    "over the snow": "au-dessus de la neige",
    "over a snowy field": "au-dessus d' un champ enneigé",
    "over the desert": "au-dessus du désert",
    "above the desert": "au-dessus du désert",
}
SETTINGS: Mapping[str, str] = {
    "a field": "un champ",
    "a meadow": "une prairie",
    "a grassy field": "un champ d' herbe",
    "a beach": "une plage",
    "a beach scene": "une scène de plage",
    "a street": "une rue",
    "a city street": "une rue de ville",
    "a street scene": "une scène de rue",
    "a snowy field": "un champ enneigé",
    "a snow scene": "un paysage de neige",
    "a night scene": "une scène de nuit",
    "a desert": "un désert",
    "a desert scene": "un paysage de désert",
}
INTRODUCTIONS: Mapping[str, str] = {
    "a picture of": "une image de",
    "a photo of": "une photo de",
    "we see": "on voit",
}
# Choices that only French has, and their weights.
COPULAS: Mapping[str, float] = {"se trouver": 2, "être": 1}
CONJUNCTIONS: Mapping[str, float] = {"pendant que": 2, "tandis que": 1}
ASPECTS: Mapping[str, float] = {"present": 3, "en train de": 1}
PARTICIPLES: Mapping[str, float] = {"present participle": 2, "relative clause": 1}

# --- forms ------------------------------------------------------------------------------------------------------------

_ANIMALS = frozenset({"dog", "cat", "bird", "animal"})
_THINGS = frozenset({"car", "tree", "ball", "house", "kite", "boat", "umbrella"})
_FEMININES: Mapping[str, str] = {"blanc": "blanche", "violet": "violette", "gros": "grosse"}
_INVARIABLE = frozenset({"orange"})
_VOWELS = frozenset("aeiouyhâàéèêîïôœû")
_ELIDED = frozenset({"de", "que"})
# After these, what the person does takes "et": "une chemise rouge qui marche" would walk itself.
_DRESSED = re.compile(r" (portant|\{vêtu\}|vêtue?s?) ")


def agree(adjective: str, feminine: bool, plural: bool) -> str:
    """An adjective or participle, from its masculine singular."""
    if adjective in _INVARIABLE:
        return adjective
    if feminine:
        adjective = _FEMININES.get(adjective, adjective if adjective.endswith("e") else f"{adjective}e")
    return adjective if not plural or adjective.endswith(("s", "x")) else f"{adjective}s"


def elide(words: list[str]) -> list[str]:
    """ "de une" -> "d' une", "que un" -> "qu' un"; no word of the tables begins with an aspirated h."""
    return [
        f"{word[:-1]}'" if word in _ELIDED and following[:1] in _VOWELS else word
        for word, following in zip(words, [*words[1:], ""], strict=True)
    ]


def _agreed(text: str, feminine: bool, plural: bool) -> str:
    """The text with its words in braces agreed."""
    return re.sub(r"\{(\w+)\}", lambda match: agree(match[1], feminine, plural), text)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


# --- sentences --------------------------------------------------------------------------------------------------------


def realise(plan: Plan, rng: np.random.Generator) -> list[str]:
    """One French sentence of at most `english.MAX_WORDS` words; see `english.realise`."""
    return fit(sentence, plan, rng)


def sentence(plan: Plan, draws: Draws) -> list[str]:
    """One French sentence of any length that says all the plan holds; `draws` as in `english.sentence`."""
    return elide(_Sentence(plan, Wording(plan, draws)).build().split())


class _Sentence:
    """Builds one sentence. Noun phrases are made in the order in which they are read: "another" depends on it."""

    def __init__(self, plan: Plan, wording: Wording) -> None:
        self.plan = plan
        self.wording = wording

    def build(self) -> str:
        opening = self.wording.opening()
        if opening == "setting":
            return f"{SETTINGS[self.wording.setting()]} avec {self._statement(finite=False)}"
        where = "" if self.plan.background is None else PLACES[self.wording.place()]
        if opening == "place_there":
            return f"{where} , il y a {self._statement(finite=False)}"
        if opening == "place_sentence":
            return f"{where} , {self._statement(finite=True)}"
        if opening == "there":
            return f"il y a {self._statement(finite=False, where=where)}"
        if opening == "introduction":
            return f"{INTRODUCTIONS[self.wording.introduction()]} {self._statement(finite=False, where=where)}"
        return self._statement(finite=opening == "sentence", where=where)

    def _statement(self, finite: bool, where: str = "") -> str:
        """Mentions, actions, relation and place; `finite` as in English."""
        mentions, relation = self.plan.mentions, self.plan.relation
        if len(mentions) == 1:
            place_only = mentions[0].action is None and self.plan.background in TIMES
            return self._with_action(mentions[0], finite and not place_only, where)
        first, second = mentions[:2]
        verbal = finite
        if relation is None:
            verbal = finite and first.action is not None
            text = self._pair(first, second, finite)
        else:
            order = self.wording.order(relation, finite)
            if order == "host":
                verbal = False
                text = self._host(second, first, relation)
            elif order == "fronted":
                verbal = False
                front = _joined(RELATIONS[self.wording.relation(relation)], self._noun_phrase(second, True))
                text = f"{front} , il y a {self._with_action(first, False)}"
            else:
                text = self._with_action(first, finite, RELATIONS[self.wording.relation(relation)])
                text = f"{text} {self._noun_phrase(second, True)}"
        if len(mentions) < 3:
            return _joined(text, where)
        link = self.wording.joins_third()
        third = self._noun_phrase(mentions[2], True)
        if link == "and" and verbal:
            # "et un arbre" after a verb would be a second subject.
            return _joined(text, where, "et il y a", third)
        return _joined(text, "et" if link == "and" else "avec", third, where)

    def _host(self, host: Mention, guest: Mention, relation: str) -> str:
        """ "une maison avec un arbre à côté", "une femme avec un chien assis derrière elle"."""
        text = f"{self._noun_phrase(host, True)} avec {self._with_action(guest, False)}"
        phrase = self.wording.relation_to_host(relation)[0]
        plural, feminine = len(host.objects) > 1, self._noun(host).feminine
        him = ("elles" if plural else "elle") if feminine else ("eux" if plural else "lui")
        adverbs = ANIMATE_ADVERBS if host.noun in PEOPLE | _ANIMALS else ADVERBS
        return f"{text} {adverbs[phrase].format(him=him, his='leur' if plural else 'sa')}"

    def _pair(self, first: Mention, second: Mention, finite: bool) -> str:
        """Two mentions without a relation."""
        if first.action is None:
            link = "et" if self.wording.joins_bare() == "and" else "avec"
            return f"{self._noun_phrase(first)} {link} {self._noun_phrase(second, True)}"
        if finite and first.action == second.action:
            both = f"{self._noun_phrase(first)} et {self._noun_phrase(second)}"
            feminine = self._noun(first).feminine and self._noun(second).feminine
            return f"{both} {self._finite(first, feminine, plural=True)}"
        if finite and second.action is not None:
            plain = self.wording.joins_clauses() == "and"
            link = "et" if plain else self.wording.choose("conjunction", CONJUNCTIONS)
            return f"{self._with_action(first, True)} {link} {self._with_action(second, True)}"
        link = "avec" if self.wording.joins_loosely() == "with" else "et il y a" if finite else "et"
        return f"{self._with_action(first, finite)} {link} {self._noun_phrase(second, True)}"

    def _with_action(self, mention: Mention, finite: bool, complement: str = "") -> str:
        """ "un chien court", "un chien en train de courir", or "un chien est" / "un chien", then the complement."""
        text = self._noun_phrase(mention)
        plural, feminine = len(mention.objects) > 1, self._noun(mention).feminine
        verb = ""
        if mention.action is not None and finite:
            verb = self._finite(mention, feminine, plural)
        elif mention.action is not None:
            verb = _agreed(self._loose(mention, plural), feminine, plural)
            if _DRESSED.search(text) and verb.split()[0].endswith(("ant", "qui")):
                verb = f"et {verb}"
        elif finite and complement:
            verb = "sont" if plural else "est"
            if mention.noun in _THINGS and self.wording.choose("copula", COPULAS) == "se trouver":
                verb = "se trouvent" if plural else "se trouve"
        return _joined(text, verb, complement)

    def _loose(self, mention: Mention, plural: bool) -> str:
        verb = VERBS[self.wording.participle(mention)]
        if verb.loose.split()[0].endswith("ant"):
            about = f"participle or clause {mention.objects}"
            if self.wording.choose(about, PARTICIPLES) == "relative clause":
                return f"qui {verb.finite(plural)}"
        return verb.loose

    def _finite(self, mention: Mention, feminine: bool, plural: bool) -> str:
        assert mention.action is not None
        if self.wording.simple(mention):
            return _agreed(SIMPLE[mention.action][plural], feminine, plural)
        verb = VERBS[self.wording.participle(mention)]
        if verb.infinitive and self.wording.choose(f"aspect {mention.objects}", ASPECTS) == "en train de":
            return f"{'sont' if plural else 'est'} en train de {verb.infinitive}"
        return _agreed(verb.finite(plural), feminine, plural)

    def _noun(self, mention: Mention) -> Noun:
        return NOUNS[self.wording.noun(mention)[0]]

    def _noun_phrase(self, mention: Mention, with_action: bool = False) -> str:
        """ "une petite voiture rouge rayée", "un homme assis vêtu d' une chemise bleue".

        Args:
            mention: what to name.
            with_action: also say the action here, as an adjective or in a relative clause.
        """
        person = mention.noun in PEOPLE
        plural = len(mention.objects) > 1
        noun = self._noun(mention)
        determiner = self.wording.determiner(mention)
        words = [NUMBERS[determiner] if plural else "une" if noun.feminine else "un"]
        if determiner == "another":
            words.append("autre")
        size = "" if mention.size is None else (PERSON_SIZES if person else SIZES)[self.wording.size(mention)]
        before = bool(size) and size.isalpha()
        words += [agree(size, noun.feminine, plural) if before else "", noun.form(plural), "" if before else size]
        action = mention.action if with_action else None
        relative = action is not None and (self.wording.relative(mention) or action not in ATTRIBUTES)
        attribute = "" if action is None or relative else ATTRIBUTES[action]
        clause = f"qui {SIMPLE[action][plural]}" if action is not None and relative else ""
        if person:
            clothes = self._clothes(mention)
            words += [attribute, clothes, "et" if clause and _DRESSED.search(f" {clothes} ") else "", clause]
        else:
            words += [*self._look(mention), attribute, clause]
        return _agreed(_joined(*words), noun.feminine, plural)

    def _look(self, mention: Mention) -> list[str]:
        """Colour and texture of an animal or a thing."""
        words = [] if mention.colour is None else [f"{{{COLOURS[mention.colour]}}}"]
        if mention.texture is not None:
            marks = self.wording.marks(mention)
            words.append(TEXTURES[self.wording.texture(mention)] if marks is None else MARKS[marks])
        return words

    def _clothes(self, mention: Mention) -> str:
        """What a person wears: "en rouge", "vêtu d' une chemise rayée", "portant des robes bleues"."""
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        colour = "" if clothes.colour is None else COLOURS[clothes.colour]
        if clothes.garment is None:
            partitive = "de l'" if colour[0] in _VOWELS else "du"
            return {
                "in": f"en {colour}",
                "wearing": f"portant {partitive} {colour}",
                "dressed in": f"{{habillé}} en {colour}",
            }[clothes.manner]
        noun = GARMENTS[clothes.garment]
        plural = len(mention.objects) > 1 or clothes.garment == "clothes"
        looks = _joined(f"{{{colour}}}" if colour else "", "" if clothes.texture is None else TEXTURES[clothes.texture])
        garment = f"{noun.form(plural)} {_agreed(looks, noun.feminine, plural)}"
        one = "" if plural else "une " if noun.feminine else "un "
        # "vêtu de vêtements" would say it twice.
        if clothes.manner == "in" and clothes.garment != "clothes":
            return f"{{vêtu}} de {one}{garment}"
        return f"portant {one or 'des '}{garment}"
