"""`seqcap score`: scores captions in files against references in files, without the pipeline. It prints tables for
reading, Markdown, LaTeX or JSON, and signatures to paste into a paper."""

import importlib.metadata
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seqcap.files.json_file import write_json
from seqcap.files.writing import check_output
from seqcap.metrics.registry import METRICS, QUALITY
from seqcap.metrics.signatures import ENGINE, signature, span
from seqcap.metrics.significance import TEST
from seqcap.report.markdown import markdown_table
from seqcap.rewards.frequencies import DocumentFrequencies
from seqcap.system.compilation import load_without_blas
from seqcap.tools.systems import Request, System, score_files

STDIN = Path("-")
SIGNIFICANT = 0.05
LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "*": "$^*$",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
# Metrics that are not multiplied by 100: percentages and numbers of words.
UNSCALED = {name for name, metric in METRICS.items() if metric.unit}

# What the rows of the table are.
MEANINGS = {
    **{f"BLEU{n}": f"corpus, {n}-gram precision" if n == 1 else f"corpus, 1- to {n}-grams" for n in (1, 2, 3, 4)},
    "METEOR": "corpus, words and their synonyms",
    "ROUGE_L": "mean, longest common subsequence",
    "CIDEr": "mean, CIDEr-D x 10 as all print it",
    "SPICE": "mean F of scene graphs, by spaCy's parser",
    "SPIDEr": "mean of CIDEr and SPICE",
    "Div1": "distinct words of an image's captions / words",
    "Div2": "distinct word pairs of an image's captions / words",
    **{f"mBLEU{n}": "BLEU among an image's captions: lower is more diverse" for n in (1, 2, 3, 4)},
    "self-CIDEr": "how far an image's captions spread",
    "vocabulary": "distinct words",
    "length": "words a caption",
    "unique": "% of captions that differ from all others",
    "bad_endings": "% of captions that end in a, the, of, ...",
    "Self-BLEU4": "likeness to other images' captions: lower is more diverse",
}


def score(
    references: Sequence[Path],
    candidates: Sequence[Path],
    split: str | None,
    metrics: Sequence[str] | None,
    official: bool,
    frequencies: Path | None,
    form: str,
    json_file: Path | None,
    per_image: bool,
) -> None:
    """Prints the scores (`systems.score_files`) as `form`: text, json, markdown or latex; and writes them as JSON if a
    file is named. `per_image`: with the scores of every caption in JSON."""
    if json_file is not None:
        # Before the work, which can take long.
        check_output(json_file, read=[path for path in (*references, *candidates) if path != STDIN])
    load_without_blas()
    counted = None if frequencies is None else DocumentFrequencies.read(frequencies)
    systems = score_files(references, candidates, Request(metrics, official, split, counted))
    lines = signatures(systems, official, counted)
    if json_file is not None:
        # Before anything is printed: the reader may be `head`, and gone.
        write_json(json_file, as_json(systems, lines, per_image))
    if form == "json":
        print(json.dumps(as_json(systems, lines, per_image), indent=2))
        return
    for system in systems:
        if system.notes:
            print(f"note: {system.name}: {'; '.join(system.notes)}", file=sys.stderr)
    show = {"text": as_text, "markdown": as_markdown, "latex": as_latex}[form]
    print(show(systems, lines))


def signatures(
    systems: Sequence[System], by_official: bool, frequencies: DocumentFrequencies | None = None
) -> dict[str, str]:
    """Shown name of a metric -> what its values depend on (`metrics.signatures`)."""
    references = span([number for system in systems for number in system.references])
    images = "/".join(dict.fromkeys(str(len(system.images)) for system in systems))
    engine = f"pycocoevalcap:{importlib.metadata.version('pycocoevalcap')}" if by_official else ENGINE
    counted = None if by_official else frequencies
    return {
        METRICS[name].shown: signature(name, images, references, counted, engine)
        for name in QUALITY
        if any(METRICS[name].shown in system.scores for system in systems)
    }


def as_text(systems: Sequence[System], signatures: Mapping[str, str]) -> str:
    """A table for reading, with a row per metric; quality and diversity are x100."""
    lines = []
    for system in systems:
        several = f", {system.captions} captions each" if system.captions > 1 else ""
        lines.append(f"{system.name}: {len(system.images):,} images{several}")
        if system.unpaired:
            lines.append(f"  not compared: {system.unpaired}")
    if len(systems) > 1:
        lines += [f"Differences are from {systems[0].name}, with 95% intervals (paired bootstrap); p: {TEST}.", ""]
    matrix = [["", *(system.name for system in systems), ""]] if len(systems) > 1 else []
    matrix += [
        [metric, *(_cell(system, metric) for system in systems), _says(systems, metric)] for metric in _metrics(systems)
    ]
    return "\n".join([*lines, *align(matrix), "", *signatures.values()])


