"""What tests of training share."""

import pytest
from small_task import write_task

from seqcap.training.checkpoint import State


@pytest.fixture
def task(tmp_path, monkeypatch):
    """The small image task, in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    return tmp_path


@pytest.fixture
def killed_after_saving():
    """Calls a function again and again, killed whenever it has saved its state, until it ends; what it returns, and how
    often it was killed."""

    def call(function):
        original, kills = State.save, 0

        def save_and_die(state, path):
            original(state, path)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(State, "save", save_and_die)
            while True:
                try:
                    return function(), kills
                except KeyboardInterrupt:
                    kills += 1

    return call
