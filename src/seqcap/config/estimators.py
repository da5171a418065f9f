"""Configuration of stage `estimators`, which measures gradients through a listener, and the table that it writes."""

import pyarrow as pa

from seqcap.config import StageConfig

# One row per replicate of an estimator's gradient: its inner products with all replicates of the estimator, itself
# included, and with all of the reference. A replicate is a mean over `draws` captions of each image. Only estimators
# that pass captions on have rho and feedback_grad.
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
    paper: str
    task: str
    listener: str  # folder of the retrievers, seed<k>.safetensors
    start: str  # folder of the captioners
    margin: float  # of the hinge, a cosine
    rhos: tuple[float, ...]  # of the estimators that pass captions on
    images: int  # training images in the batch
    replicates: int  # independent gradients of each estimator
    draws: int  # captions of each image in one replicate of a score-function estimator
    max_length: int  # tokens of a caption, EOS included
    seed: int  # of the captioner, the listener and the draws
