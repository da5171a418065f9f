"""Extraction and training at COCO's full size: 123,287 images with five captions each, in Karpathy's splits.

    python benchmarks/scale.py                    # pooled features of all images, grids of 5% of them
    python benchmarks/scale.py --grid 0.5         # 50 GB of grids
    python benchmarks/scale.py --folder /data/tmp --precision float32 bfloat16

Features are random, captions COCO's own (train2014 and val2014, inside pycocoevalcap's SPICE jar). Files are those
that the pipeline writes, and it is the pipeline's code that reads them and trains: an LSTM of 512 on pooled features of
2,048 channels, one with attention on grids of 14 x 14 cells. Captioners are not trained before; a bias ends their
samples after ten tokens on average. "Features alone" reads them in the order of training and does nothing else.

Each case runs in a process of its own, for its peak memory; on a CPU with one thread, as a run trains. Extraction is
that of the papers' scale: ResNet-152 with random weights, photographs of 640 x 480 pixels.

Takes about ten minutes and 6 GB in --folder, which are removed at the end. Writes results/scale.json and scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import torch
from PIL import Image
from rewards import coco, status

from seqcap.data.images import ImageSource
from seqcap.data.vocabulary import EOS, Vocabulary
from seqcap.features.encoders import with_weights
from seqcap.features.extraction import ExtractionPlan, extract, rows_per_group
from seqcap.files.json_file import write_json
from seqcap.files.parquet import parquet_stream, write_table
from seqcap.files.schemas import IMAGES, REFERENCES, VOCABULARY, features_schema
from seqcap.files.writing import atomic
from seqcap.objectives import config_class
from seqcap.system import machine
from seqcap.training import captioners, loop
from seqcap.training.run import Training, TrainingRun

TRAIN, HELD_OUT, CAPTIONS, LENGTH, MIN_COUNT = 113_287, 5_000, 5, 16, 5
HIDDEN, CHANNELS, CELLS, SAMPLES = 512, 2048, 14, 5
SHAPES = {"pooled": (CHANNELS,), "grid": (CELLS, CELLS, CHANNELS)}
ARCHITECTURES = {"pooled": "lstm", "grid": "attention"}
# Grids of a batch are two hundred times as large.
BATCHES = {"pooled": 50, "grid": 10}
OBJECTIVES = {"cross-entropy": "cross_entropy", "self-critical": "self_critical"}
# How long each case is measured.
SECONDS = 20.0
PARTS = ("features", "loss", "reward", "backward", "other")
HEADER = (
    "| | images/s | peak, MB | before the first step, s | waits for features | forward, samples | reward | backward "
    "| Adam, clipping |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)

T = TypeVar("T")


def write_data(folder: Path, images: int) -> None:
    """artifacts/image/data of the first images: a split's share is as large as of all of them."""
    every = [(words, captions[:CAPTIONS]) for split in ("train2014", "val2014") for words, captions in of(split)]
    every = every[:images]
    train, held_out = (int(number * images / (TRAIN + 2 * HELD_OUT)) for number in (TRAIN, HELD_OUT))
    splits = ["train"] * (images - 2 * held_out) + ["val"] * held_out + ["test"] * held_out
    assert len(every) == len(splits) == images >= train
    tokens = [[words[token] for token in caption] for words, captions in every for caption in captions]
    items = np.repeat(np.arange(images), [len(captions) for _, captions in every])
    data = folder / "artifacts/image/data"
    names = pa.array([f"{item}.jpg" for item in range(images)])
    coco_ids = pa.nulls(images, pa.int64())
    table = pa.table([pa.array(np.arange(images)), pa.array(splits), names, coco_ids], schema=IMAGES)
    write_table(data / "images.parquet", table, IMAGES)
    columns = {
        "item": pa.array(items),
        "split": pa.array([splits[item] for item in items]),
        "caption_id": pa.array(np.arange(len(items))),
        "text": pa.array([" ".join(words) for words in tokens]),
        "tokens": pa.array(tokens),
    }
    write_table(data / "references.parquet", pa.table(columns).select(REFERENCES.names).cast(REFERENCES), REFERENCES)
    training_tokens = (words[:LENGTH] for words, item in zip(tokens, items, strict=True) if splits[item] == "train")
    Vocabulary.build(training_tokens, MIN_COUNT).write(data / VOCABULARY)


