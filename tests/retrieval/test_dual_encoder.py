"""The dual encoder: what it reads of a caption, however the caption is given, and how it is stored."""

import pytest
import torch
from small_task import CHANNELS
from torch.nn import functional as F

from seqcap import retrieval
from seqcap.data.vocabulary import BOS, EOS, PAD, SPECIALS, Vocabulary, digest
from seqcap.errors import InputError
from seqcap.files.tensors import save_weights
from seqcap.retrieval.dual_encoder import lengths

V, TIME = 12, 6
CONFIG = {"embedding": 5, "hidden": 7}


@pytest.fixture
def retriever():
    torch.manual_seed(0)
    return retrieval.build("dual_encoder", CONFIG, V, (CHANNELS,))


def captions_of_every_length():
    """Ids [2 TIME + 1, TIME]: with EOS of each length, cut ones of each length, and an empty one."""
    rows = torch.full((2 * TIME + 1, TIME), PAD)
    words = torch.randint(4, V, rows.shape, generator=torch.Generator().manual_seed(0))
    for length in range(1, TIME + 1):
        rows[length - 1, :length] = words[length, :length]
        rows[length - 1, length - 1] = EOS
        rows[TIME + length - 1, :length] = words[-length, :length]
    return rows


def relaxed(captions):
    """One-hot; nothing where there is PAD."""
    return F.one_hot(captions, V).float() * (captions != PAD)[..., None]


def test_the_caption_is_read_word_by_word_from_bos_to_eos(retriever):
    ids = [7, 4, 9, EOS]
    state = torch.zeros(1, CONFIG["hidden"])
    for i in [BOS, *ids]:
        state = torch.gru_cell(retriever.embedding.weight[i][None], state, *retriever.gru.all_weights[0])
    found = retriever.embed_captions(torch.tensor([[*ids, PAD, PAD]]))
    torch.testing.assert_close(found, F.normalize(state, dim=1))


def test_a_one_hot_caption_and_its_ids_have_one_embedding_at_every_length(retriever):
    captions = captions_of_every_length()
    found = retriever.embed_captions(captions)
    torch.testing.assert_close(retriever.embed_captions(relaxed(captions)), found)
    for i in range(len(captions)):
        torch.testing.assert_close(retriever.embed_captions(captions[i : i + 1]), found[i : i + 1])
    assert torch.pdist(found.detach()).min() > 1e-3
    torch.testing.assert_close(found.norm(dim=1), torch.ones(len(found)))


def test_what_stands_after_eos_changes_nothing(retriever):
    captions = captions_of_every_length()[:TIME]
    found = retriever.embed_captions(captions)
    after = torch.arange(TIME) >= lengths(captions)[:, None]
    noise = torch.randint(0, V, captions.shape, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(retriever.embed_captions(torch.where(after, noise, captions)), found)
    soft = torch.randn(*captions.shape, V, generator=torch.Generator().manual_seed(2))
    mixed = torch.where(after[..., None], soft, relaxed(captions)).requires_grad_()
    again = retriever.embed_captions(mixed)
    torch.testing.assert_close(again, found)
    again[:, 0].sum().backward()
    assert torch.equal(mixed.grad.any(-1), ~after)
    # More padding is no difference either.
    torch.testing.assert_close(retriever.embed_captions(F.pad(captions, (0, 3), value=PAD)), found)


def test_a_distribution_is_read_as_the_mean_of_its_words(retriever):
    p = torch.softmax(torch.randn(1, 2, V, generator=torch.Generator().manual_seed(3)), -1)
    caption = torch.cat([p, F.one_hot(torch.tensor([[EOS, PAD]]), V) * torch.tensor([[[1.0], [0.0]]])], 1)
    state = torch.zeros(1, CONFIG["hidden"])
    weight = retriever.embedding.weight
    for vector in [weight[BOS], *(sum(q[i] * weight[i] for i in range(V)) for q in p[0]), weight[EOS]]:
        state = torch.gru_cell(vector[None], state, *retriever.gru.all_weights[0])
    torch.testing.assert_close(retriever.embed_captions(caption), F.normalize(state, dim=1))


def test_images_are_standardised_and_have_length_one(retriever):
    features = torch.randn(50, CHANNELS) * 100 + 1000
    features[:, 2] = 5
    before = retriever.embed_images(features)
    retriever.fit_standardisation(features)
    found = retriever.embed_images(features)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(50))
    assert torch.pdist(before.detach()).max() < torch.pdist(found.detach()).min() + 0.5
    scaled = retriever.embed_images(features.half())
    torch.testing.assert_close(scaled, found, atol=0.05, rtol=0)
    standardised = (features - features.mean(0)) / features.std(0).clamp(min=1e-3)
    torch.testing.assert_close(found, F.normalize(retriever.image(standardised), dim=1), atol=1e-4, rtol=0)


