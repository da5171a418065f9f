"""Two steps of every kind of stage at the papers' sizes (`scale: paper`), with seconds and peak memory.

    python benchmarks/walk.py
    python benchmarks/walk.py --only evaluate retrieve    # beside what the file has of other kinds of stage

Models, lengths of captions and batches are those of scales/paper.yaml; batches that would take minutes are smaller.
Vocabularies have the papers' sizes: 9,487 words for COCO, 30,000 for WMT'14. Features, words and weights are random: a
bias ends a sample after ten tokens on average. Captioners train by cross-entropy and, those of images, by self-critical
training with five samples of each image; they decode greedily, by beam search and by sampling. Extraction is that of
ResNet-152. What trains no captioner is in walk_scoring.py: there captions are COCO's where words matter. Each case runs
in a process of its own, in one thread; features of a few images are in memory.

Left out are stages that take no longer at these sizes than with generated scenes: tables, figures, pages, METEOR's
paraphrases (benchmarks/rewards.py has these); and encoders and probes, which are trained on generated scenes alone.

Seconds are CPU seconds. Where there is a GPU it is measured instead: wall seconds until it has done its work, after a
step that warms it up, and its memory; batches are the papers'. What uses no GPU is then left out.

Writes results/walk.json, on a GPU results/walk_gpu.json, from which `seqcap repro --dry` foretells what a run at that
scale takes. A quarter of an hour, on a GPU three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import walk_scoring
from PIL import Image
from torch import nn
from walk_data import (
    LENGTH,
    SAMPLES,
    STEPS,
    clock,
    decoding_batch,
    device_name,
    forget_peak,
    on_gpu,
    peak_mb,
    write_images,
    write_pairs,
)
from walk_scoring import retriever_job

from seqcap import models
from seqcap.config import StageConfig
from seqcap.data.captions import ImageData
from seqcap.data.images import ImageSource
from seqcap.data.vocabulary import EOS
from seqcap.evaluation.decode import decode_split
from seqcap.evaluation.estimators import EstimatorsConfig
from seqcap.evaluation.inputs import EvaluationConfig
from seqcap.evaluation.search import DecodingRun
from seqcap.evaluation.variance import VarianceConfig
from seqcap.features.encoders import with_weights
from seqcap.features.extraction import ExtractionPlan, extract
from seqcap.files.json_file import read_json, write_json
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.retrieval.base import RetrieverConfig
from seqcap.retrieval.mining import MiningConfig
from seqcap.system import machine
from seqcap.training import captioners, loop
from seqcap.training.run import TrainConfig, TrainingRun

RESULTS = Path(__file__).parent / "results"
# Images of a batch where the papers' batches take minutes on one core.
LESS = {"attention": 10, "transformer": 10, "translator_en_fr": 8}
PHOTOGRAPHS = 16
LIKELIHOOD, SAMPLED = "cross_entropy", "self_critical"
Case = tuple[str, str, dict[str, Any]]


def paper_project(root: Path) -> Project:
    """A checkout with `scale: paper`."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("papers", "scales"):
            shutil.copytree(root / name, Path(folder) / name)
        text = (root / "params.yaml").read_text(encoding="utf-8")
        Path(folder, "params.yaml").write_text(text.replace("\nscale: laptop\n", "\nscale: paper\n"), encoding="utf-8")
        return Project(read_params(Path(folder)))


def cases(project: Project) -> list[Case]:
    """What is measured: kind of stage, what of it, and the configuration."""
    extraction: Case = ("features", "resnet152", {})
    return [extraction, *retrieval_cases(project), *captioner_cases(project), *scoring_cases(project)]


def retrieval_cases(project: Project) -> Iterator[Case]:
    """A retriever of each kind that is trained."""
    first = dict[str, RetrieverConfig]()
    for config in project.configs("retriever", RetrieverConfig).values():
        if config.training is not None:
            first.setdefault(config.architecture, config)
    for architecture, config in first.items():
        settings = config.model_dump(mode="json")
        # Of random words no fact can be exchanged.
        settings["training"]["exchanges"] = 0
        yield "retriever", architecture, settings
        yield "retrieve", architecture, settings
    mined = next(iter(project.configs("mine", MiningConfig).values()))
    of_mined = project.configs("retriever", RetrieverConfig)[mined.name]
    yield "mine", of_mined.architecture, of_mined.model_dump(mode="json")


