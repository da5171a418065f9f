"""Small invented runs, one per paper, with known effects of each objective: in memory, or as the files that the
reporting stages read."""

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from PIL import Image
from small_gifs import gif, pictures

from seqcap import papers
from seqcap.config import config_path, write_config
from seqcap.files import parquet, schemas
from seqcap.files.writing import copy_file
from seqcap.metrics.registry import DIVERSITY
from seqcap.papers.smoothing.rows import ENSEMBLE, FILE, SINGLE
from seqcap.report.inputs import Results, Scores
from seqcap.report.reported import (
    PaperConfig,
    ReportConfig,
    ReportedEvaluation,
    ReportedRun,
    ReportedTask,
    SectionConfig,
)
from seqcap.world.graph import sample
from seqcap.world.scenes import SCENES, scene_row

Rows = list[dict[str, Any]]

WORDS = ["a", "red", "dog", "small", "cat", "man", "tree", "ball", "sits", "runs", "stands", "near", "under", "left"]


@dataclass
class PaperRun:
    """What a paper has; change an attribute before `read` or `write`."""

    paper: ClassVar[str]

    images: int = 12
    seeds: tuple[int, ...] = (1, 2, 3)
    dataset: str = "scenes"
    names: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    show: bool = True
    beam: int = 5
    samples: int = 5

    def entry(self, name: str) -> ReportedRun:
        raise NotImplementedError

    def scores(self, evaluation: str) -> Rows:
        raise NotImplementedError

    def curves(self, name: str) -> Rows:
        raise NotImplementedError

    def entries(self) -> list[ReportedRun]:
        return [self.entry(name) for name in self.names]

    def tasks(self) -> dict[str, ReportedTask]:
        return {"image": ReportedTask(kind="images", dataset=self.dataset, show=self.show)}

    def evaluations(self) -> dict[str, ReportedEvaluation]:
        return {f"{self.paper}_image": self.evaluation("image")}

    def evaluation(self, task: str, name: str = "", **changes: Any) -> ReportedEvaluation:
        file = f"artifacts/{self.paper}/results/{name or f'{self.paper}_{task}'}.parquet"
        values = {"split": "test", "references": None, "beam": self.beam, "samples": self.samples, "retrieval": ()}
        return ReportedEvaluation(task=task, scores=file, **(values | changes))

    def reported(self, name: str, **values: Any) -> ReportedRun:
        """A run with the usual places."""
        defaults = {
            "task": "image",
            "captioner": "lstm",
            "settings": {},
            "row": True,
            "reward": None,
            "epochs": 4,
            "learning_rate": 0.001,
            "keeps_last": False,
            "seeds": self.seeds,
            "evaluation": f"{self.paper}_{values.get('task', 'image')}",
            "members": 0,
            "start": None,
            "weights": f"artifacts/{self.paper}/train/{name}",
            "decoded": f"artifacts/{self.paper}/decode/{name}.parquet",
        }
        return ReportedRun(name=name, **(defaults | values))

    def config(self) -> SectionConfig:
        return SectionConfig(
            code={},
            paper=self.paper,
            scale="laptop",
            pictures="image",
            tasks=self.tasks(),
            evaluations=self.evaluations(),
            results=f"artifacts/{self.paper}/results",
            runs=tuple(self.entries()),
            comparisons=(),
        )

    def read(self) -> Results:
        """A run in memory. Its captions and pictures are files, which `write` makes."""
        return self.of_rows([row for name in self.evaluations() for row in self.scores(name)])

    def of_rows(self, rows: Rows) -> Results:
        run = Results(self.config(), papers.load(self.paper), scores_of(rows))
        curves = [row for entry in run.trained for row in self.curves(entry.name)]
        # In place of the files that it would read.
        vars(run)["curves"] = pd.DataFrame(curves)
        vars(run)["decoded"] = lambda name: pd.DataFrame(self.decoded(run.by_name[name]))
        return run

    def write(self) -> Results:
        """Writes configs/ and artifacts/ below the current directory, and reads them as the stages do."""
        config = self.config()
        write_config(config_path("section", self.paper), config)
        shared = PaperConfig.model_validate(config.model_dump(exclude={"comparisons"}))
        for stage in ("tables", "figures"):
            write_config(config_path(stage, self.paper), shared)
        for name, evaluation in self.evaluations().items():
            parquet.write_rows(evaluation.scores, self.scores(name), schemas.SCORES)
        self.write_images()
        for entry in self.entries():
            parquet.write_rows(entry.decoded, self.decoded(entry), schemas.DECODED)
            parquet.write_rows(f"{entry.weights}/curves.parquet", self.curves(entry.name), schemas.CURVES)
        return Results.read(config, papers.load(self.paper))

    def is_peaked(self, name: str) -> bool:
        """Whether a run's captions repeat each other."""
        return name != "mle"

    def decoded(self, entry: ReportedRun) -> Rows:
        rows = []
        peaked = self.is_peaked(entry.name)
        for seed in entry.seeds:
            rng = np.random.default_rng([seed, len(entry.name)])
            for image in range(self.images):
                for decoder, count in (("greedy", 1), ("beam", self.beam), ("sample", self.samples)):
                    for rank in range(count):
                        same = peaked and rank != 3
                        length = 4 if same else int(rng.integers(5, 11))
                        tokens = WORDS[:length] if same else [str(word) for word in rng.choice(WORDS, length)]
                        log_prob = -float(rank + 1 + rng.random()) * (1 if peaked else 3)
                        keys = {"run": entry.name, "seed": seed, "item": image, "decoder": decoder, "rank": rank}
                        rows.append(keys | {"text": " ".join(tokens), "tokens": tokens, "log_prob": log_prob})
        return rows

    def write_images(self) -> None:
        images, references = [], []
        data = Path("artifacts/image/data")
        data.mkdir(parents=True, exist_ok=True)
        with tarfile.open(data / "images.tar", "w") as tar:
            for image in range(self.images):
                name = f"images/{image}.png"
                images.append({"item": image, "split": "test", "file": name})
                words = ["a"] * (12 if image % 2 else 5)
                keys = {"item": image, "split": "test", "caption_id": image}
                references.append(keys | {"text": " ".join(words), "tokens": words})
                pixels = np.random.default_rng(image).integers(0, 255, (64, 64, 3), dtype=np.uint8)
                buffer = io.BytesIO()
                Image.fromarray(pixels).save(buffer, format="PNG")
                add_member(tar, name, buffer.getvalue())
        parquet.write_rows(data / "images.parquet", images, schemas.IMAGES)
        parquet.write_rows(data / "references.parquet", references, schemas.REFERENCES)
        if self.dataset == "scenes":
            scenes = [sample(np.random.default_rng(item)) for item in range(self.images)]
            rows = [scene_row(item, "test", None, scene) for item, scene in enumerate(scenes)]
            parquet.write_rows(data / "scenes.parquet", rows, SCENES)


