"""Scene graphs: the objects of an image, their places, and the facts that follow from them. Whole numbers decide all
that a caption can say: objects lie on a grid of `GRID` x `GRID` units (y grows downwards); boxes decide relations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter

GRID = 256
MAX_OBJECTS = 4
Background = Literal["meadow", "beach", "street", "snow", "night", "desert"]
Kind = Literal["man", "dog", "woman", "car", "tree", "ball", "cat", "house", "kite", "bird", "boat", "umbrella"]
Colour = Literal["red", "blue", "green", "yellow", "black", "white", "orange", "purple"]
Size = Literal["small", "medium", "large"]
Texture = Literal["plain", "striped", "dotted"]
Action = Literal["standing", "walking", "waving", "sitting", "running", "sleeping", "flying"]
# What things do in a clip (`seqcap.world.motion`). No single image shows it.
Motion = Literal["moving_left", "moving_right", "moving_up", "moving_down", "turning", "growing", "shrinking"]
BACKGROUNDS: tuple[Background, ...] = get_args(Background)
KINDS: tuple[Kind, ...] = get_args(Kind)
COLOURS: tuple[Colour, ...] = get_args(Colour)
SIZES: tuple[Size, ...] = get_args(Size)
TEXTURES: tuple[Texture, ...] = get_args(Texture)
MOTIONS: tuple[Motion, ...] = get_args(Motion)
# The possible actions of each kind; other kinds have none.
ACTIONS: Mapping[Kind, tuple[Action, ...]] = {
    "man": ("standing", "walking", "waving", "sitting"),
    "woman": ("standing", "walking", "waving", "sitting"),
    "dog": ("standing", "running", "sitting", "sleeping"),
    "cat": ("standing", "running", "sitting", "sleeping"),
    "bird": ("flying", "sitting"),
    "kite": ("flying",),
}

# Relation -> its inverse. Facts keep the first one of the two.
_INVERSE = {"left_of": "right_of", "above": "below", "behind": "in_front_of", "on": "carries", "next_to": "next_to"}
INVERSE: Mapping[str, str] = _INVERSE | {inverse: name for name, inverse in _INVERSE.items()}
CANONICAL = tuple(_INVERSE)
NEAR = 30  # in grid units: objects side by side are next to each other if their gap is at most this
TOUCH = 6  # an object is on another if its foot is at most so far from the other's top
# The least distance of objects from a border between two relations, so that no image is ambiguous.
CLEAR = 10
_T = TypeVar("_T")


@dataclass(frozen=True)
class SceneObject:
    """One object: its look and its box on the grid of `GRID` x `GRID` units.

    Attributes:
        kind: one of `KINDS`.
        colour: one of `COLOURS`.
        size: one of `SIZES`.
        texture: one of `TEXTURES`.
        action: one of `ACTIONS` of its kind; None for other kinds.
        left: the box's left edge, grid units.
        top: the box's upper edge, grid units; y grows downwards.
        width: the box's width, grid units.
        height: the box's height, grid units.
        flip: whether the drawing is mirrored; it is no fact.
    """

    kind: Kind
    colour: Colour
    size: Size
    texture: Texture
    action: Action | None
    left: Annotated[int, Field(ge=0, lt=GRID)]
    top: Annotated[int, Field(ge=0, lt=GRID)]
    width: Annotated[int, Field(ge=1, le=GRID)]
    height: Annotated[int, Field(ge=1, le=GRID)]
    flip: bool

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height


@dataclass(frozen=True)
class Scene:
    """A background and one to four objects.

    Relations of two objects follow from the gaps between their boxes (negative where they overlap in that direction):

    - `left_of` / `right_of`: the horizontal gap is at least the vertical one.
    - `next_to` (also): the same, with a gap of at most `NEAR` and overlapping heights.
    - `on`: the vertical gap is the larger, the upper one's foot touches the lower one's top, and they overlap by at
      least half the narrower one's width. Then `above` / `below` hold, too.
    - `above` / `below`: the vertical gap is the larger, and one of the two is in the air or on something.
    - `behind` / `in_front_of`: the vertical gap is the larger, and both stand on the ground: the upper one is behind.

    Attributes:
        background: one of `BACKGROUNDS`.
        objects: one to `MAX_OBJECTS`. An object's number is its place.
    """

    background: Background
    objects: Annotated[tuple[SceneObject, ...], Field(min_length=1, max_length=MAX_OBJECTS)]

    __pydantic_config__ = ConfigDict(extra="forbid")

    @cached_property
    def relations(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """(i, j) -> the relations that object i has to object j, for every ordered pair."""
        boxes = self.objects
        pairs = [(i, j) for i in range(len(boxes)) for j in range(len(boxes)) if i != j]
        resting = {i for i, j in pairs if _on(boxes[i], boxes[j])}
        raised = resting | {i for i, thing in enumerate(boxes) if thing.action == "flying"}
        return {(i, j): _relations(boxes[i], boxes[j], bool(raised & {i, j})) for i, j in pairs}

    def relations_of(self, i: int) -> frozenset[str]:
        """The relations that object i has to any other."""
        return frozenset[str]().union(*(names for (first, _), names in self.relations.items() if first == i))

    @cached_property
    def counts(self) -> Mapping[Kind, int]:
        return {kind: sum(thing.kind == kind for thing in self.objects) for kind in KINDS}

    @cached_property
    def facts(self) -> frozenset[str]:
        """Canonical ids of everything that can be said and is true.

        `background`; per object number `object:0`, `colour:0`, `size:0` (unless medium), `texture:0` (unless plain),
        `action:0`; `count:dog` for kinds that occur more than once; `left_of:0:1` and the like, one direction per pair;
        `next_to` with the lower number first. A pair with `on` has no separate `above`.
        """
        found = {"background"}
        for i, thing in enumerate(self.objects):
            found |= {f"object:{i}", f"colour:{i}"}
            if thing.size != "medium":
                found.add(f"size:{i}")
            if thing.texture != "plain":
                found.add(f"texture:{i}")
            if thing.action is not None:
                found.add(f"action:{i}")
        found |= {f"count:{kind}" for kind, number in self.counts.items() if number > 1}
        for pair, names in self.relations.items():
            found |= {fact for name in names if (fact := self.relation_fact(name, *pair)) is not None}
        return frozenset(found)

    def relation_fact(self, name: str, i: int, j: int) -> str | None:
        """The fact that "i `name` j" says; None if that is false or only follows from `on`."""
        if name not in self.relations[i, j]:
            return None
        if name not in CANONICAL or (name == "next_to" and i > j):
            name, i, j = INVERSE[name], j, i
        return None if name == "above" and "on" in self.relations[i, j] else f"{name}:{i}:{j}"

    def deed(self, i: int) -> Action | Motion | None:
        """What people say that object i does."""
        return self.objects[i].action

    def does(self, i: int, deed: str) -> str | None:
        """The fact that object i does something; None if it does not."""
        return f"action:{i}" if self.objects[i].action == deed else None

    def moves(self, i: int) -> bool:
        """Whether object i moves or changes, as it may in a clip."""
        return False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads a scene or a clip from a JSON string; a `pydantic.ValidationError` if it holds none."""
        reader: TypeAdapter[Self] = _reader(cls)  # type: ignore[arg-type]
        return reader.validate_json(text)


