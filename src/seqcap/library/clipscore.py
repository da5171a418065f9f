"""CLIPScore and RefCLIPScore (Hessel, Holtzman, Forbes, Le Bras and Choi, EMNLP 2021), by a CLIP in a local folder.

    CLIPScore(v, c) = w max(cos(c, v), 0)                                                                 (section 3)
    RefCLIPScore(v, c, R) = the harmonic mean of CLIPScore(v, c) and max(max over r in R of cos(c, r), 0)

with w = 2.5 and texts that begin with "A photo depicts ". Values depend on the encoder: name it with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from seqcap.errors import InputError
from seqcap.library.reward import text_of
from seqcap.library.texts import texts_of
from seqcap.metrics.captions import Floats
from seqcap.metrics.significance import Score, with_intervals
from seqcap.system.extras import require

W = 2.5
PREFIX = "A photo depicts "
BATCH = 32  # images or texts per forward pass


class Encoder(Protocol):
    """What turns images and texts into vectors of one space; `name` goes into signatures."""

    name: str

    def images(self, images: Sequence[Any]) -> Floats:
        """[n, d] of file names or Pillow images."""
        ...

    def texts(self, texts: Sequence[str]) -> Floats:
        """[n, d]."""
        ...


class LocalClip:
    """transformers' CLIP in a folder; nothing is downloaded.

    Args:
        folder: what `save_pretrained` wrote.
        device: where the model computes, such as "cpu" or "cuda".

    Raises:
        InputError: the extra `clip` is not installed, a file is missing, or it is no CLIP.
    """

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        require("clip", "CLIPScore")
        from seqcap.features.clip_folder import read
        from seqcap.features.folder_config import check_config

        folder = Path(folder)
        check_config(folder)
        model, self._tokenizer, self._processor = read(folder)
        self._model = model.to(device)
        self._device = device
        self._folder = folder
        content = hashlib.sha256((folder / "config.json").read_bytes())
        content.update((folder / "model.safetensors").read_bytes())
        named = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("_name_or_path") or folder.name
        self.name = f"{named} {content.hexdigest()[:12]}"

    def images(self, images: Sequence[Any]) -> Floats:
        from seqcap.data.images import read_image

        vectors = []
        for start in range(0, len(images), BATCH):
            part = [read_image(Path(i)) if isinstance(i, str | Path) else i for i in images[start : start + BATCH]]
            with self._in_one_line("pictures"):
                pixels = self._processor(part, return_tensors="pt").pixel_values.to(self._device)
                vectors.append(self._model.visual_projection(self._model.vision_model(pixels).pooler_output))
        return _array(vectors)

    def texts(self, texts: Sequence[str]) -> Floats:
        longest = self._model.config.text_config.max_position_embeddings
        options = {"padding": True, "truncation": True, "max_length": longest, "return_tensors": "pt"}
        vectors = []
        for start in range(0, len(texts), BATCH):
            with self._in_one_line("texts"):
                tokens = self._tokenizer(list(texts[start : start + BATCH]), **options).to(self._device)
                # `get_text_features` differs between versions of transformers.
                vectors.append(self._model.text_projection(self._model.text_model(**tokens).pooler_output))
        return _array(vectors)

    @contextmanager
    def _in_one_line(self, what: str) -> Iterator[None]:
        """The folder's files fit each other only if its processor and tokenizer make what its model reads."""
        try:
            yield
        except Exception as error:  # transformers raises many kinds
            problem = f"holds a CLIP that cannot read {what} ({error})"
            raise InputError(self._folder, problem, "name a folder that `save_pretrained` wrote") from None


@dataclass(frozen=True)
class ClipEvaluation:
    """CLIPScore, and RefCLIPScore if there are references.

    Attributes:
        items: places in the lists, or keys of the dicts.
        corpus: metric -> its mean over items, with a 95% bootstrap interval.
        per_item: metric -> its values [items].
        signature: what the values depend on, a line to paste into a paper.
    """

    items: Sequence[Hashable]
    corpus: Mapping[str, Score]
    per_item: Mapping[str, Floats]
    signature: str