def add_member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def scores_of(rows: Rows) -> Scores:
    """Scores in memory; a row without statistics has none."""
    return Scores(pa.Table.from_pylist(rows, schema=schemas.SCORES))


def counts(level: float, slots: int = 1) -> list[float]:
    """What an item adds to BLEU: with these counts alone BLEU-1..4 are `level`."""
    return [10 * level] * 4 + [10.0] * 6 if slots == 1 else counts(level) * slots


def counts_of(keys: dict[str, Any], metric: str, levels: Any, slots: int = 1) -> Rows:
    """A row of statistics for each item, of a set's where there are several slots."""
    return [
        keys
        | {"item": item, "rank": 0 if slots == 1 else None, "metric": metric, "statistics": counts(float(level), slots)}
        for item, level in enumerate(levels)
    ]


def write_report_config(
    *papers: str, pictures: tuple[str, ...] = (), proves: bool = True, **beside: str | list[str]
) -> None:
    """configs/report.json of some papers. `beside`: data -> the folder or folders of publications."""
    folders = {data: [found] if isinstance(found, str) else found for data, found in beside.items()}
    fields = {"proves": proves, "papers": papers, "pictures": pictures, "beside": folders, "code": {}}
    write_config(config_path("report"), ReportConfig.model_validate(fields))