_reader = cache(TypeAdapter)


def gaps(a: SceneObject, b: SceneObject) -> tuple[int, int]:
    """The horizontal and the vertical gap between two boxes; negative where they overlap in that direction."""
    return max(b.left - a.right, a.left - b.right), max(b.top - a.bottom, a.top - b.bottom)


def _on(a: SceneObject, b: SceneObject) -> bool:
    across, along = gaps(a, b)
    touching = abs(a.bottom - b.top) <= TOUCH and a.top < b.top
    return touching and across < along and 2 * -across >= min(a.width, b.width)


def _relations(a: SceneObject, b: SceneObject, raised: bool) -> frozenset[str]:
    across, along = gaps(a, b)
    names = set()
    if across >= along:
        names.add("left_of" if a.left + a.right < b.left + b.right else "right_of")
        if across <= NEAR and along < 0:
            names.add("next_to")
        return frozenset(names)
    upper = a.top + a.bottom < b.top + b.bottom
    if raised:
        names.add("above" if upper else "below")
    else:
        names.add("behind" if upper else "in_front_of")
    if _on(a, b):
        names.add("on")
    if _on(b, a):
        names.add("carries")
    return frozenset(names)


_BACKGROUND_WEIGHTS = (25, 20, 20, 13, 12, 10)
_KIND_WEIGHTS = tuple(1 / (rank + 1) ** 0.7 for rank in range(len(KINDS)))
_COLOUR_WEIGHTS = (18, 17, 13, 13, 11, 11, 9, 8)
_NUMBER_WEIGHTS = (18, 33, 28, 21)
# How much more (or less) often a kind occurs on a background than elsewhere.
_AFFINITY: Mapping[tuple[str, str], float] = {
    ("beach", "boat"): 5,
    ("beach", "umbrella"): 3,
    ("beach", "car"): 0.3,
    ("street", "car"): 2.5,
    ("street", "boat"): 0,
    ("snow", "boat"): 0,
    ("meadow", "boat"): 0.3,
    ("desert", "boat"): 0,
    ("meadow", "kite"): 2,
}
# Width and height of a medium object, in grid units.
_EXTENT: Mapping[Kind, tuple[int, int]] = {
    "man": (50, 100),
    "woman": (50, 100),
    "dog": (72, 56),
    "cat": (60, 58),
    "car": (104, 54),
    "tree": (68, 100),
    "ball": (50, 50),
    "house": (92, 90),
    "kite": (48, 76),
    "bird": (56, 44),
    "boat": (86, 84),
    "umbrella": (74, 74),
}
_SCALE: Mapping[Size, int] = {"small": 70, "medium": 100, "large": 142}  # per cent
_POSE_HEIGHT: Mapping[tuple[str, str], int] = {  # per cent of the standing height
    ("man", "sitting"): 76,
    ("woman", "sitting"): 76,
    ("dog", "sleeping"): 62,
    ("cat", "sleeping"): 62,
    ("dog", "sitting"): 118,
    ("cat", "sitting"): 118,
}
PLAIN_KINDS = frozenset({"tree", "bird", "house"})
# Only these stand on others, and only on the kinds below: people standing on cats would be odd.
_CLIMBERS: tuple[Kind, ...] = ("cat", "dog", "bird", "ball")
_BEARERS: tuple[Kind, ...] = ("car", "house", "boat")
HORIZON: Mapping[Background, int] = {
    "meadow": 104,
    "beach": 112,
    "street": 100,
    "snow": 108,
    "night": 116,
    "desert": 108,
}


