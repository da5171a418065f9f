"""Runs a graph's stages in processes forked from one that has loaded the large packages, which takes longer than most
of the tiny graph's stages.

`python` on the stages' PATH is then a program that asks this server, by a socket, to run the script with its arguments,
environment, folder and streams. Nothing of seqcap is loaded before.
"""

import atexit
import contextlib
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

PRELOADED = (
    "torch._dynamo",
    "numpy",
    "pandas",
    "pyarrow.parquet",
    "pydantic",
    "numba",
    "matplotlib.figure",
    "sacremoses",
    "safetensors.torch",
    "scipy.linalg.cython_blas",
    "sklearn.neighbors",
    "snowballstemmer.english_stemmer",
    "spacy",
)
CLIENT = """\
#!{python} -SE
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [json.dumps([os.getcwd(), sys.argv[1:], dict(os.environ)]).encode()], [0, 1, 2])
sys.exit(int(server.recv(9) or b"1"))
"""


@contextlib.contextmanager
def stage_server(folder: Path) -> Iterator[Path]:
    """Starts the server; gives a folder whose `python` asks it."""
    address, programs = folder / "socket", folder / "bin"
    programs.mkdir()
    (programs / "python").write_text(CLIENT.format(python=sys.executable, address=str(address)))
    (programs / "python").chmod(0o755)
    with subprocess.Popen([sys.executable, __file__, address], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield programs
        finally:
            server.kill()


def serve(address: str) -> None:
    """Accepts one request after the other, and forks."""
    for name in PRELOADED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            status = answer(client)
            client.send(str(status).encode())
            os._exit(0)
        client.close()


def answer(client: socket.socket) -> int:
    """Runs a script as `python <arguments>` would; its exit status."""
    request, streams, _, _ = socket.recv_fds(client, 1 << 20, 3)
    place, arguments, environment = json.loads(request)
    for stream, standard in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, standard)
    os.chdir(place)
    os.environ.clear()
    os.environ.update(environment)
    paths = environment["PYTHONPATH"].split(os.pathsep)
    sys.argv, sys.path[:1] = arguments, [str(Path(arguments[0]).parent.resolve()), *paths]
    status = 0
    try:
        for path in paths:
            if (Path(path) / "sitecustomize.py").is_file():
                runpy.run_path(f"{path}/sitecustomize.py")
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
    serve(sys.argv[1])
