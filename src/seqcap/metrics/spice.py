"""SPICE (spaCy) of captions made of words (Anderson et al., ECCV 2016).

The metric is SPICE's, the parser is not: numbers are near the published ones (.132 for .133 on COCO's example
captions), not equal to them, and are named "SPICE (spaCy)" wherever they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError
from seqcap.metrics.captions import (
    Caption,
    Floats,
    Hypotheses,
    References,
    Scores,
    check_pairs,
    check_references,
    mean_scores,
)
from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import CATEGORIES, Graph, match, meteor_synonyms
from seqcap.spice.references import ReferenceGraphs

NAME = "SPICE (spaCy)"


class CategoryScores(NamedTuple):
    """Precision, recall and F-score over the tuples of one category (SPICE, section 5.3).

    Attributes:
        image_ids: ascending.
        precision: [images], 0 .. 1; so are recall and f.
        recall: [images].
        f: [images].
        defined: [images]; False where the references hold no tuple of this category. Scores are 0 there, and do not
            count in `corpus`. Every image counts in the category "All".
        corpus: mean F-score over the defined images, 0 if there are none.
    """

    image_ids: list[int]
    precision: Floats
    recall: Floats
    f: Floats
    defined: npt.NDArray[np.bool_]
    corpus: float


class Spice:
    """SPICE (spaCy) against fixed references, for any number of captions per image.

    Args:
        references: image id -> captions as lists of words. Captions may be empty, and words may be anything.
        parser: parses captions, perhaps with a file of earlier parses; None keeps no file.

    Raises:
        InputError: no image, an image without references, or spaCy's model or METEOR's synsets are missing.
    """

    def __init__(self, references: References, parser: CachedParser | None = None) -> None:
        check_references(references)
        self._parser = CachedParser() if parser is None else parser
        self._index = {image_id: index for index, image_id in enumerate(sorted(references))}
        self._references = ReferenceGraphs(
            [[" ".join(tokens) for tokens in references[image_id]] for image_id in self._index], self._parser
        )

    def score(self, hypotheses: Hypotheses) -> Scores:
        """F-score of each image's caption, and their mean. A caption without tuples scores 0.

        Raises:
            InputError: hypotheses and references are of different images.
        """
        check_pairs(self._index, hypotheses)
        values = self.score_captions([(image_id, hypotheses[image_id]) for image_id in self._index])
        return mean_scores(list(self._index), values)

    def score_captions(self, captions: Sequence[tuple[int, Caption]]) -> Floats:
        """F-score of each (image id, words): [captions].

        Raises:
            InputError: an image without references.
        """
        pairs = self._graphs(captions)
        return np.array([match(candidate, reference).f for candidate, reference in pairs], dtype=np.float64)

    def categories(self, hypotheses: Hypotheses) -> dict[str, CategoryScores]:
        """Scores by category: All, Object, Attribute, Relation, and of the attributes Color, Count and Size.

        Raises:
            InputError: as `score`.
        """
        check_pairs(self._index, hypotheses)
        pairs = self._graphs([(image_id, hypotheses[image_id]) for image_id in self._index])
        scores = {}
        for category in CATEGORIES:
            matches = [match(candidate.subset(category), reference.subset(category)) for candidate, reference in pairs]
            defined = np.array([category == CATEGORIES[0] or found.reference > 0 for found in matches])
            precision, recall, f = np.array([(found.precision, found.recall, found.f) for found in matches]).T
            corpus = float(f[defined].mean()) if defined.any() else 0.0
            scores[category] = CategoryScores(list(self._index), precision * defined, recall, f, defined, corpus)
        return scores

    def _graphs(self, captions: Sequence[tuple[int, Caption]]) -> list[tuple[Graph, Graph]]:
        for image_id, _ in captions:
            if image_id not in self._index:
                raise InputError("captions", f"image {image_id} has no references", "score only images that have them")
        texts = [" ".join(tokens) for _, tokens in captions]
        parsed = self._parser.parse(texts)
        # Decoders often agree: a caption's graph is built once.
        graphs = {text: meteor_synonyms().graph(tuples) for text, tuples in parsed.items()}
        return [
            (graphs[text], self._references.graph(self._index[image_id]))
            for (image_id, _), text in zip(captions, texts, strict=True)
        ]
