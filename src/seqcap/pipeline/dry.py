"""`seqcap repro --dry`: whether results are those of today's code and parameters, and which stages an edit made stale.
At the papers' scale it also says what each paper would take.
It runs and writes nothing: what `configure` would write is compared with what DVC's records say of the last run.

What is merely absent here is not stale. Nor is what was made of other bytes of a shared stage, as another kind of
processor makes them: both are told, and do not change the status."""

import hashlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seqcap.config import CONFIGS
from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import read_json
from seqcap.pipeline import graph as dvc
from seqcap.pipeline.clone import check_out, git
from seqcap.pipeline.code import code_hash
from seqcap.pipeline.configure import write_configs
from seqcap.pipeline.forecast import MEASURED, MEASURED_ON_GPU, forecast
from seqcap.pipeline.parameter_files import PAPERS, PARAMS, SCALES, read_yaml
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.pipeline.repro import address, open_dvc, split_address, stage_graph
from seqcap.report import REPORTS

LINES = 20  # at most
WIDTH = 120
NAMED = 2  # how many changed fields, or files of code, are named of a stage
ELSE = "its code, or parameters in a commit since its last run"
SHARED = "shared"  # instead of a paper's name: the stages that papers share, and the first page

Outs = Mapping[str, tuple[str, Any]]  # path of an output -> the stage that writes it, and DVC's record of it


@dataclass(frozen=True)
class Examined:
    """What DVC's records say of a stage.

    Attributes:
        causes: what an edit has changed of it, in words; empty: nothing.
        others: shared stages whose results have other bytes now than those that it has read.
        absent: where its results are if they are not here: "in the cache" or "gone".
    """

    causes: Sequence[str]
    others: Collection[str]
    absent: str


@dataclass
class Part:
    """The stages of a paper, or the shared ones."""

    stages: int = 0
    edited: dict[str, Sequence[str]] = field(default_factory=dict)  # name of a stage -> causes
    following: int = 0  # stages that depend on edited ones

    @property
    def stale(self) -> bool:
        return bool(self.edited or self.following)


def dry_run(targets: Collection[str] = ()) -> tuple[list[str], bool]:
    """Lines on the results in this checkout, and whether all are of today's code and parameters; `targets` are the
    stages that `seqcap repro` is asked for."""
    graph = stage_graph(Path(), targets)
    examined = _examine(graph)
    stale = _stale(examined, graph)
    fresh = [result for stage, result in examined.items() if stage not in stale]
    last = [*_absent(fresh), *_other_bytes(fresh)]
    if not stale:
        last.append("all results are of today's code and parameters")
    costs = _foretold()
    if costs:
        last.append(_cut(f"foretold from a few steps of each kind of stage, which {MEASURED} has"))
    return [*_lines_of_parts(_parts(examined, stale), costs, LINES - len(last)), *last], not stale


def _stale(examined: Mapping[str, Examined], graph: Mapping[str, set[str]]) -> set[str]:
    """The stages that an edit has changed, and those that depend on them."""
    stale = {stage for stage, result in examined.items() if result.causes}
    for stage in TopologicalSorter(graph).static_order():
        if graph[stage] & stale:
            stale.add(stage)
    return stale


def _parts(examined: Mapping[str, Examined], stale: Collection[str]) -> dict[str, Part]:
    """Name of a paper, or `SHARED` -> its stages."""
    parts: dict[str, Part] = {}
    for stage, result in examined.items():
        file, name = split_address(stage)
        part = parts.setdefault(file.parent.name or SHARED, Part())
        part.stages += 1
        if result.causes:
            part.edited[name] = result.causes
        elif stage in stale:
            part.following += 1
    return parts


def _foretold() -> Mapping[str, str]:
    """What each part takes in all, at another scale than the laptop's."""
    if read_yaml(PARAMS)["scale"] == "laptop":
        return {}
    project = Project(read_params())
    on_gpu = forecast(project, SHARED, MEASURED_ON_GPU)
    told = {}
    for name, cost in forecast(project, SHARED, MEASURED).items():
        told[name] = cost.on_a_core()
        if name in on_gpu:
            told[name] += f"; or {on_gpu[name].on_a_gpu()}"
    return told


