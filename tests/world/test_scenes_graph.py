"""Scene graphs: sampling, the exact relations, and reading."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from seqcap.world.graph import BACKGROUNDS, COLOURS, INVERSE, KINDS, NEAR, TOUCH, Scene, SceneObject, sample


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return [sample(np.random.default_rng([9, number])) for number in range(600)]


def box(left: int, top: int, width: int = 40, height: int = 40, *, flying: bool = False) -> SceneObject:
    if flying:
        return SceneObject("kite", "red", "medium", "plain", "flying", left, top, width, height, False)
    return SceneObject("ball", "red", "medium", "plain", None, left, top, width, height, False)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (box(0, 100), box(40 + NEAR, 100), {"left_of", "next_to"}),
        (box(0, 100), box(41 + NEAR, 100), {"left_of"}),
        (box(0, 100), box(60, 140), {"left_of"}),  # side by side only where their heights overlap
        (box(100, 100), box(0, 130), {"right_of"}),
        (box(0, 100), box(0, 180), {"behind"}),
        (box(0, 180), box(0, 100), {"in_front_of"}),
        (box(0, 20, flying=True), box(0, 180), {"above"}),
        (box(0, 180), box(0, 20, flying=True), {"below"}),
        (box(0, 100), box(0, 140 + TOUCH), {"on", "above"}),
        (box(0, 140 + TOUCH), box(0, 100), {"carries", "below"}),
        (box(0, 100), box(0, 141 + TOUCH), {"behind"}),
        (box(0, 100), box(20, 140), {"on", "above"}),  # half of its width is carried
        (box(0, 100), box(21, 140), {"behind"}),
    ],
)
def test_relations(first: SceneObject, second: SceneObject, expected: set[str]) -> None:
    assert Scene("snow", (first, second)).relations[0, 1] == expected


def test_relations_have_their_inverse_and_one_direction(scenes: list[Scene]) -> None:
    directions = {"left_of", "right_of", "above", "below", "behind", "in_front_of"}
    for scene in scenes:
        for (i, j), names in scene.relations.items():
            assert {INVERSE[name] for name in names} == scene.relations[j, i]
            assert len(names & directions) == 1


def test_facts_of_relations_do_not_depend_on_who_is_named_first(scenes: list[Scene]) -> None:
    for scene in scenes[:200]:
        for (i, j), names in scene.relations.items():
            for name in names:
                assert scene.relation_fact(name, i, j) == scene.relation_fact(INVERSE[name], j, i)
            assert scene.relation_fact("on", i, j) is None or "on" in names


def test_samples_cover_everything(scenes: list[Scene]) -> None:
    things = [thing for scene in scenes for thing in scene.objects]
    assert {scene.background for scene in scenes} == set(BACKGROUNDS)
    assert {thing.kind for thing in things} == set(KINDS)
    assert {thing.colour for thing in things} == set(COLOURS)
    assert {len(scene.objects) for scene in scenes} == {1, 2, 3, 4}
    found = {name for scene in scenes for names in scene.relations.values() for name in names}
    assert found == set(INVERSE)
    # Zipf-like: the most frequent kind is seen several times as often as the rarest.
    counts = [sum(thing.kind == kind for thing in things) for kind in KINDS]
    assert max(counts) == counts[KINDS.index("man")] > 3 * min(counts)


def test_sampled_objects_hardly_overlap(scenes: list[Scene]) -> None:
    for scene in scenes:
        for i, a in enumerate(scene.objects):
            for b in scene.objects[:i]:
                across = min(a.right, b.right) - max(a.left, b.left)
                along = min(a.bottom, b.bottom) - max(a.top, b.top)
                assert min(across, along) <= TOUCH


def test_json_round_trip(scenes: list[Scene]) -> None:
    for scene in scenes[:100]:
        assert Scene.from_json(json.dumps(scene.to_json())) == scene


def broken(**changes: Any) -> str:
    graph = json.loads(json.dumps(Scene("snow", (box(0, 0), box(100, 100))).to_json()))
    thing = changes.pop("thing", {})
    graph["objects"][1] |= thing
    return json.dumps(graph | changes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        broken(background="moon"),
        broken(weather="fine"),
        broken(objects=[]),
        broken(objects=[Scene("snow", (box(0, 0),)).to_json()["objects"][0]] * 5),
        broken(thing={"kind": "dragon"}),
        broken(thing={"colour": None}),
        broken(thing={"name": "Rex"}),
        broken(thing={"left": -1}),
        broken(thing={"top": 12.5}),
    ],
)
def test_malformed_graphs(text: str) -> None:
    with pytest.raises(ValidationError):
        Scene.from_json(text)
