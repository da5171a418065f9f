"""Captions as people write them down: every layout gives the same captions, or one line says what is wrong."""

import json

import pytest

from seqcap.errors import InputError
from seqcap.tools.systems import Request, score_files

MEANT = {
    "9.jpg": ["A cat sleeps on a sofa.", "The cat is asleep."],
    "8.jpg": ["Three boats on a lake.", "Boats, at dawn."],
}
SAID = {"9.jpg": "a cat on a sofa", "8.jpg": "boats on the lake"}
METRICS = ["BLEU1", "CIDEr"]


def lines(records):
    return "\n".join(json.dumps(record) for record in records) + "\n"


def flat(key="image_id", text="caption"):
    return [{key: image, text: caption} for image, captions in MEANT.items() for caption in captions]


def said(key="image_id", text="caption"):
    return [{key: image, text: caption} for image, caption in SAID.items()]


KARPATHY = {
    "images": [
        {"imgid": n, "filename": image, "split": "test", "sentences": [{"raw": text} for text in texts]}
        for n, (image, texts) in enumerate(MEANT.items())
    ]
}
MSR_VTT = {
    "videos": [*({"video_id": image, "split": "test"} for image in MEANT), {"video_id": "v", "split": "train"}],
    "sentences": [*flat("video_id"), {"video_id": "v", "caption": "not this"}],
}
TEXTCAPS = {
    "data": [{"image_id": image, "reference_strs": texts, "caption_str": "x"} for image, texts in MEANT.items()] * 2
}
BOTH = [{"image": image, "prediction": SAID[image], "references": texts} for image, texts in MEANT.items()]
COCO = {
    "images": [{"id": int(image[0]), "file_name": image} for image in MEANT],
    "annotations": [{**record, "image_id": int(record["image_id"][0])} for record in flat()],
}
WIDE = "file_name,caption_1,caption_2\n" + "".join(f'{image},{a},"{b}"\n' for image, (a, b) in MEANT.items())
LONG = "image|comment_number|comment\n" + "".join(
    f"{image}| {n}| {text}\n" for image, texts in MEANT.items() for n, text in enumerate(texts)
)
FLICKR8K = "".join(f"{image}#{n}\t{text}\n" for image, texts in MEANT.items() for n, text in enumerate(texts))


def scores(tmp_path, references, candidates, request=None):
    """Of files (name, content)."""
    for name, content in (references, candidates):
        data = content if isinstance(content, str | bytes) else json.dumps(content)
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    (system,) = score_files([tmp_path / references[0]], [tmp_path / candidates[0]], request or Request(METRICS))
    return system


@pytest.fixture
def expected(tmp_path):
    return scores(tmp_path, ("r.json", MEANT), ("c.json", SAID)).scores


@pytest.mark.parametrize(
    "references",
    [
        ("r.json", flat()),
        ("r.json", KARPATHY),
        ("r.json", MSR_VTT),
        ("r.json", TEXTCAPS),
        ("r.json", BOTH),
        ("r.json", COCO),
        ("r.json", [{"videoID": image, "enCap": texts, "chCap": ["猫"]} for image, texts in MEANT.items()]),
        ("r.jsonl", lines(flat())),
        ("r.csv", WIDE),
        ("r.tsv", "image\tcaption\n" + "".join(f"{r['image_id']}\t{r['caption']}\n" for r in flat())),
        ("results.csv", LONG),
        ("captions.txt", "image,caption\n" + "".join(f'{r["image_id"]},"{r["caption"]}"\n' for r in flat())),
        ("Flickr.token.txt", FLICKR8K),
    ],
    ids=str,
)
def test_references(tmp_path, expected, references):
    assert scores(tmp_path, references, ("c.json", SAID)).scores == expected


@pytest.mark.parametrize(
    "candidates",
    [
        ("c.json", said()),
        ("c.json", said("image")),
        ("c.json", {"results": said()}),
        ("c.json", BOTH),
        ("c.json", [{"image_id": image, "caption": [caption]} for image, caption in SAID.items()]),
        ("c.json", lines(said())),
        ("c.json", json.dumps(said()).encode("utf-8-sig")),
        ("c.json", json.dumps(said()).encode("utf-16")),
        ("metadata.jsonl", lines(said("file_name", "text"))),
        ("answers.jsonl", lines([{**record, "prompt": "Caption this."} for record in said("question_id", "text")])),
        ("c.csv", "file_name,caption_predicted\n" + "".join(f"{image},{text}\n" for image, text in SAID.items())),
        ("c.txt", "".join(f"{image}\t{text}\n" for image, text in SAID.items())),
    ],
    ids=str,
)
def test_candidates(tmp_path, expected, candidates):
    assert scores(tmp_path, ("r.json", MEANT), candidates).scores == expected


