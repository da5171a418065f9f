"""What all tests of evaluation share."""

import contextlib
from pathlib import Path

import pytest
from small_task import run_config, train_group, write_listener, write_task

from seqcap.metrics.paraphrases import NUMBERED


@pytest.fixture(scope="module", autouse=True)
def loaded_once(request):
    """One SPICE parser, and METEOR without paraphrases: to read them takes 6 seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqcap.metrics.paraphrases.numbered", lambda _: NUMBERED.empty_table())
        patch.setattr("seqcap.spice.cache.Parser", lambda: request.getfixturevalue("parser"))
        yield


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    """The small task with a captioner and a listener, in the working directory."""
    with contextlib.chdir(tmp_path_factory.mktemp("task")):
        write_task(Path())
        write_listener(Path())
        train_group(run_config(weights="pretrained"))
        yield
