"""How sure a difference is: the paired bootstrap over test images, and agreement between training seeds.

Every system captions the same test images, so two systems are compared image by image: resampling images
with replacement then keeps what the two have in common (a hard image is hard for both) out of the
comparison. Scores of several seeds are first averaged per image: the intervals say how much the choice of
test images matters, and the agreement of the seeds' signs says separately whether training luck does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
_CHUNK = 2_000_000  # drawn indices held at once: 16 MB, whatever the number of test images


def resampled_means(scores: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Means over images drawn with replacement.

    Args:
        scores: [images] or [images, systems]; the systems are resampled together, which is the pairing.
        resamples: how many bootstrap samples.
        seed: the same seed and number of images draw the same images.

    Returns:
        [resamples] or [resamples, systems].
    """
    images = len(scores)
    if images == 0:
        raise ValueError("no images to resample")
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK // images)
    chunks = []
    for start in range(0, resamples, rows):
        drawn = generator.integers(images, size=(min(rows, resamples - start), images))
        chunks.append(scores[drawn].mean(axis=1))
    return np.concatenate(chunks)


def interval(resampled: Floats) -> tuple[float, float]:
    """The central 95% of bootstrap values (percentile interval)."""
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)


def bootstrap_interval(scores: Floats) -> tuple[float, float]:
    """95% percentile interval of the mean of `scores` [n].

    With two or three values (seeds) it is exactly their range: each of three values fills a whole resample
    with probability 1/27, more than 2.5%.
    """
    return interval(resampled_means(scores))


def p_value(resampled: Floats) -> float:
    """Two-sided p-value of "the difference is zero" from resampled differences [resamples].

    Twice the smaller tail on the other side of zero, with one added to counts so that it is never 0.
    """
    below = (np.count_nonzero(resampled <= 0) + 1) / (len(resampled) + 1)
    above = (np.count_nonzero(resampled >= 0) + 1) / (len(resampled) + 1)
    return float(min(1.0, 2 * min(below, above)))


def seeds_agreeing(differences: Floats, direction: int) -> int:
    """In how many seeds the difference [seeds] has the sign of `direction` (+1 or -1)."""
    return int(np.count_nonzero(np.sign(differences) == direction))
