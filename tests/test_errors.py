"""How programs end: one line for what is wrong, for Ctrl-C, and none where nobody reads on."""

import errno
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from small_task import run_config, write_task

from seqcap.config import config_path, write_config
from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import write_json
from seqcap.training.run import TrainConfig

ROOT = Path(__file__).parents[1]
NO_MEMORY = "error: memory has run out; allow the process more (ulimit -v), or give it less\n"


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (InputError("a\nfile", "is\n wrong", "mend it"), 2, "error: a file: is wrong; mend it\n"),
        (InputError("\x1b[2Jfile\udcff", "is wrong", "mend it"), 2, "error: \ufffd[2Jfile\ufffd: is wrong; mend it\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (MemoryError("Unable to allocate 2 GiB"), 2, NO_MEMORY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), 2, NO_MEMORY),
        (ImportError("libopenblas.so: failed to map segment from shared object"), 2, NO_MEMORY),
    ],
)
def test_errors_are_one_line(capsys, error, status, said):
    with pytest.raises(SystemExit) as caught, one_line_errors():
        raise error
    assert caught.value.code == status
    assert caught.value.__suppress_context__
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("error", [ZeroDivisionError(), ImportError("no module"), OSError(errno.EIO, "read error")])
def test_faults_of_the_code_keep_their_traceback(error):
    with pytest.raises(type(error)), one_line_errors():
        raise error


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_closed_pipe_is_no_error(lines):
    """`| head -1`, whether the pipe is closed while something is printed or before the buffer is written."""
    code = f"from seqcap.errors import one_line_errors\nwith one_line_errors():\n    for i in range({lines}): print(i)"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_ctrl_c_ends_training_with_one_line(tmp_path, monkeypatch):
    """And all its workers, none of which goes on to the next seed."""
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    runs = [run_config(seeds=(1, 2, 3, 4), training={"epochs": 100_000})]
    write_config(config_path("train", "group"), TrainConfig(runs=runs, code={}))
    stage = subprocess.Popen(
        [sys.executable, ROOT / "stages/train.py", "train", "group"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # What a shell starts with & ignores Ctrl-C, and so does what that starts: the tests may be such.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while len(list(Path("scratch").rglob("*.safetensors"))) < 2:
        assert stage.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(stage.pid, signal.SIGINT)
    # The workers have the pipe, too: it closes with the last of them.
    _, said = stage.communicate(timeout=30)
    assert stage.returncode == 130, said
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said
    assert len(list(Path("scratch").rglob("*.safetensors"))) == 2
