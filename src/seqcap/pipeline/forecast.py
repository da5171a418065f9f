"""What a run at the papers' sizes takes: hours, memory and disk, foretold from the steps that benchmarks/walk.py has
measured on a core and on a GPU. An estimate: every image is taken to cost as much as there, and what takes little
beside training, decoding and extraction is left out."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqcap.data.captions import ClipData, ImageData
from seqcap.data.pairs import SentenceData
from seqcap.evaluation.decode import DecodeConfig
from seqcap.features.extraction import FeaturesConfig
from seqcap.files.json_file import read_json
from seqcap.pipeline.configure import Configs
from seqcap.retrieval.base import RetrieverConfig
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


@dataclass
class Cost:
    """Of a paper's stages, or the shared ones."""

    hours: float = 0.0  # of one core, or of a GPU
    memory: float = 0.0  # the largest stage's, MB
    disk: float = 0.0  # MB

    def add(self, seconds: float, memory: float = 0.0, disk: float = 0.0) -> None:
        self.hours += seconds / 3600
        self.memory = max(self.memory, memory)
        self.disk += disk

    def on_a_core(self) -> str:
        memory, disk = self.memory / 1e3, self.disk / 1e3
        return f"about {self.hours:,.0f} hours of one core, {memory:.1f} GB of memory a stage, {disk:,.0f} GB of disk"

    def on_a_gpu(self) -> str:
        return f"about {self.hours:,.1f} hours of one GPU, {self.memory / 1e3:.1f} GB of its memory"


class Measured:
    """The cases of benchmarks/walk.py."""

    def __init__(self, path: Path) -> None:
        self.cases = {(case["stage"], case["of"], case.get("objective")): case for case in read_json(path)["cases"]}

    def find(self, stage: str, *names: str, objective: str | None = None) -> Mapping[str, Any] | None:
        """The case of the first name that was measured: a captioner or its architecture; None if none was."""
        return next((case for name in names if (case := self.cases.get((stage, name, objective)))), None)


def forecast(stages: Configs, shared: str, path: Path) -> dict[str, Cost]:
    """The cost of each paper, and of the stages that papers share, by the name `shared`. Without measurements: {}."""
    if not path.is_file():
        return {}
    measured, costs = Measured(path), defaultdict[str, Cost](Cost)
    sizes = {task: _size(config) for task, config in stages["data"].items()}
    for config in stages["features"].values():
        assert isinstance(config, FeaturesConfig)
        case = measured.find("features", "resnet152")
        if case is not None:
            train, test = sizes[config.task]
            images = train + 2 * test
            disk = images * (config.grid**2 + 1) * CHANNELS * HALF / 1e6
            costs[shared].add(images * (config.frames or 1) * case["seconds"], case["peak_mb"], disk)
    for config in stages["retriever"].values():
        assert isinstance(config, RetrieverConfig)
        case = measured.find("retriever", config.architecture)
        if case is not None and config.training is not None:
            images = sizes[config.task][0] * config.training.epochs * len(config.seeds)
            costs[shared].add(images * case["seconds"], case["peak_mb"])
    runs: dict[str, TrainingRun] = {}
    for stage in ("pretrain", "train"):
        for config in stages[stage].values():
            assert isinstance(config, TrainConfig)
            for run in config.runs:
                runs[run.weights] = run
                _add_training(costs[shared if stage == "pretrain" else run.paper], run, measured, sizes[run.task][0])
    for config in stages["decode"].values():
        assert isinstance(config, DecodeConfig)
        for decoding in config.runs:
            run = runs[decoding.weights]
            case = measured.find("decode", run.captioner, run.architecture)
            if case is not None:
                items = sizes[decoding.task][1] * sum(map(len, decoding.teams))
                costs[run.paper].add(items * case["seconds"], case["peak_mb"])
    return dict(costs)


def _add_training(cost: Cost, run: TrainingRun, measured: Measured, size: int) -> None:
    names = (run.captioner, run.architecture)
    reading = run.objective in READING or run.kind == "sentences"
    case = measured.find("train", *names, objective=READING[0] if reading else SAMPLED)
    weights = measured.find("decode", *names)
    if case is not None and weights is not None:
        items = size * run.training.epochs * len(run.seeds)
        cost.add(items * case["seconds"], case["peak_mb"], weights["weights_mb"] * len(run.seeds))


def _size(config: Any) -> tuple[int, int]:
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
