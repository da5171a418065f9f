"""`seqcap repro` itself: what it runs, two of them at once, and what a kill or a full disk has left of DVC's locks."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from small_checkout import STAGES, finish, run, small_checkout, start, wait_until

from seqcap.errors import InputError
from seqcap.pipeline import records, repro
from seqcap.pipeline.graph import LOCK
from seqcap.pipeline.records import keep_records, wait_for_dvc

RWLOCK = ".dvc/tmp/rwlock"
SECTION = "papers/sle/dvc.yaml:section-sle"


@pytest.fixture
def checkout(tmp_path):
    return small_checkout(tmp_path / "checkout")


def begun(checkout):
    """How often the work has begun."""
    path = checkout / "begun"
    return len(path.read_text().splitlines()) if path.exists() else 0


def began(checkout, *command):
    """A run that is in its work, and stays there."""
    before = begun(checkout)
    (checkout / "wait").touch()
    process = start(checkout, *command)
    wait_until(lambda: begun(checkout) > before)
    return process


def go_on(checkout):
    (checkout / "wait").unlink()


def test_it_runs_what_is_out_of_date_and_nothing_else(checkout):
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    assert output.count("Running stage") == STAGES
    assert "git add" not in output
    assert "autostage" not in output
    assert "dvc push" not in output
    assert f"1 of {STAGES} stages are up to date" in output
    assert (checkout / "reports/report.md").read_text() == (checkout / "params.yaml").read_text()
    status, output = run(checkout, "seqcap", "repro")
    assert (status, output) == (0, f"{STAGES} of {STAGES} stages are up to date\n")
    # The work and what follows from it; configure is asked nothing.
    (checkout / "work.sh").write_text((checkout / "work.sh").read_text() + "echo more >> artifacts/work/all.json\n")
    status, output = run(checkout, "seqcap", "repro")
    assert (status, output.count("Running stage")) == (0, 3)
    assert f"1 of {STAGES} stages are up to date" in output
    assert (checkout / "reports/report.md").read_text().endswith("more\n")
    # The same for a new parameter, which only `configure` reads; and for what somebody has deleted.
    (checkout / "params.yaml").write_text((checkout / "params.yaml").read_text().replace("seed: 1", "seed: 2"))
    (checkout / "artifacts/machine.json").unlink()
    status, output = run(checkout, "seqcap", "repro")
    assert (status, output.count("Running stage")) == (0, STAGES)
    assert "seed: 2" in (checkout / "reports/report.md").read_text()
    assert json.loads((checkout / "artifacts/machine.json").read_text())["device"] == "cpu"


def test_what_is_out_of_date_is_the_same_from_everywhere(checkout, tmp_path, monkeypatch):
    graph = repro.stage_graph(checkout)
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    (checkout / "artifacts/work/all.json").write_text("changed\n")
    for folder in (checkout, tmp_path, checkout / "papers"):
        monkeypatch.chdir(folder)
        expected = {"work": set(), SECTION: {"work"}, "report": {SECTION}}
        assert repro.unfinished(checkout, graph) == expected


def test_a_graph_that_is_not_the_one_that_was_checked_is_one_line(checkout):
    """DVC would run what somebody has written there, or leave out what somebody has removed."""
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    path = checkout / "papers/sle/dvc.yaml"
    path.write_text(f"{path.read_text()}# Mine.\n")
    expected = "does not fit the parameters; renew it with `seqcap graph`, then run again"
    assert run(checkout, "seqcap", "repro") == (2, f"error: papers/sle/dvc.yaml: {expected}\n")


def test_a_stage_that_fails_is_one_line_more_and_what_is_done_stays_done(checkout):
    (checkout / "work.sh").write_text("exit 3\n")
    status, output = run(checkout, "seqcap", "repro")
    assert status == 2
    assert "ERROR: failed to reproduce 'work': failed to run: sh work.sh, exited with 3\n" in output
    assert output.endswith("error: dvc.yaml: stage work failed with status 255; see above\n")
    assert "Traceback" not in output
    assert (checkout / "configs/all.json").exists()


@pytest.mark.parametrize("place", ["below", "no-git", "no-dvc"])
def test_outside_a_checkout_is_one_line(checkout, tmp_path, place):
    folder = checkout / "papers" if place == "below" else checkout
    if place in ("no-git", "no-dvc"):
        (checkout / f".{place[3:]}").rename(tmp_path / "moved")
    before = sorted(folder.iterdir())
    status, output = run(folder, "seqcap", "repro")
    assert status == 2
    assert output.count("\n") == 1
    assert output.startswith("error: dvc.yaml: ")
    assert "checkout of seqcap\n" in output
    assert sorted(folder.iterdir()) == before


def test_a_broken_graph_is_one_line(checkout):
    (checkout / "dvc.yaml").write_text("stages: [\n")
    status, output = run(checkout, "seqcap", "repro")
    assert status == 2
    assert output.splitlines()[-1].startswith("error: dvc.yaml: cannot be run by DVC (")
    assert "Traceback" not in output


# Two at once


def test_a_second_run_waits_for_the_first(checkout):
    first = began(checkout, "seqcap", "repro")
    second = start(checkout, "seqcap", "repro")
    assert second.stdout.readline() == f"waiting: process {first.pid} runs the pipeline here\n"
    assert second.poll() is None
    go_on(checkout)
    for process in (first, second):
        status, output = finish(process)
        assert status == 0, output
    assert output == f"{STAGES} of {STAGES} stages are up to date\n"
    assert begun(checkout) == 1


@pytest.mark.parametrize("victims", ["seqcap", "both"] if os.environ.get("SEQCAP_FULL") else ["seqcap"])
def test_a_run_after_a_kill_waits_for_what_still_runs(checkout, victims):
    """Without its `seqcap repro`, DVC goes on. Without both, the shell goes on, and writes once more."""
    first = began(checkout, "seqcap", "repro")
    dvc = json.loads((checkout / RWLOCK).read_text())["write"].popitem()[1]["pid"]
    first.kill()
    if victims == "both":
        os.kill(dvc, signal.SIGKILL)
    first.wait()
    second = start(checkout, "seqcap", "repro")
    if victims == "seqcap":
        line = second.stdout.readline()
        assert line.startswith(f"waiting: process {dvc} runs ")
        assert line.endswith("repro --single-item work\n")
    else:
        wait_until(lambda: begun(checkout) == 2)
    go_on(checkout)
    status, output = finish(second)
    assert status == 0, output
    assert begun(checkout) == (1 if victims == "seqcap" else 2)
    assert run(checkout, "seqcap", "repro") == (0, f"{STAGES} of {STAGES} stages are up to date\n")


# DVC's lock of paths


@pytest.mark.parametrize("content", ["", "[]", '{"write": []}', '{"read": {"/x": [1]}}'])
def test_a_damaged_lock_is_deleted_with_a_line(tmp_path, capsys, content):
    path = tmp_path / RWLOCK
    path.parent.mkdir(parents=True)
    path.write_text(content)
    wait_for_dvc(tmp_path)
    assert capsys.readouterr().err == f"{path}: is damaged, as after a full disk; deleted\n"
    assert not path.exists()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of four megabytes, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting takes root")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("left", [0, 1, 2, 4] if os.environ.get("SEQCAP_FULL") else [1])
def test_a_disk_that_fills_up_costs_nothing(small_disk, left):
    """So many blocks are left when the second run starts: it fails here or there, and the third one goes on."""
    checkout = small_checkout(small_disk / "checkout")
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    (checkout / "params.yaml").write_text((checkout / "params.yaml").read_text().replace("seed: 1", "seed: 2"))
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - 4096 * left))
    status, output = run(checkout, "seqcap", "repro")
    assert status == 2, output
    assert "No space left on device" in output
    assert "Traceback" not in output
    filler.unlink()
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    assert (checkout / "reports/report.md").read_text() == (checkout / "params.yaml").read_text()
    assert run(checkout, "seqcap", "repro") == (0, f"{STAGES} of {STAGES} stages are up to date\n")


def cut(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    return content


@pytest.mark.parametrize(("share", "path"), [(0, LOCK), (0.5, LOCK), (0.999, Path("papers/sle/dvc.lock"))])
def test_records_that_were_cut_off_are_put_back(tmp_path, capsys, share, path):
    """DVC empties dvc.lock before it writes it, which takes seconds where it is long."""
    records = tmp_path / path
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    records.parent.mkdir(parents=True, exist_ok=True)
    stages = "".join(
        f"  stage{i}:\n    cmd: python {i}\n    deps:\n    - path: file{i}\n      md5: a{i:031}\n" for i in range(99)
    )
    records.write_text(f"schema: '2.0'\nstages:\n{stages}")
    keep_records(tmp_path, [path])
    content = cut(records, share)
    keep_records(tmp_path, [path])
    assert capsys.readouterr().err == f"{records}: was cut off, as by a kill or a full disk; put back as it was\n"
    assert records.read_bytes() == content
    # What has been recorded since the last copy is kept.
    records.write_text(f"{records.read_text()}  last:\n    cmd: python last\n")
    keep_records(tmp_path, [path])
    assert "last" in records.read_text()
    cut(records, 0.5)
    keep_records(tmp_path, [path])
    assert "last" in records.read_text()


def test_records_in_a_merge_are_left_to_their_user(tmp_path, capsys):
    records = tmp_path / "dvc.lock"
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    records.write_text("schema: '2.0'\n")
    keep_records(tmp_path, [LOCK])
    conflict = "schema: '2.0'\nstages:\n<<<<<<< ours\n  a: {cmd: x}\n=======\n  a: {cmd: y}\n>>>>>>> theirs\n"
    records.write_text(conflict)
    keep_records(tmp_path, [LOCK])
    assert (records.read_text(), capsys.readouterr().err) == (conflict, "")


def test_a_run_after_a_kill_in_dvc_goes_on(checkout):
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    # Without a copy, what is in DVC's cache is taken from there: the work is not done again.
    (checkout / ".dvc/tmp/seqcap-records/dvc.lock").unlink()
    of_paper = cut(checkout / "papers/sle/dvc.lock", 0.6)
    before = cut(checkout / "dvc.lock", 0.6)
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    assert output.startswith("dvc.lock: was cut off, as by a kill or a full disk; deleted\n")
    assert begun(checkout) == 1
    assert (checkout / "dvc.lock").read_bytes() == before
    # A copy is put back.
    assert "papers/sle/dvc.lock: was cut off, as by a kill or a full disk; put back as it was\n" in output
    assert (checkout / "papers/sle/dvc.lock").read_bytes() == of_paper


@pytest.mark.parametrize("holder", ["dead", "zombie", "another"])
def test_a_lock_of_the_dead_is_deleted(tmp_path, capsys, monkeypatch, holder):
    """Another program may have got the id of a DVC that was killed: DVC itself would wait for that one. In some
    containers nobody collects the processes that were killed."""
    monkeypatch.setattr(records.time, "sleep", lambda _: pytest.fail("waits"))
    (tmp_path / RWLOCK).parent.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as process:
        if holder != "another":
            process.kill()
        if holder == "dead":
            process.wait()
        holder = {"pid": process.pid, "cmd": "dvc repro"}
        (tmp_path / RWLOCK).write_text(json.dumps({"write": {"/somewhere": holder}, "read": {"/elsewhere": [holder]}}))
        wait_for_dvc(tmp_path)
        process.kill()
    assert capsys.readouterr().err == ""
    assert not (tmp_path / RWLOCK).exists()


# Stages in any order


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_stages_start_when_those_before_them_are_done(jobs):
    graph = {"a": set(), "b": set(), "c": {"a", "b"}, "d": {"a"}, "e": {"c", "d"}}
    done = []

    def stage(name):
        assert graph[name] <= set(done)
        done.append(name)
        return name

    repro.run_graph(graph, stage, jobs)
    assert sorted(done) == list("abcde")


def test_no_stage_starts_after_one_has_failed():
    done = []

    def stage(name):
        if name == "b":
            raise InputError("b", "failed", "see above")
        done.append(name)
        return name

    with pytest.raises(InputError, match="b: failed"):
        repro.run_graph({"a": set(), "b": {"a"}, "c": {"b"}, "d": {"b"}}, stage, 2)
    assert done == ["a"]
