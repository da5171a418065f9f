"""TGIF's layout: what is read, and every way that its files can be wrong; generated clips in it."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import numpy as np
import pytest
from small_gifs import gif, pictures

from seqcap.config.data import ClipData
from seqcap.data import captions, tgif
from seqcap.data.frames import ClipSource
from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, REFERENCES, VOCABULARY
from seqcap.world.checker import check
from seqcap.world.clips import ClipsConfig, write_clips
from seqcap.world.drawing import draw
from seqcap.world.motion import FRAMES, Clip
from seqcap.world.scenes import read_worlds

URL = "https://38.media.tumblr.com/9f6c/tumblr_{}_500.gif"
NAMES = "abcde"
# As in TGIF: one caption of what trains, three of what is tested; e is in no split.
CAPTIONS = [
    ("a", "A man is glaring, and someone with sunglasses appears."),
    ("d", "a cat runs"),
    ("b", "a dog\N{LINE SEPARATOR} turns  around"),
    ("d", "the cat is running"),
    ("e", "nobody trains on this"),
    ("c", "a car moves left"),
    ("d", "a cat runs"),
]
SPLITS = {"train": "ac", "val": "b", "test": "d"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "splits").mkdir()
    (tmp_path / "gifs").mkdir()
    lines = [f"{URL.format(name)}\t{caption}\n" for name, caption in CAPTIONS]
    (tmp_path / "tgif-v1.0.tsv").write_text("".join(lines), encoding="utf-8")
    for split, names in SPLITS.items():
        (tmp_path / f"splits/{split}.txt").write_text("".join(f"{URL.format(name)}\n" for name in names))
    for name in NAMES:
        (tmp_path / f"gifs/tumblr_{name}_500.gif").write_bytes(gif(pictures(2)))
    return tmp_path


def refused(root: Path) -> str:
    with pytest.raises(InputError) as caught:
        tgif.read(root)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_fit_the_schemas_and_captions_vary_in_number(root: Path) -> None:
    items, references = tgif.read(root)
    assert [(row["item"], row["split"], row["file"]) for row in items] == [
        (0, "train", "tumblr_a_500.gif"),
        (1, "test", "tumblr_d_500.gif"),
        (2, "val", "tumblr_b_500.gif"),
        (4, "train", "tumblr_c_500.gif"),
    ]
    assert all(set(row) == set(IMAGES.names) for row in items)
    assert all(set(row) == set(REFERENCES.names) for row in references)
    found = {item: [row["caption_id"] for row in references if row["item"] == item] for item in range(5)}
    assert found == {0: [0], 1: [1, 3, 6], 2: [2], 3: [], 4: [5]}
    first = ["a", "man", "is", "glaring", "and", "someone", "with", "sunglasses", "appears"]
    assert references[0]["tokens"] == first
    assert next(row["text"] for row in references if row["item"] == 2) == "a dog turns around"
    assert [row["split"] for row in references if row["item"] == 1] == ["test"] * 3


def test_a_task_of_real_clips_is_prepared(root: Path, tmp_path: Path) -> None:
    config = ClipData(
        dataset="tgif", root=str(root), min_count=1, max_length=3, clips=None, seed=1, fingerprint={}, code={}
    )
    captions.prepare(config, tmp_path / "data")
    assert len(read_table(tmp_path / "data/images.parquet", IMAGES)) == 4
    words = read_json(tmp_path / "data" / VOCABULARY)["words"]
    # Of training captions alone, and no further than captions are trained on.
    assert set(words[4:]) == {"a", "man", "is", "car", "moves"}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("tgif-v1.0.tsv", "no tab\n", "line 1 has 0 tabs, not one"),
        ("tgif-v1.0.tsv", "x.gif\ta\tb\n", "line 1 has 2 tabs, not one"),
        ("tgif-v1.0.tsv", "x.gif\ta cat\n\ta dog\n", "line 2 has no url"),
        ("tgif-v1.0.tsv", "x.gif\ta cat\ny.gif\t\n", "line 2: 'y.gif' has no words in its caption"),
        ("tgif-v1.0.tsv", "x.gif\t . !\n", "line 1: 'x.gif' has no words in its caption"),
        ("tgif-v1.0.tsv", "x.gif\ta cat\n\n", "line 2 has 0 tabs, not one"),
        ("tgif-v1.0.tsv", "", f"url {URL.format('a')!r} has no caption in tgif-v1.0.tsv"),
        ("splits/val.txt", "", "val.txt: is empty"),
        ("splits/val.txt", "x.gif\n", "val.txt: line 1: url 'x.gif' has no caption in tgif-v1.0.tsv"),
        ("splits/val.txt", f"{URL.format('b')}\n\n", "val.txt: line 2: url '' has no caption"),
        ("splits/val.txt", f"{URL.format('a')}\n", "is there twice, before in train.txt"),
        ("splits/test.txt", f"{URL.format('d')}\n{URL.format('d')}\n", "line 2: url"),
        ("splits/test.txt", f"{URL.format('d')}\n{URL.format('d')}\n", "is there twice, before in test.txt"),
    ],
)
def test_wrong_lines_are_named(root: Path, file: str, text: str, message: str) -> None:
    (root / file).write_text(text)
    assert message in refused(root)


@pytest.mark.parametrize("file", ["tgif-v1.0.tsv", "splits/test.txt"])
def test_missing_and_damaged_files_are_one_line(root: Path, file: str) -> None:
    (root / file).write_bytes(b"\xff\xfe")
    assert f"{file}: line 1 is not UTF-8" in refused(root)
    (root / file).unlink()
    assert f"{file}: cannot be read (No such file" in refused(root)
    (root / file).mkdir()
    assert f"{file}: cannot be read" in refused(root)


def test_missing_clips_are_counted_before_anything_is_decoded(root: Path) -> None:
    for name in "abe":
        (root / f"gifs/tumblr_{name}_500.gif").unlink()
    assert "2 of 4 clips are missing, first 'tumblr_a_500.gif'" in refused(root)
    # A broken one is found when its features are made.
    for name in "ab":
        (root / f"gifs/tumblr_{name}_500.gif").write_bytes(b"broken")
    assert len(tgif.read(root)[0]) == 4


@pytest.mark.parametrize("url", ["https://x/", "https://x/..", "https://x/...gif", "https://x/.gif", "x\\y.gif"])
def test_urls_must_end_in_a_name(root: Path, url: str) -> None:
    for file in ("tgif-v1.0.tsv", "splits/train.txt"):
        text = (root / file).read_text(encoding="utf-8")
        (root / file).write_text(text.replace(URL.format("a"), url), encoding="utf-8")
    assert f"url {url!r} does not end in a file's name" in refused(root)


def test_two_urls_of_one_name_are_one_line(root: Path) -> None:
    for file in ("tgif-v1.0.tsv", "splits/train.txt"):
        text = (root / file).read_text(encoding="utf-8")
        (root / file).write_text(text.replace("9f6c/tumblr_c", "9f6d/tumblr_a"), encoding="utf-8")
    assert "name the same clip 'tumblr_a_500.gif'" in refused(root)


# --- Generated clips

SMALL = ClipsConfig(train=8, val=2, test=3, size=32, wrong_colours=0.0)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips")
    write_clips(path, SMALL, 5)
    return path


def digests(path: Path) -> dict[str, str]:
    files = (file for file in sorted(path.rglob("*")) if file.is_file())
    return {str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(generated: Path, tmp_path: Path) -> None:
    write_clips(tmp_path / "again", SMALL, 5)
    assert digests(tmp_path / "again") == digests(generated)
    assert set(digests(generated)) == {
        "gifs.tar",
        "scenes.parquet",
        "tgif-v1.0.tsv",
        *(f"splits/{split}.txt" for split in ("train", "val", "test")),
    }
    write_clips(tmp_path / "other", SMALL, 6)
    others = digests(tmp_path / "other")
    assert others["gifs.tar"] != digests(generated)["gifs.tar"]
    assert others["tgif-v1.0.tsv"] != digests(generated)["tgif-v1.0.tsv"]


def test_clips_do_not_depend_on_how_many_there_are(generated: Path, tmp_path: Path) -> None:
    write_clips(tmp_path, SMALL.model_copy(update={"train": 3}), 5)
    graphs, fewer = (read_worlds(path / "scenes.parquet", Clip.from_json) for path in (generated, tmp_path))
    assert [fewer[item] for item in range(8)] == [graphs[item] for item in range(8)]
    lines = (tmp_path / "tgif-v1.0.tsv").read_text().splitlines()
    assert lines == (generated / "tgif-v1.0.tsv").read_text().splitlines()[: len(lines)]


def test_generated_clips_are_read_as_real_ones_are(generated: Path) -> None:
    items, references = tgif.read(generated)
    assert [row["split"] for row in items] == ["train"] * 8 + ["val"] * 2 + ["test"] * 3
    assert [row["item"] for row in items] == list(range(13))
    graphs = read_worlds(generated / "scenes.parquet", Clip.from_json)
    assert {row["item"] for row in items} == set(graphs)
    assert len(references) == 5 * 13
    for row in references:
        # COCO's tokeniser takes nothing away, and what is told is true of the clip with this number.
        assert row["tokens"] == row["text"].split()
        assert check(row["tokens"], graphs[row["item"]]).precision == 1.0


def test_gifs_show_the_graphs_frames(generated: Path) -> None:
    graphs = read_worlds(generated / "scenes.parquet", Clip.from_json)
    source = ClipSource(generated, FRAMES)
    for item in range(5):
        shown = source.read(f"{item:06d}.gif")
        for number, frame in enumerate(shown):
            drawn = draw(graphs[item].frame(number), SMALL.size, 0, np.random.default_rng(0))
            difference = np.abs(np.asarray(frame, dtype=int) - np.asarray(drawn, dtype=int))
            # The palette may be a little off.
            assert difference.mean() < 1
    with tarfile.open(generated / "gifs.tar") as tar:
        for member in tar.getmembers():
            assert (member.mtime, member.uid, member.gid, member.uname) == (0, 0, 0, "")
