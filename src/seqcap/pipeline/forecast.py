"""What a run at the papers' sizes takes: hours, memory and disk, foretold from the steps that benchmarks/walk.py has
measured on a core and on a GPU. An estimate: every image, and every pair of a caption and an image, is taken to cost as
much as there. Tables, figures and pages are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqcap.config import StageConfig
from seqcap.data.captions import ClipData, ImageData
from seqcap.data.pairs import SentenceData
from seqcap.evaluation.estimators import EstimatorsConfig
from seqcap.evaluation.inputs import EvaluationConfig
from seqcap.evaluation.people import PeopleConfig
from seqcap.evaluation.retrieval import JudgedConfig, RetrievalConfig
from seqcap.evaluation.search import DecodeConfig
from seqcap.evaluation.variance import VarianceConfig
from seqcap.features.extraction import FeaturesConfig
from seqcap.files.json_file import read_json
from seqcap.pipeline.project import Project
from seqcap.retrieval.base import RetrieverConfig
from seqcap.retrieval.mining import MiningConfig
from seqcap.training.run import TrainConfig, TrainingRun

MEASURED, MEASURED_ON_GPU = Path("benchmarks/results/walk.json"), Path("benchmarks/results/walk_gpu.json")
# Objectives whose captions are people's; the others draw their own.
READING = ("cross_entropy", "token_smoothing", "sequence_smoothing", "token_sequence_smoothing")
SAMPLED = "self_critical"
# Images, clips or pairs that train, and that are tested, in the papers' splits of what is not generated here.
SIZES = {
    "flickr8k": (6_000, 1_000),
    "flickr30k": (29_000, 1_000),
    "coco": (113_287, 5_000),
    "tgif": (80_000, 11_360),
    "de-en": (153_000, 6_750),
    "en-fr": (12_075_604, 3_003),
}
CHANNELS, HALF = 2_048, 2  # of a ResNet's features, and bytes of each in float16
PEOPLE = 10  # times an image's one caption: people's five are ranked both ways
Sizes = Mapping[str, tuple[int, int]]  # task -> inputs that train, and that are tested


@dataclass
class Cost:
    """Of a stage, of a paper's stages, or of the shared ones."""

    hours: float = 0.0  # of one core, or of a GPU
    memory: float = 0.0  # the largest stage's, MB
    disk: float = 0.0  # MB

    def add(self, other: Cost) -> None:
        self.hours += other.hours
        self.memory = max(self.memory, other.memory)
        self.disk += other.disk

    def on_a_core(self) -> str:
        memory, disk = self.memory / 1e3, self.disk / 1e3
        return f"about {self.hours:,.0f} hours of one core, {memory:.1f} GB of memory a stage, {disk:,.0f} GB of disk"

    def on_a_gpu(self) -> str:
        return f"about {self.hours:,.1f} hours of one GPU, {self.memory / 1e3:.1f} GB of its memory"


Costs = Iterator[tuple[str, Cost]]  # name of a paper, "" of a shared stage -> the cost of one of its stages


class Walked:
    """The cases of benchmarks/walk.py.

    Args:
        path: the file that it has written.
    """

    def __init__(self, path: Path) -> None:
        self.cases = {(case["stage"], case["of"], case.get("objective")): case for case in read_json(path)["cases"]}

    def find(self, stage: str, *names: str, objective: str | None = None) -> Mapping[str, Any] | None:
        """The case of the first name that was measured: a captioner or its architecture; None if none was."""
        return next((case for name in names if (case := self.cases.get((stage, name, objective)))), None)


def forecast(project: Project, shared: str, path: Path) -> dict[str, Cost]:
    """The cost of each paper, and of the stages that papers share, by the name `shared`. Without measurements: {}."""
    if not path.is_file():
        return {}
    walked = Walked(path)
    sizes = {task: _size(config) for task, config in project.configs("data", StageConfig).items()}
    costs = defaultdict[str, Cost](Cost)
    for costs_of_kind in COUNTED:
        for paper, cost in costs_of_kind(project, walked, sizes):
            costs[paper or shared].add(cost)
    return dict(costs)


