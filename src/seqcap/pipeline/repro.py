"""Runs the DVC graph of a checkout, several stages at a time."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.pipeline.graph import CONFIGURE, GRAPH, LOCK, REPORT, check_unchanged, graph_file, lock_files
from seqcap.pipeline.parameter_files import PARAMS, read_yaml
from seqcap.pipeline.records import BUSY, DVC, keep_records, wait_for_dvc
from seqcap.pipeline.schedule import Queue, jobs_here, note_seconds, read_seconds
from seqcap.pipeline.stage_server import StageServer
from seqcap.system.descendants import terminate_descendants
from seqcap.system.machine import MACHINE, cores
from seqcap.system.scratch import forget, locked
from seqcap.tasks import STARTS

LARGE = 5 << 20  # bytes
STANDARD_OUTPUT = 1  # its file descriptor
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # what ends a run


def repro(
    folder: Path,
    jobs: int | None,
    targets: Collection[str] = (),
    *,
    then_report: bool = False,
    cluster: str | None = None,
    server: StageServer | None = None,
) -> None:
    """Runs `dvc repro` in a checkout, with up to `jobs` independent stages at a time; None: as many as there are cores,
    memory permitting. Waits for another run there. `targets` run with the stages that they depend on; empty: every
    stage. With `then_report` the report comes last, of these and of what git has of other papers. `cluster`: the
    address of a Dask scheduler whose workers run the stages (`cluster.Cluster`); None: this process does, with
    `server`, which is open, or with one of its own."""
    check_checkout(folder)
    if cluster is None:
        here = jobs or jobs_here()
        with (
            new_server() if server is None else nullcontext(server) as opened,
            _ended_by_signals(terminate_descendants),
        ):

            def execute(_: str, folder: Path, *arguments: str) -> int:
                return run_python(folder, *arguments, python=opened.next_python(), process_group=0)

            _repro(folder, here, here, targets, then_report, execute)
        return
    from seqcap.pipeline.cluster import connected

    with connected(cluster, run_python) as workers, _ended_by_signals(workers.cancel):
        _repro(folder, jobs or workers.jobs, cores(), targets, then_report, workers.run)


def new_server() -> StageServer:
    """A server that loads while this process asks what is to be done, if there is a core for it."""
    return StageServer(early=cores() > 1)


@contextmanager
def _ended_by_signals(end_stages: Callable[[], None]) -> Iterator[None]:
    """While it is open, the stages that run end with this process: by SIGTERM (`kill`, a queue), by Ctrl-C, and with
    its terminal. Here they have process groups of their own: Ctrl-C would reach them while they import, and each would
    print where. What SIGKILL leaves behind here comes to its end, and the next run waits for it."""

    def terminate(*_: object) -> None:
        end_stages()
        raise KeyboardInterrupt

    # What is ignored, as by `nohup` or with `&`, stays so.
    numbers = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, terminate) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _repro(
    folder: Path,
    jobs: int,
    sharing: int,
    targets: Collection[str],
    then_report: bool,
    execute: Callable[..., int],
) -> None:
    """`repro`, where `execute(stage, folder, *arguments)` runs Python for a stage, and `sharing` stages share the
    cores of a machine."""

    def run(stage: str) -> str:
        begun = time.monotonic()
        # The other stage's DVC holds the lock while it checks out what is cached, which may take longer than DVC waits.
        dvc = ("-m", "seqcap.pipeline.quiet_dvc", "--wait-for-lock", "repro", "--single-item")
        gone = _absent_inputs(folder, stage) if stage == REPORT else []
        if gone:
            # DVC would not run it. The page names the papers that it lacks.
            say(f"the report is made without {', '.join(gone)}: nothing of these has run")
            status = execute(stage, folder, "stages/report.py")
        else:
            while (status := execute(stage, folder, *dvc, stage)) == BUSY:
                wait_for_dvc(folder)
        file, name = split_address(stage)
        keep_records(folder, [file.with_name(LOCK.name)])
        if status != 0:
            raise InputError(file, f"stage {name} failed with status {status}", "see above")
        note_seconds(folder, stage, time.monotonic() - begun)
        forget(folder, name)
        return stage

    with locked(folder / DVC / "seqcap.lock", "runs the pipeline here"):
        wait_for_dvc(folder)
        keep_records(folder, lock_files(folder))
        needed, graph = unfinished(folder, targets, then_report=then_report)
        if CONFIGURE in graph:
            run(CONFIGURE)
            needed, graph = unfinished(folder, targets, then_report=then_report)
        elif CONFIGURE in needed:
            check_unchanged(folder)
        say(f"{len(needed) - len(graph)} of {len(needed)} stages are up to date")
        share_cores(folder, sharing)
        try:
            run_graph(graph, run, jobs, read_seconds(folder))
        finally:
            # A later `dvc repro` has one stage at a time.
            share_cores(folder, 1)
        warn_of_large_starts(folder)


def check_checkout(folder: Path) -> None:
    if not (folder / "dvc.yaml").is_file() or not (folder / ".dvc").is_dir():
        raise InputError("dvc.yaml", "is not here, or .dvc is not", "run from the root of a checkout of seqcap")
    artifacts = folder / MACHINE.parent
    if artifacts.is_symlink():
        mount = "mount the other disk there, or keep DVC's cache on it: `dvc cache dir --local FOLDER`"
        fix = f"{mount}, and `dvc config --local cache.type symlink`"
        raise InputError(artifacts, "is a link, beyond which DVC keeps nothing", fix)


def run_python(
    folder: Path,
    *arguments: str,
    python: Path | None = None,
    process_group: int | None = None,
    watched: Callable[[subprocess.Popen[str]], AbstractContextManager[object]] = nullcontext,
) -> int:
    """Runs `python`, or the one that runs this, with the code of a checkout, whatever is installed or active; its
    status. Its libraries have a thread each, where the user does not say otherwise: stages run side by side, in
    processes. `process_group`: which one it belongs to; 0: one of its own, which Ctrl-C does not reach. `watched`: is
    open while its process runs."""
    python = python or Path(sys.executable)
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    code = os.pathsep.join([str((folder / "src").resolve()), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {"OMP_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": code, "PATH": path}
    command = [str(python), *arguments]
    # A stage would fail if it wrote into a pipe that nobody reads any more.
    is_pipe = stat.S_ISFIFO(os.fstat(STANDARD_OUTPUT).st_mode)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        process_group=process_group,
        stdout=subprocess.PIPE if is_pipe else None,
        encoding="utf-8",
        errors="replace",
    )
    with process, watched(process):
        for line in process.stdout or ():
            say(line.rstrip("\n"))
        return process.wait()


def say(line: str) -> None:
    """Prints a line. If nobody reads any more, as behind `| head`, it is dropped, and so is what follows."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STANDARD_OUTPUT)


