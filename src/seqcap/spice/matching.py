"""Scene-graph tuples matched up to WordNet synonyms, and the F-score of the match (SPICE, section 3.2-3.3). Anderson,
Fernando, Johnson and Gould, "SPICE: Semantic Propositional Image Caption Evaluation", ECCV 2016. Synsets and morphology
are METEOR 1.5's (Denkowski and Lavie, WMT 2014), as in SPICE itself."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from seqcap.spice.wordnet import wordnet

# A caption's (object,), (object, attribute) and (object, relation, object), in lemmas.
Tuples = tuple[tuple[str, ...], ...]
# One or several merged words: the words and the numbers of their synsets. Concepts whose sets meet are synonyms.
Concept = frozenset[str | int]


class Graph(NamedTuple):
    """Merged tuples of one caption, or of all references of an image.

    Attributes:
        objects: tuples (object,).
        attributes: tuples (object, attribute).
        relations: tuples (object, relation, object).
    """

    objects: Sequence[tuple[Concept, ...]]
    attributes: Sequence[tuple[Concept, ...]]
    relations: Sequence[tuple[Concept, ...]]


class Match(NamedTuple):
    """How many tuples of a candidate its references have.

    Attributes:
        matched: candidate tuples that equal some reference tuple up to synonyms.
        candidate: tuples of the candidate.
        reference: tuples of all references together.
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
        """SPICE, eq. 3; 0 for references without tuples. At most 1, unlike in SPICE's own program: two candidate tuples
        that are not synonyms can match the same reference tuple."""
        return min(self.matched / self.reference, 1.0) if self.reference else 0.0

    @property
    def f(self) -> float:
        """SPICE, eq. 4: the harmonic mean of precision and recall, 0 .. 1."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def match(candidate: Graph, reference: Graph) -> Match:
    """Counts the candidate's tuples that the references have; synonyms are equal (SPICE, section 3.3)."""
    matched = sum(
        any(all(not left.isdisjoint(right) for left, right in zip(said, other, strict=True)) for other in others)
        for part, others in zip(candidate, reference, strict=True)
        for said in part
    )
    return Match(matched, sum(map(len, candidate)), sum(map(len, reference)))


# Bounded, because training never runs out of new words.
@lru_cache(maxsize=2**16)
def find_concept(word: str) -> Concept:
    """A lower-case word and its synsets; InputError if METEOR's synsets cannot be read."""
    word = word.lower()
    return frozenset([word, *wordnet().find_synsets(word)])


def build_graph(tuples: Iterable[tuple[str, ...]]) -> Graph:
    """The scene graph of one caption, or of all references of an image (SPICE, section 3.1).
    Objects that are synonyms become one node, and so do a node's synonymous attributes and synonymous relations of two
    nodes. Merging is transitive, so the order of captions does not matter. Objects that occur only in attributes or
    relations are objects too. InputError if METEOR's synsets cannot be read."""
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
