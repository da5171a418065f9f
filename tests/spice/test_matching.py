"""Tuples matched by hand: synonyms, merging, and the F-score."""

import itertools
import zipfile
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.spice.matching import Match, build_graph, match
from seqcap.spice.wordnet import wordnet

MATCHES = YAML(typ="safe").load(Path(__file__).with_name("matches.yaml").read_text(encoding="utf-8"))


def matched(candidate: str, reference: str) -> tuple[int, int, int]:
    """Tuples are separated by commas, their words by spaces."""
    graphs = [build_graph([tuple(said.split()) for said in side.split(",") if said]) for side in (candidate, reference)]
    return tuple(match(*graphs))  # type: ignore[return-value]


@pytest.mark.parametrize(("candidate", "reference", "expected"), MATCHES)
def test_matches(candidate, reference, expected):
    assert matched(candidate, reference) == tuple(expected)


def test_merging_does_not_depend_on_order():
    """ "bicycle" and "motorcycle" are no synonyms, but "bike" is one of both."""
    assert matched("bicycle", "motorcycle") == (0, 1, 1)
    for words in itertools.permutations(["bicycle", "motorcycle", "bike", "bike red", "motorcycle crimson"]):
        assert matched("bicycle red", ",".join(words)) == (2, 2, 2)


def test_f_is_the_harmonic_mean():
    assert Match(2, 4, 8).precision == 0.5
    assert Match(2, 4, 8).recall == 0.25
    assert Match(2, 4, 8).f == pytest.approx(1 / 3)
    assert [Match(0, 0, 0).f, Match(0, 3, 0).f, Match(0, 0, 3).f] == [0, 0, 0]
    # Two candidate tuples may match one reference tuple: no score exceeds 1.
    assert matched("bicycle,motorcycle", "bike") == (2, 2, 1)
    assert Match(2, 2, 1).f == 1


def test_a_damaged_jar_is_one_line(tmp_path, monkeypatch):
    jar = tmp_path / "meteor-1.5.jar"
    monkeypatch.setattr("seqcap.spice.wordnet.meteor_file", lambda _: jar)
    for damage in (lambda: None, lambda: jar.write_bytes(b"PK"), lambda: zipfile.ZipFile(jar, "w").close()):
        damage()
        with pytest.raises(InputError, match="re-install pycocoevalcap"):
            wordnet.__wrapped__()
