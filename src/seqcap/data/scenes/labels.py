"""What the visual encoder is pretrained to see: yes-or-no labels of a scene."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqcap.data.scenes.graph import (
    ACTIONS,
    BACKGROUNDS,
    CANONICAL,
    COLOURS,
    GRID,
    KINDS,
    MAX_OBJECTS,
    SIZES,
    TEXTURES,
    Scene,
)

_PARTS = ("left", "right", "upper", "lower")

# `background:beach`; `objects:2` (exactly); `dog`, `dog:several`, `dog:red`, `dog:small`, `dog:striped`, `dog:running`;
# `dog:left` (its middle lies in the left half of the picture); `next_to` (some pair of objects has that relation).
LABEL_NAMES: tuple[str, ...] = (
    *(f"background:{name}" for name in BACKGROUNDS),
    *(f"objects:{number}" for number in range(1, MAX_OBJECTS + 1)),
    *KINDS,
    *(f"{kind}:several" for kind in KINDS),
    *(f"{kind}:{value}" for kind in KINDS for value in (*COLOURS, *SIZES, *TEXTURES)),
    *(f"{kind}:{action}" for kind, actions in ACTIONS.items() for action in actions),
    *(f"{kind}:{part}" for kind in KINDS for part in _PARTS),
    *CANONICAL,
)
_INDEX = {name: i for i, name in enumerate(LABEL_NAMES)}


def labels(scene: Scene) -> npt.NDArray[np.float32]:
    """Multi-hot targets.

    Returns:
        float32 [len(LABEL_NAMES)], 1 where the label holds and 0 elsewhere, in the order of `LABEL_NAMES`.
    """
    names = {f"background:{scene.background}", f"objects:{len(scene.objects)}"}
    names |= {f"{kind}:several" for kind, number in scene.counts.items() if number > 1}
    for thing in scene.objects:
        across = "left" if thing.left + thing.right < GRID else "right"
        along = "upper" if thing.top + thing.bottom < GRID else "lower"
        names.add(thing.kind)
        names |= {f"{thing.kind}:{value}" for value in (thing.colour, thing.size, thing.texture, across, along)}
        if thing.action is not None:
            names.add(f"{thing.kind}:{thing.action}")
    for relations in scene.relations.values():
        names |= relations & frozenset(CANONICAL)
    found = np.zeros(len(LABEL_NAMES), dtype=np.float32)
    found[[_INDEX[name] for name in names]] = 1
    return found