class Table:
    """Collects rows of scores, but for those of missing metrics."""

    def __init__(self, missing: Iterable[str]) -> None:
        self.rows: Rows = []
        self._missing = set(missing)

    def add(
        self, name: str, seed: int, item: int | None, decoder: str, rank: int | None, metric: str, value: float
    ) -> None:
        if metric not in self._missing:
            keys = {"run": name, "seed": seed, "item": item, "decoder": decoder, "rank": rank}
            self.rows.append(keys | {"metric": metric, "value": float(value)})


def rng_of(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, sum(map(ord, name))])


# --- SLE

LABELS = {"xe": "XE", "sll": "SLL", "sll_me": "SLL-ME", "sll_sle": "SLL-SLE"}
OBJECTIVES = {
    "xe": "cross_entropy",
    "sll": "self_critical",
    "sll_me": "maximum_entropy",
    "sll_sle": "sequence_exploration",
}
MULTI, NEARER = "sll_sle_mr", "sll_sle_95"
OF_EXPLORING = {MULTI: "SLL-SLE (multi-reference)", NEARER: "SLL-SLE, alpha .95"}
# Run that explores -> distance and alpha. Those named "sweep" are not in a run unless a test adds them.
EXPLORING = {
    "sll_sle": ("pairwise", 0.75),
    MULTI: ("multi_reference", 0.75),
    NEARER: ("pairwise", 0.95),
    **{
        f"sweep_{distance.partition('_')[0]}_{round(100 * alpha)}": (distance, alpha)
        for distance in ("pairwise", "multi_reference")
        for alpha in (0.0, 0.25, 0.5)
    },
}
SWEEP = [name for name in EXPLORING if name.startswith("sweep")]
# Mean score of each objective's captions; human captions have precision and recall only.
LEVELS = {
    "xe": {"CIDEr": 0.7, "Div1": 0.6, "Div2": 0.8, "mBleu4": 0.1, "precision_true": 0.7, "recall_true": 0.5},
    "sll": {"CIDEr": 1.1, "Div1": 0.3, "Div2": 0.4, "mBleu4": 0.8, "precision_true": 0.9, "recall_true": 0.3},
    "sll_me": {"CIDEr": 1.1, "Div1": 0.3, "Div2": 0.41, "mBleu4": 0.79, "precision_true": 0.9, "recall_true": 0.3},
    "sll_sle": {"CIDEr": 1.2, "Div1": 0.4, "Div2": 0.5, "mBleu4": 0.6, "precision_true": 0.9, "recall_true": 0.4},
    "sll_sle_mr": {
        "CIDEr": 1.15,
        "Div1": 0.35,
        "Div2": 0.45,
        "mBleu4": 0.7,
        "precision_true": 0.9,
        "recall_true": 0.35,
    },
    "sll_sle_95": {
        "CIDEr": 1.12,
        "Div1": 0.32,
        "Div2": 0.42,
        "mBleu4": 0.75,
        "precision_true": 0.9,
        "recall_true": 0.32,
    },
    "human": {"precision_true": 0.99, "recall_true": 0.6},
}


def _plain(name: str) -> str:
    return name.removesuffix("_att").removesuffix("_clip")


