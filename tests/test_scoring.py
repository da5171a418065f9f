"""`seqcap score`: files in, a table and JSON out, one line for every wrong file."""

import json
import os
import sys
from pathlib import Path

import pytest

from seqcap.artifacts import DECODED, REFERENCES, write_rows
from seqcap.cli import main
from seqcap.errors import InputError
from seqcap.metrics.files import read_candidates, read_references
from seqcap.metrics.official import NO_SPICE
from seqcap.scoring import as_table, score_files

FAST = ["BLEU4", "ROUGE_L", "CIDEr"]
TEXTS = {1: ["A dog runs.", "The dog is running"], 2: ["Two cats sit on a mat", "cats"], 3: ["A red bus!"]}


def coco(folder: Path, texts=TEXTS, name="refs.json") -> Path:
    annotations = [{"image_id": image, "caption": text} for image, of_image in texts.items() for text in of_image]
    path = folder / name
    path.write_text(json.dumps({"annotations": annotations, "images": [{"id": image} for image in texts]}))
    return path


def results(folder: Path, captions, name="cands.json") -> Path:
    path = folder / name
    path.write_text(json.dumps([{"image_id": image, "caption": caption} for image, caption in captions]))
    return path


def scored(references, candidates, metrics=FAST, split="test", official=False):
    return score_files(references, candidates, split, metrics, official)


def test_references_of_every_layout_are_the_same(tmp_path):
    expected = {1: [["a", "dog", "runs"], ["the", "dog", "is", "running"]], 2: TEXTS[2], 3: [["a", "red", "bus"]]}
    expected[2] = [["two", "cats", "sit", "on", "a", "mat"], ["cats"]]
    assert read_references(coco(tmp_path), "test") == expected
    karpathy = tmp_path / "dataset.json"
    images = [
        {"imgid": 10 * image, "cocoid": image, "split": "test", "sentences": [{"raw": text} for text in of_image]}
        for image, of_image in TEXTS.items()
    ]
    images.append({"imgid": 7, "split": "train", "sentences": [{"raw": "not this one"}]})
    karpathy.write_text(json.dumps({"images": images, "dataset": "coco"}))
    assert read_references(karpathy, "test") == expected
    assert read_references(karpathy, "train") == {7: [["not", "this", "one"]]}
    rows = [
        {"item": image, "split": "test", "caption_id": 0, "text": "", "tokens": tokens}
        for image, of_image in expected.items()
        for tokens in of_image
    ]
    write_rows(tmp_path / "refs.parquet", rows, REFERENCES)
    assert read_references(tmp_path / "refs.parquet", "test") == expected


def test_decoded_captions_are_a_system_for_each_decoder(tmp_path):
    rows = [
        {"variant": "sll", "seed": 1, "item": image, "decoder": decoder, "rank": rank}
        | {"text": "", "tokens": ["a", str(rank)], "log_prob": 0.0}
        for image in (2, 1)
        for decoder, ranks in (("greedy", 1), ("sample", 2))
        for rank in range(ranks)
    ]
    write_rows(tmp_path / "decoded.parquet", rows[::-1], DECODED)
    systems = read_candidates(tmp_path / "decoded.parquet")
    assert systems["sll seed 1 sample"] == {1: [["a", "0"], ["a", "1"]], 2: [["a", "0"], ["a", "1"]]}
    assert systems["sll seed 1 greedy"] == {1: [["a", "0"]], 2: [["a", "0"]]}


def test_one_caption_an_image(tmp_path):
    (system,) = scored(coco(tmp_path), results(tmp_path, [(2, "two cats sit on a mat"), (1, "a dog runs")]))
    assert (system.images, system.missing, system.captions) == (2, 1, 1)
    assert system.scores["ROUGE_L"].value == pytest.approx(1)
    assert system.scores["BLEU4"].value == pytest.approx(1, abs=1e-3)
    assert system.scores["CIDEr"].low <= system.scores["CIDEr"].value <= system.scores["CIDEr"].high
    assert [row["caption"] for row in system.per_caption] == ["two cats sit on a mat", "a dog runs"]
    assert not any("oracle" in metric or metric.startswith("mBLEU") for metric in system.scores)
    table = as_table([system])
    assert "1 images of the references have no caption" in table
    assert "nan" not in table


