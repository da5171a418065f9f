"""The shim: torchvision's networks can be had, and a working or differently broken torchvision is left alone."""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SHIM = "seqcap.features.torchvision_shim"


@pytest.fixture
def another_torchvision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in front of sys.path; the real torchvision is imported again by nobody, and put back at the end."""
    real = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "torchvision" or name == SHIM}
    for name in real:
        del sys.modules[name]
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    sys.modules.update(real)


def test_nothing_is_defined_where_the_import_works(another_torchvision):
    (another_torchvision / "torchvision.py").write_text("works = True")
    found = runpy.run_module(SHIM)
    assert found["torchvision"].works
    assert "_OPERATORS" not in found


def test_another_failure_is_not_hidden(another_torchvision):
    (another_torchvision / "torchvision.py").write_text("raise RuntimeError('no disk')")
    with pytest.raises(RuntimeError, match="no disk"):
        runpy.run_module(SHIM)