def pick(rng: np.random.Generator, options: Sequence[_T], weights: Sequence[float] | None = None) -> _T:
    """One of the options. Only sums and comparisons: every machine picks the same."""
    if weights is None:
        return options[int(rng.integers(len(options)))]
    point = rng.random() * sum(weights)
    for option, weight in zip(options, weights, strict=True):
        point -= weight
        if point < 0:
            return option
    return options[-1]


def sample(rng: np.random.Generator) -> Scene:
    """A random scene whose objects hardly overlap and whose relations are clear to the eye."""
    background = pick(rng, BACKGROUNDS, _BACKGROUND_WEIGHTS)
    kind_weights = [
        weight * _AFFINITY.get((background, kind), 1) for kind, weight in zip(KINDS, _KIND_WEIGHTS, strict=True)
    ]
    wanted = pick(rng, range(1, MAX_OBJECTS + 1), _NUMBER_WEIGHTS)
    placed: list[SceneObject] = []
    tries = 0
    # An image may be full; the first object always finds a place.
    while len(placed) < wanted and (not placed or tries < 2 * wanted):
        tries += 1
        kind = pick(rng, KINDS, kind_weights)
        # The kind of an earlier object makes counts worth saying, and things to sit on are used.
        if placed and rng.random() < 0.12:
            kind = placed[-1].kind
        elif any(thing.kind in _BEARERS for thing in placed) and rng.random() < 0.35:
            kind = pick(rng, _CLIMBERS)
        thing = place(rng, background, _look(rng, kind), placed)
        if thing is not None:
            placed.append(thing)
    return Scene(background, tuple(placed))


