"""`seqcap repro --dry`: which stages an edit would repeat, and which are merely absent here. It runs and writes
nothing: what `configure` would write is compared with what dvc.lock says of the last run."""

import hashlib
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import read_json
from seqcap.pipeline import graph as dvc
from seqcap.pipeline.clone import git
from seqcap.pipeline.configure import resolve, write_configs
from seqcap.pipeline.params import PAPERS, PARAMS, SCALES, read_params
from seqcap.pipeline.repro import address, open_dvc, split_address, stage_graph

NAMED = 3  # how many changed fields of a configuration are named
LISTED = 30  # how many stages with one cause are named
ELSE = "its code, or parameters in a commit since its last run"


def dry_run(targets: Collection[str] = ()) -> list[str]:
    """Lines on what `seqcap repro` would do in this checkout; `targets` are the stages that it is asked for."""
    graph = stage_graph(Path(), targets)
    with TemporaryDirectory() as folder, open_dvc(Path()) as repo:
        # What is configured here, and in the last commit with the code that is here.
        now, before = Path(folder, "now"), Path(folder, "before")
        _configure(Path(), now, check=True)
        _check_out_parameters(before)
        # Together with code that does not know them, the committed parameters explain nothing.
        with suppress(InputError):
            _configure(before, before)
        stages = {address(repo, stage): stage for stage in repo.index.stages if stage.name != dvc.CONFIGURE}
        stages = {name: stage for name, stage in stages.items() if name in graph}
        causes = {name: ", ".join(dict.fromkeys(_causes(stage, now, before))) for name, stage in stages.items()}
        lost = {name: _lost(stage) for name, stage in stages.items()}
    repeated = {name for name, words in causes.items() if words}
    for name in TopologicalSorter(graph).static_order():
        if graph[name] & repeated:
            repeated.add(name)
    changed = [name for name in causes if causes[name]]
    follow = [name for name in causes if name in repeated and not causes[name]]
    rest = [lost[name] for name in causes if name not in repeated]
    cached, gone = rest.count("in the cache"), rest.count("gone")
    lines = [f"changed: {_count(changed)}"]
    for words in dict.fromkeys(causes[name] for name in changed):
        lines += _listed(f"{words}: ", [name for name in changed if causes[name] == words])
    lines += [f"follow from these: {_count(follow)}", *_listed("", follow)] if follow else []
    if cached or gone:
        lines.append(f"absent here: {cached} would be taken from DVC's cache, {gone} would run")
    return [*lines, f"up to date: {rest.count('')} of {_count(causes)}"]


def _listed(words: str, stages: Sequence[str]) -> list[str]:
    more = f" and {len(stages) - LISTED} more" if len(stages) > LISTED else ""
    names = [split_address(stage)[1] for stage in stages[:LISTED]]
    return wrap(
        f"{words}{', '.join(names)}{more}", 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def _count(stages: Collection[str]) -> str:
    return f"{len(stages) or 'no'} stage{'' if len(stages) == 1 else 's'}"


def _configure(parameters: Path, folder: Path, check: bool = False) -> None:
    """Writes into `folder` what `configure` would write into the checkout, of the parameters in another folder."""
    params = read_params(parameters)
    stages = resolve(params)
    if check:
        dvc.check(params, stages)
    write_configs(stages, params, folder / "configs", folder / "machine.json")


def _check_out_parameters(folder: Path) -> None:
    archive = folder.with_name("parameters.tar")
    git("archive", "--output", archive, "HEAD", PARAMS, PAPERS, SCALES)
    shutil.unpack_archive(archive, folder, filter="data")


def _causes(stage: Any, now: Path, before: Path) -> Iterator[str]:
    """What differs from the stage's last run, in words. What is not here differs in nothing."""
    if not any(dependency.hash_info for dependency in stage.deps):
        yield "it is new"
        return
    if stage.cmd_changed:
        yield "its command"
    for dependency in stage.deps:
        path = now / dependency.def_path
        if path.is_file():
            if dependency.hash_info.value != hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest():
                fields = _changed_fields(before / dependency.def_path, path) or [ELSE]
                yield from fields[:NAMED]
                if len(fields) > NAMED:
                    yield f"{len(fields) - NAMED} more"
        elif {"modified", "new"} & set(dependency.status().values()):
            yield dependency.def_path
    for out in stage.outs:
        if "modified" in out.status().values():
            yield f"{out.def_path}, which it has written"


def _lost(stage: Any) -> str:
    """Where the stage's results are, if not here."""
    found = {(status, out.use_cache) for out in stage.outs for status in out.status().values()}
    return "gone" if found - {("deleted", True)} else "in the cache" if found else ""


def _changed_fields(before: Path, now: Path) -> list[str]:
    """The values of a configuration that differ, each as "place before -> now"."""
    if not before.is_file():
        return []
    old, new = dict(_fields(read_json(before))), dict(_fields(read_json(now)))
    changed = [key for key in old | new if old.get(key) != new.get(key) and not key.startswith("code.")]
    return [f"{key} {old.get(key)!r:.60} -> {new.get(key)!r:.60}" for key in changed]


def _fields(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Place -> value; in a list of named things, their names are places."""
    if isinstance(value, list) and all(isinstance(item, dict) and "name" in item for item in value):
        value = {item["name"]: item for item in value}
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _fields(item, f"{place}.{key}".lstrip("."))
    else:
        yield place, value


if __name__ == "__main__":
    with one_line_errors():
        print("\n".join(dry_run(sys.argv[1:])))
