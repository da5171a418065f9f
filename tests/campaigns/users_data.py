"""Every command that deletes or overwrites, run where somebody else's files lie, must touch its own files only.

    python tests/campaigns/users_data.py

All files of a folder are compared before and after. Writes tests/campaigns/users_data.md. The last case runs the whole
tiny graph twice: some minutes in all. tests/test_users_data.py runs the cases that take seconds.
"""

import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipeline_files import commit, copy_project, git
from pipeline_files import run as run_in_copy
from ruamel.yaml import YAML
from small_checkout import run, small_checkout, write

from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DATA, DECODED, IMAGES

TABLE = Path(__file__).with_suffix(".md")
SOMEBODY = "years of work\n"
# No process has this id.
DEAD = 999_999_999
SCORE = "score --references references.json --candidates candidates.json --metrics CIDEr --json"
SUBMIT = "submit decoded.parquet --split val2014 --out"
EXPERIMENT = "repro --experiment experiments/e.yaml --publish"
PUBLISH = f"{EXPERIMENT} out/e"
# What a small checkout's `seqcap repro` may touch there: DVC's own files, outputs, checkpoints and locks.
OWN = (".dvc/tmp*", ".dvc/cache*", "dvc.lock", "artifacts/machine.json", "scratch*")
GRAPH = (*OWN, "artifacts/work*", "artifacts/sections/sle*", "configs*", "reports/report.md", "begun")
LOCK = ("runs/.e.lock",)
CLONE = ("runs", *LOCK, "runs/e*")
NO_CLONE = "runs/e: is not a clone"
RESULTS = "captions_val2014_model_results.json"


@dataclass(frozen=True)
class Case:
    """A command and the files where it works.

    Attributes:
        command: arguments of `seqcap`, run in the checkout `here`.
        what: lies there, in words.
        may: patterns of the paths that it may touch, in `here`, or beside it with ../.
        says: part of its output.
        files: somebody's files, path -> content.
        prepare: is called with `here` before.
    """

    command: str
    what: str
    may: tuple[str, ...]
    says: str
    files: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], object] = lambda here: None


# --- Files that lie there


def inputs(here: Path) -> None:
    """Files to be scored and submitted."""
    references = {"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog runs"}]}
    (here / "references.json").write_text(json.dumps(references))
    (here / "candidates.json").write_text(json.dumps([{"image_id": 1, "caption": "a dog"}]))
    caption = {"variant": "model", "seed": 1, "item": 1, "decoder": "beam", "rank": 0}
    caption |= {"text": "a dog", "tokens": ["a", "dog"], "log_prob": -1.0}
    write_rows(here / "decoded.parquet", [caption], DECODED)
    image = {"item": 1, "split": "test", "file": "COCO_val2014_000000000001.jpg", "coco_id": 1}
    write_rows(here / DATA / "images.parquet", [image], IMAGES)


def link(name: str, to: str) -> Callable[[Path], object]:
    return lambda here: (here / name).symlink_to(to)


def protect(name: str) -> Callable[[Path], object]:
    return lambda here: (here / name).chmod(0o444)


def device(here: Path) -> None:
    os.mknod(here / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))


def experiment(here: Path) -> None:
    """An experiment that has run and been published."""
    status, output = run(here, *f"seqcap {EXPERIMENT} out/e".split())
    assert status == 0, output