def of(split: str) -> list[tuple[list[str], Sequence[Sequence[int]]]]:
    """Every image's captions as ids, with the words that they number."""
    words, references = coco(split)
    return [(words, captions) for captions in references]


def write_features(folder: Path, kind: str, images: int) -> None:
    """Random features in the layout of extraction."""
    schema = features_schema(SHAPES[kind], pa.float16())
    column, rng, size = schema.field("features").type, np.random.default_rng(0), 256
    some = rng.normal(size=(size, column.list_size)).astype(np.float16)
    with parquet_stream(folder / f"artifacts/image/features/{kind}.parquet", schema) as writer:
        for start in range(0, images, size):
            ids = np.arange(start, min(start + size, images))
            values = pa.FixedSizeListArray.from_arrays(pa.array(some[: len(ids)].ravel()), type=column)
            table = pa.Table.from_arrays([pa.array(ids), values], schema=schema)
            writer.write_table(table, row_group_size=rows_per_group(schema))


def run_of(kind: str, objective: str, precision: str) -> TrainingRun:
    model = {"hidden": HIDDEN} | ({"image_input": "initial_state"} if kind == "pooled" else {})
    hyper = {"epochs": 1, "batch_size": BATCHES[kind], "learning_rate": 5e-4, "decay": 1.0, "decay_every": 1}
    return TrainingRun(
        name=f"{kind}_{objective}",
        paper="",
        task="image",
        kind="images",
        captioner=ARCHITECTURES[kind],
        architecture=ARCHITECTURES[kind],
        model=model,
        objective=objective,
        settings=config_class(objective).model_validate({"samples": SAMPLES} if objective == "self_critical" else {}),
        reward={"cider": 1.0},
        training=Training.model_validate({**hyper, "dropout": 0.0, "clip": 5.0}),
        seeds=(1,),
        max_length=LENGTH + 1,
        start=None,
        reads={},
        weights="weights",
        precision=precision,  # type: ignore[arg-type]
    )


class Clock:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def timed(self, name: str, call: Callable[..., T]) -> Callable[..., T]:
        def measured(*arguments: Any, **named: Any) -> T:
            begin = time.perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                self.seconds[name] += time.perf_counter() - begin

        return measured


def train(kind: str, objective: str, precision: str) -> dict[str, Any]:
    """Measures training in this process, in a folder with artifacts/."""
    begin = time.perf_counter()
    job = captioners.Job(run_of(kind, OBJECTIVES[objective], precision), 1)
    state = job.begin()
    before = time.perf_counter() - begin
    with torch.no_grad():
        state.learner.captioner.output.bias[EOS] = np.log(len(job.task.vocabulary) / 10)
    size = BATCHES[kind]
    batches = job.read(state)
    loop.update(job, state, next(batches))
    clock = Clock()
    job.reward.score = clock.timed("reward", job.reward.score)  # type: ignore[method-assign]
    state.parallel = clock.timed("loss", state.parallel)  # type: ignore[assignment]
    torch.Tensor.backward = clock.timed("backward", torch.Tensor.backward)  # type: ignore[method-assign]
    read = clock.timed("features", lambda: next(batches))
    begin, steps = time.perf_counter(), 0
    while (seconds := time.perf_counter() - begin) < SECONDS and steps < job.steps - 2:
        loop.update(job, state, read())
        # What a GPU has been told to do is done here.
        loop.check_finite(job, state)
        steps += 1
    spent = dict(clock.seconds)
    spent["loss"] -= spent.setdefault("reward", 0.0)
    spent["other"] = seconds - sum(spent.values())
    shares = {part: spent[part] / seconds for part in PARTS}
    return {"images_per_s": steps * size / seconds, "before_s": before, "shares": shares}


def read_alone(kind: str) -> dict[str, Any]:
    """Measures how fast features are read in random order."""
    begin = time.perf_counter()
    job = captioners.Job(run_of(kind, "cross_entropy", "float32"), 1)
    before = time.perf_counter() - begin
    order = job.training.order(np.random.default_rng(0), BATCHES[kind])
    begin, done = time.perf_counter(), 0
    while (seconds := time.perf_counter() - begin) < SECONDS / 2 and done < len(order):
        job.training.inputs.get(order[done : done + BATCHES[kind]])
        done += BATCHES[kind]
    return {"images_per_s": done / seconds, "before_s": before}


