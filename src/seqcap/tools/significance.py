"""Paired tests of two systems that captioned the same images.

Both are sacreBLEU's (Post, WMT 2018; `sacrebleu.significance`), with its p-values: the paired bootstrap after Koehn
(EMNLP 2004), and approximate randomisation after Riezler and Maxwell (2005). They tell whether a difference would hold
on other images, not with other training runs: for these, train several seeds and read the pipeline's report.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from seqcap.metrics.captions import Floats

Test = Literal["bs", "ar"]
# The test in words, and sacreBLEU's number of resamples or trials.
TESTS: dict[Test, tuple[str, int]] = {
    "bs": ("paired bootstrap, 1,000 resamples", 1_000),
    "ar": ("approximate randomisation, 10,000 trials", 10_000),
}
_CHUNK = 50  # trials at a time: 40 MB for 200,000 images


def p_value(base: Floats, other: Floats, aggregate: Callable[[Floats], Floats], test: Test) -> float:
    """How probable a difference as large as this one is if the systems are equally good: above 0 and at most 1. `base`
    and `other` are statistics of the same images, [images, k]; `aggregate` maps sums [..., k] to values [...]."""
    observed = abs(float(aggregate(other.sum(axis=0)) - aggregate(base.sum(axis=0))))
    if observed == 0:
        # sacreBLEU finds p = .001 between a system and itself: no trial's difference is larger than none.
        return 1.0
    drawn = np.concatenate([abs(aggregate(b) - aggregate(a)) for a, b in _draw(base, other, test)])
    # Without the centring a bootstrap's differences scatter around the one observed.
    stats = drawn - drawn.mean() if test == "bs" else drawn
    return (int((stats > observed).sum()) + 1) / (len(drawn) + 1)


def _draw(base: Floats, other: Floats, test: Test) -> Iterator[tuple[Floats, Floats]]:
    """Sums of statistics [trials, k] of both systems, some trials at a time."""
    random = np.random.default_rng(0)
    images, left = len(base), TESTS[test][1]
    while left > 0:
        number = min(left, _CHUNK)
        left -= number
        if test == "bs":
            times = random.multinomial(images, np.full(images, 1 / images), size=number).astype(np.float64)
            yield times @ base, times @ other
        else:
            # The two systems' captions of an image change places, or do not.
            kept = random.integers(2, size=(number, images)).astype(np.float64)
            mine = kept @ base + (1 - kept) @ other
            yield mine, base.sum(axis=0) + other.sum(axis=0) - mine
