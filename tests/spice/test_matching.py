"""Tuples matched by hand: synonyms, merging, and the F-score."""

import itertools
import zipfile
from pathlib import Path

import pytest

from seqcap.errors import InputError
from seqcap.spice.matching import Match, build_graph, match
from seqcap.spice.wordnet import wordnet


def matched(candidate: str, reference: str) -> tuple[int, int, int]:
    """Tuples are separated by commas, their words by spaces."""
    graphs = [build_graph([tuple(said.split()) for said in side.split(",") if said]) for side in (candidate, reference)]
    return tuple(match(*graphs))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("dog,cat", "dog", (1, 2, 1)),
        ("dog", "dog,cat", (1, 1, 2)),
        # Synonyms match, words related otherwise do not.
        ("car", "automobile", (1, 1, 1)),
        ("dog", "puppy", (0, 1, 1)),
        ("man,man two", "man,man 2", (2, 2, 2)),
        # Inflected forms are found by WordNet's rules and exceptions.
        ("men", "man", (1, 1, 1)),
        ("buses", "bus", (1, 1, 1)),
        ("Car", "car", (1, 1, 1)),
        # Words that WordNet does not know match themselves.
        ("xyzzy", "xyzzy", (1, 1, 1)),
        # Attributes and relations must match in every place.
        ("man red", "man red", (2, 2, 2)),
        ("man red", "man crimson", (2, 2, 2)),
        ("man ride horse", "man mount horse", (3, 3, 3)),
        ("man ride horse", "horse ride man", (2, 3, 3)),
        ("man ride horse", "man,horse,man horse", (2, 3, 3)),
        # Synonyms within one graph are one node.
        ("car,automobile", "auto", (1, 1, 1)),
        ("bike red,bicycle blue", "bike red", (2, 3, 2)),
        ("man ride bike,man mount bicycle", "man ride bike", (3, 3, 3)),
        # Repetition is free.
        ("man,man,man red,man red", "man", (1, 2, 1)),
        ("", "man", (0, 0, 1)),
        ("man", "", (0, 1, 0)),
        ("", "", (0, 0, 0)),
    ],
)
def test_matches(candidate: str, reference: str, expected: tuple[int, int, int]) -> None:
    assert matched(candidate, reference) == expected


def test_merging_does_not_depend_on_order() -> None:
    """ "bicycle" and "motorcycle" are no synonyms, but "bike" is one of both."""
    assert matched("bicycle", "motorcycle") == (0, 1, 1)
    for words in itertools.permutations(["bicycle", "motorcycle", "bike", "bike red", "motorcycle crimson"]):
        assert matched("bicycle red", ",".join(words)) == (2, 2, 2)


def test_f_is_the_harmonic_mean() -> None:
    assert Match(2, 4, 8).precision == 0.5
    assert Match(2, 4, 8).recall == 0.25
    assert Match(2, 4, 8).f == pytest.approx(1 / 3)
    assert [Match(0, 0, 0).f, Match(0, 3, 0).f, Match(0, 0, 3).f] == [0, 0, 0]
    # Two candidate tuples may match one reference tuple: no score exceeds 1.
    assert matched("bicycle,motorcycle", "bike") == (2, 2, 1)
    assert Match(2, 2, 1).f == 1


def test_a_damaged_jar_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "meteor-1.5.jar"
    monkeypatch.setattr("seqcap.spice.wordnet.meteor_file", lambda _: jar)
    for damage in (lambda: None, lambda: jar.write_bytes(b"PK"), lambda: zipfile.ZipFile(jar, "w").close()):
        damage()
        with pytest.raises(InputError, match="re-install pycocoevalcap"):
            wordnet.__wrapped__()
