"""Random data at the papers' sizes, and the clocks, for benchmarks/walk.py: captions, features and pairs of a task."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from rewards import status
from scale import write_features
from training import cpu

from seqcap.data.vocabulary import SPECIALS, Vocabulary
from seqcap.files.parquet import write_table
from seqcap.files.schemas import IMAGES, PAIRS, REFERENCES, SOURCE_VOCABULARY, VOCABULARY

STEPS, SAMPLES, LENGTH = 2, 5, 10
# Items of the splits of a task. On a GPU two batches are decoded, as large as the pipeline's; on a core, smaller ones.
TRAIN, VAL = 128, 2
DECODED, DECODED_ON_GPU = 8, 100
WORDS = {"image": 9_487, "de_en": 9_487, "en_fr": 30_000}
SENTENCE = 25  # words of a source sentence


def write_images(features: str, tested: int | None = None) -> None:
    """artifacts/image: random captions of random words, random features of a kind, "pooled" or "grid"; as many test
    images as are decoded, unless `tested` says otherwise."""
    rng, folder = np.random.default_rng(0), Path("artifacts/image/data")
    words = write_vocabulary(folder / VOCABULARY, WORDS["image"])
    splits = splits_of_items(tested)
    items = np.arange(len(splits))
    names = pa.array([f"{item}.jpg" for item in items])
    columns = [pa.array(items), pa.array(splits), names, pa.nulls(len(items), pa.int64())]
    write_table(folder / "images.parquet", pa.table(columns, schema=IMAGES), IMAGES)
    captions = [sentence(rng, words, LENGTH) for _ in range(5 * len(items))]
    rows = {
        "item": np.repeat(items, 5),
        "split": np.repeat(splits, 5),
        "caption_id": np.arange(5 * len(items)),
        "text": [" ".join(caption) for caption in captions],
        "tokens": captions,
    }
    write_table(folder / "references.parquet", pa.table(rows).cast(REFERENCES), REFERENCES)
    write_features(Path(), features, len(items))


def write_pairs(task: str) -> None:
    """The data of a task of translation: random pairs of random words."""
    rng, folder = np.random.default_rng(0), Path("artifacts") / task / "data"
    words = write_vocabulary(folder / VOCABULARY, WORDS[task])
    write_vocabulary(folder / SOURCE_VOCABULARY, WORDS[task])
    splits = splits_of_items()
    items = np.arange(len(splits))
    pairs = {name: [sentence(rng, words, SENTENCE) for _ in items] for name in ("source", "target")}
    rows = {"item": items, "split": splits, **pairs, "reference": pairs["target"]}
    write_table(folder / "pairs.parquet", pa.table(rows).cast(PAIRS), PAIRS)


def write_vocabulary(path: Path, size: int) -> list[str]:
    words = [f"word{number}" for number in range(size - len(SPECIALS))]
    Vocabulary([*SPECIALS, *words]).write(path)
    return words


def splits_of_items(tested: int | None = None) -> list[str]:
    return ["train"] * TRAIN + ["val"] * VAL + ["test"] * (tested or STEPS * decoding_batch())


def decoding_batch() -> int:
    """Items that are decoded at a time."""
    return DECODED_ON_GPU if on_gpu() else DECODED


def sentence(rng: np.random.Generator, words: list[str], length: int) -> list[str]:
    """Some more or fewer words than `length`, as often as words are: the k-th one about k^-1 times."""
    ranks = np.exp(rng.uniform(0, np.log(len(words)), rng.integers(length - 2, length + 3))).astype(int)
    return [words[rank - 1] for rank in ranks]


def on_gpu() -> bool:
    return torch.cuda.is_available()


def device_name() -> str:
    return torch.cuda.get_device_name() if on_gpu() else cpu()


def peak_mb() -> float:
    """The largest memory so far: of the GPU, or of this process."""
    return torch.cuda.max_memory_allocated() / 1e6 if on_gpu() else status("self", "VmHWM")


def clock() -> float:
    """Seconds: of this process's CPU time, or on the wall once the GPU has done its work."""
    if not on_gpu():
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def forget_peak() -> None:
    """From here on Linux measures this process's peak memory anew: random data took more to make than to read."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
