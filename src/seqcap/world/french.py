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

from seqcap.world.captions import Mention, Plan
from seqcap.world.english import ANIMALS, PEOPLE, TIMES, UNCOUNTED, Draws, Wording, fit


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
    "gentleman": Noun("monsieur", "messieurs"),
    "fellow": Noun("bonhomme", "bonshommes"),
    "dude": Noun("mec", "mecs"),
    "bloke": Noun("gaillard", "gaillards"),
    "male": Noun("homme", "hommes"),
    "woman": Noun("femme", "femmes", feminine=True),
    "lady": Noun("dame", "dames", feminine=True),
    "female": Noun("femme", "femmes", feminine=True),
    "gal": Noun("demoiselle", "demoiselles", feminine=True),
    "dame": Noun("dame", "dames", feminine=True),
    "dog": Noun("chien", "chiens"),
    "puppy": Noun("chiot", "chiots"),
    "pup": Noun("chiot", "chiots"),
    "hound": Noun("limier", "limiers"),
    "canine": Noun("chien", "chiens"),
    "doggy": Noun("toutou", "toutous"),
    "pooch": Noun("toutou", "toutous"),
    "cat": Noun("chat", "chats"),
    "kitten": Noun("chaton", "chatons"),
    "kitty": Noun("minou", "minous"),
    "feline": Noun("félin", "félins"),
    "pussycat": Noun("minet", "minets"),
    "bird": Noun("oiseau", "oiseaux"),
    "birdie": Noun("oisillon", "oisillons"),
    "songbird": Noun("passereau", "passereaux"),
    "fowl": Noun("volatile", "volatiles"),
    "ball": Noun("balle", "balles", feminine=True),
    "sphere": Noun("sphère", "sphères", feminine=True),
    "orb": Noun("boule", "boules", feminine=True),
    "car": Noun("voiture", "voitures", feminine=True),
    "vehicle": Noun("véhicule", "véhicules"),
    "automobile": Noun("automobile", "automobiles", feminine=True),
    "sedan": Noun("berline", "berlines", feminine=True),
    "motorcar": Noun("auto", "autos", feminine=True),
    "tree": Noun("arbre", "arbres"),
    "plant": Noun("plante", "plantes", feminine=True),
    "sapling": Noun("arbuste", "arbustes"),
    "house": Noun("maison", "maisons", feminine=True),
    "building": Noun("bâtiment", "bâtiments"),
    "home": Noun("demeure", "demeures", feminine=True),
    "cottage": Noun("maisonnette", "maisonnettes", feminine=True),
    "hut": Noun("cabane", "cabanes", feminine=True),
    "cabin": Noun("cabane", "cabanes", feminine=True),
    "kite": Noun("cerf-volant", "cerfs-volants"),
    "boat": Noun("bateau", "bateaux"),
    "sailboat": Noun("voilier", "voiliers"),
    "ship": Noun("navire", "navires"),
    "vessel": Noun("navire", "navires"),
    "yacht": Noun("yacht", "yachts"),
    "umbrella": Noun("parapluie", "parapluies"),
    "parasol": Noun("parasol", "parasols"),
    "sunshade": Noun("ombrelle", "ombrelles", feminine=True),
    "brolly": Noun("parapluie", "parapluies"),
    "person": Noun("personne", "personnes", feminine=True),
    "individual": Noun("individu", "individus"),
    "human": Noun("humain", "humains"),
    "figure": Noun("silhouette", "silhouettes", feminine=True),
    "animal": Noun("animal", "animaux"),
    "creature": Noun("créature", "créatures", feminine=True),
    "pet": Noun("animal", "animaux"),
    "critter": Noun("bestiole", "bestioles", feminine=True),
    "beast": Noun("bête", "bêtes", feminine=True),
}
GARMENTS: Mapping[str, Noun] = {
    **dict.fromkeys(("shirt", "shirts"), Noun("chemise", "chemises", feminine=True)),
    **dict.fromkeys(("sweater", "sweaters"), Noun("pull", "pulls")),
    **dict.fromkeys(("jacket", "jackets"), Noun("veste", "vestes", feminine=True)),
    "top": Noun("débardeur", "débardeurs"),
    "jumper": Noun("chandail", "chandails"),
    **dict.fromkeys(("dress", "dresses", "frock"), Noun("robe", "robes", feminine=True)),
    **dict.fromkeys(("gown", "gowns"), Noun("tunique", "tuniques", feminine=True)),
    **dict.fromkeys(("outfit", "outfits"), Noun("tenue", "tenues", feminine=True)),
    **dict.fromkeys(("clothes", "clothing"), Noun("vêtement", "vêtements")),
    "attire": Noun("habit", "habits"),
}
# A word in braces agrees with its noun.
COLOURS: Mapping[str, str] = {
    "red": "{rouge}",
    "crimson": "{cramoisi}",
    "scarlet": "{écarlate}",
    "ruby": "rubis",
    "blue": "{bleu}",
    "navy": "bleu marine",
    "azure": "azur",
    "cobalt": "cobalt",
    "sapphire": "saphir",
    "green": "{vert}",
    "emerald": "émeraude",
    "lime": "vert pomme",
    "jade": "jade",
    "yellow": "{jaune}",
    "gold": "{doré}",
    "lemon": "citron",
    "black": "{noir}",
    "ebony": "ébène",
    "onyx": "onyx",
    "white": "{blanc}",
    "ivory": "ivoire",
    "pearl": "{nacré}",
    "orange": "orange",
    "tangerine": "mandarine",
    "amber": "ambre",
    "purple": "{violet}",
    "violet": "{violet}",
    "lilac": "lilas",
    "mauve": "{mauve}",
}
# Before the noun.
SIZES: Mapping[str, str] = {
    "small": "petit",
    "little": "petit",
    "tiny": "minuscule",
    "miniature": "minuscule",
    "mini": "petit",
    "teeny": "minuscule",
    "large": "grand",
    "big": "gros",
    "huge": "énorme",
    "giant": "immense",
    "enormous": "énorme",
    "massive": "immense",
    "gigantic": "gigantesque",
}
# Of people: "un grand homme" would be a great man, "un gros homme" a fat one. All but single words follow the noun.
PERSON_SIZES: Mapping[str, str] = {
    "small": "petit",
    "little": "petit",
    "short": "de petite taille",
    "tiny": "minuscule",
    "petite": "{menu}",
    "large": "de grande taille",
    "big": "{costaud}",
    "tall": "de grande taille",
    "huge": "{imposant}",
    "giant": "gigantesque",
    "towering": "de très grande taille",
}
TEXTURES: Mapping[str, str] = {
    "striped": "{rayé}",
    "stripy": "à rayures",
    "streaked": "{strié}",
    "banded": "à bandes",
    "dotted": "à pois",
    "spotted": "{tacheté}",
    "speckled": "{moucheté}",
    "spotty": "à taches",
}
MARKS: Mapping[str, str] = {
    "stripes": "à rayures",
    "bands": "à bandes",
    "streaks": "à rayures",
    "dots": "à pois",
    "polka dots": "à pois",
    "spots": "{tacheté}",
    "speckles": "{moucheté}",
}
# Before the noun and its size.
OPINIONS: Mapping[str, str] = {
    "young": "jeune",
    "friendly": "gentil",
    "happy": "joyeux",
    "cheerful": "joyeux",
    "cute": "mignon",
    "adorable": "adorable",
    "sweet": "gentil",
    "lovely": "charmant",
    "nice": "joli",
    "beautiful": "magnifique",
    "pretty": "joli",
    "simple": "simple",
}
NUMBERS: Mapping[str, str] = {
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "a couple of": "deux",
    "a pair of": "deux",
    "a trio of": "trois",
    "a group of three": "trois",
    "a group of four": "quatre",
}
VERBS: Mapping[str, Verb] = {
    "standing": Verb("est debout", "sont debout", "debout"),
    "standing up": Verb("se tient debout", "se tiennent debout", "debout"),
    "standing still": Verb("se tient {immobile}", "se tiennent {immobile}", "{immobile}"),
    "standing upright": Verb("se tient {droit}", "se tiennent {droit}", "se tenant {droit}"),
    "posing": Verb("pose", "posent", "en train de poser", "poser"),
    "waiting": Verb("attend", "attendent", "en train de attendre", "attendre"),
    "walking": Verb("marche", "marchent", "marchant", "marcher"),
    "strolling": Verb("flâne", "flânent", "en train de flâner", "flâner"),
    "taking a walk": Verb("se promène", "se promènent", "en train de se promener"),
    "wandering": Verb("erre", "errent", "en train de errer", "errer"),
    "going for a walk": Verb("se balade", "se baladent", "en train de se balader"),
    "marching": Verb("défile", "défilent", "en train de défiler", "défiler"),
    "taking a stroll": Verb("fait une promenade", "font une promenade", "faisant une promenade"),
    "ambling": Verb("flâne", "flânent", "en train de flâner", "flâner"),
    "waving": Verb("est en train de faire signe", "sont en train de faire signe", "faisant signe"),
    "waving a hand": Verb("fait un signe de la main", "font un signe de la main", "faisant un signe de la main"),
    "waving hello": Verb("fait coucou", "font coucou", "faisant coucou"),
    "gesturing": Verb("fait des gestes", "font des gestes", "faisant des gestes"),
    "saying hello": Verb("salue", "saluent", "saluant", "saluer"),
    "raising a hand": Verb("lève la main", "lèvent la main", "levant la main"),
    "sitting": Verb("est {assis}", "sont {assis}", "{assis}"),
    "sitting down": Verb("est en train de s' asseoir", "sont en train de s' asseoir", "en train de s' asseoir"),
    "seated": Verb("est {assis}", "sont {assis}", "{assis}"),
    "sitting still": Verb("reste {assis}", "restent {assis}", "{assis} sans bouger"),
    "sitting upright": Verb("se tient {assis}", "se tiennent {assis}", "{assis}"),
    "perched": Verb("est {perché}", "sont {perché}", "{perché}"),
    "perching": Verb("est {perché}", "sont {perché}", "{perché}"),
    "running": Verb("est en train de courir", "sont en train de courir", "en train de courir"),
    "running around": Verb("court dans tous les sens", "courent dans tous les sens", "courant dans tous les sens"),
    "sprinting": Verb("sprinte", "sprintent", "en train de sprinter", "sprinter"),
    "racing": Verb("file", "filent", "filant", "filer"),
    "dashing": Verb("fonce", "foncent", "fonçant", "foncer"),
    "jogging": Verb("fait un jogging", "font un jogging", "en train de faire un jogging"),
    "rushing": Verb("se précipite", "se précipitent", "en train de se précipiter"),
    "trotting": Verb("trotte", "trottent", "trottant", "trotter"),
    "galloping": Verb("galope", "galopent", "galopant", "galoper"),
    "sleeping": Verb("dort", "dorment", "{endormi}", "dormir"),
    "lying down": Verb("est {allongé}", "sont {allongé}", "{allongé}"),
    "napping": Verb("somnole", "somnolent", "en train de somnoler", "somnoler"),
    "taking a nap": Verb("fait la sieste", "font la sieste", "en train de faire la sieste"),
    "dozing": Verb("sommeille", "sommeillent", "en train de sommeiller", "sommeiller"),
    "asleep": Verb("est {endormi}", "sont {endormi}", "{endormi}"),
    "snoozing": Verb("fait un somme", "font un somme", "en train de faire un somme"),
    "slumbering": Verb("sommeille", "sommeillent", "en train de sommeiller", "sommeiller"),
    "flying": Verb("vole", "volent", "en train de voler", "voler"),
    "soaring": Verb("plane", "planent", "en train de planer", "planer"),
    "flying in the sky": Verb("vole dans le ciel", "volent dans le ciel", "en train de voler dans le ciel"),
    "gliding": Verb("plane", "planent", "en train de planer", "planer"),
    "floating": Verb("flotte dans les airs", "flottent dans les airs", "flottant dans les airs"),
    "hovering": Verb("flotte dans les airs", "flottent dans les airs", "flottant dans les airs"),
    "flying overhead": Verb("passe dans le ciel", "passent dans le ciel", "passant dans le ciel"),
}
# Finite where English has no "is", and after "qui", where that differs.
SIMPLE: Mapping[str, tuple[str, str]] = {
    "standing": ("se tient debout", "se tiennent debout"),
    "waving": ("fait signe", "font signe"),
    "running": ("court", "courent"),
    "asleep": ("dort", "dorment"),
}
# An action as an adjective; for others French has a relative clause.
ATTRIBUTES: Mapping[str, str] = {
    "standing": "debout",
    "sitting": "{assis}",
    "seated": "{assis}",
    "perched": "{perché}",
    "perching": "{perché}",
    "running": "en pleine course",
    "sprinting": "en plein sprint",
    "trotting": "au trot",
    "galloping": "au galop",
    "sleeping": "{endormi}",
    "flying": "en plein vol",
}
MANNERS: Mapping[str, str] = {
    "quietly": "tranquillement",
    "calmly": "calmement",
    "patiently": "patiemment",
    "slowly": "lentement",
    "happily": "joyeusement",
    "cheerfully": "gaiement",
    "comfortably": "confortablement",
    "fast": "vite",
    "quickly": "rapidement",
    "peacefully": "paisiblement",
    "soundly": "profondément",
    "freely": "librement",
    "gracefully": "gracieusement",
    "swiftly": "rapidement",
}
RELATIONS: Mapping[str, str] = {
    "to the left of": "à gauche de",
    "left of": "à gauche de",
    "on the left of": "sur la gauche de",
    "on the left side of": "du côté gauche de",
    "to the right of": "à droite de",
    "right of": "à droite de",
    "on the right of": "sur la droite de",
    "on the right side of": "du côté droit de",
    "next to": "à côté de",
    "beside": "auprès de",
    "near": "près de",
    "by": "auprès de",
    "close to": "tout près de",
    "alongside": "aux côtés de",
    "right next to": "juste à côté de",
    "above": "au-dessus de",
    "over": "au-dessus de",
    "high above": "bien au-dessus de",
    "up above": "au-dessus de",
    "below": "en dessous de",
    "under": "sous",
    "beneath": "sous",
    "underneath": "en dessous de",
    "behind": "derrière",
    "right behind": "juste derrière",
    "in back of": "à l' arrière de",
    "in front of": "devant",
    "right in front of": "juste devant",
    "ahead of": "devant",
    "on top of": "sur",
    "on": "sur",
    "atop": "au sommet de",
    "upon": "sur",
}
# Relations to what was named before: to a thing, and to a person or an animal.
ADVERBS: Mapping[str, str] = {
    "to the left of": "à {his} gauche",
    "left of": "à {his} gauche",
    "on the left of": "sur {his} gauche",
    "on the left side of": "à {his} gauche",
    "to the left": "à gauche",
    "on the left": "sur la gauche",
    "to the right of": "à {his} droite",
    "right of": "à {his} droite",
    "on the right of": "sur {his} droite",
    "on the right side of": "à {his} droite",
    "to the right": "à droite",
    "on the right": "sur la droite",
    "next to": "à côté",
    "beside": "à côté",
    "near": "à proximité",
    "by": "à côté",
    "close to": "tout près",
    "alongside": "à côté",
    "right next to": "juste à côté",
    "nearby": "à proximité",
    "above": "au-dessus",
    "over": "au-dessus",
    "high above": "bien au-dessus",
    "up above": "au-dessus",
    "below": "en dessous",
    "under": "dessous",
    "beneath": "dessous",
    "underneath": "en dessous",
    "behind": "derrière",
    "right behind": "juste derrière",
    "in back of": "derrière",
    "in the background": "à l' arrière-plan",
    "in front of": "devant",
    "right in front of": "juste devant",
    "ahead of": "devant",
    "in the foreground": "au premier plan",
    "on top": "dessus",
    "on top of it": "dessus",
}
ANIMATE_ADVERBS: Mapping[str, str] = {
    **ADVERBS,
    "next to": "à côté de {him}",
    "beside": "auprès de {him}",
    "near": "près de {him}",
    "by": "auprès de {him}",
    "close to": "tout près de {him}",
    "alongside": "à côté de {him}",
    "right next to": "juste à côté de {him}",
    "above": "au-dessus de {him}",
    "over": "au-dessus de {him}",
    "high above": "bien au-dessus de {him}",
    "up above": "au-dessus de {him}",
    "below": "en dessous de {him}",
    "under": "sous {him}",
    "beneath": "sous {him}",
    "underneath": "en dessous de {him}",
    "behind": "derrière {him}",
    "right behind": "juste derrière {him}",
    "in back of": "derrière {him}",
    "in front of": "devant {him}",
    "right in front of": "juste devant {him}",
    "ahead of": "devant {him}",
}
PLACES: Mapping[str, str] = {
    "in a field": "dans un champ",
    "in the grass": "dans l' herbe",
    "on the grass": "sur l' herbe",
    "in a meadow": "dans une prairie",
    "in a grassy field": "dans un champ d' herbe",
    "in a park": "dans un parc",
    "on a lawn": "sur une pelouse",
    "in a pasture": "dans un pâturage",
    "in the countryside": "à la campagne",
    "on the beach": "sur la plage",
    "at the beach": "à la plage",
    "by the sea": "au bord de la mer",
    "by the ocean": "au bord de l' océan",
    "on a sandy beach": "sur une plage de sable",
    "on the shore": "sur le rivage",
    "by the water": "au bord de l' eau",
    "at the seaside": "à la mer",
    "along the coast": "le long de la côte",
    "on the street": "dans la rue",
    "in the city": "en ville",
    "on the road": "sur la route",
    "in the street": "dans la rue",
    "on a city street": "dans une rue de la ville",
    "in town": "en ville",
    "downtown": "au centre-ville",
    "on the pavement": "sur le pavé",
    "on an avenue": "sur une avenue",
    "in the snow": "dans la neige",
    "on a snowy day": "par un jour de neige",
    "in a snowy field": "dans un champ enneigé",
    "in winter": "en hiver",
    "on the snow": "sur la neige",
    "on a winter day": "par un jour d' hiver",
    "on snowy ground": "sur un sol enneigé",
    "in a snowy landscape": "dans un paysage enneigé",
    "at night": "la nuit",
    "in the dark": "dans le noir",
    "under the stars": "sous les étoiles",
    "after dark": "à la nuit tombée",
    "in the evening": "le soir",
    "at nighttime": "la nuit",
    "during the night": "pendant la nuit",
    "in the darkness": "dans l' obscurité",
    "in the desert": "dans le désert",
    "in a desert": "dans un désert",
    "in a sandy desert": "dans un désert de sable",
    "in a dry desert": "dans un désert aride",
    "in the dunes": "dans les dunes",
    "on a sand dune": "sur une dune de sable",
    "in the wilderness": "dans une région sauvage",
    "over a field": "au-dessus d' un champ",
    "over the grass": "au-dessus de l' herbe",
    "above a meadow": "au-dessus d' une prairie",
    "above a park": "au-dessus d' un parc",
    "over the beach": "au-dessus de la plage",
    "above the sea": "au-dessus de la mer",
    "over the ocean": "au-dessus de l' océan",
    "above the water": "au-dessus de l' eau",
    "over the city": "au-dessus de la ville",
    "over the street": "au-dessus de la rue",
    "above the road": "au-dessus de la route",
    "above the town": "au-dessus de la ville",
    "over the snow": "au-dessus de la neige",
    "over a snowy field": "au-dessus d' un champ enneigé",
    "above a snowy landscape": "au-dessus d' un paysage enneigé",
    "over the desert": "au-dessus du désert",
    "above the desert": "au-dessus du désert",
    "above the dunes": "au-dessus des dunes",
}
ASIDES: Mapping[str, str] = {
    "outside": "dehors",
    "outdoors": "à l' extérieur",
    "in the open air": "en plein air",
    "in the picture": "sur la photo",
    "in the image": "sur l' image",
    "in this photo": "sur cette photo",
    "in the scene": "dans la scène",
    "on a sunny day": "par une journée ensoleillée",
    "under a blue sky": "sous un ciel bleu",
    "during the day": "pendant la journée",
    "in the sunshine": "au soleil",
    "on a cloudy day": "par un jour nuageux",
    "in the cold": "dans le froid",
    "in cold weather": "par temps froid",
    "under the moon": "sous la lune",
    "in the moonlight": "au clair de lune",
    "in the heat": "en pleine chaleur",
}
SETTINGS: Mapping[str, str] = {
    "a field": "un champ",
    "a grassy field": "un champ d' herbe",
    "a meadow": "une prairie",
    "a park": "un parc",
    "a pasture": "un pâturage",
    "a beach": "une plage",
    "a beach scene": "une scène de plage",
    "a sandy beach": "une plage de sable",
    "a shore": "un rivage",
    "a street": "une rue",
    "a city street": "une rue de ville",
    "a street scene": "une scène de rue",
    "a road": "une route",
    "a snowy field": "un champ enneigé",
    "a snow scene": "un paysage de neige",
    "a snowy landscape": "un paysage enneigé",
    "a winter scene": "une scène d' hiver",
    "a night scene": "une scène de nuit",
    "a desert": "un désert",
    "a desert scene": "un paysage de désert",
    "a sandy desert": "un désert de sable",
}
INTRODUCTIONS: Mapping[str, str] = {
    "a picture of": "une image de",
    "a photo of": "une photo de",
    "we see": "on voit",
    "an image of": "une illustration de",
    "here we see": "ici , on voit",
    "a photograph of": "une photographie de",
    "a view of": "une vue de",
    "a drawing of": "un dessin de",
    "the picture shows": "l' image montre",
}
THERE: Mapping[str, str] = {
    "there is": "il y a",
    "we see": "on voit",
    "you can see": "on peut voir",
}
# Choices that only French has, and their weights.
COPULAS: Mapping[str, float] = {"se trouver": 2, "être": 1}
CONJUNCTIONS: Mapping[str, float] = {"pendant que": 2, "tandis que": 1}
ASPECTS: Mapping[str, float] = {"present": 3, "en train de": 1}
PARTICIPLES: Mapping[str, float] = {"present participle": 2, "relative clause": 1}

