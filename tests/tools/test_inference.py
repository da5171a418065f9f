"""`seqcap caption` on image files."""

import os
from pathlib import Path

import pytest
from small_gifs import gif, pictures
from small_task import SETTINGS, WORDS, write_captioners

from seqcap import models
from seqcap.data.vocabulary import SPECIALS, Vocabulary, digest
from seqcap.features.encoders import with_weights
from seqcap.files.tensors import load_weights, save_weights
from seqcap.models.base import Captioner
from seqcap.tools.caption import caption_files


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_captioners(tmp_path)
    return tmp_path


@pytest.mark.parametrize("architecture", ["lstm", "attention"])
def test_images_of_any_size_are_captioned(trained, architecture):
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
    # Two kinds decode together, in any order.
    both = [trained / "lstm.safetensors", trained / "attention.safetensors"]
    assert list(caption_files(files, both, 2)) == list(caption_files(files, both[::-1], 2))


def clips(trained, **metadata):
    """Makes the LSTM a captioner of clips."""
    encoder = with_weights("clips_cnn", "random", 1)
    encoder.save("starts/encoder/image.safetensors", {"weights": "scenes", "image_size": 32} | metadata)
    vocabulary = Vocabulary.read("artifacts/image/data/vocabulary.json")
    captioner = models.build("lstm", SETTINGS, len(vocabulary), (encoder.dim,))
    _, metadata_before = load_weights("lstm.safetensors")
    save_weights("lstm.safetensors", captioner.state_dict(), metadata_before | {"feature_shape": [encoder.dim]})
    (trained / "one.gif").write_bytes(gif(pictures(5, 40)))


def test_gifs_are_captioned_by_captioners_of_clips(trained, command):
    clips(trained, frames=4)
    done = command("caption", "one.gif", "--weights", "lstm.safetensors")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("one.gif\t")
    done = command("caption", "one.png", "--weights", "lstm.safetensors")
    assert done.returncode == 2
    assert done.stderr.startswith("error: one.png: cannot be decoded as GIF")


def test_an_encoder_of_clips_must_say_how_many_frames_it_reads(trained, command):
    clips(trained)
    assert "image.safetensors: does not say how many frames of a clip it reads" in refused(command, "lstm")
    clips(trained, frames=10**9)
    assert "holds no encoder (frames:" in refused(command, "lstm")


def change(name, tensors=None, **metadata):
    """Writes changed.safetensors: other weights, with other metadata."""
    before, metadata_before = load_weights(f"{name}.safetensors")
    kept = {key: value for key, value in (metadata_before | metadata).items() if value is not None}
    save_weights("changed.safetensors", before | (tensors or {}), kept)


def refused(command, *weights):
    """The one line about weights that caption no image."""
    done = command("caption", "one.png", "--weights", *(f"{name}.safetensors" for name in weights))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_captioners_of_two_vocabularies_get_one_line(trained, command):
    """Of the same size, with other words."""
    change("lstm", vocabulary=digest(Vocabulary([*SPECIALS, *"abcdef"])))
    assert refused(command, "lstm", "changed") == (
        "error: changed.safetensors: was trained with another vocabulary than lstm.safetensors; "
        "put captioners of one vocabulary together\n"
    )
    vocabulary = "artifacts/image/data/vocabulary.json"
    assert f"changed.safetensors: was trained with another vocabulary than {vocabulary}" in refused(command, "changed")
    Vocabulary([*SPECIALS, *WORDS[::-1]]).write(vocabulary)
    assert f"lstm.safetensors: was trained with another vocabulary than {vocabulary}" in refused(command, "lstm")


def test_words_that_are_not_there_yet_are_named_with_what_makes_them(trained, command):
    """As in a new clone, which has weights in starts/."""
    vocabulary = Path("artifacts/image/data/vocabulary.json")
    vocabulary.unlink()
    assert f"{vocabulary}: is not there; run `dvc repro data-image` in the checkout" in refused(command, "lstm")


