"""The base install: the wheel in an empty environment, with NumPy and numba alone, scores captions; the rest names its
extra."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from seqcap.errors import InputError
from seqcap.system.extras import EXTRAS, extras_named

ROOT = Path(__file__).parents[1]
REFERENCES = {"a": ["a man rides a horse", "the man is on a horse"], "b": ["two cats sit on a mat"], "c": ["a bus"]}
CAPTIONS = {"a": "a man rides a horse", "b": "cats on a mat", "c": "a red bus"}


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new environment with the installed wheel, NumPy and numba, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in ("numpy", "numba", "llvmlite"):
        found = importlib.util.find_spec(name)
        for path in Path(found.origin).parents[1].glob(name + "*"):
            if path.name in (name, f"{name}.libs"):
                (packages / path.name).symlink_to(path)
    (file,) = wheel.parent.glob("*.whl")
    command = ["-m", "pip", "--python", folder, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", file]
    subprocess.run([sys.executable, *command], check=True)
    return folder


def run(environment, program, *arguments):
    """Runs a program of the environment, without Java; functions are not compiled, which takes half a minute."""
    variables = {"PATH": "", "NUMBA_DISABLE_JIT": "1", "HOME": str(environment)}
    command = [environment / "bin" / program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, cwd=environment)


def test_captions_are_scored_without_torch_java_or_dvc(environment):
    code = f"""
import importlib.util, json, seqcap
assert seqcap.__file__.startswith({str(environment)!r})
assert not any(map(importlib.util.find_spec, ("torch", "dvc", "pycocoevalcap", "pyarrow", "pydantic")))
found = seqcap.evaluate({CAPTIONS}, {REFERENCES})
reward = seqcap.CaptionReward("cider", {REFERENCES})
paid = reward(["a man rides a horse"], image_id=["a"])
scores = seqcap.coco.Cider().compute_score({REFERENCES}, {{i: [c] for i, c in {CAPTIONS}.items()}})[1].tolist()
print(json.dumps([found.per_item["CIDEr"].tolist(), scores, paid, dict(found.reasons)]))
"""
    done = run(environment, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    per_item, scores, paid, reasons = json.loads(done.stdout)
    assert per_item == scores
    assert min(scores) > 1
    assert paid[0] > 3
    assert reasons["METEOR"].endswith("pip install 'seqcap[meteor]'")
    assert reasons["SPICE"].endswith("pip install 'seqcap[spice]'")


def test_the_command_scores_and_names_extras(environment, tmp_path):
    for name, content in (("r.json", REFERENCES), ("c.json", CAPTIONS)):
        (tmp_path / name).write_text(json.dumps(content))
    files = ("--references", tmp_path / "r.json", "--candidates", tmp_path / "c.json")
    done = run(environment, "seqcap", "score", *files)
    assert done.returncode == 0, done.stderr
    assert "CIDEr" in done.stdout
    assert re.search(r"(?m)^  METEOR +– +needs pycocoevalcap, .*: pip install 'seqcap\[meteor\]'$", done.stdout)
    named = run(environment, "seqcap", "score", *files, "--metrics", "meteor")
    assert (named.returncode, named.stderr.count("\n")) == (2, 1)
    assert named.stderr.rstrip().endswith("pip install 'seqcap[meteor]'")
    repro = run(environment, "seqcap", "repro")
    assert (repro.returncode, repro.stderr.count("\n")) == (2, 1)
    assert repro.stderr.rstrip().endswith("which is not installed; pip install 'seqcap[pipeline]'")


def test_the_wheel_says_that_it_is_typed(wheel):
    assert (wheel / "seqcap/py.typed").is_file()
    metadata = next(wheel.glob("*.dist-info/METADATA")).read_text()
    needed = {line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line}
    assert {line.split(": ")[1].split(">")[0] for line in needed} == {"numba", "numpy"}


def test_extras_are_those_of_the_project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = set(tomllib.load(file)["project"]["optional-dependencies"])
    # The package itself imports nothing of these.
    assert listed - {"test", "trl", "docs"} == set(EXTRAS)
    needed = r"seqcap repro: needs dvc, .*; pip install 'seqcap\[pipeline\]'"
    with pytest.raises(InputError, match=needed), extras_named("seqcap repro"):
        raise ModuleNotFoundError("No module named 'dvc'", name="dvc")
    with pytest.raises(ModuleNotFoundError), extras_named("seqcap repro"):
        raise ModuleNotFoundError("No module named 'other'", name="other")
    assert os.environ.get("NUMBA_DISABLE_JIT") is None