# --- forms ------------------------------------------------------------------------------------------------------------

_THINGS = frozenset({"car", "tree", "ball", "house", "kite", "boat", "umbrella"})
_FEMININES: Mapping[str, str] = {
    "blanc": "blanche",
    "violet": "violette",
    "gros": "grosse",
    "gentil": "gentille",
    "joyeux": "joyeuse",
    "mignon": "mignonne",
}
_VOWELS = frozenset("aeiouyhâàéèêîïôœû")
_ELIDED = frozenset({"de", "que"})
# After these, what the person does takes "et": "une chemise rouge qui marche" would walk itself.
_DRESSED = re.compile(r" (portant|\{vêtu\}|vêtue?s?) ")


def agree(adjective: str, feminine: bool, plural: bool) -> str:
    """An adjective or participle, from its masculine singular."""
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


def _simple(participle: str, plural: bool) -> str:
    """ "court" where the finite form elsewhere is "est en train de courir"."""
    verb = VERBS[participle]
    return SIMPLE.get(participle, (verb.singular, verb.plural))[plural]


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
        aside = self.wording.aside(opening in ("introduction", "setting"))
        around = "" if aside is None else ASIDES[aside]
        if opening == "setting":
            return f"{SETTINGS[self.wording.setting()]} avec {self._statement(finite=False, where=around)}"
        where = "" if self.plan.background is None else PLACES[self.wording.place()]
        if opening == "place_there":
            return f"{where} , {THERE[self.wording.there()]} {self._statement(finite=False, where=around)}"
        if opening == "place_sentence":
            return f"{where} , {self._statement(finite=True, where=around)}"
        where = _joined(where, around)
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
                text = f"{front} , {THERE[self.wording.there()]} {self._with_action(first, False)}"
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
        adverbs = ANIMATE_ADVERBS if host.noun in PEOPLE | ANIMALS else ADVERBS
        return f"{text} {adverbs[phrase].format(him=him, his='leur' if plural else 'sa')}"

    def _pair(self, first: Mention, second: Mention, finite: bool) -> str:
        """Two mentions without a relation."""
        if first.action is None:
            link = "et" if self.wording.joins_bare() == "and" else "avec"
            return f"{self._noun_phrase(first)} {link} {self._noun_phrase(second, True)}"
        if finite and first.action == second.action:
            both = f"{self._noun_phrase(first)} et {self._noun_phrase(second)}"
            feminine = self._noun(first).feminine and self._noun(second).feminine
            return _joined(both, self._finite(first, feminine, plural=True), self._manner(first))
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
        if mention.action is not None:
            verb = _joined(verb, self._manner(mention))
        elif finite and complement:
            verb = "sont" if plural else "est"
            if mention.noun in _THINGS and self.wording.choose("copula", COPULAS) == "se trouver":
                verb = "se trouvent" if plural else "se trouve"
        return _joined(text, verb, complement)

    def _loose(self, mention: Mention, plural: bool) -> str:
        participle = self.wording.participle(mention)
        loose = VERBS[participle].loose
        if loose.split()[0].endswith("ant"):
            about = f"participle or clause {mention.objects}"
            if self.wording.choose(about, PARTICIPLES) == "relative clause":
                return f"qui {_simple(participle, plural)}"
        return loose

    def _finite(self, mention: Mention, feminine: bool, plural: bool) -> str:
        participle = self.wording.participle(mention)
        verb = VERBS[participle]
        if self.wording.simple(mention):
            return _agreed(_simple(participle, plural), feminine, plural)
        if verb.infinitive and self.wording.choose(f"aspect {mention.objects}", ASPECTS) == "en train de":
            return f"{'sont' if plural else 'est'} en train de {verb.infinitive}"
        return _agreed(verb.finite(plural), feminine, plural)

    def _manner(self, mention: Mention) -> str:
        manner = self.wording.manner(mention)
        return "" if manner is None else MANNERS[manner]

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
        opinion = self.wording.opinion(mention)
        if opinion is not None:
            words.append(agree(OPINIONS[opinion], noun.feminine, plural))
        size = "" if mention.size is None else (PERSON_SIZES if person else SIZES)[self.wording.size(mention)]
        before = bool(size) and size.isalpha()
        words += [agree(size, noun.feminine, plural) if before else "", noun.form(plural), "" if before else size]
        attribute = clause = ""
        if mention.action is not None and with_action:
            if not self.wording.relative(mention):
                attribute = ATTRIBUTES.get(self.wording.attribute(mention), "")
            if not attribute:
                clause = f"qui {_simple(self.wording.participle(mention), plural)}"
        if person:
            clothes = self._clothes(mention)
            words += [attribute, clothes, "et" if clause and _DRESSED.search(f" {clothes} ") else "", clause]
        else:
            words += [*self._look(mention), attribute, clause]
        return _agreed(_joined(*words), noun.feminine, plural)

    def _look(self, mention: Mention) -> list[str]:
        """Colour and texture of an animal or a thing."""
        colour = self.wording.colour(mention)
        words = [] if colour is None else [COLOURS[colour]]
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
        plural = len(mention.objects) > 1 or clothes.garment in UNCOUNTED
        looks = _joined(colour, "" if clothes.texture is None else TEXTURES[clothes.texture])
        garment = f"{noun.form(plural)} {_agreed(looks, noun.feminine, plural)}"
        one = "" if plural else "une " if noun.feminine else "un "
        # "vêtu de vêtements" would say it twice.
        if not worn and clothes.garment not in UNCOUNTED:
            return f"{{vêtu}} de {one}{garment}"
        return f"portant {one or 'des '}{garment}"
