"""The mutation campaign keeps up: each mutation's text occurs once, its tests exist, and its table has both.

`python tests/mutations.py` runs it.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from mutations import ROOT, TABLE, read_mutations, read_table, table

MUTATIONS = read_mutations()
PARTS = ["objectives", "rewards", "models/decoding.py", "report/statistics.py"]


def test_there_are_enough_of_every_kind():
    assert len(MUTATIONS) >= 60
    assert len({(mutation.file, mutation.breaks) for mutation in MUTATIONS}) == len(MUTATIONS)
    for part in PARTS:
        assert sum(mutation.file.startswith(f"src/seqcap/{part}") for mutation in MUTATIONS) >= 8, part
    assert sum(bool(mutation.equivalent) for mutation in MUTATIONS) < len(MUTATIONS) / 10


def meaning(file, text):
    """Of code without its layout."""
    return ast.dump(ast.parse(text)) if file.endswith(".py") else text


@cache
def original(file):
    return meaning(file, (ROOT / file).read_text())


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{Path(mutation.file).stem}: {mutation.breaks}")
def test_a_mutation_fits_the_code(mutation):
    assert meaning(mutation.file, mutation.applied(ROOT)) != original(mutation.file)
    assert all((ROOT / test).is_file() for test in mutation.tests)


def test_the_table_is_of_these_mutations_and_tests():
    noticed = read_table(TABLE.read_text())
    assert TABLE.read_text() == table(MUTATIONS, noticed)
    for mutation in MUTATIONS:
        words = noticed[mutation.file, mutation.breaks]
        if mutation.equivalent:
            assert words == f"equivalent: {mutation.equivalent}"
            continue
        file, test = re.fullmatch(r"`(\S+)::(\w+)`", words).groups()
        assert f"tests/{file}" in mutation.tests
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(), words
