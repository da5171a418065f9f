"""The columns of every Parquet file that one stage writes and another reads, and names that all stages share."""

import json
import math
from pathlib import Path

import pyarrow as pa

# The captions and splits of the image task.
DATA = Path("artifacts/image/data")
SOURCE_VOCABULARY, VOCABULARY = "source_vocabulary.json", "vocabulary.json"
ORIGIN = "origin.json"  # beside features: what they are made of
PRETRAINED = "pretrained.json"  # the captioner whose tokens a task's captions are, and where its images are
SOURCE_SUBWORDS, SUBWORDS = "source_subwords.json", "subwords.json"
SPLITS = ("train", "val", "test")
# An extra split of some datasets: images with many references, or without public ones, as on COCO's server. It is
# never used for training, standardisation or selection.
SERVER = "server"
# COCO's own splits; its server takes captions of a whole split.
COCO_SPLITS = ("test2014", "val2014")
DECODERS = ("greedy", "beam", "sample")
_INT, _FLOAT, _TEXT, _WORDS = pa.int64(), pa.float64(), pa.string(), pa.list_(pa.string())
_RUN = {"run": _TEXT, "seed": _INT}
# One row per image or clip: `file` is its name in the image folder or tar, `coco_id` null outside COCO.
IMAGES = pa.schema({"item": _INT, "split": _TEXT, "file": _TEXT, "coco_id": _INT})
# One row per caption. `tokens` are words, not ids.
REFERENCES = pa.schema({"item": _INT, "split": _TEXT, "caption_id": _INT, "text": _TEXT, "tokens": _WORDS})
# One row per sentence pair: `source` and `target` in the translator's words or subwords, `reference` in words.
PAIRS = pa.schema({"item": _INT, "split": _TEXT, "source": _WORDS, "target": _WORDS, "reference": _WORDS})
# One row per decoded caption; `rank` counts from 0 within (run, seed, item, decoder). `log_prob` is the sum over
# tokens, EOS included, in nats.
_CAPTION = {"item": _INT, "decoder": _TEXT, "rank": _INT}
DECODED = pa.schema({**_RUN, **_CAPTION, "text": _TEXT, "tokens": _WORDS, "log_prob": _FLOAT})
# One row per score. `item` is null for corpus metrics, `rank` for metrics of a set of captions. The counts from which a
# corpus metric is computed are the `statistics` of a row per item (metric `Metric.statistics`), which has no value.
SCORES = pa.schema({**_RUN, **_CAPTION, "metric": _TEXT, "value": _FLOAT, "statistics": pa.list_(_FLOAT)})
# One row per point of a learning curve; `images` counts training images so far.
CURVES = pa.schema({**_RUN, "step": _INT, "images": _INT, "quantity": _TEXT, "value": _FLOAT})
# One row per replicate of a policy gradient: its squared distance from the mean gradient of its setting, and the
# squared norm of that mean.
_SETTING = {"rollouts": _INT, "baseline": pa.bool_(), "replicate": _INT}
VARIANCE = pa.schema({**_SETTING, "squared_distance": _FLOAT, "squared_mean": _FLOAT})
# One row per replicate of an estimator's gradient: its inner products with all replicates of the estimator, itself
# included, and with all of the reference. A replicate is a mean over `draws` captions of each image. Only estimators
# that pass captions on have rho and feedback_grad.
_ESTIMATE = {"estimator": _TEXT, "rho": _FLOAT, "feedback_grad": pa.bool_(), "draws": _INT, "replicate": _INT}
ESTIMATES = pa.schema({**_ESTIMATE, "own": pa.list_(_FLOAT), "reference": pa.list_(_FLOAT)})
# One row per parsed caption: its scene-graph tuples, which SPICE compares, and their parser.
SCENE_GRAPHS = pa.schema({"text": _TEXT, "parser": _TEXT, "tuples": pa.list_(_WORDS)})
# METEOR's paraphrases, filtered to a vocabulary, in METEOR's order: words separated by spaces.
PARAPHRASES = pa.schema({"left": _TEXT, "right": _TEXT})
# Columns that may be null: in any table, and in `SCORES`.
NULLABLE = frozenset({"coco_id", "feedback_grad", "group", "rho"})
NULLABLE_SCORES = frozenset({"item", "rank", "value", "statistics"})


def features_schema(shape: tuple[int, ...], dtype: pa.DataType) -> pa.Schema:
    """Schema of a feature file. `shape`: (channels,) for pooled features, (height, width, channels) for a grid."""
    return pa.schema(
        [("item", pa.int64()), ("features", pa.list_(dtype, math.prod(shape)))],
        metadata={b"shape": json.dumps(list(shape)).encode()},
    )


def embeddings_schema(dimension: int) -> pa.Schema:
    """Schema of word embeddings: one row per word with a vector [dimension]. Of the specials only EOS may have one."""
    return pa.schema([("word", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])


def in_split(split: str, image_split: str, file: str) -> bool:
    """Whether an image (a row of `IMAGES`) is in one of our splits or of COCO's, which its file name contains."""
    return split in file if split in COCO_SPLITS else split == image_split
