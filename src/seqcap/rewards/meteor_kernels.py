"""The compiled inner loops of METEOR: looking up words and phrases, finding matches, searching the best alignment. All
are in this file, because numba's on-disk cache checks only the file of the outermost function. `tests/plain_meteor.py`
holds the same computations as readable Python."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqcap.rewards.kernels import EMPTY, GOLDEN, Floats, Ints, Keys, Slots, kernel

Bytes = npt.NDArray[np.uint8]
# For ranking English (Denkowski and Lavie, WMT 2014, table 1); weights of exact, stem, synonym, paraphrase.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
BEAM = 40
# Columns of the counts, as METEOR prints them: lengths and function words of hypothesis and reference; for each
# matcher, matched content words and matched function words of both; chunks; matched words of both.
STATISTICS = 23
LENGTH, FUNCTION, MATCHED, CHUNKS, COVERED = 0, 2, 4, 20, 21
UNKNOWN = -1  # a token that matches nothing, not even itself: a word outside the vocabulary
FIRST_WORD = 4
FORMS = 3
HALF = np.uint64(32)
ONE = np.uint64(1)
FNV_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a, 64 bits
FNV_PRIME = np.uint64(0x100000001B3)
SPACE = 32


class Words(NamedTuple):
    """The vocabulary as the kernels need it.

    Attributes:
        forms: tokens of each word's three forms (at the end, before a small letter, before a digit), one after the
            other.
        form_starts: [3 * words + 1], where each form begins.
        initials: [words], which form a word asks of the previous word: 0, 1 (small letter) or 2 (digit).
        stems: [tokens], the number of each token's stem.
        functions: [tokens], 1 for function words, else 0.
        synonyms: [capacity], an open-addressing set of keys of two tokens that share a synset, smaller first.
        children: [capacity], an open-addressing table of the trie of phrases: keys of a node and a token.
        children_of: [capacity], the nodes that `children` leads to.
        phrases: [nodes], 1 where a node ends a phrase that has paraphrases.
        pairs: [capacity], an open-addressing table of keys of two phrases' nodes, smaller first.
        ranks: [capacity, 2], places in the paraphrase table as (smaller, larger) and (larger, smaller); -1: none.
        filter: bits at the hashes of `pairs`: most look-ups end here, in a fast cache.
    """

    forms: Slots
    form_starts: Slots
    initials: Bytes
    stems: Slots
    functions: Bytes
    synonyms: Keys
    children: Keys
    children_of: Slots
    phrases: Bytes
    pairs: Keys
    ranks: Slots
    filter: Keys


@kernel
def find_key(table: Keys, key: Any) -> int:
    """Slot of `key` in an open-addressing table of 2^k slots, or the empty slot where it belongs."""
    mask = len(table) - 1
    slot = np.int64((key * GOLDEN) >> HALF) & mask
    while table[slot] != EMPTY and table[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def pair_key(left: int, right: int) -> Any:
    """One key, never 0, for two numbers below 2^31."""
    return (np.uint64(left) << HALF | np.uint64(right)) + ONE


@kernel
def find_word(text: Bytes, begin: int, end: int, data: Bytes, starts: Ints, table: Slots) -> int:
    """Number of the word text[begin:end]; if unknown, -1 - (the slot where it belongs). Word w is data[starts[w] :
    starts[w + 1]], bytes and offsets [words + 1]; `table` is that of `word_table`."""
    mixed = FNV_BASIS
    for position in range(begin, end):
        mixed = (mixed ^ np.uint64(text[position])) * FNV_PRIME
    mask = len(table) - 1
    slot = np.int64(mixed >> HALF) & mask
    while table[slot] >= 0:
        word = table[slot]
        length = starts[word + 1] - starts[word]
        if length == end - begin:
            same = 0
            while same < length and data[starts[word] + same] == text[begin + same]:
                same += 1
            if same == length:
                return int(word)
        slot = (slot + 1) & mask
    return -1 - int(slot)


@kernel
def word_table(data: Bytes, starts: Ints) -> Slots:
    """Hash table of distinct words in bytes; word w is data[starts[w] : starts[w + 1]]."""
    capacity = 16
    while capacity < 4 * len(starts):
        capacity *= 2
    table = np.full(capacity, -1, dtype=np.int32)
    for word in range(len(starts) - 1):
        slot = -1 - find_word(data, starts[word], starts[word + 1], data, starts, table)
        table[slot] = word
    return table


@kernel
def read_tokens(text: Bytes, begin: int, end: int, data: Bytes, starts: Ints, table: Slots, tokens: Slots) -> int:
    """Writes the tokens of a phrase; returns their number, 0 if one is unknown or there are too many. The phrase is
    text[begin:end], words between spaces. Words as in `find_word`; `tokens` has room for the most."""
    count = 0
    while begin < end:
        last = begin
        while last < end and text[last] != SPACE:
            last += 1
        word = find_word(text, begin, last, data, starts, table)
        if word < 0 or count == len(tokens):
            return 0
        tokens[count] = word
        count += 1
        begin = last + 1
    return count


@kernel
def cook_paraphrases(
    left: Bytes, left_starts: Ints, right: Bytes, right_starts: Ints, data: Bytes, starts: Ints, table: Slots
) -> tuple[Keys, Slots, Bytes, Keys, Slots, Keys]:
    """Trie and pair table of the paraphrases with only known words: the last six fields of `Words`. Pair p is
    left[left_starts[p] : left_starts[p + 1]] and so on right, bytes and offsets [pairs + 1]; words as in
    `find_word`."""
    n = len(left_starts) - 1
    children = np.zeros(1 << 10, dtype=np.uint64)
    children_of = np.zeros(1 << 10, dtype=np.int32)
    nodes = 1
    tokens = np.empty(64, dtype=np.int32)
    ends = np.zeros((n, 2), dtype=np.int32)
    for pair in range(n):
        for side in range(2):
            if side == 0:
                count = read_tokens(left, left_starts[pair], left_starts[pair + 1], data, starts, table, tokens)
            else:
                count = read_tokens(right, right_starts[pair], right_starts[pair + 1], data, starts, table, tokens)
            if count == 0:
                ends[pair, 0] = 0
                break
            if 2 * (nodes + count) > len(children):
                old, old_of = children, children_of
                children = np.zeros(2 * len(old), dtype=np.uint64)
                children_of = np.zeros(2 * len(old), dtype=np.int32)
                for slot in range(len(old)):
                    if old[slot] != EMPTY:
                        moved = find_key(children, old[slot])
                        children[moved] = old[slot]
                        children_of[moved] = old_of[slot]
            node = 0
            for index in range(count):
                key = pair_key(node, tokens[index])
                slot = find_key(children, key)
                if children[slot] == EMPTY:
                    children[slot] = key
                    children_of[slot] = nodes
                    nodes += 1
                node = children_of[slot]
            ends[pair, side] = node
    phrases = np.zeros(nodes, dtype=np.uint8)
    capacity = 16
    while 2 * capacity < 3 * n:
        capacity *= 2
    pairs = np.zeros(capacity, dtype=np.uint64)
    ranks = np.full((capacity, 2), -1, dtype=np.int32)
    bits = np.zeros(max(1, capacity // 8), dtype=np.uint64)
    for pair in range(n):
        first, second = ends[pair, 0], ends[pair, 1]
        if first == 0 or first == second:
            continue
        phrases[first] = 1
        phrases[second] = 1
        key = pair_key(min(first, second), max(first, second))
        slot = find_key(pairs, key)
        pairs[slot] = key
        side = 0 if first < second else 1
        if ranks[slot, side] < 0:
            ranks[slot, side] = pair
        set_bit(bits, key)
    return children, children_of, phrases, pairs, ranks, bits


@kernel
def set_bit(bits: Keys, key: Any) -> None:
    mixed = key * GOLDEN
    bits[np.int64(mixed >> HALF) & (len(bits) - 1)] |= ONE << (mixed >> np.uint64(26) & np.uint64(63))


@kernel
def has_bit(bits: Keys, key: Any) -> bool:
    mixed = key * GOLDEN
    word = bits[np.int64(mixed >> HALF) & (len(bits) - 1)]
    return bool((word >> (mixed >> np.uint64(26) & np.uint64(63))) & ONE != EMPTY)


@kernel
def cook_synonyms(members: Slots, member_starts: Ints) -> Keys:
    """Set of all pairs of tokens that share a synset; synset s has members[member_starts[s] : member_starts[s + 1]]."""
    total = 0
    for synset in range(len(member_starts) - 1):
        total += (member_starts[synset + 1] - member_starts[synset]) ** 2 // 2
    capacity = 16
    while capacity < 2 * total:
        capacity *= 2
    table = np.zeros(capacity, dtype=np.uint64)
    for synset in range(len(member_starts) - 1):
        for first in range(member_starts[synset], member_starts[synset + 1]):
            for second in range(first + 1, member_starts[synset + 1]):
                low, high = min(members[first], members[second]), max(members[first], members[second])
                key = pair_key(low, high)
                table[find_key(table, key)] = key
    return table


@kernel
def expand(ids: Any, words: Words, tokens: Slots) -> int:
    """Writes the tokens of a caption of word ids; returns their number. Ids without a word give UNKNOWN. `ids` are [n];
    `tokens` has room for those of the longest caption."""
    known = len(words.initials)
    count = 0
    for position in range(len(ids)):
        word = ids[position]
        if word < FIRST_WORD or word >= known:
            tokens[count] = UNKNOWN
            count += 1
            continue
        form = 0
        if position + 1 < len(ids):
            following = ids[position + 1]
            form = words.initials[following] if FIRST_WORD <= following < known else 1
        place = FORMS * word + form
        for index in range(words.form_starts[place], words.form_starts[place + 1]):
            tokens[count] = words.forms[index]
            count += 1
    return count


@kernel
def cook_captions(ids: Ints, captions: Ints, words: Words, longest: int) -> tuple[Slots, Ints]:
    """Tokens [tokens] of flat captions, and where each begins, [captions + 1]. Caption c is ids[captions[c] :
    captions[c + 1]]; `longest`: most tokens of a word."""
    starts = np.zeros(len(captions), dtype=np.int64)
    most = 0
    for caption in range(len(captions) - 1):
        most = max(most, captions[caption + 1] - captions[caption])
    buffer = np.empty(longest * most, dtype=np.int32)
    for caption in range(len(captions) - 1):
        count = expand(ids[captions[caption] : captions[caption + 1]], words, buffer)
        starts[caption + 1] = starts[caption] + count
    tokens = np.empty(starts[-1], dtype=np.int32)
    for caption in range(len(captions) - 1):
        count = expand(ids[captions[caption] : captions[caption + 1]], words, buffer)
        tokens[starts[caption] : starts[caption + 1]] = buffer[:count]
    return tokens, starts


@kernel
def find_phrases(tokens: Slots, words: Words, found: Slots) -> tuple[Slots, int]:
    """Rows (start, length, node) of all known phrases by start, then length; `found` grows if needed. `tokens` are
    those of a caption, [n]; `found` is [room, 3]."""
    count = 0
    for start in range(len(tokens)):
        node = 0
        for position in range(start, len(tokens)):
            if tokens[position] == UNKNOWN:
                break
            slot = find_key(words.children, pair_key(node, tokens[position]))
            if words.children[slot] == EMPTY:
                break
            node = words.children_of[slot]
            if words.phrases[node]:
                if count == len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                found[count, 0] = start
                found[count, 1] = position + 1 - start
                found[count, 2] = node
                count += 1
    return found, count


@kernel
def are_synonyms(left: int, right: int, words: Words) -> bool:
    """Whether two tokens share a synset."""
    key = pair_key(min(left, right), max(left, right))
    return bool(words.synonyms[find_key(words.synonyms, key)] != EMPTY)


@kernel
def sort_by_rank(matches: Slots, first: int, last: int) -> None:
    """Stable insertion sort of a few matches by their last column. Rows first .. last - 1 of `matches` [room, 5] are
    sorted."""
    for index in range(first + 1, last):
        place = index
        while place > first and matches[place - 1, 4] > matches[place, 4]:
            for column in range(5):
                moved = matches[place, column]
                matches[place, column] = matches[place - 1, column]
                matches[place - 1, column] = moved
            place -= 1


@kernel
def find_matches(
    hypothesis: Slots,
    reference: Slots,
    mine: Slots,
    theirs: Slots,
    words: Words,
    matches: Slots,
    first_match: Ints,
    ranks: Slots,
) -> int:
    """Finds all matches of hypothesis and reference (Denkowski and Lavie, WMT 2011, section 2.1); returns their number.
    `mine` and `theirs` [n, 3] are the phrases of both, from `find_phrases`. Fills `matches` with rows (start in the
    hypothesis, length there, length in the reference, matcher, rank), and `first_match` [reference + 1] with where the
    matches of each reference position begin. Their order decides between equally good alignments: matchers in turn,
    each by position in the hypothesis; then paraphrases with the reference's phrase on the left of the table, by its
    length and the table's order; then those with the hypothesis's phrase on the left, by its position and length.
    `ranks` [mine, theirs at one position, 2] is scratch."""
    count = 0
    begin = 0
    for position in range(len(reference)):
        first_match[position] = count
        token = reference[position]
        if token != UNKNOWN:
            for start in range(len(hypothesis)):
                if hypothesis[start] == token:
                    count = add_match(matches, count, start, 1, 1, EXACT, 0)
            for start in range(len(hypothesis)):
                other = hypothesis[start]
                if other != token and other != UNKNOWN and words.stems[other] == words.stems[token]:
                    count = add_match(matches, count, start, 1, 1, STEM, 0)
            for start in range(len(hypothesis)):
                other = hypothesis[start]
                if other != token and other != UNKNOWN and are_synonyms(other, token, words):
                    count = add_match(matches, count, start, 1, 1, SYNONYM, 0)
        end = begin
        while end < len(theirs) and theirs[end, 0] == position:
            end += 1
        for there in range(begin, end):
            before = count
            for here in range(len(mine)):
                node, other = mine[here, 2], theirs[there, 2]
                ranks[here, there - begin, 0] = -1
                ranks[here, there - begin, 1] = -1
                key = pair_key(min(node, other), max(node, other))
                if has_bit(words.filter, key):
                    slot = find_key(words.pairs, key)
                    if words.pairs[slot] != EMPTY:
                        forward = 0 if node < other else 1
                        ranks[here, there - begin, 0] = words.ranks[slot, forward]
                        ranks[here, there - begin, 1] = words.ranks[slot, 1 - forward]
                rank = ranks[here, there - begin, 1]
                if rank >= 0:
                    count = add_match(matches, count, mine[here, 0], mine[here, 1], theirs[there, 1], PARAPHRASE, rank)
            sort_by_rank(matches, before, count)
        for here in range(len(mine)):
            before = count
            for there in range(begin, end):
                rank = ranks[here, there - begin, 0]
                if rank >= 0:
                    count = add_match(matches, count, mine[here, 0], mine[here, 1], theirs[there, 1], PARAPHRASE, rank)
            sort_by_rank(matches, before, count)
        begin = end
    first_match[len(reference)] = count
    return count


@kernel
def add_match(matches: Slots, count: int, start: int, length: int, covered: int, matcher: int, rank: int) -> int:
    """Fills row `count` of `matches` [room, 5]; returns the number of rows."""
    matches[count, 0] = start
    matches[count, 1] = length
    matches[count, 2] = covered
    matches[count, 3] = matcher
    matches[count, 4] = rank
    return count + 1


@kernel
def offer(costs: Ints, sources: Ints, count: int, cost: int, distance: int, path: int, match: int) -> int:
    """Inserts a candidate into a beam sorted by cost, then distance; equals keep their order. Returns its size. `costs`
    [BEAM, 2] are (cost, distance), `sources` [BEAM, 2] are (path, match)."""
    if count == BEAM:
        worst = BEAM - 1
        if (cost, distance) >= (costs[worst, 0], costs[worst, 1]):
            return count
        count -= 1
    place = count
    while place > 0 and (costs[place - 1, 0], costs[place - 1, 1]) > (cost, distance):
        for column in range(2):
            costs[place, column] = costs[place - 1, column]
            sources[place, column] = sources[place - 1, column]
        place -= 1
    costs[place, 0] = cost
    costs[place, 1] = distance
    sources[place, 0] = path
    sources[place, 1] = match
    return count + 1


@kernel
def align(
    matches: Slots,
    first_match: Ints,
    hypothesis_length: int,
    reference_length: int,
    trail: Slots,
) -> tuple[int, int]:
    """Beam search for the alignment (Denkowski and Lavie, WMT 2011, section 2.1): most matched words, then fewest
    chunks, then smallest distance between the starts of matches.
    These criteria are those of METEOR 1.5's program: only exact matches count in full, others half, rounded down on
    each side (nothing for a single word); a match adds its distance to what follows from the same parent, not to
    itself; a chunk counts when it is closed; a match without a rival is always taken.
    `trail` has room for BEAM * reference_length + 1 rows, filled with (row before, match, position). Returns the last
    row of the best alignment in `trail` (0: it is empty), and its number of chunks. `matches` [room, 5] and
    `first_match` [reference_length + 1] are those of `find_matches`."""
    rivals_here = np.zeros(hypothesis_length, dtype=np.int64)
    rivals_there = np.zeros(reference_length, dtype=np.int64)
    for position in range(reference_length):
        for match in range(first_match[position], first_match[position + 1]):
            for covered in range(matches[match, 0], matches[match, 0] + matches[match, 1]):
                rivals_here[covered] += 1
            for covered in range(position, position + matches[match, 2]):
                rivals_there[covered] += 1
    # A path's cost is one number: (chunks closed) - 2^32 * (weight matched).
    weight = 1 << 32
    bitmasks = hypothesis_length // 64 + 1
    costs = np.zeros((2, BEAM, 2), dtype=np.int64)
    sources = np.zeros((BEAM, 2), dtype=np.int64)
    # Columns: end of the open chunk in the hypothesis (-1: none is open), next free reference position, trail row.
    state = np.zeros((2, BEAM, 3), dtype=np.int64)
    used = np.zeros((2, BEAM, bitmasks), dtype=np.uint64)
    state[0, 0, 0] = -1
    old, new, paths, rows = 0, 1, 1, 1
    for position in range(reference_length):
        first, last = first_match[position], first_match[position + 1]
        forced = last == first + 1
        for match in range(first, last):
            for covered in range(matches[match, 0], matches[match, 0] + matches[match, 1]):
                forced = forced and rivals_here[covered] == 1
            for covered in range(position, position + matches[match, 2]):
                forced = forced and rivals_there[covered] == 1
        count = 0
        for path in range(paths):
            cost, distance = costs[old, path, 0], costs[old, path, 1]
            if state[old, path, 1] > position:
                count = offer(costs[new], sources, count, cost, distance, path, -1)
                continue
            end = state[old, path, 0]
            for match in range(first, last):
                start, length = matches[match, 0], matches[match, 1]
                free = True
                for covered in range(start, start + length):
                    free = free and (used[old, path, covered >> 6] >> np.uint64(covered & 63)) & ONE == EMPTY
                if not free:
                    continue
                matched = 2 if matches[match, 3] == EXACT else length // 2 + matches[match, 2] // 2
                closed = 1 if end >= 0 and end != start else 0
                count = offer(costs[new], sources, count, cost - weight * matched + closed, distance, path, match)
                distance += abs(start - position)
            if not forced:
                count = offer(costs[new], sources, count, cost + (1 if end >= 0 else 0), distance, path, -2)
        for path in range(count):
            parent, match = sources[path, 0], sources[path, 1]
            for column in range(3):
                state[new, path, column] = state[old, parent, column]
            for column in range(bitmasks):
                used[new, path, column] = used[old, parent, column]
            if match == -2:
                state[new, path, 0] = -1
                state[new, path, 1] = position + 1
            elif match >= 0:
                start, length = matches[match, 0], matches[match, 1]
                for covered in range(start, start + length):
                    used[new, path, covered >> 6] |= ONE << np.uint64(covered & 63)
                trail[rows, 0] = state[new, path, 2]
                trail[rows, 1] = match
                trail[rows, 2] = position
                state[new, path, 0] = start + length
                state[new, path, 1] = position + matches[match, 2]
                state[new, path, 2] = rows
                rows += 1
        old, new, paths = new, old, count
    best = 0
    for path in range(paths):
        if state[old, path, 0] >= 0:
            costs[old, path, 0] += 1
        if (costs[old, path, 0], costs[old, path, 1]) < (costs[old, best, 0], costs[old, best, 1]):
            best = path
    return int(state[old, best, 2]), int(costs[old, best, 0] & (weight - 1))


@kernel
def count_statistics(
    hypothesis: Slots,
    reference: Slots,
    matches: Slots,
    trail: Slots,
    row: int,
    chunks: int,
    words: Words,
    statistics: Floats,
) -> None:
    """Writes the counts of an alignment into `statistics` [23]. Its matches, rows of `matches` [room, 5], are on the
    path in `trail` [room, 3] that ends in `row`, as `align` left it. Hypothesis and reference are tokens [n] and
    [m]."""
    statistics[:] = 0
    statistics[LENGTH] = len(hypothesis)
    statistics[LENGTH + 1] = len(reference)
    for token in hypothesis:
        statistics[FUNCTION] += token != UNKNOWN and words.functions[token] == 1
    for token in reference:
        statistics[FUNCTION + 1] += token != UNKNOWN and words.functions[token] == 1
    while row > 0:
        match, position = trail[row, 1], trail[row, 2]
        column = MATCHED + 4 * matches[match, 3]
        for covered in range(matches[match, 0], matches[match, 0] + matches[match, 1]):
            statistics[column + 2 * words.functions[hypothesis[covered]]] += 1
        for covered in range(position, position + matches[match, 2]):
            statistics[column + 1 + 2 * words.functions[reference[covered]]] += 1
        statistics[COVERED] += matches[match, 1]
        statistics[COVERED + 1] += matches[match, 2]
        row = trail[row, 0]
    statistics[CHUNKS] = chunks


@kernel
def score_statistics(statistics: Floats) -> float:
    """METEOR of one row of counts (Denkowski and Lavie, WMT 2014, section 2), 0 where nothing matches."""
    rates = np.zeros(2)
    for side in range(2):
        length, functions = statistics[LENGTH + side], statistics[FUNCTION + side]
        total = DELTA * (length - functions) + (1 - DELTA) * functions
        matched = 0.0
        for matcher in range(4):
            column = MATCHED + 4 * matcher + side
            matched += WEIGHTS[matcher] * (DELTA * statistics[column] + (1 - DELTA) * statistics[column + 2])
        if total > 0:
            rates[side] = matched / total
    if rates[0] == 0 or rates[1] == 0:
        return 0.0
    mean = 1.0 / ((1 - ALPHA) / rates[0] + ALPHA / rates[1])
    chunks = statistics[CHUNKS]
    here, there = statistics[COVERED], statistics[COVERED + 1]
    if chunks == 1 and here == statistics[LENGTH] and there == statistics[LENGTH + 1]:
        chunks = 0.0
    return float(mean * (1 - GAMMA * (chunks / ((here + there) / 2)) ** BETA))


@kernel
def score_rows(statistics: Floats) -> Floats:
    scores = np.empty(len(statistics))
    for row in range(len(statistics)):
        scores[row] = score_statistics(statistics[row])
    return scores


@kernel
def meteor(
    hypotheses: Ints,
    lengths: Ints,
    image_of: Ints,
    tokens: Slots,
    captions: Ints,
    images: Ints,
    words: Words,
    longest: int,
) -> tuple[Floats, Floats]:
    """METEOR of each hypothesis against its image's references: scores [n], counts [n, 23] of the best one. Hypotheses
    are ids [n, time], of which `lengths` [n] count; `image_of` [n] are their images. References are `tokens` and
    `captions` of `cook_captions`, and `images` [images + 1], where the captions of each image begin."""
    n, time = hypotheses.shape
    scores = np.zeros(n)
    statistics = np.zeros((n, STATISTICS))
    row = np.zeros(STATISTICS)
    buffer = np.empty(longest * time, dtype=np.int32)
    mine = np.empty((64, 3), dtype=np.int32)
    theirs = np.empty((64, 3), dtype=np.int32)
    matches = np.empty((1024, 5), dtype=np.int32)
    first_match = np.empty(64, dtype=np.int64)
    trail = np.zeros((1024, 3), dtype=np.int32)
    ranks = np.empty((1, 1, 2), dtype=np.int32)
    for index in range(n):
        hypothesis = buffer[: expand(hypotheses[index, : lengths[index]], words, buffer)]
        mine, phrases = find_phrases(hypothesis, words, mine)
        for caption in range(images[image_of[index]], images[image_of[index] + 1]):
            reference = tokens[captions[caption] : captions[caption + 1]]
            theirs, others = find_phrases(reference, words, theirs)
            most = 3 * len(hypothesis) * len(reference) + 2 * phrases * others
            if most > len(matches):
                matches = np.empty((2 * most, 5), dtype=np.int32)
            if len(reference) >= len(first_match):
                first_match = np.empty(2 * len(reference), dtype=np.int64)
            if BEAM * len(reference) >= len(trail):
                trail = np.zeros((2 * BEAM * len(reference), 3), dtype=np.int32)
            if phrases > ranks.shape[0] or others > ranks.shape[1]:
                ranks = np.empty((2 * phrases, 2 * others, 2), dtype=np.int32)
            found = find_matches(
                hypothesis, reference, mine[:phrases], theirs[:others], words, matches, first_match, ranks
            )
            last, chunks = 0, 0
            if found:
                last, chunks = align(matches, first_match, len(hypothesis), len(reference), trail)
            count_statistics(hypothesis, reference, matches, trail, last, chunks, words, row)
            score = score_statistics(row)
            if caption == images[image_of[index]] or score > scores[index]:
                scores[index] = score
                statistics[index] = row
    return scores, statistics
