"""METEOR: pycocoevalcap's numbers and the engine's, and a reason instead of a hang wherever Java misbehaves."""

import os
import random
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import psutil
import pytest
from ruamel.yaml import YAML
from small_checkout import wait_until

from seqcap.metrics import official
from seqcap.metrics.meteor import Meteor, MeteorUnavailable
from seqcap.metrics.quality import FIRST_ID, Coder, measure
from seqcap.rewards.meteor import Lexicon, meteor_from_statistics
from seqcap.rewards.meteor import Meteor as Engine
from seqcap.rewards.meteor_resources import filter_paraphrases

KNOWN = YAML(typ="safe").load(Path(__file__).with_name("meteor.yaml").read_text(encoding="utf-8"))
EXPECTED, ODD = [image["score"] for image in KNOWN["images"].values()], KNOWN["odd"]
references = {number: [text.split() for text in image["references"]] for number, image in KNOWN["images"].items()}
hypotheses = {number: image["hypothesis"].split() for number, image in KNOWN["images"].items()}


def test_scores_are_those_of_pycocoevalcap(meteor):
    scores, corpus, _ = meteor.score_captions(references, list(hypotheses.items()))
    np.testing.assert_allclose(scores, EXPECTED, rtol=0, atol=1e-12)
    assert corpus == pytest.approx(KNOWN["corpus"], abs=1e-12)
    # The process answers again; equal captions are aligned once and count as often as they come.
    repeated, corpus, _ = meteor.score_captions(references, [(1, hypotheses[1]), (6, ["a"]), (1, hypotheses[1])])
    np.testing.assert_allclose(repeated, [EXPECTED[0], 1, EXPECTED[0]], rtol=0, atol=1e-12)
    assert EXPECTED[0] < corpus < 1
    nothing, corpus, _ = meteor.score_captions({1: [["a"]], 2: [[]]}, [(1, []), (2, [])])
    assert [*nothing, corpus] == [0, 0, 0]


def test_the_engines_scores_are_those_of_java(meteor, coco_captions, full, paraphrases_read, phrases, monkeypatch):
    rng = random.Random(0)
    pairs = [([reference.split() for reference in texts], hypothesis.split()) for texts, hypothesis in ODD]
    images = list(coco_captions.values())[: 100 if full else 15]
    for image, (other, *_) in zip(images, [images[-1], *images[:-1]], strict=True):
        mixed = rng.choices(image[0] + other, k=20)
        pairs += [(image[1:], image[0]), (image[1:], other), (image[1:], mixed), (image[1:], image[1])]
    references = dict(enumerate(texts for texts, _ in pairs))
    captions = list(enumerate(hypothesis for _, hypothesis in pairs))
    expected, corpus, _ = meteor.score_captions(references, captions)
    coder = Coder()
    cooked, rows = coder.cook(references.values()), coder.rows([tokens for _, tokens in captions])
    monkeypatch.setattr("seqcap.rewards.meteor_resources.read_pairs", paraphrases_read)
    table = filter_paraphrases(coder.words)
    engine = Engine(cooked, Lexicon([""] * FIRST_ID + coder.words, table))
    scores, statistics = engine.measure(rows, np.arange(len(rows)))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    assert meteor_from_statistics(statistics.sum(axis=0)) == pytest.approx(corpus, abs=1e-12)
    assert (expected[len(ODD) + 3 :: 4] == 1).all()

    # As evaluation asks either of them; few captions, because Java aligns them again.
    expected, corpus, _ = meteor.score_captions(references, captions[: len(ODD)])
    monkeypatch.setattr("seqcap.metrics.paraphrases.numbered", phrases)
    monkeypatch.setattr(official, "Meteor", lambda: nullcontext(meteor))
    theirs, reasons = official.measure(references, captions[: len(ODD)], ["METEOR"])
    assert reasons == {}
    for measured in (theirs, measure(references, captions[: len(ODD)], ["METEOR"])):
        np.testing.assert_allclose(measured["METEOR"].per_caption, expected, rtol=0, atol=1e-12)
        assert measured["METEOR"].corpus() == pytest.approx(corpus, abs=1e-12)


def fake_java(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    java = folder / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("script", "timeout", "reason"),
    [
        # Never reads, and floods standard error.
        ("while :; do echo noise >&2; done", 0.5, "no answer in 0.5 s"),
        ("while read line; do echo NaN; done", 30, "answered 'NaN'"),
        ("echo one >&2; echo 'UnsupportedClassVersionError: 52.0' >&2; exit 3", 30, "status 3; Unsupported"),
        ("exit 0", 30, "status 0"),
    ],
)
def test_java_that_misbehaves_gives_a_reason(script, timeout, reason, tmp_path, monkeypatch):
    fake_java(tmp_path, script, monkeypatch)
    with Meteor(timeout) as broken:
        assert (process := broken._process) is not None
        # Far more than a pipe holds.
        many = [(1, ["word"] * 50 + [str(number)]) for number in range(5_000)]
        with pytest.raises(MeteorUnavailable, match=reason) as raised:
            broken.score_captions({1: [["a", "cat"]]}, many)
        assert "\n" not in str(raised.value)
        assert process.poll() is not None
        with pytest.raises(MeteorUnavailable, match="not running"):
            broken.score_captions({1: [["a"]]}, [(1, ["a"])])
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(MeteorUnavailable, match="java cannot be started"), Meteor():
        pytest.fail("there is no java to enter with")


def test_a_process_is_ended_with_its_children(tmp_path, monkeypatch):
    """Version managers put a script before the real Java: ending only the script would leave Java behind."""
    fake_java(tmp_path, f"sleep 1000 &\necho $! > {tmp_path}/child\nwait", monkeypatch)
    child = tmp_path / "child"
    with Meteor():
        wait_until(lambda: child.exists() and child.read_text().strip())
    number = int(child.read_text())
    wait_until(lambda: not psutil.pid_exists(number) or psutil.Process(number).status() == psutil.STATUS_ZOMBIE)