def _data(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    case = walked.find("data", "coco")
    if case is None:
        return
    for task, config in project.configs("data", StageConfig).items():
        if isinstance(config, ImageData | ClipData):
            train, test = sizes[task]
            yield "", _cost(case, train + 2 * test)


def _embeddings(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    case = walked.find("embeddings", "captions")
    if case is None:
        return
    config: Any
    for config in project.configs("embeddings", StageConfig).values():
        if config.source is None:
            train, _ = sizes[config.task]
            yield "", _cost(case, train * config.glove.epochs)


def _extraction(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    case = walked.find("features", "resnet152")
    if case is None:
        return
    for config in project.configs("features", FeaturesConfig).values():
        train, test = sizes[config.task]
        images = train + 2 * test
        disk = images * (config.grid**2 + 1) * CHANNELS * HALF / 1e6
        yield "", _cost(case, images * (config.frames or 1), disk)


def _retrievers(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    for config in project.configs("retriever", RetrieverConfig).values():
        case = walked.find("retriever", config.architecture)
        if case is not None and config.training is not None:
            images, _ = sizes[config.task]
            yield "", _cost(case, images * config.training.epochs * len(config.seeds))


def _mining(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    retrievers = project.configs("retriever", RetrieverConfig)
    for config in project.configs("mine", MiningConfig).values():
        case = walked.find("mine", retrievers[config.name].architecture)
        if case is not None:
            images, _ = sizes[config.task]
            yield "", _cost_of_pairs(case, images * len(config.seeds), images**2 * len(config.seeds))


def _training(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    for run in _runs(project, "pretrain"):
        yield "", _cost_of_training(run, walked, sizes)
    for run in _runs(project, "train"):
        yield run.paper, _cost_of_training(run, walked, sizes)


def _cost_of_training(run: TrainingRun, walked: Walked, sizes: Sizes) -> Cost:
    names = (run.captioner, run.architecture)
    reading = run.objective in READING or run.kind == "sentences"
    case = walked.find("train", *names, objective=READING[0] if reading else SAMPLED)
    weights = walked.find("decode", *names)
    if case is None or weights is None:
        return Cost()
    items, _ = sizes[run.task]
    return _cost(case, items * run.training.epochs * len(run.seeds), weights["weights_mb"] * len(run.seeds))


def _decoding(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    runs = {run.weights: run for kind in ("pretrain", "train") for run in _runs(project, kind)}
    for config in project.configs("decode", DecodeConfig).values():
        for decoding in config.runs:
            run = runs[decoding.weights]
            case = walked.find("decode", run.captioner, run.architecture)
            if case is not None:
                _, items = sizes[decoding.task]
                yield run.paper, _cost(case, items * sum(map(len, decoding.teams)))


def _scoring(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    case = walked.find("evaluate", "captions")
    if case is None:
        return
    teams = _teams(project)
    for config in project.configs("evaluate", EvaluationConfig).values():
        if config.kind != "sentences":
            _, items = sizes[config.task]
            yield config.paper, _cost(case, items * sum(teams[file] for file in config.decoded.values()))


def _retrieval(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    """By the run's own retriever, by the twin, and by all seeds of the judge."""
    teams = _teams(project)
    trained = {config.weights: config for config in project.configs("retriever", RetrieverConfig).values()}
    runs = project.configs("retrieve", RetrievalConfig).values()
    people = project.configs("people", PeopleConfig).values()
    # Of each image so many captions.
    asked: list[tuple[JudgedConfig, int]] = [(config, PEOPLE) for config in people]
    asked += [(config, sum(teams[file] for file in config.decoded.values())) for config in runs]
    for config, number in asked:
        own, judge = walked.find("retrieve", "dual_encoder"), trained[config.judge]
        judging = walked.find("retrieve", judge.architecture)
        if own is None or judging is None:
            continue
        _, items = sizes[config.task]
        captions = items * number
        for case, retrievers in ((own, 1 + (config.twin is not None)), (judging, len(judge.seeds))):
            yield config.paper, _cost_of_pairs(case, captions * retrievers, captions * items * retrievers)


def _gradients(project: Project, walked: Walked, sizes: Sizes) -> Costs:
    policies = project.configs("variance", VarianceConfig).values()
    listeners = project.configs("estimators", EstimatorsConfig).values()
    for kind, configs in (("variance", policies), ("estimators", listeners)):
        case = walked.find(kind, "lstm")
        if case is not None:
            yield from ((config.paper, _cost(case, config.images * config.replicates)) for config in configs)


COUNTED = (
    *(_data, _embeddings, _extraction, _retrievers, _mining),
    *(_training, _decoding, _scoring, _retrieval, _gradients),
)


def _teams(project: Project) -> dict[str, int]:
    """File of decoded captions -> how many seeds or ensembles are in it."""
    configs = project.configs("decode", DecodeConfig).values()
    return {decoding.decoded: len(decoding.teams) for config in configs for decoding in config.runs}


def _runs(project: Project, kind: str) -> list[TrainingRun]:
    return [run for config in project.configs(kind, TrainConfig).values() for run in config.runs]


def _cost_of_pairs(case: Mapping[str, Any], items: int, pairs: int) -> Cost:
    """Of items that cost as much each as those of a case, and of pairs of them."""
    cost = _cost(case, items)
    cost.hours += pairs * case["pair_seconds"] / 3600
    return cost


def _cost(case: Mapping[str, Any], items: int, disk: float = 0.0) -> Cost:
    """Of items that cost as much each as those of a case."""
    return Cost(items * case["seconds"] / 3600, case["peak_mb"], disk)


def _size(config: StageConfig) -> tuple[int, int]:
    """Inputs that train, and that are tested; zeros for data of a user's own, which is not counted here."""
    if isinstance(config, SentenceData):
        generated, name = config.parallel, f"{config.corpus.source}-{config.corpus.target}"
    else:
        assert isinstance(config, ImageData | ClipData)
        generated = config.scenes if isinstance(config, ImageData) else config.clips
        name = config.dataset
    if generated is not None:
        return generated["train"], generated["test"]
    return SIZES.get(name, (0, 0))