def after(*changes: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(here: Path) -> None:
        experiment(here)
        for one in changes:
            one(here)

    return change


def put(files: Mapping[str, str]) -> Callable[[Path], object]:
    return lambda here: write(here, dict(files))


def work_in_clone(here: Path) -> None:
    write(here / "runs/e", {"code.py": SOMEBODY})
    commit(here / "runs/e", "work")


def other_repository(here: Path) -> None:
    write(here / "runs/e", {"code.py": SOMEBODY})
    git(here / "runs/e", "init", "--quiet")
    commit(here / "runs/e", "work")


def half_repository(here: Path) -> None:
    write(here / "runs/e", {".git/objects/pack/tmp_pack": "", "thesis.tex": SOMEBODY})


def strangers(here: Path) -> None:
    """The pipeline has run; somebody's file lies in every folder, and the work is out of date."""
    status, output = run(here, "seqcap", "repro")
    assert status == 0, output
    write(here, {"scratch/work/0/seed1_rank0.safetensors": "", "scratch/notes.txt": SOMEBODY})
    put_everywhere(here)
    (here / "work.sh").write_text((here / "work.sh").read_text() + "# changed\necho more >> artifacts/work/all.json\n")


def put_everywhere(here: Path) -> None:
    for folder in [here, *(path for path in here.rglob("*") if path.is_dir())]:
        if not {".git", "cache"} & set(folder.relative_to(here).parts):
            (folder / "somebody.txt").write_text(SOMEBODY)


CASES = [
    Case(f"{SCORE} new/scores.json", "nothing", ("new", "new/scores.json"), "CIDEr"),
    Case(f"{SCORE} notes.md", "the file that it names", ("notes.md",), "CIDEr", {"notes.md": SOMEBODY}),
    Case(f"{SCORE} link", "a link to ../new/x", ("../new", "../new/x"), "CIDEr", {}, link("link", "../new/x")),
    Case(f"{SCORE} device", "a device", (), "CIDEr", {}, device),
    Case(f"{SCORE} out", "a folder", (), "out: is a folder; name a file in it", {"out/thesis.tex": SOMEBODY}),
    Case(f"{SCORE} out/x", "a file, as a folder", (), "cannot be written (Not a directory)", {"out": SOMEBODY}),
    Case(f"{SCORE} a", "a write-protected file", (), "a: is write-protected", {"a": SOMEBODY}, protect("a")),
    Case(f"{SCORE} candidates.json", "what it scores", (), "candidates.json: is read, too"),
    Case(f"{SCORE} ./references.json", "what it scores against", (), "references.json: is read, too"),
    Case(
        f"{SCORE} a", "what a kill left", ("a", f".a.{DEAD}.tmp"), "CIDEr", {f".a.{DEAD}.tmp": "", ".a.tmp": SOMEBODY}
    ),
    Case(f"{SUBMIT} out", "other files", (f"out/{RESULTS}",), RESULTS, {"out/thesis.tex": SOMEBODY, "out/a.json": ""}),
    Case(f"{SUBMIT} out", "its own earlier file", (f"out/{RESULTS}",), RESULTS, {f"out/{RESULTS}": "[]"}),
    Case(f"{SUBMIT} out", "a file, as a folder", (), "cannot be written (Not a directory)", {"out": SOMEBODY}),
    Case("caption code.py --weights thesis.tex", "anything", (), "error: ", {"thesis.tex": SOMEBODY}),
    Case("rating aggregate key.json a.csv", "anything", (), "error: ", {"key.json": "{}", "a.csv": SOMEBODY}),
    Case(
        "repro",
        "a file in every folder",
        (*GRAPH, "!scratch/*.txt"),
        "1 of 4 stages are up to date",
        {},
        strangers,
    ),
    Case(PUBLISH, "nothing", (*CLONE, "out", "out/e*"), "1 of 4 stages"),
    Case(PUBLISH, "its clone and its publication", (*CLONE, "out/e*"), "4 of 4 stages", {}, after()),
    Case(PUBLISH, "a folder at runs/e", LOCK, NO_CLONE, {"runs/e/a.tex": SOMEBODY}),
    Case(PUBLISH, "a file at runs/e", LOCK, NO_CLONE, {"runs/e": SOMEBODY}),
    Case(PUBLISH, "a lost repository at runs/e", LOCK, NO_CLONE, {"runs/e/.git": "gitdir: /x", "runs/e/a": SOMEBODY}),
    Case(PUBLISH, "half a repository", LOCK, NO_CLONE, {}, half_repository),
    Case(PUBLISH, "another repository", LOCK, NO_CLONE, {}, other_repository),
    Case(
        PUBLISH,
        "a link to a folder at runs/e",
        LOCK,
        NO_CLONE,
        {"../thesis/a.tex": SOMEBODY, "runs/x": ""},
        link("runs/e", "../../thesis"),
    ),
    Case(
        f"{EXPERIMENT} ../out/e",
        "a link to the checkout at runs/e",
        LOCK,
        NO_CLONE,
        {"code.py": SOMEBODY, "runs/x": ""},
        link("runs/e", ".."),
    ),
    Case(
        PUBLISH,
        "a changed file in its clone",
        LOCK,
        "has changes of its own, first 'M code.py'",
        {},
        after(put({"runs/e/code.py": SOMEBODY})),
    ),
    Case(
        PUBLISH,
        "a new file in its clone",
        LOCK,
        "has changes of its own, first '?? thesis.tex'",
        {},
        after(put({"runs/e/thesis.tex": SOMEBODY})),
    ),
    Case(PUBLISH, "a commit in its clone", LOCK, "has a commit of", {}, after(work_in_clone)),
    Case(PUBLISH, "a folder", (), "holds files, but no earlier", {"out/e/thesis.tex": SOMEBODY}),
    Case(PUBLISH, "a file", (), "out/e: is a file", {"out/e": SOMEBODY}),
    Case(PUBLISH, "a file, as a folder", (), "out/e: cannot be made", {"out": SOMEBODY}),
    Case(f"{EXPERIMENT} out", "a link", (), "out: is a link", {"../thesis/a.tex": SOMEBODY}, link("out", "../thesis")),
    Case(f"{EXPERIMENT} .", "the checkout", (), "holds the checkout", {"code.py": SOMEBODY}),
    Case(f"{EXPERIMENT} ..", "a folder that holds the checkout", (), "holds the", {"../thesis.tex": SOMEBODY}),
    Case(f"{EXPERIMENT} reports", "the checkout's reports", (), "holds files, but", {"reports/report.md": SOMEBODY}),
    *(
        Case(
            PUBLISH,
            f"an earlier publication with {what}",
            LOCK,
            f"out/e: holds {name}, added or changed",
            {},
            after(put({f"out/e/{name}": SOMEBODY})),
        )
        for what, name in (("a file more", "notes.md"), ("a changed file", "report.md"))
    ),
    Case(
        PUBLISH,
        "files beside it, named almost like its own",
        (*CLONE, "out/e*"),
        "1 of 4 stages",
        {"out/.e.tmp": SOMEBODY, "out/.e.x.old": SOMEBODY, f"out/.f.{DEAD}.tmp": SOMEBODY, f"runs/.f.{DEAD}.tmp": ""},
    ),
]


# --- Trying them


def snapshot(folder: Path) -> dict[str, tuple[int, str]]:
    """Path -> kind and permissions, and content, of everything below a folder; of git's own files none."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if ".git" in path.parts or "__pycache__" in path.parts:
            continue
        mode = path.lstat().st_mode
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (mode, content)
    return found


def touched(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The paths that have changed, appeared or gone."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def allowed(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path matches a pattern, and none that begins with "!"."""
    own = path.removeprefix("here/") if path.startswith("here/") else f"../{path}"
    if any(fnmatchcase(own, pattern[1:]) for pattern in patterns if pattern.startswith("!")):
        return False
    return any(fnmatchcase(own, pattern) for pattern in patterns)


def attempt(case: Case, folder: Path) -> list[str]:
    """Runs a case in an empty folder, and checks it; returns the touched paths."""
    here = small_checkout(folder / "here")
    inputs(here)
    commit(here, "inputs")
    write(here, dict(case.files))
    case.prepare(here)
    before = snapshot(folder)
    _, output = run(here, "seqcap", *case.command.split())
    found = touched(before, snapshot(folder))
    lost = [path for path in found if not allowed(path, case.may)]
    assert not lost, f"`seqcap {case.command}` touched {lost}:\n{output}"
    assert case.says in output, f"`seqcap {case.command}` said:\n{output}"
    assert "Traceback" not in output, output
    return found


def whole_graph(folder: Path) -> list[str]:
    """Runs the tiny graph again with other data while somebody's file lies in every folder; only DVC's outputs and its
    own files may be touched. Returns the touched paths."""
    here = copy_project(folder / "here")
    run_in_copy(here, "seqcap", "repro", "--jobs", "2")
    put_everywhere(here)
    params = YAML(typ="safe").load((here / "params.yaml").read_text())
    (here / "params.yaml").write_text(
        re.sub(r"(?m)^seed: .*$", f"seed: {params['seed'] + 1}", (here / "params.yaml").read_text())
    )
    before = snapshot(folder)
    run_in_copy(here, "seqcap", "repro", "--jobs", "2")
    lock = YAML(typ="safe").load((here / "dvc.lock").read_text())
    outputs = [out["path"] for stage in lock["stages"].values() for out in stage.get("outs", [])]
    may = (*OWN, "artifacts/timing*", *outputs, *(f"{path}/*" for path in outputs), "!scratch/*.txt")
    found = touched(before, snapshot(folder))
    lost = [path for path in found if not allowed(path, may)]
    assert not lost, lost
    return found


def main() -> None:
    rows = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found = attempt(case, Path(folder))
        may = ", ".join(f"`{pattern}`" for pattern in case.may if not pattern.startswith("!")) or "nothing"
        rows.append(f"| `{case.command}` | {case.what} | {may} | {len(found)} | no |")
        print(rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = whole_graph(Path(folder))
    gone = sum(path.endswith("somebody.txt") for path in found)
    rows.append(f"| `repro --jobs 2`, the tiny graph | a file in every folder | DVC's outputs | {len(found)} | no |")
    TABLE.write_text(
        "# Somebody else's files\n\n"
        "Written by `python tests/campaigns/users_data.py`. Every command that deletes or overwrites, what lay there,\n"
        "what it may touch (paths in the checkout), how many paths it touched, and whether it touched others.\n\n"
        "| `seqcap` | what lay there | may touch | touched | touched others |\n|---|---|---|---:|---|\n"
        + "\n".join(rows)
        + f"\n\nOf the files that lay in the tiny graph's folders, {gone} went: those in DVC's outputs.\n"
    )


if __name__ == "__main__":
    main()
