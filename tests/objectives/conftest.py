"""The captioner of most tests of objectives."""

import pytest
from enumeration import tiny_captioner


@pytest.fixture
def captioner():
    return tiny_captioner(words=1, seed=7, scale=1.0)
