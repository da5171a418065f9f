"""`seqcap export`: a trained captioner of Hugging Face as a folder that `from_pretrained` reads."""

import shutil
from pathlib import Path

from seqcap import models
from seqcap.errors import InputError
from seqcap.files.writing import beside
from seqcap.models.huggingface import Model

# What `save_pretrained` of the model writes itself.
OF_MODEL = ("config.json", "generation_config.json", "model.safetensors.index.json")


def export(weights: Path, out: Path) -> Path:
    """Writes config.json, model.safetensors, and the tokenizer and the image processor of the folder that the captioner
    was trained from, into the new folder `out`. LoRA's matrices are merged. `generate` then says what the captioner
    says here. InputError if `weights` hold no such captioner, or `out` exists."""
    if out.exists():
        raise InputError(out, "exists already", "name a new folder")
    captioner, _ = models.load(weights)
    if not isinstance(captioner, Model):
        raise InputError(weights, "holds no captioner of Hugging Face", "name one that was trained from its folder")
    model = captioner.merged()
    fresh = beside(out, "tmp")
    try:
        model.save_pretrained(fresh)
        for file in [*captioner.folder.glob("*.json"), *captioner.folder.glob("*.txt")]:
            if file.name not in OF_MODEL:
                shutil.copyfile(file, fresh / file.name)
        fresh.rename(out)
    except Exception as error:  # transformers and safetensors raise kinds of their own
        raise InputError(out, f"cannot be written ({error})", "make room, or choose another place") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return out
