"""The compiled inner loops of the rewards: n-grams packed into 64-bit keys, counted and compared.
An n-gram is one uint64, 16 bits per id. No scored id is 0 (PAD), so keys of different orders never collide, key 0 marks
an empty slot, and sorted keys are grouped by order. All kernels are in this file because numba's on-disk cache checks
only the file of the outermost function: after a change elsewhere it would run stale machine code.
`tests/plain_rewards.py` holds the same computations as readable Python."""

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from seqcap.system.compilation import compiled

ORDERS = 4
# BLEU counts of one caption: matches of orders 1-4, guesses of orders 1-4, its length, the closest reference length.
STATISTICS = 2 * ORDERS + 2
P = ParamSpec("P")
R = TypeVar("R")
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Slots = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint16]
# Explicit types: numba turns uint64 mixed with a signed integer into float64.
EMPTY = np.uint64(0)
BITS = np.uint64(16)
TWO_IDS = np.uint64(1 << 16)
THREE_IDS = np.uint64(1 << 32)
FOUR_IDS = np.uint64(1 << 48)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 divided by the golden ratio (Knuth, TAOCP 3, 6.4)
WORD = np.uint64(64)


class Cooked(NamedTuple):
    """The references of all images as the kernels read them.

    Attributes:
        tokens: ids of all captions, one after the other, EOS included where it is scored: [total tokens].
        captions: [captions + 1]; caption c is tokens[captions[c] : captions[c + 1]].
        images: [images + 1]; image i has captions images[i] .. images[i + 1] - 1.
        union: n-grams of each image's captions together, ascending within an image: [grams].
        grams: [images + 1], where the n-grams of each image begin in `union`.
    """

    tokens: Ints
    captions: Ints
    images: Ints
    union: Keys
    grams: Ints


