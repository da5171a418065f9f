"""`seqcap repro --dry`: what an edit has made stale, and what is merely absent or of other bytes. It writes nothing."""

import hashlib
import json
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from dvc.repo import Repo
from parameter_files import ROOT, ParameterFiles
from pipeline_files import TINY, commit, git
from ruamel.yaml import YAML
from small_checkout import write

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.pipeline.configure import write_configs, write_graph
from seqcap.pipeline.dry import ELSE, dry_run
from seqcap.pipeline.experiment import apply_overlay
from seqcap.pipeline.forecast import MEASURED, MEASURED_ON_GPU
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.pipeline.repro import sections

# What `seqcap repro --dry` runs, in a process that loads DVC, in seconds.
DRY = ROOT / "src/seqcap/pipeline/dry.py"
WEIGHTS = b"weights"
PARTS = ("shared", "across", "psst", "sle", "smoothing", "spider", "wtfrl")
CACHED = "artifacts/words/image/paraphrases.parquet"


def md5(content):
    return hashlib.md5(content).hexdigest()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A clone of a checkout whose whole graph, a small one, has run: parameters, graph and dvc.lock; one file is in its
    cache."""
    folder = tmp_path_factory.mktemp("ran")
    ParameterFiles(folder)
    apply_overlay(folder, YAML(typ="safe").load(TINY.read_text()), TINY)
    (folder / ".dvc").mkdir()
    for name in (".dvc/config", ".dvcignore", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    # Code of an earlier day, which nothing runs.
    write(folder, {"src/old.py": "", "stages/train.py": ""})
    git(folder, "init", "--quiet")
    write_graph(folder)
    params = read_params(folder)
    write_configs(Project(params), folder / "configs", folder / "machine.json")

    provenance = folder / "reports/sle/results/provenance.json"
    write_json(provenance, {"commit": "1ca318366fc6", "day": "2026-11-24", "changed": []})

    def record(path):
        if provenance.is_relative_to(folder / path):
            # As DVC hashes a folder.
            listed = [{"md5": md5(provenance.read_bytes()), "relpath": str(provenance.relative_to(folder / path))}]
            return {"path": path, "hash": "md5", "md5": f"{md5(json.dumps(listed, sort_keys=True).encode())}.dir"}
        content = (folder / path).read_bytes() if (folder / path).is_file() else path.encode()
        return {"path": path, "hash": "md5", "md5": md5(WEIGHTS if path == CACHED else content)}

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
    """Path -> content and time of every file but those of DVC's own bookkeeping, and what Python compiles."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    files = [path for path in found if not path.is_relative_to(folder / ".dvc/tmp")]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def edit(name, pattern, value):
    text = Path(name).read_text()
    assert re.search(pattern, text)
    Path(name).write_text(re.sub(pattern, value, text, count=1))


def change_record(file, stage, part, path, content):
    """Another hash of a path in DVC's record of a stage."""
    lock = json.loads(Path(file).read_text())
    changed = next(entry for entry in lock["stages"][stage][part] if entry["path"] == path)
    changed["md5"] = md5(content)
    write_json(file, lock)


def said(lines):
    """Part -> what is said of it, and of its edits; "" -> the last lines."""
    found, part = {"": []}, ""
    for line in lines:
        name, colon, words = line.partition(": ")
        if colon and name in PARTS:
            part = name
            found[part] = [words]
        else:
            found[part if line.startswith("  ") else ""].append(line.strip())
    return found


def test_an_untouched_clone_is_of_today(clone, command):
    before = all_files(clone)
    done = command(script=DRY)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    found = said(lines)
    assert set(found) == {*PARTS, ""}
    (of_shared,), (of_sle,), (of_psst,) = found["shared"], found["sle"], found["psst"]
    assert re.fullmatch(r"recorded in [0-9a-f]{7,}, [-0-9]{10}; none of \d+ stages is stale", of_shared)
    assert re.fullmatch(r"results of 1ca318366fc6, 2026-11-24; none of \d+ stages is stale", of_sle)
    assert re.fullmatch(r"no results here; none of \d+ stages is stale", of_psst)
    absent, last = found[""]
    assert re.fullmatch(r"absent here: 1 would be taken from DVC's cache, \d+ would run", absent)
    assert last == "all results are of today's code and parameters"
    assert all_files(clone) == before
    # Only what one paper needs.
    assert set(said(dry_run(sections(["sle"]))[0])) == {"shared", "sle", ""}
    with pytest.raises(InputError, match="there is no section 'none'; allowed: across, psst, "):
        dry_run(sections(["none"]))


