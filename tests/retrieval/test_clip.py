"""CLIP of the real architecture, with few and random weights, from a folder."""

import importlib
import shutil
import socket
import sys
from pathlib import Path

import children
import numpy as np
import pytest
import torch
from PIL import Image
from small_clip import write_clip
from small_task import retriever_config
from torch.nn import functional as F

from seqcap import retrieval
from seqcap.config import config_path, write_config
from seqcap.data.vocabulary import EOS, PAD, Vocabulary
from seqcap.errors import InputError
from seqcap.features.clip_folder import FILES
from seqcap.features.store import FeatureStore
from seqcap.files.json_file import read_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import CURVES, IMAGES
from seqcap.retrieval import clip
from seqcap.retrieval.grammar import Grammar
from seqcap.retrieval.recalls import recalls


@pytest.fixture(scope="session")
def transformers():
    # transformers imports torchvision, which may need the shim.
    import seqcap.features.torchvision_shim  # noqa: F401

    return importlib.import_module("transformers")


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory, transformers):
    """A folder as users have it: the real classes, with few and random weights."""
    return write_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture
def task(small_images):
    rng = np.random.default_rng(0)
    for row in read_table("artifacts/image/data/images.parquet", IMAGES).to_pylist():
        Path("artifacts/image/data/images").mkdir(exist_ok=True)
        pixels = rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(f"artifacts/image/data/images/{row['file']}")


@pytest.fixture
def config(task, clip_folder):
    changes = {"architecture": "clip", "model": {}, "training": None, "folder": str(clip_folder)}
    return retriever_config(name="clip", weights="starts/retriever/clip").model_copy(update=changes)


def test_the_stage_embeds_every_picture_and_measures_recall(config, clip_folder, transformers, monkeypatch, command):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the network was asked"))
    monkeypatch.setattr(clip, "CHUNK", 7)
    write_config(config_path("retriever", "clip"), config)
    command("clip", script=children.STAGES / "retriever.py")
    made = Path("starts/retriever/clip")
    store = FeatureStore(made / "images.parquet")
    assert store.image_ids.tolist() == list(range(36))
    model = transformers.CLIPModel.from_pretrained(clip_folder).eval()
    processor = transformers.CLIPImageProcessor.from_pretrained(clip_folder)
    pixels = processor(Image.open("artifacts/image/data/images/9.png"), return_tensors="pt")
    with torch.no_grad():
        expected = F.normalize(model.get_image_features(**pixels).pooler_output, dim=1)
    torch.testing.assert_close(torch.from_numpy(store.get(np.array([9]))), expected)
    retriever, _ = retrieval.load(made / "seed1.safetensors")
    split = retriever.load_task(Path("artifacts/image")).split("test", 6)
    found = recalls(retriever, split, torch.device("cpu"))
    assert read_json(made / "recalls.json")["seeds"] == {"1": found}
    assert len(read_table(made / "curves.parquet", CURVES)) == 0
    assert (made / "seed1.safetensors").stat().st_size < 2000


@pytest.fixture
def retriever(config):
    clip.make(config)
    return retrieval.load(Path("starts/retriever/clip/seed1.safetensors"))[0]


def test_captions_are_read_as_words(retriever, clip_folder, transformers):
    vocabulary = Vocabulary.read("artifacts/image/data/vocabulary.json")
    captions = torch.tensor(
        [[*vocabulary.encode(["a", "red", "dog"]), EOS, PAD], [*vocabulary.encode(["the", "cat"]), EOS, 5, PAD]]
    )
    model = transformers.CLIPModel.from_pretrained(clip_folder).eval()
    tokenizer = transformers.CLIPTokenizer.from_pretrained(clip_folder)
    assert len(tokenizer("a red dog")["input_ids"]) == 2 + 1 + 3 + 1
    found = retriever.embed_captions(captions)
    for row, text in zip(found, ("a red dog", "the cat"), strict=True):
        with torch.no_grad():
            vector = model.get_text_features(**tokenizer(text, return_tensors="pt")).pooler_output[0]
        torch.testing.assert_close(row, F.normalize(vector, dim=0))
    # Longer than CLIP can read: cut, and EOS is kept.
    long = torch.tensor([vocabulary.encode(["green"] * 40)])
    assert torch.isfinite(retriever.embed_captions(long)).all()
    with pytest.raises(InputError, match="CLIP reads words, not distributions; use a dual encoder"):
        retriever.embed_captions(F.one_hot(captions, len(vocabulary)).float())


