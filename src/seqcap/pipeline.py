"""Running the DVC graph: several stages at a time, or with another set of parameters in a clone of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.errors import InputError

RUNS = Path("runs")


def repro(folder: Path, jobs: int) -> None:
    """Runs `dvc repro` in a checkout, with up to `jobs` independent stages at a time.

    A stage starts when all it depends on is done. The output of stages that run side by side interleaves.

    Raises:
        InputError: a stage failed; its own message is above. What was done stays done.
    """
    # The checkout's own code, and the `python` that runs this, whatever is installed or active.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PYTHONPATH": str((folder / "src").resolve()), "PATH": path}

    def run(stage: str) -> tuple[str, int]:
        command = [sys.executable, "-m", "dvc", "repro", "--single-item", stage]
        return stage, subprocess.run(command, cwd=folder, env=environment, check=False).returncode

    graph = TopologicalSorter(stage_graph(folder))
    graph.prepare()
    running: set[Future[tuple[str, int]]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        while graph.is_active():
            running |= {pool.submit(run, stage) for stage in graph.get_ready()}
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                stage, status = future.result()
                if status != 0:
                    pool.shutdown(cancel_futures=True)
                    raise InputError("dvc.yaml", f"stage {stage} failed with status {status}", "see its message above")
                graph.done(stage)


def stage_graph(folder: Path) -> dict[str, set[str]]:
    """Each stage that the reports need -> the stages that it depends on."""
    from dvc.repo import Repo

    with Repo(str(folder)) as repo:
        graph = repo.index.graph
        depends = {node.name: {n.name for n in graph.successors(node)} for node in graph.nodes}
        reports = Path(repo.root_dir) / "reports"
        needed = [node.name for node in graph.nodes if any(reports in Path(out.fs_path).parents for out in node.outs)]
    found: set[str] = set()
    while needed:
        name = needed.pop()
        if name not in found:
            found.add(name)
            needed += depends[name]
    return {name: depends[name] for name in found}


def run_experiment(experiment: Path, root: Path | None, publish: Path, jobs: int) -> None:
    """Runs the graph with other parameters in runs/<name>, a clone of the last commit, and copies its reports out.

    Called again it resumes, with the code of the commit that is then the last. A paper, or a part of one, that the
    experiment sets to null is left out, with its stages.

    Args:
        experiment: YAML file of the parameters that differ from params.yaml.
        root: folder of the dataset of the task that the experiment changes, if it has one.
        publish: where the clone's reports/ are copied to.
        jobs: stages at a time.

    Raises:
        InputError: the experiment is not readable, names unknown parameters or not one task to give `root` to, or a
            stage failed.
    """
    try:
        overlay = YAML(typ="safe").load(experiment.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise InputError(experiment, f"cannot be read ({error})", "check the path and its YAML") from None
    if not isinstance(overlay, dict):
        raise InputError(experiment, "is not a mapping of parameters", "write it like params.yaml")
    changed = list(overlay.get("tasks") or {})
    if root is not None and len(changed) != 1:
        raise InputError(experiment, f"changes {len(changed)} tasks, but there is one root", "change one task")
    folder = RUNS / experiment.stem
    if folder.exists():
        _git("-C", folder, "fetch", "--quiet", "origin", "HEAD")
        _git("-C", folder, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    else:
        _git("clone", "--quiet", Path.cwd(), folder)
    yaml = YAML()
    yaml.width = 120
    params = yaml.load((folder / "params.yaml").read_text(encoding="utf-8"))
    _overlay(params, overlay, experiment)
    if root is not None:
        params["tasks"][changed[0]]["root"] = str(root.resolve())
    with (folder / "params.yaml").open("w", encoding="utf-8") as file:
        yaml.dump(params, file)
    _drop_stages(folder / "dvc.yaml", _left_out(overlay))
    repro(folder, jobs)
    shutil.rmtree(publish, ignore_errors=True)
    # What an earlier experiment published is not part of this one, nor is what the clone has of papers left out.
    published = (path.parent.name for path in (folder / "reports").glob("*/report.md"))
    left_out = (f"*{paper}{end}" for paper, value in overlay.items() if value is None for end in ("_*", ".csv"))
    others = shutil.ignore_patterns(*published, *left_out)
    shutil.copytree(folder / "reports", publish, ignore=others)


def _overlay(params: Any, changes: Mapping[str, Any], source: Path, prefix: str = "") -> None:
    """Replaces values of `params` by those of `changes`, keeping comments; null removes a captioner or a variant."""
    removable = prefix in ("captioners.", "translators.") or prefix.endswith(".variants.")
    for key, value in changes.items():
        if key not in params:
            raise InputError(source, f"{prefix}{key} is not in params.yaml", "correct the name")
        if value is None and removable:
            del params[key]
        elif isinstance(value, Mapping) and isinstance(params[key], Mapping) and not _per_scale(params[key]):
            _overlay(params[key], value, source, f"{prefix}{key}.")
        else:
            params[key] = value


def _left_out(overlay: Mapping[str, Any]) -> list[str]:
    """How the stages of papers and of their parts that are null end: <paper>, or <part>_<paper>."""
    parts = [
        f"{part}_{paper}"
        for paper, changes in overlay.items()
        if isinstance(changes, Mapping)
        for part, value in changes.items()
        if value is None
    ]
    return [paper for paper, value in overlay.items() if value is None] + parts


def _drop_stages(path: Path, endings: Sequence[str]) -> None:
    """Removes the stages named <what>_<ending>, and what the others depend on of their outputs."""
    yaml = YAML()
    yaml.width = 120
    graph = yaml.load(path.read_text(encoding="utf-8"))
    stages = graph["stages"]
    dropped = {name: stages.pop(name) for name in list(stages) if name.endswith(tuple(f"_{e}" for e in endings))}
    gone, left = ([out for stage in group.values() for out in _outputs(stage)] for group in (dropped, stages))

    def is_gone(dep: str) -> bool:
        # A folder is still made while a stage is left that writes into it.
        return any(_within(out, dep) for out in gone) and not any(_within(out, dep) for out in left)

    for stage in stages.values():
        deps = stage.get("do", stage)["deps"]
        deps[:] = [dep for dep in deps if not is_gone(dep)]
    curves = graph["plots"][0]["Learning curves"]["y"]
    for file in [file for file in curves if is_gone(file)]:
        del curves[file]
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(graph, file)


def _outputs(stage: Mapping[str, Any]) -> list[str]:
    """What a stage of dvc.yaml writes; templates are as they are written there."""
    outs = stage.get("do", stage)["outs"]
    return [out if isinstance(out, str) else next(iter(out)) for out in outs]


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _per_scale(value: Mapping[str, Any]) -> bool:
    return set(value) == {"laptop", "paper"}


def _git(*arguments: str | Path) -> None:
    done = subprocess.run(["git", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError("git", " ".join(done.stderr.split()), "run from a git checkout with a commit")