def _says(systems: Sequence[System], metric: str) -> str:
    """What a row is in a few words, or why it is empty."""
    reason = next((system.reasons[metric] for system in systems if metric in system.reasons), "")
    if reason:
        return reason
    name, oracle, number = metric.partition(" oracle@")
    if oracle:
        return f"each image's best of {number} captions"
    return MEANINGS.get(name.removesuffix(" (spaCy)"), "")


def align(matrix: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table for reading."""
    widths = [max(map(len, column)) for column in zip(*matrix, strict=True)]
    rows = [[text.ljust(width) for text, width in zip(row, widths, strict=True)] for row in matrix]
    return [("  " + "  ".join(row)).rstrip() for row in rows]


def as_markdown(systems: Sequence[System], signatures: Mapping[str, str]) -> str:
    """A Markdown table with a row per system, and the signatures below it."""
    # The name of a file may hold a tag, which a page would follow.
    matrix = [[text.replace("<", "&lt;") for text in row] for row in _to_paste(systems, "system")]
    lines = [line.replace("\\*", "*") for line in markdown_table(matrix)]
    return "\n".join([*lines, "", *_note(systems), *(f"- `{line}`" for line in signatures.values())])


def as_latex(systems: Sequence[System], signatures: Mapping[str, str]) -> str:
    """A LaTeX table (package booktabs) with a row per system, and the signatures as comments."""
    matrix = _to_paste(systems, "")
    escaped = [["".join(LATEX.get(letter, letter) for letter in text) for text in row] for row in matrix]
    head, *body = (" & ".join(row) + r" \\" for row in escaped)
    columns = "l" + "r" * (len(matrix[0]) - 1)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    comments = [f"% {line}" for line in [*_note(systems), *signatures.values()]]
    return "\n".join([*lines, r"\end{tabular}", *comments])


def _to_paste(systems: Sequence[System], corner: str) -> list[list[str]]:
    """A row per system, with a star at what differs from the first."""
    metrics = [metric for metric in _metrics(systems) if any(metric in system.scores for system in systems)]
    return [
        [corner, *metrics],
        *([system.name, *(_marked(system, key) for key in metrics)] for system in systems),
    ]


def as_json(systems: Sequence[System], signatures: Mapping[str, str], per_image: bool) -> dict[str, Any]:
    """Everything, x1 scale; with `per_image` every caption's scores too."""
    return {
        system.name: {
            "images": len(system.images),
            "images_without_caption": system.missing,
            "captions_per_image": system.captions,
            "scores": {metric: asdict(score) for metric, score in system.scores.items()},
            "not_computed": system.reasons,
            "differences_from_the_first": {metric: asdict(value) for metric, value in system.differences.items()},
            "not_compared": system.unpaired,
            "notes": list(system.notes),
            "signatures": {metric: line for metric, line in signatures.items() if metric in system.scores},
            **({"captions": caption_scores(system)} if per_image else {}),
        }
        for system in systems
    }


def caption_scores(system: System) -> list[dict[str, Any]]:
    """Every caption with its own scores, the best of an image first."""
    number = system.captions
    # Some metrics have one value for all captions of an image.
    per_caption = {
        metric: values.per_caption.tolist()
        for metric, values in system.measured.items()
        if len(values.per_caption) == number * len(system.images)
    }
    rows = []
    for place, (image_id, texts) in enumerate(zip(system.images, system.texts, strict=True)):
        for rank, tokens in enumerate(texts):
            scores = {metric: values[place * number + rank] for metric, values in per_caption.items()}
            rows.append({"image_id": image_id, "rank": rank, "caption": " ".join(tokens)} | scores)
    return rows


def _metrics(systems: Sequence[System]) -> list[str]:
    """The metrics that a system has a value of, or a reason why not, in the first one's order."""
    return list(dict.fromkeys(metric for system in systems for metric in [*system.scores, *system.reasons]))


def _cell(system: System, metric: str) -> str:
    if metric not in system.scores:
        return "       –"
    scale, score = _scale(metric), system.scores[metric]
    text = f"{score.value * scale:8.2f}"
    if score.low is not None and score.high is not None:
        text += f"  [{score.low * scale:6.2f}, {score.high * scale:6.2f}]"
    if metric in system.differences:
        difference = system.differences[metric]
        p = f"{difference.p_value:.3f}" if difference.p_value >= 0.001 else "<.001"
        interval = f"[{difference.low * scale:+.2f}, {difference.high * scale:+.2f}]"
        text += f"  {difference.value * scale:+.2f} {interval}, p {p}"
    return text


def _marked(system: System, metric: str) -> str:
    if metric not in system.scores:
        return "–"
    difference = system.differences.get(metric)
    differs = difference is not None and difference.p_value < SIGNIFICANT
    return f"{system.scores[metric].value * _scale(metric):.2f}{'*' if differs else ''}"


def _note(systems: Sequence[System]) -> list[str]:
    note = [f"* differs from {systems[0].name}, p < {SIGNIFICANT} ({TEST})", ""]
    return note if len(systems) > 1 else []


def _scale(metric: str) -> int:
    return 1 if metric in UNSCALED else 100
