"""TGIF's layout: what is read, and every way that its files can be wrong; generated clips in it."""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from scenes_languages import digests
from small_gifs import gif, pictures

from seqcap.data import tgif
from seqcap.data.frames import ClipSource
from seqcap.errors import InputError
from seqcap.files.schemas import IMAGES, REFERENCES
from seqcap.world.checker import check
from seqcap.world.clips import ClipsConfig, write_clips
from seqcap.world.drawing import draw
from seqcap.world.motion import FRAMES, Clip
from seqcap.world.scenes import read_worlds

TEXTS = YAML(typ="safe").load(Path(__file__).with_name("tgif.yaml").read_text(encoding="utf-8"))
URLS = {name: f"https://38.media.tumblr.com/9f6c/tumblr_{name}_500.gif" for name in "abcde"}
SPLITS = {"train": "ac", "val": "b", "test": "d"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "splits").mkdir()
    (tmp_path / "gifs").mkdir()
    lines = [f"{URLS[name]}\t{caption}\n" for name, caption in TEXTS["captions"]]
    (tmp_path / "tgif-v1.0.tsv").write_text("".join(lines), encoding="utf-8")
    for split, names in SPLITS.items():
        (tmp_path / f"splits/{split}.txt").write_text("".join(f"{URLS[name]}\n" for name in names))
    for name in URLS:
        (tmp_path / f"gifs/tumblr_{name}_500.gif").write_bytes(gif(pictures(2)))
    return tmp_path


def refused(root: Path) -> str:
    with pytest.raises(InputError) as caught:
        tgif.read(root)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_fit_the_schemas_and_captions_vary_in_number(root):
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


@pytest.mark.parametrize(("file", "text", "message"), TEXTS["wrong"])
def test_wrong_lines_are_named(root, file, text, message):
    (root / file).write_text(text.format(**URLS))
    assert message.format(**URLS) in refused(root)


@pytest.mark.parametrize("file", ["tgif-v1.0.tsv", "splits/test.txt"])
def test_missing_and_damaged_files_are_one_line(root, file):
    (root / file).write_bytes(b"\xff\xfe")
    assert f"{file}: line 1 is not UTF-8" in refused(root)
    (root / file).unlink()
    assert f"{file}: cannot be read (No such file" in refused(root)
    (root / file).mkdir()
    assert f"{file}: cannot be read" in refused(root)


def test_missing_clips_are_counted_before_anything_is_decoded(root):
    for name in "abe":
        (root / f"gifs/tumblr_{name}_500.gif").unlink()
    assert "2 of 4 clips are missing, first 'tumblr_a_500.gif'" in refused(root)
    # A broken one is found when its features are made.
    for name in "ab":
        (root / f"gifs/tumblr_{name}_500.gif").write_bytes(b"broken")
    assert len(tgif.read(root)[0]) == 4


def rename(root: Path, before: str, after: str) -> None:
    for file in ("tgif-v1.0.tsv", "splits/train.txt"):
        text = (root / file).read_text(encoding="utf-8")
        (root / file).write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize("url", ["https://x/", "https://x/..", "https://x/...gif", "https://x/.gif", "x\\y.gif"])
def test_urls_must_end_in_a_name(root, url):
    rename(root, URLS["a"], url)
    assert f"url {url!r} does not end in a file's name" in refused(root)


def test_two_urls_of_one_name_are_one_line(root):
    rename(root, "9f6c/tumblr_c", "9f6d/tumblr_a")
    assert "name the same clip 'tumblr_a_500.gif'" in refused(root)


SMALL = ClipsConfig(train=8, val=2, test=3, size=32, wrong_colours=0.0)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips")
    write_clips(path, SMALL, 5)
    return path


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(generated, tmp_path):
    write_clips(tmp_path / "again", SMALL, 5)
    assert digests(tmp_path / "again") == digests(generated)
    splits = {f"splits/{split}.txt" for split in ("train", "val", "test")}
    assert set(digests(generated)) == {"gifs.tar", "scenes.parquet", "tgif-v1.0.tsv"} | splits
    write_clips(tmp_path / "other", SMALL, 6)
    others = digests(tmp_path / "other")
    assert others["gifs.tar"] != digests(generated)["gifs.tar"]
    assert others["tgif-v1.0.tsv"] != digests(generated)["tgif-v1.0.tsv"]


def test_clips_do_not_depend_on_how_many_there_are(generated, tmp_path):
    write_clips(tmp_path, SMALL.model_copy(update={"train": 3}), 5)
    graphs, fewer = (read_worlds(path / "scenes.parquet", Clip.from_json) for path in (generated, tmp_path))
    assert [fewer[item] for item in range(8)] == [graphs[item] for item in range(8)]
    lines = (tmp_path / "tgif-v1.0.tsv").read_text().splitlines()
    assert lines == (generated / "tgif-v1.0.tsv").read_text().splitlines()[: len(lines)]


def test_generated_clips_are_read_as_real_ones_are(generated):
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


def test_gifs_show_the_graphs_frames(generated):
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
