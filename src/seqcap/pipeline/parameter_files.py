"""Where the parameter files of a checkout are, and how they are read."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.errors import InputError
from seqcap.files.reading import read_text

PARAMS = Path("params.yaml")
PAPERS = Path("papers")
PAPER_FILE = "runs.yaml"  # the file of parameters in a paper's folder
SCALES = Path("scales")
# What an objective reads that declares a `listener`: the retriever of that name in its run.
LISTENER = "listener"
PRETRAINED = "huggingface"  # the architecture of captioners that are read from a user's folder


def parameter_files(root: Path = Path()) -> list[Path]:
    """params.yaml and the papers' files in a checkout, relative to it."""
    return [PARAMS, *(path.relative_to(root) for path in sorted((root / PAPERS).glob(f"*/{PAPER_FILE}")))]


def scale_file(file: Path, scale: str) -> Path:
    """What a scale lays over a parameter file: scales/<scale>.yaml beside it."""
    return file.parent / SCALES / f"{scale}.yaml"


def is_parameter_file(name: str) -> bool:
    """Whether a path in a checkout is that of params.yaml or of a paper's file."""
    return name == str(PARAMS) or re.fullmatch(rf"{PAPERS}/[^/]+/{re.escape(PAPER_FILE)}", name) is not None


def read_yaml(path: Path) -> dict[str, Any]:
    """The parameters in a YAML file; an `InputError` if it cannot be read."""
    try:
        content = YAML(typ="safe").load(read_text(path))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "run from the repository's root") from None
    except (UnicodeDecodeError, YAMLError, ValueError) as error:
        raise InputError(path, f"is not YAML ({error})", "see the line named") from None
    if not isinstance(content, dict):
        raise InputError(path, "is not a mapping of parameters", "restore it from git")
    return content