@dataclass
class SleRun(PaperRun):
    """SLE: with and without attention, and on clips; METEOR and SPICE were not computed."""

    paper = "sle"

    names: list[str] = field(
        default_factory=lambda: [*LABELS, MULTI, NEARER, *(f"{name}_{of}" for of in ("att", "clip") for name in LABELS)]
    )
    missing: set[str] = field(default_factory=lambda: {"METEOR", "SPICE"})

    def entry(self, name: str) -> ReportedRun:
        plain, attention, clips = _plain(name), name.endswith("_att"), name.endswith("_clip")
        settings: dict[str, Any] = {} if plain == "xe" else {"samples": 5}
        if plain in EXPLORING:
            distance, alpha = EXPLORING[plain]
            settings |= {"alpha": alpha, "distance": distance, "estimator": "paper"}
        return self.reported(
            name,
            label=(LABELS | OF_EXPLORING).get(plain, plain) + "*" * attention + " (clips)" * clips,
            row=name != "xe_att",
            task="clip" if clips else "image",
            captioner="attention" if attention else "lstm_clip" if clips else "lstm",
            objective=OBJECTIVES["sll_sle"] if plain in EXPLORING else OBJECTIVES.get(plain, "self_critical"),
            settings=settings,
            reward=None if plain == "xe" else "cider",
            seeds=self.seeds[:1] if attention else self.seeds,
        )

    def is_peaked(self, name: str) -> bool:
        return _plain(name) != "xe"

    @property
    def clips(self) -> bool:
        """Whether clips are part of it."""
        return any(name.endswith("_clip") for name in self.names)

    def tasks(self) -> dict[str, ReportedTask]:
        of_clips = ReportedTask(kind="clips", dataset="clips" if self.dataset == "scenes" else "tgif", show=self.show)
        return super().tasks() | ({"clip": of_clips} if self.clips else {})

    def evaluations(self) -> dict[str, ReportedEvaluation]:
        return super().evaluations() | ({"sle_clip": self.evaluation("clip")} if self.clips else {})

    def config(self) -> PaperConfig:
        return super().config().model_copy(update={"clips": "clip" if self.clips else None})

    def write_images(self) -> None:
        super().write_images()
        for name in ("images", "references"):
            copy_file(Path(f"artifacts/image/data/{name}.parquet"), Path(f"artifacts/clip/data/{name}.parquet"))
        with tarfile.open("artifacts/clip/data/gifs.tar", "w") as tar:
            for number in range(self.images):
                add_member(tar, f"images/{number}.png", gif(pictures(5)))

    def scores(self, evaluation: str) -> Rows:
        table = Table(self.missing)
        hard = np.random.default_rng(5).normal(0, 0.05, self.images)
        # `Scores.read` leaves out those of a second evaluation.
        people = [("human", (0,))] if self.dataset == "scenes" and evaluation == "sle_image" else []
        entries = [(entry.name, entry.seeds) for entry in self.entries() if entry.evaluation == evaluation]
        for name, seeds in [*entries, *people]:
            for seed in seeds:
                rng = rng_of(seed, name)
                for decoder in ("sample",) if name == "human" else schemas.DECODERS:
                    self._single(table, name, seed, decoder, hard, rng)
                    if name != "human":
                        self._corpus(table, name, seed, decoder)
                        self._counts(table, name, seed, decoder, 0.5 * hard + rng.normal(0, 0.02, self.images))
        return table.rows

    def _levels(self, name: str) -> dict[str, float]:
        if name in SWEEP:
            # Between XE's and SLL's.
            share = EXPLORING[name][1]
            return {key: share * LEVELS["sll"][key] + (1 - share) * value for key, value in LEVELS["xe"].items()}
        return LEVELS.get(_plain(name), LEVELS["sll"])

    def _single(self, table: Table, name: str, seed: int, decoder: str, hard: Any, rng: np.random.Generator) -> None:
        levels, beam = self._levels(name), 0.1 if decoder != "sample" else 0.0
        metrics = [m for m in ("CIDEr", "precision_true", "recall_true") if m in levels]
        if self.dataset != "scenes":
            metrics = ["CIDEr"]
        count = {"greedy": 1, "beam": self.beam, "sample": self.samples}[decoder]
        for image in range(self.images):
            for rank in range(count):
                for metric in metrics:
                    value = levels[metric] + beam + hard[image] + rng.normal(0, 0.02)
                    table.add(name, seed, image, decoder, rank, metric, value)
            if decoder != "sample":
                table.add(name, seed, image, decoder, 0, "METEOR", 0.25 + hard[image] + beam * levels["CIDEr"])
                table.add(name, seed, image, decoder, 0, "ROUGE_L", 0.5 + hard[image])
            if decoder != "greedy":
                for metric in ("Div1", "Div2"):
                    if metric in levels:
                        table.add(name, seed, image, decoder, None, metric, levels[metric] - beam + hard[image])
                if self.dataset == "scenes":
                    value = levels["recall_true"] + 0.2 + hard[image]
                    table.add(name, seed, image, decoder, None, "recall_true", value)

    def _corpus(self, table: Table, name: str, seed: int, decoder: str) -> None:
        if decoder != "greedy":
            for metric in DIVERSITY:
                if not metric.startswith("Div"):
                    level = self._levels(name)["mBleu4"] if metric == "mBleu4" else 0.5
                    table.add(name, seed, None, decoder, None, metric, level + 0.001 * seed)
        if decoder != "sample":
            for n in range(1, 5):
                table.add(name, seed, None, decoder, None, f"BLEU{n}", 0.7 / n + 0.001 * seed)
            table.add(name, seed, None, decoder, None, "METEOR", 0.26)

    def _counts(self, table: Table, name: str, seed: int, decoder: str, noise: Any) -> None:
        keys = {"run": name, "seed": seed, "decoder": decoder}
        if decoder != "greedy":
            table.rows += counts_of(keys, "mBleu1-4", self._levels(name)["mBleu4"] + noise, slots=2)
        if decoder != "sample":
            table.rows += counts_of(keys, "BLEU1-4", 0.3 + noise)

    def curves(self, name: str) -> Rows:
        rows = []
        steps = [0] if _plain(name) == "xe" else [0, 40, 80, 120, 160, 200]
        for seed in self.entry(name).seeds:
            for step in steps:
                for quantity in ("train_reward", "val_cider"):
                    value = 0.7 + 0.4 * (1 - np.exp(-step / 60)) + 0.01 * seed
                    keys = {"run": name, "seed": seed, "step": step, "images": step * 50}
                    rows.append(keys | {"quantity": quantity, "value": float(value)})
        return rows


