"""Reads a CLIP (Radford et al., ICML 2021) from a user's folder, as transformers' `save_pretrained` writes it."""

from pathlib import Path
from typing import Any, NoReturn

from seqcap.errors import InputError

FILES = ("config.json", "model.safetensors", "preprocessor_config.json")
TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))


def read(folder: Path) -> tuple[Any, Any, Any]:
    """transformers' CLIPModel, tokenizer and image processor, without downloads or pickles; InputError if
    transformers or a file is missing, or not a CLIP's."""
    for file in FILES:
        if not (folder / file).is_file():
            _wrong(folder, f"has no {file}")
    if not any(all((folder / file).is_file() for file in files) for files in TOKENIZERS):
        _wrong(folder, f"has no {' and no '.join(' with '.join(files) for files in TOKENIZERS)}")
    # transformers imports torchvision, which may need the shim. It takes a second, and comes with an extra.
    import seqcap.features.torchvision_shim  # noqa: F401

    try:
        import transformers
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
