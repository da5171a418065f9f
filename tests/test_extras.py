"""The base install: from the wheel, with NumPy and numba alone, captions are scored; the rest names its extra."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from seqcap.errors import InputError
from seqcap.system.extras import EXTRAS, extras_named

ROOT = Path(__file__).parents[1]
# Imports nothing but NumPy, numba and Python's own modules.
ALONE = """
import sys
BASE = {"numpy", "numba", "llvmlite", "seqcap", *sys.stdlib_module_names}
class Alone:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in BASE and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Alone())
"""
REFERENCES = {"a": ["a man rides a horse", "the man is on a horse"], "b": ["two cats sit on a mat"], "c": ["a bus"]}
CAPTIONS = {"a": "a man rides a horse", "b": "cats on a mat", "c": "a red bus"}


def run(wheel, code, *arguments):
    """Runs code with the wheel alone, without Java; functions are not compiled, which takes half a minute."""
    environment = {"PATH": "", "PYTHONPATH": str(wheel), "NUMBA_DISABLE_JIT": "1", "HOME": str(wheel)}
    command = [sys.executable, "-W", "ignore", "-c", ALONE + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=wheel)


def test_captions_are_scored_without_torch_java_or_dvc(wheel):
    code = f"""
import json, seqcap
assert seqcap.__file__.startswith({str(wheel)!r})
found = seqcap.evaluate({CAPTIONS}, {REFERENCES})
reward = seqcap.CaptionReward("cider", {REFERENCES})
paid = reward(["a man rides a horse"], image_id=["a"])
scores = seqcap.coco.Cider().compute_score({REFERENCES}, {{i: [c] for i, c in {CAPTIONS}.items()}})[1].tolist()
print(json.dumps([found.per_item["CIDEr"].tolist(), scores, paid, dict(found.reasons)]))
"""
    done = run(wheel, code)
    assert done.returncode == 0, done.stderr
    per_item, scores, paid, reasons = json.loads(done.stdout)
    assert per_item == scores
    assert min(scores) > 1
    assert paid[0] > 3
    assert reasons["METEOR"].endswith("pip install 'seqcap[meteor]'")
    assert reasons["SPICE"].endswith("pip install 'seqcap[spice]'")


def test_the_command_scores_and_names_extras(wheel, tmp_path):
    for name, content in (("r.json", REFERENCES), ("c.json", CAPTIONS)):
        (tmp_path / name).write_text(json.dumps(content))
    command = "sys.argv[0] = 'seqcap'\nfrom seqcap.cli import main\nmain()"
    files = ("--references", tmp_path / "r.json", "--candidates", tmp_path / "c.json")
    done = run(wheel, command, "score", *files)
    assert done.returncode == 0, done.stderr
    assert "CIDEr" in done.stdout
    assert re.search(r"(?m)^  METEOR +– +needs pycocoevalcap, .*: pip install 'seqcap\[meteor\]'$", done.stdout)
    named = run(wheel, command, "score", *files, "--metrics", "meteor")
    assert (named.returncode, named.stderr.count("\n")) == (2, 1)
    assert named.stderr.rstrip().endswith("pip install 'seqcap[meteor]'")
    repro = run(wheel, command, "repro")
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
