"""Files appear whole or not at all: under kills, power loss, full and read-only disks, and names of any length."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from dvc.repo import Repo
from small_checkout import run, small_checkout, write

from seqcap import cli
from seqcap.errors import InputError
from seqcap.files import json_file, parquet, schemas, tensors, writing

PHRASES = [{"left": os.urandom(9).hex(), "right": ""} for _ in range(9)]


def write_stream(path):
    schema = schemas.features_schema((4,), pa.float32())
    with parquet.parquet_stream(path, schema) as writer:
        for i in range(100):
            writer.write_table(pa.table({"item": [i] * 9, "features": [[0.0] * 4] * 9}, schema=schema))


WRITERS = {
    "json": lambda path: json_file.write_json(path, "x" * 200_000),
    "rows": lambda path: parquet.write_rows(path, PHRASES, schemas.PARAPHRASES),
    "weights": lambda path: tensors.save_weights(path, {"a": torch.rand(100_000)}, {}),
    "stream": write_stream,
    "copy": lambda path: writing.copy_file(__file__, path),
}


def test_what_has_its_name_is_on_the_disk(tmp_path, monkeypatch):
    """The content before the name, and the name before anybody goes on."""
    order = []
    replace, fsync = os.replace, os.fsync

    def noted_fsync(descriptor):
        order.append(("on the disk", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        fsync(descriptor)

    def noted_replace(source, target):
        order.append(("named", Path(target).name))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    json_file.write_json(tmp_path / "file.json", 1)
    temporary = f".file.json.{os.getpid()}.tmp"
    assert order == [("on the disk", temporary), ("named", "file.json"), ("on the disk", tmp_path.name)]


def dead_process():
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path):
    dead, living = dead_process(), os.getppid()
    left = [f".file.json.{dead}.tmp", f".file.json.{os.getpid()}.tmp"]
    others = [f".file.json.{living}.tmp", f".other.json.{dead}.tmp", f".file.json.{dead}.tmp.txt", ".file.json.tmp"]
    write(tmp_path, dict.fromkeys([*left, *others], ""))
    json_file.write_json(tmp_path / "file.json", 1)
    assert {path.name for path in tmp_path.iterdir()} == {"file.json", *others}


def test_dvc_does_not_see_what_a_killed_process_left(tmp_path, monkeypatch):
    folder = small_checkout(tmp_path / "checkout")
    status, output = run(folder, "dvc", "repro")
    assert status == 0, output
    for place in ("artifacts/work", "artifacts/sections", "configs"):
        write(folder / place, {".all.json.17.tmp": "half", ".all.17.tmp/half.json": "half"})
    monkeypatch.chdir(folder)
    with Repo(str(folder)) as repo:
        assert repo.status() == {}
    # It does see what nobody has half written.
    write(folder / "artifacts/work", {"other.json": ""})
    with Repo(str(folder)) as repo:
        assert set(repo.status()) == {"work", "papers/sle/dvc.yaml:section-sle"}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path, writer):
    """A process that may write so many bytes a file, and no more, fails as on a full disk."""
    path = tmp_path / "file"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (0, 1, 60):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            with pytest.raises(InputError) as caught:
                WRITERS[writer](path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert str(caught.value).startswith(f"{path}: cannot be written (")
        assert "File too large" in str(caught.value)
        assert str(caught.value).endswith("; make room, or choose another place")
        assert path.read_text() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    # /dev/full is a full device.
    with pytest.raises(InputError, match=r"/dev/full: cannot be written \(No space left on device\); make room"):
        json_file.write_json("/dev/full", 1)
    assert stat.S_ISCHR(Path("/dev/full").lstat().st_mode)


@pytest.mark.parametrize("name", ["file/new", "file/folder/new"])
def test_below_a_file_there_is_no_file(tmp_path, name):
    write(tmp_path, {"file": "old"})
    with pytest.raises(InputError, match=r"cannot be written \(Not a directory\); make room, or choose another"):
        json_file.write_json(tmp_path / name, 1)
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("letter", ["x", "é", "猫"])
def test_names_as_long_as_the_file_system_allows(tmp_path, letter):
    width = len(letter.encode())
    for length in (1, 60, 229 // width, 231 // width, 255 // width):
        path = tmp_path / (letter * length)
        json_file.write_json(path, length)
        assert json_file.read_json(path) == length
    # What a killed process left of the longest one is found, too.
    leftover = writing.beside(path, "tmp")
    leftover.write_text("half")
    json_file.write_json(path, 0)
    assert not leftover.exists()
    with pytest.raises(InputError, match=r"cannot be written \(File name too long\)"):
        json_file.write_json(tmp_path / (letter * (255 // width + 1)), 1)


def test_a_file_keeps_who_may_read_it(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text("old")
    path.chmod(0o640)
    json_file.write_json(path, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert json_file.read_json(path) == 1


def test_a_write_protected_file_is_not_replaced(tmp_path):
    """Not even by root, whom its permissions do not stop."""
    path = tmp_path / "scores.json"
    path.write_text("old")
    path.chmod(0o444)
    (tmp_path / "link").symlink_to(path)
    for name in ("scores.json", "link"):
        with pytest.raises(InputError, match=f"{name}: is write-protected; choose another file"):
            json_file.write_json(tmp_path / name, 1)
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    "out", ["candidates.json", "references.json", "link.json", "hard.json", "a/../candidates.json"]
)
def test_scores_do_not_replace_what_is_scored(tmp_path, monkeypatch, capsys, out):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"references.json": "{}", "candidates.json": "[]", "a/file": ""})
    Path("link.json").symlink_to("candidates.json")
    Path("hard.json").hardlink_to("candidates.json")
    files = ["--references", "references.json", "--candidates", "candidates.json"]
    monkeypatch.setattr(sys, "argv", ["seqcap", "score", *files, "--json", out])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"error: {out}: is read, too; choose another file for what is written\n"
    assert (Path("references.json").read_text(), Path("candidates.json").read_text()) == ("{}", "[]")


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5", "9" * 5000, ""])
def test_a_number_of_jobs_is_checked_at_once(monkeypatch, capsys, jobs):
    monkeypatch.setattr(sys, "argv", ["seqcap", "repro", f"--jobs={jobs}"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"argument --jobs: {jobs!r} is not a number from 1 to 9999\n")
