"""`seqcap caption` and `seqcap export` with a captioner of Hugging Face that was trained here."""

import json

import pytest
import torch
import transformers
from PIL import Image
from small_captioner import SIDE, write_huggingface
from small_task import CHANNELS, SETTINGS, write_captioner

from seqcap import models
from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.features.captioner_folder import CLASSES, Pixels, read_vocabulary
from seqcap.models import decoding
from seqcap.models.huggingface import from_folder

WORDS = ["red", "dog", "cat", "run", "##s", "bird"]
LENGTH = 7


def pictures(n=4):
    return torch.randn(n, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))


def train(captioner):
    """Other weights than the folder's; of LoRA its matrices alone. Padding becomes what the model would say."""
    captioner.load_pretrained()
    learns = [parameter for parameter in captioner.parameters() if parameter.requires_grad]
    for parameter in learns:
        parameter.add_(torch.randn_like(parameter) * 0.3)
    if captioner.output.bias.any():
        captioner.output._bias[captioner.ids[:2]] += 9


def write(folder, family, lora=None):
    """A folder of a captioner, and seed1.safetensors, weights that were trained from it."""
    write_huggingface(folder / family, family, WORDS)
    if family == "vit_gpt2":
        # Padding that is not the end; GPT-2 has no biases.
        path = folder / family / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"pad_token_id": 1}))
        (folder / family / "generation_config.json").unlink()
    vocabulary = read_vocabulary(folder / family)
    settings = {"folder": str(folder / family), "lora": lora}
    weights = folder / "seed1.safetensors"
    shape = (3, SIDE, SIDE)
    write_captioner(weights, "huggingface", settings, (vocabulary,), shape, 0, train, task="photo", max_length=LENGTH)
    return weights


CAPTIONERS = [("blip", None), ("git", None), ("vit_bert", None), ("blip", 2), ("vit_gpt2", 2)]


@pytest.mark.parametrize(("family", "lora"), CAPTIONERS)
def test_generate_says_elsewhere_what_the_captioner_says_here(tmp_path, command, family, lora):
    weights = write(tmp_path, family, lora)
    out = tmp_path / "elsewhere"
    done = command("export", weights, "--out", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{out}\n", "")
    kind = json.loads((out / "config.json").read_text())["model_type"]
    model = getattr(transformers, CLASSES[kind]).from_pretrained(out).eval()
    said = model.generate(pixel_values=pictures(), do_sample=False, num_beams=1, max_new_tokens=LENGTH)
    captioner, _ = models.load(weights)
    vocabulary = read_vocabulary(out)
    end = vocabulary.ids[EOS]
    expected = decoding.greedy(captioner, captioner.encode(pictures()), LENGTH).tokens
    for row, caption in zip(said.tolist(), expected.tolist(), strict=True):
        own = [vocabulary.ids[token] for token in caption]
        own = own[: own.index(end) + 1] if end in own else own
        # What follows the end is padding.
        assert row[1 : 1 + len(own)] == own
        assert len(own) in (LENGTH, len(row) - 1) or own[-1] == end
    assert len({tuple(caption) for caption in expected.tolist()}) > 1
    # It is a folder to train from, too.
    again, _, _ = from_folder(out)
    torch.testing.assert_close(again.teacher_force(pictures(), expected), captioner.teacher_force(pictures(), expected))
    before = from_folder(tmp_path / family)[0].teacher_force(pictures(), expected)
    assert (before - again.teacher_force(pictures(), expected)).abs().max() > 0.1


# --- What both commands read.
@pytest.fixture
def photographs(tmp_path, monkeypatch):
    """Weights of a BLIP, and a folder with two pictures and a file that is none."""
    weights = write(tmp_path, "blip")
    folder = tmp_path / "photographs"
    folder.mkdir()
    for name, colour in (("b.JPG", "black"), ("a.png", "red")):
        Image.new("RGB", (30, 20), colour).save(folder / name)
    (folder / "captions.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    return weights, folder


def test_a_folder_of_pictures_is_captioned(photographs, command):
    """Outside of a checkout: the captioner's folder has its words and its image processor."""
    weights, folder = photographs
    done = command("caption", folder, "--weights", weights, "--beam", 3)
    assert (done.returncode, done.stderr) == (0, "")
    captioner, _ = models.load(weights)
    vocabulary = read_vocabulary(captioner.folder)
    lines = []
    for file in (folder / "a.png", folder / "b.JPG"):
        with Image.open(file) as image:
            memory = captioner.encode(Pixels(captioner.folder).read([image.convert("RGB")]))
        found = decoding.beam(captioner, memory, LENGTH, 3).tokens[0, 0].tolist()
        lines.append(f"{file}\t{' '.join(vocabulary.decode(found))}\n")
    assert done.stdout == "".join(lines)
    assert len({line.partition("\t")[2] for line in lines}) == 2
    # Seeds decode together.
    both = command("caption", folder, "--weights", weights, weights, "--beam", 3)
    assert (both.returncode, both.stdout) == (0, done.stdout)


def without_its_folder(weights, folder):
    (weights.parent / "blip").rename(weights.parent / "moved")


def other_tokens(weights, folder):
    write_huggingface(weights.parent / "blip", "blip", WORDS[::-1])


def no_pictures(weights, folder):
    for file in ("a.png", "b.JPG"):
        (folder / file).unlink()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without_its_folder, "blip: is no folder"),
        (other_tokens, "seed1.safetensors: was trained with another vocabulary than "),
        (no_pictures, "photographs: has no images (JPEG, PNG, "),
    ],
)
def test_what_gives_no_captions_gets_one_line(photographs, command, change, problem):
    weights, folder = photographs
    change(weights, folder)
    done = command("caption", folder, "--weights", weights)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert problem in done.stderr


def test_what_cannot_be_exported_gets_one_line(photographs, command):
    weights, folder = photographs
    done = command("export", weights, "--out", folder)
    assert (done.returncode, done.stderr) == (2, f"error: {folder}: exists already; name a new folder\n")
    done = command("export", weights, "--out", "photographs/a.png/blip")
    assert done.returncode == 2
    assert done.stderr.startswith("error: photographs/a.png/blip: cannot be written (")
    words = Vocabulary([*SPECIALS, *"abc"])
    write_captioner(weights, "lstm", SETTINGS, (words,), (CHANNELS,))
    done = command("export", weights, "--out", "new")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "seed1.safetensors: holds no captioner of Hugging Face" in done.stderr
