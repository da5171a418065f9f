"""Running the DVC graph: several stages at a time, or with another set of parameters in a clone of its own."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.writing import atomic, beside, copy_file, leftovers
from seqcap.pipeline.params import read_yaml
from seqcap.system.scratch import forget, locked

RUNS = Path("runs")
PARAMS = "params.yaml"
# The first stage, which writes what the others depend on.
CONFIGURE = "configure"
# Where DVC has its locks.
DVC = Path(".dvc/tmp")
# The last stage.
REPORT = "report"
# Where `configure` writes how stages use the machine.
MACHINE = Path("artifacts/machine.json")
# Marks a folder that an experiment was published to. It holds the name of the experiment's file, and a hash of every
# file that was published.
MARKER = ".published"
# The mappings of the parameter files that an experiment may add entries to, and remove entries from.
SECTIONS = (
    "captioners",
    "ensembles",
    "estimators",
    "evaluations",
    "features",
    "groups",
    "mined",
    "papers",
    "pretrain",
    "ratings",
    "retrievals",
    "retrievers",
    "rewards",
    "runs",
    "variances",
)
# What a report is put together of: a folder per paper. And where `configure` writes which papers take part.
PARTS = Path("artifacts/sections")
REPORTED = Path("configs/report.json")
# What an experiment changes in its clone: its parameters, and what the pipeline writes and git tracks.
CHANGING = (PARAMS, "papers", "dvc.lock", "reports")
# How many uncommitted files a warning lists.
LISTED = 20
# With these variables git works on another repository than the one it is called for. Git's hooks set some of them.
REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX")


def repro(folder: Path, jobs: int, targets: Collection[str] = (), dry: bool = False) -> None:
    """Runs `dvc repro` in a checkout, with up to `jobs` independent stages at a time.

    A stage starts when all it depends on is done. The output of stages that run side by side interleaves. Where another
    run goes on in the checkout, this one waits for its end.

    Args:
        targets: the stages that are wanted; those that they depend on run, too. None: every stage.
        dry: only `configure` runs, and the names of the stages that would run are printed.

    Raises:
        InputError: `folder` is no checkout, there is no such stage, or one failed; its own message is above. What was
            done stays done.
    """
    if not (folder / "dvc.yaml").is_file() or not (folder / ".dvc").is_dir():
        raise InputError("dvc.yaml", "is not here, or .dvc is not", "run from the root of a checkout of seqcap")

    def run(stage: str) -> str:
        # The other stage's DVC holds the lock while it checks out what is cached, which may take longer than DVC waits.
        status = _python(folder, "-m", "seqcap.pipeline.quiet_dvc", "--wait-for-lock", "repro", "--single-item", stage)
        keep_records(folder)
        if status != 0:
            raise InputError("dvc.yaml", f"stage {stage} failed with status {status}", "see above")
        forget(folder, stage)
        return stage

    with locked(folder / DVC / "seqcap.lock", "runs the pipeline here"):
        wait_for_dvc(folder)
        keep_records(folder)
        needed = stage_graph(folder, targets)
        graph = unfinished(folder, needed)
        if CONFIGURE in graph:
            run(CONFIGURE)
            graph = unfinished(folder, needed)
        print(f"{len(needed) - len(graph)} of {len(needed)} stages are up to date", flush=True)
        if dry:
            for stage in TopologicalSorter(graph).static_order():
                print(f"would run {stage}")
            return
        share_cores(folder, jobs)
        try:
            run_graph(graph, run, jobs)
        finally:
            # A later `dvc repro` has one stage at a time.
            share_cores(folder, 1)


def _python(folder: Path, *arguments: str) -> int:
    """Runs the `python` that runs this with the code of a checkout, whatever is installed or active; its status."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PYTHONPATH": str((folder / "src").resolve()), "PATH": path}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=False).returncode


