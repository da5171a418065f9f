"""Vocabulary: ids, unknown words, and damaged files."""

import pytest

from seqcap.data.vocabulary import EOS, PAD, SPECIALS, UNK, Vocabulary, digest
from seqcap.errors import InputError

CAPTIONS = [["a", "dog", "runs"], ["a", "dog", "sits"], ["a", "cat", "runs"]]


def test_build_sorts_by_count_then_word_and_drops_rare_words():
    assert Vocabulary.build(CAPTIONS, 2).words == [*SPECIALS, "a", "dog", "runs"]
    assert Vocabulary.build(CAPTIONS, 1).words == [*SPECIALS, "a", "dog", "runs", "cat", "sits"]
    with pytest.raises(InputError, match=r"params\.yaml: no word occurs 4 times .*; lower the task's min_count"):
        Vocabulary.build(CAPTIONS, 4)


def test_the_hash_is_of_words_and_their_order():
    words = [*SPECIALS, "a", "b"]
    others = ([*SPECIALS, "b", "a"], [*SPECIALS, "a"], [*SPECIALS, "a", "b", "c"], [*SPECIALS, "ab"])
    hashes = [digest(Vocabulary(found)) for found in (words, *others)]
    assert len(set(hashes)) == len(hashes)
    assert digest(Vocabulary(words, 3)) == hashes[0]
    source, target = Vocabulary(words), Vocabulary(others[0])
    assert digest(source, target) != digest(target, source)


def test_special_words_in_captions_are_unknown_words():
    vocabulary = Vocabulary.build([["<eos>", "a"], ["<pad>", "a"]], 1)
    assert vocabulary.words == [*SPECIALS, "a"]
    assert vocabulary.encode(["<eos>", "a", "<pad>"]) == [UNK, 4, UNK]


def test_unknown_words_are_unk_for_the_captioner_and_unreachable_in_references():
    vocabulary = Vocabulary.build(CAPTIONS, 2)
    assert vocabulary.encode(["a", "zebra", "runs"]) == [4, UNK, 6]
    assert vocabulary.encode_reference(["a", "zebra", "runs"]) == [4, len(vocabulary), 6]


@pytest.mark.parametrize("end", [EOS, PAD])
def test_decode_inverts_encode_and_stops_at_the_end(end):
    vocabulary = Vocabulary.build(CAPTIONS, 1)
    assert vocabulary.decode([*vocabulary.encode(["a", "cat"]), end, 5]) == ["a", "cat"]
    assert vocabulary.decode([UNK]) == ["<unk>"]
    with pytest.raises(IndexError):
        vocabulary.decode([4, 9])


def test_write_then_read_gives_the_same_bytes(tmp_path):
    vocabulary = Vocabulary.build(CAPTIONS, 2)
    vocabulary.write(tmp_path / "a.json")
    again = Vocabulary.read(tmp_path / "a.json")
    again.write(tmp_path / "b.json")
    assert (again.words, again.min_count) == (vocabulary.words, 2)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
