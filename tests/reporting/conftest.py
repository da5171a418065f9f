"""Small invented runs, one per paper: every file that the reporting stages read, with known effects of each
objective."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from seqcap import artifacts
from seqcap.reporting.inputs import Run
from seqcap.reporting.papers import find
from seqcap.reporting.papers.sle.tables import DIVERSITY
from seqcap.reporting.papers.smoothing.losses import (
    BLOCKS,
    CAPTION_LOSSES,
    ENSEMBLE,
    SINGLE,
    TASKS,
    TRANSLATION_LOSSES,
)

LABELS = {"xe": "XE", "sll": "SLL", "sll_me": "SLL-ME", "sll_sle": "SLL-SLE"}
OBJECTIVES = {
    "xe": "cross_entropy",
    "sll": "self_critical",
    "sll_me": "maximum_entropy",
    "sll_sle": "sequence_exploration",
}
# Mean score of each objective's captions; human captions have precision and recall only.
LEVELS = {
    "xe": {"CIDEr": 0.7, "Div1": 0.6, "Div2": 0.8, "mBleu4": 0.1, "precision_true": 0.7, "recall_true": 0.5},
    "sll": {"CIDEr": 1.1, "Div1": 0.3, "Div2": 0.4, "mBleu4": 0.8, "precision_true": 0.9, "recall_true": 0.3},
    "sll_me": {"CIDEr": 1.1, "Div1": 0.3, "Div2": 0.41, "mBleu4": 0.79, "precision_true": 0.9, "recall_true": 0.3},
    "sll_sle": {"CIDEr": 1.2, "Div1": 0.4, "Div2": 0.5, "mBleu4": 0.6, "precision_true": 0.9, "recall_true": 0.4},
    "human": {"precision_true": 0.99, "recall_true": 0.6},
}
WORDS = ["a", "red", "dog", "small", "cat", "man", "tree", "ball", "sits", "runs", "stands", "near", "under", "left"]


SPIDER_LABELS = {
    "mle": "MLE",
    "pg_bleu4": "PG-BLEU-4",
    "pg_cider": "PG-CIDEr",
    "mixer_bcmr": "MIXER-BCMR",
    "mixer_bcmr_a": "MIXER-BCMR-A",
    "pg_bcmr": "PG-BCMR",
    "pg_spider": "PG-SPIDEr",
    "pg_spice": "PG-SPICE",
}
# Reward -> its mean over the captions of MLE, and what training on it adds.
REWARDS = {"bleu4": (0.3, 0.1), "cider": (0.8, 0.3), "bcmr": (4.0, 0.8), "spider": (1.0, 0.35), "spice": (0.2, 0.1)}
# Variant -> CIDEr, share of captions saying only what is true, words, seq-rep-2.
SPIDER_LEVELS = {
    "mle": (0.80, 0.50, 8.4, 0.02),
    "pg_bleu4": (0.90, 0.55, 7.1, 0.01),
    "pg_cider": (1.05, 0.60, 7.0, 0.01),
    "mixer_bcmr": (0.78, 0.52, 7.8, 0.02),
    "mixer_bcmr_a": (0.95, 0.60, 7.4, 0.01),
    "pg_bcmr": (1.05, 0.65, 7.3, 0.01),
    "pg_spider": (1.03, 0.72, 7.5, 0.02),
    "pg_spice": (0.60, 0.20, 14.0, 0.30),
}


@dataclass
class PaperRun:
    """What to write; change an attribute before `write`."""

    paper: ClassVar[str]
    translation_datasets: ClassVar[dict[str, str]] = {}

    images: int = 12
    seeds: tuple[int, ...] = (1, 2, 3)
    dataset: str = "scenes"
    variants: list[str] = field(default_factory=list)
    missing_metrics: dict[str, str] = field(default_factory=dict)
    show_images: bool = True

    def config(self, variant: str) -> dict[str, Any]:
        raise NotImplementedError

    def scores(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def curves(self, name: str) -> list[dict[str, Any]]:
        raise NotImplementedError

    def seeds_of(self, variant: str) -> tuple[int, ...]:
        return self.seeds

    def is_peaked(self, variant: str) -> bool:
        """Whether its captions repeat each other."""
        return variant != "mle"

    def write(self) -> None:
        """Writes configs/ and artifacts/ below the current directory, beside what other papers wrote there."""
        datasets = {"image": self.dataset} | self.translation_datasets
        report = {"datasets": datasets, "split": "test", "scale": "laptop", "alpha": 0.75}
        path = Path("configs/report.json")
        papers = artifacts.read_json(path)["papers"] if path.exists() else {}
        papers[self.paper] = self.variants
        artifacts.write_json(path, report | {"show_images": self.show_images, "papers": papers})
        for variant in self.variants:
            places = {
                "weights": f"artifacts/{self.paper}/train/{variant}",
                "decoded": f"artifacts/{self.paper}/decode/{variant}.parquet",
            }
            artifacts.write_json(f"configs/{self.paper}_{variant}.json", self.config(variant) | places)
        artifacts.write_rows(f"artifacts/{self.paper}/scores.parquet", self.scores(), artifacts.SCORES)
        artifacts.write_json(f"artifacts/{self.paper}/reasons.json", self.missing_metrics)
        self.write_images()
        for variant in self.variants:
            path = f"artifacts/{self.paper}/decode/{variant}.parquet"
            artifacts.write_rows(path, self.decoded(variant), artifacts.DECODED)
            train = f"artifacts/{self.paper}/train/{variant}/curves.parquet"
            artifacts.write_rows(train, self.curves(variant), artifacts.CURVES)
        configs = [self.config(variant) for variant in self.variants]
        for task, captioner in {(config["task"], config["captioner"]) for config in configs}:
            path = f"artifacts/{task}/pretrain/{captioner}/curves.parquet"
            artifacts.write_rows(path, self.curves(captioner), artifacts.CURVES)

    def read(self) -> Run:
        """Writes, and reads it as the stages do."""
        self.write()
        return Run.read(find(self.paper))

    def decoded(self, variant: str) -> list[dict[str, Any]]:
        rows = []
        peaked = self.is_peaked(variant)
        for seed in self.seeds_of(variant):
            rng = np.random.default_rng([seed, len(variant)])
            for image in range(self.images):
                for decoder in artifacts.DECODERS:
                    for rank in range(1 if decoder == "greedy" else 5):
                        length = 4 if peaked and rank != 3 else int(rng.integers(5, 11))
                        tokens = WORDS[:length] if peaked and rank != 3 else [str(w) for w in rng.choice(WORDS, length)]
                        log_prob = -float(rank + 1 + rng.random()) * (1 if peaked else 3)
                        keys = {"variant": variant, "seed": seed, "image_id": image, "decoder": decoder, "rank": rank}
                        rows.append(keys | {"text": " ".join(tokens), "tokens": tokens, "log_prob": log_prob})
        return rows

    def write_images(self) -> None:
        images, references = [], []
        data = Path("artifacts/image/data")
        data.mkdir(parents=True, exist_ok=True)
        with tarfile.open(data / "images.tar", "w") as tar:
            for image in range(self.images):
                name = f"images/{image}.png"
                images.append({"image_id": image, "split": "test", "file": name})
                length = 12 if image % 2 else 5
                references.append(
                    {
                        "image_id": image,
                        "split": "test",
                        "caption_id": image,
                        "text": "a " * length,
                        "tokens": ["a"] * length,
                    }
                )
                pixels = np.random.default_rng(image).integers(0, 255, (64, 64, 3), dtype=np.uint8)
                buffer = io.BytesIO()
                Image.fromarray(pixels).save(buffer, format="PNG")
                member = tarfile.TarInfo(name)
                member.size = buffer.tell()
                buffer.seek(0)
                tar.addfile(member, buffer)
        artifacts.write_rows(data / "images.parquet", images, artifacts.IMAGES)
        artifacts.write_rows(data / "references.parquet", references, artifacts.REFERENCES)


@dataclass
class SleRun(PaperRun):
    """SLE: with and without attention; METEOR and SPICE could not be computed."""

    paper = "sle"

    variants: list[str] = field(default_factory=lambda: [*LABELS, *(f"{name}_att" for name in LABELS)])
    missing_metrics: dict[str, str] = field(
        default_factory=lambda: {"METEOR": "Java was not found", "SPICE": "not computed yet"}
    )

    def config(self, variant: str) -> dict[str, Any]:
        name = variant.removesuffix("_att")
        return {
            "variant": variant,
            "label": LABELS.get(name, name) + ("*" if variant.endswith("_att") else ""),
            "task": "image",
            "captioner": "attention" if variant.endswith("_att") else "lstm",
            "objective": OBJECTIVES.get(name, "self_critical"),
            "settings": {} if name == "xe" else {"samples": 5},
            "reward_name": "cider",
            "seeds": list(self.seeds_of(variant)),
        }

    def seeds_of(self, variant: str) -> tuple[int, ...]:
        return self.seeds[:1] if variant.endswith("_att") else self.seeds

    def is_peaked(self, variant: str) -> bool:
        return variant.removesuffix("_att") != "xe"

    def scores(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        hard = np.random.default_rng(5).normal(0, 0.05, self.images)

        def add(
            variant: str, seed: int, image: int | None, decoder: str, rank: int | None, metric: str, value: float
        ) -> None:
            if metric not in self.missing_metrics:
                keys = {"variant": variant, "seed": seed, "image_id": image, "decoder": decoder, "rank": rank}
                rows.append(keys | {"metric": metric, "value": float(value)})

        for variant in [*self.variants, *(["human"] if self.dataset == "scenes" else [])]:
            levels = LEVELS.get(variant.removesuffix("_att"), LEVELS["sll"])
            for seed in (0,) if variant == "human" else self.seeds_of(variant):
                rng = np.random.default_rng([seed, sum(map(ord, variant))])
                for decoder in ("sample",) if variant == "human" else artifacts.DECODERS:
                    beam = 0.1 if decoder != "sample" else 0.0
                    ranks = 1 if decoder == "greedy" else 5
                    for image in range(self.images):
                        for rank in range(ranks):
                            for metric in ("CIDEr", "precision_true", "recall_true"):
                                if metric in levels and (metric == "CIDEr" or self.dataset == "scenes"):
                                    value = levels[metric] + beam + hard[image] + rng.normal(0, 0.02)
                                    add(variant, seed, image, decoder, rank, metric, value)
                        if decoder != "sample":
                            add(variant, seed, image, decoder, 0, "METEOR", 0.25 + hard[image] + beam * levels["CIDEr"])
                            add(variant, seed, image, decoder, 0, "ROUGE_L", 0.5 + hard[image])
                        if decoder != "greedy":
                            for metric in ("Div1", "Div2"):
                                if metric in levels:
                                    add(
                                        variant, seed, image, decoder, None, metric, levels[metric] - beam + hard[image]
                                    )
                            if self.dataset == "scenes":
                                value = levels["recall_true"] + 0.2 + hard[image]
                                add(variant, seed, image, decoder, None, "recall_true", value)
                    if variant != "human" and decoder != "greedy":
                        for metric in DIVERSITY:
                            if not metric.startswith("Div"):
                                level = levels["mBleu4"] if metric == "mBleu4" else 0.5
                                add(variant, seed, None, decoder, None, metric, level + 0.001 * seed)
                    if variant != "human" and decoder != "sample":
                        for n in range(1, 5):
                            add(variant, seed, None, decoder, None, f"BLEU{n}", 0.7 / n + 0.001 * seed)
                        add(variant, seed, None, decoder, None, "METEOR", 0.26)
        return rows

    def curves(self, variant: str) -> list[dict[str, Any]]:
        rows = []
        steps = [0] if variant.removesuffix("_att") == "xe" else [0, 40, 80, 120, 160, 200]
        for seed in self.seeds_of(variant):
            for step in steps:
                for quantity in ("train_reward", "val_cider"):
                    value = 0.7 + 0.4 * (1 - np.exp(-step / 60)) + 0.01 * seed
                    keys = {"variant": variant, "seed": seed, "step": step, "images": step * 50}
                    rows.append(keys | {"quantity": quantity, "value": float(value)})
        return rows


@dataclass
class SpiderRun(PaperRun):
    """PG-SPIDEr: two seeds, no attention, and the gradient's variance."""

    paper = "spider"

    seeds: tuple[int, ...] = (1, 2)
    variants: list[str] = field(default_factory=lambda: list(SPIDER_LABELS))

    def reward_of(self, variant: str) -> str:
        paid = variant.removesuffix("_a").rpartition("_")[2]
        return paid if paid in REWARDS else "cider"

    def config(self, variant: str) -> dict[str, Any]:
        objective = "mixer" if variant.startswith("mixer") else "rollout_policy_gradient"
        return {
            "variant": variant,
            "label": SPIDER_LABELS.get(variant, variant),
            "task": "image",
            "captioner": "lstm",
            "objective": "cross_entropy" if variant == "mle" else objective,
            "settings": {} if variant == "mle" else {"rollouts": 3},
            "reward_name": self.reward_of(variant),
            "seeds": list(self.seeds),
        }

    def write(self) -> None:
        super().write()
        artifacts.write_rows("artifacts/spider/variance.parquet", self.variance(), artifacts.VARIANCE)

    def scores(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        hard = np.random.default_rng(5).normal(0, 0.05, self.images)
        scenes = self.dataset == "scenes"

        def add(variant: str, seed: int, image: int | None, decoder: str, metric: str, value: float) -> None:
            if metric not in self.missing_metrics:
                keys = {"variant": variant, "seed": seed, "image_id": image, "decoder": decoder, "metric": metric}
                rank = None if image is None else 0
                rows.append(keys | {"rank": rank, "value": float(value)})

        for variant in self.variants:
            cider, only_true, words, repeats = SPIDER_LEVELS.get(variant, SPIDER_LEVELS["pg_cider"])
            for seed in self.seeds:
                rng = np.random.default_rng([seed, sum(map(ord, variant))])
                for decoder in ("greedy", "beam"):
                    for image in range(self.images):
                        noise = hard[image] + rng.normal(0, 0.02)
                        levels = {"CIDEr": cider, "METEOR": 0.2 + cider / 20, "ROUGE_L": 0.4 + cider / 10, "SPICE": 0.2}
                        for metric, level in levels.items():
                            add(variant, seed, image, decoder, metric, level + noise)
                        add(variant, seed, image, decoder, "words", round(words + 20 * noise))
                        add(variant, seed, image, decoder, "seq-rep-2", abs(repeats + noise / 5))
                        for reward, (level, gain) in REWARDS.items():
                            own = variant != "mle" and self.reward_of(variant) == reward
                            add(variant, seed, image, decoder, f"reward_{reward}", level + own * gain + noise)
                        if scenes:
                            add(variant, seed, image, decoder, "all_true", rng.random() < only_true)
                            add(variant, seed, image, decoder, "precision_true", only_true + 0.2 + noise)
                            add(variant, seed, image, decoder, "recall_true", 0.4 + noise)
                    for metric, level in {"CIDEr": cider, "METEOR": 0.25, "ROUGE_L": 0.5, "SPICE": 0.2}.items():
                        add(variant, seed, None, decoder, metric, level)
                    add(variant, seed, None, decoder, "SPIDEr", cider + 0.2)
                    for n in range(1, 5):
                        add(variant, seed, None, decoder, f"BLEU{n}", cider * 0.7 / n + 0.001 * seed)
                for decoder in ("beam", "sample"):
                    add(variant, seed, None, decoder, "bad_endings", 100 * repeats + seed)
                    add(variant, seed, None, decoder, "vocabulary", 40 + seed)
        if scenes:
            for image in range(self.images):
                for metric, level in {"all_true": image % 6 > 0, "precision_true": 0.99, "recall_true": 0.4}.items():
                    add("human", 0, image, "sample", metric, level)
        return rows

    def curves(self, name: str) -> list[dict[str, Any]]:
        rows = []
        level, gain = REWARDS[self.reward_of(name)]
        cider = SPIDER_LEVELS.get(name, SPIDER_LEVELS["mle"])[0]
        for seed in self.seeds:
            rng = np.random.default_rng([seed, len(name)])
            for step in (0,) if name == "mle" else range(0, 241, 10):
                share = 1 - np.exp(-step / 60)
                noise = 0.02 * rng.normal(size=3)
                quantities = {"val_cider": 0.8 + (cider - 0.8) * share + noise[0]}
                if name in self.variants:
                    quantities["val_reward"] = level + gain * share + noise[1] * level
                    quantities["train_reward"] = level * (0.8 + 0.2 * share) + gain * share + 2 * noise[2] * level
                for quantity, value in quantities.items():
                    keys = {"variant": name, "seed": seed, "step": step, "images": step * 50}
                    rows.append(keys | {"quantity": quantity, "value": float(value)})
        return rows

    def variance(self) -> list[dict[str, Any]]:
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


@dataclass
class SmoothingRun(PaperRun):
    """Loss smoothing: both captioners, both translation tasks, and an ensemble of three seeds."""

    paper = "smoothing"
    translation_datasets: ClassVar[dict[str, str]] = {"de_en": "multi30k", "en_fr": "scenes"}

    seeds: tuple[int, ...] = (1, 2)
    variants: list[str] = field(
        default_factory=lambda: [
            *(f"{captioner}_{loss}" for captioner in BLOCKS for loss in CAPTION_LOSSES),
            *(f"{task}_{loss}" for task in TASKS for loss in TRANSLATION_LOSSES),
        ]
    )
    members: dict[str, list[int]] | None = field(default_factory=lambda: {SINGLE: [1], ENSEMBLE: [1, 2, 3]})

    def is_peaked(self, variant: str) -> bool:
        return not variant.endswith("_mle")

    def split(self, variant: str) -> tuple[str, str]:
        """Captioner or task, and loss."""
        system = next(name for name in (*BLOCKS, *TASKS) if variant.startswith(f"{name}_"))
        return system, variant.removeprefix(f"{system}_")

    def gain(self, loss: str) -> float:
        """By how much a loss raises CIDEr; BLEU by a fifth of it."""
        pool = {"v": 0.0, "batch": 0.02, "refs": 0.04}.get(loss.rpartition("_")[2], 0.0)
        token = {"tok": 0.06, "tok_rfreq": 0.1}.get(loss, 0.06 * loss.startswith("tok_seq"))
        return token + (0.04 + pool + 0.02 * ("cider" in loss or "bleu4" in loss)) * ("seq" in loss)

    def config(self, variant: str) -> dict[str, Any]:
        system, loss = self.split(variant)
        settings: dict[str, Any] = {"tau": 0.3}
        if loss.startswith("tok_seq"):
            settings = {"token": {"tau": 0.3}, "sequence": {"tau": 0.1, "samples": 5}}
        return {
            "variant": variant,
            "label": (TRANSLATION_LOSSES if system in TASKS else CAPTION_LOSSES)[loss],
            "task": system if system in TASKS else "image",
            "captioner": "translator" if system in TASKS else system,
            "objective": "cross_entropy" if loss == "mle" else "sequence_smoothing",
            "settings": {} if loss == "mle" else settings,
            "reward_name": "bleu4" if "bleu4" in loss else "cider",
            "seeds": list(self.seeds),
        }

    def names(self, of_captions: bool) -> list[str]:
        return [name for name in self.variants if (self.split(name)[0] in BLOCKS) == of_captions]

    def write(self) -> None:
        super().write()
        folder = Path("artifacts/smoothing")
        artifacts.write_rows(folder / "translation.parquet", self.translation(), artifacts.SCORES)
        artifacts.write_json(folder / "timing/all.json", self.timing())
        if self.members is not None:
            config = {"split": "server", "captioner": "lstm", "members": self.members}
            artifacts.write_json("configs/evaluate_server.json", config)
            artifacts.write_rows(folder / "server_scores.parquet", self.server(), artifacts.SCORES)
        # What a run without captions, or without translations, does not write.
        for of_captions, file in ((True, "scores.parquet"), (False, "translation.parquet")):
            if not self.names(of_captions):
                (folder / file).unlink()

    def decoded(self, variant: str) -> list[dict[str, Any]]:
        return [row for row in super().decoded(variant) if row["decoder"] != "sample" and row["rank"] < 3]

    def scores(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        hard = np.random.default_rng(5).normal(0, 0.05, self.images)
        for variant in self.names(of_captions=True):
            system, loss = self.split(variant)
            cider = (0.9 if system == "lstm" else 1.0) + self.gain(loss)
            for seed in self.seeds:
                rng = np.random.default_rng([seed, sum(map(ord, variant))])
                for decoder in ("greedy", "beam"):
                    keys = {"variant": variant, "seed": seed, "decoder": decoder}
                    noise = hard + rng.normal(0, 0.02, self.images)
                    levels = {"CIDEr": cider, "METEOR": 0.25, "ROUGE_L": 0.5, "SPICE": 0.2}
                    for metric, level in levels.items():
                        rows += self.per_image(keys, metric, level + noise)
                    for n in range(1, 5):
                        level = cider * 0.7 / n + 0.001 * seed
                        rows.append(keys | {"image_id": None, "rank": None, "metric": f"BLEU{n}", "value": level})
                    rows.append(keys | {"image_id": None, "rank": None, "metric": "SPIDEr", "value": cider + 0.2})
        return [row for row in rows if row["metric"] not in self.missing_metrics]

    def per_image(self, keys: dict[str, Any], metric: str, values: Any) -> list[dict[str, Any]]:
        return [
            keys | {"image_id": image, "rank": 0, "metric": metric, "value": float(value)}
            for image, value in enumerate(values)
        ]

    def translation(self) -> list[dict[str, Any]]:
        """Corpus BLEU, and sentence BLEU five points below it."""
        rows: list[dict[str, Any]] = []
        hard = np.random.default_rng(6).normal(0, 0.05, self.images)
        for variant in self.names(of_captions=False):
            level = 0.3 + self.gain(self.split(variant)[1]) / 5
            for seed in self.seeds:
                rng = np.random.default_rng([seed, sum(map(ord, variant))])
                for decoder in ("greedy", "beam"):
                    keys = {"variant": variant, "seed": seed, "decoder": decoder}
                    rows.append(keys | {"image_id": None, "rank": None, "metric": "BLEU", "value": level})
                    rows += self.per_image(keys, "BLEU", level - 0.05 + hard + rng.normal(0, 0.01, self.images))
        return rows

    def server(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        hard = np.random.default_rng(7).normal(0, 0.05, self.images)
        for entry, members in (self.members or {}).items():
            keys = {"variant": entry, "seed": 1, "decoder": "beam"}
            for references, level in (("c5", 0.9), ("c40", 0.95)):
                gain = 0.02 * len(members)
                for metric in ("CIDEr", "METEOR", "ROUGE_L", "SPICE"):
                    rows += self.per_image(keys, f"{metric} {references}", level + gain + hard)
                for n in range(1, 5):
                    corpus = {"image_id": None, "rank": None, "metric": f"BLEU{n} {references}"}
                    rows.append(keys | corpus | {"value": (level + gain) / n})
        return rows

    def timing(self) -> dict[str, Any]:
        """Sequences cost three times as much as MLE, lazy ones and tokens half as much again."""
        cost = {"mle": 1.0, "seq": 3.0, "lazy": 1.5, "token": 1.5}
        timing = {}
        for variant in self.variants:
            loss = self.split(variant)[1]
            kind = "lazy" if "lazy" in loss else "seq" if "seq" in loss else "token" if loss != "mle" else "mle"
            timing[variant] = {"seconds_per_epoch": 4.0 * cost[kind]}
        return timing

    def curves(self, name: str) -> list[dict[str, Any]]:
        rows = []
        system, loss = self.split(name) if name in self.variants else (name, "mle")
        quantity, start, gain = ("val_bleu", 0.29, 0.2) if system in TASKS else ("val_cider", 0.88, 1.0)
        for seed in self.seeds:
            rng = np.random.default_rng([seed, sum(map(ord, name))])
            for step in range(0, 241, 40):
                value = start + gain * (0.02 + self.gain(loss)) * (1 - np.exp(-step / 60)) + gain * rng.normal(0, 0.005)
                keys = {"variant": name, "seed": seed, "step": step, "images": step * 50}
                rows.append(keys | {"quantity": quantity, "value": float(value)})
                rows.append(keys | {"quantity": "train_loss", "value": float(3 - value)})
        return rows


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SleRun:
    """An empty current directory, and SLE's run to write into it."""
    monkeypatch.chdir(tmp_path)
    return SleRun()


@pytest.fixture
def spider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpiderRun:
    """PG-SPIDEr's run; with `run`, in the same directory."""
    monkeypatch.chdir(tmp_path)
    return SpiderRun()


@pytest.fixture
def smoothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmoothingRun:
    """Loss smoothing's run; with `run`, in the same directory."""
    monkeypatch.chdir(tmp_path)
    return SmoothingRun()