class Frequencies(NamedTuple):
    """The weight of each n-gram, from the number of images with a reference that contains it.

    Attributes:
        table: the n-grams in an open-addressing table: [capacity], a power of two; 0 where a slot is empty.
        shift: of the table's hash function: 64 - log2(capacity).
        idf: log(images / frequency) of the n-gram in each slot: [capacity]; log(images) in an empty one.
    """

    table: Keys
    shift: np.uint64
    idf: Floats


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles without the interpreter and its lock; caches machine code on disk."""
    return compiled(function)


@kernel
def order_of(key: Any) -> int:
    """0 for a unigram .. 3 for a 4-gram."""
    if key < TWO_IDS:
        return 0
    if key < THREE_IDS:
        return 1
    if key < FOUR_IDS:
        return 2
    return 3


@kernel
def cook(tokens: Ints, keys: Keys, counts: Ints) -> int:
    """Writes the distinct n-grams of `tokens` [n] (orders 1-4), sorted, and their counts; returns their number. `keys`
    and `counts` need room for 4 * n entries."""
    distinct = 0
    for order in range(1, ORDERS + 1):
        first = distinct
        for start in range(len(tokens) - order + 1):
            key = EMPTY
            for offset in range(order):
                key = (key << BITS) | np.uint64(tokens[start + offset])
            place = distinct
            while place > first and keys[place - 1] > key:
                place -= 1
            if place > first and keys[place - 1] == key:
                counts[place - 1] += 1
                continue
            for moved in range(distinct, place, -1):
                keys[moved] = keys[moved - 1]
                counts[moved] = counts[moved - 1]
            keys[place] = key
            counts[place] = 1
            distinct += 1
    return distinct


@kernel
def cook_union(tokens: Ints, captions: Ints, images: Ints) -> tuple[Keys, Ints]:
    """All distinct n-grams of each image's captions, sorted: [grams], and where each image's begin: [images + 1].
    Arguments as in `Cooked`."""
    grams = np.zeros(len(images), dtype=np.int64)
    union = np.empty(1 << 16, dtype=np.uint64)
    most = 0
    for image in range(len(images) - 1):
        most = max(most, captions[images[image + 1]] - captions[images[image]])
    found = np.empty(ORDERS * most, dtype=np.uint64)
    counts = np.empty(ORDERS * most, dtype=np.int64)
    for image in range(len(images) - 1):
        total = 0
        for caption in range(images[image], images[image + 1]):
            total += cook(tokens[captions[caption] : captions[caption + 1]], found[total:], counts)
        found[:total].sort()
        filled = grams[image]
        if filled + total > len(union):
            larger = np.empty(2 * (filled + total), dtype=np.uint64)
            larger[:filled] = union[:filled]
            union = larger
        for index in range(total):
            if index == 0 or found[index] != found[index - 1]:
                union[filled] = found[index]
                filled += 1
        grams[image + 1] = filled
    return union[: grams[-1]].copy(), grams


@kernel
def find_slot(table: Keys, shift: Any, key: Any) -> int:
    """Slot of `key` in an open-addressing table [capacity], or the empty slot where it belongs."""
    mask = len(table) - 1
    slot = np.int64((key * GOLDEN) >> shift)
    while table[slot] != EMPTY and table[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def find_sorted(keys: Keys, key: Any) -> int:
    """Place of `key` in sorted keys; -1 if absent."""
    left, right = 0, len(keys)
    while left < right:
        middle = (left + right) // 2
        if keys[middle] < key:
            left = middle + 1
        else:
            right = middle
    return left if left < len(keys) and keys[left] == key else -1


@kernel
def fill_table(keys: Keys, values: Ints, log_capacity: int) -> tuple[Keys, Ints]:
    """An open-addressing table of 2^log_capacity slots with these distinct keys [n], and the value of each slot, of
    values [n], else 0."""
    table = np.zeros(1 << log_capacity, dtype=np.uint64)
    placed = np.zeros(1 << log_capacity, dtype=np.int64)
    for index in range(len(keys)):
        slot = find_slot(table, WORD - np.uint64(log_capacity), keys[index])
        table[slot] = keys[index]
        placed[slot] = values[index]
    return table, placed


@kernel
def cook_cider(cooked: Cooked, frequencies: Frequencies, cells: Ints) -> tuple[Counts, Floats]:
    """How often each n-gram of an image's union occurs in each of its captions, and the norms of the captions' vectors.
    `cells` [images + 1] tells where each image's (n-gram, caption) counts begin. Returns counts [cells], caption
    fastest, and norms [captions, 4]."""
    tokens, captions, images, union, grams = cooked
    table, shift, idf = frequencies
    counts = np.zeros(cells[-1], dtype=np.uint16)
    norms = np.zeros((len(captions) - 1, ORDERS))
    longest = 0
    for caption in range(len(captions) - 1):
        longest = max(longest, captions[caption + 1] - captions[caption])
    keys = np.empty(ORDERS * longest, dtype=np.uint64)
    occurrences = np.empty(ORDERS * longest, dtype=np.int64)
    for image in range(len(images) - 1):
        mine = union[grams[image] : grams[image + 1]]
        references = images[image + 1] - images[image]
        for reference in range(references):
            caption = images[image] + reference
            distinct = cook(tokens[captions[caption] : captions[caption + 1]], keys, occurrences)
            for gram in range(distinct):
                weight = occurrences[gram] * idf[find_slot(table, shift, keys[gram])]
                place = find_sorted(mine, keys[gram])
                counts[cells[image] + place * references + reference] = occurrences[gram]
                norms[caption, order_of(keys[gram])] += weight**2
    return counts, np.sqrt(norms)


@kernel
def cider_d(
    hypotheses: Ints,
    lengths: Ints,
    image_of: Ints,
    cooked: Cooked,
    frequencies: Frequencies,
    cells: Ints,
    counts: Counts,
    norms: Floats,
    sigma: float,
) -> Floats:
    """CIDEr-D [n] of hypotheses, ids [n, time] of which `lengths` [n] count, against the references of images
    `image_of` [n]; `sigma` is that of the length penalty, in words. `cells`, `counts` and `norms` are those of
    `cook_cider`."""
    _, captions, images, union, grams = cooked
    table, shift, idf = frequencies
    n, time = hypotheses.shape
    scores = np.zeros(n)
    most = 0
    for row in range(n):
        most = max(most, images[image_of[row] + 1] - images[image_of[row]])
    keys = np.empty(ORDERS * time, dtype=np.uint64)
    occurrences = np.empty(ORDERS * time, dtype=np.int64)
    found = np.empty(ORDERS * time, dtype=np.int64)
    dots = np.empty((most, ORDERS))
    norm = np.empty(ORDERS)
    for row in range(n):
        image = image_of[row]
        references = images[image + 1] - images[image]
        dots[:references] = 0.0
        norm[:] = 0.0
        mine = union[grams[image] : grams[image + 1]]
        distinct = cook(hypotheses[row, : lengths[row]], keys, occurrences)
        # Look-ups in a large table wait for memory. In a loop of their own these waits overlap.
        for gram in range(distinct):
            found[gram] = find_slot(table, shift, keys[gram])
        for gram in range(distinct):
            # An empty slot has the weight of an n-gram without references.
            slot = found[gram]
            order = order_of(keys[gram])
            weight = occurrences[gram] * idf[slot]
            norm[order] += weight**2
            place = find_sorted(mine, keys[gram])
            if place >= 0:
                cell = cells[image] + place * references
                for reference in range(references):
                    other = counts[cell + reference] * idf[slot]
                    dots[reference, order] += min(weight, other) * other
        score = 0.0
        for reference in range(references):
            caption = images[image] + reference
            # The length penalty counts bigrams, as in the original code.
            delta = max(lengths[row] - 1, 0) - max(captions[caption + 1] - captions[caption] - 1, 0)
            similarity = 0.0
            for order in range(ORDERS):
                if norm[order] > 0 and norms[caption, order] > 0:
                    similarity += dots[reference, order] / (np.sqrt(norm[order]) * norms[caption, order])
            score += similarity * np.exp(-(delta**2) / (2 * sigma**2))
        scores[row] = 10.0 * score / (ORDERS * references)
    return scores


@kernel
def raise_limits(keys: Keys, limits: Ints, other_keys: Keys, other_counts: Ints) -> None:
    """limits[i] = max(limits[i], count of keys[i] in another caption). `keys` and `limits` are [n], the other caption's
    keys and counts [m]; keys are sorted."""
    other = 0
    for gram in range(len(keys)):
        while other < len(other_keys) and other_keys[other] < keys[gram]:
            other += 1
        if other < len(other_keys) and other_keys[other] == keys[gram]:
            limits[gram] = max(limits[gram], other_counts[other])


@kernel
def closer(length: int, best: int, other: int) -> int:
    """Which reference length is closer to `length`, the shorter if equal; `best` is -1 at first."""
    if best < 0 or (abs(other - length), other) < (abs(best - length), best):
        return other
    return best


@kernel
def bleu_row(keys: Keys, counts: Ints, limits: Ints, length: int, reference_length: int, statistics: Floats) -> None:
    """Writes the counts of one caption into `statistics` [10]. `keys` and `counts` [n] are its n-grams, `limits` [n]
    the largest counts of each in any reference."""
    statistics[:ORDERS] = 0.0
    for gram in range(len(keys)):
        statistics[order_of(keys[gram])] += min(counts[gram], limits[gram])
    for order in range(ORDERS):
        statistics[ORDERS + order] = max(length - order, 0)
    statistics[2 * ORDERS] = length
    statistics[2 * ORDERS + 1] = reference_length


@kernel
def bleu_among(hypotheses: Ints, lengths: Ints, pairwise: bool) -> Floats:
    """BLEU counts among the samples [b, s, time] of each image: [b, s, s, 10] with each other sample as the only
    reference if `pairwise`, else [b, s, 1, 10] with all others as references. `lengths` [b, s]: how many tokens of each
    count."""
    b, s, time = hypotheses.shape
    statistics = np.empty((b, s, s if pairwise else 1, STATISTICS))
    keys = np.empty((s, ORDERS * time), dtype=np.uint64)
    counts = np.empty((s, ORDERS * time), dtype=np.int64)
    limits = np.empty(ORDERS * time, dtype=np.int64)
    distinct = np.empty(s, dtype=np.int64)
    for image in range(b):
        for sample in range(s):
            row = hypotheses[image, sample, : lengths[image, sample]]
            distinct[sample] = cook(row, keys[sample], counts[sample])
        for sample in range(s):
            mine = keys[sample, : distinct[sample]]
            length = lengths[image, sample]
            closest = -1
            limits[: len(mine)] = 0
            for other in range(s):
                if pairwise:
                    limits[: len(mine)] = 0
                    closest = -1
                elif other == sample:
                    continue
                raise_limits(mine, limits, keys[other, : distinct[other]], counts[other])
                closest = closer(length, closest, lengths[image, other])
                if pairwise:
                    bleu_row(mine, counts[sample], limits, length, closest, statistics[image, sample, other])
            if not pairwise:
                bleu_row(mine, counts[sample], limits, length, closest, statistics[image, sample, 0])
    return statistics


@kernel
def cook_bleu(cooked: Cooked) -> Ints:
    """The largest count in any caption of each n-gram of an image's union: [grams]."""
    tokens, captions, images, union, grams = cooked
    limits = np.zeros(len(union), dtype=np.int64)
    longest = 0
    for caption in range(len(captions) - 1):
        longest = max(longest, captions[caption + 1] - captions[caption])
    keys = np.empty(ORDERS * longest, dtype=np.uint64)
    counts = np.empty(ORDERS * longest, dtype=np.int64)
    for image in range(len(images) - 1):
        low, high = grams[image], grams[image + 1]
        for caption in range(images[image], images[image + 1]):
            size = cook(tokens[captions[caption] : captions[caption + 1]], keys, counts)
            raise_limits(union[low:high], limits[low:high], keys[:size], counts)
    return limits


