"""Reads a captioner of Hugging Face from a user's folder, as transformers' `save_pretrained` writes it. Only files of
the folder are read: no download, no pickle, no code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from PIL import Image

from seqcap.data.tokens import TokenVocabulary, read_tokenizer
from seqcap.data.vocabulary import SPECIALS
from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.system.extras import require

if TYPE_CHECKING:
    from torch import Tensor

# `model_type` of config.json -> transformers' class.
CLASSES = {
    "blip": "BlipForConditionalGeneration",
    "git": "GitForCausalLM",
    "vision-encoder-decoder": "VisionEncoderDecoderModel",
}
# Of a VisionEncoderDecoder.
PARTS = {"encoder": ("beit", "deit", "swin", "vit"), "decoder": ("bert", "gpt2")}
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PROCESSORS = ("preprocessor_config.json", "processor_config.json")
# What would make transformers read something else than this folder, or run what is not its own.
FOREIGN = {
    "auto_map": "names code of its own",
    "quantization_config": "holds quantized weights",
    "use_timm_backbone": "takes its encoder from timm",
}


@dataclass(frozen=True)
class SpecialTokens:
    """The model's own ids.

    Attributes:
        pad: what pads captions.
        start: what the decoder reads before a caption's first token.
        end: what ends captions.
    """

    pad: int
    start: int
    end: int


def read_config(folder: Path) -> Any:
    """transformers' configuration of the captioner; InputError if transformers or a file is missing, or it is no
    captioner that is known here."""
    require("hf", str(folder))
    _check_files(folder)
    content = read_json(folder / "config.json")
    if not isinstance(content, dict) or content.get("model_type") not in CLASSES:
        kind = content.get("model_type") if isinstance(content, dict) else None
        _wrong(folder, f"holds a model of type {kind!r:.60}", f"name a captioner of type {', '.join(CLASSES)}")
    _check_own(folder, content)
    if content["model_type"] == "vision-encoder-decoder":
        for part, allowed in PARTS.items():
            kind = content[part].get("model_type") if isinstance(content.get(part), dict) else None
            if kind not in allowed:
                _wrong(folder, f"has a {part} of type {kind!r:.60}", f"known here: {', '.join(allowed)}")
    model_class = _class(content["model_type"])
    try:
        config = model_class.config_class.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # transformers raises many kinds, some of its own
        _wrong(folder, f"has a config.json that cannot be read ({error})")
    return config


def build_model(folder: Path) -> Any:
    """transformers' model of the folder's configuration, with fresh weights; errors as in `read_config`."""
    config = read_config(folder)
    try:
        return _class(config.model_type)._from_config(config, attn_implementation="eager")
    except Exception as error:
        _wrong(folder, f"has a config.json of no model ({error})")


def read_model(folder: Path) -> Any:
    """transformers' model with the folder's weights, float32; InputError if they do not fit its configuration."""
    import torch  # takes two seconds, which readers of a vocabulary or a configuration need not wait

    config = read_config(folder)
    try:
        model, found = _class(config.model_type).from_pretrained(
            folder,
            local_files_only=True,
            use_safetensors=True,
            attn_implementation="eager",  # GIT knows no other
            dtype=torch.float32,
            output_loading_info=True,
        )
    except Exception as error:
        _wrong(folder, f"cannot be read ({error})")
    if found["missing_keys"]:
        _wrong(folder, f"has no weights for {min(found['missing_keys'])}")
    # Earlier versions of transformers wrote positions, which newer ones count.
    spare = [name for name in found["unexpected_keys"] if not name.endswith((".position_ids", ".masked_bias"))]
    if spare:
        _wrong(folder, f"has weights for {min(spare)}, which its config.json has not")
    if not all(bool(tensor.isfinite().all()) for tensor in model.state_dict().values() if tensor.is_floating_point()):
        _wrong(folder, "has weights that are NaN or infinite")
    return model


def read_vocabulary(folder: Path) -> TokenVocabulary:
    """The model's tokens in the order of this package: specials first, then the others by the model's ids. InputError
    if tokenizer or configuration is missing or damaged, or they do not fit."""
    config = read_config(folder)
    special, size = special_tokens(folder, config), _text_config(config).vocab_size
    path = folder / "tokenizer.json"
    tokenizer, unknown = read_tokenizer(path)
    if tokenizer.get_vocab_size() > size:
        problem = f"has {tokenizer.get_vocab_size()} tokens, and the model {size}"
        raise InputError(path, problem, "name a folder whose tokenizer is the model's own")
    apart = {special.pad, special.start, special.end}
    # GPT-2's unknown token is its end.
    unknown = unknown if unknown not in apart else None
    first = [special.pad, special.start, special.end, special.end if unknown is None else unknown]
    rest = [number for number in range(size) if number not in apart | {unknown}]
    texts = [tokenizer.id_to_token(number) or f"<unused {number}>" for number in rest]
    # A token may be spelled as one of this package's specials.
    texts = [f"<the token {text}>" if text in SPECIALS else text for text in texts]
    return TokenVocabulary([*SPECIALS, *texts], [*first, *rest], unknown is not None, tokenizer)


def special_tokens(folder: Path, config: Any) -> SpecialTokens:
    """Which tokens pad, start and end captions, as `generate` takes them; an InputError names one that is not given."""
    text = _text_config(config)
    generation = folder / "generation_config.json"
    given = read_json(generation) if generation.is_file() else {}
    given = given if isinstance(given, dict) else {}
    if config.model_type == "blip":
        # BLIP's captions end in BERT's separator; its eos_token_id is another token.
        found = {"start": text.bos_token_id, "end": text.sep_token_id, "pad": text.pad_token_id}
    else:
        starts = "decoder_start_token_id", "bos_token_id"
        names = {"start": starts, "end": ("eos_token_id",), "pad": ("pad_token_id",)}
        found = {}
        for what, keys in names.items():
            # In the order in which `generate` looks for them.
            values = []
            for key in keys:
                values += [given.get(key), getattr(config, key, None), getattr(text, key, None)]
            found[what] = next((value for value in values if value is not None), None)
    if found["pad"] is None:
        found["pad"] = found["end"]
    for what, value in found.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < text.vocab_size:
            _wrong(folder, f"has {value!r:.60} as the token that is {what} of captions", "give its id in config.json")
    return SpecialTokens(**found)


class Pixels:
    """The folder's image processor: images to the model's input.

    Args:
        folder: what `save_pretrained` wrote.

    Raises:
        InputError: transformers or a file is missing, or the folder holds no captioner or image processor that can be
            read.
    """

    def __init__(self, folder: Path) -> None:
        read_config(folder)
        self.folder = folder
        auto = _transformers().AutoImageProcessor
        try:
            self._processor = auto.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:
            _wrong(folder, f"has an image processor that cannot be read ({error})")
        self.shape = tuple(self._read([Image.new("RGB", (64, 48))])[0].shape)

    def read(self, images: list[Image.Image]) -> Tensor:
        """Pixel values [n, *shape] of RGB images; an InputError if they come out in another shape."""
        pixels = self._read(images)
        if tuple(pixels.shape[1:]) != self.shape:
            problem = f"makes inputs of {list(pixels.shape[1:])} of an image, and of {list(self.shape)} of another"
            _wrong(self.folder, problem, "give its image processor one size for all images")
        return pixels

    def _read(self, images: list[Image.Image]) -> Tensor:
        try:
            pixels: Tensor = self._processor(images, return_tensors="pt").pixel_values
        except Exception as error:
            _wrong(self.folder, f"has an image processor that reads no picture ({error})")
        if pixels.dim() != 4 or math.prod(pixels.shape[1:]) > 3 * 4096**2:
            _wrong(self.folder, f"has an image processor whose output is {list(pixels.shape)}")
        return pixels.float()


def _text_config(config: Any) -> Any:
    """The configuration of what writes the captions."""
    parts = {"blip": "text_config", "vision-encoder-decoder": "decoder"}
    return getattr(config, parts[config.model_type]) if config.model_type in parts else config


def _check_files(folder: Path) -> None:
    if not folder.is_dir():
        _wrong(folder, "is no folder")
    for file in ("config.json", "tokenizer.json"):
        if not (folder / file).is_file():
            _wrong(folder, f"has no {file}")
    if not any((folder / file).is_file() for file in PROCESSORS):
        _wrong(folder, f"has no {' and no '.join(PROCESSORS)}")
    if (folder / "adapter_config.json").exists():
        _wrong(folder, "holds an adapter, whose base is elsewhere", "merge them (peft's merge_and_unload), and save")
    if (folder / WEIGHTS).is_file():
        return
    if not (folder / INDEX).is_file():
        _wrong(folder, f"has no {WEIGHTS}")
    content = read_json(folder / INDEX)
    shards = content.get("weight_map") if isinstance(content, dict) else None
    for name in shards.values() if isinstance(shards, dict) else [None]:
        if not isinstance(name, str) or Path(name).name != name or not (folder / name).is_file():
            _wrong(folder, f"has an {INDEX} that names {name!r:.60}, which is no file of the folder")


def _check_own(folder: Path, content: Any, depth: int = 0) -> None:
    """Passes a configuration, or a part of it, that needs nothing from elsewhere."""
    if not isinstance(content, dict) or depth > 3:
        return
    for key, why in FOREIGN.items():
        if content.get(key):
            _wrong(folder, f"{why} ({key} in config.json)", "such models are not read here")
    for part in content.values():
        _check_own(folder, part, depth + 1)


def _transformers() -> Any:
    # transformers imports torchvision, which may need the shim. It takes a second, and comes with an extra.
    import seqcap.features.torchvision_shim  # noqa: F401

    import transformers  # isort: skip  after the shim

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def _class(model_type: str) -> Any:
    return getattr(_transformers(), CLASSES[model_type])


def _wrong(folder: Path, problem: str, fix: str = "name a folder that `save_pretrained` wrote") -> NoReturn:
    raise InputError(folder, problem, fix)
