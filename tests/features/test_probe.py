"""Probes: average precision, and how much of a label's evidence in the features they find."""

from pathlib import Path

import numpy as np
import pytest
from parameter_files import ParameterFiles, resolve
from small_task import write_features

from seqcap.features.precision import average_precisions
from seqcap.features.probe import probe, probe_scenes
from seqcap.files.json_file import read_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import IMAGES, SPLITS
from seqcap.pipeline.kind import kinds
from seqcap.world import scenes
from seqcap.world.clips import ClipsConfig, write_clips
from seqcap.world.graph import MOTIONS
from seqcap.world.labels import CLIP_GROUPS, GROUPS, clip_labels, image_labels
from seqcap.world.motion import Clip


def test_average_precisions_by_hand():
    scores = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.7, 0.3, 0.0], [0.6, 0.4, 0.0]])
    labels = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    # Label 0: hits at ranks 1 and 3; label 1: a hit at rank 4; label 2 has no example.
    assert average_precisions(scores, labels) == pytest.approx([(1 + 2 / 3) / 2, 1 / 4, np.nan], nan_ok=True)


def test_average_precision_of_a_perfect_ranking_is_one_and_of_a_guess_the_share():
    rng = np.random.default_rng(0)
    labels = (rng.random((4000, 1)) < 0.3).astype(float)
    assert average_precisions(labels, labels) == [1.0]
    assert average_precisions(rng.random((4000, 1)), labels)[0] == pytest.approx(labels.mean(), abs=0.03)


def invented(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Label 0 is in the features, label 1 in their noise, label 2 nowhere; label 3 never holds."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, 4)) < (0.5, 0.2, 0.3, 0.0)).astype(np.float32)
    features = rng.normal(size=(n, 6)).astype(np.float32)
    features[:, 0] += 12 * labels[:, 0]
    features[:, 1:3] += labels[:, 1:2]
    return features, labels


def test_a_probe_finds_what_features_hold_and_no_more():
    made = {split: invented(800, number) for number, split in enumerate(SPLITS)}
    features, labels = ({split: values[i] for split, values in made.items()} for i in range(2))
    groups = {"there": [0], "in noise": [1], "not there": [2, 3], "never": [3]}
    found = {row["group"]: row for row in probe(features, labels, groups)}
    assert list(found) == ["there", "in noise", "not there"]
    assert found["there"]["mean_average_precision"] > 0.999
    assert 0.35 < found["in noise"]["mean_average_precision"] < 0.7
    assert found["not there"]["mean_average_precision"] == pytest.approx(found["not there"]["chance"], abs=0.08)
    assert {name: row["labels"] for name, row in found.items()} == {"there": 1, "in noise": 1, "not there": 1}
    assert found["there"]["chance"] == pytest.approx(labels["test"][:, 0].mean())
    # It is fitted on train and chosen on val: what test looks like changes nothing but the figures.
    again = probe(features | {"test": features["val"]}, labels | {"test": labels["val"]}, groups)
    assert again != list(found.values())


SIZES = {"train": 60, "val": 15, "test": 25, "size": 32, "captions": 1}


def write_task(folder: Path, clips: bool = False) -> None:
    """Scenes or clips whose features are their labels."""
    if clips:
        write_clips(folder / "data", ClipsConfig(**SIZES), 1)
        graphs = scenes.read_worlds(folder / "data/scenes.parquet", Clip.from_json)
        labels = [clip_labels(graph) for graph in graphs.values()]
    else:
        scenes.write(folder / "data", scenes.Config(**SIZES), 1)
        graphs = scenes.read_scenes(folder / "data/scenes.parquet")
        labels = [image_labels(graph) for graph in graphs.values()]
    splits = [split for split in SPLITS for _ in range(SIZES[split])]
    rows = [{"item": i, "split": split, "file": f"{i}.png", "coco_id": None} for i, split in enumerate(splits)]
    write_rows(folder / "data/images.parquet", rows, IMAGES)
    write_features(folder / "features/pooled.parquet", np.stack(labels))


def test_clips_are_probed_for_their_motion(tmp_path):
    write_task(tmp_path, clips=True)
    found = {row["group"]: row for row in probe_scenes(tmp_path, "clips")}
    assert list(found) == [group for group in CLIP_GROUPS if group in found]
    motions = [name.replace("_", " ") for name in MOTIONS]
    assert set(motions) <= set(found)
    assert all(found[motion]["labels"] == 1 for motion in motions)
    # The features are the labels.
    precisions, chances = (
        np.array([found[motion][name] for motion in motions]) for name in ("mean_average_precision", "chance")
    )
    assert precisions.mean() > 0.75
    assert (precisions > 2 * chances).all()


def test_the_stage_probes_scenes_and_says_nothing_of_photographs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = kinds()["probe"].run
    files = ParameterFiles(tmp_path)
    write_task(Path("artifacts/image"))
    found = {}
    for dataset in ("scenes", "coco"):
        if dataset == "coco":
            files["tasks.image"] |= {"dataset": "coco", "root": str(tmp_path)}
            files["features.image"] |= {"backbone": "resnet18", "weights": "imagenet"}
        config = resolve(files.read())["probe"]["image"]
        run(config, "image")
        found[dataset] = read_json("reports/features/image.json")
    rows = {row["group"]: row for row in found["scenes"]["groups"]}
    assert list(rows) == list(GROUPS)
    assert rows["kind"]["mean_average_precision"] > 0.99
    assert rows["background"]["mean_average_precision"] > 0.9
    assert all(0 < row["chance"] < row["mean_average_precision"] for row in rows.values())
    assert found["coco"] == {"groups": []}
