"""Look-alikes: what a group differs in, and which pictures are in one."""

import json
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

from seqcap.files import parquet
from seqcap.world import scenes
from seqcap.world.graph import GRID, Scene, SceneObject, is_clear, sample
from seqcap.world.lookalikes import BLOCK, look_alikes, members
from seqcap.world.scenes import SCENES, Config

LOOKS = ("colour", "size", "texture", "action")
PLACE = ("left", "top", "width", "height")


def looks(thing: SceneObject) -> tuple[object, ...]:
    return (thing.kind, thing.flip, *(getattr(thing, name) for name in LOOKS))


def difference(a: Scene, b: Scene) -> set[str]:
    """The kinds of facts that two scenes differ in."""
    found = {"background"} if a.background != b.background else set()
    shorter, longer = sorted((a, b), key=lambda scene: len(scene.objects))
    n = len(shorter.objects)
    if len(longer.objects) > n:
        found.add("count")
        # Those that were there stay as they were, and the new ones look like one of them.
        assert longer.objects[:n] == shorter.objects
        for thing in longer.objects[n:]:
            assert any(thing.kind == t.kind and looks(thing)[2:] == looks(t)[2:] for t in shorter.objects)
    for left, right in zip(shorter.objects, longer.objects, strict=False):
        assert (left.kind, left.flip) == (right.kind, right.flip)
        found |= {name for name in LOOKS if getattr(left, name) != getattr(right, name)}
    if any(longer.relations[pair] != names for pair, names in shorter.relations.items()):
        found.add("relation")
    return found


def group_of(number: int) -> list[Scene]:
    rng = np.random.default_rng([31, number])
    return look_alikes(sample(rng), 2 + number % 3, rng)


@pytest.fixture(scope="module")
def made() -> list[list[Scene]]:
    return [group_of(number) for number in range(400)]


def test_members_differ_in_one_respect_the_same_for_the_group(made):
    seen = Counter()
    for number, group in enumerate(made):
        assert len(group) == 2 + number % 3
        differences = {frozenset(difference(a, b)) for a, b in combinations(group, 2)}
        assert len(differences) == 1, group
        (respects,) = differences
        assert len(respects) == 1, group
        seen[next(iter(respects))] += 1
    assert set(seen) == {*LOOKS, "count", "relation"}
    assert min(seen.values()) > 20


def test_what_does_not_differ_stays_where_it_is(made):
    for group in made:
        for other in group[1:]:
            changed = [(a, b) for a, b in zip(group[0].objects, other.objects, strict=False) if a != b]
            assert len(changed) <= 1
            for before, after in changed:
                if looks(before) != looks(after):
                    # On the same spot, at most higher or wider.
                    assert before.bottom == after.bottom
                    assert abs(before.left + before.right - after.left - after.right) <= 1


def test_they_obey_the_rules_of_sampled_scenes(made):
    for group in made:
        for scene in group:
            assert Scene.from_json(json.dumps(scene.to_json())) == scene
            for a, b in combinations(scene.objects, 2):
                assert is_clear(a, b), scene
            assert all(min(one.left, one.top) >= 2 and one.right <= GRID - 2 for one in scene.objects)


def test_the_same_random_numbers_give_the_same_group(made):
    assert [group_of(number) for number in range(30)] == made[:30]
    scene = sample(np.random.default_rng(1))
    assert look_alikes(scene, 1, np.random.default_rng(1)) == [scene]


def test_a_block_has_one_group_of_two_to_four():
    starts = {number: size for number in range(200 * BLOCK) if (size := members(7, number)) > 1}
    assert [number // BLOCK for number in starts] == list(range(200))
    assert all(number % BLOCK + size <= BLOCK for number, size in starts.items())
    assert set(starts.values()) == {2, 3, 4}
    assert 0.22 < sum(starts.values()) / (200 * BLOCK) < 0.28
    assert starts.keys() != {number for number in range(200 * BLOCK) if members(8, number) > 1}


def test_groups_of_a_dataset(tmp_path):
    scenes.write(tmp_path / "a", Config(train=100, val=50, test=70, size=32, captions=1), 3)
    rows = parquet.read_table(tmp_path / "a/scenes.parquet", SCENES).to_pylist()
    found = defaultdict(list)
    for row in rows:
        if row["group"] is not None:
            found[row["group"]].append(row)
    for first, group in found.items():
        assert [row["item"] for row in group] == list(range(first, first + len(group)))
        assert len({row["split"] for row in group}) == 1
        read = [Scene.from_json(row["graph"]) for row in group]
        assert 2 <= len(read) <= 4
        assert all(len(difference(a, b)) == 1 for a, b in combinations(read, 2))
    assert {row["split"] for group in found.values() for row in group} == {"train", "val", "test"}
    # Where a border between splits cuts a group, its pictures stand alone, and all others are as they were.
    cut = next(first for first, group in found.items() if group[0]["split"] == "train" and first > 20) + 1
    scenes.write(tmp_path / "b", Config(train=cut, val=50, test=70, size=32, captions=1), 3)
    others = parquet.read_table(tmp_path / "b/scenes.parquet", SCENES).to_pylist()
    assert {row["group"] for row in others if row["item"] < cut + 3} >= {None}
    assert cut - 1 not in {row["group"] for row in others}
    assert others[cut - 1]["graph"] == rows[cut - 1]["graph"]
    assert others[cut]["graph"] != rows[cut]["graph"]
    assert [row["graph"] for row in others[: cut - 1]] == [row["graph"] for row in rows[: cut - 1]]
