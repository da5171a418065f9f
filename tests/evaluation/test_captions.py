"""Scores of whole runs on images: their rows, and what happens where something is missing."""

import contextlib
import json
import math

import numpy as np
import pandas as pd
import pytest
from small_task import decoded_row, evaluation_config, write_references

from seqcap.errors import InputError
from seqcap.evaluation.captions import evaluate, read_truth
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import DECODED, SCORES
from seqcap.metrics.registry import DIVERSITY, QUALITY_TABLE, find
from seqcap.rewards.corpus import corpus_values
from seqcap.world.captions import plan
from seqcap.world.clips import ClipsConfig, write_clips
from seqcap.world.english import realise
from seqcap.world.graph import sample
from seqcap.world.scenes import SCENES

RUNS = {name: f"artifacts/paper/decode/all/group/{name}.parquet" for name in ("perfect", "wrong")}
DATA = "artifacts/image/data"
WRONG = ["some", "thing", "else", "here"]
IMAGES = 5


def config(**changes):
    rewards = {"cider": {"cider": 1.0}, "mixed": {"bleu2": 0.5, "rouge_l": 2.0}}
    return evaluation_config(**({"rewards": rewards, "decoded": RUNS} | changes))


def write(folder):
    """Two runs on some scenes: `perfect` says the references, which are true; `wrong` always the same, about nothing.

    People said the same of the training images.
    """
    people, references, scenes = {}, [], []
    for image in range(IMAGES):
        rng = np.random.default_rng([2, image])
        scene = sample(rng)
        scenes.append({"item": image, "split": "test", "graph": json.dumps(scene.to_json())})
        people[image] = [realise(plan(scene, detail, 0.0, rng), rng) for detail in ("generic", "medium")]
        for split, item in (("test", image), ("train", 100 + image)):
            references += [(split, item, tokens) for tokens in people[image]]
    write_references(folder / DATA, references)
    write_rows(folder / DATA / "scenes.parquet", scenes, SCENES)
    for run, path in RUNS.items():
        rows = [
            decoded_row(run, image, decoder, rank, said[rank] if run == "perfect" else WRONG, log_prob=-1.0 - rank)
            for image, said in people.items()
            for decoder, number in (("greedy", 1), ("beam", 2), ("sample", 2))
            for rank in range(number)
        ]
        # In any order.
        write_rows(folder / path, rows[::-1], DECODED)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """All scores, computed once, where there is no Java."""
    folder = tmp_path_factory.mktemp("task")
    write(folder)
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        table = evaluate(config())
    assert table.schema == SCORES
    return table.to_pandas()


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    return tmp_path


def corpus(scores, run, decoder, metric):
    chosen = scores[(scores.run == run) & (scores.decoder == decoder) & (scores.metric == metric)]
    (value,) = chosen[chosen["item"].isna()].value
    return value


def totals(scores, run, decoder, metric):
    """What the images add to a corpus metric, summed."""
    chosen = scores[(scores.run == run) & (scores.decoder == decoder) & (scores.metric == metric)]
    return np.sum(chosen.statistics.tolist(), axis=0)


def test_captions_that_are_references_score_as_such(scored):
    assert corpus(scored, "perfect", "greedy", "BLEU2") == pytest.approx(1)
    assert corpus(scored, "perfect", "beam", "ROUGE_L") == pytest.approx(1)
    assert corpus(scored, "perfect", "beam", "METEOR") == pytest.approx(1)
    assert corpus(scored, "perfect", "sample", "log_prob_mean") == pytest.approx(-1.5)
    assert corpus(scored, "perfect", "sample", "oracle") >= corpus(scored, "perfect", "greedy", "CIDEr")
    assert corpus(scored, "perfect", "sample", "novel") == 0
    assert corpus(scored, "wrong", "sample", "novel") == 100
    assert corpus(scored, "wrong", "sample", "length") == 4
    assert corpus(scored, "wrong", "sample", "vocabulary") == 4
    assert corpus(scored, "wrong", "sample", "unique") < corpus(scored, "perfect", "sample", "unique")
    assert corpus(scored, "wrong", "greedy", "CIDEr") == 0 < corpus(scored, "perfect", "greedy", "CIDEr")
    # Two equal captions of four words: 4 unigrams and 3 bigrams of 8 words.
    assert corpus(scored, "wrong", "sample", "Div1") == pytest.approx(4 / 8)


def test_every_metric_has_its_rows_once_without_java(scored):
    keys = ["run", "seed", "item", "decoder", "rank", "metric"]
    assert not scored.duplicated(keys).any()
    assert (np.isfinite(scored.value) == scored.statistics.isna()).all()
    for metric in QUALITY_TABLE:
        assert corpus(scored, "wrong", "beam", metric) < corpus(scored, "perfect", "beam", metric)
    for metric in DIVERSITY:
        assert math.isfinite(corpus(scored, "perfect", "sample", metric))


