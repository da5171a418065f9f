"""How long a run that was killed takes to its next training step: `seqcap repro` on a terminal, ended by SIGTERM in the
middle of a training, and called again.

    python benchmarks/restart.py

In a new clone of the last commit; prints seconds from the call to the first new step that the bar shows, which it does
once a second. For an idle machine; two minutes. Writes nothing here.
"""

import os
import pty
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "seqcap", "repro", "--papers", "sle", "--jobs", "1"]
TIMES = 3
STEPS = 100  # of a training before it is killed
STEP = re.compile(r"(\S+ seed \d+): +\d+%[^\r\n]*? (\d+)/\d+ ")


def steps(text: str) -> list[tuple[str, int]]:
    """The trainings whose bars a terminal's text has, each with the number of steps that it shows."""
    return [(training, int(number)) for training, number in STEP.findall(text)]


def shown(terminal: int) -> Iterator[tuple[str, int]]:
    """The steps that bars show, as they come."""
    kept = ""
    while True:
        kept += os.read(terminal, 65_536).decode(errors="replace")
        *whole, kept = re.split(r"(?<=[\r\n])", kept)
        yield from steps("".join(whole))


def until_killed(folder: Path) -> float:
    """Runs until the training has gone on for `STEPS` steps, and ends it; seconds from the call to the first one."""
    terminal, other = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 100))  # without a size there are no bars
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1", "DVC_NO_ANALYTICS": "1"}
    begin = time.monotonic()
    process = subprocess.Popen(COMMAND, cwd=folder, env=environment, stdout=other, stderr=other)
    os.close(other)
    starts, first = dict[str, int](), 0.0
    for training, number in shown(terminal):
        start = starts.setdefault(training, number)
        if number > start and not first:
            first = time.monotonic() - begin
        if number >= start + STEPS:
            break
    process.send_signal(signal.SIGTERM)
    process.wait()
    os.close(terminal)
    return first


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        until_killed(folder)
        taken = [until_killed(folder) for _ in range(TIMES)]
    each = ", ".join(f"{seconds:.1f}" for seconds in taken)
    print(f"{statistics.median(taken):.1f} s to the first new step after a kill (median of {each})")


if __name__ == "__main__":
    main()
