"""Steps of two versions of the code, taken in turn."""

from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import pytest
import shares
from small_task import run_config, write_task

from seqcap.errors import InputError
from seqcap.files.json_file import write_json

SOURCE = Path(__file__).parents[2] / "src"


class Ended:
    """A process whose input is still open."""

    stdin, stdout = StringIO(), StringIO()


@pytest.fixture
def configs(tmp_path, monkeypatch):
    """A checkout with one run, of which the code does not know a setting."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shares, "WARM", 0)
    monkeypatch.setattr(shares, "STEPS", 2)
    write_task(tmp_path)
    run = run_config(name="own").model_dump(mode="json")
    run["settings"]["of_tomorrow"] = 1
    write_json("configs/train/group.json", {"runs": [run]})
    return Path("configs/train")


def test_both_take_steps_in_turn(configs):
    name, before, after, share = shares.line("own", SOURCE, SOURCE, configs).strip("| ").split(" | ")
    assert name == "own"
    assert min(float(before), float(after)) > 0
    assert float(share) == pytest.approx(float(after) / float(before), abs=0.1)


def test_a_run_that_cannot_be_taken_is_named(configs, monkeypatch):
    # A process that has ended writes nothing.
    monkeypatch.setattr(shares, "stepping", lambda source, run: nullcontext(Ended()))
    assert shares.line("own", SOURCE, SOURCE, configs).startswith("| own | | | its inputs are not here")
    with pytest.raises(InputError, match="has no run 'other'"):
        shares.line("other", SOURCE, SOURCE, configs)
