"""`seqcap repro --dry`: which stages an edit would repeat, and which are merely absent here. It runs and writes
nothing: what `configure` would write is compared with what dvc.lock says of the last run."""

import hashlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import read_json
from seqcap.pipeline.clone import git
from seqcap.pipeline.configure import resolve, write_configs
from seqcap.pipeline.graph import GRAPH, check_graph
from seqcap.pipeline.params import PAPERS, PARAMS, SCALES, read_params
from seqcap.pipeline.repro import CONFIGURE, open_dvc, part_of

NAMED = 3  # how many changed fields of a configuration are named
LISTED = 30  # how many stages with one cause are named
ELSE = "its code, or parameters in a commit since its last run"


def dry_run(targets: Collection[str] = ()) -> list[str]:
    """Lines on what `seqcap repro` would do in this checkout; `targets` are the stages that it is asked for."""
    with TemporaryDirectory() as folder, open_dvc(Path()) as repo:
        configs = Path(folder)
        _configure(Path(), configs)
        graph = part_of(repo, targets)
        stages = [stage for stage in repo.index.stages if stage.name in graph and stage.name != CONFIGURE]
        causes = {stage.name: list(_causes(stage, configs)) for stage in stages}
        lost = {stage.name: _lost(stage) for stage in stages}
        changed = {name: _explained(found, configs) for name, found in causes.items() if found}
    repeated = set(changed)
    for name in TopologicalSorter(graph).static_order():
        if graph[name] & repeated:
            repeated.add(name)
    follow = [name for name in causes if name in repeated and name not in changed]
    rest = [name for name in causes if name not in repeated]
    cached, gone = ([name for name in rest if lost[name] == kind] for kind in ("in the cache", "gone"))
    lines = [f"changed: {_count(changed)}"]
    for words in dict.fromkeys(changed.values()):
        lines += _listed(f"{words}:", [name for name, its in changed.items() if its == words])
    lines += [f"follow from these: {_count(follow)}", *_listed("", follow)] if follow else []
    if cached or gone:
        lines.append(f"absent here: {len(cached)} would be taken from DVC's cache, {len(gone)} would run")
    return [*lines, f"up to date: {len(rest) - len(cached) - len(gone)} of {_count(causes)}"]


def _listed(words: str, stages: Sequence[str]) -> list[str]:
    more = f" and {len(stages) - LISTED} more" if len(stages) > LISTED else ""
    return wrap(f"{words} {', '.join(stages[:LISTED])}{more}", 100, initial_indent="  ", subsequent_indent="    ")


def _count(stages: Collection[str]) -> str:
    return f"{len(stages) or 'no'} stage{'' if len(stages) == 1 else 's'}"


def _configure(parameters: Path, folder: Path) -> None:
    """Writes into `folder` what `configure` would write into the checkout, of the parameters in another folder."""
    params = read_params(parameters)
    stages = resolve(params)
    check_graph(params, stages, parameters)
    write_configs(stages, params, folder / "configs", folder / "machine.json")


def _causes(stage: Any, configs: Path) -> Iterator[str]:
    """What differs from the stage's last run: paths, or words. What is not here differs in nothing."""
    if not any(dependency.hash_info for dependency in stage.deps):
        yield "it is new"
        return
    if stage.cmd_changed:
        yield "its command"
    for dependency in stage.deps:
        path = configs / dependency.def_path
        if path.is_file():
            if dependency.hash_info.value != hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest():
                yield dependency.def_path
        elif {"modified", "new"} & set(dependency.status().values()):
            yield dependency.def_path
    for out in stage.outs:
        if "modified" in out.status().values():
            yield f"{out.def_path}, which it has written"


def _lost(stage: Any) -> str:
    """Where the stage's results are, if not here."""
    found = {(status, out.use_cache) for out in stage.outs for status in out.status().values()}
    return "gone" if found - {("deleted", True)} else "in the cache" if found else ""


def _explained(causes: Collection[str], configs: Path) -> str:
    """Causes of a change, in words: in place of a configuration what differs in it from the last commit's."""
    before = _committed(configs)
    words = []
    for cause in dict.fromkeys(causes):
        path = configs / cause
        if path.is_file():
            old = before / cause
            fields = list(_fields(read_json(old), read_json(path))) if old.is_file() else []
            words += fields[:NAMED] or [ELSE]
            words += [f"{len(fields) - NAMED} more"] if len(fields) > NAMED else []
        else:
            words.append(cause)
    return ", ".join(words)


def _committed(configs: Path) -> Path:
    """The folder of the configurations by the last commit's parameters, with the code that is here; made once."""
    folder = configs / "committed"
    if not folder.exists():
        folder.mkdir()
        names = map(str, (PARAMS, PAPERS, SCALES, GRAPH))
        for name in git("ls-tree", "-r", "--name-only", "HEAD", *names).splitlines():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(git("show", f"HEAD:./{name}"), encoding="utf-8")
        # Together with code that does not know them, they explain nothing.
        with suppress(InputError):
            _configure(folder, folder)
    return folder


def _fields(before: Any, now: Any, place: str = "") -> Iterator[str]:
    """The values that differ, each as "place before -> now"."""
    old, new = _entries(before), _entries(now)
    if old is not None and new is not None:
        for key in dict.fromkeys([*old, *new]):
            if (place, key) != ("", "code"):
                yield from _fields(old.get(key), new.get(key), f"{place}.{key}".lstrip("."))
    elif before != now:
        yield f"{place} {before!r:.60} -> {now!r:.60}"


def _entries(value: Any) -> Mapping[str, Any] | None:
    """The entries of a mapping, or of a list of named things."""
    if isinstance(value, list) and all(isinstance(item, dict) and "name" in item for item in value):
        return {item["name"]: item for item in value}
    return value if isinstance(value, dict) else None


if __name__ == "__main__":
    with one_line_errors():
        print("\n".join(dry_run(sys.argv[1:])))
