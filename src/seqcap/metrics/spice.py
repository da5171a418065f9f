"""SPICE (spaCy) of captions as words (Anderson et al., ECCV 2016). With another parser than SPICE's, numbers are near
the published ones (.132 for .133 on COCO's example captions), not equal to them."""

from collections.abc import Sequence

import numpy as np

from seqcap.metrics.captions import Floats, ImageCaption, References
from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Match, build_graph, match
from seqcap.spice.references import reference_graphs


def spice(references: References, captions: Sequence[ImageCaption], parser: CachedParser) -> Floats:
    """F-score [captions] of each caption against its image's references. A caption without tuples scores 0. InputError
    if METEOR's synsets are missing."""
    return np.array([matched.f for matched in matches(references, captions, parser)], np.float64)


def matches(references: References, captions: Sequence[ImageCaption], parser: CachedParser) -> list[Match]:
    """How each caption's tuples match those of its image's references; arguments and errors as in `spice`."""
    index = {image_id: place for place, image_id in enumerate(references)}
    graphs = reference_graphs([[" ".join(tokens) for tokens in texts] for texts in references.values()], parser)
    texts = [" ".join(tokens) for _, tokens in captions]
    said = {text: build_graph(tuples) for text, tuples in parser.parse(texts).items()}
    return [match(said[text], graphs(index[image_id])) for (image_id, _), text in zip(captions, texts, strict=True)]
