"""Clips: scenes in which one or two objects move or change, what is true of them, and how they are sampled.

As in `graph`, whole numbers decide everything. A clip has `FRAMES` frames, each a scene. No single frame shows what
moves: the side that an object faces does not show where it goes, and any size and place may be the first or the last.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field

from seqcap.world.graph import (
    GRID,
    HORIZON,
    MOTIONS,
    Action,
    Background,
    Kind,
    Motion,
    Scene,
    SceneObject,
    extent,
    gaps,
    is_clear,
    pick,
    sample,
)

FRAMES = 8
# Relations of a moving object to one that stands still. "Behind": the other one hides it, at least in part.
PASSING = ("passes_behind", "passes_in_front_of")


@dataclass(frozen=True)
class Change:
    """An object's motion, at an even pace, and its box in the last frame.

    Attributes:
        motion: one of `MOTIONS`; the boxes must show it.
        left: the last box's left edge, grid units.
        top: the last box's upper edge, grid units.
        width: the last box's width, grid units.
        height: the last box's height, grid units.
    """

    motion: Motion
    left: Annotated[int, Field(ge=0, lt=GRID)]
    top: Annotated[int, Field(ge=0, lt=GRID)]
    width: Annotated[int, Field(ge=1, le=GRID)]
    height: Annotated[int, Field(ge=1, le=GRID)]

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class Clip(Scene):
    """A scene and what its objects do; `objects` are those of the first frame.

    - `moving_left`, `moving_right`, `moving_up`, `moving_down`: only the place changes, in that direction.
    - `growing`, `shrinking`: only the size changes. Such an object's size is "medium" and is not said.
    - `turning`: it is mirrored in every other frame.

    Relations must hold in every frame. In addition, an object that moves to the left or right `passes_behind` or
    `passes_in_front_of` one that stands still, if it begins on one side and ends on the other, and their heights
    overlap. The one that stands lower is in front.

    Attributes:
        changes: one for each object; None: it stands still.

    Raises:
        ValueError: there are not as many changes as objects, or boxes do not show a motion.
    """

    changes: tuple[Change | None, ...]

    __pydantic_config__ = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        for thing, change in zip(self.objects, self.changes, strict=True):
            if change is not None and change.motion != _shown(thing, change):
                raise ValueError(f"the boxes of a {thing.kind} do not show that it is {change.motion}")

    def frame(self, number: int) -> Scene:
        """Frame `number` of `FRAMES`, from 0."""
        things = (_at(thing, change, number) for thing, change in zip(self.objects, self.changes, strict=True))
        return Scene(self.background, tuple(things))

    @cached_property
    def relations(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """(i, j) -> the relations that object i has to object j, for every ordered pair."""
        frames = [self.frame(number).relations for number in range(FRAMES)]
        lasting = {pair: frozenset.intersection(*(of_frame[pair] for of_frame in frames)) for pair in frames[0]}
        return {pair: names | self._passing(*pair) for pair, names in lasting.items()}

    @cached_property
    def facts(self) -> frozenset[str]:
        """Those of a scene, and `motion:0` and so on for each object that moves or changes."""
        return super().facts | {f"motion:{i}" for i in range(len(self.objects)) if self.moves(i)}

    def relation_fact(self, name: str, i: int, j: int) -> str | None:
        """As for a scene; `passes_behind:0:1` and the like name the moving object first."""
        if name in PASSING:
            return f"{name}:{i}:{j}" if name in self.relations[i, j] else None
        return super().relation_fact(name, i, j)

    def deed(self, i: int) -> Action | Motion | None:
        change = self.changes[i]
        return self.objects[i].action if change is None else change.motion

    def does(self, i: int, deed: str) -> str | None:
        change = self.changes[i]
        return f"motion:{i}" if change is not None and change.motion == deed else super().does(i, deed)

    def moves(self, i: int) -> bool:
        return self.changes[i] is not None

    def _passing(self, i: int, j: int) -> frozenset[str]:
        change, thing, other = self.changes[i], self.objects[i], self.objects[j]
        if change is None or change.motion not in ("moving_left", "moving_right") or self.moves(j):
            return frozenset()
        first, last = sorted((thing.left, change.left))
        across = first + thing.width <= other.left and last >= other.right
        if not across or gaps(thing, other)[1] >= 0:
            return frozenset()
        return frozenset({PASSING[0] if thing.bottom < other.bottom else PASSING[1]})


def _shown(thing: SceneObject, change: Change) -> Motion | None:
    across, down = change.left - thing.left, change.top - thing.top
    wider, higher = change.width - thing.width, change.height - thing.height
    if (wider, higher) == (0, 0):
        if across and down:
            return None
        if across:
            return "moving_left" if across < 0 else "moving_right"
        return "turning" if not down else "moving_up" if down < 0 else "moving_down"
    if thing.size != "medium" or wider * higher <= 0:
        return None
    return "growing" if wider > 0 else "shrinking"


def _at(thing: SceneObject, change: Change | None, number: int) -> SceneObject:
    if change is None:
        return thing
    if change.motion == "turning":
        return replace(thing, flip=thing.flip ^ (number % 2 == 1))
    box = {
        side: getattr(thing, side) + (getattr(change, side) - getattr(thing, side)) * number // (FRAMES - 1)
        for side in ("left", "top", "width", "height")
    }
    return replace(thing, **box)


_MOTION_WEIGHTS: Mapping[Motion, float] = dict(zip(MOTIONS, (5, 5, 3, 3, 3, 4, 3), strict=True))
_ROOTED: frozenset[Kind] = frozenset({"tree", "house"})
# Kinds that look different when mirrored.
_SIDED: frozenset[Kind] = frozenset({"dog", "cat", "car", "bird", "boat"})
_RESTING = ("sleeping", "sitting")
_SMALLEST, _LARGEST = 60, 150  # per cent of the medium size, at both ends of growing and shrinking
_ACROSS, _DOWN = (48, 130), (36, 90)  # how far things move, in grid units: sideways, and up or down
# Weights of one and of two moving objects, and the probability of trying to let one pass another.
_ONE_OR_TWO, _PASSES = (65, 35), 0.8
_APART = 4  # the least distance of boxes in all frames, unless one object passes the other
# Of an object and one that it passes: the least overlap of their heights, how far apart their feet are, and how far
# apart they are in the first and in the last frame.
_OVERLAP, _FEET, _GAP = 14, (10, 34), (6, 14)
_TRIES = 12  # how often a motion is tried for an object, or a passing for a scene


def sample_clip(rng: np.random.Generator) -> Clip:
    """A random clip: a scene of `graph.sample` in which one or two objects move or change. None comes close to another,
    unless it passes it all the way."""
    while True:
        scene = sample(rng)
        clip = Clip(scene.background, scene.objects, (None,) * len(scene.objects))
        wanted = pick(rng, (1, 2), _ONE_OR_TWO)
        if rng.random() < _PASSES:
            clip = _with_passing(clip, rng)
        for i in rng.permutation(len(clip.objects)).tolist():
            if sum(change is not None for change in clip.changes) < wanted and not clip.moves(i):
                clip = _with_motion(clip, i, rng)
        if any(clip.changes):
            return clip


def _with_passing(clip: Clip, rng: np.random.Generator) -> Clip:
    """The clip with one object that passes another, or unchanged if there is no room."""
    grounded = [i for i, thing in enumerate(clip.objects) if thing.action != "flying" and not _is_stacked(clip, i)]
    pairs = [(i, j) for i in grounded for j in grounded if i != j and _may(clip.objects[i], "moving_left")]
    for _ in range(_TRIES if pairs else 0):
        i, j = pick(rng, pairs)
        thing, other = clip.objects[i], clip.objects[j]
        nearer = 1 if rng.random() < 0.5 else -1
        top = other.bottom + nearer * int(rng.integers(*_FEET, endpoint=True)) - thing.height
        before, after = (int(rng.integers(*_GAP, endpoint=True)) for _ in range(2))
        sides = [other.left - before - thing.width, other.right + after]
        first, last = sides if rng.random() < 0.5 else sides[::-1]
        start, end = (replace(thing, left=left, top=top) for left in (first, last))
        changed = _changed(clip, i, "moving_right" if first < last else "moving_left", start, end)
        if changed is not None:
            return changed
    return clip


def _with_motion(clip: Clip, i: int, rng: np.random.Generator) -> Clip:
    thing = clip.objects[i]
    passed = any(names & frozenset(PASSING) for pair, names in clip.relations.items() if i in pair)
    if passed or _is_stacked(clip, i):
        return clip
    allowed = [motion for motion in MOTIONS if _may(thing, motion)]
    for _ in range(_TRIES):
        motion = pick(rng, allowed, [_MOTION_WEIGHTS[motion] for motion in allowed])
        changed = _changed(clip, i, motion, *_ends(thing, motion, rng))
        if changed is not None:
            return changed
    return clip


def _may(thing: SceneObject, motion: Motion) -> bool:
    """Whether a thing can have a motion, and visibly so."""
    if motion == "turning":
        return thing.kind in _SIDED and thing.action != "sleeping"
    return motion in ("growing", "shrinking") or (thing.kind not in _ROOTED and thing.action not in _RESTING)


def _ends(thing: SceneObject, motion: Motion, rng: np.random.Generator) -> tuple[SceneObject, SceneObject]:
    """An object in the first and in the last frame, where it may lie outside the image."""
    if motion in ("growing", "shrinking"):
        ends = []
        for share in (_SMALLEST, _LARGEST):
            width, height = (side * share // 100 for side in extent(thing.kind, "medium", thing.action))
            left, top = thing.left + (thing.width - width) // 2, thing.bottom - height
            ends.append(replace(thing, size="medium", left=left, top=top, width=width, height=height))
        small, large = ends
        return (small, large) if motion == "growing" else (large, small)
    across, down = (int(rng.integers(*reach, endpoint=True)) for reach in (_ACROSS, _DOWN))
    steps = {
        "moving_left": (-across, 0),
        "moving_right": (across, 0),
        "moving_up": (0, -down),
        "moving_down": (0, down),
    }
    right, below = steps.get(motion, (0, 0))
    return thing, replace(thing, left=thing.left + right, top=thing.top + below)


def _changed(clip: Clip, i: int, motion: Motion, first: SceneObject, last: SceneObject) -> Clip | None:
    """The clip in which object i becomes `first`, then `last`; None if that leaves the image or is unclear."""
    if not all(_is_at_home(clip.background, end) for end in (first, last)):
        return None
    change = Change(motion, last.left, last.top, last.width, last.height)
    objects = (*clip.objects[:i], first, *clip.objects[i + 1 :])
    changed = Clip(clip.background, objects, (*clip.changes[:i], change, *clip.changes[i + 1 :]))
    others = [j for j in range(len(objects)) if j != i]
    clear = all(is_clear(first, objects[j]) and _is_apart(changed, i, j) for j in others)
    return changed if clear and not _is_stacked(changed, i) else None


def _is_stacked(clip: Clip, i: int) -> bool:
    return bool({"on", "carries"} & clip.frame(0).relations_of(i))


def _is_at_home(background: Background, thing: SceneObject) -> bool:
    """Whether an object lies in the image, where `graph.place` would put it: in the air or on the ground."""
    horizon, foot = HORIZON[background], thing.bottom
    inside = thing.left >= 2 and thing.right <= GRID - 2 and thing.top >= 4
    return inside and (foot < horizon + 24 if thing.action == "flying" else horizon + 14 <= foot <= GRID - 4)


def _is_apart(clip: Clip, i: int, j: int) -> bool:
    """Whether it is clear that two objects do not touch in any frame, or that one passes the other."""
    if max(gaps(_swept(clip, i), _swept(clip, j))) >= _APART:
        return True
    pairs = [pair for pair in ((i, j), (j, i)) if clip.relations[pair] & frozenset(PASSING)]
    for thing, other in ((clip.objects[a], clip.objects[b]) for a, b in pairs):
        overlap = -gaps(thing, other)[1]
        return overlap >= _OVERLAP and abs(thing.bottom - other.bottom) >= _FEET[0]
    return False


def _swept(clip: Clip, i: int) -> SceneObject:
    """An object as large as all its boxes together."""
    ends = [clip.frame(number).objects[i] for number in (0, FRAMES - 1)]
    left, top = (min(getattr(end, side) for end in ends) for side in ("left", "top"))
    width, height = max(end.right for end in ends) - left, max(end.bottom for end in ends) - top
    return replace(ends[0], left=left, top=top, width=width, height=height)