def _look(rng: np.random.Generator, kind: Kind) -> SceneObject:
    colour = pick(rng, COLOURS, _COLOUR_WEIGHTS)
    if kind == "tree" and rng.random() < 0.6:
        colour = "green"
    size = pick(rng, SIZES, (30, 45, 25))
    texture: Texture = "plain" if kind in PLAIN_KINDS else pick(rng, TEXTURES, (60, 22, 18))
    action = pick(rng, ACTIONS[kind]) if kind in ACTIONS else None
    return SceneObject(kind, colour, size, texture, action, 0, 0, *extent(kind, size, action), flip=False)


def extent(kind: Kind, size: Size, action: Action | None) -> tuple[int, int]:
    """Width and height, in grid units."""
    width, height = (extent * _SCALE[size] // 100 for extent in _EXTENT[kind])
    return width, height * _POSE_HEIGHT.get((kind, str(action)), 100) // 100


def place(
    rng: np.random.Generator, background: Background, look: SceneObject, placed: Sequence[SceneObject]
) -> SceneObject | None:
    """An object that looks like `look`, in a place of its own; None after 40 tries."""
    horizon = HORIZON[background]
    flip = bool(rng.random() < 0.5)
    bearers = [b for b in placed if b.kind in _BEARERS and look.width < b.width and look.height + 4 <= b.top]
    climbs = bool(bearers) and look.kind in _CLIMBERS and look.action not in ("flying", "running")
    climbs = climbs and rng.random() < 0.75
    beside = placed[int(rng.integers(len(placed)))] if placed and rng.random() < 0.45 else None
    for _ in range(40):
        left = int(rng.integers(4, GRID - 4 - look.width + 1))
        if look.action == "flying":
            top = int(rng.integers(4, max(5, horizon + 24 - look.height)))
        elif climbs:
            bearer = pick(rng, bearers)
            # Near the middle: beside the ridge of a roof, it would hang in the air.
            sway = bearer.width // 10
            left = (bearer.left + bearer.right - look.width) // 2 + int(rng.integers(-sway, sway + 1))
            top = bearer.top - look.height + 2
        else:
            # Its feet are on the ground, and large things are nearer than the horizon requires.
            lowest = max(horizon + 14, look.height + 4)
            foot = int(rng.integers(lowest, GRID - 4 + 1))
            if beside is not None and beside.bottom >= lowest:
                gap = int(rng.integers(6, NEAR - CLEAR + 1))
                left = beside.right + gap if rng.random() < 0.5 else beside.left - gap - look.width
                foot = min(GRID - 4, max(lowest, beside.bottom + int(rng.integers(-8, 9))))
            top = foot - look.height
        if left < 2 or left + look.width > GRID - 2:
            continue
        thing = replace(look, left=left, top=top, flip=flip)
        if all(is_clear(thing, other) for other in placed):
            return thing
    return None


def is_clear(a: SceneObject, b: SceneObject) -> bool:
    """Whether two objects hardly overlap and no relation between them is close to a border."""
    across, along = gaps(a, b)
    if _on(a, b) or _on(b, a):
        upper, lower = (a, b) if _on(a, b) else (b, a)
        return upper.kind in _CLIMBERS and upper.action != "flying" and lower.kind in _BEARERS
    if max(across, along) < 4 or abs(across - along) < CLEAR:
        return False
    if across >= along:
        return not (NEAR - CLEAR < across < NEAR + CLEAR) and (across > NEAR or abs(along) >= CLEAR)
    # With a small gap, the upper one would seem to stand on the lower one.
    return along >= TOUCH + CLEAR
