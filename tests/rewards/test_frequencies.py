"""Document frequencies of any vocabulary: counted, kept in a file, and weighing as those of the references do."""

import numpy as np
import pytest
from plain_rewards import cider_d, document_frequencies

from seqcap.errors import InputError
from seqcap.rewards import frequencies
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.frequencies import DocumentFrequencies, NumberedReferences

END = "</s>"


def scored(references, hypotheses, images, ended, counted):
    numbered = NumberedReferences(references, counted.numbers)
    return CiderD(numbered.ended, counted.table).score(numbered.rows(hypotheses, images, ended), np.array(images))


def expected(references, hypotheses, images, ended, counted_over):
    own = [[[*caption, END] for caption in captions] for captions in references]
    weights = document_frequencies([[[*caption, END] for caption in captions] for captions in counted_over])
    rows = [[*tokens, END] if end else tokens for tokens, end in zip(hypotheses, ended, strict=True)]
    pairs = zip(rows, images, strict=True)
    return [cider_d(tokens, own[image], weights, len(counted_over)) for tokens, image in pairs]


@pytest.fixture
def captions():
    """References of 30 images over 40 words, of which many are of one image alone, and hypotheses with new words."""
    rng = np.random.default_rng(0)
    words = [f"w{n}" for n in range(40)]

    def caption(more=()):
        return [str(word) for word in rng.choice([*words, *more], size=rng.integers(1, 12))]

    references = [[caption([f"own{image}", f"rare{image}"]) for _ in range(rng.integers(1, 4))] for image in range(30)]
    images = rng.integers(30, size=50).tolist()
    hypotheses = [caption([f"own{image}", "new1", "new2"]) for image in images]
    hypotheses += [["new1", "new2", "new1", "new2"], [], references[4][0]]
    return references, hypotheses, [*images, 1, 2, 4], [bool(bit) for bit in rng.integers(2, size=53)]


def test_scores_are_those_of_words_with_numbers_of_their_own(captions):
    """However few words have a number of their own: n-grams of one image weigh like those of none."""
    references = captions[0]
    counted = DocumentFrequencies.of_tokens(references)
    assert 0 < len(counted.words) <= 40
    values = scored(*captions, counted)
    assert values.max() > 3
    np.testing.assert_allclose(values, expected(*captions, references), rtol=0, atol=1e-12)


def test_a_part_scores_with_the_frequencies_of_all(captions):
    references, hypotheses, images, ended = captions
    counted = DocumentFrequencies.of_tokens(references)
    values = scored(references, hypotheses, images, ended, counted)
    for place, image in enumerate(images):
        alone = scored([references[image]], [hypotheses[place]], [0], [ended[place]], counted)
        assert alone == pytest.approx(values[place], abs=1e-12)


def test_a_file_gives_them_back_and_has_the_same_bytes(captions, tmp_path):
    counted = DocumentFrequencies.of_tokens(captions[0])
    counted.write(tmp_path / "a.npz")
    again = DocumentFrequencies.read(tmp_path / "a.npz")
    again.write(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (again.images, again.words, len(again)) == (30, counted.words, len(counted))
    np.testing.assert_array_equal(scored(*captions, again), scored(*captions, counted))


def test_token_ids_of_any_size_are_counted(tmp_path):
    references = [[[151_643, 7, 7_000_000]], [[151_643, 7]], [[9]]]
    counted = DocumentFrequencies.of_tokens(references)
    assert counted.words == [151_643, 7]
    counted.write(tmp_path / "ids.npz")
    assert DocumentFrequencies.read(tmp_path / "ids.npz").words == [151_643, 7]
    same = scored(references, [[151_643, 7, 7_000_000], [151_643, 7, 8_000_000]], [0, 0], [True, True], counted)
    assert same[0] == pytest.approx(10)
    assert same[1] < 9


def test_words_of_texts_are_those_of_the_tokenizer():
    counted = DocumentFrequencies.of_captions([["A dog, running."], ["The DOG!"], ["cats"]])
    assert (counted.images, counted.words) == (3, ["dog"])


def test_a_damaged_file_is_named(tmp_path):
    """In the middle of what is compressed."""
    path = tmp_path / "counts.npz"
    DocumentFrequencies.of_captions([["a dog", "a red cat"], ["a dog", "a cat"]] * 20).write(path)
    content = bytearray(path.read_bytes())
    start = content.index(b"grams.npy") + len(b"grams.npy")
    content[start : start + 40] = bytes(range(200, 240))
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"counts\.npz: holds no document frequencies"):
        DocumentFrequencies.read(path)


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"hello", None])
def test_another_file_is_named(tmp_path, content):
    path = tmp_path / "counts.npz"
    if content is None:
        with path.open("wb") as file:
            np.savez(file, images=3, words=np.array([1, 1]), grams=np.array([4], np.uint64), counts=np.array([2]))
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"counts\.npz: holds no document frequencies"):
        DocumentFrequencies.read(path)
    with pytest.raises(InputError, match=r"none\.npz: cannot be read"):
        DocumentFrequencies.read(tmp_path / "none.npz")


def test_words_and_ids_do_not_fit(captions, monkeypatch):
    counted = DocumentFrequencies.of_tokens([[[5]], [[5]]])
    with pytest.raises(InputError, match=r"share no word with the references; .*: these count token ids"):
        counted.check_against(captions[0])
    monkeypatch.setattr(frequencies, "MOST_WORDS", 30)
    with pytest.raises(InputError, match=r"hold \d+ words that several images share"):
        DocumentFrequencies.of_tokens(captions[0])
