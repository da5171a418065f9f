"""The references' scene graphs, one for each image."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Graph, build_graph

# A graph takes about 10 kB and 0.1 ms to build: those of the images in use are kept, and of the others the tuples.
GRAPHS = 4_096


class ReferenceGraphs:
    """Scene graphs of all references of each image, parsed once (SPICE, section 3.1).

    Args:
        references: per image, the texts of its captions.
        parser: parses them.
    """

    def __init__(self, references: Sequence[Sequence[str]], parser: CachedParser) -> None:
        parsed = parser.parse(text for texts in references for text in texts)
        # The same tuple from several references is one; its order does not matter.
        self._tuples = [tuple({words for text in texts for words in parsed[text]}) for texts in references]
        self.graph = lru_cache(maxsize=GRAPHS)(self._graph)

    def __len__(self) -> int:
        return len(self._tuples)

    def _graph(self, index: int) -> Graph:
        return build_graph(self._tuples[index])
