"""The columns of every Parquet file that passes between stages, and the names that all stages share."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa

# Where the image task's captions and splits are.
DATA = Path("artifacts/image/data")
SOURCE_VOCABULARY, VOCABULARY = "source_vocabulary.json", "vocabulary.json"
SOURCE_SUBWORDS, SUBWORDS = "source_subwords.json", "subwords.json"

SPLITS = ("train", "val", "test")
# An extra split of some datasets: images with many references each, or without public ones, as on COCO's server.
# Nothing is trained, standardised or selected on it.
SERVER = "server"
# COCO's own splits. Its server takes captions of a whole split.
COCO_SPLITS = ("test2014", "val2014")

DECODERS = ("greedy", "beam", "sample")

_INT, _FLOAT, _TEXT, _WORDS = pa.int64(), pa.float64(), pa.string(), pa.list_(pa.string())
_RUN = {"variant": _TEXT, "seed": _INT}

# One row per image or clip: `file` is the name inside the image folder or tar; `coco_id` is COCO's id, null in other
# datasets.
IMAGES = pa.schema({"item": _INT, "split": _TEXT, "file": _TEXT, "coco_id": _INT})

# One row per human (or generated) caption. `tokens` are words, not ids.
REFERENCES = pa.schema({"item": _INT, "split": _TEXT, "caption_id": _INT, "text": _TEXT, "tokens": _WORDS})

# One row per sentence pair. `source` and `target` are what the translator reads and writes, words or subwords;
# `reference` is the target as words. Beside it in a task's data/: the vocabularies, and the merges of subwords.
PAIRS = pa.schema({"item": _INT, "split": _TEXT, "source": _WORDS, "target": _WORDS, "reference": _WORDS})

# One row per decoded caption; `rank` counts from 0 within (variant, seed, item, decoder). `log_prob` is the sum over
# tokens up to and including EOS, in nats.
_CAPTION = {"item": _INT, "decoder": _TEXT, "rank": _INT}
DECODED = pa.schema({**_RUN, **_CAPTION, "text": _TEXT, "tokens": _WORDS, "log_prob": _FLOAT})

# One row per score; corpus metrics have a null item, metrics of a set of captions a null rank. The counts that a corpus
# metric is computed from have a row per item: `statistics`, which add up over items, and no value (their metric is
# `Metric.statistics` of the registry).
SCORES = pa.schema({**_RUN, **_CAPTION, "metric": _TEXT, "value": _FLOAT, "statistics": pa.list_(_FLOAT)})

# Learning curves: one row per (variant, seed, step, quantity); `images` counts training images seen so far.
CURVES = pa.schema({**_RUN, "step": _INT, "images": _INT, "quantity": _TEXT, "value": _FLOAT})

# One row per replicate of a policy gradient: its squared distance from the mean gradient of its setting (rollouts,
# baseline), and the squared norm of that mean.
_SETTING = {"rollouts": _INT, "baseline": pa.bool_(), "replicate": _INT}
VARIANCE = pa.schema({**_SETTING, "squared_distance": _FLOAT, "squared_mean": _FLOAT})

# One row per parsed caption: the scene-graph tuples that SPICE compares, and the parser they come from.
SCENE_GRAPHS = pa.schema({"text": _TEXT, "parser": _TEXT, "tuples": pa.list_(_WORDS)})

# METEOR's paraphrases, filtered to a vocabulary: phrases as words separated by spaces, in METEOR's own order.
PARAPHRASES = pa.schema({"left": _TEXT, "right": _TEXT})

# The columns that may be null, in any table and in that of scores.
NULLABLE = frozenset({"coco_id", "feedback_grad", "group", "rho"})
NULLABLE_SCORES = frozenset({"item", "rank", "value", "statistics"})


def features_schema(shape: tuple[int, ...], dtype: pa.DataType) -> pa.Schema:
    """Schema of a feature file.

    Args:
        shape: per image, (channels,) for pooled features or (height, width, channels) for a grid.
        dtype: `pa.float16()` or `pa.float32()`.
    """
    return pa.schema(
        [("item", pa.int64()), ("features", pa.list_(dtype, math.prod(shape)))],
        metadata={b"shape": json.dumps(list(shape)).encode()},
    )


def embeddings_schema(dimension: int) -> pa.Schema:
    """Schema of word embeddings: one row per word that has a vector [dimension]; of the specials only EOS may."""
    return pa.schema([("word", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])


def in_split(split: str, image_split: str, file: str) -> bool:
    """Whether an image (a row of `IMAGES`) is in a split: one of ours, or one of COCO's, which its file name holds."""
    return split in file if split in COCO_SPLITS else split == image_split
