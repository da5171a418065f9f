"""What others write against the installed wheel has types: mypy reads `typed_client.py` in an environment with it."""

import importlib.util
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

READS = "needs the environment of `make test-extras`: mypy reads the package anew there, half a minute"
pytestmark = pytest.mark.skipif(importlib.util.find_spec("trl") is None, reason=READS)
CLIENT = Path(__file__).parents[1] / "typed_client.py"


def test_mypy_reads_a_client_of_the_wheel(wheel, tmp_path):
    venv.create(tmp_path / "client", with_pip=False)
    packages = next(tmp_path.glob("client/lib/python*/site-packages"))
    shutil.copytree(wheel, packages, dirs_exist_ok=True)
    # NumPy and the rest are this environment's. The wheel's own folder comes first.
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(others))
    options = ["--config-file", "", "--strict", "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *options, "--python-executable", str(tmp_path / "client/bin/python")]
    done = subprocess.run([*command, str(CLIENT)], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.startswith("Success: no issues found in 1 source file"), done.stdout + done.stderr