def clip_score(
    candidates: Mapping[Any, str] | Sequence[str],
    images: Mapping[Any, Any] | Sequence[Any],
    references: Mapping[Any, Sequence[str]] | Sequence[Sequence[str]] | None = None,
    *,
    clip: str | Path | Encoder,
) -> ClipEvaluation:
    """CLIPScore of captions of images, and RefCLIPScore if there are references.

    Args:
        candidates: a caption for each item: a list, or a dict by image.
        images: file names or Pillow images, in a list or dict with the same items.
        references: the items' texts, likewise; None for CLIPScore alone.
        clip: a folder with a CLIP of transformers, or an `Encoder`.

    Raises:
        InputError: items differ, an image cannot be read, or the folder is no CLIP.
    """
    from seqcap.metrics.quality import Measured

    keys = _items(candidates, images, references)
    encoder = LocalClip(clip) if isinstance(clip, str | Path) else clip
    texts = [candidates[key] for key in keys]
    said = _unit(encoder.texts([PREFIX + text for text in texts]))
    seen = _unit(encoder.images([images[key] for key in keys]))
    values = {"CLIPScore": _clip_scores(said, seen)}
    if references is not None:
        meant = [texts_of(references[key], f"references of item {key!r}") for key in keys]
        values["RefCLIPScore"] = _harmonic(values["CLIPScore"], _nearest(encoder, said, meant))
    corpus = with_intervals({name: Measured.mean(found) for name, found in values.items()}, len(keys))
    return ClipEvaluation(keys, corpus, values, f"CLIPScore|w:{W}|prefix:{PREFIX.strip()!r}|encoder:{encoder.name}")


class ClipReward:
    """Pays completions by CLIPScore (0 .. 2.5), or by RefCLIPScore if it knows references, in the signature of
    `CaptionReward`.

    Args:
        clip: a folder with a CLIP of transformers, or an `Encoder`.
        image_column: the column with each completion's image, a file name or a Pillow image.
        references_column: the column with each completion's references, a list of texts each; None: CLIPScore.
        device: where the CLIP of a folder computes, such as "cpu" or "cuda".

    Raises:
        InputError: as `LocalClip`, for a folder.
    """

    __name__ = "clipscore"

    def __init__(
        self,
        clip: str | Path | Encoder,
        *,
        image_column: str = "image",
        references_column: str | None = None,
        device: str = "cpu",
    ) -> None:
        self._encoder = LocalClip(clip, device) if isinstance(clip, str | Path) else clip
        self._image, self._references = image_column, references_column

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """InputError if a column is missing, or an image cannot be read."""
        for column in filter(None, (self._image, self._references)):
            if column not in columns or len(columns[column]) != len(completions):
                raise InputError(
                    "the call", f"has no column {column!r} of {len(completions)} entries", "name the column"
                )
        if not completions:
            return []
        said = _unit(self._encoder.texts([PREFIX + text_of(completion) for completion in completions]))
        values = _clip_scores(said, self._embedded(columns[self._image]))
        if self._references is not None:
            meant = [texts_of(row, self._references) for row in columns[self._references]]
            values = _harmonic(values, _nearest(self._encoder, said, meant))
        return [float(value) for value in values]

    def _embedded(self, images: Sequence[Any]) -> Floats:
        """Vectors [n, d]; an image that several completions share is embedded once."""
        keys = [image if isinstance(image, str | Path) else id(image) for image in images]
        distinct = dict(zip(keys, images, strict=True))
        places = {key: place for place, key in enumerate(distinct)}
        return _unit(self._encoder.images(list(distinct.values())))[[places[key] for key in keys]]


def _items(candidates: Any, images: Any, references: Any) -> list[Any]:
    """The keys of dicts, or the places in lists, which all must share."""

    def keys(values: Any) -> list[Any]:
        return list(values) if isinstance(values, Mapping) else list(range(len(values)))

    found = keys(candidates)
    for what, values in (("images", images), ("references", references)):
        if values is not None and set(keys(values)) != set(found):
            raise InputError(
                what, f"are of {len(values)} items, captions of {len(found)}", "pass the same items in all"
            )
    if not found:
        raise InputError("captions", "hold none", "pass at least one")
    return found


def _clip_scores(said: Floats, seen: Floats) -> Floats:
    return np.asarray(W * np.maximum((said * seen).sum(axis=1), 0))


def _nearest(encoder: Encoder, said: Floats, references: Sequence[Sequence[str]]) -> Floats:
    """The cosine [n] of each caption and its nearest reference, at least 0."""
    if not all(references):
        raise InputError("references", "are missing for a caption", "pass at least one for each")
    flat = _unit(encoder.texts([PREFIX + text for texts in references for text in texts]))
    owner = np.repeat(np.arange(len(references)), [len(texts) for texts in references])
    nearest = np.full(len(references), 0.0)
    np.maximum.at(nearest, owner, (flat * said[owner]).sum(axis=1))
    return nearest


def _harmonic(left: Floats, right: Floats) -> Floats:
    total = left + right
    return np.where(total > 0, 2 * left * right / np.where(total > 0, total, 1), 0.0)


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _array(vectors: Sequence[Any]) -> Floats:
    return np.concatenate([part.float().cpu().numpy() for part in vectors]).astype(np.float64)
