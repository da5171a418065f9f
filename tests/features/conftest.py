"""torchvision, for the tests that need it."""

from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def torchvision() -> ModuleType:
    """Not imported above the tests: it takes 4 seconds, in every process that collects them."""
    from seqcap.features.torchvision_shim import torchvision

    return torchvision  # type: ignore[no-any-return]