# --- SPIDEr

SPIDER_LABELS = {name: row for row, (name, _) in papers.load("spider").facts.rows["table1"].items()}
SPIDER_LABELS |= {"pg_spice": "PG-SPICE", "mixer_bcmr_slow": "MIXER-BCMR, 5 epochs a stage"}
# Reward -> its mean over the captions of MLE, and what training on it adds.
REWARDS = {"bleu4": (0.3, 0.1), "cider": (0.8, 0.3), "bcmr": (4.0, 0.8), "spider": (1.0, 0.35), "spice": (0.2, 0.1)}
# Run -> CIDEr, share of captions saying only what is true, words, seq-rep-2.
SPIDER_LEVELS = {
    "mle": (0.80, 0.50, 8.4, 0.02),
    "pg_bleu4": (0.90, 0.55, 7.1, 0.01),
    "pg_cider": (1.05, 0.60, 7.0, 0.01),
    "mixer_bcmr": (0.78, 0.52, 7.8, 0.02),
    "mixer_bcmr_a": (0.95, 0.60, 7.4, 0.01),
    "mixer_bcmr_slow": (0.75, 0.51, 8.0, 0.02),
    "pg_bcmr": (1.05, 0.65, 7.3, 0.01),
    "pg_spider": (1.03, 0.72, 7.5, 0.02),
    "pg_spice": (0.60, 0.20, 14.0, 0.30),
}