def test_several_captions_an_image_have_an_oracle_and_diversity(tmp_path):
    captions = [(1, "a dog runs"), (1, "zzz"), (2, "a mat"), (2, "two cats sit on a mat")]
    (system,) = scored(coco(tmp_path), results(tmp_path, captions))
    assert system.captions == 2
    assert system.scores["ROUGE_L oracle@2"].value == pytest.approx(1)
    assert system.scores["ROUGE_L"].value < 0.9
    assert {"Div1", "Div2", "mBLEU4", "self-CIDEr", "Self-BLEU4", "bad_endings"} <= set(system.scores)


ODD = ["", "dog", "a " * 200, "\U0001f600", "a\ndog", "a\0dog", "?!...", "qwzx vrbn", "ａ　ｄｏｇ"]


def test_odd_captions_have_defined_scores(tmp_path, monkeypatch, loaded_once):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = {image: ["a dog runs", ODD[(image + 1) % len(ODD)]] for image in range(len(ODD))}
    path = results(tmp_path, list(enumerate(ODD)))
    (system,) = score_files(coco(tmp_path, texts), path, "test", ["BLEU4", "METEOR", "CIDEr", "SPICE"], False)
    assert {"METEOR", "SPICE (spaCy)"} <= set(system.scores)
    for row in system.per_caption:
        assert all(0 <= row[metric] <= 10 for metric in ("BLEU4", "METEOR", "CIDEr", "SPICE (spaCy)"))
    assert all(score.value == score.value for score in system.scores.values())


def test_a_single_image_has_no_cider(tmp_path):
    """It would be 0: document frequencies weigh a word by how few images have it."""
    captions = [(1, "a dog runs"), (1, "the dog")]
    (system,) = scored(coco(tmp_path), results(tmp_path, captions), ["ROUGE_L", "CIDEr"])
    assert system.reasons == {"CIDEr": "needs several images", "self-CIDEr": "needs several images"}
    assert not {"CIDEr", "CIDEr oracle@2", "self-CIDEr"} & set(system.scores)
    assert {"ROUGE_L", "ROUGE_L oracle@2", "Div1"} <= set(system.scores)
    assert not any("CIDEr" in row for row in system.per_caption)
    assert "CIDEr                       –  needs several images" in as_table([system])


def test_images_may_be_named_by_files(tmp_path):
    texts = {"a.jpg": ["a dog"], "b.jpg": ["a cat"]}
    (system,) = scored(coco(tmp_path, texts), results(tmp_path, [("b.jpg", "a cat")]))
    assert system.scores["ROUGE_L"].value == pytest.approx(1)


def test_official_agrees_and_says_what_it_lacks(tmp_path):
    """METEOR's Java is started once for all tests: metrics/test_meteor.py."""
    references, candidates = coco(tmp_path), results(tmp_path, [(1, "a dog"), (2, "cats on mats"), (3, "")])
    metrics = ["BLEU1", "BLEU4", "ROUGE_L", "CIDEr"]
    (ours,) = scored(references, candidates, metrics)
    (theirs,) = scored(references, candidates, [*metrics, "SPICE"], official=True)
    for metric in metrics:
        assert ours.scores[metric].value == pytest.approx(theirs.scores[metric].value, abs=1e-9)
    assert theirs.reasons == {"SPICE": NO_SPICE}
    assert "SPICE" in as_table([theirs])


