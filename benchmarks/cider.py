"""How fast CIDEr-D is as a reward on ids, against pycocoevalcap's `Cider` on the same captions in the same run.

    python benchmarks/cider.py

One core, COCO val2014 captions (40,504 images, inside pycocoevalcap's SPICE jar), 5 hypotheses and 5 references an
image. pycocoevalcap counts document frequencies anew at every call, so it is given a batch's images only; agreement is
checked separately, with the frequencies of the same references on both sides. Takes half a minute and half a GB;
expect a ratio of 100 or more. Writes results/cider.json beside this file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import resource
import time
import zipfile
from pathlib import Path
from typing import Any

import numba
import numpy as np
from pycocoevalcap.cider.cider import Cider

from seqcap.artifacts import write_json
from seqcap.rewards import CiderD
from seqcap.rewards.sequences import EOS

HYPOTHESES = REFERENCES = 5
TIME = 20
SECONDS = 3.0


def coco_ids() -> list[list[list[int]]]:
    """Five captions of every image as ids from 4 on, cut to 19 words."""
    package = importlib.util.find_spec("pycocoevalcap")
    assert package is not None
    assert package.submodule_search_locations is not None
    jar = Path(package.submodule_search_locations[0]) / "spice" / "spice-1.0.jar"
    with zipfile.ZipFile(jar) as archive:
        annotations = json.loads(archive.read("coco/annotations/captions_val2014.json"))["annotations"]
    images: dict[int, list[list[int]]] = {}
    ids: dict[str, int] = {}
    for annotation in annotations:
        words = annotation["caption"].lower().strip(" .").split()[: TIME - 1]
        caption = [ids.setdefault(word, 4 + len(ids)) for word in words]
        images.setdefault(annotation["image_id"], []).append(caption)
    return [captions[:REFERENCES] for captions in images.values()]


def batches(references: list[list[list[int]]], size: int, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Hypotheses like a captioner's: for an image, captions of itself and of other images."""
    rng = np.random.default_rng(size)
    made = []
    for _ in range(count):
        image = rng.choice(len(references), size, replace=False).repeat(HYPOTHESES)
        rows = np.zeros((len(image), TIME), dtype=np.int64)
        for row, index in zip(rows, image, strict=True):
            source = index if rng.random() < 0.5 else rng.integers(len(references))
            caption = references[source][rng.integers(REFERENCES)]
            row[: len(caption) + 1] = [*caption, EOS]
        made.append((rows, image))
    return made


def text(ids: Any) -> str:
    return " ".join(str(token) for token in ids if token)


def as_strings(
    references: list[list[list[int]]], batch: tuple[np.ndarray, np.ndarray]
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """What pycocoevalcap takes: each hypothesis is an entry of its own. Made outside the timing."""
    rows, image = batch
    return (
        {key: [text([*caption, EOS]) for caption in references[index]] for key, index in enumerate(image)},
        {key: [text(row)] for key, row in enumerate(rows)},
    )


def images_per_second(call: Any, inputs: list[Any], size: int) -> float:
    """The fastest of three passes of a second each: what else runs on the machine only slows it."""
    call(*inputs[0])
    best = 0.0
    for _ in range(3):
        calls, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < SECONDS / 3:
            call(*inputs[calls % len(inputs)])
            calls += 1
        best = max(best, calls * size / (time.perf_counter() - begin))
    return best


def agreement(references: list[list[list[int]]]) -> float:
    """Largest difference over 2,000 images, document frequencies being those of all 2,000."""
    part = references[:2000]
    image = np.arange(len(part))
    rows = np.zeros((len(part), TIME), dtype=np.int64)
    for row, captions in zip(rows, part[1:] + part[:1], strict=True):
        row[: len(captions[0]) + 1] = [*captions[0], EOS]
    rows[::2] = 0
    for row, captions in zip(rows[::2], part[::2], strict=True):
        row[: len(captions[-1]) + 1] = [*captions[-1], EOS]
    held_out = [captions[:-1] for captions in part]
    _, expected = Cider().compute_score(*as_strings(held_out, (rows, image)))
    return float(np.abs(CiderD(held_out).score(rows, image) - expected).max())


def main() -> None:
    numba.set_num_threads(1)  # nothing here runs in parallel; this keeps it so
    references = coco_ids()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    CiderD(references[:10]).score(np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64))  # compiles
    begin = time.perf_counter()
    reward = CiderD(references)
    cooking = time.perf_counter() - begin
    speeds = []
    for size in (10, 50):
        made = batches(references, size, 200)
        ours = images_per_second(reward.score, made, size)
        if size == 50:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        theirs = images_per_second(Cider().compute_score, [as_strings(references, batch) for batch in made[:20]], size)
        speeds.append(
            {"batch": size, "ours": round(ours), "pycocoevalcap": round(theirs), "ratio": round(ours / theirs)}
        )
    difference = agreement(references)
    result = {
        "agreement": {"images": 2000, "largest_difference": difference},
        "captions": {"images": len(references), "hypotheses": HYPOTHESES, "references": REFERENCES, "time": TIME},
        "cooking_seconds": round(cooking, 2),
        "images_per_second": speeds,
        "machine": {
            "cpus": os.cpu_count(),
            "numba": numba.__version__,
            "numpy": np.__version__,
            "processor": platform.machine(),
            "python": platform.python_version(),
            "threads": 1,
        },
        # Of the process: reading the JSON makes the first peak, all that the rewards need comes with the second.
        "peak_memory_mb": {"captions_loaded": round(before / 1024), "rewards_computed": round(peak / 1024)},
    }
    write_json(Path(__file__).parent / "results" / "cider.json", result)
    print("| images a batch | CIDEr-D on ids, images/s | pycocoevalcap, images/s | ratio |\n|---|---|---|---|")
    for row in speeds:
        print(f"| {row['batch']} | {row['ours']:,} | {row['pycocoevalcap']:,} | {row['ratio']} |")
    print(f"\nlargest difference {difference:.1e}; {len(references):,} images cooked in {cooking:.1f} s; ", end="")
    print(f"peak memory {peak / 1024:.0f} MB, {before / 1024:.0f} MB of it before cooking")


if __name__ == "__main__":
    main()
