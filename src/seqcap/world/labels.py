"""Yes-or-no labels of images and clips, for the visual encoder's pretraining and for probes of its features."""

from collections.abc import Mapping, Sequence, Set

import numpy as np
import numpy.typing as npt

from seqcap.world.graph import (
    ACTIONS,
    BACKGROUNDS,
    CANONICAL,
    COLOURS,
    KINDS,
    MAX_OBJECTS,
    MOTIONS,
    SIZES,
    TEXTURES,
    Scene,
    SceneObject,
)
from seqcap.world.motion import PASSING, Clip

_ACTION_NAMES = tuple(dict.fromkeys(action for actions in ACTIONS.values() for action in actions))
_KINDS_WITH_ACTION = tuple(f"{kind}:{action}" for kind, actions in ACTIONS.items() for action in actions)
_KINDS_WITH_COLOUR = tuple(f"{kind}:{colour}" for kind in KINDS for colour in COLOURS)
_SEVERAL = tuple(f"{kind}:several" for kind in KINDS)

# Labels of one object: `dog`, `red`, `dog:red`, `running`, `dog:running`, `small`, `striped`.
OBJECT_LABELS: tuple[str, ...] = (
    *KINDS,
    *COLOURS,
    *_KINDS_WITH_COLOUR,
    *_ACTION_NAMES,
    *_KINDS_WITH_ACTION,
    *SIZES,
    *TEXTURES,
)
# Labels of an image: those of its objects; `beach`; `objects:2` (exactly); `dog:several`; `dog:small`, `dog:striped`;
# `next_to` (a pair of objects has that relation).
IMAGE_LABELS: tuple[str, ...] = (
    *OBJECT_LABELS,
    *BACKGROUNDS,
    *(f"objects:{number}" for number in range(1, MAX_OBJECTS + 1)),
    *_SEVERAL,
    *(f"{kind}:{value}" for kind in KINDS for value in (*SIZES, *TEXTURES)),
    *CANONICAL,
)
# Some labels of images, by topic.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "background": BACKGROUNDS,
    "kind": KINDS,
    "colour": COLOURS,
    "action": _ACTION_NAMES,
    "kind with colour": _KINDS_WITH_COLOUR,
    "kind with action": _KINDS_WITH_ACTION,
    "two of a kind": _SEVERAL,
}
# Labels of clips, and those of motion: `moving_left`; `dog:moving_left`; `passes_behind`.
_KINDS_WITH_MOTION = tuple(f"{kind}:{motion}" for kind in KINDS for motion in MOTIONS)
CLIP_OBJECT_LABELS: tuple[str, ...] = (*OBJECT_LABELS, *MOTIONS, *_KINDS_WITH_MOTION, *PASSING)
CLIP_LABELS: tuple[str, ...] = (*IMAGE_LABELS, *MOTIONS, *_KINDS_WITH_MOTION, *PASSING)
CLIP_GROUPS: Mapping[str, tuple[str, ...]] = {
    **GROUPS,
    **{name.replace("_", " "): (name,) for name in (*MOTIONS, *PASSING)},
    "kind with motion": _KINDS_WITH_MOTION,
}


def image_labels(scene: Scene) -> npt.NDArray[np.float32]:
    """[len(IMAGE_LABELS)], 1 for labels of an image, else 0."""
    return _multi_hot(_scene_names(scene), IMAGE_LABELS)


def clip_labels(clip: Clip) -> npt.NDArray[np.float32]:
    """[len(CLIP_LABELS)], 1 for labels of a clip, else 0."""
    motions = {name for i in range(len(clip.objects)) for name in _motion_names(clip, i)}
    return _multi_hot(_scene_names(clip) | motions, CLIP_LABELS)


def clip_object_labels(clip: Clip, i: int) -> npt.NDArray[np.float32]:
    """[len(CLIP_OBJECT_LABELS)], 1 for labels of object i of a clip, else 0."""
    return _multi_hot(_names(clip.objects[i]) | _motion_names(clip, i), CLIP_OBJECT_LABELS)


def _scene_names(scene: Scene) -> set[str]:
    names = {scene.background, f"objects:{len(scene.objects)}"}
    names |= {f"{kind}:several" for kind, number in scene.counts.items() if number > 1}
    for thing in scene.objects:
        names |= {*_names(thing), f"{thing.kind}:{thing.size}", f"{thing.kind}:{thing.texture}"}
    for relations in scene.relations.values():
        names |= relations & frozenset(CANONICAL)
    return names


def object_labels(thing: SceneObject) -> npt.NDArray[np.float32]:
    """[len(OBJECT_LABELS)], 1 for labels of an object, else 0."""
    return _multi_hot(_names(thing), OBJECT_LABELS)


def _motion_names(clip: Clip, i: int) -> set[str]:
    change = clip.changes[i]
    if change is None:
        return set()
    passing = clip.relations_of(i).intersection(PASSING)
    return {change.motion, f"{clip.objects[i].kind}:{change.motion}", *passing}


def _names(thing: SceneObject) -> set[str]:
    names = {thing.kind, thing.colour, f"{thing.kind}:{thing.colour}", thing.size, thing.texture}
    return names if thing.action is None else names | {thing.action, f"{thing.kind}:{thing.action}"}


def _multi_hot(names: Set[str], labels: Sequence[str]) -> npt.NDArray[np.float32]:
    return np.array([label in names for label in labels], dtype=np.float32)