@kernel
def bleu_against(hypotheses: Ints, lengths: Ints, image_of: Ints, cooked: Cooked, union_counts: Ints) -> Floats:
    """BLEU counts [n, 10] of each hypothesis against its image's references. Hypotheses are ids [n, time], of which
    `lengths` [n] count; `image_of` [n] are their images, `union_counts` [grams] the result of `cook_bleu`."""
    _, captions, images, union, grams = cooked
    n, time = hypotheses.shape
    statistics = np.empty((n, STATISTICS))
    keys = np.empty(ORDERS * time, dtype=np.uint64)
    counts = np.empty(ORDERS * time, dtype=np.int64)
    limits = np.empty(ORDERS * time, dtype=np.int64)
    for row in range(n):
        image = image_of[row]
        mine = keys[: cook(hypotheses[row, : lengths[row]], keys, counts)]
        limits[: len(mine)] = 0
        low, high = grams[image], grams[image + 1]
        raise_limits(mine, limits, union[low:high], union_counts[low:high])
        closest = -1
        for caption in range(images[image], images[image + 1]):
            closest = closer(lengths[row], closest, captions[caption + 1] - captions[caption])
        bleu_row(mine, counts, limits, lengths[row], closest, statistics[row])
    return statistics


@kernel
def common_subsequence(left: Ints, right: Ints, row: Ints) -> int:
    """Length of the longest common subsequence of ids [n] and [m]; `row` needs room for m + 1 entries."""
    row[: len(right) + 1] = 0
    for i in range(len(left)):
        diagonal = 0
        for j in range(len(right)):
            above = row[j + 1]
            if left[i] == right[j]:
                row[j + 1] = diagonal + 1
            else:
                row[j + 1] = max(above, row[j])
            diagonal = above
    return int(row[len(right)])