def run_graph(graph: Mapping[str, set[str]], run: Callable[[str], str], jobs: int) -> None:
    """Calls `run` with every stage of a graph, up to `jobs` at a time, each when those that it depends on are done.

    Raises:
        InputError: a stage failed. No other one is started, and those that run come to their end.
    """
    order = TopologicalSorter(graph)
    order.prepare()
    running: set[Future[str]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        while order.is_active():
            running |= {pool.submit(run, stage) for stage in order.get_ready()}
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    order.done(future.result())
                except InputError:
                    pool.shutdown(cancel_futures=True)
                    raise


def wait_for_dvc(folder: Path) -> None:
    """Waits until no DVC works in a checkout: a kill may have left one behind. Then deletes its lock of paths, where a
    process that was killed may still be named, and which is empty after a full disk."""
    told = ""
    while True:
        with _dvc_waits(folder):
            working = _working(folder / DVC / "rwlock")
            if not working:
                (folder / DVC / "rwlock").unlink(missing_ok=True)
                return
        line = "".join(f"waiting: process {process} runs {command}\n" for process, command in working.items())
        if line != told:
            print(line, end="", file=sys.stderr, flush=True)
            told = line
        time.sleep(1)


def _working(rwlock: Path) -> dict[int, str]:
    """The processes that DVC's lock of paths names and that are running: their ids and commands."""
    try:
        content = json.loads(rwlock.read_text(encoding="utf-8"))
        holders = [*content.get("write", {}).values(), *chain(*content.get("read", {}).values())]
        return {holder["pid"]: holder["cmd"] for holder in holders if _is_dvc(holder["pid"])}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        print(f"{rwlock}: is damaged, as after a full disk; deleted", file=sys.stderr, flush=True)
        return {}


def _is_dvc(process: int) -> bool:
    """Whether a process is a running DVC. A process that was killed may have left its id to another program."""
    try:
        return any("dvc" in argument for argument in psutil.Process(process).cmdline())
    except psutil.Error:
        return False


def keep_records(folder: Path) -> None:
    """Copies dvc.lock, or puts it back if it has been cut off: DVC writes it in place, and a kill or a full disk would
    cost it all that it has recorded."""
    records, kept = folder / "dvc.lock", folder / DVC / "seqcap-dvc.lock"
    with _dvc_waits(folder):
        if not records.exists():
            return
        if not _is_cut_off(records):
            copy_file(records, kept)
            return
        found = kept.exists()
        done = "put back as it was" if found else "deleted"
        print(f"{records}: was cut off, as by a kill or a full disk; {done}", file=sys.stderr, flush=True)
        if found:
            copy_file(kept, records)
        else:
            # What its cache holds DVC takes from there.
            records.unlink()


def _is_cut_off(records: Path) -> bool:
    """Whether a dvc.lock ends in the middle of a line or of a stage."""
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from voluptuous import Invalid

    text = records.read_text(encoding="utf-8", errors="replace")
    try:
        COMPILED_LOCKFILE_SCHEMA(YAML(typ="safe").load(text))
    except Invalid:
        return True
    except YAMLError:
        # A merge has left its marks, say. DVC will complain.
        pass
    return not text.endswith("\n")


@contextmanager
def _dvc_waits(folder: Path) -> Iterator[None]:
    """Keeps every DVC from what it does between the commands of its stages."""
    from dvc.lock import make_lock

    with make_lock(str(folder / DVC / "lock"), wait=True):
        yield


def unfinished(folder: Path, graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The part of a graph that is out of date, and what depends on it.

    To ask DVC once takes seconds, to ask it stage by stage takes minutes.

    Raises:
        InputError: as `stage_graph`.
    """
    with _dvc(folder) as repo:
        # Seen from another folder, names of stages have a path before them.
        changed = {name.rpartition(":")[2] for name in repo.status()}
    left: dict[str, set[str]] = {}
    for stage in TopologicalSorter(graph).static_order():
        before = graph[stage] & left.keys()
        if before or stage in changed:
            left[stage] = before
    return left


def share_cores(folder: Path, jobs: int) -> None:
    """Divides the cores among stages that run side by side: with more processes than cores, all take a quarter longer.
    A number of `workers` in params.yaml stays."""
    machine = {name: read_yaml(folder / PARAMS)[name] for name in ("device", "workers", "launcher")}
    if machine["workers"] == "auto":
        machine["workers"] = max(1, (os.cpu_count() or 1) // jobs)
    # Not changed but written: whoever deletes artifacts/ to begin anew deletes it, too.
    write_json(folder / MACHINE, machine)


def sections(papers: Collection[str]) -> list[str]:
    """The stages that make some papers' parts of the report."""
    return [f"section@{paper}" for paper in papers]


def stage_graph(folder: Path, targets: Collection[str] = ()) -> dict[str, set[str]]:
    """Each stage -> the stages that it depends on; with `targets`, only these and those that they need.

    Raises:
        InputError: there is no such stage, or DVC cannot read the graph.
    """
    with _dvc(folder) as repo:
        graph = repo.index.graph
        depends = {node.name: {n.name for n in graph.successors(node)} for node in graph.nodes}
    for target in targets:
        if target not in depends:
            kind, _, item = target.partition("@")
            allowed = ", ".join(sorted(name.partition("@")[2] for name in depends if name.startswith(f"{kind}@")))
            raise InputError("dvc.yaml", f"there is no {kind} {item!r}", f"allowed: {allowed}")
    # Without targets all: `dvc status` is clean then, and a later `dvc repro` runs nothing.
    needed = list(targets or depends)
    found: set[str] = set()
    while needed:
        name = needed.pop()
        if name not in found:
            found.add(name)
            needed += depends[name]
    return {name: depends[name] for name in found}


@contextmanager
def _dvc(folder: Path) -> Iterator[Any]:
    """The DVC repository of a checkout; its errors become one line."""
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(folder)) as repo:
            yield repo
    except DvcException as error:
        raise InputError("dvc.yaml", f"cannot be run by DVC ({error})", "run from a git checkout of seqcap") from None


def run_experiment(
    experiment: Path, root: Path | None, publish_to: Path, jobs: int, papers: Collection[str] = ()
) -> None:
    """Runs the graph with other parameters in runs/<name>, a clone of the last commit, and copies its reports out.

    A second call resumes, with the code of what is then the last commit.

    Args:
        experiment: YAML file that maps files of parameters to what changes in them, see `apply_overlay`.
        root: folder of the dataset of the task that the experiment changes, if it has one.
        publish_to: where the clone's reports/ are copied to: a new or empty folder, or an earlier publication.
        jobs: stages at a time.
        papers: whose parts are made. They are published beside the parts that were published earlier. None: all.

    Raises:
        InputError: the experiment cannot be read, names unknown parameters or, with `root`, not exactly one task;
            `publish_to` or runs/<name> holds something else; or a stage failed.
    """
    overlay = _read_overlay(experiment, root)
    folder = RUNS / experiment.stem
    # Checked here, before hours of work.
    check_publication(publish_to, folder)
    _warn_of_uncommitted(experiment)
    with locked(folder.with_name(f".{folder.name}.lock"), f"runs {experiment}"):
        _recover(publish_to.resolve())
        update_clone(folder)
        apply_overlay(folder, overlay, experiment)
        # Not every stage: of the tasks that an experiment leaves out, none is needed.
        if papers:
            repro(folder, jobs, parts_of(folder, papers))
            join_parts(folder, publish_to)
        else:
            repro(folder, jobs, [REPORT])
        publish(folder, publish_to, experiment)


def _read_overlay(experiment: Path, root: Path | None) -> dict[str, Any]:
    """What an experiment changes. `root` becomes the root of the one task in it."""
    try:
        overlay = YAML(typ="safe").load(experiment.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise InputError(experiment, f"cannot be read ({error})", "check the path and its YAML") from None
    if not isinstance(overlay, dict):
        raise InputError(experiment, "is not a mapping of files", "write what changes below the names of the files")
    if root is None:
        return overlay
    params = overlay.get(PARAMS)
    tasks = params.get("tasks") if isinstance(params, dict) else None
    changed = list(tasks.values()) if isinstance(tasks, dict) else []
    if len(changed) != 1:
        raise InputError(experiment, f"changes {len(changed)} tasks, but there is one root", "change one task")
    if not isinstance(changed[0], dict):
        raise InputError(experiment, "changes nothing of its task", "write it as a mapping")
    changed[0]["root"] = str(root.resolve())
    return overlay


def apply_overlay(folder: Path, overlay: Mapping[str, Any], source: Path) -> None:
    """Changes the parameters in a checkout. Comments stay; nothing is written if something is wrong.

    Args:
        folder: the checkout.
        overlay: file -> what changes in it. The files are params.yaml and those of papers/. Mappings are merged,
            anything else replaces. null removes an entry of one of `SECTIONS`, and with it the groups of an evaluation,
            the runs of a group, and the ensembles and comparisons of a run; a paper whose file is null has no entries
            at all.
        source: where the overlay is from, for messages.

    Raises:
        InputError: a file is not one of parameters, or has no such parameter.
    """
    yaml = YAML()
    # What does not change is written as it was read.
    yaml.width = 1_000_000
    yaml.preserve_quotes = True
    yaml.default_flow_style = None
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(type(None), _null)
    changed: dict[Path, Any] = {}
    for name, changes in overlay.items():
        path = _parameter_file(folder, name, source)
        try:
            params = yaml.load(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, YAMLError) as error:
            raise InputError(path, f"cannot be read ({error})", "correct its YAML and commit it") from None
        if not isinstance(params, dict):
            raise InputError(path, "is not a mapping of parameters", "correct and commit it")
        if changes is None and name != PARAMS:
            # One {} each: YAML would write a shared one as an alias.
            params.update({key: {} for key in params})
        elif isinstance(changes, Mapping):
            _merge(params, changes, source, name)
            _drop_orphans(params)
        else:
            raise InputError(source, f"{name}: is not a mapping of parameters", "write it like the file")
        changed[path] = params
    for path, params in changed.items():
        with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            yaml.dump(params, file)


def _null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _parameter_file(folder: Path, name: Any, source: Path) -> Path:
    """The parameter file of that name in a checkout."""
    path = folder / str(name)
    known = re.fullmatch(r"params\.yaml|papers/[^/]+\.yaml", str(name))
    # A link would lead the change out of the checkout.
    if not known or path.resolve() != folder.resolve() / str(name) or not path.is_file():
        raise InputError(source, f"{name} is no file of parameters", f"name {PARAMS} or a committed file of papers/")
    return path


def _merge(params: Any, changes: Mapping[str, Any], source: Path, name: str, parents: tuple[str, ...] = ()) -> None:
    """Replaces values of `params`, which `parents` lead to in the file `name`, by those of `changes`."""
    in_section = len(parents) == 1 and parents[0] in SECTIONS
    # An entry may get keys that it leaves to a default or to the run that it is like. `configure` checks them.
    may_be_new = bool(parents) and parents[0] in SECTIONS
    for key, value in changes.items():
        place = (*parents, str(key))
        if key not in params and (not may_be_new or (value is None and in_section)):
            raise InputError(source, f"{name}: {'.'.join(place)} is not a parameter", "correct the name")
        if value is None and in_section:
            del params[key]
        elif isinstance(value, Mapping) and isinstance(params.get(key), Mapping):
            _merge(params[key], value, source, name, place)
            if not params[key]:
                # Without the comment above its first entry, which YAML would write where none may be.
                params[key] = {}
        else:
            params[key] = value


def _drop_orphans(params: Any) -> None:
    """Removes from a paper's file what a removed evaluation or group leaves behind.

    Its runs stay without a group, since others may be like them.
    """
    groups, runs, ensembles = (params.get(section) or {} for section in ("groups", "runs", "ensembles"))
    for name in [
        name for name, group in groups.items() if group.get("evaluation") not in params.get("evaluations", {})
    ]:
        del groups[name]
    retrievals = params.get("retrievals") or {}
    for name in [name for name, of in retrievals.items() if of.get("evaluation") not in params.get("evaluations", {})]:
        del retrievals[name]
    for run in runs.values():
        if run.get("group") is not None and run["group"] not in groups:
            run["group"] = None
    for name in [name for name, ensemble in ensembles.items() if not _is_trained(ensemble["run"], runs)]:
        del ensembles[name]
    for paper in (params.get("papers") or {}).values():
        if paper.get("comparisons"):
            kept = [pair for pair in paper["comparisons"] if all(_is_trained(n, runs) or n in ensembles for n in pair)]
            paper["comparisons"] = kept


def _is_trained(name: str, runs: Any) -> bool:
    """Whether a run has a group: its own, or that of a run that it is like."""
    run = runs.get(name)
    if run is None:
        return False
    if "group" in run:
        return run["group"] is not None
    like = run.get("like", [])
    return any(_is_trained(other, runs) for other in ([like] if isinstance(like, str) else like))


def update_clone(folder: Path) -> None:
    """Clones the current checkout into `folder`, at its last commit, or updates an earlier clone to that commit.

    What an experiment changes in its clone (`CHANGING`) is replaced.

    Raises:
        InputError: git failed, something else is there, or somebody has worked in the clone.
    """
    for leftover in leftovers(folder, "tmp"):
        shutil.rmtree(leftover, ignore_errors=True)
    if not os.path.lexists(folder):
        temporary = beside(folder, "tmp")
        try:
            _git("clone", "--quiet", Path.cwd(), temporary, fix="run from the root of a checkout with a commit")
            # Renamed when it is complete: git would take half a clone for a folder of the user's checkout.
            temporary.rename(folder)
        except OSError as error:
            raise InputError(folder, f"cannot be made ({error.strerror})", "run the experiment again") from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return
    here, git_folder = Path.cwd().resolve(), folder.resolve() / ".git"
    # Without these options git also looks in the folders above, and finds the user's own checkout.
    repository = (f"--git-dir={git_folder}", f"--work-tree={folder.resolve()}")
    try:
        origin = _git(*repository, "config", "--get", "remote.origin.url").strip() if git_folder.is_dir() else None
    except InputError:
        origin = None
    if origin is None or Path(origin).resolve() != here or folder.resolve() == here:
        raise InputError(folder, "is not a clone of this checkout", "move it away")
    # What the clone has run. With the last commit's dvc.lock instead, DVC would make unchanged data again, and training
    # does not resume from other files.
    lock, ran = folder / "dvc.lock", git_folder / "seqcap-dvc.lock"
    if ran.exists():
        # An update was killed. What it has half done is nobody's work.
        (git_folder / "index.lock").unlink(missing_ok=True)
    else:
        _check_untouched(folder, repository)
        with atomic(ran) as partial:
            partial.write_bytes(lock.read_bytes() if lock.is_file() else b"")
    fix = f"correct that, or move {folder} away"
    _git(*repository, "fetch", "--quiet", "origin", "HEAD", fix=fix)
    _git(*repository, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD", fix=fix)
    if ran.stat().st_size > 0:
        copy_file(ran, lock)
    ran.unlink()


def _check_untouched(folder: Path, repository: Collection[str]) -> None:
    """Checks that a clone holds no work of its own, which its update would replace.

    Raises:
        InputError: it has a commit that the checkout lacks, or files have changed that no experiment changes.
    """
    commit = _git(*repository, "rev-parse", "HEAD", fix="move it away").strip()
    try:
        _git("cat-file", "-e", commit)
    except InputError:
        raise InputError(folder, f"has a commit of its own, {commit[:9]}", "fetch it, then move the clone") from None
    others = [f":(top,exclude){path}" for path in CHANGING]
    changes = _git(*repository, "status", "--porcelain", "--untracked-files=all", "--", ":(top)", *others).splitlines()
    if changes:
        what = f"has changes of its own, first {changes[0].strip()!r}"
        raise InputError(folder, what, "commit them in the checkout, then move the clone")


def _warn_of_uncommitted(experiment: Path) -> None:
    """Lists the uncommitted changes of the checkout, which the experiment does not run with."""
    commit = _git("rev-parse", "--short", "HEAD").strip()
    paths = ["."]
    if experiment.resolve().is_relative_to(Path.cwd()):
        # The experiment itself is read from the checkout.
        paths.append(f":(exclude,literal){experiment.resolve().relative_to(Path.cwd())}")
    changes = _git("--no-optional-locks", "status", "--porcelain", "--", *paths).splitlines()
    if not changes:
        return
    lines = [f"warning: the experiment runs commit {commit}, without these uncommitted changes:", *changes[:LISTED]]
    if len(changes) > LISTED:
        lines.append(f"and {len(changes) - LISTED} more")
    print(*lines, sep="\n", file=sys.stderr, flush=True)


def check_publication(target: Path, clone: Path) -> None:
    """Checks that a folder may be replaced by a publication: it is new, empty or as it was published.

    Args:
        target: the folder.
        clone: it holds what is to be published.

    Raises:
        InputError: it holds something else, which would be lost.
    """
    if target.is_symlink():
        raise InputError(target, "is a link", "name a folder")
    if target.exists() and not target.is_dir():
        raise InputError(target, "is a file", "name a folder")
    place, here, clone = target.resolve(), Path.cwd().resolve(), clone.resolve()
    if here.is_relative_to(place) or clone.is_relative_to(place) or place.is_relative_to(clone):
        raise InputError(target, f"holds the checkout, or is part of {clone}", "name a folder of its own")
    above = next(parent for parent in place.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(target, f"cannot be made in {above}", "name a folder elsewhere")
    if target.exists() and any(target.iterdir()) and not (target / MARKER).is_file():
        raise InputError(target, "holds files, but no earlier publication", "name a new folder, or move it away")
    if (target / MARKER).is_file():
        published = (target / MARKER).read_text(encoding="utf-8").splitlines()[1:]
        for line in _listing(place):
            if line not in published:
                what = f"holds {line.split(maxsplit=1)[1]}, added or changed since it was published"
                raise InputError(target, what, "move that away, or name a new folder")


def _listing(folder: Path) -> list[str]:
    """A hash and the name of every file in a folder but the marker, as `sha256sum` prints them."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            # None was published.
            lines.append(f"link  {path.relative_to(folder)}")
        elif path.is_file() and path != folder / MARKER:
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}")
    return lines


def parts_of(folder: Path, papers: Collection[str]) -> list[str]:
    """The stages that the report is put together of, but for the sections of other papers.

    Raises:
        InputError: as `stage_graph`.
    """
    wanted = sections(papers)
    others = stage_graph(folder, [REPORT])[REPORT] - set(wanted)
    return [*wanted, *sorted(stage for stage in others if not stage.startswith("section@"))]


def join_parts(clone: Path, published: Path) -> None:
    """Puts the report together in a clone: of the papers' parts that are up to date there, and for the others of what
    was published earlier, perhaps by another machine.

    Raises:
        InputError: the report failed; its own message is above.
    """
    papers = read_json(clone / REPORTED)["papers"]
    stale = unfinished(clone, stage_graph(clone, sections(papers)))
    for paper in papers:
        if f"section@{paper}" not in stale:
            continue
        # DVC will find them changed, and make them anew where they are wanted.
        for before, now in _parts(published, clone, paper):
            shutil.rmtree(now, ignore_errors=True)
            if before.is_dir():
                shutil.copytree(before, now)
    if _python(clone, "stages/report.py") != 0:
        raise InputError("stages/report.py", f"failed on the parts in {clone / PARTS}", "see above")


def _parts(published: Path, clone: Path, paper: str) -> list[tuple[Path, Path]]:
    """The folders of a paper's part of the report: in a publication, and in a clone."""
    return [(published / "sections" / paper, clone / PARTS / paper), (published / paper, clone / "reports" / paper)]


def publish(clone: Path, target: Path, experiment: Path) -> None:
    """Copies the reports out of a clone, and replaces an earlier publication.

    What they are put together of is copied, too: other papers may join them later (`join_parts`).

    After a kill, the folder holds the earlier publication or the new one. If the kill came between them, the earlier
    one lies beside the folder under another name, and the next call puts it back.

    Args:
        clone: has the reports in reports/. A paper without a part of the report is left out.
        target: the folder that is published to.
        experiment: the experiment's file.

    Raises:
        InputError: see `check_publication`; or the copy failed.
    """
    reports = clone / "reports"
    check_publication(target, clone)
    place = target.resolve()
    fresh = beside(place, "tmp")

    papers = {paper for paper in read_json(clone / REPORTED)["papers"] if (clone / PARTS / paper).is_dir()}

    def ignored(folder: str, names: list[str]) -> set[str]:
        # The clone's reports/ also holds what is committed there, and what other experiments published.
        above = Path(folder) in (reports, clone / PARTS)
        return {name for name in names if above and (Path(folder) / name).is_dir() and name not in papers}

    try:
        _recover(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(reports, fresh, ignore=ignored)
        shutil.copytree(clone / PARTS, fresh / "sections", ignore=ignored)
        marker = [_name_of(experiment), *_listing(fresh)]
        (fresh / MARKER).write_text("".join(f"{line}\n" for line in marker), encoding="utf-8")
        # Before it gets its name: it must not be lost with the power.
        os.sync()
        check_publication(target, clone)
        if place.exists():
            place.rename(beside(place, "old"))
        fresh.rename(place)
    except OSError as error:
        raise InputError(target, f"cannot be published to ({error})", f"the reports are in {reports}") from None
    finally:
        _recover(place)


def _name_of(experiment: Path) -> str:
    """An experiment's name in its publication: its path in the checkout, or the file's name if it is elsewhere."""
    path, here = experiment.resolve(), Path.cwd().resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name


def _recover(place: Path) -> None:
    """Cleans up after a kill: removes half a copy beside a publication, and puts the earlier one back if it is gone."""
    for half in leftovers(place, "tmp"):
        shutil.rmtree(half, ignore_errors=True)
    for before in leftovers(place, "old"):
        if place.exists():
            # Renamed first: under this name nobody puts it back, even if a kill leaves half of it.
            shutil.rmtree(before.rename(beside(place, "tmp")), ignore_errors=True)
        else:
            before.rename(place)


def _git(*arguments: str | Path, fix: str = "run from a git checkout with a commit") -> str:
    """What a git command prints."""
    environment = {name: value for name, value in os.environ.items() if name not in REDIRECTIONS}
    command = ["git", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", env=environment, check=False
    )
    if done.returncode != 0:
        raise InputError("git", " ".join(done.stderr.split()), fix)
    return done.stdout