@pytest.mark.parametrize("write", [int, str, float])
def test_numbers_are_one_id_however_they_are_written(tmp_path, expected, write):
    numbered = [{**record, "image_id": write(int(record["image_id"][0]))} for record in said()]
    by_number = {image[0]: texts for image, texts in MEANT.items()}
    assert scores(tmp_path, ("r.json", by_number), ("c.json", numbered)).scores == expected
    assert scores(tmp_path, ("r.json", COCO), ("c.json", numbered)).scores == expected


def test_images_written_in_two_ways_are_merged_and_said(tmp_path):
    mixed = [{"image_id": 9, "caption": "a"}, {"image_id": "9", "caption": "b"}, {"image_id": 8, "caption": "c"}]
    system = scores(tmp_path, ("r.json", mixed), ("c.json", {"9": "a", "8": "c"}), Request(["ROUGE_L"], split="val"))
    assert system.references == (1, 2)
    ignored = f"--split val is ignored: {tmp_path / 'r.json'} holds one split"
    assert list(system.notes) == ["1 images are written in two ways in the references, and merged", ignored]


def test_rejected_captions_are_left_out(tmp_path, expected):
    """VizWiz: annotators reject images, or mark captions as canned."""
    good = [{**record, "is_rejected": False, "is_precanned": False} for record in flat()]
    bad = [{"image_id": "9.jpg", "caption": "spam", "is_rejected": True}]
    bad += [{"image_id": "7.jpg", "caption": "quality issues", "is_precanned": True}]
    candidates = {**SAID, "7.jpg": "quality issues"}
    system = scores(tmp_path, ("val.json", {"annotations": good + bad}), ("c.json", candidates))
    assert system.scores == expected
    assert list(system.notes)[:2] == [
        "2 references that the dataset rejects are left out",
        "1 captions are of images all of whose references are rejected, and not scored",
    ]


@pytest.mark.parametrize(
    ("candidates", "named"),
    [
        ([*said(), said()[0]], r"image '9\.jpg' occurs twice, with the same caption; write each image once"),
        (said() * 2, r"image '9\.jpg' occurs twice, with the same caption, and so do all others"),
        ([{"videoID": "9.jpg", "enCap": ["a"]}], "entry 0 names no key for a caption: it has videoID, enCap; write"),
        ([{"caption": "a", "score": 1}], "entry 0 names no key for an image: it has caption, score"),
        (
            {"7.jpg": "a"},
            r"1 of \d images have no references in .*, the first is '7\.jpg'; .* such as '9\.jpg'",
        ),
        (["a cat"], "entry 0 is 'a cat', not an object"),
        ('{"image_id": "9.jpg", "caption": "a"}\n{"image_id": \n', "line 2 is not JSON"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, candidates, named):
    with pytest.raises(InputError, match=named):
        scores(tmp_path, ("r.json", MEANT), ("c.json", candidates))


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("c.csv", "a cat on a sofa\n", "begins with 'a cat on a sofa', which names no image and caption"),
        ("c.csv", "image,caption\n9.jpg,a\n8.jpg\n", "line 3 has 1 of 2 columns"),
        ("c.json", b"\xff\xff", "is not UTF-8 text; save it as UTF-8"),
    ],
)
def test_wrong_tables_are_one_line(tmp_path, name, content, named):
    with pytest.raises(InputError, match=named):
        scores(tmp_path, ("r.json", MEANT), (name, content))


@pytest.mark.parametrize(
    ("texts", "metrics", "note"),
    [
        ("एक बिल्ली सोफे पर बैठी है", ["CIDEr"], None),
        ("ein Hund rennt in dem Park an einem See", ["ROUGE_L"], None),
        ("一只棕色的狗在湿漉漉的沙滩上奔跑", ["ROUGE_L"], "words are split at spaces"),
        ("a dog on the beach with a ball", ["ROUGE_L"], None),
    ],
)
def test_the_language_is_looked_at(tmp_path, texts, metrics, note):
    meant = {"1": [texts] * 2, "2": [texts] * 2}
    found = scores(tmp_path, ("r.json", meant), ("c.json", {"1": texts, "2": texts}), Request(metrics)).notes
    assert any(note in line for line in found) if note else not any("words are" in line for line in found)


def test_metrics_for_english_and_long_captions_are_said():
    from seqcap.metrics import notes

    german = [[["ein", "hund", "rennt", "in", "dem", "park"], ["der", "hund", "an", "einem", "see", "im", "park"]]]
    english = [[["a", "dog", "runs", "in", "the", "park"], ["the", "dog", "is", "at", "a", "lake", "in", "it"]]]
    assert notes.of_language(german, ["METEOR"]) == [notes.ENGLISH_ONLY]
    assert notes.of_language(german, ["BLEU4", "CIDEr"]) == notes.of_language(english, ["METEOR", "SPICE"]) == []
    (line,) = notes.of_lengths([[["word"] * 60]], german)
    assert line.startswith("captions have 60 words and references 6: CIDEr-D's length penalty")
    assert notes.of_lengths(english, german) == []
