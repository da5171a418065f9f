"""Every command that deletes or overwrites, run where somebody else's files lie, must touch its own files only.

    python tests/campaigns/users_data.py [--without-graph]

All files of a folder are compared before and after. Writes tests/campaigns/users_data.md. The last case runs the whole
tiny graph twice: some minutes in all. tests/test_users_data.py runs some of the cases that take seconds.
"""

import argparse
import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipeline_files import ROOT, commit, copy_project, git
from pipeline_files import run as run_in_copy
from ruamel.yaml import YAML
from small_checkout import run, small_checkout, write
from stage_server import STAGES, stage_server

from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DATA, DECODED, IMAGES
from seqcap.pipeline.graph import lock_files

TABLE = Path(__file__).with_suffix(".md")
KNOWN = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml").read_text())
SOMEBODY = KNOWN["work"]


def in_full(words: Iterable[str], known: Mapping[str, Any]) -> Iterator[str]:
    """Words, with others in the place of those that are known."""
    for word in words:
        more = known.get(word)
        yield from in_full(more, known) if isinstance(more, list) else [more or word]


@dataclass(frozen=True)
class Case:
    """A command and the files where it works; users_data.yaml says what the fields are.

    Attributes:
        command: arguments of `seqcap`, run in the checkout `here`.
        what: lies there, in words.
    """

    command: str
    what: str
    may: Sequence[str]
    says: str
    files: dict[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    steps: Sequence[str] = ()
    then: dict[str, str] = field(default_factory=dict)

    def prepare(self, here: Path) -> None:
        write(here, self.files)
        for name, target in self.links.items():
            (here / name).symlink_to(target)
        for step in self.steps:
            STEPS[step](here)
        write(here, self.then)


# --- Files that lie there


def inputs(here: Path) -> None:
    """Files to be scored and submitted."""
    references = {"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog runs"}]}
    (here / "references.json").write_text(json.dumps(references))
    (here / "candidates.json").write_text(json.dumps([{"image_id": 1, "caption": "a dog"}]))
    caption = {"run": "model", "seed": 1, "item": 1, "decoder": "beam", "rank": 0}
    caption |= {"text": "a dog", "tokens": ["a", "dog"], "log_prob": -1.0}
    write_rows(here / "decoded.parquet", [caption], DECODED)
    image = {"item": 1, "split": "test", "file": "COCO_val2014_000000000001.jpg", "coco_id": 1}
    write_rows(here / DATA / "images.parquet", [image], IMAGES)


def protect(here: Path) -> None:
    (here / "a").chmod(0o444)


def device(here: Path) -> None:
    os.mknod(here / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))


def experiment(here: Path) -> None:
    """An experiment that has run and been published."""
    status, output = run(here, *f"seqcap {KNOWN['commands']['PUBLISH']} out/e".split())
    assert status == 0, output


def work_in_clone(here: Path) -> None:
    write(here / "runs/e", {"code.py": SOMEBODY})
    commit(here / "runs/e", "work")


def other_repository(here: Path) -> None:
    write(here / "runs/e", {"code.py": SOMEBODY})
    git(here / "runs/e", "init", "--quiet")
    commit(here / "runs/e", "work")


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


STEPS = {step.__name__: step for step in (device, protect, experiment, work_in_clone, other_repository, strangers)}
CASES = [
    Case(
        **case
        | {
            "command": " ".join(in_full(case["command"].split(), KNOWN["commands"])),
            "may": [*in_full(case["may"], KNOWN["patterns"])],
        }
    )
    for case in KNOWN["cases"]
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


def allowed(path: str, patterns: Sequence[str]) -> bool:
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
    with stage_server(STAGES) as programs:
        return second_run(here, programs)


def second_run(here: Path, programs: Path) -> list[str]:
    """What the second run of a graph touches."""
    run_in_copy(here, "seqcap", "repro", "--jobs", "2", programs=programs)
    put_everywhere(here)
    params = YAML(typ="safe").load((here / "params.yaml").read_text())
    (here / "params.yaml").write_text(
        re.sub(r"(?m)^seed: .*$", f"seed: {params['seed'] + 1}", (here / "params.yaml").read_text())
    )
    before = snapshot(here.parent)
    run_in_copy(here, "seqcap", "repro", "--jobs", "2", programs=programs)
    locks = [YAML(typ="safe").load((here / path).read_text()) for path in lock_files(here)]
    stages = [stage for lock in locks for stage in lock["stages"].values()]
    outputs = [out["path"] for stage in stages for out in stage.get("outs", [])]
    own = KNOWN["patterns"]["OWN"]
    may = (*own, "artifacts/timing*", *outputs, *(f"{path}/*" for path in outputs), "!scratch/*.txt")
    found = touched(before, snapshot(here.parent))
    lost = [path for path in found if not allowed(path, may)]
    assert not lost, lost
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-graph", action="store_true", help="leave out the last case")
    arguments = parser.parse_args()
    tip = git(ROOT, "rev-parse", "--short=8", "HEAD").strip()
    rows = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found = attempt(case, Path(folder))
        may = ", ".join(f"`{pattern}`" for pattern in case.may if not pattern.startswith("!")) or "nothing"
        rows.append(f"| `{case.command}` | {case.what} | {may} | {len(found)} | no |")
        print(rows[-1], flush=True)
    if arguments.without_graph:
        last = "The whole tiny graph with a file in every folder was left out this time."
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = whole_graph(Path(folder))
        gone = sum(path.endswith("somebody.txt") for path in found)
        rows.append(
            f"| `repro --jobs 2`, the tiny graph | a file in every folder | DVC's outputs | {len(found)} | no |"
        )
        last = f"Of the files that lay in the tiny graph's folders, {gone} went: those in DVC's outputs."
    TABLE.write_text(
        "# Somebody else's files\n\n"
        f"Written by `python tests/campaigns/users_data.py` at commit {tip}. Every command that deletes or\n"
        "overwrites, what lay there, what it may touch (paths in the checkout), how many paths it touched, and\n"
        "whether it touched others.\n\n"
        "| `seqcap` | what lay there | may touch | touched | touched others |\n|---|---|---|---:|---|\n"
        + "\n".join(rows)
        + f"\n\n{last}\n"
    )


if __name__ == "__main__":
    main()
