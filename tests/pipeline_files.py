"""A copy of the project with parameters so small that the whole graph runs in about a minute."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
TINY: dict[str, Any] = {
    "scenes": {"train": 60, "val": 12, "test": 12, "server": 8, "size": 32, "captions": 5, "server_captions": 10},
    "features": {"epochs": 1, "grid": 2, "batch_size": 16, "image_size": 32},
    "captioners": {
        "lstm": {"seeds": 2, "model": {"hidden": 16}, "pretrain": {"epochs": 6}},
        "attention": {"seeds": 1, "model": {"hidden": 16}, "pretrain": {"epochs": 6}},
    },
    "parallel": {"train": 200, "val": 20, "test": 20},
    "embeddings": {"glove": {"dimension": 8, "epochs": 5}},
    "translators": {
        name: {"model": {"embedding": 8, "hidden": 16, "readout": 8}, "pretrain": {"epochs": 2}}
        for name in ("translator_de_en", "translator_en_fr")
    },
    "sle": {"training": {"epochs": 1, "batch_size": 20}},
    "spider": {"seeds": 1, "training": {"epochs": 1, "batch_size": 20}, "variance": {"images": 4, "replicates": 3}},
    "smoothing": {
        "captions": {"training": {"epochs": 1}},
        "translation": {"training": {"epochs": 1}},
        "server": {"seeds": 2},
    },
}
# One variant per kind of stage: cross-entropy itself, exploration, attention; SPICE as a reward, MIXER; and two groups.
KEPT = {"sle": {"xe", "sll_sle", "sll_sle_att"}, "spider": {"mle", "pg_spider", "mixer_bcmr"}}
GROUPS = {
    "captions": {"token": {"mle", "tok_rfreq"}, "token_sequence": {"tok_seq_cider_refs"}},
    "translation": {"token": {"mle"}, "token_sequence": {"tok_seq_bleu4_batch"}},
}
SYSTEMS = {"captions": ["lstm"], "translation": ["translator_de_en"]}


def merge(params: dict[str, Any], changes: dict[str, Any]) -> None:
    """Replaces values of `params` by those of `changes`."""
    for key, value in changes.items():
        if isinstance(value, dict) and "laptop" not in params[key]:
            merge(params[key], value)
        else:
            params[key] = value


def copy_project(folder: Path) -> Path:
    """Code, graph and tiny parameters in `folder`, as a git repository of its own."""
    # With what numba has compiled: half a minute.
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copytree(ROOT / "stages", folder / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / ".dvc", folder / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    for name in ("dvc.yaml", ".dvcignore", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    params = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    merge(params, TINY)
    for paper, kept in KEPT.items():
        params[paper]["variants"] = {name: v for name, v in params[paper]["variants"].items() if name in kept}
    for half, groups in GROUPS.items():
        params["smoothing"][half]["captioners"] = SYSTEMS[half]
        params["smoothing"][half]["losses"] = {
            group: {name: loss for name, loss in params["smoothing"][half]["losses"][group].items() if name in kept}
            for group, kept in groups.items()
        }
    write_params(folder, params)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "tiny")
    return folder


def write_params(folder: Path, params: dict[str, Any]) -> None:
    with (folder / "params.yaml").open("w") as file:
        YAML().dump(params, file)


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def start(folder: Path, *command: str) -> "subprocess.Popen[str]":
    """Starts `python -m <command>` in the copy, with the copy's own code."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def run(folder: Path, *command: str) -> str:
    """The output of `start`; it must succeed."""
    process = start(folder, *command)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output