def test_a_frozen_listener_in_evaluation_mode_passes_gradient_on(retriever):
    """cuDNN's GRU refuses to in evaluation mode, so no mode switches it there."""
    assert retriever.eval().gru.training


def test_saved_and_loaded_it_embeds_the_same(retriever, tmp_path):
    retriever.fit_standardisation(torch.randn(9, CHANNELS) + 3)
    save_weights(tmp_path / "x.safetensors", retriever.state_dict(), retriever.metadata())
    again, metadata = retrieval.load(tmp_path / "x.safetensors")
    features, captions = torch.randn(3, CHANNELS), captions_of_every_length()
    assert torch.equal(again.embed_images(features), retriever.embed_images(features))
    assert torch.equal(again.embed_captions(captions), retriever.embed_captions(captions))
    assert again.metadata() == retriever.metadata() == metadata
    assert metadata["model"]["margin"] == 0.2


@pytest.mark.parametrize(
    "change",
    [None, {"architecture": "lstm"}, {"model": {"hidden": 4}}, {"feature_shape": [3]}, {"architecture": "losses"}],
)
def test_what_holds_no_retriever_is_one_line(retriever, tmp_path, change):
    path = tmp_path / "x.safetensors"
    with pytest.raises(InputError, match=r"x\.safetensors: .*(restore it|check the path)"):
        retrieval.load(path)
    save_weights(path, retriever.state_dict(), {} if change is None else retriever.metadata() | change)
    with pytest.raises(InputError, match=r"x\.safetensors: .*(restore it|check the path)") as error:
        retrieval.load(path)
    assert "\n" not in str(error.value)


def test_inputs_are_the_pooled_features_of_a_split(small_images):
    folder = small_images / "artifacts/image"
    with pytest.raises(InputError, match=r"pooled\.parquet: has features of shape \(8,\), the retriever reads \(9,\)"):
        retrieval.build("dual_encoder", CONFIG, 13, (CHANNELS + 1,)).inputs(folder, "val")
    retriever = retrieval.build("dual_encoder", CONFIG, 13, (CHANNELS,))
    # As many words, but others.
    retriever.vocabulary = digest(Vocabulary([*SPECIALS, *"abcdefghi"]))
    with pytest.raises(InputError, match=r"vocabulary\.json: has other words than the 13 that the retriever"):
        retriever.inputs(folder, "val")
    retriever.vocabulary = digest(Vocabulary.read(folder / "data/vocabulary.json"))
    with pytest.raises(InputError, match=r"no images in split 'dev'"):
        retriever.inputs(folder, "dev")
    inputs = retriever.inputs(folder, "val")
    assert inputs.ids.tolist() == [24, 25, 26, 27, 28, 29]
    chosen = inputs.get(inputs.ids[:2] - 24)
    assert chosen.shape == (2, CHANNELS)
    assert chosen[1].topk(2).indices.sort().values.tolist() == [25 % 3, 3 + 25 // 3 % 3]
