"""A task small enough to train on in a second: features that say which caption is right."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image
from ruamel.yaml import YAML
from small_captioner import write_huggingface

from seqcap import models
from seqcap.data.pairs import Corpus, write_pairs
from seqcap.data.tokens import load_vocabulary
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.evaluation.inputs import EvaluationConfig
from seqcap.evaluation.search import DecodingRun
from seqcap.features.captioner_folder import read_vocabulary
from seqcap.features.encoders import with_weights
from seqcap.files import json_file, parquet, schemas, tensors
from seqcap.models.base import Captioner
from seqcap.retrieval.base import RetrieverConfig
from seqcap.retrieval.dual_encoder import Config, Model
from seqcap.retrieval.mining import MINED, mined_file
from seqcap.system.machine import check_precision
from seqcap.system.scratch import checkpoints, forget
from seqcap.training.captioners import Trained, train_all
from seqcap.training.run import TrainingRun

WORDS = ["red", "green", "blue", "dog", "cat", "bird"]
CHANNELS = 8
STAGE = "train-small"
# Of an LSTM that captions images.
SETTINGS = {"hidden": 8, "image_input": "initial_state"}
# Kind -> fields of a small configuration.
SMALL: dict[str, dict[str, Any]] = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml").read_text())
LAYOUT = {"train": 24, "val": 6, "test": 6}


def write_features(path: Path, values: np.ndarray, items: Sequence[int] | None = None, rows: int | None = None) -> None:
    """Writes features [item, ...] as the pipeline stores them, in row groups of `rows`."""
    schema = schemas.features_schema(values.shape[1:], pa.from_numpy_dtype(values.dtype))
    column = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), type=schema.field("features").type)
    ids = pa.array(range(len(values)) if items is None else items, pa.int64())
    with parquet.parquet_stream(path, schema) as writer:
        writer.write_table(pa.Table.from_arrays([ids, column], schema=schema), rows)


def write_task(folder: Path) -> None:
    """Writes artifacts/image/{data,features} and artifacts/machine.json under `folder`."""
    rng = np.random.default_rng(0)
    images: list[dict[str, Any]] = []
    said, pooled = [], []
    for split, number in LAYOUT.items():
        for _ in range(number):
            image = len(images)
            colour, animal = image % 3, 3 + image // 3 % 3
            images.append({"item": image, "split": split, "file": f"{image}.png"})
            feature = rng.normal(0, 0.1, CHANNELS)
            feature[[colour, animal]] += 3
            pooled.append(feature)
            said.append((split, image, ["a", WORDS[colour], WORDS[animal]]))
            said.append((split, image, ["the", WORDS[animal], "is", WORDS[colour]]))
    data = folder / "artifacts/image/data"
    parquet.write_rows(data / "images.parquet", images, schemas.IMAGES)
    write_references(data, said)
    Vocabulary.build([tokens for split, _, tokens in said if split == "train"], 1).write(data / "vocabulary.json")
    values = np.array(pooled, dtype=np.float32)
    write_features(folder / "artifacts/image/features/pooled.parquet", values)
    grids = np.repeat(values, 4, 0).reshape(-1, 2, 2, CHANNELS)
    write_features(folder / "artifacts/image/features/grid.parquet", grids)
    json_file.write_json(folder / "artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "python"})


def write_references(data: Path, said: list[tuple[str, int, list[str]]]) -> None:
    """Writes people's captions: split, image and words of each."""
    rows = [
        {"item": item, "split": split, "caption_id": number, "text": " ".join(tokens), "tokens": tokens}
        for number, (split, item, tokens) in enumerate(said)
    ]
    parquet.write_rows(data / "references.parquet", rows, schemas.REFERENCES)


def karpathy_layout(dataset: str) -> dict[str, Any]:
    """A dataset in Karpathy's layout: an image of every split, with two captions."""
    images: list[dict[str, Any]] = []
    for i, split in enumerate(("train", "restval", "val", "test", "unused")):
        image = {"imgid": 10 + i, "filename": f"{i}.png", "split": split, "sentids": [2 * i, 2 * i + 1]}
        said = {"tokens": ["A", "dog", "runs"], "imgid": 10 + i}
        sentences = [said | {"raw": f"A dog\n runs {k} .\n", "sentid": 2 * i + k} for k in range(2)]
        images.append(image | {"sentences": sentences})
    return {"dataset": dataset, "images": images}


