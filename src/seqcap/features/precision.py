"""Average precision: how well scores rank the images with a label before those without it."""

import numpy as np
import numpy.typing as npt


def average_precisions(scores: npt.NDArray[np.floating], labels: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Each label's mean precision at its examples, [labels], 0-1; NaN without examples. `scores` [n, labels] are higher
    for images that should have the label; `labels` [n, labels] are 0 or 1."""
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(labels, order, 0)
    precision = np.cumsum(ranked, 0) / np.arange(1, len(labels) + 1)[:, None]
    positives = labels.sum(0)
    found = np.full(labels.shape[1], np.nan)
    np.divide((precision * ranked).sum(0), positives, out=found, where=positives > 0)
    return found
