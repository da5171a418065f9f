"""Look-alikes: small groups of scenes that differ in one respect only. A caption that says what most captions say fits
all scenes of a group; to tell them apart, it must say the difference."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from seqcap.world.graph import (
    ACTIONS,
    COLOURS,
    GRID,
    MAX_OBJECTS,
    PLAIN_KINDS,
    SIZES,
    TEXTURES,
    Scene,
    SceneObject,
    extent,
    is_clear,
    place,
)

Respect = Literal["colour", "size", "texture", "action", "count", "relation"]
BLOCK = 12  # each block of so many images has one group of two to four: every fourth image has a look-alike
_GROUPS = 314159  # makes the random numbers that choose the groups differ from those of the images
_MOVES = 12  # how often another place is tried for an object


def members(seed: int, number: int) -> int:
    """How many images from `number` on are a group: 2 to 4, or 1 if no group starts there."""
    block, place_in_block = divmod(number, BLOCK)
    rng = np.random.default_rng([seed, block, _GROUPS])
    size = int(rng.integers(2, 5))
    return size if place_in_block == int(rng.integers(BLOCK - size + 1)) else 1


def look_alikes(scene: Scene, number: int, rng: np.random.Generator) -> list[Scene]:
    """`scene` and `number` - 1 others (`number`: 1 to 4) with the same background that differ in one respect: one
    object's colour, size, texture, action or place, or how many of its kind there are. All else stays, relations too if
    the object stays. All scenes obey the rules of `graph.sample`, but may have more objects of a kind."""
    if number == 1:
        return [scene]
    respects = list(_OTHERS)
    for respect in rng.permutation(len(respects)).tolist():
        for i in rng.permutation(len(scene.objects)).tolist():
            others = _OTHERS[respects[respect]](scene, i, rng)
            if len(others) >= number - 1:
                chosen = rng.permutation(len(others))[: number - 1].tolist()
                return [scene, *(others[j] for j in chosen)]
    raise AssertionError("an object can always have another colour")


def _colours(scene: Scene, i: int, rng: np.random.Generator) -> list[Scene]:
    thing = scene.objects[i]
    return [_with(scene, i, replace(thing, colour=colour)) for colour in COLOURS if colour != thing.colour]


def _textures(scene: Scene, i: int, rng: np.random.Generator) -> list[Scene]:
    thing = scene.objects[i]
    if thing.kind in PLAIN_KINDS:
        return []
    return [_with(scene, i, replace(thing, texture=texture)) for texture in TEXTURES if texture != thing.texture]


def _sizes(scene: Scene, i: int, rng: np.random.Generator) -> list[Scene]:
    thing = scene.objects[i]
    return _where_it_is(scene, i, [replace(thing, size=size) for size in SIZES if size != thing.size])


def _actions(scene: Scene, i: int, rng: np.random.Generator) -> list[Scene]:
    """Other actions, not from or to flying: a flying bird has another place, too."""
    thing = scene.objects[i]
    actions = {"flying", thing.action}
    if thing.action in ("flying", None):
        return []
    return _where_it_is(scene, i, [replace(thing, action=a) for a in ACTIONS[thing.kind] if a not in actions])


def _where_it_is(scene: Scene, i: int, looks: list[SceneObject]) -> list[Scene]:
    """The scenes in which an object of another extent stands on the same spot, with the same relations."""
    thing = scene.objects[i]
    if {"on", "carries"} & scene.relations_of(i):
        return []
    found = []
    for look in looks:
        width, height = extent(look.kind, look.size, look.action)
        left, top = thing.left + (thing.width - width) // 2, thing.bottom - height
        if left < 2 or left + width > GRID - 2 or top < 4:
            continue
        other = replace(look, left=left, top=top, width=width, height=height)
        changed = _with(scene, i, other)
        clear = all(is_clear(other, neighbour) for j, neighbour in enumerate(scene.objects) if j != i)
        if clear and changed.relations == scene.relations:
            found.append(changed)
    return found


def _counts(scene: Scene, i: int, rng: np.random.Generator) -> list[Scene]:
    found: list[Scene] = []
    grown = scene
    while len(grown.objects) < MAX_OBJECTS:
        twin = place(rng, scene.background, scene.objects[i], grown.objects)
        if twin is None:
            break
        grown = Scene(scene.background, (*grown.objects, twin))
        if any(grown.relations[pair] != names for pair, names in scene.relations.items()):
            break
        found.append(grown)
    return found


def _relations(scene: Scene, i: int, rng: np.random.Generator) -> list[Scene]:
    thing = scene.objects[i]
    if "carries" in scene.relations_of(i):
        return []
    others = [neighbour for j, neighbour in enumerate(scene.objects) if j != i]
    found: list[Scene] = []
    for _ in range(_MOVES if others else 0):
        moved = place(rng, scene.background, thing, others)
        if moved is None:
            break
        changed = _with(scene, i, replace(moved, flip=thing.flip))
        kept = all(changed.relations[pair] == names for pair, names in scene.relations.items() if i not in pair)
        if kept and all(changed.relations != other.relations for other in (scene, *found)):
            found.append(changed)
    return found


def _with(scene: Scene, i: int, thing: SceneObject) -> Scene:
    return Scene(scene.background, (*scene.objects[:i], thing, *scene.objects[i + 1 :]))


# Respect -> the scenes that differ in it from a scene, by one of its objects.
_OTHERS: Mapping[Respect, Callable[[Scene, int, np.random.Generator], list[Scene]]] = {
    "colour": _colours,
    "size": _sizes,
    "texture": _textures,
    "action": _actions,
    "count": _counts,
    "relation": _relations,
}