@dataclass
class SpiderRun(PaperRun):
    """PG-SPIDEr: two seeds, no attention, and the gradient's variance."""

    paper = "spider"

    seeds: tuple[int, ...] = (1, 2)
    names: list[str] = field(default_factory=lambda: list(SPIDER_LABELS))

    def reward_of(self, name: str) -> str:
        paid = name.removesuffix("_a").removesuffix("_slow").rpartition("_")[2]
        return paid if paid in REWARDS else "cider"

    def entry(self, name: str) -> ReportedRun:
        objective = "mixer" if name.startswith("mixer") else "rollout_policy_gradient"
        return self.reported(
            name,
            label=SPIDER_LABELS.get(name, name),
            objective="cross_entropy" if name == "mle" else objective,
            settings={} if name == "mle" else {"rollouts": 3, "baseline_steps": 128},
            reward=None if name == "mle" else self.reward_of(name),
        )

    def write(self) -> Results:
        self.write_variance(self.variance())
        return super().write()

    def write_variance(self, rows: Rows) -> None:
        parquet.write_rows("artifacts/spider/results/spider_variance.parquet", rows, schemas.VARIANCE)

    def scores(self, evaluation: str) -> Rows:
        table = Table(self.missing)
        hard = np.random.default_rng(5).normal(0, 0.05, self.images)
        scenes = self.dataset == "scenes"
        for name in self.names:
            cider, only_true, words, repeats = SPIDER_LEVELS.get(name, SPIDER_LEVELS["pg_cider"])
            for seed in self.seeds:
                rng = rng_of(seed, name)
                for decoder in ("greedy", "beam"):
                    for image in range(self.images):
                        noise = hard[image] + rng.normal(0, 0.02)
                        levels = {"CIDEr": cider, "METEOR": 0.2 + cider / 20, "ROUGE_L": 0.4 + cider / 10, "SPICE": 0.2}
                        levels = {metric: level + noise for metric, level in levels.items()}
                        levels |= {"words": round(words + 20 * noise), "seq-rep-2": abs(repeats + noise / 5)}
                        for reward, (level, gain) in REWARDS.items():
                            own = name != "mle" and self.reward_of(name) == reward
                            levels[f"reward_{reward}"] = level + own * gain + noise
                        if scenes:
                            levels["all_true"] = rng.random() < only_true
                            levels |= {"precision_true": only_true + 0.2 + noise, "recall_true": 0.4 + noise}
                            levels["f1_true"] = only_true + noise
                        for metric, value in levels.items():
                            table.add(name, seed, image, decoder, 0, metric, value)
                    keys = {"run": name, "seed": seed, "decoder": decoder}
                    table.rows += counts_of(keys, "BLEU1-4", 0.3 * cider + rng.normal(0, 0.02, self.images))
                    corpus = {"CIDEr": cider, "METEOR": 0.25, "ROUGE_L": 0.5, "SPICE": 0.2, "SPIDEr_sum": cider + 0.2}
                    corpus |= {f"BLEU{n}": cider * 0.7 / n + 0.001 * seed for n in range(1, 5)}
                    for metric, value in corpus.items():
                        table.add(name, seed, None, decoder, None, metric, value)
                for decoder in ("beam", "sample"):
                    table.add(name, seed, None, decoder, None, "bad_endings", 100 * repeats + seed)
                    table.add(name, seed, None, decoder, None, "vocabulary", 40 + seed)
        if scenes:
            for image in range(self.images):
                for metric, level in {"all_true": image % 6 > 0, "precision_true": 0.99, "recall_true": 0.4}.items():
                    table.add("human", 0, image, "sample", 0, metric, level)
        return table.rows

    def curves(self, name: str) -> Rows:
        rows = []
        level, gain = REWARDS[self.reward_of(name)]
        cider = SPIDER_LEVELS.get(name, SPIDER_LEVELS["mle"])[0]
        for seed in self.seeds:
            rng = np.random.default_rng([seed, len(name)])
            for step in (0,) if name == "mle" else range(0, 241, 10):
                share = 1 - np.exp(-step / 60)
                noise = 0.02 * rng.normal(size=3)
                quantities = {
                    "val_cider": 0.8 + (cider - 0.8) * share + noise[0],
                    "val_reward": level + gain * share + noise[1] * level,
                    "train_reward": level * (0.8 + 0.2 * share) + gain * share + 2 * noise[2] * level,
                }
                for quantity, value in quantities.items():
                    keys = {"run": name, "seed": seed, "step": step, "images": step * 50}
                    rows.append(keys | {"quantity": quantity, "value": float(value)})
        return rows

    def variance(self) -> Rows:
        """Without the baseline five times as noisy; K rollouts divide a part of the noise by K."""
        rows = []
        for baseline in (False, True):
            for rollouts in (1, 3, 5):
                rng = np.random.default_rng([rollouts, baseline])
                level = (0.4 + 0.6 / rollouts) * (1.0 if baseline else 5.0)
                for replicate, distance in enumerate(level * rng.gamma(20, 1 / 20, 32)):
                    keys = {"rollouts": rollouts, "baseline": baseline, "replicate": replicate}
                    rows.append(keys | {"squared_distance": float(distance), "squared_mean": 0.5})
        return rows


# --- Loss smoothing

