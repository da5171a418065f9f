"""Average precision: how well scores rank the images that have a label before those that do not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def average_precisions(scores: npt.NDArray[np.floating], labels: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Each label's average precision: the mean of the precision at each of its examples.

    Args:
        scores: [n, labels], higher for images that should have the label.
        labels: [n, labels], 0 or 1.

    Returns:
        [labels], 0-1; NaN where a label has no example.
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(labels, order, 0)
    precision = np.cumsum(ranked, 0) / np.arange(1, len(labels) + 1)[:, None]
    positives = labels.sum(0)
    found = np.full(labels.shape[1], np.nan)
    np.divide((precision * ranked).sum(0), positives, out=found, where=positives > 0)
    return found
