"""Plans of captions, in no language yet: mentions of objects, a relation and the background, at a level of detail. A
realiser (`english.realise`) puts a plan into words; an annotator's error (a wrong colour) is the same in all languages.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field

from seqcap.world.graph import COLOURS, KINDS, Action, Background, Colour, Kind, Motion, Scene, Size, Texture, pick
from seqcap.world.motion import PASSING

Hypernym = Literal["person", "animal"]
Detail = Literal["generic", "medium", "detailed"]
DETAILS: tuple[Detail, ...] = ("generic", "medium", "detailed")


def _some_detail(value: tuple[float, float, float]) -> tuple[float, float, float]:
    if sum(value) <= 0:
        raise ValueError("at least one weight must be above 0")
    return value


_Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# The ratio of generic : medium : detailed captions.
DetailWeights = Annotated[tuple[_Weight, _Weight, _Weight], AfterValidator(_some_detail)]
# The wider classes that annotators name, and the kinds in each.
HYPERNYMS: dict[Hypernym, frozenset[Kind]] = {
    "person": frozenset({"man", "woman"}),
    "animal": frozenset({"dog", "cat", "bird"}),
}


@dataclass(frozen=True)
class Mention:
    """A phrase about one object or several of a kind. What is None is not said.

    Attributes:
        noun: a kind of `KINDS`, or the wider class "person" or "animal".
        objects: numbers of the objects in `Scene.objects`: one, or several in a plural.
        colour: as the annotator sees it; it may be wrong.
        size: of all these objects; nobody says "medium".
        texture: of all these objects; nobody says "plain".
        action: what all these objects do.
    """

    noun: Kind | Hypernym
    objects: tuple[int, ...]
    colour: Colour | None = None
    size: Size | None = None
    texture: Texture | None = None
    action: Action | Motion | None = None

    @property
    def plural(self) -> bool:
        return len(self.objects) > 1


@dataclass(frozen=True)
class Plan:
    """What one caption says.

    Attributes:
        mentions: one to three, in order of importance.
        relation: name of the relation that the first mention has to the second; None: none is said.
        background: of the scene; None: it is not said.
    """

    mentions: tuple[Mention, ...]
    relation: str | None
    background: Background | None


@dataclass(frozen=True)
class _Habits:
    """How likely annotators at one level of detail are to say things."""

    mentions: tuple[float, ...]
    hypernym: float
    colour: float
    size: float
    texture: float
    action: float
    motion: float
    relation: float
    background: float


_HABITS: dict[Detail, _Habits] = {
    "generic": _Habits((50, 45, 5), 0.25, 0.08, 0.04, 0.0, 0.40, 0.70, 0.40, 0.70),
    "medium": _Habits((25, 70, 5), 0.05, 0.60, 0.25, 0.18, 0.55, 0.90, 0.70, 0.50),
    "detailed": _Habits((10, 65, 25), 0.0, 0.88, 0.70, 0.70, 0.70, 0.95, 0.90, 0.65),
}
_SALIENCE: dict[Kind, float] = {"man": 3, "woman": 3, "dog": 2, "cat": 2, "bird": 1}
_SIZE_SALIENCE: dict[Size, float] = {"small": 0, "medium": 0.6, "large": 1.2}
_MOTION_SALIENCE = 3.0
_WAY_LEFT_OUT = 0.6  # the way in which something passes another is often left out


def plan(scene: Scene, detail: Detail, wrong_colours: float, rng: np.random.Generator) -> Plan:
    """Decides what an annotator says about a scene: only what is true, except for colours, which are wrong with
    probability `wrong_colours`."""
    habits = _HABITS[detail]
    groups = _groups(scene, rng)
    number = min(pick(rng, (1, 2, 3), habits.mentions), len(groups))
    mentions = tuple(_mention(scene, group, habits, rng) for group in groups[:number])
    relation = None
    if number > 1 and rng.random() < habits.relation:
        relation = _relation(scene, mentions[0], mentions[1], rng)
    # People and animals come first. Sometimes the smaller thing does, if the relation sounds better that way.
    if relation is not None and rng.random() < 0.25:
        swapped = _relation(scene, mentions[1], mentions[0], rng)
        mentions, relation = (mentions[1], mentions[0], *mentions[2:]), swapped
    if relation in PASSING and rng.random() < _WAY_LEFT_OUT:
        mentions = (replace(mentions[0], action=None), *mentions[1:])
    bare = number == 1 and mentions[0] == Mention(mentions[0].noun, mentions[0].objects)
    background = scene.background if bare or rng.random() < habits.background else None
    return Plan(tuple(_misjudge(m, wrong_colours, rng) for m in mentions), relation, background)


def shorten(full: Plan) -> Plan:
    """The plan without its least important statement: a third mention, then patterns, sizes, background."""
    if len(full.mentions) > 2:
        return replace(full, mentions=full.mentions[:2])
    if any(mention.texture is not None for mention in full.mentions):
        return replace(full, mentions=tuple(replace(mention, texture=None) for mention in full.mentions))
    if any(mention.size is not None for mention in full.mentions):
        return replace(full, mentions=tuple(replace(mention, size=None) for mention in full.mentions))
    return replace(full, background=None)


def _groups(scene: Scene, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Objects in order of salience. Objects of one kind are sometimes taken together, as in "two dogs"."""
    salience = [
        _SALIENCE.get(thing.kind, 0)
        + _SIZE_SALIENCE[thing.size]
        + 2.5 * rng.random()
        + _MOTION_SALIENCE * scene.moves(i)
        for i, thing in enumerate(scene.objects)
    ]
    together = {kind for kind in KINDS if scene.counts[kind] > 1 and rng.random() < 0.7}
    groups: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for i in sorted(range(len(salience)), key=lambda i: -salience[i]):
        if i in taken:
            continue
        kind = scene.objects[i].kind
        group = tuple(j for j, thing in enumerate(scene.objects) if thing.kind == kind) if kind in together else (i,)
        taken.update(group)
        groups.append(group)
    return groups


