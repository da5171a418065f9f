"""mkdocs calls this to write the pages of the programming interface, one per objective, reward and metric: its
docstring, its settings, what it costs, and a learning curve where a committed run has one. `make docs` builds them."""

import csv
import importlib
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from ruamel.yaml import YAML

from seqcap.system.modules import list_modules

ROOT = Path(__file__).parents[1]
# Page -> what it shows, by the name in Python.
LIBRARY = {
    "evaluate": ["evaluate", "compare", "library.evaluation.Evaluation", "library.evaluation.Comparison"],
    "CaptionReward": ["CaptionReward"],
    "TokenReward": ["TokenReward"],
    "CLIPScore": ["clip_score", "ClipReward", "library.clipscore.Encoder"],
    "DocumentFrequencies": ["DocumentFrequencies"],
    "pycocoevalcap's classes": ["coco"],
}
REWARDS = {
    "CIDEr-D": ["rewards.ciderd"],
    "BLEU": ["rewards.bleu", "rewards.corpus.bleu_from_statistics"],
    "ROUGE-L": ["rewards.rouge"],
    "METEOR": ["rewards.meteor"],
    "SPICE": ["rewards.spice", "spice.matching"],
    "SPIDEr and other sums": ["rewards.mixture"],
}
METRICS = {
    "BLEU, METEOR, ROUGE-L, CIDEr, SPICE": ["metrics.quality"],
    "SPICE (spaCy)": ["metrics.spice"],
    "Div-1 and Div-2": ["metrics.diversity.distinct_ngrams"],
    "mBLEU": ["metrics.diversity.mutual_bleu"],
    "self-CIDEr": ["metrics.diversity.self_cider"],
    "Self-BLEU": ["metrics.diversity.self_bleu"],
    "Novel captions": ["metrics.diversity.novel"],
    "Unique captions": ["metrics.diversity.unique"],
    "Vocabulary": ["metrics.diversity.vocabulary_size"],
    "Length": ["metrics.diversity.mean_length"],
    "Bad endings": ["metrics.diversity.bad_endings"],
    "Repeated bigrams": ["metrics.diversity.repeated_bigrams"],
    "Intervals and p-values": ["metrics.significance"],
}
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
WIDTH, HEIGHT = 400, 120  # of a curve, in points


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for section, pages in (("library", LIBRARY), ("rewards", REWARDS), ("metrics", METRICS)):
        for title, names in pages.items():
            text = f"# {title}\n\n" + "\n\n".join(f"::: seqcap.{name}" for name in names)
            if section == "rewards":
                text += cost_of_reward(title)
            files.append(File.generated(config, f"{section}/{file_name(title)}.md", content=text))
    for name in list_modules("seqcap.objectives"):
        files.append(File.generated(config, f"objectives/{name}.md", content=objective_page(name)))
    return files


def objective_page(name: str) -> str:
    title = name.replace("_", " ").capitalize()
    parts = [f"# {title}", f"::: seqcap.objectives.{name}\n    options:\n      show_root_heading: false"]
    parts.append("## Settings\n\n" + settings_table(name))
    parts.append("## What it costs, and a curve\n\n" + "\n\n".join(measured(name)))
    return "\n\n".join(parts)


def settings_table(name: str) -> str:
    """The fields of the objective's `Config`; parts of it have names with a point."""
    schema = importlib.import_module(f"seqcap.objectives.{name}").Config.model_json_schema()
    rows = [
        f"| `{field}` | {default} | {allowed} | {meaning} |"
        for field, default, allowed, meaning in fields_of(schema, schema.get("$defs", {}), "")
    ]
    if not rows:
        return "None."
    return "\n".join(["| setting | default | allowed | meaning |", "|---|---|---|---|", *rows])


def fields_of(schema: dict[str, Any], parts: dict[str, Any], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for field, properties in schema.get("properties", {}).items():
        if "$ref" in properties:
            yield from fields_of(parts[properties["$ref"].rpartition("/")[2]], parts, f"{prefix}{field}.")
            continue
        limits = [f"{sign} {properties[limit]:g}" for limit, sign in LIMITS.items() if limit in properties]
        choices = [str(choice) for choice in properties.get("enum", [])]
        default = json.dumps(properties["default"]) if "default" in properties else "required"
        meaning = properties.get("description", "").replace("|", "\\|")
        yield prefix + field, default, ", ".join(limits + choices), meaning


def measured(objective: str) -> list[str]:
    """Minutes and curve of the first committed run with this objective, those on the common captioner first."""
    for paper in ("across", "sle", "smoothing", "spider", "psst", "wtfrl"):
        for run in runs_of(paper, objective):
            points = curve(paper, run)
            if points:
                return [cost_of_run(paper, run), drawn(points), "*CIDEr of greedy captions, validation, by update.*"]
    return ["No run of the committed reports has it."]


def runs_of(paper: str, objective: str) -> list[str]:
    runs = YAML(typ="safe").load(ROOT / f"papers/{paper}/runs.yaml")["runs"]
    return [run for run, entry in runs.items() if entry.get("objective") == objective]


def curve(paper: str, run: str) -> list[tuple[int, float]]:
    """CIDEr on the validation split by update, the mean over seeds."""
    values: dict[int, list[float]] = defaultdict(list)
    with (ROOT / f"reports/{paper}/results/curves.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["run"] == run and row["quantity"] == "val_cider":
                values[int(row["step"])].append(float(row["value"]))
    return [(step, fmean(found)) for step, found in sorted(values.items())]


def cost_of_run(paper: str, run: str) -> str:
    provenance = json.loads((ROOT / f"reports/{paper}/results/provenance.json").read_text(encoding="utf-8"))
    minutes, machine = provenance["minutes"], provenance["processor"]
    if run not in minutes:
        return f"The run `{run}` was not timed alone."
    text = f"The run `{run}` took {minutes[run]:g} minutes on one core ({machine}, scale {provenance['scale']})"
    if paper == "across" and run != "across_xe":
        text += f"; cross-entropy of the same captioner {minutes['across_xe']:g}"
    return text + "."


def drawn(points: list[tuple[int, float]]) -> str:
    """A line with its first and last value."""
    steps, values = zip(*points, strict=True)
    low, high = min(values), max(values)
    width, height = max(steps[-1] - steps[0], 1), max(high - low, 1e-9)
    path = " ".join(
        f"{(step - steps[0]) / width * WIDTH:.0f},{HEIGHT - (value - low) / height * HEIGHT:.0f}"
        for step, value in points
    )
    line = f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="2"/>'
    box = f'<svg viewBox="-4 -4 {WIDTH + 8} {HEIGHT + 8}" width="{WIDTH}" role="img" aria-label="learning curve">'
    return f"{values[0]:.3g} → {values[-1]:.3g} ({steps[0]} → {steps[-1]} updates)\n\n{box}{line}</svg>"


def cost_of_reward(title: str) -> str:
    """The rows of the committed benchmark that name it."""
    results = json.loads((ROOT / "benchmarks/results/rewards.json").read_text(encoding="utf-8"))
    name = title.split(maxsplit=1)[0]
    rows = [row for row in results["rows"] if row["measured"].startswith(name)]
    lines = [f"| {row['measured']} | {row['seqcap']:,.0f} {row['unit']} |" for row in rows]
    return "\n\n## What it costs\n\nOne core, COCO's captions.\n\n" + "\n".join(["| | |", "|---|---:|", *lines])


def file_name(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())
