"""Scene graphs of the references, one for each image."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Graph, build_graph

# A graph takes about 10 kB and 0.1 ms to build: recently used ones are kept, and the tuples of all others.
GRAPHS = 4_096


class ReferenceGraphs:
    """Scene graphs of all references (texts) of each image, parsed once (SPICE, section 3.1)."""

    def __init__(self, references: Sequence[Sequence[str]], parser: CachedParser) -> None:
        parsed = parser.parse(text for texts in references for text in texts)
        # Without duplicates; the order of the tuples does not matter.
        self._tuples = [tuple({words for text in texts for words in parsed[text]}) for texts in references]
        self.graph = lru_cache(maxsize=GRAPHS)(self._graph)

    def _graph(self, index: int) -> Graph:
        return build_graph(self._tuples[index])
