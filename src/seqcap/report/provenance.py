"""Where results come from: commit, day, machine, versions, data, seeds and minutes. All of it differs from run to run,
so it is in a file of its own, and nothing that is computed depends on it."""

import platform
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from ruamel.yaml import YAML

from seqcap.config import config_path
from seqcap.files.json_file import read_json
from seqcap.report.reported import PaperConfig, ReportedRun
from seqcap.system import hardware, scratch
from seqcap.tasks import ARTIFACTS
from seqcap.version import __version__

# Group of runs -> the seconds per epoch of each run's first seed, as `train` measures them.
TIMING = ARTIFACTS / "timing"
# In the clone that an experiment runs in, the experiment's file.
EXPERIMENT = ARTIFACTS / "experiment.json"
# Files and folders of the package that no stage runs.
UNREAD = ("pipeline", "tools", "library", "coco.py", "cli.py", "cli.toml", "__main__.py")
# What decides the numbers of a run; git tracks these. An experiment changes the parameters.
_CODE = (
    *("src", *(f":(exclude)src/seqcap/{name}" for name in UNREAD)),
    *("stages", "scales", "papers/*/scales", "requirements.txt"),
)
_PARAMETERS = ("params.yaml", "papers/*/runs.yaml")
_LISTED = 3  # how many changed files are named
# The order in which they are told.
_VERSIONS = ("Python", "torch", "numpy")
_SPLITS = ("train", "val", "test")
_STARTS = ("encoder-", "pretrain-", "retriever-")  # begin the names of stages that train what runs start from
NOT_RECORDED = "not recorded"


def measure(config: PaperConfig) -> dict[str, Any]:
    """Where the results of a paper's stage come from: provenance.json. None stands for what is not known."""
    runs = [run for run in config.runs if not run.members]
    minutes = {run.name: _minutes(run) for run in runs}
    known = {name: value for name, value in minutes.items() if value is not None}
    trained = sum(known[run.name] * len(run.seeds) for run in runs if run.name in known)
    experiment = read_json(EXPERIMENT)["experiment"] if EXPERIMENT.is_file() else None
    deciding = _CODE if experiment else (*_CODE, *_PARAMETERS)
    return {
        "commit": _commit_of(*_CODE, *_PARAMETERS),
        "experiment": experiment,
        "changed": [line[3:] for line in _output("git", "status", "--porcelain", "--", *deciding).splitlines()],
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "scale": config.scale,
        **hardware.this_machine(),
        "trained_on": _trained_on(runs),
        "versions": {
            "Python": platform.python_version(),
            **{package: version(package) for package in ("torch", "numpy")},
            "seqcap": __version__,
        },
        "data": [
            {
                "task": task,
                "name": config.tasks[task].dataset,
                "kind": config.tasks[task].kind,
                "sizes": _sizes(task),
                "words": _words(task),
                "seeds": sorted({seed for run in runs if run.task == task for seed in run.seeds}),
            }
            for task in dict.fromkeys(run.task for run in runs)
        ],
        **_models(runs),
        "minutes": known,  # of training, of one seed of each run
        "minutes_of_training": round(trained, 3) if known else None,
        # Such as a run that had ended before its stage was interrupted, and went on in another process.
        "untimed": [run.name for run in runs if run.epochs and run.name not in known],
        **_everything(config.paper),
    }


def _models(runs: Sequence[ReportedRun]) -> dict[str, Any]:
    """The captioners of some runs, and the encoders of their pictures, with their sizes, as they were configured; {} of
    those whose configurations are not here."""
    captioners, encoders = dict[str, Any](), dict[str, Any]()
    for run in runs:
        trained, seen = config_path("train", Path(run.weights).parent.name), config_path("encoder", run.task)
        if trained.is_file():
            named = {of["name"]: of for of in read_json(trained)["runs"]}
            if run.name in named:
                own = named[run.name]
                captioners[run.captioner] = {"architecture": own["architecture"], **own["model"]}
        if seen.is_file():
            encoder = read_json(seen)
            encoders[run.task] = {key: encoder[key] for key in ("backbone", "weights")}
    return {"captioners": captioners, "encoders": encoders}


def minutes_of_training(provenance: Mapping[str, Any]) -> str:
    """ "39 or more": of all runs together, where the time of some was not measured; "" where none was."""
    minutes = provenance["minutes_of_training"]
    return "" if not minutes else f"{minutes:,.0f}" + " or more" * bool(provenance.get("untimed"))


def _commit_of(*paths: str) -> str | None:
    """The last commit that has changed some paths: what came after it decides no number."""
    return _output("git", "log", "-1", "--format=%h", "--abbrev=12", "--", *paths) or None