def run_graph(
    graph: Mapping[str, set[str]], run: Callable[[str], str], jobs: int, seconds: Mapping[str, float]
) -> None:
    """Calls `run` with every stage of a graph in the order of `Queue`, up to `jobs` at a time. If one fails, no other
    starts, and those that run come to their end."""
    queue = Queue(graph, seconds)
    running: set[Future[str]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        while queue:
            while len(running) < jobs and (stage := queue.take()) is not None:
                running.add(pool.submit(run, stage))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                queue.done(future.result())


def unfinished(
    folder: Path, targets: Collection[str] = (), *, then_report: bool = False
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """`stage_graph`, in which the report comes last with `then_report`, and the part of it that is out of date, with
    what depends on it. DVC reads its files once for both: to ask it of each stage would take minutes. Waits while
    another DVC works on the same files."""
    from dvc.lock import LockError
    from dvc.repo import lock_repo

    while True:
        with open_dvc(folder) as repo, suppress(LockError), lock_repo(repo):
            graph = _stage_graph(repo, targets)
            if then_report:
                graph[REPORT] = set(graph) - {REPORT}
            names = {address(repo, stage): stage for stage in repo.index.stages}
            changed = {name for name in graph if names[name].status()}
            return graph, _with_what_follows(graph, changed)
        wait_for_dvc(folder)


def _with_what_follows(graph: Mapping[str, set[str]], changed: Collection[str]) -> dict[str, set[str]]:
    """The part of a graph that is some stages and those that depend on them."""
    left: dict[str, set[str]] = {}
    for stage in TopologicalSorter(graph).static_order():
        before = graph[stage] & left.keys()
        if before or stage in changed:
            left[stage] = before
    return left


def _absent_inputs(folder: Path, stage: str) -> list[str]:
    """What a stage reads and is not there."""
    with open_dvc(folder) as repo:
        return [dependency.def_path for dependency in _find(repo, stage).deps if not dependency.exists]


def absent_makers(folder: Path, stage: str) -> list[str]:
    """The stages that make what a stage reads and is not there."""
    with open_dvc(folder) as repo:
        reader = _find(repo, stage)
        absent = {dependency.fs_path for dependency in reader.deps if not dependency.exists}
        makers = repo.index.graph.successors(reader)
        return [address(repo, maker) for maker in makers if absent & {out.fs_path for out in maker.outs}]


def _find(repo: Any, stage: str) -> Any:
    """DVC's stage of an address."""
    return next(candidate for candidate in repo.index.stages if address(repo, candidate) == stage)


def share_cores(folder: Path, jobs: int) -> None:
    """Divides the cores among stages that run side by side, unless params.yaml gives a number of `workers`: with more
    processes than cores, all take a quarter longer."""
    params = read_yaml(folder / PARAMS)
    machine = {name: params[name] for name in ("device", "workers", "launcher")}
    if machine["workers"] == "auto":
        machine["workers"] = max(1, cores() // jobs)
    # Written, not changed: somebody may have deleted artifacts/ to begin anew.
    write_json(folder / MACHINE, machine)


def warn_of_large_starts(folder: Path) -> None:
    """What runs start from is for git to keep, but at the papers' scale it is too large."""
    sizes = [path.stat().st_size for path in (folder / STARTS).rglob("*") if path.is_file()]
    large = [size for size in sizes if size > LARGE]
    if large:
        what = f"{len(large)} files of more than {LARGE >> 20} MB, {sum(large) >> 20} MB together"
        print(f"warning: {STARTS}/ has {what}; docs/gpus.md says how to keep them out of git", file=sys.stderr)


def sections(papers: Collection[str]) -> list[str]:
    """The stages that make the parts of the report on some papers."""
    return [f"{graph_file(paper)}:section-{paper}" for paper in papers]


def split_address(stage: str) -> tuple[Path, str]:
    """The DVC file and the name of a stage."""
    file, _, name = stage.rpartition(":")
    return Path(file or GRAPH), name


def address(repo: Any, stage: Any) -> str:
    """A stage as `dvc repro` takes it in the root of its checkout: its name, after its file where that is a paper's."""
    file = Path(os.path.relpath(stage.path, repo.root_dir))
    return stage.name if file == GRAPH else f"{file.as_posix()}:{stage.name}"


def stage_graph(folder: Path, targets: Collection[str] = ()) -> dict[str, set[str]]:
    """Each stage -> the stages that it depends on; with `targets`, only these and those that they need."""
    with open_dvc(folder) as repo:
        return _stage_graph(repo, targets)


def _stage_graph(repo: Any, targets: Collection[str]) -> dict[str, set[str]]:
    from dvc.repo.graph import get_subgraph_of_nodes

    graph = repo.index.graph
    names = {stage: address(repo, stage) for stage in graph}
    _check_targets(targets, names.values())
    # Without targets all: `dvc status` is clean then, and a later `dvc repro` runs nothing.
    needed = get_subgraph_of_nodes(graph, [stage for stage, name in names.items() if name in targets])
    return {names[stage]: {names[other] for other in needed.successors(stage)} for stage in needed}


def _check_targets(targets: Collection[str], known: Collection[str]) -> None:
    """Checks that targets are stages; the `InputError` names the stages of the same kind."""
    for target in targets:
        if target not in known:
            kind, _, item = split_address(target)[1].partition("-")
            names = [split_address(stage)[1] for stage in known]
            allowed = sorted(name.removeprefix(f"{kind}-") for name in names if name.startswith(f"{kind}-"))
            raise InputError(GRAPH, f"there is no {kind} {item!r}", f"allowed: {', '.join(allowed)}")


@contextmanager
def open_dvc(folder: Path) -> Iterator[Any]:
    from dvc.exceptions import DvcException
    from dvc.repo import Repo
    from dvc.scm import SCMError

    try:
        with Repo(str(folder)) as repo:
            yield repo
    except SCMError as error:
        raise InputError("dvc.yaml", f"cannot be run by DVC ({error})", "run from a git checkout of seqcap") from None
    except DvcException as error:
        fix = "mend the file that it names, or take it from git"
        raise InputError("dvc.yaml", f"cannot be run by DVC ({error})", fix) from None
    except OSError as error:
        problem = f"cannot be used by DVC ({error.strerror})"
        raise InputError(error.filename or ".dvc", problem, "look at the permissions of the folder .dvc") from None