def test_rows_are_of_the_level_that_the_registry_says(scored):
    people = scored.run == "human"
    for metric, rows in scored[~people & scored.value.notna()].groupby("metric"):
        levels = {
            "caption": rows["item"].notna() & rows["rank"].notna(),
            "set": rows["item"].notna() & rows["rank"].isna(),
            "corpus": rows["item"].isna(),
        }
        smallest = next(level for level, of_it in levels.items() if of_it.any())
        assert find(metric).level == smallest, metric


def test_a_corpus_metric_is_that_of_its_images_counts(scored):
    counted = scored[scored.statistics.notna()]
    assert set(counted.metric) == {"BLEU1-4", "mBleu1-4"}
    # One row an image, whatever the number of orders.
    assert len(counted) == 2 * (2 + 2) * IMAGES
    for run in RUNS:
        for order in range(1, 5):
            for decoder, metric, counts in (("beam", "BLEU", "BLEU1-4"), ("sample", "mBleu", "mBleu1-4")):
                value = corpus_values(f"{metric}{order}", totals(scored, run, decoder, counts))
                assert value == pytest.approx(corpus(scored, run, decoder, f"{metric}{order}"), abs=1e-12)


def test_first_captions_are_scored_by_every_reward_and_for_repetition(scored):
    first = scored[(scored["rank"] == 0) & scored["item"].notna() & (scored.decoder != "sample")]
    values = first.set_index(["metric", "run", "decoder", "item"]).value.sort_index()
    assert values["reward_mixed", "perfect"].to_numpy() == pytest.approx(2.5)
    assert values["reward_cider"].equals(values["CIDEr"])
    pd.testing.assert_series_equal(values["SPIDEr_sum"], values["CIDEr"] + values["SPICE"], check_names=False)
    assert set(values["words", "wrong"]) == {4}
    assert set(values["seq-rep-2"]) == {0}
    assert len(values["reward_mixed"]) == 2 * 2 * IMAGES


def test_truth_is_that_of_the_scene_and_people_are_measured_too(scored):
    truth = scored[scored.metric.isin(["precision_true", "recall_true", "f1_true", "all_true"])]
    people = scored[scored.run == "human"]
    assert set(people.metric) == {*truth.metric, "words", "Div2"}
    assert (people[people.metric == "words"].value > 0).all()
    # What they say together has no rank.
    assert people[people.metric == "Div2"]["rank"].isna().all()
    assert set(people[people.metric == "precision_true"].value) == {1}
    assert set(people.decoder) == {"sample"}
    # `perfect` says what they say.
    keys = ["item", "rank", "metric"]
    same = truth[(truth.run == "perfect") & (truth.decoder == "sample")]
    of_people = people[people.metric.isin(truth.metric)]
    pd.testing.assert_series_equal(of_people.set_index(keys).value, same.set_index(keys).value)
    each = truth[truth["rank"].notna()].pivot_table(
        index=["run", "decoder", "item", "rank"], columns="metric", values="value"
    )
    harmonic = 2 / (1 / each.precision_true + 1 / each.recall_true)
    pd.testing.assert_series_equal(each.f1_true, harmonic, check_names=False)
    recall = truth[(truth.metric == "recall_true") & (truth.run == "human")].set_index("item")
    single, together = recall[recall["rank"].notna()].value, recall[recall["rank"].isna()].value
    assert (single.groupby("item").max() <= together).all()
    assert set(truth[(truth.run == "wrong") & (truth.metric == "all_true")].value) == {0}


def test_photographs_have_no_truth_and_single_captions_no_diversity(task):
    for path in RUNS.values():
        rows = read_table(path, DECODED).to_pylist()
        write_rows(path, [row for row in rows if row["decoder"] != "sample" and row["rank"] == 0], DECODED)
    (task / DATA / "scenes.parquet").unlink()
    scores = evaluate(config(dataset="flickr8k", rewards={})).to_pandas()
    people = scores[scores.run == "human"]
    assert set(people.metric) == {"words", "Div2"}
    assert set(scores.metric) - {"Div2"} == {*QUALITY_TABLE, "BLEU1-4", "words", "seq-rep-2", "log_prob_mean"}
    assert set(scores.run) == {*RUNS, "human"}


def test_a_split_without_captions_is_one_line(task):
    with pytest.raises(InputError, match=r"references\.parquet: has no captions in split 'unused'"):
        evaluate(config(split="unused"))


def test_truth_of_clips_is_that_of_the_clip(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_clips("artifacts/clip/data", ClipsConfig(train=1, val=1, test=3, size=32), 1)
    found = read_truth(config(task="clip", kind="clips", dataset="clips"))
    assert set(found) == set(range(5))
    assert all(any(clip.moves(i) for i in range(len(clip.objects))) for clip in found.values())
    assert read_truth(config(task="clip", kind="clips", dataset="tgif")) is None
