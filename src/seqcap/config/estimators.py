"""Configuration of the measurement of gradients through a listener, and the rows that it writes."""

from __future__ import annotations

import pyarrow as pa

from seqcap.config import StageConfig

# One row per replicate of an estimator's gradient: inner products with all of the estimator's replicates, itself
# included, and with all of the reference's. `draws`: how many captions of each image a replicate is the mean over.
# Only what passes captions on has rho and feedback_grad.
ESTIMATES = pa.schema(
    [
        ("estimator", pa.string()),
        ("rho", pa.float64()),
        ("feedback_grad", pa.bool_()),
        ("draws", pa.int64()),
        ("replicate", pa.int64()),
        ("own", pa.list_(pa.float64())),
        ("reference", pa.list_(pa.float64())),
    ]
)


class EstimatorsConfig(StageConfig):
    """Stage `estimators`.

    Attributes:
        listener: folder of the retrievers, seed<k>.safetensors; `start`: of the captioners.
        margin: of the hinge, a cosine.
        rhos: of the estimators that pass captions on.
        images: training images of the batch.
        replicates: independent gradients of each estimator.
        draws: captions of each image that a replicate of the score functions is the mean over.
        max_length: tokens of a caption, EOS included.
        seed: of the captioner, the listener and the draws.
    """

    paper: str
    task: str
    listener: str
    start: str
    margin: float
    rhos: tuple[float, ...]
    images: int
    replicates: int
    draws: int
    max_length: int
    seed: int
