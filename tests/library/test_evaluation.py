"""`seqcap.evaluate` and `seqcap.compare`: what pycocoevalcap gives, from texts, with intervals."""

import subprocess
import sys

import numpy as np
import pytest

import seqcap
from seqcap.errors import InputError
from seqcap.metrics import official
from seqcap.system import extras

FAST = ["bleu", "rouge-l", "cider"]
REFERENCES = [["A dog runs.", "The dog is running"], ["Two cats sit on a mat", "cats"], ["A red bus!"]]
CANDIDATES = ["a dog runs", "two cats on a mat", "a bus, red"]


def test_scores_are_those_of_pycocoevalcap(coco_annotations):
    images = sorted(coco_annotations)[:120]
    references = {image: coco_annotations[image][1:] for image in images}
    candidates = {image: coco_annotations[image][0] for image in images}
    ours = seqcap.evaluate(candidates, references, FAST)
    words = {image: [seqcap.library.texts.tokenize(text) for text in texts] for image, texts in references.items()}
    captions = [(image, seqcap.library.texts.tokenize(text)) for image, text in candidates.items()]
    theirs, _ = official.measure(words, captions, FAST)
    assert ours.items == images
    for metric, values in theirs.items():
        assert ours[metric].value == pytest.approx(values.corpus(), abs=1e-9)
        np.testing.assert_allclose(ours.per_item[metric], values.per_caption, rtol=0, atol=1e-9)
        assert ours[metric].low < ours[metric].value < ours[metric].high
    assert not ours.notes


def test_lists_and_dicts_give_the_same():
    lists = seqcap.evaluate(CANDIDATES, REFERENCES, FAST)
    dicts = seqcap.evaluate(
        {"c": CANDIDATES[2], "a": CANDIDATES[0], "b": CANDIDATES[1]}, dict(zip("abc", REFERENCES, strict=True)), FAST
    )
    assert (lists.items, dicts.items) == ([0, 1, 2], ["a", "b", "c"])
    assert lists.corpus == dicts.corpus
    assert lists["CIDEr-D"] == lists["cider"]
    several = seqcap.evaluate([[text, text] for text in CANDIDATES], REFERENCES, FAST)
    assert several["cider"].value == pytest.approx(lists["cider"].value)
    assert several.per_item["CIDEr"].shape == (3,)
    assert "CIDEr" in str(lists)
    assert "of 3 items" not in str(several)
    assert lists.signatures["CIDEr"].startswith("CIDEr|images:3|refs:1-2|")


def test_what_a_reader_should_know_is_said():
    found = seqcap.evaluate({1: "a dog runs", 2: "..."}, {1: REFERENCES[0], 2: REFERENCES[1], 3: ["x"]}, FAST)
    assert found.notes[:2] == [
        "1 items of the references have no caption and are not scored",
        "1 captions have no words and score 0",
    ]
    assert "document frequencies come from 2 items" in found.notes[2]


def test_one_image_has_no_cider_unless_frequencies_are_given(tmp_path):
    alone = seqcap.evaluate(CANDIDATES[:1], REFERENCES[:1], ["rouge", "cider"])
    assert set(alone.corpus) == {"ROUGE_L"}
    with pytest.raises(InputError, match="cider: is 0 by definition for one image"):
        alone["cider"]
    counted = seqcap.DocumentFrequencies.of_captions(REFERENCES)
    counted.write(tmp_path / "counts.npz")
    within = seqcap.evaluate(CANDIDATES, REFERENCES, "cider")
    for source in (counted, tmp_path / "counts.npz", str(tmp_path / "counts.npz")):
        alone = seqcap.evaluate(CANDIDATES[:1], REFERENCES[:1], "cider", frequencies=source)
        assert alone["cider"].value == pytest.approx(within.per_item["CIDEr"][0], abs=1e-12)
        assert "document frequencies of 3 other images" in alone.signatures["CIDEr"]


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda module: None)
    found = seqcap.evaluate(CANDIDATES, REFERENCES)
    assert set(found.corpus) == {"BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "CIDEr"}
    assert found.reasons["METEOR"].endswith("snowballstemmer: pip install 'seqcap[meteor]'")
    assert set(found.reasons) == {"METEOR", "SPICE", "SPIDEr"}
    with pytest.raises(InputError, match=r"SPICE \(spaCy\): needs spacy, .*; pip install 'seqcap\[spice\]'"):
        seqcap.evaluate(CANDIDATES, REFERENCES, "spice")


def test_systems_are_compared_with_the_first():
    texts = [f"a dog runs over field {image}" for image in range(40)]
    systems = {"good": texts, "bad": [text[: 9 if i % 2 else 99] for i, text in enumerate(texts)], "same": texts}
    found = seqcap.compare(systems, [[text] for text in texts], ["rouge-l", "cider"])
    assert set(found.differences) == {"bad", "same"}
    for metric in ("ROUGE_L", "CIDEr"):
        bad, same = found.differences["bad"][metric], found.differences["same"][metric]
        assert bad.value == pytest.approx(found.systems["bad"][metric].value - found.systems["good"][metric].value)
        assert bad.low < bad.value < bad.high < 0
        assert bad.p_value < 0.001
        assert (same.value, same.p_value) == (0, 1)
    assert "p: approximate randomisation, 10,000 trials, two-sided" in str(found)
    with pytest.raises(InputError, match="part captions other items than good"):
        seqcap.compare({"good": {1: "a", 2: "b"}, "part": {1: "a"}}, {1: "a", 2: "b"}, "rouge")
    with pytest.raises(InputError, match="systems: are 1; compare at least two"):
        seqcap.compare({"good": texts}, [[text] for text in texts], "rouge")


@pytest.mark.parametrize(
    ("candidates", "references", "metrics", "named"),
    [
        ([], [], "cider", "captions: hold none"),
        (["a"], [["a"], ["b"]], "cider", "captions: are 1, and references are of 2 items"),
        ({1: "a"}, {"1": ["a"]}, "cider", "hold 1 of 1 items without references, the first is 1"),
        ({1: "a"}, [["a"]], "cider", "are by image, and references are not"),
        ("a dog", [["a dog"]], "cider", "captions: are 'a dog'"),
        ([None], [["a"]], "cider", "captions of item 0: are None; pass a text"),
        (["a"], [[]], "cider", "item 0 has none"),
        ([["a", "b"], ["a"]], [["a"], ["a"]], "cider", "item 1 has 1 captions and 0 has 2"),
        (["a"], [["a"]], "cidr", "'cidr' is not known; did you mean CIDEr"),
        (["a"], [["a"]], [], "metrics: are none"),
    ],
)
def test_what_does_not_belong_together_is_named(candidates, references, metrics, named):
    with pytest.raises(InputError, match=named):
        seqcap.evaluate(candidates, references, metrics)


def test_importing_the_package_loads_nothing():
    code = (
        "import sys, seqcap; assert 'evaluate' in dir(seqcap); print(sorted(m for m in sys.modules if 'seqcap' in m))"
    )
    code += "; seqcap.evaluate; print({'torch', 'pyarrow', 'pydantic', 'spacy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['seqcap']", "set()"]
    with pytest.raises(AttributeError, match="has no attribute 'evaluates'"):
        seqcap.evaluates  # noqa: B018
