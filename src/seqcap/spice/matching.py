"""Scene-graph tuples matched up to WordNet synonyms, and the F-score of the match (SPICE, section 3.2-3.3).

Anderson, Fernando, Johnson and Gould, "SPICE: Semantic Propositional Image Caption Evaluation", ECCV 2016. The
synsets and the morphology are METEOR 1.5's (Denkowski and Lavie, WMT 2014), as in SPICE itself.
"""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from seqcap.errors import InputError

# What a caption says: (object,), (object, attribute) and (object, relation, object), in lemmas.
Tuples = tuple[tuple[str, ...], ...]
# A word, or several merged ones: the words themselves and the numbers of their synsets. Two concepts are synonyms
# where the sets meet.
Concept = frozenset[str | int]


def word_set(words: str) -> frozenset[str]:
    """The words of a string."""
    return frozenset(words.split())


OVERALL = "All"
# Tuples by their length, and attributes by what they tell (SPICE, section 5.3).
COLORS = word_set(
    "beige black blond blonde blue bronze brown copper cream crimson cyan dark gold golden gray green grey ivory "
    "khaki lavender light magenta maroon mauve navy olive orange pink purple red rose rust salmon scarlet silver "
    "tan teal turquoise violet white yellow"
)
COUNTS = word_set("one two three four five six seven eight nine ten eleven twelve 1 2 3 4 5 6 7 8 9 10 11 12")
SIZES = word_set(
    "big enormous giant gigantic high huge immense large little long low massive mini miniature minuscule narrow "
    "short small tall thick thin tiny wide"
)
_BY_LENGTH = ("Object", "Attribute", "Relation")
_BY_WORD = {"Color": COLORS, "Count": COUNTS, "Size": SIZES}
CATEGORIES = (OVERALL, *_BY_LENGTH, *_BY_WORD)

# WordNet's detachment rules (morphy): the first that makes a known word counts.
_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
)


class Graph(NamedTuple):
    """Merged tuples: of one caption, or of all references of an image.

    Attributes:
        objects: (object,) each.
        attributes: (object, attribute).
        relations: (object, relation, object).
    """

    objects: Sequence[tuple[Concept, ...]]
    attributes: Sequence[tuple[Concept, ...]]
    relations: Sequence[tuple[Concept, ...]]

    def subset(self, category: str) -> Graph:
        """The tuples of one of `CATEGORIES`."""
        if category == OVERALL:
            return self
        if category in _BY_WORD:
            kept = [pair for pair in self.attributes if not pair[1].isdisjoint(_BY_WORD[category])]
            return Graph((), kept, ())
        return Graph(*(part if name == category else () for name, part in zip(_BY_LENGTH, self, strict=True)))


class Match(NamedTuple):
    """Numbers of tuples.

    Attributes:
        matched: candidate tuples that some reference tuple equals up to synonyms.
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

        Two candidate tuples that are no synonyms of each other can both match one reference tuple: the recall then
        stays 1, where SPICE's own program would report more.
        """
        return min(self.matched / self.reference, 1.0) if self.reference else 0.0

    @property
    def f(self) -> float:
        """SPICE, eq. 4: the harmonic mean of precision and recall, 0 .. 1."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def match(candidate: Graph, reference: Graph) -> Match:
    """Counts the candidate's tuples that the references hold, synonyms counting as equal (SPICE, section 3.3)."""
    matched = sum(
        any(all(not left.isdisjoint(right) for left, right in zip(said, other, strict=True)) for other in others)
        for part, others in zip(candidate, reference, strict=True)
        for said in part
    )
    return Match(matched, sum(map(len, candidate)), sum(map(len, reference)))