def test_an_edit_makes_results_stale(clone, command):
    edit("params.yaml", r"\nalpha: \S+", "\nalpha: 0.5")
    # Code is part of a configuration; this one is of other code.
    file, config = "papers/spider/dvc.lock", "configs/variance/spider_variance.json"
    change_record(file, "variance-spider_variance", "deps", config, b"other")
    # A run was killed after it had trained.
    trained = "artifacts/wtfrl/train/wtfrl_tf"
    change_record("papers/wtfrl/dvc.lock", "train-wtfrl_tf", "outs", trained, b"new")
    lock = json.loads(Path("dvc.lock").read_text())
    del lock["stages"]["probe-clip"]
    write_json("dvc.lock", lock)
    before = all_files(clone)
    done = command("repro", "--dry")
    assert all_files(clone) == before
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 20
    found = said(lines)
    stale, edits = found["sle"]
    assert re.fullmatch(r"results of 1ca318366fc6, 2026-11-24; 6 of \d+ stages are stale, 5 follow from edits", stale)
    assert re.search(r"(tables|figures|section)-sle and 2 more \(.*settings\.alpha 0\.75 -> 0\.5", edits)
    assert found["spider"][1] == f"variance-spider_variance ({ELSE})"
    assert "probe-clip (it is new)" in found["shared"][1]
    assert re.search(rf"(decode-wtfrl_tf|retrieve-wtfrl_image|figures-wtfrl).*\({trained}", found["wtfrl"][1])
    assert found["smoothing"][0].endswith("stages is stale")
    assert "all results are of today's code and parameters" not in lines
    # Only what is asked for counts.
    lines, current = dry_run(sections(["smoothing"]))
    assert (current, said(lines)["smoothing"]) == (True, found["smoothing"])


def test_code_of_another_commit_is_named(clone):
    commit = git(clone, "rev-parse", "HEAD").strip()
    write_json("reports/sle/results/provenance.json", {"commit": commit, "day": "2026-11-24"})
    config = "configs/train/sle_sll_sle_att.json"
    change_record("papers/sle/dvc.lock", "train-sle_sll_sle_att", "deps", config, b"other")
    lines, current = dry_run(sections(["sle"]))
    assert not current
    # What its results say of themselves has changed, too.
    assert re.search(r"train-sle_sll_sle_att \(code of \S+, \S+", said(lines)["sle"][1])


def test_other_bytes_of_a_shared_stage_are_not_an_edit(clone):
    """Another kind of processor makes other features of the same images."""
    outs = {"encoder-clip": "starts/encoder/clip.safetensors", "encoder-image": "starts/encoder/image.safetensors"}
    outs |= {"features-clip": "artifacts/clip/features", "features-image": "artifacts/image/features"}
    for stage, path in outs.items():
        change_record("dvc.lock", stage, "outs", path, b"of another processor")
    lines, current = dry_run()
    assert current
    # The line is wider than a terminal, and whole where it is not written to one.
    words = r"of other bytes than those that \d+ stages have read, as on another processor: "
    (told,) = [line for line in lines if line.startswith("of other bytes")]
    assert re.fullmatch(words + ", ".join(outs), told)


def test_an_empty_folder_is_as_none(clone):
    """DVC leaves one where it has removed results of a stage that was stopped."""
    absent = [line for line in dry_run()[0] if line.startswith("absent here")]
    Path("artifacts/wtfrl/train/wtfrl_tf").mkdir(parents=True)
    lines, current = dry_run()
    assert (current, [line for line in lines if line.startswith("absent here")]) == (True, absent)


def test_a_stale_graph_is_one_line(clone):
    edit("papers/sle/runs.yaml", "\n  sle_sll_sle_att: sle_image", "\n  other: sle_image")
    edit("papers/sle/runs.yaml", "    group: sle_sll_sle_att\n", "    group: other\n")
    with pytest.raises(
        InputError, match=r"papers/sle/dvc\.yaml: does not fit the parameters; renew it with `seqcap graph`"
    ):
        dry_run()


def test_at_the_papers_scale_each_paper_says_what_it_takes(clone):
    case = {"stage": "train", "of": "lstm", "objective": "self_critical", "seconds": 36.0, "peak_mb": 2500}
    decoded = {"stage": "decode", "of": "lstm", "seconds": 0.0, "peak_mb": 0, "weights_mb": 50}
    write_json(MEASURED, {"cases": [case, decoded]})
    write_json(MEASURED_ON_GPU, {"cases": [case | {"seconds": 1.8}, decoded]})
    # The papers' numbers of seeds are more than the small graph has.
    ParameterFiles(clone)
    edit("params.yaml", r"\nscale: \S+", "\nscale: paper")
    write_graph(clone)
    lines, current = dry_run()
    assert not current
    assert len(lines) <= 20
    told = re.fullmatch(
        r"about ([\d,]+) hours of one core, 2\.5 GB of memory a stage, \d+ GB of disk; "
        r"or about ([\d,.]+) hours of one GPU, 2\.5 GB of its memory",
        said(lines)["sle"][1],
    )
    hours, on_gpu = (float(told[n].replace(",", "")) for n in (1, 2))
    assert hours > 100
    assert hours / on_gpu == pytest.approx(20, rel=0.05)
    assert lines[-1] == f"foretold from a few steps of each kind of stage, which {MEASURED} has"