def _mention(scene: Scene, group: tuple[int, ...], habits: _Habits, rng: np.random.Generator) -> Mention:
    things = [scene.objects[i] for i in group]
    first, deeds = things[0], {scene.deed(i) for i in group}
    noun: Kind | Hypernym = first.kind
    wants = rng.random(5)
    if wants[0] < habits.hypernym:
        for name, kinds in HYPERNYMS.items():
            # "two people" would be wrong if there are three.
            if first.kind in kinds and (len(group) == 1 or sum(scene.counts[k] for k in kinds) == len(group)):
                noun = name

    def shared(attribute: str, said: bool, normal: str = "") -> Any:
        value = getattr(first, attribute)
        alike = all(getattr(thing, attribute) == value for thing in things)
        return value if said and alike and value != normal else None

    eager = habits.motion if scene.moves(group[0]) else habits.action
    return Mention(
        noun,
        group,
        shared("colour", wants[1] < habits.colour),
        shared("size", wants[2] < habits.size, "medium"),
        shared("texture", wants[3] < habits.texture, "plain"),
        scene.deed(group[0]) if wants[4] < eager and len(deeds) == 1 else None,
    )


def _relation(scene: Scene, subject: Mention, other: Mention, rng: np.random.Generator) -> str | None:
    shared = frozenset.intersection(*(scene.relations[i, j] for i in subject.objects for j in other.objects))
    passing = ((name, 0.9) for name in PASSING)
    for special, chance in (*passing, ("on", 1.0), ("carries", 0.5), ("next_to", 0.6)):
        if special in shared and rng.random() < chance:
            return special
    plain = sorted(shared - {"on", "carries", "next_to", *PASSING})
    return plain[0] if plain else None


def _misjudge(mention: Mention, wrong_colours: float, rng: np.random.Generator) -> Mention:
    if mention.colour is None or rng.random() >= wrong_colours:
        return mention
    return replace(mention, colour=pick(rng, [colour for colour in COLOURS if colour != mention.colour]))
