"""The kinds of stage that train no captioner and decode none, for benchmarks/walk.py: data, word embeddings, mined
images, scores of captions, retrieval and the noise of gradients. Captions are COCO's (val2014) where words matter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import rewards
import torch
from torch import Tensor
from torch.nn import functional as F
from walk_data import LENGTH, SAMPLES, STEPS, WORDS, clock, forget_peak, write_images

from seqcap import retrieval
from seqcap.data import captions as caption_tables
from seqcap.data import glove
from seqcap.data.captions import ImageData
from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.evaluation import captions as scorer
from seqcap.evaluation import estimators as estimator_noise
from seqcap.evaluation import variance as gradient_noise
from seqcap.evaluation.estimators import EstimatorsConfig
from seqcap.evaluation.inputs import EvaluationConfig
from seqcap.evaluation.retrieval import Finder, SplitCaptions
from seqcap.evaluation.variance import VarianceConfig
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_table
from seqcap.files.schemas import DECODED, REFERENCES
from seqcap.retrieval import mining
from seqcap.retrieval.base import RetrieverConfig
from seqcap.retrieval.recalls import embed_captions
from seqcap.training import captioners, retrievers
from seqcap.training.run import TrainingRun

READ = 1_000  # images whose captions are read, or whose words are embedded
SCORED = 100  # images with a greedy caption, a beam of 5 and 5 samples
FOUND = 200  # images that captions are ranked for
MINED = 2_000  # images whose neighbours are searched
DRAWN = 10  # images of a gradient
MIN_COUNT = 5


def data(config: Mapping[str, Any]) -> dict[str, Any]:
    """Reads Karpathy's file, and writes tables and vocabulary; seconds of an image with its captions."""
    corpus, rng = rewards.coco("val2014"), np.random.default_rng(0)
    chosen = corpus.references[:READ]
    splits = rng.permutation(["val", "test", *["train"] * (len(chosen) - 2)]).tolist()
    Path("images").mkdir()
    records, sentence = [], 0
    for item, (split, captions) in enumerate(zip(splits, words_of(corpus.words, chosen), strict=True)):
        sentences = []
        for tokens in captions:
            sentences.append({"sentid": sentence, "raw": " ".join(tokens), "tokens": tokens})
            sentence += 1
        Path(f"images/{item}.jpg").touch()
        record = {"imgid": item, "filename": f"{item}.jpg", "split": split}
        records.append(record | {"sentences": sentences})
    write_json("dataset_coco.json", {"images": records})
    forget_peak()
    begin = clock()
    caption_tables.prepare(ImageData.model_validate(config), Path("artifacts/image/data"))
    return {"seconds": (clock() - begin) / len(chosen)}


def embeddings(config: Mapping[str, Any]) -> dict[str, Any]:
    """GloVe; seconds of an image's captions in an epoch."""
    corpus = rewards.coco("val2014")
    chosen = corpus.references[:READ]
    captions = pa.array([tokens for image in words_of(corpus.words, chosen) for tokens in image])
    vocabulary = Vocabulary.build(captions.to_pylist(), MIN_COUNT)
    settings = glove.Glove.model_validate(config).model_copy(update={"epochs": STEPS})
    glove.train(captions[:10], vocabulary, settings)  # its loops are compiled
    forget_peak()
    begin = clock()
    glove.train(captions, vocabulary, settings)
    return {"seconds": (clock() - begin) / len(chosen) / STEPS}


def evaluate(config: Mapping[str, Any]) -> dict[str, Any]:
    """Every metric; seconds of an image of one run and seed."""
    corpus = rewards.coco("val2014")
    some = len(corpus.references) // 2
    write_scored(corpus.words, corpus.references[:some][:SCORED])
    evaluation = EvaluationConfig.model_validate(config)
    scorer.evaluate(evaluation)  # METEOR's lexicon and SPICE's parser are loaded
    scored = corpus.references[some:][:SCORED]
    write_scored(corpus.words, scored)
    forget_peak()
    begin = clock()
    scorer.evaluate(evaluation)
    return {"seconds": (clock() - begin) / len(scored)}


def retrieve(config: Mapping[str, Any]) -> dict[str, Any]:
    """Ranks by a retriever; seconds of an image and its caption by themselves, and of a caption with an image."""
    job = retriever_job(config, FOUND)
    weights = save(job)
    begin = clock()
    finder = Finder(weights, job.config.task, "test")
    items = list(finder.rows)
    captions = SplitCaptions("greedy", {item: [[]] for item in items}, random_ids(len(items)))
    embedded = embed_captions(finder.retriever, captions.ids, finder.device)
    alone = clock() - begin
    begin = clock()
    with torch.no_grad():
        scores = finder.retriever.compare(embedded, finder.images)
    assert scores.shape == (len(items), len(items))
    return {"seconds": alone / len(items), "pair_seconds": (clock() - begin) / len(items) ** 2}


