"""Stages on the workers of a Dask cluster, one of which is lost."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace

import psutil
import pytest
from pipeline_files import ROOT
from small_checkout import finish, run, small_checkout, start, wait_until

from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.pipeline import cluster
from seqcap.pipeline.graph import lock_files
from seqcap.pipeline.schedule import MEMORY

# Training in four steps, with a checkpoint after each; it waits in the third one while it is told to.
TRAINING = """\
set -e
mkdir -p scratch artifacts/work
step=$(cat scratch/step 2> /dev/null || echo 0)
while [ $step -lt 4 ]; do
  step=$((step + 1))
  echo $step >> begun
  while [ $step = 3 -a -e wait ]; do sleep 0.1; done
  echo $step > scratch/step
done
cp configs/all.json artifacts/work/all.json
cat scratch/step >> artifacts/work/all.json
"""


def checkout(folder):
    made = small_checkout(folder)
    (made / "work.sh").write_text(TRAINING)
    return made


def results(folder):
    """What a run leaves: DVC's records, artifacts and the first page."""
    files = [*lock_files(folder), "artifacts/work/all.json", "reports/report.md"]
    return {str(name): (folder / name).read_bytes() for name in files}


def dask(folder, *arguments):
    """A process of a cluster, and all that it starts, as a group of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    log = (folder / "dask.log").open("a")
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)


def stop(process):
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def processes():
    """Those that run until the test ends."""
    started = []
    yield started
    for process in started:
        stop(process)


@pytest.fixture
def one_worker(tmp_path, processes):
    """The address of a scheduler, how a worker of it is started, and one that was."""
    found = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(found), "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    processes.append(dask(tmp_path, "scheduler", *common))
    # Dask makes the file and writes it at once; between the two it is empty.
    wait_until(lambda: found.is_file() and found.stat().st_size > 0)
    address = read_json(found)["address"]
    worker = ["worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    processes.append(dask(tmp_path, *worker))
    return address, worker, processes[-1]


def wait_for_third_step(folder, process):
    def has_ended_early():
        return process.poll() is not None and pytest.fail(finish(process)[1])

    def is_there():
        return (folder / "begun").is_file() and (folder / "begun").read_text().endswith("3\n")

    wait_until(lambda: is_there() or has_ended_early())


def test_another_worker_goes_on_where_one_was_killed(tmp_path, processes, one_worker):
    alone, shared = checkout(tmp_path / "alone"), checkout(tmp_path / "shared")
    assert run(alone, "seqcap", "repro")[0] == 0
    address, worker, first = one_worker
    (shared / "wait").touch()
    process = start(shared, "seqcap", "repro", "--cluster", address)
    wait_for_third_step(shared, process)
    processes.append(dask(tmp_path, *worker))
    stop(first)
    (shared / "wait").unlink()
    status, output = finish(process)
    assert status == 0, output
    # The third step again, not those before it.
    assert (shared / "begun").read_text().split() == ["1", "2", "3", "3", "4"]
    assert results(shared) == results(alone)


def running_in(folder):
    """The shells that run a stage of a checkout."""
    shells = []
    for process in psutil.process_iter(["name", "cwd"]):
        if process.info["cwd"] == str(folder.resolve()) and process.info["name"] == "sh":
            shells.append(process)
    return shells


@pytest.mark.parametrize("ends", ["run", "Ctrl-C", "killed run", "worker"])
def test_a_stage_ends_with_who_asked_for_it_and_with_its_worker(tmp_path, one_worker, ends):
    folder = checkout(tmp_path / "shared")
    address, _, worker = one_worker
    (folder / "wait").touch()
    process = start(folder, "seqcap", "repro", "--cluster", address)
    wait_for_third_step(folder, process)
    assert running_in(folder)
    if ends == "worker":
        worker.terminate()
    else:
        signals = {"run": signal.SIGTERM, "Ctrl-C": signal.SIGINT, "killed run": signal.SIGKILL}
        process.send_signal(signals[ends])
    wait_until(lambda: not running_in(folder))
    if ends in ("run", "Ctrl-C"):
        status, output = finish(process)
        assert (status, output.splitlines()[-1]) == (130, "interrupted")
        assert "Traceback" not in output
    process.kill()
    process.wait()


def of_workers(*resources):
    workers = {str(number): {"nthreads": 2, "resources": one} for number, one in enumerate(resources)}
    return cluster.Cluster(SimpleNamespace(scheduler_info=lambda n_workers: {"workers": workers}), print)


def test_a_stage_asks_for_what_some_worker_declares():
    assert of_workers({}, {}).jobs == 4
    assert of_workers({}).resources("papers/sle/dvc.yaml:train-sle_sll") == {}
    declared = of_workers({"GPU": 1}, {"MEMORY": 8 << 30})
    assert declared.resources("papers/sle/dvc.yaml:train-sle_sll") == {"GPU": 1, "MEMORY": MEMORY}
    assert declared.resources("report") == {"MEMORY": MEMORY}


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch, capsys):
    """And it is told for how long it is waited for."""
    monkeypatch.setattr(cluster, "SECONDS", 0.1)
    with (
        pytest.raises(InputError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
        cluster.connected("tcp://127.0.0.1:9", print),
    ):
        pass
    assert "waits up to 0.1 s for the scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err