def test_it_is_frozen_in_no_checkpoint_and_goes_to_other_devices(retriever):
    captions = torch.tensor([[5, 6, EOS]])
    assert list(retriever.parameters()) == []
    assert retriever.state_dict() == {}
    before = retriever.embed_captions(captions)
    assert not before.requires_grad
    assert torch.equal(retriever.train().embed_captions(captions), before)
    assert retriever.double().embed_captions(captions).dtype == torch.float64
    assert retriever.embed_images(torch.ones(1, 12) * 3).norm() == pytest.approx(1)
    # Images are read as CLIP embeds them, not as the captioners' features.
    inputs = retriever.inputs(Path("artifacts/image"), "val")
    assert inputs.get(np.arange(2)).shape == (2, 12)
    assert inputs.ids.tolist() == list(range(24, 30))


def test_its_text_tower_is_tuned_as_a_copy(retriever):
    """By CLIP's own loss; the grammar head reads what CLIP has before its projection."""
    original = retriever.clip
    tuned = Grammar(retriever)
    captions = torch.tensor([[4, 5, EOS], [6, EOS, PAD], [7, 4, 5]])
    texts, logits = tuned(captions)
    assert torch.equal(texts, retriever.embed_captions(captions))
    pooled = original.text_model(**retriever.tokens(captions)).pooler_output
    assert torch.equal(logits, tuned.head(pooled))
    assert all(parameter.requires_grad for parameter in tuned.parameters())
    assert not any(parameter.requires_grad for parameter in original.parameters())
    before = [parameter.clone() for parameter in original.parameters()]
    images = F.normalize(torch.randn(3, 12), dim=1)
    logits = images @ texts.T * original.logit_scale.exp()
    expected = (-logits.log_softmax(1).diagonal(), -logits.log_softmax(0).diagonal())
    torch.testing.assert_close(tuned.encoder.loss(images, texts), expected)
    optimizer = torch.optim.SGD(tuned.parameters(), lr=1.0)
    tuned.loss(images, captions, captions.flip(0))[0].backward()
    optimizer.step()
    assert all(map(torch.equal, before, original.parameters()))
    assert (tuned(captions)[0] - texts).abs().max() > 1e-3
    assert torch.equal(texts, retriever.embed_captions(captions))


@pytest.fixture
def damaged(clip_folder, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(clip_folder, tmp_path / "copy")


@pytest.mark.parametrize("file", [*FILES, "merges.txt", "vocab.json"])
def test_a_missing_or_damaged_file_is_one_line(damaged, file):
    (damaged / file).write_bytes(b"\x00\xff{")
    with pytest.raises(InputError, match=r"copy: cannot be read") as unreadable:
        clip.read(damaged)
    (damaged / file).unlink()
    # A pickled checkpoint in its place is not read.
    (damaged / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(InputError, match=rf"copy: has no .*{file}.*; name a folder") as missing:
        clip.read(damaged)
    assert "\n" not in str(unreadable.value) + str(missing.value)


def test_weights_that_are_not_there_are_not_drawn_at_random(damaged):
    from safetensors.torch import load_file, save_file

    tensors = load_file(damaged / "model.safetensors")
    del tensors["text_projection.weight"]
    save_file(tensors, damaged / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"copy: has no weights for text_projection\.weight"):
        clip.read(damaged)


def test_weights_that_would_be_left_out_are_refused(damaged):
    """As of a CLIP with more layers than its config.json says. Positions are not weights."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(damaged / "model.safetensors")
    positions = {"text_model.embeddings.position_ids": torch.arange(77)[None]}
    save_file(tensors | positions, damaged / "model.safetensors", metadata={"format": "pt"})
    clip.read(damaged)
    more = {
        name.replace("layers.0", "layers.7"): tensor.clone() for name, tensor in tensors.items() if "layers.0" in name
    }
    save_file(tensors | more, damaged / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"copy: has weights for text_model\.encoder\.layers\.7\..*, which its config"):
        clip.read(damaged)


def test_without_transformers_the_fix_is_named(tmp_path, monkeypatch):
    for file in (*FILES, "tokenizer.json"):
        (tmp_path / file).touch()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"needs transformers, which is not installed; pip install seqcap\[clip\]"):
        clip.read(tmp_path)
