"""Steps of two versions of the code, taken in turn."""

from pathlib import Path

import pytest
import shares
from small_task import run_config, write_task

from seqcap.errors import InputError
from seqcap.files.json_file import write_json

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def configs(tmp_path, monkeypatch):
    """A checkout with one run, of which the code does not know a setting, and one whose start is not there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shares, "WARM", 0)
    monkeypatch.setattr(shares, "STEPS", 2)
    write_task(tmp_path)
    runs = [run_config(**of).model_dump(mode="json") for of in ({"name": "own"}, {"name": "on", "start": "absent"})]
    runs[0]["settings"]["of_tomorrow"] = 1
    write_json("configs/train/group.json", {"runs": runs})
    return Path("configs/train")


def test_both_take_steps_in_turn(configs):
    old, new = shares.compared(shares.run_of("own", configs), SOURCE, SOURCE)
    assert min(old, new) > 0
    name, before, after, share = shares.line("own", SOURCE, SOURCE, configs).strip("| ").split(" | ")
    assert name == "own"
    assert float(share) == pytest.approx(float(after) / float(before), abs=0.1)


def test_a_run_that_cannot_be_taken_is_named(configs):
    assert shares.line("on", SOURCE, SOURCE, configs).startswith("| on | | | its inputs are not here")
    with pytest.raises(InputError, match="has no run 'other'"):
        shares.line("other", SOURCE, SOURCE, configs)
