"""A stage server's `python` does what the real one does, faster, and dies with what runs for it."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from small_checkout import wait_until

from seqcap.pipeline import stage_server
from seqcap.pipeline.stage_server import ADDRESS, FEW, StageServer

LOADED = "wave"  # which Python itself does not load
pytestmark = pytest.mark.skipif(
    not stage_server.FORKS, reason="needs Linux: elsewhere no server forks stages, each starts anew"
)


@pytest.fixture(scope="module")
def python():
    with StageServer([LOADED, "not_installed"]) as server:
        yield server.start()


def ask(python: Path, folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [str(python), *arguments]
    return subprocess.run(
        command, cwd=folder, env=os.environ | environment, input="given", capture_output=True, text=True, check=False
    )


def sleeper(folder: Path, python: Path) -> tuple["subprocess.Popen[bytes]", int]:
    """A process that sleeps, and the id of what runs for it."""
    (folder / "sleep.py").write_text(
        "import os, pathlib, time\npathlib.Path('id').write_text(f'{os.getpid()}.')\ntime.sleep(60)"
    )
    (folder / "id").unlink(missing_ok=True)
    process = subprocess.Popen([python, "sleep.py"], cwd=folder, stderr=subprocess.DEVNULL)
    wait_until(lambda: (folder / "id").is_file() and (folder / "id").read_text().endswith("."))
    return process, int((folder / "id").read_text()[:-1])


def test_it_runs_scripts_and_modules_as_python_does(python, tmp_path):
    """Folder, arguments, environment, streams, `__main__`, modules beside them, and status."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "paths").mkdir()
    (tmp_path / "scripts/beside.py").write_text("NAME = 'beside'")
    (tmp_path / "paths/of_path.py").write_text("NAME = 'of a path'")
    (tmp_path / "paths/sitecustomize.py").write_text("import builtins\nbuiltins.customized = True")
    text = "\n".join(
        [
            "import os, sys, of_path",
            "print(os.getcwd(), sys.argv, os.environ['WORD'], sys.stdin.read(), __name__, of_path.NAME, customized)",
            "print(len(sys.argv), file=sys.stderr)",
            "sys.exit(3 if len(sys.argv) > 1 else 'no argument')",
        ]
    )
    (tmp_path / "scripts/script.py").write_text(f"import beside\n{text}")
    (tmp_path / "module.py").write_text(text)
    for arguments in (["scripts/script.py", "a b", "-c"], ["-m", "module", "x"], ["scripts/script.py"]):
        mine, real = (
            ask(program, tmp_path, *arguments, WORD="w", PYTHONPATH=str(tmp_path / "paths"))
            for program in (python, Path(sys.executable))
        )
        assert (mine.returncode, mine.stdout, mine.stderr) == (real.returncode, real.stdout, real.stderr)
        assert "given" in mine.stdout


def test_packages_are_there_before_and_nothing_of_ours_is(python, tmp_path):
    (tmp_path / "loaded.py").write_text("import sys\nprint('wave' in sys.modules, 'seqcap' in sys.modules)")
    assert ask(python, tmp_path, "loaded.py").stdout == "True False\n"
    assert ask(Path(sys.executable), tmp_path, "loaded.py").stdout == "False False\n"


def test_an_error_is_told_and_is_a_status(python, tmp_path):
    (tmp_path / "wrong.py").write_text("raise ValueError('wrong')")
    found = ask(python, tmp_path, "wrong.py")
    assert found.returncode == 1
    assert "ValueError: wrong" in found.stderr


def test_who_is_killed_takes_along_what_runs_for_it(python, tmp_path):
    process, running = sleeper(tmp_path, python)
    process.kill()
    process.wait()
    wait_until(lambda: not Path(f"/proc/{running}").exists(), 5)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_by_the_signal_that_ends_what_runs(python, tmp_path, number):
    process, running = sleeper(tmp_path, python)
    os.kill(running, number)
    assert process.wait(10) == -number


def test_without_a_server_it_is_the_real_one(tmp_path):
    with StageServer([]) as server:
        python = server.start()
        assert ask(python, tmp_path, "-c", "import sys; print(sys.argv)").stdout == "['-c']\n"
        server.folder.joinpath("socket").unlink()
        (tmp_path / "word.py").write_text("print('word')")
        assert ask(python, tmp_path, "word.py").stdout == "word\n"


def test_it_ends_with_who_has_started_it(tmp_path):
    code = "from seqcap.pipeline.stage_server import StageServer\nserver = StageServer([]).__enter__()\nserver.start()"
    text = f"{code}\nprint(server._process.pid, flush=True)\nimport time\ntime.sleep(60)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        server = int(process.stdout.readline())
        assert Path(f"/proc/{server}").exists()
        process.kill()
    wait_until(lambda: not Path(f"/proc/{server}").exists(), 5)


def test_the_first_processes_do_not_wait_for_it(monkeypatch):
    with StageServer([]) as server:
        assert [server.next_python() for _ in range(FEW)] == [Path(sys.executable)] * FEW
        assert server.next_python().parent == server.folder
    # What a server runs uses that one.
    monkeypatch.setenv(ADDRESS, "elsewhere")
    with StageServer([]) as server:
        assert {server.next_python() for _ in range(2 * FEW)} == {Path(sys.executable)}


def test_threads_that_ask_together_get_one_server():
    """Stages side by side are each asked for by a thread."""
    with StageServer([]) as server, ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda _: server.next_python(), range(8)))
        assert len([python for python in asked if python.parent == server.folder]) == 8 - FEW
        started = [process.cmdline() for process in psutil.Process().children() if process.is_running()]
        assert len([command for command in started if str(server.folder / "socket") in command]) == 1


def test_one_that_loads_early_is_asked_first_and_ends_before_it_has_loaded_all(monkeypatch, tmp_path):
    monkeypatch.delenv(ADDRESS, raising=False)
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)")
    with StageServer(["slow"], [tmp_path], early=True) as server:
        assert server.next_python().parent == server.folder
        (process,) = [each for each in psutil.Process().children() if str(server.folder / "socket") in each.cmdline()]
    assert not process.is_running()
    monkeypatch.setenv(ADDRESS, "another's")
    with StageServer([LOADED], early=True) as server:
        assert server.next_python() == Path(sys.executable)
