"""The session's parser, as the metric and the reward take it."""

from __future__ import annotations

import pytest

from seqcap.spice.cache import CachedParser
from seqcap.spice.parser import Parser


@pytest.fixture(scope="session")
def uncached(parser: Parser) -> CachedParser:
    return CachedParser(None, parser)