def captioner_cases(project: Project) -> Iterator[Case]:
    for captioner, run in captioners_of(project).items():
        size = run.training.batch_size if on_gpu() else LESS.get(captioner, run.training.batch_size)
        objectives = {LIKELIHOOD: {}} if run.kind == "sentences" else {LIKELIHOOD: {}, SAMPLED: {"samples": SAMPLES}}
        for objective, settings in objectives.items():
            yield "train", captioner, plain_run(run, objective, settings, size)
        yield "decode", captioner, plain_run(run, *list(objectives.items())[-1], size)


def captioners_of(project: Project) -> dict[str, TrainingRun]:
    """Captioner -> the first run with it."""
    runs: dict[str, TrainingRun] = {}
    for stage in ("pretrain", "train"):
        for config in project.configs(stage, TrainConfig).values():
            for run in config.runs:
                # Clips have features like those of images, and another domain has others of the same form.
                if run.kind == "sentences" or run.task == "image":
                    runs.setdefault(run.captioner, run)
    return runs


def plain_run(run: TrainingRun, objective: str, settings: dict[str, Any], batch_size: int) -> dict[str, Any]:
    """The configuration of a short run with a captioner, from its first weights."""
    training = run.training.model_copy(update={"batch_size": batch_size, "epochs": STEPS + 1})
    reward = {} if run.kind == "sentences" else {"cider": 1.0}
    changes = {"objective": objective, "settings": settings, "training": training, "seeds": (1,)}
    short = TrainingRun(**dict(run) | {"start": None, "reads": {}, "reward": reward} | changes)
    return short.model_dump(mode="json")


def scoring_cases(project: Project) -> Iterator[Case]:
    """Data, word embeddings, scores of captions, and the noise of gradients."""
    if not on_gpu():
        data = project.configs("data", StageConfig)["image"]
        assert isinstance(data, ImageData)
        of_coco = data.model_copy(update={"dataset": "coco", "root": ".", "scenes": None, "fingerprint": {}})
        yield "data", "coco", of_coco.model_dump(mode="json")
        glove: Any = project.configs("embeddings", StageConfig)["image"]
        yield "embeddings", "captions", glove.glove.model_dump()
        scored = next(iter(project.configs("evaluate", EvaluationConfig).values()))
        plain = {"dataset": "coco", "decoded": {"run": "decoded.parquet"}}
        yield "evaluate", "captions", scored.model_copy(update=plain).model_dump(mode="json")
    start = plain_run(captioners_of(project)["lstm"], SAMPLED, {"samples": SAMPLES}, 1)
    listener = project.configs("retriever", RetrieverConfig)["listener"].model_dump(mode="json")
    for measured in project.configs("variance", VarianceConfig).values():
        yield "variance", "lstm", {"start": start, "measured": measured.model_dump(mode="json")}
    for estimated in project.configs("estimators", EstimatorsConfig).values():
        config = {"start": start, "listener": listener, "measured": estimated.model_dump(mode="json")}
        yield "estimators", "lstm", config


def run_case(stage: str, what: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Measures a case in this process, in an empty folder; seconds of an image or sentence."""
    torch.set_num_threads(1)
    write_json(machine.MACHINE, {"device": "auto", "workers": 1, "launcher": "python"})
    result = {"stage": stage, "of": what} | MEASURES[stage](config)
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
    job = retriever_job(config)
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
        temperature=1.0,
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


MEASURES: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "features": features,
    "retriever": retriever,
    "train": train,
    "decode": decode,
    "data": walk_scoring.data,
    "embeddings": walk_scoring.embeddings,
    "mine": walk_scoring.mine,
    "evaluate": walk_scoring.evaluate,
    "retrieve": walk_scoring.retrieve,
    "variance": walk_scoring.variance,
    "estimators": walk_scoring.estimators,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), help="kinds of stage")
    parser.add_argument("--case", help=argparse.SUPPRESS)  # what a process of its own measures, JSON
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(run_case(*json.loads(arguments.case))))
        return
    path = RESULTS / ("walk_gpu.json" if on_gpu() else "walk.json")
    before = read_json(path)["cases"] if path.is_file() else []
    results = [case for case in before if case["stage"] not in arguments.only]
    for case in cases(paper_project(Path(__file__).parents[1])):
        if case[0] not in arguments.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(Path(__file__).absolute()), "--case", json.dumps(case)]
            environment = os.environ | {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": folder}
            done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
        print(results[-1], flush=True)
    write_json(path, {"cases": results, "torch": torch.__version__})


if __name__ == "__main__":
    main()
