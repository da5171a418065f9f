"""One parser for the whole session: it takes 3 seconds to load."""

from __future__ import annotations

import pytest

from seqcap.spice import CachedParser, Parser


@pytest.fixture(scope="session")
def parser() -> Parser:
    return Parser(processes=1)


@pytest.fixture(scope="session")
def uncached(parser: Parser) -> CachedParser:
    return CachedParser(None, parser)
