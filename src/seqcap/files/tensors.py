"""Weights as safetensors: the same tensors and metadata give the same bytes. Pickle is never read.
The format itself does not notice a changed bit, so a checksum of tensors and metadata lies beside the metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqcap.errors import InputError
from seqcap.files.advice import find, mend
from seqcap.files.json_file import unique_object
from seqcap.files.writing import atomic

if TYPE_CHECKING:
    import torch

KEY = "seqcap"  # of the metadata in a file of ours
CHECKSUM = "checksum"  # its key among the metadata


def save_weights(path: str | Path, tensors: Mapping[str, torch.Tensor], metadata: dict[str, Any]) -> None:
    """Writes tensors, metadata and a checksum of both. The metadata are one JSON string, since safetensors does not
    sort several keys."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())}
    # As it will be read: JSON turns numbers into text where they are keys.
    content = json.loads(json.dumps(metadata))
    content[CHECKSUM] = _checksum(on_cpu, content)
    with atomic(path) as temporary:
        try:
            save_file(on_cpu, temporary, metadata={KEY: json.dumps(content, sort_keys=True)})
        except SafetensorError as error:
            # Raised also for a full disk.
            raise OSError(str(error)) from None


def load_weights(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Reads the tensors, on the CPU, and the metadata of a safetensors file; an `InputError` for a weight that is NaN
    or infinite, or another content than was written. Files of others have no checksum."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            found = file.metadata() or {}
            metadata = json.loads(found.get(KEY, "{}"), object_pairs_hook=unique_object)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(path, "does not exist", find(path)) from None
    except (OSError, SafetensorError) as error:
        raise InputError(path, f"is not a safetensors file ({error})", mend(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"has metadata that are not JSON ({error})", mend(path)) from None
    if not isinstance(metadata, dict):
        raise InputError(path, f"has metadata that are no object, but {metadata!r:.60}", mend(path))
    written = metadata.pop(CHECKSUM, None)
    if KEY in found and written != _checksum(tensors, metadata):
        raise InputError(path, "is damaged (its checksum is of another content)", mend(path))
    for name, tensor in tensors.items():
        try:
            finite = not tensor.is_floating_point() or bool(tensor.isfinite().all())
        except NotImplementedError:  # floats of eight bits and less
            raise InputError(path, f"weight {name!r} is of {tensor.dtype}", "store it as torch.float32") from None
        if not finite:
            raise InputError(path, f"weight {name!r} is NaN or infinite", mend(path))
    return tensors, metadata


def _checksum(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, Any]) -> str:
    """A hash of the metadata and of the tensors' names, types, shapes and bytes."""
    import torch

    digest = hashlib.blake2b(json.dumps(metadata, sort_keys=True).encode(), digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        content: Any = tensor.reshape(-1).view(torch.uint8).numpy()
        digest.update(content)
    return digest.hexdigest()