def test_captions_without_a_probability_get_one_line(trained, command, monkeypatch):
    """Finite weights may be so large that no probability is finite."""
    logits = Captioner.logits
    monkeypatch.setattr(Captioner, "logits", lambda captioner, hidden: logits(captioner, hidden) * float("nan"))
    assert "lstm.safetensors: gives no caption of one.png a finite probability" in refused(command, "lstm")


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"architecture": "gpt"}, "(seqcap.models has attention, huggingface, lstm, transformer, translator; not gpt)"),
        ({"architecture": "translator"}, "holds no captioner ("),
        ({"model": SETTINGS | {"hidden": 10**6}}, "(embedding.weight is [10, 8], and [10, 1000000]"),
        ({"vocabulary_size": 10**12}, "holds no captioner (embedding.weight is [10, 8], and [1000000000000, 8]"),
        ({"vocabulary": None}, "holds no captioner (vocabulary: Field required)"),
        ({"feature_shape": [384, 0]}, "holds no captioner (feature_shape.1:"),
        ({"max_length": 10**7}, "holds no captioner of images (max_length:"),
        ({"task": "../../etc"}, "holds no captioner of images (task:"),
        ({"task": "image2"}, "encoder/image2.safetensors: does not exist"),
    ],
)
def test_metadata_that_are_wrong_get_one_line(trained, command, metadata, problem):
    """At once: no tensor of the size that they name is made."""
    change("lstm", **metadata)
    assert problem in refused(command, "changed")
    if metadata == {"task": "image2"}:
        problem = "changed.safetensors: is of task image2, and lstm.safetensors of image"
        assert problem in refused(command, "lstm", "changed")


@pytest.mark.parametrize("size", [10**7, "32", None])
def test_an_encoder_that_names_no_size_gets_one_line(trained, command, size):
    tensors, metadata = load_weights("starts/encoder/image.safetensors")
    save_weights("starts/encoder/image.safetensors", tensors, metadata | {"image_size": size})
    assert "encoder/image.safetensors: holds no encoder (image_size:" in refused(command, "lstm")


def test_weights_of_another_encoder_get_one_line(trained, command):
    tensors, _ = load_weights("lstm.safetensors")
    other = {name: tensor[..., :7] for name, tensor in tensors.items() if name == "image.weight" or "feature" in name}
    change("lstm", other, feature_shape=[7])
    assert "changed.safetensors: reads features of shape [7], and the encoder gives [384]" in refused(
        command, "changed"
    )


def test_a_translator_captions_no_images(trained, command):
    vocabulary = Vocabulary.read("artifacts/image/data/vocabulary.json")
    settings = {"embedding": 4, "hidden": 4, "readout": 4}
    translator = models.build("translator", settings, len(vocabulary), (10,))
    _, metadata = load_weights("lstm.safetensors")
    metadata |= {"architecture": "translator", "model": settings, "feature_shape": [10]}
    save_weights("translator.safetensors", translator.state_dict(), metadata)
    assert "translator.safetensors: holds a captioner that reads no images" in refused(command, "translator")


def test_it_works_outside_the_repository(trained, command, monkeypatch):
    """Encoder and vocabulary are in the folder artifacts/ of the weights, and any other files lie beside the images."""
    for name in ("lstm", "attention"):
        (trained / f"artifacts/sle/train/{name}").mkdir(parents=True)
        (trained / f"{name}.safetensors").rename(trained / f"artifacts/sle/train/{name}/seed1.safetensors")
    elsewhere = trained / "elsewhere"
    (elsewhere / "images").mkdir(parents=True)
    (elsewhere / "a.tar").write_bytes(b"no tar")
    (trained / "one.png").rename(elsewhere / "one.png")
    monkeypatch.chdir(elsewhere)
    for name in ("lstm", "attention"):
        weights = f"../artifacts/sle/train/{name}/seed1.safetensors"
        done = command("caption", "one.png", "--weights", weights)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("one.png\t")


def test_captions_before_a_damaged_image_are_printed(trained, command):
    (trained / "broken.jpg").write_bytes(b"<html>")
    done = command("caption", "one.png", "broken.jpg", "two.jpg", "--weights", "lstm.safetensors")
    assert done.returncode == 2
    assert done.stdout.startswith("one.png\t")
    assert done.stdout.count("\n") == 1
    assert done.stderr.startswith("error: broken.jpg: cannot be decoded")


def test_a_file_whose_name_is_no_text_is_captioned(trained, command):
    name = os.fsdecode(b"\xff.png")
    (trained / "one.png").rename(trained / name)
    done = command("caption", name, "--weights", "lstm.safetensors")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("\ufffd.png\t")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("broken.jpg", "--weights", "lstm.safetensors"), "broken.jpg"),
        (("absent.jpg", "--weights", "lstm.safetensors"), "absent.jpg"),
        (("one.png", "--weights", "nothing.safetensors"), "nothing.safetensors"),
        (("one.png", "--weights", "starts/encoder/image.safetensors"), "image.safetensors: holds no captioner"),
    ],
)
def test_bad_files_get_one_line(trained, command, arguments, named):
    (trained / "broken.jpg").write_bytes((trained / "two.jpg").read_bytes()[:300])
    done = command("caption", *arguments)
    assert done.returncode == 2
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