def _lines_of_parts(parts: Mapping[str, Part], costs: Mapping[str, str], most: int) -> list[str]:
    """A line for each part, one on what it takes if that is foretold, and one more on what was edited, as far as there
    is room."""
    lines: list[str] = []
    room = most - len(parts) - len(parts.keys() & costs.keys())
    for name, part in parts.items():
        lines.append(_cut(f"{name}: {_results(name)}{_count(part)}"))
        if name in costs:
            lines.append(f"  {costs[name]}")
        if part.edited and room > 0:
            lines.append(_cut(f"  {_edits(part.edited)}"))
            room -= 1
    if len(lines) > most:
        lines[most - 1 :] = [f"and {len(lines) - most + 1} papers more"]
    return lines


def _results(part: str) -> str:
    """Where a paper's results come from."""
    if part == SHARED:
        commit = _committed("%h, %cs")
        return f"recorded in {commit}; " if commit else ""
    provenance = _provenance(part)
    if not provenance:
        return "results of an older form; " if (REPORTS / part).exists() else "no results here; "
    changed = " with uncommitted changes" if provenance.get("changed") else ""
    commit, day = provenance.get("commit") or "an unknown commit", provenance.get("day") or "an unknown day"
    return f"results of {commit}{changed}, {day}; "


def _provenance(paper: str) -> dict[str, Any]:
    """What a paper's results say of where they come from; {} without them."""
    path = REPORTS / paper / "results/provenance.json"
    return read_json(path) if path.is_file() else {}


def _count(part: Part) -> str:
    if not part.stale:
        return f"none of {part.stages} stages is stale"
    follow = f", {part.following} follow from edits" if part.following else ""
    return f"{len(part.edited)} of {part.stages} stages are stale{follow}"


def _edits(edited: Mapping[str, Sequence[str]]) -> str:
    """Stages with the same causes are told together; a stage is named for all of them."""
    together: dict[str, list[str]] = {}
    for name, causes in edited.items():
        more = [f"{len(causes) - NAMED} more"] if len(causes) > NAMED else []
        together.setdefault(", ".join([*causes[:NAMED], *more]), []).append(name)
    told = []
    for words, names in sorted(together.items(), key=lambda item: -len(item[1])):
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        told.append(f"{names[0]}{others} ({words})")
    return "; ".join(told)


def _absent(examined: Sequence[Examined]) -> list[str]:
    where = [result.absent for result in examined]
    cached, gone = where.count("in the cache"), where.count("gone")
    return [f"absent here: {cached} would be taken from DVC's cache, {gone} would run"] if cached or gone else []


def _other_bytes(examined: Sequence[Examined]) -> list[str]:
    others = sorted({name for result in examined for name in result.others})
    if not others:
        return []
    number = sum(bool(result.others) for result in examined)
    words = f"of other bytes than those that {number} stages have read, as on another processor: {', '.join(others)}"
    return [_cut(words)]


def _cut(line: str) -> str:
    """A line as wide as a terminal; in a file or a pipe it is whole."""
    if len(line) <= WIDTH or not sys.stdout.isatty():
        return line
    return f"{line[: WIDTH - 4].rstrip()} ..."


# --- What DVC's records say


def _examine(graph: Collection[str]) -> dict[str, Examined]:
    """What DVC's records say of each stage but `configure`, the shared ones first."""
    with TemporaryDirectory() as folder, open_dvc(Path()) as repo:
        # What is configured here, and in the last commit with the code that is here.
        now, before = Path(folder, "now"), Path(folder, "before")
        _configure(Path(), now, check=True)
        check_out(before, "HEAD", PARAMS, PAPERS, SCALES)
        # Together with code that does not know them, the committed parameters explain nothing.
        with suppress(InputError):
            _configure(before, before)
        stages = {address(repo, stage): stage for stage in repo.index.stages}
        outs = {out.def_path: (name, out) for name, stage in stages.items() for out in stage.outs}
        examined = {}
        for name in sorted(graph):
            stage = stages[name]
            if stage.name != dvc.CONFIGURE:
                causes, others = _edits_of(name, stage, outs, now, before)
                examined[name] = Examined(list(dict.fromkeys(causes)), others, _absence(stage))
        return examined


def _configure(parameters: Path, folder: Path, check: bool = False) -> None:
    """Writes into `folder` what `configure` would write into the checkout, of the parameters in another folder."""
    project = Project(read_params(parameters))
    if check:
        dvc.check(project)
    write_configs(project, folder / CONFIGS, folder / "machine.json")


