"""Cuts the power while files are written, and looks at what is on the disk.

    python tests/campaigns/power.py --losses 50

A process writes JSON and weights, again and again, to a file system of its own, and says when each is written. At
random moments it is stopped, and the disk is copied as it is at that moment, without what is still in memory. The copy
must hold whole files, none older than what was said to be written. The same without fsync shows that this can fail.
Takes root, for it mounts file systems. Writes tests/campaigns/power.md.
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipeline_files import ROOT, git

from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.files.tensors import load_weights

TABLE = Path(__file__).with_suffix(".md")
MEGABYTES = 64
# It must not help: by itself, ext4 writes most files that replace others, and its journal every five seconds.
OPTIONS = "loop,noauto_da_alloc,commit=300"
WRITER = """
import os, sys
import torch
from seqcap.files.json_file import write_json
from seqcap.files.tensors import save_weights
if sys.argv[2] == "no fsync":
    os.fsync = lambda descriptor: None
for number in range(10**9):
    write_json(f"{sys.argv[1]}/file.json", {"number": number, "filler": "x" * 20_000})
    save_weights(f"{sys.argv[1]}/file.safetensors", {"filler": torch.full((20_000,), number)}, {"number": number})
    os.write(1, f"{number}\\n".encode())
"""


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[None]:
    folder.mkdir()
    subprocess.run(["mount", "-o", OPTIONS, image, folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


def found(folder: Path, said: int) -> str:
    """What is on a disk after `said` was said to be written: "whole", or what is wrong."""
    try:
        numbers = [read_json(folder / "file.json")["number"], load_weights(folder / "file.safetensors")[1]["number"]]
    except InputError:
        return "missing or damaged"
    return "whole" if min(numbers) >= said else "whole, but older"


def lose(folder: Path, losses: int, fsync: str, seed: int) -> dict[str, int]:
    """Cuts the power so often; returns how often each was found."""
    image, copy, draw = folder / "disk", folder / "copy", random.Random(seed)
    counts: dict[str, int] = {}
    for _ in range(losses):
        subprocess.run(["truncate", f"--size={MEGABYTES}M", image], check=True)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image], check=True)
        with mounted(image, folder / "mounted"):
            command = [sys.executable, "-c", WRITER, str(folder / "mounted"), fsync]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
                assert writer.stdout is not None
                said = int(writer.stdout.readline())
                end = time.monotonic() + draw.uniform(0, 1)
                while time.monotonic() < end:
                    said = int(writer.stdout.readline())
                writer.send_signal(signal.SIGSTOP)
                shutil.copy(image, copy)
                writer.kill()
        with mounted(copy, folder / "after"):
            result = found(folder / "after", said)
        counts[result] = counts.get(result, 0) + 1
        image.unlink()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--losses", type=int, default=50)
    arguments = parser.parse_args()
    # Before its table changes.
    tip = git(ROOT, "rev-parse", "--short=8", "HEAD").strip()
    rows = []
    for fsync in ("fsync", "no fsync"):
        with tempfile.TemporaryDirectory() as folder:
            counts = lose(Path(folder), arguments.losses, fsync, seed=0)
        names = ("whole", "whole, but older", "missing or damaged")
        rows.append(f"| {fsync} | {' | '.join(str(counts.get(name, 0)) for name in names)} |")
        print(rows[-1], flush=True)
    TABLE.write_text(
        f"# Power loss\n\nWritten by `python tests/campaigns/power.py --losses {arguments.losses}` at commit {tip}: how"
        " often the\ndisk held whole files, after the power was cut while they were written.\n\n"
        "| | whole, none older than said | whole, but older | missing or damaged |\n|---|---:|---:|---:|\n"
        + "\n".join(rows)
        + "\n"
    )


if __name__ == "__main__":
    main()