def decoded_row(
    run: str, item: int, decoder: str, rank: int, tokens: list[str], seed: int = 1, log_prob: float = -1.0
) -> dict[str, Any]:
    """A captioner's caption."""
    row = {"run": run, "seed": seed, "item": item, "decoder": decoder, "rank": rank}
    return row | {"text": " ".join(tokens), "tokens": tokens, "log_prob": log_prob}


def decoding_run(**changes: Any) -> DecodingRun:
    return DecodingRun(**(SMALL["decoding"] | changes))


def evaluation_config(**changes: Any) -> EvaluationConfig:
    return EvaluationConfig(**(SMALL["evaluation"] | changes))


def corpus_config(**changes: Any) -> Corpus:
    return Corpus(**(SMALL["corpus"] | changes))


def write_translation_task(folder: Path, subwords: int | None = None) -> None:
    """Writes artifacts/de_en/data and artifacts/machine.json under `folder`: German noun phrases, the order of whose
    adjectives English turns round."""
    colours = {"rot": "red", "grün": "green", "blau": "blue"}
    animals = {"hund": "dog", "katze": "cat", "vogel": "bird", "pferd": "horse"}
    pairs = [
        (f"{animal} {colour} {size}".split(), f"the {sizes[size]} {colours[colour]} {animals[animal]}".split())
        for sizes in ({"gross": "big", "klein": "small"},)
        for size in sizes
        for colour in colours
        for animal in animals
    ]
    rng = np.random.default_rng(0)
    corpus = folder / "corpus"
    corpus.mkdir()
    for split, number in {"train": 60, "val": 8, "test": 8}.items():
        chosen = [pairs[i] for i in rng.integers(len(pairs), size=number)]
        for language, side in (("de", 0), ("en", 1)):
            lines = [" ".join(pair[side]) + "\n" for pair in chosen]
            (corpus / f"{split}.{language}").write_text("".join(lines), encoding="utf-8")
    write_pairs(corpus, corpus_config(subwords=subwords), folder / "artifacts/de_en/data")
    json_file.write_json(folder / "artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "python"})


def write_embeddings(folder: Path, task: str = "image") -> Path:
    """Writes artifacts/words/<task>/embeddings.parquet under `folder`: colours near colours, animals near animals."""
    rng = np.random.default_rng(0)
    vectors = np.repeat(np.eye(2), 3, axis=0) + rng.normal(0, 0.1, (6, 2))
    rows = [{"word": word, "vector": vector} for word, vector in zip(WORDS, vectors.tolist(), strict=True)]
    path = folder / f"artifacts/words/{task}/embeddings.parquet"
    parquet.write_rows(path, rows, schemas.embeddings_schema(2))
    return path


def write_pretrained_task(folder: Path, captioner: str) -> None:
    """Writes artifacts/photo under `folder`: the images of `write_task` as pictures, with the tokens of a tiny BLIP in
    the folder `captioner`, whose path is relative as in a checkout."""
    pieces = ["a", "the", "is", "re", "##d", *WORDS]
    write_huggingface(folder / captioner, "blip", [piece for piece in pieces if piece != "red"])
    data = folder / "artifacts/photo"
    shutil.copytree(folder / "artifacts/image", data)
    (data / "data/vocabulary.json").unlink()
    read_vocabulary(folder / captioner).write(data / "data/vocabulary.json")
    pictures = folder / "pictures"
    pictures.mkdir()
    rng = np.random.default_rng(0)
    for image in range(sum(LAYOUT.values())):
        colours = np.full((20, 24, 3), 20 * (image // 3 % 3), np.uint8)
        colours[:, :, image % 3] += 200
        Image.fromarray(colours + rng.integers(0, 10, colours.shape, dtype=np.uint8)).save(pictures / f"{image}.png")
    json_file.write_json(data / "data/pretrained.json", {"folder": captioner, "images": "pictures"})


def copy_task(folder: Path, task: str, name: str) -> None:
    """Writes the data and features of a task under another name, as of clips: a captioner sees numbers alone."""
    shutil.copytree(folder / f"artifacts/{task}", folder / f"artifacts/{name}")


def write_listener(folder: Path, task: str = "image") -> Path:
    """Writes starts/retriever/small/seed1.safetensors (of another task, starts/retriever/<task>) under `folder`, a dual
    encoder of the images, not trained; and as similar images of each those that follow it."""
    torch.manual_seed(0)
    vocabulary = load_vocabulary(folder / f"artifacts/{task}/data/vocabulary.json")
    listener = Model(Config(embedding=8, hidden=8), len(vocabulary), (CHANNELS,))
    listener.vocabulary = digest(vocabulary)
    path = folder / "starts/retriever" / ("small" if task == "image" else task)
    tensors.save_weights(path / "seed1.safetensors", listener.state_dict(), listener.metadata())
    train = LAYOUT["train"]
    mined = [
        {"item": item, "rank": rank, "mined": (item + rank) % train, "cosine": 1 - rank / 10}
        for item in range(train)
        for rank in range(1, 6)
    ]
    parquet.write_rows(mined_file(path, 1), mined, MINED)
    return path


def write_captioner(
    path: Path,
    architecture: str,
    model: dict[str, Any],
    vocabularies: tuple[Vocabulary, ...],
    shape: tuple[int, ...],
    seed: int = 0,
    changes: Callable[[Captioner], object] = lambda captioner: None,
    **metadata: Any,
) -> None:
    """Writes a captioner that is not trained, of these features and vocabularies; the last is that of its captions."""
    torch.manual_seed(seed)
    captioner = models.build(architecture, model, len(vocabularies[-1]), shape)
    with torch.no_grad():
        changes(captioner)
    metadata |= {"architecture": architecture, "model": model, "feature_shape": list(shape)}
    metadata |= {"vocabulary_size": len(vocabularies[-1]), "vocabulary": digest(*vocabularies)}
    tensors.save_weights(path, captioner.state_dict(), metadata)


def randomise(captioner: Captioner) -> None:
    """Makes weights so large that what is seen matters."""
    for parameter in captioner.parameters():
        parameter.copy_(torch.randn_like(parameter))


def write_captioners(folder: Path) -> None:
    """Writes what `seqcap caption` reads under `folder`: an encoder, a vocabulary, lstm.safetensors and
    attention.safetensors, none of them trained, and the pictures one.png and two.jpg."""
    torch.manual_seed(0)
    encoder = with_weights("scenes_cnn", "random", 1)
    encoder.save(folder / "starts/encoder/image.safetensors", {"weights": "random", "image_size": 32})
    vocabulary = Vocabulary.build([WORDS], 1)
    vocabulary.write(folder / "artifacts/image/data/vocabulary.json")
    features = encoder(torch.zeros(1, 3, 32, 32, dtype=torch.uint8))
    for architecture, shape, model in (
        ("lstm", encoder.pooled(features).shape[1:], SETTINGS),
        ("attention", encoder.grid(features, 2).shape[1:], {"hidden": 8}),
    ):
        path = folder / f"{architecture}.safetensors"
        write_captioner(path, architecture, model, (vocabulary,), tuple(shape), max_length=5, task="image")
    rng = np.random.default_rng(0)
    for name, size in (("one.png", (50, 40)), ("two.jpg", (32, 32))):
        Image.fromarray(rng.integers(0, 255, (*size, 3), dtype=np.uint8)).save(folder / name)


def run_config(**changes: Any) -> TrainingRun:
    """A training run on the images; of `training` only what is different."""
    training = SMALL["run"]["training"] | changes.pop("training", {})
    return TrainingRun(**(SMALL["run"] | {"training": training} | changes))


def translation_config(**changes: Any) -> TrainingRun:
    """As `run_config`, on the translations."""
    return run_config(**(SMALL["translation"] | changes))


def retriever_config(**changes: Any) -> RetrieverConfig:
    """A dual encoder of the images; of `training` and `model` only what is different."""
    parts = {part: SMALL["retriever"][part] | changes.pop(part, {}) for part in ("training", "model")}
    return RetrieverConfig(**(SMALL["retriever"] | parts | changes))


def train_group(*runs: TrainingRun) -> list[list[Trained]]:
    """Trains runs side by side and forgets their checkpoints, as `seqcap repro` does once DVC has their weights."""
    trained = train_all(runs, {}, checkpoints(STAGE))
    forget(Path(), STAGE)
    return trained


def values(curves: list[dict[str, Any]], quantity: str, seed: int = 1) -> list[float]:
    """One seed's learning curve."""
    return [row["value"] for row in curves if row["quantity"] == quantity and row["seed"] == seed]


def same_bytes(one: str | Path, two: str | Path, seed: int = 1) -> bool:
    """Whether two folders hold the same weights."""
    return Path(one, f"seed{seed}.safetensors").read_bytes() == Path(two, f"seed{seed}.safetensors").read_bytes()


def needs_precision(precision: str) -> None:
    """Skips a test that trains in a precision for which this processor has no instructions."""
    try:
        check_precision(precision, torch.device("cpu"))
    except InputError as error:
        pytest.skip(f"needs a processor with instructions for {precision}: {error}")