def _edits_of(name: str, stage: Any, outs: Outs, now: Path, before: Path) -> tuple[list[str], set[str]]:
    """The causes and the others of a stage (`Examined`). What is not here differs in nothing."""
    if not any(dependency.hash_info for dependency in stage.deps):
        return ["it is new"], set()
    causes = ["its command"] if stage.cmd_changed else []
    others: set[str] = set()
    for dependency in stage.deps:
        path = now / dependency.def_path
        if path.is_file():
            if dependency.hash_info.value != hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest():
                causes += _changed_fields(before / dependency.def_path, path) or _changed_code(name, path)
        elif _differs(dependency, outs):
            makers = _shared_makers(dependency.def_path, outs)
            others |= makers
            if not makers:
                causes.append(dependency.def_path)
    for out in stage.outs:
        if "modified" in _status(out):
            causes.append(f"{out.def_path}, which it has written")
    return causes, others


def _differs(dependency: Any, outs: Outs) -> bool:
    """Whether a stage has read other bytes than there are: as DVC's records say of an output, else as it is here."""
    if dependency.def_path in outs:
        _, out = outs[dependency.def_path]
        return bool(out.hash_info) and out.hash_info != dependency.hash_info
    inside = [out for path, (_, out) in outs.items() if _is_in(path, dependency.def_path)]
    if not all(map(_is_here, inside)):
        # A folder of several stages' results, some of which are not here.
        return False
    return bool({"modified", "new"} & set(dependency.status().values()))


def _shared_makers(path: str, outs: Outs) -> set[str]:
    """The shared stages that make a path, or something in it or above it."""
    return {
        name
        for output, (name, _) in outs.items()
        if split_address(name)[0] == dvc.GRAPH and (_is_in(path, output) or _is_in(output, path))
    }


def _is_in(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def _absence(stage: Any) -> str:
    """Where a stage's results are if they are not here (`Examined`)."""
    statuses = {(status, out.use_cache) for out in stage.outs for status in _status(out)}
    if not statuses:
        return ""
    return "in the cache" if statuses == {("deleted", True)} else "gone"


def _status(out: Any) -> set[str]:
    """What DVC says of an output that is not as it was written."""
    statuses = set(out.status().values())
    return {"deleted"} if "modified" in statuses and not _is_here(out) else statuses


def _is_here(out: Any) -> bool:
    """Whether an output is here. An empty folder, which DVC leaves where it has removed the results of a stage that was
    then stopped, is as none."""
    path = Path(out.fs_path)
    return path.exists() and not (path.is_dir() and not any(path.iterdir()))


def _changed_fields(before: Path, now: Path) -> list[str]:
    """The values of a configuration that differ, each as "key before -> now"."""
    if not before.is_file():
        return []
    old, new = dict(_fields(read_json(before))), dict(_fields(read_json(now)))
    changed = [key for key in old | new if old.get(key) != new.get(key) and not key.startswith("code.")]
    return [f"{key} {old.get(key)!r:.60} -> {new.get(key)!r:.60}" for key in changed]


def _fields(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Key -> value; "a.b" is the key of b in a. In a list of named things, their names are keys."""
    if isinstance(value, list) and all(isinstance(item, dict) and "name" in item for item in value):
        value = {item["name"]: item for item in value}
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _fields(item, f"{key}.{name}".lstrip("."))
    else:
        yield key, value


def _changed_code(stage: str, now: Path) -> list[str]:
    """The files of a stage's code that differ from those of the commit that its results are of."""
    paper = split_address(stage)[0].parent.name
    commit = _provenance(paper).get("commit") if paper else _committed("%H")
    before = _code_of(commit) if commit else None
    if before is None:
        return [ELSE]
    changed = [path for path, digest in read_json(now)["code"].items() if before.get(path) != digest]
    if not changed:
        return [ELSE]
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return [f"code of {', '.join(path.removeprefix('src/seqcap/') for path in changed[:NAMED])}{more}"]


def _committed(form: str) -> str:
    """The last commit that has changed DVC's records of the shared stages, as git shows it; "" without one."""
    return git("log", "-1", f"--format={form}", "--", dvc.LOCK).strip()


@cache
def _code_of(commit: str) -> Mapping[str, str] | None:
    """Path -> hash, as in configurations, of a commit's code; None if the commit is not here."""
    with TemporaryDirectory() as folder:
        root = Path(folder, "code")
        try:
            check_out(root, commit, "src", "stages")
        except InputError:
            return None
        return {path.relative_to(root).as_posix(): code_hash(path) for path in root.rglob("*") if path.is_file()}


if __name__ == "__main__":
    with one_line_errors():
        lines, current = dry_run(sys.argv[1:])
        print("\n".join(lines))
    raise SystemExit(0 if current else 1)
