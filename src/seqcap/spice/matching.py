"""Scene-graph tuples matched up to WordNet synonyms, and the F-score of the match (SPICE, section 3.2-3.3).

Anderson, Fernando, Johnson and Gould, "SPICE: Semantic Propositional Image Caption Evaluation", ECCV 2016. The
synsets and the morphology are METEOR 1.5's (Denkowski and Lavie, WMT 2014), as in SPICE itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from seqcap.spice.wordnet import wordnet

# What a caption says: (object,), (object, attribute) and (object, relation, object), in lemmas.
Tuples = tuple[tuple[str, ...], ...]
# A word, or several merged ones: the words themselves and the numbers of their synsets. Two concepts are synonyms
# if the sets meet.
Concept = frozenset[str | int]


class Graph(NamedTuple):
    """Merged tuples of one caption, or of all references of an image.

    Attributes:
        objects: (object,) each.
        attributes: (object, attribute).
        relations: (object, relation, object).
    """

    objects: Sequence[tuple[Concept, ...]]
    attributes: Sequence[tuple[Concept, ...]]
    relations: Sequence[tuple[Concept, ...]]


class Match(NamedTuple):
    """Numbers of tuples.

    Attributes:
        matched: candidate tuples that equal some reference tuple up to synonyms.
        candidate: of the candidate.
        reference: of all references together.
    """

    matched: int
    candidate: int
    reference: int

    @property
    def precision(self) -> float:
        """SPICE, eq. 2; 0 for a candidate without tuples."""
        return self.matched / self.candidate if self.candidate else 0.0

    @property
    def recall(self) -> float:
        """SPICE, eq. 3; 0 for references without tuples.

        Two candidate tuples that are no synonyms of each other can both match one reference tuple. The recall then
        stays 1; SPICE's own program would report more.
        """
        return min(self.matched / self.reference, 1.0) if self.reference else 0.0

    @property
    def f(self) -> float:
        """SPICE, eq. 4: the harmonic mean of precision and recall, 0 .. 1."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def match(candidate: Graph, reference: Graph) -> Match:
    """Counts the candidate's tuples that the references hold; synonyms count as equal (SPICE, section 3.3)."""
    matched = sum(
        any(all(not left.isdisjoint(right) for left, right in zip(said, other, strict=True)) for other in others)
        for part, others in zip(candidate, reference, strict=True)
        for said in part
    )
    return Match(matched, sum(map(len, candidate)), sum(map(len, reference)))


# Bounded: training says new words for ever.
@lru_cache(maxsize=2**16)
def find_concept(word: str) -> Concept:
    """The word itself, in lower case, with its synsets.

    Raises:
        InputError: METEOR's synsets cannot be read.
    """
    word = word.lower()
    return frozenset([word, *wordnet().find_synsets(word)])


def build_graph(tuples: Iterable[tuple[str, ...]]) -> Graph:
    """The scene graph of one caption, or of all references of one image (SPICE, section 3.1).

    Objects that are synonyms become one node. So do synonymous attributes of a node and synonymous relations between
    two nodes. Merging is transitive, so that the order of the captions makes no difference. Objects that appear only
    in attributes or relations are objects too.

    Raises:
        InputError: METEOR's synsets cannot be read.
    """
    distinct = set(tuples)
    nodes = _merged({words[end] for words in distinct for end in (0, -1) if len(words) != 2 or end == 0})
    attributes: dict[Concept, set[str]] = {}
    relations: dict[tuple[Concept, Concept], set[str]] = {}
    for words in distinct:
        if len(words) == 2:
            attributes.setdefault(nodes[words[0]], set()).add(words[1])
        elif len(words) == 3:
            relations.setdefault((nodes[words[0]], nodes[words[2]]), set()).add(words[1])
    return Graph(
        [(node,) for node in set(nodes.values())],
        [(node, concept) for node, said in attributes.items() for concept in set(_merged(said).values())],
        [
            (source, concept, target)
            for (source, target), said in relations.items()
            for concept in set(_merged(said).values())
        ],
    )


def _merged(words: Iterable[str]) -> dict[str, Concept]:
    """Each word's group of synonyms, as one concept."""
    groups: list[tuple[Concept, list[str]]] = []
    for word in words:
        concept, members = find_concept(word), [word]
        apart = []
        for group in groups:
            if concept.isdisjoint(group[0]):
                apart.append(group)
            else:
                concept, members = concept | group[0], members + group[1]
        groups = [*apart, (concept, members)]
    return {word: concept for concept, members in groups for word in members}
