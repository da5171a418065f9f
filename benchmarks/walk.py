"""Two steps of every kind of stage at the papers' sizes (`scale: paper`), with seconds and peak memory.

    python benchmarks/walk.py

Models, lengths of captions and batches are those of scales/paper.yaml; batches that would take minutes are smaller.
Vocabularies have the papers' sizes: 9,487 words for COCO, 30,000 for WMT'14. Features, words and weights are random: a
bias ends a sample after ten tokens on average. Captioners train by cross-entropy and, those of images, by self-critical
training with five samples of each image; they decode greedily, by beam search and by sampling. Extraction is that of
ResNet-152. Each case runs in a process of its own, in one thread; features of a few images are in memory.

Seconds are CPU seconds. Where there is a GPU it is measured instead: wall seconds until it has done its work, after a
step that warms it up, and its memory; batches are the papers'.

Writes results/walk.json, on a GPU results/walk_gpu.json, from which `seqcap repro --dry` foretells what a run at that
scale takes. Ten minutes, on a GPU three.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from PIL import Image
from rewards import status
from scale import write_features
from torch import nn
from training import cpu

from seqcap import models
from seqcap.data.images import ImageSource
from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.evaluation.decode import DecodingRun, decode_split
from seqcap.features.encoders import with_weights
from seqcap.features.extraction import ExtractionPlan, extract
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_table
from seqcap.files.schemas import IMAGES, PAIRS, REFERENCES, SOURCE_VOCABULARY, VOCABULARY
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.retrieval.base import RetrieverConfig
from seqcap.system import machine
from seqcap.training import captioners, loop, retrievers
from seqcap.training.run import TrainConfig, TrainingRun

RESULTS = Path(__file__).parent / "results"
STEPS, SAMPLES, LENGTH = 2, 5, 10
# Items of the splits of a task. On a GPU two batches are decoded, as large as the pipeline's; on a core, smaller ones.
TRAIN, VAL = 128, 2
DECODED, DECODED_ON_GPU = 8, 100
WORDS = {"image": 9_487, "de_en": 9_487, "en_fr": 30_000}
SENTENCE = 25  # words of a source sentence
# Images of a batch where the papers' batches take minutes on one core.
LESS = {"attention": 10, "transformer": 10, "translator_en_fr": 8}
PHOTOGRAPHS = 16
LIKELIHOOD, SAMPLED = "cross_entropy", "self_critical"


def paper_project(root: Path) -> Project:
    """A checkout with `scale: paper`."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("papers", "scales"):
            shutil.copytree(root / name, Path(folder) / name)
        text = (root / "params.yaml").read_text(encoding="utf-8")
        Path(folder, "params.yaml").write_text(text.replace("\nscale: laptop\n", "\nscale: paper\n"), encoding="utf-8")
        return Project(read_params(Path(folder)))


def cases(project: Project) -> list[tuple[str, str, dict[str, Any]]]:
    """What is measured: kind of stage, what of it, and the configuration."""
    found: list[tuple[str, str, dict[str, Any]]] = [("features", "resnet152", {})]
    listener = project.configs("retriever", RetrieverConfig)["listener"]
    found.append(("retriever", "dual_encoder", listener.model_dump(mode="json")))
    runs: dict[str, TrainingRun] = {}
    for stage in ("pretrain", "train"):
        for config in project.configs(stage, TrainConfig).values():
            for run in config.runs:
                # Clips have features like those of images, and another domain has others of the same form.
                if run.kind == "sentences" or run.task == "image":
                    runs.setdefault(run.captioner, run)
    for captioner, run in runs.items():
        size = run.training.batch_size if on_gpu() else LESS.get(captioner, run.training.batch_size)
        objectives = {LIKELIHOOD: {}} if run.kind == "sentences" else {LIKELIHOOD: {}, SAMPLED: {"samples": SAMPLES}}
        plain = {"start": None, "reads": {}, "reward": {} if run.kind == "sentences" else {"cider": 1.0}}
        for objective, settings in objectives.items():
            training = run.training.model_copy(update={"batch_size": size, "epochs": STEPS + 1})
            changes = plain | {"objective": objective, "settings": settings, "training": training, "seeds": (1,)}
            other = TrainingRun(**dict(run) | changes)
            found.append(("train", captioner, other.model_dump(mode="json")))
        found.append(("decode", captioner, found[-1][2]))
    return found