class Synonyms:
    """METEOR's English synsets: which words share a meaning, inflected forms included.

    Args:
        synsets: word -> its synset numbers, separated by spaces.
        exceptions: irregular form -> its base forms.
    """

    def __init__(self, synsets: Mapping[str, str], exceptions: Mapping[str, Sequence[str]]) -> None:
        self._synsets = synsets
        self._exceptions = exceptions
        # Bounded: a training run says new words for ever.
        self.concept = lru_cache(maxsize=2**16)(self._concept)

    def _concept(self, word: str) -> Concept:
        """The word itself, its synsets and those of its base forms."""
        word = word.lower()
        lines = [self._synsets[known] for known in (word, *self._bases(word)) if known in self._synsets]
        return frozenset([word, *(int(number) for line in lines for number in line.split())])

    def _bases(self, word: str) -> Sequence[str]:
        if word in self._exceptions:
            return self._exceptions[word]
        if len(word) > 2 and not word.endswith("ss"):
            for ending, replacement in _ENDINGS:
                if word.endswith(ending) and (base := word.removesuffix(ending) + replacement) in self._synsets:
                    return [base]
        return []

    def graph(self, tuples: Iterable[tuple[str, ...]]) -> Graph:
        """The scene graph of one caption, or of all references of one image (SPICE, section 3.1).

        Objects that are synonyms become one node, and so do synonymous attributes of a node and synonymous relations
        between two nodes. Merging is transitive, so that the order of the captions makes no difference. Objects that
        only appear in attributes or relations are objects too.
        """
        distinct = set(tuples)
        nodes = self._merged({words[end] for words in distinct for end in (0, -1) if len(words) != 2 or end == 0})
        attributes: dict[Concept, set[str]] = {}
        relations: dict[tuple[Concept, Concept], set[str]] = {}
        for words in distinct:
            if len(words) == 2:
                attributes.setdefault(nodes[words[0]], set()).add(words[1])
            elif len(words) == 3:
                relations.setdefault((nodes[words[0]], nodes[words[2]]), set()).add(words[1])
        return Graph(
            [(node,) for node in set(nodes.values())],
            [(node, concept) for node, said in attributes.items() for concept in set(self._merged(said).values())],
            [
                (source, concept, target)
                for (source, target), said in relations.items()
                for concept in set(self._merged(said).values())
            ],
        )

    def _merged(self, words: Iterable[str]) -> dict[str, Concept]:
        """Each word's group of synonyms, as one concept."""
        groups: list[tuple[Concept, list[str]]] = []
        for word in words:
            concept, members = self.concept(word), [word]
            apart = []
            for group in groups:
                if concept.isdisjoint(group[0]):
                    apart.append(group)
                else:
                    concept, members = concept | group[0], members + group[1]
            groups = [*apart, (concept, members)]
        return {word: concept for concept, members in groups for word in members}


@cache
def meteor_synonyms() -> Synonyms:
    """METEOR's synsets, read from pycocoevalcap's METEOR jar (once a process, 0.2 s).

    Raises:
        InputError: pycocoevalcap is not installed, or its jar is damaged.
    """
    jar = _meteor_jar()
    try:
        with zipfile.ZipFile(jar) as archive:
            synsets = _pairs(archive, "synonym/english.synsets")
            forms = _pairs(archive, "synonym/english.exceptions")
    except (OSError, zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise InputError(jar, f"has no readable synsets ({error})", "reinstall pycocoevalcap") from None
    exceptions: dict[str, list[str]] = {}
    for base, inflected in forms.items():
        for form in inflected.split():
            exceptions.setdefault(form, []).append(base)
    return Synonyms(synsets, exceptions)


def _meteor_jar() -> Path:
    package = importlib.util.find_spec("pycocoevalcap")
    folder = Path(next(iter(package.submodule_search_locations or []), "")) if package is not None else Path()
    return folder / "meteor" / "meteor-1.5.jar"


def _pairs(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """A METEOR table: a line with a word, then a line with what belongs to it."""
    lines = archive.read(name).decode("utf-8").splitlines()
    return dict(zip(lines[::2], lines[1::2], strict=True))
