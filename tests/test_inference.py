"""`seqcap caption` on image files."""

import numpy as np
import pytest
import torch
from PIL import Image
from small_task import WORDS

from seqcap import models
from seqcap.artifacts import load_weights, save_weights
from seqcap.data.vocabulary import Vocabulary
from seqcap.features.encoders import with_weights
from seqcap.inference import caption_files


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """What the pipeline leaves: encoder, vocabulary and a (random) captioner of either kind."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    encoder = with_weights("scenes_cnn", "random", 1)
    encoder.save("artifacts/encoder/image.safetensors", {"weights": "random", "image_size": 32})
    vocabulary = Vocabulary.build([WORDS], 1)
    vocabulary.write("artifacts/image/data/vocabulary.json")
    features = encoder(torch.zeros(1, 3, 32, 32, dtype=torch.uint8))
    for architecture, shape, model in (
        ("lstm", encoder.pooled(features).shape[1:], {"hidden": 8, "image_input": "initial_state"}),
        ("attention", encoder.grid(features, 2).shape[1:], {"hidden": 8}),
    ):
        captioner = models.build(architecture, model, len(vocabulary), tuple(shape))
        metadata = {
            "architecture": architecture,
            "model": model,
            "vocabulary_size": len(vocabulary),
            "feature_shape": list(shape),
            "max_length": 5,
        }
        save_weights(f"{architecture}.safetensors", captioner.state_dict(), metadata)
    rng = np.random.default_rng(0)
    for name, size in (("one.png", (50, 40)), ("two.jpg", (32, 32))):
        Image.fromarray(rng.integers(0, 255, (*size, 3), dtype=np.uint8)).save(name)
    return tmp_path


@pytest.mark.parametrize("architecture", ["lstm", "attention"])
def test_pictures_of_any_size_are_captioned(trained, architecture):
    files = [trained / "one.png", trained / "two.jpg"]
    weights = [trained / f"{architecture}.safetensors"]
    found = list(caption_files(files, weights, 3))
    assert [file for file, _ in found] == files
    for _, caption in found:
        assert set(caption.split()) <= {*WORDS, "<unk>"}
        assert len(caption.split()) <= 5
    assert found == list(caption_files(files, weights, 3))
    # Three times the same captioner agrees with itself.
    assert found == list(caption_files(files, weights * 3, 3))


def test_the_command_prints_a_line_per_picture(trained, command):
    done = command("caption", "one.png", "two.jpg", "--weights", "lstm.safetensors", "--beam", "2")
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["one.png", "two.jpg"]


def test_captioners_of_two_kinds_caption_together(trained, command):
    weights = [trained / "lstm.safetensors", trained / "attention.safetensors"]
    files = [trained / "one.png", trained / "two.jpg"]
    together = list(caption_files(files, weights, 2))
    assert together == list(caption_files(files, weights[::-1], 2))
    done = command("caption", "one.png", "two.jpg", "--beam", "2", "--weights", *weights)
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == [caption for _, caption in together]


def test_captioners_of_two_vocabularies_get_one_line(trained, command):
    tensors, metadata = load_weights(trained / "lstm.safetensors")
    tensors |= {name: value[:-1] for name, value in tensors.items() if name.startswith(("embedding", "output"))}
    save_weights("other.safetensors", tensors, metadata | {"vocabulary_size": metadata["vocabulary_size"] - 1})
    done = command("caption", "one.png", "--weights", "lstm.safetensors", "other.safetensors")
    assert done.returncode == 2
    assert done.stderr == (
        "error: other.safetensors: knows 9 words, and lstm.safetensors 10; put captioners of one vocabulary together\n"
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("broken.jpg", "--weights", "lstm.safetensors"), "broken.jpg"),
        (("absent.jpg", "--weights", "lstm.safetensors"), "absent.jpg"),
        (("one.png", "--weights", "nothing.safetensors"), "nothing.safetensors"),
        (("one.png", "--weights", "artifacts/encoder/image.safetensors"), "image.safetensors: holds no captioner"),
    ],
)
def test_bad_files_get_one_line(trained, command, arguments, named):
    (trained / "broken.jpg").write_bytes((trained / "two.jpg").read_bytes()[:300])
    done = command("caption", *arguments)
    assert done.returncode == 2
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
