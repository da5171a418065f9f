"""One parser for the whole session (it takes 3 seconds to load), and pycocoevalcap's folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from seqcap.spice import CachedParser, Parser


@pytest.fixture(scope="session")
def parser() -> Parser:
    return Parser(processes=1)


@pytest.fixture(scope="session")
def uncached(parser: Parser) -> CachedParser:
    return CachedParser(None, parser)


@pytest.fixture(scope="session")
def pycocoevalcap_folder() -> Path:
    package = importlib.util.find_spec("pycocoevalcap")
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0])