def mine(config: Mapping[str, Any]) -> dict[str, Any]:
    """Mines by a retriever; seconds of an image by itself, and of an image with another."""
    job = retriever_job(config)
    save(job)
    mined = mining.MiningConfig(
        code={},
        name=job.config.name,
        task=job.config.task,
        retriever=job.config.weights,
        seeds=(1,),
        seed_offset=0,
        neighbours=STEPS,
        max_length=job.config.max_length,
        mined="mined",
    )
    begin = clock()
    mining.make(mined)
    alone = clock() - begin
    width = job.begin().learner.model.embed_images(job.training.inputs.get(np.arange(STEPS))).shape[-1]
    images, texts = (F.normalize(torch.randn(number, width), dim=1) for number in (MINED, 5 * MINED))
    captions = np.arange(len(texts))
    begin = clock()
    mining.nearest(images, texts, captions, captions // 5, STEPS)
    return {"seconds": alone / len(job.training), "pair_seconds": (clock() - begin) / MINED**2}


def variance(config: Mapping[str, Any]) -> dict[str, Any]:
    """The noise of policy gradients; seconds of an image in one of them, by all numbers of rollouts."""
    write_images("pooled")
    job = captioners.Job(TrainingRun.model_validate(config["start"]), 1)
    settings = [setting | {"baseline_steps": STEPS} for setting in config["measured"]["settings"]]
    small = {"images": DRAWN, "batch_size": DRAWN, "replicates": STEPS, "settings": settings}
    of_start = {"start": str(save(job).parent), "seed": 1}
    measured = VarianceConfig.model_validate(config["measured"] | small | of_start)
    forget_peak()
    begin = clock()
    gradient_noise.measure(measured)
    return {"seconds": (clock() - begin) / DRAWN / STEPS}


def estimators(config: Mapping[str, Any]) -> dict[str, Any]:
    """The noise of gradients through a listener; seconds of an image in one of them, by all estimators."""
    listener = retriever_job(config["listener"])
    job = captioners.Job(TrainingRun.model_validate(config["start"]), 1)
    places = {"listener": str(save(listener).parent), "start": str(save(job).parent), "seed": 1}
    measured = EstimatorsConfig.model_validate(config["measured"] | {"images": DRAWN, "replicates": STEPS} | places)
    forget_peak()
    begin = clock()
    estimator_noise.measure(measured)
    return {"seconds": (clock() - begin) / DRAWN / STEPS}


def words_of(words: list[str], references: rewards.Captions) -> list[list[list[str]]]:
    """The captions of images in words, at most five of each."""
    return [[[words[token] for token in caption] for caption in captions[:5]] for captions in references]


def write_scored(words: list[str], references: rewards.Captions) -> None:
    """References of images, of which as many train as are tested, and captions that are right in parts."""
    rng = np.random.default_rng(0)
    people = words_of(words, references)
    split = np.repeat(["train", "test"], 5 * len(people))
    tokens = [caption for captions in people for caption in captions] * 2
    rows = {
        "item": np.repeat(np.arange(2 * len(people)), 5),
        "split": split,
        "caption_id": np.arange(len(tokens)),
        "text": [" ".join(caption) for caption in tokens],
        "tokens": tokens,
    }
    write_table(Path("artifacts/image/data/references.parquet"), pa.table(rows).cast(REFERENCES), REFERENCES)
    decoded = []
    for image in range(len(people)):
        for decoder, ranks in {"greedy": 1, "beam": 5, "sample": SAMPLES}.items():
            for rank in range(ranks):
                caption = [words[token] for token in rewards.hypothesis(references, image, rng)]
                row = {"run": "run", "seed": 1, "item": len(people) + image, "decoder": decoder, "rank": rank}
                decoded.append(row | {"text": " ".join(caption), "tokens": caption, "log_prob": -10.0})
    write_table(Path("decoded.parquet"), pa.Table.from_pylist(decoded, schema=DECODED), DECODED)


def retriever_job(config: Mapping[str, Any], tested: int | None = None) -> retrievers.Job:
    """Writes the images that a retriever reads, so many of which are tested; its training."""
    wanted = RetrieverConfig.model_validate(config)
    write_images(Path(retrieval.features_file(wanted.architecture)).stem, tested)
    forget_peak()
    return retrievers.Job(wanted, 1)


def random_ids(number: int) -> Tensor:
    """Captions [number, LENGTH + 1] of random words with EOS, each another one."""
    words = torch.randint(len(SPECIALS), WORDS["image"], (number, LENGTH))
    return F.pad(words, (0, 1), value=EOS)


def save(job: Any) -> Path:
    """The weights that a training begins with, as if they were its best ones."""
    state = job.begin()
    state.keep(0.0)
    job.save(state)
    config = job.run if isinstance(job, captioners.Job) else job.config
    return Path(config.weights) / "seed1.safetensors"
