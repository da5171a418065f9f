"""Scene graphs: sampling, the exact relations, and reading."""

import numpy as np
import pytest
from scenes_languages import thing

from seqcap.world.graph import INVERSE, NEAR, TOUCH, Scene, SceneObject, sample


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return [sample(np.random.default_rng([9, number])) for number in range(600)]


def box(left: int, top: int, kind: str = "ball") -> SceneObject:
    return thing(kind, left, top, 40, 40, action="flying" if kind == "kite" else None)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (box(0, 100), box(40 + NEAR, 100), {"left_of", "next_to"}),
        (box(0, 100), box(41 + NEAR, 100), {"left_of"}),
        (box(0, 100), box(60, 140), {"left_of"}),  # side by side only where their heights overlap
        (box(100, 100), box(0, 130), {"right_of"}),
        (box(0, 100), box(0, 180), {"behind"}),
        (box(0, 180), box(0, 100), {"in_front_of"}),
        (box(0, 20, "kite"), box(0, 180), {"above"}),
        (box(0, 180), box(0, 20, "kite"), {"below"}),
        (box(0, 100), box(0, 140 + TOUCH), {"on", "above"}),
        (box(0, 140 + TOUCH), box(0, 100), {"carries", "below"}),
        (box(0, 100), box(0, 141 + TOUCH), {"behind"}),
        (box(0, 100), box(20, 140), {"on", "above"}),  # half of its width is carried
        (box(0, 100), box(21, 140), {"behind"}),
    ],
)
def test_relations(first, second, expected):
    assert Scene("snow", (first, second)).relations[0, 1] == expected


def test_relations_have_their_inverse_and_one_direction(scenes):
    directions = {"left_of", "right_of", "above", "below", "behind", "in_front_of"}
    for scene in scenes:
        for (i, j), names in scene.relations.items():
            assert {INVERSE[name] for name in names} == scene.relations[j, i]
            assert len(names & directions) == 1


def test_facts_of_relations_do_not_depend_on_who_is_named_first(scenes):
    for scene in scenes[:200]:
        for (i, j), names in scene.relations.items():
            for name in names:
                assert scene.relation_fact(name, i, j) == scene.relation_fact(INVERSE[name], j, i)
            assert scene.relation_fact("on", i, j) is None or "on" in names
