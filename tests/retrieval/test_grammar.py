"""The grammar head: every fault that a caption gets, and a text encoder that learns to see them."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from small_task import CHANNELS
from torch.nn import functional as F

from seqcap.data.vocabulary import EOS, PAD
from seqcap.retrieval import dual_encoder, grammar
from seqcap.retrieval.grammar import DAMAGED, INTACT, Grammar, damage

WORDS = list(range(10, 18))
VOCABULARY = 40


def faults(fault, number=400, words=WORDS):
    rng = np.random.default_rng(0)
    return [fault(list(words), VOCABULARY, rng) for _ in range(number)]


def encoder():
    torch.manual_seed(0)
    return dual_encoder.Model(dual_encoder.Config(embedding=8, hidden=12), VOCABULARY, (CHANNELS,))


def is_subsequence(some, of):
    rest = iter(of)
    return all(word in rest for word in some)


def test_an_ngram_is_repeated_at_random_places():
    found = faults(grammar.repeat)
    added = [len(words) - 8 for words in found]
    assert set(added) == {1, 2, 3, 4, 6, 9}
    assert all(is_subsequence(WORDS, words) for words in found)
    for words in found:
        # One n-gram, as often: what is there twice is as many words as one repetition has, or more where it was split.
        counts = {word: words.count(word) for word in WORDS}
        repeated = [word for word in WORDS if counts[word] > 1]
        assert repeated == list(range(repeated[0], repeated[0] + len(repeated)))
        assert len({counts[word] for word in repeated}) == 1
        assert len(repeated) <= 3
        assert counts[repeated[0]] <= 4
    # A word that is there twice need not stand beside itself.
    apart = [words for words in found if len(words) == 9 and all(left != right for left, right in pairwise(words))]
    assert min(len({words[place] for words in apart}) for place in (0, -1)) > 3


def test_an_ngram_is_removed():
    found = faults(grammar.remove)
    kept = {tuple(words) for words in found}
    assert kept == {(*WORDS[:i], *WORDS[i + n :]) for n in (1, 2, 3) for i in range(9 - n)}


def test_random_words_are_inserted():
    found = faults(grammar.insert)
    assert {len(words) for words in found} == {9, 10, 11}
    assert all(is_subsequence(WORDS, words) for words in found)
    new = {word for words in found for word in words} - set(WORDS)
    # Any word of the vocabulary, none of the specials.
    assert new == set(range(4, VOCABULARY)) - set(WORDS)
    assert {words[0] != 10 for words in found} == {words[-1] != 17 for words in found} == {True, False}


def test_words_are_replaced_by_random_words():
    found = faults(grammar.replace)
    changed = [[i for i in range(8) if words[i] != WORDS[i]] for words in found]
    assert {len(words) for words in found} == {8}
    assert {len(places) for places in changed} >= {1, 2, 3}
    assert max(map(len, changed)) == 3
    assert {place for places in changed for place in places} == set(range(8))
    assert min(word for words in found for word in words) == 4


def test_all_words_are_shuffled():
    found = faults(grammar.shuffle)
    assert all(sorted(words) == WORDS for words in found)
    assert {words[0] for words in found} == {words[7] for words in found} == set(WORDS)


def test_every_caption_gets_one_of_all_faults(monkeypatch):
    used = []
    original = grammar.FAULTS

    def spy(fault):
        return lambda words, size, rng: used.append(fault.__name__) or fault(words, size, rng)

    monkeypatch.setattr(grammar, "FAULTS", tuple(map(spy, original)))
    captions = torch.tensor([[*WORDS, EOS, PAD], [*WORDS, 18, EOS]] * 100)
    found = damage(captions, VOCABULARY, np.random.default_rng(0))
    assert set(used) == {"repeat", "remove", "insert", "replace", "shuffle"}
    assert min(used.count(name) for name in set(used)) > 20
    # A fault that changed nothing was tried again, and no caption has two.
    assert 200 <= len(used) < 215
    assert ((found == EOS).sum(1) == 1).all()
    assert all(PAD not in caption[: caption.index(EOS)] for caption in found.tolist())
    assert all(set(caption[caption.index(EOS) + 1 :]) <= {PAD} for caption in found.tolist())


@pytest.mark.parametrize("words", [[], [5], [5, 5], [5, 6]])
def test_no_caption_stays_as_it_was(words):
    """Not even the empty one, or one whose words are all the same."""
    captions = torch.tensor([[*words, EOS]] * 200)
    found = damage(captions, VOCABULARY, np.random.default_rng(0))
    padded = F.pad(captions, (0, found.shape[1] - captions.shape[1]))
    assert (found != padded).any(1).all()


def test_a_caption_that_was_cut_gets_its_end():
    found = damage(torch.tensor([WORDS]), VOCABULARY, np.random.default_rng(0))
    assert found[0, -1] == EOS


def test_the_head_has_no_biases_and_the_retriever_is_copied():
    retriever = encoder()
    tuned = Grammar(retriever)
    assert [type(layer).__name__ for layer in tuned.head] == ["Linear", "ReLU", "Linear"]
    assert [(layer.in_features, layer.out_features, layer.bias) for layer in tuned.head[::2]] == [
        (12, 12, None),
        (12, 2, None),
    ]
    frozen = {name for name, parameter in tuned.named_parameters() if not parameter.requires_grad}
    assert frozen == {"encoder.tower.image.weight", "encoder.tower.image.bias"}
    own = {parameter.data_ptr() for parameter in retriever.parameters()}
    assert not own & {parameter.data_ptr() for parameter in tuned.parameters()}


@pytest.mark.parametrize("kind", ["hinge", "info_nce"])
def test_the_loss_is_the_encoders_own_and_the_heads_cross_entropy(kind):
    retriever = encoder()
    retriever.config = retriever.config.model_copy(update={"loss": kind})
    tuned = Grammar(retriever)
    images = F.normalize(torch.randn(3, 12), dim=1)
    captions = torch.tensor([[10, 11, EOS], [12, EOS, PAD], [13, 14, 15]])
    faulty = torch.tensor([[11, 10, EOS, PAD], [12, 12, 12, EOS], [13, 15, EOS, PAD]])
    loss, accuracy = tuned.loss(images, captions, faulty)
    texts = tuned.encoder.tower.embed_captions(captions)
    parts = [texts, tuned.encoder.tower.embed_captions(faulty)]
    p = [F.softmax(tuned.head[2](tuned.head[0](part).relu()), dim=1) for part in parts]
    to_text, to_image = retriever.loss(images, texts)
    entropy = -(p[0][:, INTACT].log().sum() + p[1][:, DAMAGED].log().sum()) / 6
    torch.testing.assert_close(loss, (to_text + to_image).mean() + entropy)
    right = (p[0][:, INTACT] > 0.5).sum() + (p[1][:, DAMAGED] > 0.5).sum()
    assert accuracy.item() == pytest.approx(right.item() / 6)