def _everything(paper: str) -> dict[str, Any]:
    """The minutes that all stages before a paper's page took, and which of these are not known: they ran elsewhere."""
    files = {name: scratch.TIMING / f"{name}.json" for name in before(paper)}
    seconds = [read_json(path)["seconds"] for path in files.values() if path.is_file()]
    return {
        "minutes_of_everything": round(sum(seconds) / 60, 3) if seconds else None,
        "minutes_of_starts": {
            name: round(read_json(path)["seconds"] / 60, 3)
            for name, path in files.items()
            if name.startswith(_STARTS) and path.is_file()
        },
        "not_timed": [name for name, path in files.items() if not path.is_file()],
    }


def before(paper: str) -> list[str]:
    """The stages that a paper's page depends on."""
    stages: dict[str, Any] = {}
    for path in (Path("dvc.yaml"), Path("papers") / paper / "dvc.yaml"):
        if path.is_file():
            stages |= YAML(typ="safe").load(path.read_text(encoding="utf-8"))["stages"]
    writes = {name: _written(stage) for name, stage in stages.items()}
    ahead, needed = [f"section-{paper}"], dict[str, None]()
    while ahead:
        reads = [Path(path) for path in stages.get(ahead.pop(), {}).get("deps", [])]
        for name, paths in writes.items():
            shared = any(path.is_relative_to(read) or read.is_relative_to(path) for path in paths for read in reads)
            if shared and name not in needed:
                needed[name] = None
                ahead.append(name)
    return sorted(needed)


def _written(stage: Mapping[str, Any]) -> list[Path]:
    """The outputs of a stage of dvc.yaml; some have settings."""
    entries = [*stage.get("outs", []), *stage.get("plots", [])]
    return [Path(entry if isinstance(entry, str) else next(iter(entry))) for entry in entries]


def _trained_on(runs: Sequence[ReportedRun]) -> list[dict[str, Any]]:
    """The machines that have trained some runs, each once, as far as it was noted."""
    groups = dict.fromkeys(Path(run.weights).parent.name for run in runs)
    noted = [hardware.noted(f"train-{group}") for group in groups]
    return [machine for at, machine in enumerate(noted) if machine is not None and machine not in noted[:at]]


def _minutes(run: ReportedRun) -> float | None:
    path = TIMING / f"{Path(run.weights).parent.name}.json"
    seconds = read_json(path).get(run.name) if path.is_file() else None
    return None if seconds is None else round(seconds * run.epochs / 60, 3)


def _sizes(task: str) -> dict[str, int]:
    """How many images or sentences each split of a task has; {} where the data are not here."""
    for name in ("images", "pairs"):
        path = ARTIFACTS / task / f"data/{name}.parquet"
        if path.is_file():
            return dict(Counter(pq.ParquetFile(path).read(columns=["split"])["split"].to_pylist()))
    return {}


def _words(task: str) -> dict[str, float]:
    """What the training captions, or translations, of a task are like; {} where there are none here.

    Returns:
        How many different words they have; how many words one has, in the mean; and how many different ones there are,
        as a share of all.
    """
    for name, column in (("references", "tokens"), ("pairs", "reference")):
        path = ARTIFACTS / task / f"data/{name}.parquet"
        if path.is_file():
            rows = pq.ParquetFile(path).read(columns=["split", column])
            of_split = zip(rows["split"].to_pylist(), rows[column].to_pylist(), strict=True)
            texts = [tuple(tokens) for split, tokens in of_split if split == "train"]
            if not texts:
                return {}  # a dataset that is only captioned
            words = Counter(chain.from_iterable(texts))
            return {
                "different": len(words),
                "per_text": round(words.total() / len(texts), 2),
                "different_texts": round(len(set(texts)) / len(texts), 4),
            }
    return {}


def _output(*command: str) -> str:
    """What a program says; "" without it, or if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip("\n") if done.returncode == 0 else ""


def in_words(provenance: Mapping[str, Any]) -> dict[str, str]:
    """What provenance.json says of the code, the machine and the minutes, as cells of a table."""
    libraries = {name: number for name, number in provenance["versions"].items() if name != "seqcap"}
    versions = [f"{name} {number}" for name, number in _ordered(libraries, _VERSIONS)]
    return {
        "commit": _commit(provenance),
        "release": provenance["versions"].get("seqcap", NOT_RECORDED),
        "day": provenance["day"] or NOT_RECORDED,
        "processor": _processor(provenance),
        "versions": ", ".join(versions) or NOT_RECORDED,
        "runs": str(len(provenance["minutes"]) + len(provenance.get("untimed", [])) or NOT_RECORDED),
        "training": minutes_of_training(provenance) or NOT_RECORDED,
        "everything": _everything_in_words(provenance),
    }


def data_in_words(data: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What provenance.json says of its data, as rows of a table. Tasks that only differ in training items share one."""
    alike = dict[str, list[Mapping[str, Any]]]()
    for task in data:
        others = {split: number for split, number in task["sizes"].items() if split != "train"}
        alike.setdefault(repr([task["kind"], task["name"], task["seeds"], others]), []).append(task)
    return [_row_of_data(tasks) for tasks in alike.values()]


