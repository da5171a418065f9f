"""What a run at the papers' sizes takes, foretold from measured steps."""

from types import SimpleNamespace

import pytest
from small_task import run_config

from seqcap.data.captions import ImageData
from seqcap.evaluation.inputs import EvaluationConfig
from seqcap.evaluation.people import PeopleConfig
from seqcap.evaluation.retrieval import RetrievalConfig
from seqcap.evaluation.search import DecodeConfig, DecodingRun
from seqcap.features.extraction import FeaturesConfig
from seqcap.files.json_file import write_json
from seqcap.pipeline.forecast import forecast
from seqcap.retrieval.base import RetrieverConfig
from seqcap.retrieval.mining import MiningConfig
from seqcap.training.run import TrainConfig

IMAGES, TESTED = 113_287, 5_000


@pytest.fixture
def project():
    """Kinds of stages with these configurations."""
    data = ImageData(code={}, dataset="coco", root="", min_count=5, max_length=18, seed=1, fingerprint={}, scenes=None)
    features = FeaturesConfig(
        code={}, task="image", root="", frames=None, grid=14, dtype="float16", batch_size=8, image_size=224
    )
    start = run_config(name="start", paper="shared", captioner="lstm2", seeds=(1, 2), weights="start")
    run = run_config(name="own", paper="sle", objective="maximum_entropy", seeds=(1,), weights="own")
    decoding = DecodingRun(
        name="own",
        task="image",
        kind="images",
        split="test",
        max_length=19,
        weights="own",
        teams=((1,), (2, 3)),
        beam=5,
        samples=0,
        no_repeat_ngram=0,
        batch_size=100,
        decoded="",
    )
    configs = {
        "data": {"image": data},
        "features": {"image": features},
        "retriever": {},
        "pretrain": {"lstm2": TrainConfig(code={}, runs=(start,))},
        "train": {"own": TrainConfig(code={}, runs=(run,))},
        "decode": {"own": DecodeConfig(code={}, runs=(decoding,))},
    }
    return SimpleNamespace(configs=lambda kind, form: configs.get(kind, {}), stages=configs)


def test_hours_memory_and_disk_follow_from_measured_images(project, tmp_path):
    cases = [
        {"stage": "features", "of": "resnet152", "seconds": 0.5, "peak_mb": 900},
        {"stage": "train", "of": "lstm", "objective": "cross_entropy", "seconds": 0.01, "peak_mb": 2000},
        {"stage": "train", "of": "lstm", "objective": "self_critical", "seconds": 0.04, "peak_mb": 3000},
        {"stage": "decode", "of": "lstm", "seconds": 0.2, "peak_mb": 4000, "weights_mb": 50},
    ]
    write_json(tmp_path / "walk.json", {"cases": cases})
    costs = forecast(project, "shared", tmp_path / "walk.json")
    epochs = run_config().training.epochs
    extraction, features = (IMAGES + 2 * TESTED) * 0.5, (IMAGES + 2 * TESTED) * 197 * 2048 * 2 / 1e6
    assert costs["shared"].hours * 3600 == pytest.approx(extraction + IMAGES * epochs * 2 * 0.01)
    assert (costs["shared"].memory, costs["shared"].disk) == (2000, pytest.approx(features + 2 * 50))
    assert costs["sle"].hours * 3600 == pytest.approx(IMAGES * epochs * 0.04 + 3 * TESTED * 0.2)
    assert (costs["sle"].memory, costs["sle"].disk) == (4000, 50)
    assert costs["sle"].on_a_core().endswith(" hours of one core, 4.0 GB of memory a stage, 0 GB of disk")
    assert costs["sle"].on_a_gpu().endswith(" hours of one GPU, 4.0 GB of its memory")


def test_scores_ranks_and_what_is_mined_are_counted_too(project, tmp_path):
    """Two seeds or ensembles of one run are decoded; a judge has three seeds; GloVe takes four epochs."""
    trained = {"training": None, "model": {}, "folder": None, "fingerprint": {}, "root": "", "evaluate_on": "test"}
    common = {"code": {}, "task": "image", "max_length": 19}
    retrievers = {
        "listener": RetrieverConfig(
            name="listener", architecture="dual_encoder", seeds=(1,), weights="listener", **trained, **common
        ),
        "judge": RetrieverConfig(
            name="judge", architecture="cross_attention", seeds=(1, 2, 3), weights="judge", **trained, **common
        ),
    }
    scored = {"name": "own", "paper": "sle", "dataset": "coco", "split": "test", "decoded": {"own": ""}}
    judged = {"listener": "listener", "judge": "judge", "twin": None, "captioner": ""}
    project.stages |= {
        "retriever": retrievers,
        "embeddings": {"image": SimpleNamespace(task="image", source=None, glove=SimpleNamespace(epochs=4))},
        "mine": {
            "listener": MiningConfig(
                name="listener", retriever="listener", seeds=(1, 2), seed_offset=0, neighbours=2, mined="", **common
            )
        },
        "evaluate": {
            "own": EvaluationConfig(code={}, task="image", kind="images", references=None, rewards={}, **scored)
        },
        "retrieve": {"own": RetrievalConfig(**scored, **common, **judged, weights={}, decoder="greedy", payers={})},
        "people": {"own": PeopleConfig(**(scored | {"decoded": {}}), **common, **judged, seeds=(1,))},
    }
    ranks = {"seconds": 0.5, "pair_seconds": 0.01, "peak_mb": 100}
    cases = [
        {"stage": "data", "of": "coco", "seconds": 0.25, "peak_mb": 100},
        {"stage": "embeddings", "of": "captions", "seconds": 0.125, "peak_mb": 100},
        {"stage": "mine", "of": "dual_encoder", **ranks},
        {"stage": "evaluate", "of": "captions", "seconds": 2.0, "peak_mb": 100},
        {"stage": "retrieve", "of": "dual_encoder", **ranks},
        {"stage": "retrieve", "of": "cross_attention", **ranks},
    ]
    write_json(tmp_path / "walk.json", {"cases": cases})
    costs = forecast(project, "shared", tmp_path / "walk.json")
    prepared, embedded = (IMAGES + 2 * TESTED) * 0.25, IMAGES * 4 * 0.125
    mined = 2 * (IMAGES * 0.5 + IMAGES**2 * 0.01)
    assert costs["shared"].hours * 3600 == pytest.approx(prepared + embedded + mined)
    # Of each image two captions, and people's five, which are ranked among images and rank them; by a retriever and
    # three judges.
    captions = TESTED * (2 + 10)
    assert costs["sle"].hours * 3600 == pytest.approx(2 * TESTED * 2.0 + 4 * captions * (0.5 + TESTED * 0.01))


def test_nothing_is_foretold_without_measurements(project, tmp_path):
    assert forecast(project, "shared", tmp_path / "absent.json") == {}
