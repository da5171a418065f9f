"""pycocoevalcap's classes, without Java: replacing an import is all there is to do.

    from seqcap.coco import Bleu, Cider, Meteor, PTBTokenizer, Rouge, Spice

`Bleu`, `Cider` and `Rouge` equal pycocoevalcap's to float error, per image too, `Meteor` the digits that its Java
program prints, and `PTBTokenizer` its tokens. `Spice` is another: its parser is spaCy's, and scores are near the
official ones (.132 for .133 on COCO's example captions). Nothing else differs, but that `Cider` takes document
frequencies and warns of a single image.

As there, `gts` and `res` are dicts with the same keys: an image's references, and a list of one caption. Captions are
tokens joined by spaces, as `PTBTokenizer` makes them. InputError if they are anything else.
"""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError
from seqcap.library.texts import cache_folder
from seqcap.metrics.captions import Floats
from seqcap.metrics.quality import Coder, bleu_orders, cider_of, meteor_of
from seqcap.rewards.bleu import Bleu as BleuOfIds
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.frequencies import DocumentFrequencies
from seqcap.rewards.rouge import RougeL
from seqcap.system.extras import require

Images = Mapping[Any, Sequence[str]]
Ids = tuple[Coder, Any, Any, Any]


class PTBTokenizer:
    """Splits captions into words as Stanford's PTBTokenizer does, without punctuation."""

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, str]]]) -> dict[Hashable, list[str]]:
        """{image: [{"caption": text}]} -> {image: [tokens joined by spaces]}."""
        texts = [caption["caption"] for captions in captions_for_image.values() for caption in captions]
        # The lexer reads all captions as one text.
        firsts = [(text.split() or [""])[0] for text in texts[1:]]
        tokens = iter([" ".join(tokenize(text, first)) for text, first in zip(texts, [*firsts, ""], strict=True)])
        return {image: [next(tokens) for _ in captions] for image, captions in captions_for_image.items()}


class Bleu:
    """Corpus BLEU-1 .. n (Papineni et al., ACL 2002) with the closest reference length.

    Args:
        n: the highest order, 1 to 4.

    Raises:
        InputError: n is another number.
    """

    def __init__(self, n: int = 4) -> None:
        if n not in (1, 2, 3, 4):
            raise InputError("Bleu", f"n is {n!r}", "use 1, 2, 3 or 4")
        self._n = n

    def compute_score(self, gts: Images, res: Images, verbose: int = 1) -> tuple[list[float], list[list[float]]]:
        """Corpus values [n], and each order's values per image. `verbose` changes nothing."""
        references, captions = _checked(gts, res)
        _, cooked, rows, image = _numbered(references, captions)
        orders = list(bleu_orders(BleuOfIds(cooked).statistics(rows, image)).values())[: self._n]
        return [order.corpus() for order in orders], [order.per_caption.tolist() for order in orders]

    def method(self) -> str:
        return "Bleu"


class Cider:
    """CIDEr-D (Vedantam et al., CVPR 2015).

    Args:
        frequencies: document frequencies, or their file; None: those of `gts`, of which one image alone gives all
            zeros, as a warning says.

    Raises:
        InputError: the file is missing or another one.
    """

    def __init__(self, frequencies: DocumentFrequencies | str | Path | None = None) -> None:
        self._frequencies = None if frequencies is None else DocumentFrequencies.given(frequencies)

    def compute_score(self, gts: Images, res: Images) -> tuple[float, Floats]:
        """The mean, 0 .. 10, and the values [images]."""
        references, captions = _checked(gts, res)
        if self._frequencies is not None:
            values = cider_of(references, captions, np.arange(len(captions)), self._frequencies)
            return float(values.mean()), values
        if len(captions) == 1:
            text = "CIDEr of one image is 0 by definition: score several together, or pass document frequencies"
            warnings.warn(text, UserWarning, stacklevel=2)
        return _scored(CiderD, references, captions)

    def method(self) -> str:
        return "CIDEr"