BLOCKS, TASKS = ("lstm", "attention"), ("en_fr", "de_en")
# Loss -> its row as printed. A run is <captioner>_<loss> or <task>_<loss>.
CAPTION_LOSSES, TRANSLATION_LOSSES = (
    {name: loss.row for name, loss in losses.items()} for losses in FILE.losses.values()
)


@dataclass
class SmoothingRun(PaperRun):
    """Loss smoothing: both captioners, both translation tasks, and an ensemble of three seeds."""

    paper = "smoothing"

    seeds: tuple[int, ...] = (1, 2)
    names: list[str] = field(
        default_factory=lambda: [
            *(f"{captioner}_{loss}" for captioner in BLOCKS for loss in CAPTION_LOSSES),
            *(f"{task}_{loss}" for task in TASKS for loss in TRANSLATION_LOSSES),
        ]
    )
    # Entry on the server -> its models; empty: the run has no entries.
    members: dict[str, int] = field(default_factory=lambda: {SINGLE: 1, ENSEMBLE: 3})
    beam: int = 3
    samples: int = 0

    def is_peaked(self, name: str) -> bool:
        return not name.endswith("_mle")

    def split(self, name: str) -> tuple[str, str]:
        """Captioner or task, and loss."""
        system = next(system for system in (*BLOCKS, *TASKS) if name.startswith(f"{system}_"))
        return system, name.removeprefix(f"{system}_")

    def gain(self, loss: str) -> float:
        """By how much a loss raises CIDEr; BLEU by a fifth of it."""
        pool = {"v": 0.0, "batch": 0.02, "refs": 0.04}.get(loss.rpartition("_")[2], 0.0)
        token = {"tok": 0.06, "tok_rfreq": 0.1}.get(loss, 0.06 * loss.startswith("tok_seq"))
        return token + (0.04 + pool + 0.02 * ("cider" in loss or "bleu4" in loss)) * ("seq" in loss)

    def tasks(self) -> dict[str, ReportedTask]:
        translations = {"de_en": "multi30k", "en_fr": "scenes"}
        return super().tasks() | {
            task: ReportedTask(kind="sentences", dataset=name, show=False) for task, name in translations.items()
        }

    def evaluations(self) -> dict[str, ReportedEvaluation]:
        """Those of the tasks that it has runs of."""
        systems = {self.split(name)[0] for name in self.names}
        there = {"image": systems & set(BLOCKS), "de_en": systems & {"de_en"}, "en_fr": systems & {"en_fr"}}
        found = {f"smoothing_{task}": self.evaluation(task) for task, any_runs in there.items() if any_runs}
        if self.members:
            server = self.evaluation("image", "smoothing_server", split="server", references=(5, 40))
            found["smoothing_server"] = server
        return found

    def entry(self, name: str) -> ReportedRun:
        system, loss = self.split(name)
        settings: dict[str, Any] = {"tau": 0.3, "alpha": 0.7}
        if loss.startswith("tok_seq"):
            settings = {"sequence": {"samples": 5, "tau": 0.1}, "token": {"tau": 0.3}}
        return self.reported(
            name,
            label=(TRANSLATION_LOSSES if system in TASKS else CAPTION_LOSSES)[loss],
            task=system if system in TASKS else "image",
            captioner="translator" if system in TASKS else system,
            objective="cross_entropy" if loss == "mle" else "sequence_smoothing",
            settings={} if loss == "mle" else settings,
            reward="bleu4" if "bleu4" in loss else None if loss == "mle" else "cider",
        )

    def entries(self) -> list[ReportedRun]:
        teams = [
            self.reported(
                name,
                label=FILE.entries[name],
                objective="token_sequence_smoothing",
                seeds=(1,),
                members=members,
                evaluation="smoothing_server",
            )
            for name, members in self.members.items()
        ]
        return [*super().entries(), *teams]

    def of_task(self, task: str) -> Iterator[tuple[str, str, str]]:
        """Run, captioner or task, and loss."""
        for name in self.names:
            system, loss = self.split(name)
            if (system if system in TASKS else "image") == task:
                yield name, system, loss

    def scores(self, evaluation: str) -> Rows:
        task = evaluation.removeprefix("smoothing_")
        makers = {"image": self.caption_scores, "server": self.server_scores}
        made = makers[task]() if task in makers else self.translation_scores(task)
        return [row for row in made if row["metric"] not in self.missing]

    def caption_scores(self) -> Rows:
        rows: Rows = []
        hard = np.random.default_rng(5).normal(0, 0.05, self.images)
        for name, system, loss in self.of_task("image"):
            cider = (0.9 if system == "lstm" else 1.0) + self.gain(loss)
            for seed in self.seeds:
                rng = rng_of(seed, name)
                for decoder in ("greedy", "beam"):
                    keys = {"run": name, "seed": seed, "decoder": decoder}
                    noise = hard + rng.normal(0, 0.02, self.images)
                    levels = {"CIDEr": cider, "METEOR": 0.25, "ROUGE_L": 0.5, "SPICE": 0.2}
                    # Losses on sequences lengthen captions by half a word.
                    levels |= {"words": 7 + 0.5 * loss.startswith("seq")}
                    for metric, level in levels.items():
                        rows += self.single(keys, metric, level + noise)
                    corpus = {f"BLEU{n}": cider * 0.7 / n + 0.001 * seed for n in range(1, 5)}
                    rows += counts_of(keys, "BLEU1-4", 0.3 * cider + noise)
                    for metric, value in (corpus | {"SPIDEr_sum": cider + 0.2}).items():
                        rows.append(keys | {"item": None, "rank": None, "metric": metric, "value": value})
        return rows

    def single(self, keys: dict[str, Any], metric: str, values: Any) -> Rows:
        return [
            keys | {"item": item, "rank": 0, "metric": metric, "value": float(value)}
            for item, value in enumerate(values)
        ]

    def translation_scores(self, task: str) -> Rows:
        """Corpus BLEU, and what each sentence adds to it."""
        rows: Rows = []
        hard = np.random.default_rng(6).normal(0, 0.05, self.images)
        for name, _, loss in self.of_task(task):
            level = 0.3 + self.gain(loss) / 5
            for seed in self.seeds:
                rng = rng_of(seed, name)
                for decoder in ("greedy", "beam"):
                    keys = {"run": name, "seed": seed, "decoder": decoder}
                    rows.append(keys | {"item": None, "rank": None, "metric": "BLEU", "value": level})
                    rows += counts_of(keys, "BLEU", level + hard + rng.normal(0, 0.01, self.images))
        return rows

    def server_scores(self) -> Rows:
        rows: Rows = []
        hard = np.random.default_rng(7).normal(0, 0.05, self.images)
        for name, members in self.members.items():
            keys = {"run": name, "seed": 1, "decoder": "beam"}
            for references, level in (("c5", 0.9), ("c40", 0.95)):
                gain = 0.02 * members
                for metric in ("CIDEr", "METEOR", "ROUGE_L", "SPICE"):
                    rows += self.single(keys, f"{metric} {references}", level + gain + hard)
                rows += counts_of(keys, f"BLEU1-4 {references}", 0.3 + gain + hard)
                for n in range(1, 5):
                    corpus = {"item": None, "rank": None, "metric": f"BLEU{n} {references}"}
                    rows.append(keys | corpus | {"value": (level + gain) / n})
        return rows

    def curves(self, name: str) -> Rows:
        rows: Rows = []
        if name in self.members:
            return rows
        system, loss = self.split(name)
        quantity, start, gain = ("val_bleu", 0.29, 0.2) if system in TASKS else ("val_cider", 0.88, 1.0)
        for seed in self.seeds:
            rng = rng_of(seed, name)
            for step in range(0, 241, 40):
                value = start + gain * (0.02 + self.gain(loss)) * (1 - np.exp(-step / 60)) + gain * rng.normal(0, 0.005)
                keys = {"run": name, "seed": seed, "step": step, "images": step * 50}
                rows.append(keys | {"quantity": quantity, "value": float(value)})
                rows.append(keys | {"quantity": "train_loss", "value": float(3 - value)})
                if loss.startswith("tok"):
                    rows.append(keys | {"quantity": "smoothing_strength", "value": 0.3})
        return rows
