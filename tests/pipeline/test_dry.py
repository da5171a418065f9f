"""`seqcap repro --dry`: what an edit has changed, what follows, and what is merely absent. It writes nothing."""

import hashlib
import json
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from dvc.repo import Repo
from parameter_files import ROOT, ParameterFiles
from pipeline_files import commit, git
from small_checkout import run

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.pipeline.configure import resolve, write_configs, write_graph
from seqcap.pipeline.dry import dry_run
from seqcap.pipeline.params import read_params
from seqcap.pipeline.repro import sections

PUBLISHED = [f"reports/{experiment}/claims.csv" for experiment in ("flickr8k", "multi30k")]
WEIGHTS = b"weights"
CACHED = "starts/encoder/image.safetensors"


def md5(content):
    return hashlib.md5(content).hexdigest()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A clone of a checkout whose whole graph has run: parameters, graph and dvc.lock; one file is in its cache."""
    folder = tmp_path_factory.mktemp("ran")
    ParameterFiles(folder)
    for name in (".dvc/config", ".dvcignore", ".gitignore", *PUBLISHED):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    write_graph(folder)
    params = read_params(folder)
    write_configs(resolve(params), params, folder / "configs", folder / "machine.json")

    def record(path):
        content = WEIGHTS if path == CACHED else (folder / path).read_bytes() if (folder / path).is_file() else b""
        return {"path": path, "hash": "md5", "md5": md5(content)}

    locks = defaultdict(dict)
    with Repo(str(folder)) as repo:
        for stage in repo.index.stages:
            locks[Path(stage.path).with_name("dvc.lock")][stage.name] = {
                "cmd": stage.cmd,
                "deps": [record(dep.def_path) for dep in stage.deps],
                "outs": [record(out.def_path) for out in stage.outs],
            }
    for path, stages in locks.items():
        write_json(path, {"schema": "2.0", "stages": stages})
    shutil.rmtree(folder / "configs")
    (folder / "machine.json").unlink()
    commit(folder, "all")
    cached = folder / ".dvc/cache/files/md5" / md5(WEIGHTS)[:2] / md5(WEIGHTS)[2:]
    cached.parent.mkdir(parents=True)
    cached.write_bytes(WEIGHTS)
    return folder


@pytest.fixture
def clone(ran, tmp_path, monkeypatch):
    folder = tmp_path / "clone"
    shutil.copytree(ran, folder, ignore=shutil.ignore_patterns("tmp"))
    monkeypatch.chdir(folder)
    return folder


def all_files(folder):
    """Path -> content and time of every file but those of DVC's own bookkeeping."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(folder / ".dvc/tmp")]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def edit(name, pattern, value):
    text = Path(name).read_text()
    assert re.search(pattern, text)
    Path(name).write_text(re.sub(pattern, value, text, count=1))


def test_an_untouched_clone_has_changed_nothing(clone):
    before = all_files(clone)
    locks = [Path("dvc.lock"), *Path("papers").glob("*/dvc.lock")]
    stages = sum(len(json.loads(path.read_text())["stages"]) for path in locks) - 1
    assert dry_run() == [
        "changed: no stages",
        f"absent here: 1 would be taken from DVC's cache, {stages - 1} would run",
        f"up to date: 0 of {stages} stages",
    ]
    assert run(clone, "seqcap", "repro", "--dry") == (0, "".join(f"{line}\n" for line in dry_run()))
    assert all_files(clone) == before
    # Only what one paper needs.
    assert f"of {stages}" not in dry_run(sections(["sle"]))[-1]
    with pytest.raises(InputError, match="there is no section 'none'; allowed: across, psst, "):
        dry_run(sections(["none"]))


def test_an_edit_is_told_from_what_is_absent(clone):
    edit("params.yaml", r"\nalpha: \S+", "\nalpha: 0.5")
    # Code is part of a configuration; this one is of other code.
    lock = json.loads(Path("papers/spider/dvc.lock").read_text())
    changed = next(dep for dep in lock["stages"]["variance-spider_variance"]["deps"] if "configs/" in dep["path"])
    changed["md5"] = md5(b"other")
    write_json("papers/spider/dvc.lock", lock)
    lock = json.loads(Path("dvc.lock").read_text())
    del lock["stages"]["probe-clip"]
    write_json("dvc.lock", lock)
    Path(CACHED).parent.mkdir(parents=True)
    Path(CACHED).write_bytes(WEIGHTS)
    before = all_files(clone)
    lines = dry_run()
    assert all_files(clone) == before
    # A long line goes on in the next ones, which are indented by more.
    head, *said = "\n".join(lines).replace("\n    ", " ").splitlines()
    start = next(place for place, line in enumerate(said) if line.startswith("follow from these"))
    causes = dict(line.strip().split(": ") for line in said[:start])
    alpha = "settings.alpha 0.75 -> 0.5"
    assert causes.pop(f"runs.sll_sle.{alpha}, runs.sll_sle_mr.{alpha}") == "train-sle_sll_sle"
    assert causes.pop(f"runs.sll_sle_att.{alpha}") == "train-sle_sll_sle_att"
    assert causes.pop(f"runs.sll_sle_clip.{alpha}") == "train-sle_clip_policies"
    assert causes.pop("its code, or parameters in a commit since its last run") == "variance-spider_variance"
    assert causes.pop("it is new") == "probe-clip"
    # Parts of the report that say what ran.
    (reported,) = causes.values()
    assert set(reported.split(", ")) == {"tables-sle", "figures-sle", "section-sle"}
    assert head == "changed: 8 stages"
    follow = set(said[start + 1].strip().split(", "))
    assert {"decode-sle_sll_sle", "evaluate-sle_image", "report"} <= follow
    assert not {name for name in follow if "smoothing" in name or "wtfrl" in name}
    assert lines[-1].startswith("up to date: 1 of ")


def test_a_stale_graph_is_one_line(clone):
    edit("papers/sle/runs.yaml", "\n  sle_xe: sle_image", "\n  sle_xe: sle_image\n  sle_xe2: sle_image")
    edit("papers/sle/runs.yaml", "label: XE\n", "label: XE\n    seeds: 1\n")
    edit("papers/sle/runs.yaml", "    group: sle_xe\n", "    group: sle_xe2\n")
    edit("papers/sle/runs.yaml", "\n  sle_xe: sle_image", "")
    with pytest.raises(
        InputError, match=r"papers/sle/dvc\.yaml: does not fit the parameters; renew it with `seqcap graph`"
    ):
        dry_run()
