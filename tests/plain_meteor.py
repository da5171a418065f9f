"""METEOR 1.5 in plain Python, one pair of captions at a time: the oracle of the compiled kernels.

Captions here are lists of METEOR's tokens (`meteor_resources.normalize`), None for a word outside the vocabulary.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from seqcap.rewards.meteor_resources import resources, stems_of
from seqcap.spice.wordnet import wordnet

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
BEAM = 40

Caption = Sequence[str | None]
# Left phrase and right phrase to the pair's place in the paraphrase table.
Paraphrases = Mapping[tuple[str, str], int]


class Match(NamedTuple):
    """`length` tokens of the hypothesis from `start` match `covered` tokens of the reference from `position`."""

    start: int
    length: int
    position: int
    covered: int
    matcher: int


class Path(NamedTuple):
    """A partial alignment; `end` is where its open chunk ends in the hypothesis, `chunks` counts closed ones."""

    matched: int = 0
    chunks: int = 0
    distance: int = 0
    end: int | None = None
    matches: tuple[Match, ...] = ()

    def rank(self) -> tuple[int, int, int]:
        return -self.matched, self.chunks, self.distance


def find_matches(hypothesis: Caption, reference: Caption, paraphrases: Paraphrases) -> list[Match]:
    """All matches, in the order that decides between equally good alignments (see `meteor_kernels.find_matches`)."""
    pairs = [
        (start, here, position, there)
        for position, there in enumerate(reference)
        for start, here in enumerate(hypothesis)
        if here is not None and there is not None
    ]
    found = [Match(start, 1, position, 1, 0) for start, here, position, there in pairs if here == there]
    known = {token for token in [*hypothesis, *reference] if token is not None}
    stems = dict(zip(known, stems_of(known), strict=True))
    synsets = {token: wordnet().find_synsets(token) for token in known}
    unlike = [pair for pair in pairs if pair[1] != pair[3]]
    for start, here, position, there in unlike:
        if stems[here] == stems[there]:
            found.append(Match(start, 1, position, 1, 1))
    for start, here, position, there in unlike:
        if synsets[here] & synsets[there]:
            found.append(Match(start, 1, position, 1, 2))

    mine, theirs = _phrases(hypothesis), _phrases(reference)
    backward = [
        (covered, paraphrases[there, here], start, Match(start, length, position, covered, 3))
        for position, covered, there in theirs
        for start, length, here in mine
        if (there, here) in paraphrases
    ]
    forward = [
        (start, length, paraphrases[here, there], Match(start, length, position, covered, 3))
        for position, covered, there in theirs
        for start, length, here in mine
        if (here, there) in paraphrases
    ]
    return found + [entry[3] for entry in sorted(backward)] + [entry[3] for entry in sorted(forward)]


def _phrases(caption: Caption) -> list[tuple[int, int, str]]:
    """(start, length, text) of every run of known tokens."""
    return [
        (start, end - start, " ".join(token for token in caption[start:end] if token is not None))
        for start in range(len(caption))
        for end in range(start + 1, len(caption) + 1)
        if None not in caption[start:end]
    ]


def align(reference_length: int, matches: Sequence[Match]) -> Path:
    """Beam search over the reference's positions (Denkowski and Lavie, WMT 2011, section 2.1)."""

    def rivals(match: Match) -> bool:
        return any(
            other is not match
            and (
                (other.start < match.start + match.length and match.start < other.start + other.length)
                or (other.position < match.position + match.covered and match.position < other.position + other.covered)
            )
            for other in matches
        )

    paths = [Path()]
    for position in range(reference_length):
        here = [match for match in matches if match.position == position]
        forced = len(here) == 1 and not rivals(here[0])
        longer = []
        for path in paths:
            if path.matches and path.matches[-1].position + path.matches[-1].covered > position:
                longer.append(path)
                continue
            distance = path.distance
            for match in here:
                taken = {place for other in path.matches for place in range(other.start, other.start + other.length)}
                if taken & set(range(match.start, match.start + match.length)):
                    continue
                half = match.length // 2 + match.covered // 2
                longer.append(
                    Path(
                        # Other matches than exact ones count half, rounded down: single words add nothing.
                        path.matched + (2 if match.matcher == 0 else half),
                        path.chunks + (path.end is not None and path.end != match.start),
                        # A match's distance counts for what comes after it from the same parent, not for itself.
                        distance,
                        match.start + match.length,
                        (*path.matches, match),
                    )
                )
                distance += abs(match.start - position)
            if not forced:
                longer.append(path._replace(chunks=path.chunks + (path.end is not None), distance=distance, end=None))
        paths = sorted(longer, key=Path.rank)[:BEAM]
    closed = [path._replace(chunks=path.chunks + (path.end is not None)) for path in paths]
    return min(closed, key=Path.rank)


def statistics(hypothesis: Caption, reference: Caption, paraphrases: Paraphrases) -> list[int]:
    """The 23 counts that METEOR prints for a pair of captions (see `meteor_kernels`)."""
    functions = resources().function_words
    best = align(len(reference), find_matches(hypothesis, reference, paraphrases))
    counts = [
        len(hypothesis),
        len(reference),
        *(sum(token in functions for token in c) for c in (hypothesis, reference)),
    ]
    for matcher in range(4):
        chosen = [match for match in best.matches if match.matcher == matcher]
        here = [hypothesis[match.start + offset] for match in chosen for offset in range(match.length)]
        there = [reference[match.position + offset] for match in chosen for offset in range(match.covered)]
        function = [sum(token in functions for token in matched) for matched in (here, there)]
        counts += [len(here) - function[0], len(there) - function[1], *function]
    covered = [sum(match.length for match in best.matches), sum(match.covered for match in best.matches)]
    return [*counts, best.chunks, *covered]


def score(counts: Sequence[float]) -> float:
    """METEOR of statistics (Denkowski and Lavie, WMT 2014, section 2)."""

    def rate(side: int) -> float:
        length, function = counts[side], counts[2 + side]
        matched = sum(
            weight * (DELTA * counts[4 + 4 * matcher + side] + (1 - DELTA) * counts[6 + 4 * matcher + side])
            for matcher, weight in enumerate(WEIGHTS)
        )
        total = DELTA * (length - function) + (1 - DELTA) * function
        return matched / total if total else 0.0

    precision, recall = rate(0), rate(1)
    if precision == 0 or recall == 0:
        return 0.0
    chunks, here, there = counts[20:]
    complete = chunks == 1 and here == counts[0] and there == counts[1]
    fragmentation = 0.0 if complete else chunks / ((here + there) / 2)
    return (1.0 - GAMMA * float(fragmentation**BETA)) / ((1 - ALPHA) / precision + ALPHA / recall)


def corpus_score(counts: Sequence[Sequence[float]]) -> float:
    """METEOR of the sum of captions' statistics; complete alignments in one chunk add no chunk."""
    total = [sum(column) for column in zip(*counts, strict=True)]
    total[20] -= sum(row[20] == 1 and list(row[21:]) == list(row[:2]) for row in counts)
    return score(total)


def best_statistics(hypothesis: Caption, references: Sequence[Caption], paraphrases: Paraphrases) -> list[int]:
    """Statistics against the reference with the best score, the first of several."""
    return max((statistics(hypothesis, reference, paraphrases) for reference in references), key=score)
