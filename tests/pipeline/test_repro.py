"""`seqcap repro` itself: what it runs, two of them at once, and what a kill or a full disk has left of DVC's locks."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import dvc.repo
import psutil
import pytest
from dvc.lock import LockError
from small_checkout import STAGES, finish, preloaded, run, small_checkout, start, wait_until

from seqcap.errors import InputError
from seqcap.pipeline import records, repro
from seqcap.pipeline.graph import LOCK
from seqcap.pipeline.records import keep_records, wait_for_dvc

RWLOCK = ".dvc/tmp/rwlock"
SECTION = "papers/sle/dvc.yaml:section-sle"


@pytest.fixture
def checkout(tmp_path):
    return small_checkout(tmp_path / "checkout")


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """A checkout whose graph has run, and what the run has said."""
    folder = small_checkout(tmp_path_factory.mktemp("run") / "checkout")
    status, output = run(folder, "seqcap", "repro")
    assert status == 0, output
    return folder, output


@pytest.fixture(scope="module")
def has_run(first_run):
    """A checkout whose graph has run."""
    return first_run[0]


@pytest.fixture
def finished(has_run, tmp_path):
    return shutil.copytree(has_run, tmp_path / "checkout")


def begun(checkout):
    """How often the work has begun."""
    path = checkout / "begun"
    return len(path.read_text().splitlines()) if path.exists() else 0


def began(checkout, *command, **options):
    """A run that is in its work, and stays there."""
    before = begun(checkout)
    (checkout / "wait").touch()
    process = start(checkout, *command, **options)
    wait_until(lambda: begun(checkout) > before)
    return process


def go_on(checkout):
    (checkout / "wait").unlink()


def test_it_runs_what_is_out_of_date_and_nothing_else(first_run, finished):
    checkout, (_, output) = finished, first_run
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


def test_one_paper_is_reported_before_the_others_have_run(checkout):
    """DVC runs no stage without all that it reads."""
    graph = checkout / "dvc.yaml"
    graph.write_text(graph.read_text().replace("[reports/sle]", "[reports/sle, reports/spider]"))
    status, output = run(checkout, "seqcap", "repro", "--papers", "sle")
    assert (status, output.splitlines()[-1]) == (
        0,
        "the report is made without reports/spider: nothing of these has run",
    )
    assert (checkout / "reports/report.md").read_text() == "published\n"
    (checkout / "reports/spider").mkdir()
    status, output = run(checkout, "seqcap", "repro", "--papers", "sle")
    assert (status, output.count("Running stage")) == (0, 1)
    assert (checkout / "reports/report.md").read_text() == (checkout / "params.yaml").read_text()


def test_what_is_out_of_date_is_the_same_from_everywhere(finished, tmp_path, monkeypatch):
    (finished / "artifacts/work/all.json").write_text("changed\n")
    for folder in (finished, tmp_path, finished / "papers"):
        monkeypatch.chdir(folder)
        expected = {"work": set(), SECTION: {"work"}, "report": {SECTION}}
        assert repro.unfinished(finished)[1] == expected


def test_a_graph_that_is_not_the_one_that_was_checked_is_one_line(finished):
    """DVC would run what somebody has written there, or leave out what somebody has removed."""
    path = finished / "papers/sle/dvc.yaml"
    path.write_text(f"{path.read_text()}# Mine.\n")
    expected = "does not fit the parameters; renew it with `seqcap graph`, then run again"
    assert run(finished, "seqcap", "repro") == (2, f"error: papers/sle/dvc.yaml: {expected}\n")


def test_a_stage_that_fails_is_one_line_more_and_what_is_done_stays_done(checkout):
    (checkout / "work.sh").write_text("exit 3\n")
    status, output = run(checkout, "seqcap", "repro")
    assert status == 2
    assert "ERROR: failed to reproduce 'work': failed to run: sh work.sh, exited with 3\n" in output
    assert output.endswith("error: dvc.yaml: stage work failed with status 255; see above\n")
    assert "Traceback" not in output
    assert (checkout / "configs/all.json").exists()


def test_artifacts_behind_a_link_are_refused_at_the_start(checkout, tmp_path):
    (tmp_path / "disk").mkdir()
    (checkout / "artifacts").symlink_to(tmp_path / "disk")
    with pytest.raises(InputError, match="artifacts: is a link, beyond which DVC keeps nothing; mount the other disk"):
        repro.check_checkout(checkout)


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


def test_it_goes_on_though_nobody_reads(checkout):
    process = start(checkout, "seqcap", "repro")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=300) == 0
    assert repro.unfinished(checkout)[1] == {}


def test_others_wait_for_the_first(checkout):
    """Two more, beside DVC itself, which may stop with a message of its own."""
    first = began(checkout, "seqcap", "repro", programs=preloaded())
    second, third = (start(checkout, "seqcap", "repro", programs=preloaded()) for _ in range(2))
    other = start(checkout, "dvc", "--wait-for-lock", "repro", programs=preloaded())
    for process in (second, third):
        waiting = re.fullmatch(r"waiting: process (\d+) runs the pipeline here\n", process.stdout.readline())
        assert psutil.Process(int(waiting[1])).cwd() == str(checkout)
        assert process.poll() is None
    go_on(checkout)
    assert finish(first)[0] == 0
    status, output = finish(other)
    assert status == 0 or " is busy" in output, output
    for process in (second, third):
        status, output = finish(process)
        assert status == 0, output
        assert re.fullmatch(rf"(waiting: .+\n)*{STAGES} of {STAGES} stages are up to date\n", output), output
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
    second = start(checkout, "seqcap", "repro", programs=preloaded())
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
    assert repro.unfinished(checkout)[1] == {}


@pytest.fixture(params=repro.ENDS)
def number(request):
    """A signal that ends a run. The tests may run where it is ignored, as with `nohup`, and so may what they start."""
    before = signal.signal(request.param, lambda *_: None)
    yield request.param
    signal.signal(request.param, before)


def test_a_run_that_is_ended_says_one_line_and_leaves_nothing_behind(checkout, number):
    first = began(checkout, "seqcap", "repro")
    started = psutil.Process(first.pid).children(recursive=True)
    assert started
    # Ctrl-C would end each of these in the middle of something, with a traceback.
    assert os.getpgid(first.pid) not in {os.getpgid(process.pid) for process in started}
    first.send_signal(number)
    status, output = finish(first)
    assert status == 130
    assert output.endswith("interrupted\n")
    assert "Traceback" not in output
    _, alive = psutil.wait_procs(started, timeout=10)
    assert not alive
    go_on(checkout)
    status, output = run(checkout, "seqcap", "repro")
    assert status == 0, output
    assert begun(checkout) == 2


def test_a_stage_of_another_dvc_is_waited_for(checkout):
    """DVC itself would fail, and advise to delete its lock."""
    assert run(checkout, "dvc", "repro", "configure")[0] == 0
    other = began(checkout, "dvc", "repro", "work", programs=preloaded())
    work = ("seqcap.pipeline.quiet_dvc", "--wait-for-lock", "repro", "--single-item", "work")
    assert run(checkout, *work) == (records.BUSY, "")
    go_on(checkout)
    assert finish(other)[0] == 0
    assert run(checkout, *work)[0] == 0


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
def test_libraries_have_a_thread_each(tmp_path, monkeypatch, capfd, given, expected):
    """A stage has processes of its own for the cores that it may use."""
    monkeypatch.delenv("OMP_NUM_THREADS")
    if given:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert repro.run_python(tmp_path, "-c", "import os; print(os.environ['OMP_NUM_THREADS'])") == 0
    assert capfd.readouterr().out == f"{expected}\n"


def test_a_stage_is_tried_again_once_the_other_dvc_has_ended(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    statuses, waits = [records.BUSY, 0], []
    monkeypatch.setattr(repro, "wait_for_dvc", waits.append)
    monkeypatch.setattr(repro, "run_python", lambda *_, **__: statuses.pop(0))
    monkeypatch.setattr(repro, "unfinished", lambda *_, **__: ({"work": set()}, {"work": set()}))
    monkeypatch.setattr(repro, "check_unchanged", lambda *_: None)
    (checkout / ".dvc/tmp").mkdir()
    repro.repro(Path(), 1)
    assert (statuses, len(waits)) == ([], 2)


def test_the_question_what_is_out_of_date_is_asked_again_once_the_other_dvc_has_ended(checkout, monkeypatch):
    busy, waits = [True, False], []
    lock_repo = dvc.repo.lock_repo

    def lock(repo):
        if busy.pop(0):
            raise LockError("is busy")
        return lock_repo(repo)

    monkeypatch.setattr(repro, "wait_for_dvc", waits.append)
    monkeypatch.setattr(dvc.repo, "lock_repo", lock)
    assert {"work", SECTION, "report"} <= repro.unfinished(checkout)[1].keys()
    assert waits == [checkout]


@pytest.mark.parametrize("call", [wait_for_dvc, repro.stage_graph])
def test_a_folder_that_dvc_cannot_write_in_is_one_line(checkout, call):
    (checkout / ".dvc/tmp").touch()
    with pytest.raises(InputError, match=r"\.dvc/tmp.*: cannot be (written|used by DVC) \("):
        call(checkout)


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
        pytest.skip("needs root: a disk of four megabytes is mounted and filled up")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("left", [0, 1, 2, 4] if os.environ.get("SEQCAP_FULL") else [1])
def test_a_disk_that_fills_up_costs_nothing(has_run, small_disk, left):
    """So many blocks are left when the second run starts: it fails here or there, and the third one goes on."""
    checkout = shutil.copytree(has_run, small_disk / "checkout")
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
    assert repro.unfinished(checkout)[1] == {}


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


GENERATIONS = [f"schema: '2.0'\nstages:\n  a:\n    cmd: python {number}\n" for number in range(3)]
MERGED = "schema: '2.0'\nstages:\n<<<<<<< ours\n  a: {cmd: x}\n=======\n  a: {cmd: y}\n>>>>>>> theirs\n"


@pytest.mark.parametrize("damaged", [MERGED, GENERATIONS[2] + "  b:\n    deps\n    - path: c\n"])
def test_records_that_somebody_has_changed_are_left_and_not_kept(tmp_path, capsys, damaged):
    records = tmp_path / "dvc.lock"
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    for content in (*GENERATIONS, damaged):
        records.write_text(content)
        keep_records(tmp_path, [LOCK])
    assert (records.read_text(), capsys.readouterr().err) == (damaged, "")
    # So a good copy is put back when it is wanted; if that is damaged, too, the one before.
    for expected in (2, 1):
        cut(records, 0.5)
        keep_records(tmp_path, [LOCK])
        assert records.read_text() == GENERATIONS[expected]
        (tmp_path / ".dvc/tmp/seqcap-records/dvc.lock").write_text("schema: 'x'\n")


def test_a_run_after_a_kill_in_dvc_goes_on(finished):
    # Without a copy, what is in DVC's cache is taken from there: the work is not done again.
    shutil.rmtree(finished / ".dvc/tmp/seqcap-records")
    before = cut(finished / "dvc.lock", 0.6)
    status, output = run(finished, "seqcap", "repro")
    assert status == 0, output
    assert output.startswith("dvc.lock: was cut off, as by a kill or a full disk; deleted\n")
    assert begun(finished) == 1
    assert (finished / "dvc.lock").read_bytes() == before
    # But nothing damaged is: that is made anew.
    shutil.rmtree(finished / "artifacts/work")
    whole = (finished / "configs/all.json").read_bytes()
    (kept,) = (path for path in (finished / ".dvc/cache/files").glob("*/*/*") if path.read_bytes() == whole)
    kept.chmod(0o644)
    kept.write_bytes(whole.replace(b"seed: 1", b"seed: 3"))
    kept.chmod(0o444)
    status, output = run(finished, "seqcap", "repro")
    assert status == 0, output
    assert f"/{kept.parent.name}/{kept.name}: was damaged; deleted, so that it is made anew\n" in output
    assert begun(finished) == 2
    assert kept.read_bytes() == (finished / "artifacts/work/all.json").read_bytes() == whole


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

    repro.run_graph(graph, stage, jobs, {})
    assert sorted(done) == list("abcde")


def test_no_stage_starts_after_one_has_failed():
    done = []

    def stage(name):
        if name == "b":
            raise InputError("b", "failed", "see above")
        done.append(name)
        return name

    with pytest.raises(InputError, match="b: failed"):
        repro.run_graph({"a": set(), "b": {"a"}, "c": {"b"}, "d": {"b"}}, stage, 2, {})
    assert done == ["a"]