def models_in_words(provenance: Mapping[str, Any]) -> list[str]:
    """What provenance.json says of encoders and captioners, a line each."""
    lines = [
        f"Encoder of `{task}`: {encoder['backbone']}, weights of {encoder['weights']}; it learns no further"
        for task, encoder in provenance["encoders"].items()
    ]
    for name, sizes in provenance["captioners"].items():
        told = [f"{key} {value}" for key, value in sizes.items() if key != "architecture"]
        lines.append(f"Captioner `{name}`: {', '.join([sizes['architecture'], *told])}")
    return lines


def _row_of_data(tasks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    first = tasks[0]
    kind = ", sentences" if first["kind"] == "sentences" else ""
    sizes = []
    for split, _ in _ordered(first["sizes"], _SPLITS):
        numbers = dict.fromkeys(f"{task['sizes'][split]:,}" for task in tasks)
        sizes.append(f"{' or '.join(numbers)} {split}")
    # Older results do not say it.
    words = dict.fromkeys(_words_in_words(task["words"]) for task in tasks if task.get("words"))
    names = ", ".join(f"`{task['task']}`" for task in tasks)
    return {
        "name": f"{first['name']}{kind} ({names})",
        "sizes": "; ".join([", ".join(sizes) or NOT_RECORDED, *words]),
        "seeds": ", ".join(map(str, first["seeds"])) or NOT_RECORDED,
    }


def _words_in_words(words: Mapping[str, float]) -> str:
    different, per_text, texts = (words[key] for key in ("different", "per_text", "different_texts"))
    return f"{different:,} words, {per_text:.1f} a text, {texts:.0%} differ"


def _ordered(content: Mapping[str, Any], order: Sequence[str]) -> list[tuple[str, Any]]:
    """The entries of a JSON object, those of `order` first."""
    names = [*(name for name in order if name in content), *(name for name in content if name not in order)]
    return [(name, content[name]) for name in names]


def _commit(provenance: Mapping[str, Any]) -> str:
    commit = f"`{provenance['commit']}`" if provenance["commit"] else NOT_RECORDED
    file = provenance["experiment"]
    experiment = f", with {file}, which says how its settings were chosen" if file else ""
    changed = provenance["changed"]
    more = f" and {len(changed) - _LISTED} more" if len(changed) > _LISTED else ""
    changes = f", with uncommitted changes in {', '.join(changed[:_LISTED])}{more}" if changed else ""
    return commit + experiment + changes


def _processor(provenance: Mapping[str, Any]) -> str:
    """The machine that has made the page and, where they are others, those that have trained."""
    if not provenance["processor"]:
        return NOT_RECORDED
    here = _machine(provenance)
    # Older results do not say it.
    trainers = [(_machine(machine), machine["torch"]) for machine in provenance.get("trained_on", ())]
    others = [f"{machine}, torch {torch}" for machine, torch in trainers if machine != here]
    return f"{here}; trained on {' and '.join(others)}" if others else here


def _machine(machine: Mapping[str, Any]) -> str:
    """A GPU by its name, a processor with its cores and instruction set."""
    if machine["cores"] is None:
        return str(machine["processor"])
    instructions = machine["instructions"] or f"instruction set {NOT_RECORDED}"
    return f"{machine['processor']}, {machine['cores']} cores, {instructions}"


def _everything_in_words(provenance: Mapping[str, Any]) -> str:
    """Without the time of some stages the others' says nothing of what all of it takes. Of a stage that was killed and
    went on only the last time is known: then its runs took longer than there was on all cores."""
    absent, everything = len(provenance["not_timed"]), provenance["minutes_of_everything"]
    if everything is None:
        return NOT_RECORDED
    if absent:
        return f"{absent} stage{'s' if absent > 1 else ''} not timed"
    went_on = bool((provenance["minutes_of_training"] or 0) > everything * (provenance["cores"] or 1))
    return f"{everything:.1f}" + " or more" * went_on
