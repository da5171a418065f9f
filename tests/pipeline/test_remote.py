"""A remote on S3: what one clone has pushed, another pulls, and trains nothing. The S3 is moto's, on this machine."""

import os
from pathlib import Path

import pytest
from pipeline_files import commit, git
from small_checkout import STAGES, run, small_checkout


@pytest.fixture
def s3(monkeypatch, tmp_path):
    """The address of an S3 of our own, with the bucket "bucket"."""
    for name in list(os.environ):
        # Somebody's own account, or a proxy between us and ourselves.
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, value in {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    nothing = tmp_path / "nothing"
    nothing.touch()
    for name in ("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(f"AWS_{name}", str(nothing))
    # Seconds, which other tests need not wait for.
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    boto3.client("s3", endpoint_url=address).create_bucket(Bucket="bucket")
    yield address
    server.stop()


def done(folder: Path, *command: str) -> str:
    """What a command says that succeeds."""
    status, output = run(folder, *command)
    assert status == 0, output
    return output


def test_another_clone_pulls_results_and_trains_nothing(s3: str, tmp_path: Path):
    first, second = small_checkout(tmp_path / "first"), tmp_path / "second"
    # README: Sharing results.
    done(first, "dvc", "remote", "add", "--default", "lab", "s3://bucket/seqcap")
    done(first, "dvc", "remote", "modify", "lab", "endpointurl", s3)
    assert done(first, "seqcap", "repro").count("Running stage") == STAGES
    commit(first, "results")
    assert "files pushed" in done(first, "dvc", "push")
    git(tmp_path, "clone", "--quiet", str(first), str(second))
    assert not (second / "artifacts").exists()
    assert "files fetched" in done(second, "dvc", "pull")
    trained = "artifacts/work/all.json"
    assert (second / trained).read_bytes() == (first / trained).read_bytes()
    said = done(second, "seqcap", "repro")
    assert said.endswith(f"{STAGES} of {STAGES} stages are up to date\n")
    # Configurations are in no cache.
    assert said.count("Running stage") == said.count("Running stage 'configure'") == 1
    assert not (second / "begun").exists()
    assert git(second, "status", "--porcelain") == ""
