"""Clips: what is true of them, how they are sampled, and what the checker says of statements about motion."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scenes_languages import table, thing

from seqcap.world.captions import DETAILS, plan
from seqcap.world.checker import check
from seqcap.world.english import realise
from seqcap.world.graph import GRID, MOTIONS, Scene, gaps
from seqcap.world.motion import FRAMES, PASSING, Change, Clip, sample_clip
from seqcap.world.wording import MAX_WORDS
from seqcap.world.words import ENGLISH, finite_form


def alone(motion, left=100, top=120, width=40, height=40, **changes):
    """A ball that does one thing, from the box (100, 120, 40, 40)."""
    end = Change(motion, left, top, width, height)
    return Clip("meadow", (thing("ball", 100, 120, 40, 40, **changes),), (end,))


MOVING = table("motion.yaml")
ENDS = MOVING["ends"]


def walk(foot: int, first: int = 10, last: int = 200) -> Clip:
    """A dog that moves past a house, whose foot is at 160, and a car that stands."""
    dog = thing("dog", first, foot - 40, 50, 40, action="running")
    motion = "moving_right" if first < last else "moving_left"
    change = Change(motion, last, foot - 40, 50, 40)
    things = (dog, thing("house", 80, 80, 80, 80, colour="blue"), thing("car", 20, 200, 60, 40, colour="black"))
    return Clip("street", things, (change, None, None))


def judge(text: str, clip: Clip) -> list[tuple[str, str, bool]]:
    return [(s.kind, s.text, s.true) for s in check(text.split(), clip).statements]


@pytest.mark.parametrize("motion", MOTIONS)
def test_each_motion_is_true_where_it_happens_and_nowhere_else(motion):
    clips = {name: alone(name, **ends) for name, ends in ENDS.items()}
    for phrase in ENGLISH["motions"][motion]:
        for name, clip in clips.items():
            expected = [("object", "ball", True), ("motion", f"ball {motion.replace('_', ' ')}", name == motion)]
            assert judge(f"a ball {phrase}", clip) == expected
            verdict = check(["a", "ball", *phrase.split()], clip)
            assert verdict.facts == {"object:0", "motion:0"} if name == motion else {"object:0"}
        still = Scene("meadow", clips[motion].objects)
        assert judge(f"a ball is {phrase}", still)[1][2] is False


def test_motions_have_their_facts_and_actions_keep_theirs():
    clip = walk(150)
    facts = {"background", "motion:0", "action:0", "passes_behind:0:1"}
    assert clip.facts == facts | {f"{what}:{i}" for what in ("object", "colour") for i in range(3)} | {"behind:1:2"}
    assert clip.does(0, "running") == "action:0"
    assert clip.does(0, "moving_right") == "motion:0"
    assert clip.does(0, "moving_left") is None
    assert [clip.moves(i) for i in range(3)] == [True, False, False]
    assert clip.deed(0) == "moving_right"
    assert clip.deed(1) is None
    assert judge("a dog running to the right of a car", clip)[1] == ("action", "dog running", True)


@pytest.mark.parametrize(("foot", "name"), [(150, "passes_behind"), (180, "passes_in_front_of")])
@pytest.mark.parametrize(("first", "last"), [(10, 200), (200, 10)])
def test_what_passes_is_behind_where_its_foot_is_higher(foot, name, first, last):
    clip = walk(foot, first, last)
    assert clip.relations[0, 1] & set(PASSING) == {name}
    assert not clip.relations[1, 0] & set(PASSING)
    assert f"{name}:0:1" in clip.facts
    for of in PASSING:
        for phrase in ENGLISH["passing"][of]:
            relation = f"dog {of.replace('_', ' ')} house"
            for verb in (phrase, f"is {phrase}", finite_form(phrase, plural=False)):
                assert ("relation", relation, of == name) in judge(f"a dog {verb} a house", clip)
            assert ("relation", relation, of == name) in judge(f"{phrase} a house there is a dog", clip)
            assert ("relation", relation, of == name) in judge(f"a house with a dog {phrase} it", clip)
    # It is the dog that passes, and it passes no car.
    assert not any(true for kind, _, true in judge("a house passing behind a dog", clip) if kind == "relation")
    assert not any(true for kind, _, true in judge("a dog passing behind a car", clip) if kind == "relation")


def test_nothing_is_passed_halfway_or_from_afar():
    assert not walk(150, 10, 100).relations[0, 1] & set(PASSING)
    # From the middle on, or from its other side away.
    for first in (100, 165):
        assert not walk(150, first, 200).relations[0, 1] & set(PASSING)
    # Its height does not overlap the house's.
    assert not walk(250, 10, 200).relations[0, 1] & set(PASSING)
    both = replace(walk(150), changes=(walk(150).changes[0], Change("turning", 80, 80, 80, 80), None))
    assert not both.relations[0, 1] & set(PASSING)


def test_numbers_count_what_moves():
    things = tuple(thing("ball", left, 150, 30, 30) for left in (10, 100, 200))
    clip = Clip("meadow", things, (Change("moving_up", 10, 120, 30, 30), Change("moving_up", 100, 110, 30, 30), None))
    assert all(true for *_, true in judge("two balls moving up", clip))
    assert ("motion", "ball moving up", False) in judge("three balls moving up", clip)
    assert ("count", "2 ball", True) in judge("two rising balls", clip)
    # What is not true of all tells nothing of any, and nothing is true of what is not there.
    assert not [fact for fact in check(["three", "balls", "moving", "up"], clip).facts if fact.startswith("motion")]
    assert ("motion", "cat moving up", False) in judge("a cat moving up", clip)


def test_frames_lead_from_the_first_box_to_the_last_at_an_even_pace():
    clip = alone("moving_right", left=170)
    assert [clip.frame(number).objects[0].left for number in range(FRAMES)] == [100 + 10 * i for i in range(FRAMES)]
    grown = alone("growing", **ENDS["growing"])
    assert clip.frame(0) == Scene("meadow", clip.objects)
    last = grown.frame(FRAMES - 1).objects[0]
    assert (last.left, last.top, last.width, last.height) == (80, 80, 80, 80)
    sides = [clip.frame(0).objects[0].flip for clip in (alone("turning"), alone("turning", flip=True))]
    assert sides == [False, True]
    assert [alone("turning").frame(number).objects[0].flip for number in range(4)] == [False, True, False, True]


@pytest.mark.parametrize(("motion", "box"), MOVING["not_shown"])
def test_boxes_must_show_the_motion(motion, box):
    with pytest.raises(ValueError, match=f"a ball do not show that it is {motion}"):
        alone(motion, **box)


def test_what_grows_has_no_size_to_tell():
    assert "size:0" not in alone("growing", **ENDS["growing"]).facts
    with pytest.raises(ValueError, match="do not show"):
        alone("growing", **ENDS["growing"], size="small")


@pytest.fixture(scope="module")
def sampled() -> list[Clip]:
    return [sample_clip(np.random.default_rng([3, number])) for number in range(300)]


def test_sampled_clips_move_and_every_motion_occurs(sampled):
    moving = [[change.motion for change in clip.changes if change is not None] for clip in sampled]
    assert {len(motions) for motions in moving} == {1, 2}
    assert {motion for motions in moving for motion in motions} == set(MOTIONS)
    passing = [name for clip in sampled for names in clip.relations.values() for name in names & set(PASSING)]
    assert set(passing) == set(PASSING)
    assert len(passing) > 20
    assert sample_clip(np.random.default_rng([3, 7])) == sampled[7]


def test_sampled_clips_stay_in_the_picture_and_apart(sampled):
    for clip in sampled:
        frames = [clip.frame(number) for number in range(FRAMES)]
        for scene in frames:
            assert all(thing.left >= 0 and thing.right <= GRID and thing.top >= 0 for thing in scene.objects)
        for i, j in combinations(range(len(clip.objects)), 2):
            passes = (clip.relations[i, j] | clip.relations[j, i]) & set(PASSING)
            stacked = {"on", "carries"} & clip.relations[i, j]
            if (clip.moves(i) or clip.moves(j)) and not passes:
                assert not stacked
                assert all(max(gaps(scene.objects[i], scene.objects[j])) >= 4 for scene in frames)


def test_where_things_look_does_not_tell_where_they_go(sampled):
    ways = {"moving_left": [], "moving_right": []}
    for clip in sampled:
        for moved, change in zip(clip.objects, clip.changes, strict=True):
            if change is not None and change.motion in ways:
                ways[change.motion].append(moved.flip)
    assert all(0.25 < np.mean(flips) < 0.75 for flips in ways.values())


def test_captions_of_clips_are_true_and_most_tell_motion(sampled):
    told = []
    for number, clip in enumerate(sampled):
        rng = np.random.default_rng([4, number])
        for detail in DETAILS:
            tokens = realise(plan(clip, detail, 0.0, rng), rng)
            verdict = check(tokens, clip)
            assert verdict.precision == 1.0, (clip, tokens, verdict)
            assert len(tokens) <= MAX_WORDS
            moved = {"motion", "passes_behind", "passes_in_front_of"}
            told.append(any(fact.split(":")[0] in moved for fact in verdict.facts))
    assert np.mean(told) > 0.6