class Rouge:
    """ROUGE-L (Lin and Och, ACL 2004), beta 1.2. Its tokens are what is between single spaces, as in pycocoevalcap: two
    spaces hold an empty one."""

    def compute_score(self, gts: Images, res: Images) -> tuple[float, Floats]:
        """The mean, 0 .. 1, and the values [images]."""
        references, captions = _checked(gts, res, separator=" ")
        return _scored(RougeL, references, captions)

    def method(self) -> str:
        return "Rouge"


class Meteor:
    """METEOR 1.5 (Denkowski and Lavie, WMT 2014) in English, without Java. InputError without the extra `meteor`."""

    def __init__(self) -> None:
        require("meteor", "Meteor")

    def compute_score(self, gts: Images, res: Images) -> tuple[float, list[float]]:
        """The corpus value, which is not the mean, and the values per image, 0 .. 1."""
        references, captions = _checked(gts, res)
        # pycocoevalcap takes the separator of METEOR's protocol out of captions.
        spoken = [" ".join(tokens).replace("|||", "").split() for tokens in captions]
        found = meteor_of(*_numbered(references, spoken), cache_folder())
        return found.corpus(), found.per_caption.tolist()

    def method(self) -> str:
        return "METEOR"


class Spice:
    """SPICE (Anderson et al., ECCV 2016) from spaCy's parses, called SPICE (spaCy): report it by this name. InputError
    without the extra `spice`."""

    def __init__(self) -> None:
        require("spice", "Spice")

    def compute_score(self, gts: Images, res: Images) -> tuple[float, list[dict[str, dict[str, float]]]]:
        """The mean of F, 0 .. 1, and for each image {"All": {"f": F, "pr": precision, "re": recall}}, images sorted as
        in pycocoevalcap."""
        from seqcap.metrics.spice import matches
        from seqcap.rewards import PARSES
        from seqcap.spice.cache import CachedParser

        images = sorted(gts)
        references, captions = _checked({i: gts[i] for i in images}, {i: res[i] for i in images if i in res})
        folder = cache_folder()
        parser = CachedParser(None if folder is None else folder / PARSES.name)
        found = matches(dict(enumerate(references)), list(enumerate(captions)), parser)
        values = [{"All": {"f": match.f, "pr": match.precision, "re": match.recall}} for match in found]
        return float(np.mean([match.f for match in found])), values

    def method(self) -> str:
        return "SPICE"


def _checked(gts: Images, res: Images, separator: str | None = None) -> tuple[list[list[list[str]]], list[list[str]]]:
    """Each image's references and its caption in tokens, in the order of `gts`; InputError if they are malformed."""
    if not gts or gts.keys() != res.keys():
        raise InputError("gts and res", "have different images, or none", "pass the same keys in both")
    for image in gts:
        for what, captions in (("gts", gts[image]), ("res", res[image])):
            if not isinstance(captions, list) or not captions or not all(isinstance(text, str) for text in captions):
                raise InputError(what, f"image {image!r} has {captions!r:.60}", "pass a list of captions (texts)")
        if len(res[image]) != 1:
            raise InputError("res", f"image {image!r} has {len(res[image])} captions", "pass a list of one")
    references = [[text.split(separator) for text in gts[image]] for image in gts]
    return references, [res[image][0].split(separator) for image in gts]


def _scored(
    metric: type[CiderD] | type[RougeL],
    references: Sequence[Sequence[Sequence[str]]],
    captions: Sequence[Sequence[str]],
) -> tuple[float, Floats]:
    """The mean and the values [images]."""
    _, cooked, rows, image = _numbered(references, captions)
    values = metric(cooked).score(rows, image)
    return float(values.mean()), values


def _numbered(references: Sequence[Sequence[Sequence[str]]], captions: Sequence[Sequence[str]]) -> Ids:
    """The coder, references, captions as rows of ids, and the places of their references."""
    coder = Coder()
    return coder, coder.cook(references), coder.rows(captions), np.arange(len(captions))
