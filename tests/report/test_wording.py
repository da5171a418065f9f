"""How captions are worded: what is no sentence, how many differ, and what the first page says of both."""

from types import SimpleNamespace

import pandas as pd
import pytest

from seqcap.files import json_file
from seqcap.first_page.asides import Asides, often_ungrammatical
from seqcap.report import wording
from seqcap.world import scenes


@pytest.mark.parametrize(
    ("caption", "has"),
    [
        ("there is a man is in the grass", True),
        ("two men are in a field is green", True),
        ("a man is in the grass", False),
        ("a man", False),
        ("there is a dog that is asleep", False),
        ("a lady is sitting and there is a house", False),
        ("next to a fellow who is waving there is a dog", False),
        ("a dog is running while a cat is sitting is", True),
    ],
)
def test_a_sentence_has_one_verb_but_for_those_of_clauses(caption, has):
    assert wording.has_two_verbs(caption.split()) is has


def test_no_reference_of_a_scene_has_two(tmp_path):
    scenes.write(tmp_path, scenes.Config(train=150, val=1, test=1, size=32), 7)
    (file,) = tmp_path.glob("*.json")
    captions = [sentence["tokens"] for image in json_file.read_json(file)["images"] for sentence in image["sentences"]]
    assert len(captions) > 700
    assert sum(caption.count("is") > 1 for caption in captions) > 5
    assert not [caption for caption in captions if wording.has_two_verbs(caption)]


@pytest.mark.parametrize(
    ("caption", "has"),
    [
        ("a black dog is is running", True),
        ("a black and black dog", True),
        ("a dog in the snow in the snow", True),
        ("a man in a red shirt and a red shirt", True),
        ("a man in a red hat and a man in a blue hat", False),
        ("a man in a woman is standing", True),
        ("a dog in the boy", True),
        ("a man is in the water is jumping", True),
        ("a man in a is standing", True),
        ("a man is standing in front of a", True),
        ("a girl and a boy are", True),
        ("a man in a red shirt is standing in the street", False),
        ("a man is running and a dog is barking", False),
        ("the dog that is brown is running", False),
        ("a boy in a boat", False),
        ("this is a thesis", False),
    ],
)
def test_plain_faults_of_english_are_seen(caption, has):
    assert wording.has_fault(caption) is has


def test_hardly_any_caption_by_people_has_one(shared):
    """Pages say how many have."""
    images = json_file.read_json(shared / "data/flickr8k/dataset_flickr8k.json")["images"]
    captions = [" ".join(sentence["tokens"]) for image in images for sentence in image["sentences"]]
    assert len(captions) == 40_455
    share = sum(map(wording.has_fault, captions)) / len(captions)
    assert 100 * share == pytest.approx(wording.BY_PEOPLE, abs=0.05)


def results(dataset: str):
    lines = [("beam", 1, 0, "a dog"), ("beam", 1, 0, "a dog"), ("beam", 1, 1, "a cat"), ("greedy", 1, 0, "a cow")]
    lines += [("beam", 2, 0, "there is a dog is in a field"), ("beam", 2, 0, "a bird")]
    decoded = pd.DataFrame(lines, columns=["decoder", "seed", "rank", "text"])
    return SimpleNamespace(
        decoded=lambda name: decoded if name == "a" else decoded[decoded["decoder"] == "greedy"],
        dataset=lambda task: dataset,
        by_name={name: SimpleNamespace(task="image") for name in ("a", "b")},
    )


@pytest.mark.parametrize(
    ("dataset", "shares"),
    [
        ("scenes", {"distinct captions": 75, "two verbs": 25}),
        ("coco", {"distinct captions": 75, "captions with a fault": 25}),
        ("clips", {"distinct captions": 75}),
    ],
)
def test_the_best_captions_of_every_seed_are_measured(tmp_path, dataset, shares):
    """Of clips no faults are known. What no beam has decoded has nothing."""
    assert wording.read(tmp_path) == {}
    wording.write(wording.measure(results(dataset), [("a", "beam"), ("a", "greedy"), ("b", "beam")]), tmp_path)
    assert wording.read(tmp_path) == {"a": shares}


def test_runs_of_which_many_are_ungrammatical_are_named_with_their_seeds():
    measured = {"a": {"two verbs": [0.0, 39.3]}, "b": {"two verbs": [1.0, 2.0]}, "c": {"two verbs": [33.8]}, "d": {}}
    unnamed = {"e": {"two verbs": [99.0]}}
    labels = {name: name.upper() for name in "abcd"}
    assert wording.ungrammatical(measured | unnamed, labels) == ["C 33.8 (one seed)", "A 19.6 (0 to 39)"]


def test_faults_are_told_of_every_run():
    measured = {"a": {"captions with a fault": [3.0, 4.0]}, "b": {"captions with a fault": [24.2]}, "c": {}}
    assert wording.faulty(measured, {name: name.upper() for name in "abc"}) == ["B 24.2 (one seed)", "A 3.5 (3 to 4)"]
    assert wording.faulty(measured, {}) == []


def test_how_many_captions_differ_is_told_of_every_run():
    measured = {"a": {"distinct captions": [70.0, 72.0]}, "b": {"distinct captions": [43.0]}}
    labels = {name: name.upper() for name in "abc"}
    assert wording.distinct(measured, labels) == ["B 43.0 (one seed)", "A 71.0 (70 to 72)"]


def test_what_is_often_ungrammatical_is_named():
    rows = [SimpleNamespace(label=name.upper(), run=name) for name in ("a", "b", "c")]
    asides = Asides(worded={"a": {"two verbs": 33.66}, "b": {"two verbs": 2.0}})
    assert often_ungrammatical(rows, asides) == {"A": 33.66}
