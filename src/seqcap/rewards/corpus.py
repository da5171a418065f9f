"""Corpus metrics from counts that add up over captions, in plain NumPy, so that reports need no compiled rewards."""

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError

Floats = npt.NDArray[np.float64]
ORDERS = 4
STATISTICS = 2 * ORDERS + 2  # matches and guesses of orders 1-4, the length, the closest reference length
TINY, SMALL = 1e-15, 1e-9  # pycocoevalcap's smoothing of BLEU: for matches; for guesses and the reference length


def bleu_from_statistics(totals: Floats) -> Floats:
    """BLEU-1..4 [..., 4] in 0 .. 1 with pycocoevalcap's smoothing (Papineni et al., ACL 2002, section 2.3), from counts
    [..., 10] of one caption or summed over captions."""
    precisions = (totals[..., :ORDERS] + TINY) / (totals[..., ORDERS : 2 * ORDERS] + SMALL)
    ratio = (totals[..., -2:-1] + TINY) / (totals[..., -1:] + SMALL)
    penalty = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    scores: Floats = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, ORDERS + 1)) * penalty
    return scores


def mutual_bleu_from_totals(totals: Floats) -> Floats:
    """mBLEU-1..4 [..., 4]: the mean over slots of corpus BLEU. `totals` [..., slots, 10] are counts of each slot
    against an image's other captions, summed over images."""
    scores: Floats = bleu_from_statistics(totals).mean(axis=-2)
    return scores


def translation_bleu(totals: Floats) -> Floats:
    """sacrebleu's BLEU-4 [...] in 0 .. 1, from counts [..., 10] summed over sentences. An order without matches counts
    as half a match, the next as a quarter (Chen and Cherry, WMT 2014, smoothing 3). 0 without any match or any four
    words."""
    matches, guesses = totals[..., :ORDERS], totals[..., ORDERS : 2 * ORDERS]
    length, reference = totals[..., -2], totals[..., -1]
    none = matches == 0
    halvings = np.cumsum(none, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = np.where(none, 0.5**halvings, matches) / guesses
        penalty = np.exp(np.minimum(0.0, 1 - reference / length))
        scores = np.exp(np.log(precisions).mean(axis=-1)) * penalty
    return np.where(none.all(axis=-1) | (guesses == 0).any(axis=-1), 0.0, scores)


def corpus_values(metric: str, totals: Floats) -> Floats:
    """A corpus metric [...] from summed statistics [..., k], by its name in the registry: "BLEU4", "mBleu4 c5", "BLEU".
    InputError for a metric without statistics."""
    name = metric.partition(" ")[0]
    base, order = name[:-1], name[-1:]
    if name == "BLEU":
        return translation_bleu(totals)
    if base == "BLEU" and order in "1234":
        return bleu_from_statistics(totals)[..., int(order) - 1]
    if base == "mBleu" and order in "1234":
        slots = totals.reshape(*totals.shape[:-1], -1, STATISTICS)
        return mutual_bleu_from_totals(slots)[..., int(order) - 1]
    raise InputError("metrics", f"{metric!r} is not computed from statistics", "choose a BLEU")
