"""Captions as scorers take them, and checks of strangers' captions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError

Floats = npt.NDArray[np.float64]
Caption = Sequence[str]
ImageCaption = tuple[int, Caption]  # (image id, tokens)
References = Mapping[int, Sequence[Caption]]


class Scores(NamedTuple):
    """A metric's values of the captions of some images, one of each.

    Attributes:
        image_ids: ascending.
        per_image: [images].
        corpus: the metric's own aggregate, not always the mean.
    """

    image_ids: list[int]
    per_image: Floats
    corpus: float


def mean_scores(image_ids: list[int], per_image: Iterable[float]) -> Scores:
    """Scores of a metric whose corpus value is the mean over images."""
    values = np.fromiter(per_image, dtype=np.float64, count=len(image_ids))
    return Scores(image_ids, values, float(values.mean()))


def joined(image_id: int, tokens: Caption) -> str:
    """Tokens joined by spaces. InputError if a token is empty or holds white space, such as a newline."""
    text = " ".join(tokens)
    # One call for all tokens: a million captions are checked several times.
    if text.split() != list(tokens):
        token = next(token for token in tokens if token.split() != [token])
        raise InputError("captions", f"image {image_id} has the token {token!r}", "use tokens without white space")
    return text


def joined_references(references: References) -> dict[int, list[str]]:
    """Every image's captions as strings, images ascending. InputError if there is no image, an image has no captions,
    or a token is empty or holds white space."""
    _check_references(references)
    return {image_id: [joined(image_id, tokens) for tokens in references[image_id]] for image_id in sorted(references)}


def check_captions(references: References, captions: Sequence[ImageCaption]) -> None:
    """Checks that captions can be scored; InputError as in `joined_references`."""
    _check_references(references)
    for image_id, tokens in captions:
        if image_id not in references:
            raise InputError("captions", f"image {image_id} has no references", "score only images that have them")
        joined(image_id, tokens)


def _check_references(references: References) -> None:
    if not references:
        raise InputError("references", "hold no image", "pass the captions of at least one image")
    for image_id, captions in references.items():
        if len(captions) == 0:
            raise InputError("references", f"image {image_id} has none", "pass at least one, or drop the image")
