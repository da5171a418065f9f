"""CLIPScore and RefCLIPScore: the paper's formulas, on a stub of an encoder and on a CLIP in a folder."""

import json

import numpy as np
import pytest
from PIL import Image

import seqcap
from seqcap.errors import InputError

VECTORS = {
    "A photo depicts a dog": [1.0, 0.0, 0.0],
    "A photo depicts a cat": [0.0, 2.0, 0.0],
    "A photo depicts the dog": [3.0, 4.0, 0.0],
    "A photo depicts no": [-1.0, 0.0, 0.0],
    "dog.png": [2.0, 0.0, 0.0],
    "pets.png": [1.0, 1.0, 0.0],
}


class Stub:
    """Vectors that are known; counts what it embeds."""

    name = "stub"

    def __init__(self):
        self.seen = []

    def images(self, images):
        self.seen += images
        return np.array([VECTORS[image] for image in images])

    def texts(self, texts):
        return np.array([VECTORS[text] for text in texts])


def test_scores_are_those_of_the_paper():
    captions = {1: "a dog", 2: "a cat", 3: "no"}
    images = {1: "dog.png", 2: "pets.png", 3: "dog.png"}
    references = {1: ["the dog", "a cat"], 2: ["a cat"], 3: ["a dog"]}
    found = seqcap.clip_score(captions, images, references, clip=Stub())
    clip = np.array([2.5, 2.5 * np.sqrt(0.5), 0.0])
    nearest = np.array([0.6, 1.0, 0.0])
    np.testing.assert_allclose(found.per_item["CLIPScore"], clip)
    np.testing.assert_allclose(found.per_item["RefCLIPScore"][:2], (2 * clip * nearest)[:2] / (clip + nearest)[:2])
    assert found.per_item["RefCLIPScore"][2] == 0
    assert found.corpus["CLIPScore"].value == pytest.approx(clip.mean())
    assert found.corpus["CLIPScore"].low < found.corpus["CLIPScore"].value < found.corpus["CLIPScore"].high
    assert found.signature == "CLIPScore|w:2.5|prefix:'A photo depicts'|encoder:stub"
    lists = seqcap.clip_score(["a dog"], ["dog.png"], clip=Stub())
    assert (list(lists.corpus), lists.items) == (["CLIPScore"], [0])


class Letters:
    """A text is how often it has each letter of a to h; an image is its vector."""

    name = "letters"

    def images(self, images):
        return np.array(images)

    def texts(self, texts):
        return np.array([[text.count(letter) for letter in "abcdefgh"] for text in texts], dtype=float)


def test_scores_are_those_of_the_papers_program():
    """What `get_clip_score` and `get_refonlyclipscore` of github.com/jmhessel/clipscore, clipscore.py at 1036465, give
    with the same encoder in place of CLIP, and their F-score."""
    captions = ["a man rides a horse", "two cats on a bed", "zzz", "a cab"]
    references = [
        ["a man on a horse", "the horse carries him"],
        ["cats in a bed"],
        ["a dog", "a bad dog had a bag"],
        ["a cab at a cafe", "a bus"],
    ]
    images = [[3, 1, 0, 2, 1, 0, 0, 1], [1, 0, 2, 0, 1, 1, 0, 0], [-4, 1, -2, 0, -1, 0, 1, 0], [2, 2, 1, 0, 0, 3, 0, 1]]
    found = seqcap.clip_score(captions, images, references, clip=Letters())
    clip = [2.1650635094610964, 1.7817416127494958, 0.0, 1.4900989016981745]
    both = [1.341019077629981, 1.2810259619968143, 0.0, 1.1548967327373458]
    np.testing.assert_allclose(found.per_item["CLIPScore"], clip, rtol=1e-12)
    np.testing.assert_allclose(found.per_item["RefCLIPScore"], both, rtol=1e-12)
    assert found.corpus["CLIPScore"].value == pytest.approx(1.3592260059771917, rel=1e-12)


def test_a_reward_embeds_each_image_once():
    stub = Stub()
    reward = seqcap.ClipReward(stub)
    chat = [{"role": "assistant", "content": "a dog"}]
    paid = reward([chat, "a cat", "no"], image=["dog.png", "pets.png", "dog.png"], prompts=["x"] * 3)
    assert paid == pytest.approx([2.5, 2.5 * np.sqrt(0.5), 0])
    assert stub.seen == ["dog.png", "pets.png"]
    assert reward.__name__ == "clipscore"
    with_references = seqcap.ClipReward(stub, references_column="captions")
    found = with_references(["a dog"], image=["dog.png"], captions=[["the dog"]])
    assert found == pytest.approx([2 * 2.5 * 0.6 / 3.1])
    assert reward([], image=[]) == []


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match="has no column 'image' of 1 entries"):
        seqcap.ClipReward(Stub())(["a dog"], file=["dog.png"])
    with pytest.raises(InputError, match="images: are of 1 items, captions of 2"):
        seqcap.clip_score(["a dog", "a cat"], ["dog.png"], clip=Stub())
    with pytest.raises(InputError, match=r"has no config\.json; name a folder with the files of a CLIP"):
        seqcap.clip_score(["a dog"], ["dog.png"], clip=tmp_path)


def test_a_clip_in_a_folder(tmp_path):
    """Random weights, built from a configuration; cosines are those of transformers' own forward pass."""
    import torch
    from small_clip import write_clip

    folder = write_clip(tmp_path / "clip")
    Image.new("RGB", (40, 30), "red").save(tmp_path / "red.png")
    images = [str(tmp_path / "red.png"), Image.new("RGB", (20, 20), "blue")]
    found = seqcap.clip_score(["a dog", "a cat"], images, clip=folder)
    assert found.signature.startswith("CLIPScore|w:2.5|")
    from transformers import CLIPImageProcessor, CLIPModel, CLIPTokenizer

    clip = CLIPModel.from_pretrained(folder).eval()
    tokens = CLIPTokenizer.from_pretrained(folder)(
        ["A photo depicts a dog", "A photo depicts a cat"], padding=True, return_tensors="pt"
    )
    pixels = CLIPImageProcessor.from_pretrained(folder)(
        [Image.open(images[0]).convert("RGB"), images[1]], return_tensors="pt"
    )
    with torch.no_grad():
        out = clip(**tokens, **pixels)
    cosines = (out.text_embeds * out.image_embeds).sum(1).numpy()
    np.testing.assert_allclose(found.per_item["CLIPScore"], 2.5 * np.maximum(cosines, 0), atol=1e-5)
    assert np.abs(cosines).max() > 0


@pytest.mark.parametrize(
    ("file", "changes", "said"),
    [
        ("preprocessor_config.json", {"rescale_factor": "a"}, "cannot read pictures"),
        ("preprocessor_config.json", {"crop_size": {"height": 8, "width": 8}}, "cannot read pictures"),
        ("config.json", {"num_hidden_layers": 2**31}, "with 2,147,483,648 layers"),
    ],
)
def test_a_clip_whose_files_do_not_fit_is_one_line(tmp_path, file, changes, said):
    from small_clip import write_clip

    folder = write_clip(tmp_path / "clip")
    content = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(content | changes))
    with pytest.raises(InputError, match=said):
        seqcap.clip_score(["a dog"], [Image.new("RGB", (20, 20))], clip=folder)
