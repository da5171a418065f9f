"""Scene graphs of the references, one for each image."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Graph, build_graph

# A graph takes about 10 kB and 0.1 ms to build: recently used ones are kept, and the tuples of all others.
GRAPHS = 4_096


def reference_graphs(references: Sequence[Sequence[str]], parser: CachedParser) -> Callable[[int], Graph]:
    """The scene graph of all references (texts) of an image, by its row; parsed once (SPICE, section 3.1)."""
    parsed = parser.parse(text for texts in references for text in texts)
    # Without duplicates; the order of the tuples does not matter.
    tuples = [tuple({words for text in texts for words in parsed[text]}) for texts in references]
    return lru_cache(maxsize=GRAPHS)(lambda row: build_graph(tuples[row]))
