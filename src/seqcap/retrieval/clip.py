"""CLIP (Radford et al., ICML 2021) as a retriever, from a folder of the user's. It is never trained. It reads words,
not relaxed captions. Embeddings of images are stored (`make`)."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import pyarrow as pa
import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.config.retrieval import RetrieverConfig
from seqcap.data.images import ImageSource
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.files.parquet import parquet_stream, read_table
from seqcap.files.schemas import IMAGES, VOCABULARY, features_schema
from seqcap.files.tensors import save_weights
from seqcap.retrieval.base import Retriever
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.tasks import ARTIFACTS

FILES = ("config.json", "model.safetensors", "preprocessor_config.json")
TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
CHUNK = 32  # images per forward pass and per row group


class Config(Frozen):
    folder: str = Field(description="CLIP's files")
    vocabulary: str = Field(description="file of the captions' vocabulary")
    images: str = Field(description="file of the images' embeddings")


class Model(Retriever):
    """CLIP's text tower and stored image embeddings. InputError if transformers or a file is missing, or not a CLIP."""

    config: Config

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        clip, self._tokenizer, _ = read(Path(config.folder))
        # A tuple hides it from PyTorch, so checkpoints do not include it.
        self._clip = (clip,)
        self._vocabulary = Vocabulary.read(config.vocabulary)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self._clip[0]._apply(fn, recurse)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def features(self, task_folder: Path) -> Path:
        return Path(self.config.images)

    def embed_images(self, inputs: Tensor) -> Tensor:
        return F.normalize(inputs.float(), dim=1)

    @torch.no_grad()
    def embed_captions(self, captions: Tensor) -> Tensor:
        """See the base class; an `InputError` for relaxed captions."""
        if captions.is_floating_point():
            raise InputError(self.config.folder, "CLIP reads words, not distributions", "use a dual encoder")
        # `get_text_features` differs between versions of transformers.
        pooled = self.clip.text_model(**self.tokens(captions)).pooler_output
        return F.normalize(self.clip.text_projection(pooled), dim=1)

    @property
    def clip(self) -> Any:
        """transformers' CLIPModel. Do not train it, only copies of it."""
        return self._clip[0]

    def tokens(self, captions: Tensor) -> Any:
        """Inputs of CLIP's text tower for captions, ids [n, time], cut to its longest text."""
        texts = [" ".join(self._vocabulary.decode(ids)) for ids in captions.tolist()]
        longest = self.clip.config.text_config.max_position_embeddings
        tokens = self._tokenizer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt")
        return tokens.to(captions.device)


def make(config: RetrieverConfig) -> list[dict[str, Any]]:
    """Embeds all images of a task. Writes <weights>/images.parquet, and seed<k>.safetensors, which name the folder;
    returns an empty learning curve. InputError as in `Model`, or if an image is missing or damaged."""
    folder, data = Path(str(config.folder)), ARTIFACTS / config.task / "data"
    clip, _, processor = read(folder)
    device = machine.device()
    clip.to(device)
    source, images = ImageSource(config.root), read_table(data / "images.parquet", IMAGES)
    ids, files = images["item"].to_numpy(), images["file"].to_pylist()
    shape = (clip.config.projection_dim,)
    schema = features_schema(shape, pa.float32())
    path = Path(config.weights) / "images.parquet"
    with (
        parquet_stream(path, schema) as writer,
        torch.no_grad(),
        progress(total=len(files), desc=config.name, unit="image") as done,
    ):
        for i in range(0, len(files), CHUNK):
            pixels = processor([source.read(file) for file in files[i : i + CHUNK]], return_tensors="pt").pixel_values
            vectors = clip.visual_projection(clip.vision_model(pixels.to(device)).pooler_output)
            values: Any = F.normalize(vectors, dim=1).cpu().numpy().astype(np.float32)
            column = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), type=schema.field(1).type)
            writer.write_table(pa.Table.from_arrays([pa.array(ids[i : i + CHUNK]), column], schema=schema))
            done.update(len(values))
    words = data / VOCABULARY
    vocabulary = Vocabulary.read(words)
    metadata = {
        "architecture": "clip",
        "model": Config(folder=str(folder), vocabulary=str(words), images=str(path)).model_dump(),
        "vocabulary_size": len(vocabulary),
        "vocabulary": digest(vocabulary),
        "feature_shape": list(shape),
    }
    for seed in config.seeds:
        save_weights(Path(config.weights) / f"seed{seed}.safetensors", {}, metadata)
    return []


def read(folder: Path) -> tuple[Any, Any, Any]:
    """transformers' CLIPModel, tokenizer and image processor, without downloads or pickles; errors as in `Model`."""
    for file in FILES:
        if not (folder / file).is_file():
            _wrong(folder, f"has no {file}")
    if not any(all((folder / file).is_file() for file in files) for files in TOKENIZERS):
        _wrong(folder, f"has no {' and no '.join(' with '.join(files) for files in TOKENIZERS)}")
    # transformers imports torchvision, which may need the shim.
    import seqcap.features.torchvision_shim  # noqa: F401

    try:
        transformers: Any = importlib.import_module("transformers")
    except ModuleNotFoundError:
        raise InputError(folder, "needs transformers, which is not installed", "pip install seqcap[clip]") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        clip, found = transformers.CLIPModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
        tokenizer = transformers.CLIPTokenizer.from_pretrained(folder, local_files_only=True)
        processor = transformers.CLIPImageProcessor.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # transformers, tokenizers and safetensors each have classes of their own
        _wrong(folder, f"cannot be read ({error})")
    if found["missing_keys"]:
        _wrong(folder, f"has no weights for {min(found['missing_keys'])}")
    # OpenAI's files hold their positions, too, which transformers counts itself.
    spare = [name for name in found["unexpected_keys"] if not name.endswith(".position_ids")]
    if spare:
        _wrong(folder, f"has weights for {min(spare)}, which its config.json has not")
    return clip.float().eval().requires_grad_(False), tokenizer, processor


def _wrong(folder: Path, problem: str) -> NoReturn:
    raise InputError(folder, problem, "name a folder with the files of a CLIP of transformers")