@pytest.mark.parametrize(
    ("references", "candidates", "named"),
    [
        ("not json", "[]", r"refs\.json.*is not JSON"),
        ("3", "[]", r"refs\.json.*is neither a list"),
        ('[{"image_id": true, "caption": "a"}]', "[]", r"refs\.json.*caption 0.*True"),
        ('[{"image_id": 1}]', "[]", r"refs\.json.*entry 0.*'caption' is None"),
        ('{"images": [{"sentences": [], "split": "tset"}]}', "[]", r"refs\.json.*image 0.*'tset'"),
        ('{"images": [{"sentences": [{"raw": 3}], "split": "test", "imgid": 1}]}', "[]", r"entry 0.*'raw' is 3"),
        ("[]", "[]", r"refs\.json.*no captions in split 'test'"),
        ('[{"image_id": 1, "image_id": 2}]', "[]", r"refs\.json.*the key 'image_id' is there twice"),
        ('[{"image_id": 1, "caption": "\\ud800"}]', "[]", r"refs\.json.*has half a character"),
        ('[{"image_id": 1, "caption": null}]', "[]", r"refs\.json.*entry 0.*'caption' is None"),
        pytest.param(f'[{{"image_id": {"9" * 5000}}}]', "[]", r"refs\.json.*is not JSON", id="long"),
        ('[{"image_id": 1, "caption": "a"}]', "[]", r"cands\.json.*holds no caption"),
        ('[{"image_id": 1, "caption": "a"}]', '[{"image_id": 2, "caption": "a"}]', r"cands\.json.*image 2.*references"),
        (
            '[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": "a"}]',
            '[{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}, {"image_id": 2, "caption": "c"}]',
            r"cands\.json.*image 2 has 1 captions and image 1 has 2",
        ),
    ],
)
def test_wrong_files_are_named(tmp_path, references, candidates, named):
    (tmp_path / "refs.json").write_text(references)
    (tmp_path / "cands.json").write_text(candidates)
    with pytest.raises(InputError, match=named):
        scored(tmp_path / "refs.json", tmp_path / "cands.json")


def test_the_command_prints_a_table_and_writes_json(tmp_path, command):
    references, candidates = coco(tmp_path), results(tmp_path, [(1, "a dog runs"), (3, "a bus")])
    files = ("score", "--references", references, "--candidates", candidates, "--metrics", *FAST)
    done = command(*files, "--json", tmp_path / "out.json", "--per-image")
    assert done.returncode == 0, done.stderr
    assert "CIDEr" in done.stdout
    written = json.loads((tmp_path / "out.json").read_text())["cands"]
    assert written["images"] == 2
    assert set(written["scores"]["CIDEr"]) == {"value", "low", "high"}
    assert [row["image_id"] for row in written["captions"]] == [1, 3]
    # In a process of its own: metrics/test_registry.py.
    wrong = command(*files[:5], "--metrics", "BLEU7")
    assert wrong.returncode == 2
    assert len(wrong.stderr.strip().splitlines()) == 1
    assert "'BLEU7' is not known" in wrong.stderr
    assert command("score", "--references", tmp_path / "none.json", *files[3:5]).returncode == 2


def test_damaged_parquet_of_the_user_is_not_to_be_deleted(tmp_path):
    """Only the pipeline makes its own files again."""
    (tmp_path / "cands.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"cands\.parquet: is not a Parquet file .*; restore it"):
        read_candidates(tmp_path / "cands.parquet")
    with pytest.raises(InputError, match=r"none\.parquet: does not exist; check the path"):
        read_candidates(tmp_path / "none.parquet")


def test_a_file_whose_name_is_no_text_is_a_system(tmp_path):
    path = results(tmp_path, [(1, "a dog")], os.fsdecode(b"\xff.json"))
    assert list(read_candidates(path)) == ["\ufffd"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--references", "a", "--candidates", "b", "--candidates", "c"],
        ["score", "--references", "a", "--candidates", "b", "--metrics", "CIDEr", "--metrics", "BLEU4"],
        ["caption", "a.png", "--weights", "a", "--weights", "b"],
    ],
)
def test_an_option_that_is_given_twice_is_one_line(monkeypatch, capsys, arguments):
    """Argparse would take the last one, and say nothing."""
    monkeypatch.setattr(sys, "argv", ["seqcap", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"argument {arguments[-2]}: it is given twice\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "--references", "a", "--candidates", "b", "--split", "dev"], "train, val, test, server"),
        (["submit", "decoded", "--out", "folder", "--split", "test"], "test2014, val2014"),
        (["submit", "decoded", "--out", "folder", "--decoder", "best"], "greedy, beam, sample"),
    ],
)
def test_options_that_are_not_allowed_are_told_before_files_are_read(monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["seqcap", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    option, value = arguments[-2:]
    assert capsys.readouterr().err.endswith(f"argument {option}: {value!r} is not one of {message}\n")
