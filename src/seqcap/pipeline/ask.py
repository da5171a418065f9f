"""The `python` of a stage server: `ask.py <address> <python> <arguments>` has the server run a script or a module, and
ends as that ends. What the server does not know, and all of it without the server, the real `python` runs.

It is no module: it starts at once because it imports little."""

import json
import os
import signal
import socket
import sys
from contextlib import suppress


def main(address: str, python: str, program: str, *arguments: str) -> None:
    server = socket.socket(socket.AF_UNIX)
    try:
        if not arguments or (arguments[0].startswith("-") and arguments[0] != "-m"):
            raise OSError
        server.connect(address)
    except OSError:
        os.execv(python, [python, *arguments])
    # Ctrl-C reaches what runs for this process, too, which ends or does not.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = os.getcwd()  # noqa: PTH109  pathlib takes longer than all of this
    request = json.dumps([folder, program, arguments, dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(8, "little")], [0, 1, 2])
    server.sendall(request)
    answer = server.recv(4)
    if not answer:
        sys.exit("the stage server was killed, and with it what this process waited for")
    status = int.from_bytes(answer, "little")
    if os.WIFSIGNALED(status):
        with suppress(OSError):  # SIGKILL has no other handler
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(*sys.argv[1:])
