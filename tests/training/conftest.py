"""What tests of training share."""

import pytest


@pytest.fixture
def task(small_images):
    return small_images
