"""A small invented run: every file that the reporting stages read, with known effects of each objective."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from seqcap import artifacts
from seqcap.reporting.tables import DIVERSITY

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


@dataclass
class Run:
    """What to write; change an attribute before `write`."""

    images: int = 12
    seeds: tuple[int, ...] = (1, 2, 3)
    dataset: str = "scenes"
    variants: list[str] = field(default_factory=lambda: [*LABELS, *(f"{name}_att" for name in LABELS)])
    missing_metrics: dict[str, str] = field(
        default_factory=lambda: {"METEOR": "Java was not found", "SPICE": "not computed yet"}
    )
    show_images: bool = True

    def seeds_of(self, variant: str) -> tuple[int, ...]:
        return self.seeds[:1] if variant.endswith("_att") else self.seeds

    def write(self) -> None:
        """Writes configs/ and artifacts/ below the current directory."""
        report = {"dataset": self.dataset, "split": "test", "scale": "laptop", "alpha": 0.75}
        artifacts.write_json("configs/report.json", report | {"show_images": self.show_images})
        for variant in self.variants:
            name = variant.removesuffix("_att")
            config = {
                "variant": variant,
                "label": LABELS.get(name, name) + ("*" if variant.endswith("_att") else ""),
                "captioner": "attention" if variant.endswith("_att") else "lstm",
                "objective": OBJECTIVES.get(name, "self_critical"),
                "seeds": list(self.seeds_of(variant)),
            }
            artifacts.write_json(f"configs/sle_{variant}.json", config)
        artifacts.write_rows("artifacts/sle/scores.parquet", self.scores(), artifacts.SCORES)
        artifacts.write_json("artifacts/sle/reasons.json", self.missing_metrics)
        self.write_images()
        for variant in self.variants:
            path = f"artifacts/sle/decode/{variant}.parquet"
            artifacts.write_rows(path, self.decoded(variant), artifacts.DECODED)
            train = f"artifacts/sle/train/{variant}/curves.parquet"
            artifacts.write_rows(train, self.curves(variant), artifacts.CURVES)
        for captioner in ("lstm", "attention"):
            path = f"artifacts/image/pretrain/{captioner}/curves.parquet"
            artifacts.write_rows(path, self.curves(captioner), artifacts.CURVES)

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

    def decoded(self, variant: str) -> list[dict[str, Any]]:
        rows = []
        peaked = variant.removesuffix("_att") != "xe"
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


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """An empty current directory, and the run to write into it."""
    monkeypatch.chdir(tmp_path)
    return Run()
