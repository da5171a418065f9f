"""Captions at the boundary of the scorers, which take strings and split them again at white space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError

Floats = npt.NDArray[np.float64]
Caption = Sequence[str]
References = Mapping[int, Sequence[Caption]]
Hypotheses = Mapping[int, Caption]


class Scores(NamedTuple):
    """A metric over images.

    Attributes:
        image_ids: ascending.
        per_image: [images].
        corpus: the metric's own aggregate, which need not be the mean.
    """

    image_ids: list[int]
    per_image: Floats
    corpus: float


def mean_scores(image_ids: list[int], per_image: Iterable[float]) -> Scores:
    """Scores of a metric whose corpus value is the mean over images."""
    values = np.fromiter(per_image, dtype=np.float64, count=len(image_ids))
    return Scores(image_ids, values, float(values.mean()))


def joined(image_id: int, tokens: Caption) -> str:
    """The tokens with a space between.

    Raises:
        InputError: a token that is empty or holds white space would be split or swallowed, and a newline would
            shift every later caption.
    """
    for token in tokens:
        if token.split() != [token]:
            raise InputError("captions", f"image {image_id} has the token {token!r}", "use tokens without white space")
    return " ".join(tokens)


def check_references(references: References) -> None:
    """Checks that there is something to compare with.

    Raises:
        InputError: no image, or an image without references.
    """
    if not references:
        raise InputError("references", "hold no image", "pass the captions of at least one image")
    for image_id, captions in references.items():
        if len(captions) == 0:
            raise InputError("references", f"image {image_id} has none", "pass at least one, or drop the image")


def check_pairs(references: Collection[int], hypotheses: Collection[int]) -> None:
    """Checks that both sides hold the same images.

    Raises:
        InputError: an image is in only one of the two.
    """
    different = sorted(set(references) ^ set(hypotheses))
    if different:
        missing = "hypothesis" if different[0] in references else "references"
        raise InputError("captions", f"image {different[0]} has no {missing}", "score the same images on both sides")


def check_captions(references: References, captions: Sequence[tuple[int, Caption]]) -> None:
    """Checks that captions can be scored against references.

    Raises:
        InputError: as `check_references`, a caption of an image without references, or a token with white space.
    """
    check_references(references)
    for image_id, tokens in captions:
        if image_id not in references:
            raise InputError("captions", f"image {image_id} has no references", "score only images that have them")
        joined(image_id, tokens)


def joined_references(references: References) -> dict[int, list[str]]:
    """Every image's references as strings, images ascending.

    Raises:
        InputError: no image, an image without references, or a token with white space.
    """
    check_references(references)
    return {image_id: [joined(image_id, tokens) for tokens in references[image_id]] for image_id in sorted(references)}


def joined_pairs(references: References, hypotheses: Hypotheses) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """References and hypotheses of the same images as pycocoevalcap's scorers take them, images ascending.

    Raises:
        InputError: an image is in only one of the two, or what `joined_references` raises.
    """
    check_pairs(references, hypotheses)
    texts = joined_references(references)
    return texts, {image_id: [joined(image_id, hypotheses[image_id])] for image_id in texts}