def extraction(photographs: int) -> dict[str, Any]:
    """Measures extraction of some photographs, with every core."""
    rng = np.random.default_rng(0)
    Path("images").mkdir()
    for item in range(photographs):
        coarse = Image.fromarray(rng.integers(0, 256, (15, 20, 3), dtype=np.uint8))
        coarse.resize((640, 480), Image.Resampling.BICUBIC).save(f"images/{item}.jpg")
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    files = [f"{item}.jpg" for item in range(photographs)]
    plan = ExtractionPlan(list(range(photographs)), files, CELLS, "float16", 32, 224)
    begin = time.perf_counter()
    encoder = with_weights("resnet152", "random", 1)
    for name, parameter in encoder.named_parameters():
        # Not trained, blocks add up to more than float16 holds.
        if name.endswith("bn3.weight"):
            torch.nn.init.zeros_(parameter)
    before = time.perf_counter() - begin
    begin = time.perf_counter()
    extract(encoder, ImageSource(Path()), plan, Path("out"), Path("kept"), machine.device())
    return {"images_per_s": photographs / (time.perf_counter() - begin), "before_s": before}


def row(result: dict[str, Any]) -> str:
    shares = [f"{result['shares'][part]:.0%}" for part in PARTS] if "shares" in result else [""] * len(PARTS)
    speed = result["images_per_s"]
    shown = f"{speed:,.0f}" if speed >= 100 else f"{speed:.1f}"
    cells = [result["case"], shown, f"{result['peak_mb']:,.0f}", f"{result['before_s']:.0f}", *shares]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", type=float, default=0.05, help="share of the images that have grids; 0: none")
    parser.add_argument("--photographs", type=int, default=256, help="photographs to extract features of; 0: none")
    parser.add_argument("--precision", nargs="+", default=["float32"], choices=("float32", "bfloat16"))
    parser.add_argument("--folder", type=Path, help="where the files are written; the system's temporary folder")
    parser.add_argument("--case", help="JSON of one case; internal")
    arguments = parser.parse_args()
    if arguments.case:
        name, *values = json.loads(arguments.case)
        known: dict[str, Callable[..., Any]] = {
            "write": write,
            "train": train,
            "read": read_alone,
            "extract": extraction,
        }
        result = known[name](*values)
        print(json.dumps((result or {}) | {"peak_mb": status("self", "VmHWM")}))
        return
    results = []
    print(HEADER)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        for kind, share in (("pooled", 1.0), ("grid", arguments.grid)):
            images = int(share * (TRAIN + 2 * HELD_OUT))
            if images == 0:
                continue
            folder = Path(temporary) / kind
            run_case(folder, "write", kind, images)
            about = f"{images:,} images, {kind}: "
            cases: list[tuple[str, list[Any]]] = [(about + "features alone", ["read", kind])]
            for objective in OBJECTIVES:
                for precision in arguments.precision:
                    told = "" if precision == "float32" else f", {precision}"
                    cases.append((about + objective + told, ["train", kind, objective, precision]))
            for told, case in cases:
                results.append({"case": told} | run_case(folder, *case))
                print(row(results[-1]), flush=True)
        if arguments.photographs:
            folder = Path(temporary) / "photographs"
            told = f"{arguments.photographs:,} photographs: extraction, {CELLS} x {CELLS} and pooled"
            results.append({"case": told} | run_case(folder, "extract", arguments.photographs))
            print(row(results[-1]), flush=True)
    folder = Path(__file__).parent / "results"
    about_machine = {"cores": os.cpu_count(), "python": platform.python_version(), "torch": torch.__version__}
    if torch.cuda.is_available():
        about_machine["gpu"] = torch.cuda.get_device_name()
    write_json(folder / "scale.json", {"cases": results, "machine": about_machine})
    with atomic(folder / "scale.md") as path:
        path.write_text("\n".join([HEADER, *map(row, results), ""]), encoding="utf-8")


def write(kind: str, images: int) -> None:
    write_data(Path(), images)
    write_features(Path(), kind, images)


def run_case(folder: Path, *case: Any) -> dict[str, Any]:
    """Runs a case in a process of its own; what it measured."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / machine.MACHINE, {"device": "auto", "workers": 1, "launcher": "python"})
    command = [sys.executable, str(Path(__file__).absolute()), "--case", json.dumps(case)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    main()
