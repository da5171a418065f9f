"""Processes that start fast: forked from one that has loaded the large packages, which takes longer than the work of
many a stage, and than DVC's for each.

`python` in the folder of a `StageServer` asks it, by a socket, to run a script or a module with its arguments,
environment, folder and streams (`ask.py`). Nothing of seqcap is loaded before, so a stage runs the code that is there
when it starts. To kill that `python` kills what runs for it; without the server it is the real one."""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self, cast

# What DVC loads, and what stages do.
DVC = ("dvc.cli", "dvc.commands.repro", "dvc.lock", "dvc.repo", "networkx", "pydantic", "ruamel.yaml")
STAGES = (
    *("torch._dynamo", "safetensors.torch", "numba", "scipy.linalg.cython_blas", "scipy.stats", "sklearn.neighbors"),
    *("pandas", "pyarrow.parquet", "matplotlib.figure", "PIL.ImageFont"),
    *("sacremoses", "snowballstemmer.english_stemmer", "spacy"),
)
ADDRESS = "SEQCAP_STAGE_SERVER"  # in the environment of what a server runs
FEW = 3  # processes, which would have ended before a server had loaded its packages
FORKS = sys.platform == "linux"


class StageServer:
    """A server for as long as it is open. Threads may ask for its `python` at the same time.

    Attributes:
        folder: of its socket and its `python`.

    Args:
        modules: what it loads.
        paths: where some of these are that are not installed.
        early: whether it begins to load before anybody asks, for which a second core is needed.
    """

    def __init__(
        self, modules: Sequence[str] = (*DVC, *STAGES), paths: Sequence[Path] = (), *, early: bool = False
    ) -> None:
        self._modules = modules
        self._paths = paths
        self._early = early
        self._asked = 0
        self._lock = RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path()

    def __enter__(self) -> Self:
        self._temporary = tempfile.TemporaryDirectory(prefix="seqcap-")
        self.folder = Path(self._temporary.name)
        if self._early and FORKS and ADDRESS not in os.environ:
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None:
            # Without this it ends when nobody can write to it any more, as after a kill, but has loaded all before.
            self._process.terminate()
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
        self._temporary.cleanup()

    def next_python(self) -> Path:
        """The program for one process more: this one's own for the first few, if nothing was loaded early, and where
        another server runs this."""
        with self._lock:
            self._asked += 1
            if self._process is not None or (self._asked > FEW and FORKS and ADDRESS not in os.environ):
                return self.start()
        return Path(sys.executable)

    def start(self) -> Path:
        """Its `python`, which may be asked from now on."""
        with self._lock:
            if self._process is None:
                self._process = self._opened()
        return self._program

    @property
    def _program(self) -> Path:
        return self.folder / "python"

    def _opened(self) -> subprocess.Popen[bytes]:
        """The server's process, which listens, though it has not loaded anything yet."""
        address, ask = self.folder / "socket", Path(__file__).with_name("ask.py")
        known = [sys.executable, "-IS", str(ask), str(address), sys.executable, str(self._program)]
        self._program.write_text(f'#!/bin/sh\nexec {shlex.join(known)} "$@"\n')
        self._program.chmod(0o755)
        environment = {"OMP_NUM_THREADS": "1"} | os.environ | {ADDRESS: str(address)}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, self._paths))
        # -P: the folder of this file has modules that are named like Python's own.
        command = [sys.executable, "-P", __file__, str(address), *self._modules]
        # Of a process group of its own: Ctrl-C would reach what it runs, too, which `repro` ends.
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        assert process.stdout is not None
        process.stdout.readline()
        return process


def serve(address: str, *modules: str) -> None:
    """Forks a process for each request, until standard input ends. Who asks before all is loaded is answered after the
    module that is being loaded, and loads the others itself."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(128)
    print("listens", flush=True)
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
        while _is_asked(listener, wait=0):
            _fork(listener)
    # A collection in a fork would look at all that is loaded, and so copy it.
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while _is_asked(listener, wait=None):
        _fork(listener)


def _is_asked(listener: socket.socket, *, wait: float | None) -> bool:
    """Waits some seconds, or for ever, for a request; False without one, or if standard input has ended."""
    ready, _, _ = select.select([listener, sys.stdin], [], [], wait)
    return listener in ready and sys.stdin not in ready


def _fork(listener: socket.socket) -> None:
    client, _ = listener.accept()
    if os.fork() == 0:
        listener.close()
        _keep(client)
    client.close()


def _keep(client: socket.socket) -> None:
    """Runs what a client asks for in one more process, and tells how that ended, by a signal or not."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    worker = os.fork()
    if worker == 0:
        os._exit(_answer(client))
    _, status = os.waitpid(worker, 0)
    with suppress(OSError):
        client.send(status.to_bytes(4, "little"))
    os._exit(0)


def _answer(client: socket.socket) -> int:
    """Runs a script or a module as `python <arguments>` would; its exit status."""
    length, streams, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as request:
        folder, program, arguments, environment = json.loads(request.read(int.from_bytes(length, "little")))
    _end_with(client)
    for stream, standard in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, standard)
        os.close(stream)
    # Python decides this when it starts.
    cast(TextIOWrapper, sys.stdout).reconfigure(line_buffering=sys.stdout.isatty())
    os.chdir(folder)
    address = os.environ[ADDRESS]
    os.environ.clear()
    os.environ.update(environment, **{ADDRESS: address})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    is_module = arguments[0] == "-m"
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv = arguments[1:] if is_module else arguments
    sys.path[:0] = [folder if is_module else str(Path(arguments[0]).parent.resolve()), *paths]
    # What it starts asks this server, too.
    sys.executable = program
    try:
        for path in paths:
            if (Path(path) / "sitecustomize.py").is_file():
                runpy.run_path(f"{path}/sitecustomize.py")
        if is_module:
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(arguments[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        traceback.print_exc()
        status = 1
        if isinstance(error, KeyboardInterrupt):
            status = 128 + signal.SIGINT
    atexit._run_exitfuncs()
    for text in (sys.stdout, sys.stderr):
        with suppress(OSError):
            text.flush()
    return status & 0xFF


def _end_with(client: socket.socket) -> None:
    """Makes this process end at once when the client does: the kernel then sends SIGIO, which ends a process."""
    fcntl.fcntl(client, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(client, fcntl.F_SETFL, fcntl.fcntl(client, fcntl.F_GETFL) | os.O_ASYNC)
    with suppress(BlockingIOError):
        # It may have ended before.
        if client.recv(1, socket.MSG_DONTWAIT) == b"":
            os._exit(1)


if __name__ == "__main__":
    serve(*sys.argv[1:])
