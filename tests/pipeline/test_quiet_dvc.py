"""DVC without its hints: what it writes is what DVC writes."""

from pathlib import Path

import pytest
from dvc.dvcfile import Lockfile
from dvc.repo import Repo
from dvc.stage.serialize import to_lockfile
from dvc.utils.serialize import dumps_yaml, load_yaml

from seqcap.pipeline import quiet_dvc

ROOT = Path(__file__).parents[2]
NAMES = ("configure", "train@sle_sll", "evaluate@smoothing_image", "report")


@pytest.fixture(scope="module")
def stages():
    """Stages of the committed graph as its dvc.lock has them: a short one, one of many files, one of long names."""
    with Repo(str(ROOT), config={"core": {"no_scm": True}}) as repo:
        yield {stage.name: stage for stage in repo.index.stages if stage.name in NAMES}


@pytest.fixture(scope="module")
def few():
    """A part of the committed dvc.lock, which DVC is quick to read."""
    entries = load_yaml(ROOT / "dvc.lock")["stages"]
    kept = {name: entry for number, (name, entry) in enumerate(entries.items()) if name in NAMES or number % 40 == 0}
    return dumps_yaml({"schema": "2.0", "stages": kept})


@pytest.fixture
def lock(stages, few, tmp_path, monkeypatch):
    path = tmp_path / "dvc.lock"
    path.write_text(few)
    lockfile = Lockfile(next(iter(stages.values())).repo, str(path))
    monkeypatch.setattr(lockfile.repo.scm_context, "track_file", lambda path: None)
    # The committed entries may be those of an earlier graph.
    lockfile.dump_stages(stages.values())
    return lockfile


def written(lock, dump, stages):
    dump(lock, stages)
    return Path(lock.path).read_bytes()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", ["nothing", "a hash", "everything", "new", "all new"])
def test_the_file_has_the_bytes_of_dvcs_own(lock, stages, name, change, monkeypatch):
    stage, path = stages[name], Path(lock.path)
    if change == "a hash":
        said = load_yaml(path)["stages"][name]["outs"][0]["md5"]
        path.write_text(path.read_text().replace(said, "0" * 32))
    if change == "everything":
        monkeypatch.setattr(stage, "deps", [])
        monkeypatch.setattr(stage, "cmd", f"{stage.cmd} with a line that is so long that it does not fit into eighty")
    if change == "new":
        lock.remove_stage(stage)
    before = path.read_bytes()
    if change == "all new":
        path.unlink()
    ours = written(lock, quiet_dvc.dump_stages, [stage])
    assert (ours == before) == (change == "nothing")
    path.unlink() if change == "all new" else path.write_bytes(before)
    assert ours == written(lock, Lockfile.dump_stages, [stage])
    assert load_yaml(path)["stages"][name] == to_lockfile(stage)[name]