def run_case(stage: str, what: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Measures a case in this process, in an empty folder; seconds of an image or sentence."""
    torch.set_num_threads(1)
    write_json(machine.MACHINE, {"device": "auto", "workers": 1, "launcher": "python"})
    measure = {"features": features, "retriever": retriever, "train": train, "decode": decode}[stage]
    result = {"stage": stage, "of": what} | measure(config)
    return result | {"peak_mb": peak_mb(), "device": device_name()}


def features(_: Mapping[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    Path("images").mkdir()
    for item in range(PHOTOGRAPHS):
        coarse = Image.fromarray(rng.integers(0, 256, (15, 20, 3), dtype=np.uint8))
        coarse.resize((640, 480), Image.Resampling.BICUBIC).save(f"images/{item}.jpg")
    files = [f"{item}.jpg" for item in range(PHOTOGRAPHS)]
    encoder = with_weights("resnet152", "random", 1)
    for name, parameter in encoder.named_parameters():
        # Not trained, blocks add up to more than float16 holds.
        if name.endswith("bn3.weight"):
            nn.init.zeros_(parameter)
    plan = ExtractionPlan(list(range(PHOTOGRAPHS)), files, 14, "float16", PHOTOGRAPHS // STEPS, 224)
    if on_gpu():
        extract(encoder, ImageSource(Path()), plan, Path("warm"), Path("kept_warm"), machine.device())
    begin = clock()
    extract(encoder, ImageSource(Path()), plan, Path("out"), Path("kept"), machine.device())
    return {"seconds": (clock() - begin) / PHOTOGRAPHS}


def retriever(config: Mapping[str, Any]) -> dict[str, Any]:
    write_images("pooled")
    forget_peak()
    job = retrievers.Job(RetrieverConfig.model_validate(config), 1)
    return {"seconds": seconds_of_steps(job)}


def train(config: Mapping[str, Any]) -> dict[str, Any]:
    job = captioner_job(config)
    state = job.begin()
    with torch.no_grad():
        state.learner.captioner.output.bias[EOS] = np.log(len(job.task.vocabulary) / LENGTH)
    return {"objective": job.run.objective, "seconds": seconds_of_steps(job, state)}


def decode(config: Mapping[str, Any]) -> dict[str, Any]:
    job = captioner_job(config)
    state = job.begin()
    state.learner.captioner.eval()
    state.keep(0.0)
    job.save(state)
    run = DecodingRun(
        name=job.run.name,
        task=job.run.task,
        kind=job.run.kind,
        split="test",
        max_length=job.run.max_length,
        weights=job.run.weights,
        teams=((1,),),
        beam=5,
        samples=SAMPLES,
        no_repeat_ngram=0,
        batch_size=decoding_batch(),
        decoded="",
    )
    if on_gpu():
        decode_split(run)
    begin = clock()
    rows = decode_split(run)
    seconds = clock() - begin
    weights = Path(job.run.weights) / "seed1.safetensors"
    return {
        "seconds": seconds / len({row["item"] for row in rows}),
        "batch": run.batch_size,
        "weights_mb": weights.stat().st_size / 1e6,
    }


def captioner_job(config: Mapping[str, Any]) -> captioners.Job:
    run = TrainingRun.model_validate(config)
    if run.kind == "sentences":
        write_pairs(run.task)
    else:
        write_images(models.model_class(run.architecture).features)
    forget_peak()
    return captioners.Job(run, 1)


def seconds_of_steps(job: Any, state: Any = None) -> float:
    """Seconds of an image in steps that follow a first one."""
    state = job.begin() if state is None else state
    batches = job.read(state)
    loop.update(job, state, next(batches))
    spent, images = 0.0, 0
    for _ in range(STEPS):
        batch = next(batches)
        begin = clock()
        loop.update(job, state, batch)
        spent += clock() - begin
        images += len(batch.images)
    loop.check_finite(job, state)
    return spent / images


def main() -> None:
    if sys.argv[1:]:
        print(json.dumps(run_case(*json.loads(sys.argv[1]))))
        return
    results = []
    for case in cases(paper_project(Path(__file__).parents[1])):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(Path(__file__).absolute()), json.dumps(case)]
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
        print(results[-1], flush=True)
    path = RESULTS / ("walk_gpu.json" if on_gpu() else "walk.json")
    write_json(path, {"device": device_name(), "cases": results, "torch": torch.__version__})


if __name__ == "__main__":
    main()