@kernel
def rouge_l(hypotheses: Ints, lengths: Ints, image_of: Ints, cooked: Cooked, beta: float) -> Floats:
    """ROUGE-L [n] of hypotheses, ids [n, time] of which `lengths` [n] count, against the references of images
    `image_of` [n]; `beta` weighs recall over precision."""
    tokens, captions, images = cooked.tokens, cooked.captions, cooked.images
    scores = np.zeros(len(hypotheses))
    longest = 0
    for caption in range(len(captions) - 1):
        longest = max(longest, captions[caption + 1] - captions[caption])
    row = np.empty(longest + 1, dtype=np.int64)
    for n in range(len(hypotheses)):
        mine = hypotheses[n, : lengths[n]]
        precision = 0.0
        recall = 0.0
        for caption in range(images[image_of[n]], images[image_of[n] + 1]):
            other = tokens[captions[caption] : captions[caption + 1]]
            if len(mine) == 0 or len(other) == 0:
                # For pycocoevalcap an empty caption is one empty word, which equals only another empty one.
                if len(mine) == len(other):
                    precision = 1.0
                    recall = 1.0
                continue
            common = common_subsequence(mine, other, row)
            precision = max(precision, common / len(mine))
            recall = max(recall, common / len(other))
        if precision > 0 and recall > 0:
            scores[n] = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    return scores
