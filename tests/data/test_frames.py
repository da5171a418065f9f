"""Frames of clips: which are read, the same from GIFs, tars and folders, and what is wrong with a clip in one line."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_gifs import gif, pack, pictures

from seqcap.data import frames
from seqcap.data.frames import ClipSource, evenly, read_clip
from seqcap.errors import InputError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "gifs").mkdir()
    (tmp_path / "gifs/a.gif").write_bytes(gif(pictures()))
    return tmp_path


def same(left: list[Image.Image], right: list[Image.Image]) -> bool:
    return len(left) == len(right) and all(map(np.array_equal, map(np.asarray, left), map(np.asarray, right)))


def refused(root: Path, file: str = "a.gif", number: int = 3) -> str:
    with pytest.raises(InputError) as caught:
        ClipSource(root, number).read(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("count", "number", "expected"),
    [
        (8, 8, [0, 1, 2, 3, 4, 5, 6, 7]),
        (8, 4, [0, 2, 5, 7]),
        (100, 3, [0, 50, 99]),
        (9, 1, [4]),
        (1, 3, [0, 0, 0]),
        (3, 5, [0, 1, 1, 2, 2]),
        (2, 2, [0, 1]),
    ],
)
def test_frames_are_evenly_spaced_from_the_first_to_the_last(count, number, expected):
    assert evenly(count, number) == expected


def test_a_gif_a_tar_and_a_folder_of_pictures_hold_the_same_frames(root, tmp_path):
    packed, unpacked = tmp_path / "packed", tmp_path / "unpacked"
    packed.mkdir()
    pack(packed / "gifs.tar", {"gifs/a.gif": gif(pictures())})
    (unpacked / "frames/a").mkdir(parents=True)
    # In the order of numbers: 9 before 10.
    for number, image in enumerate(pictures(), start=8):
        image.save(unpacked / f"frames/a/frame{number}.png")
    (unpacked / "frames/a/notes.txt").write_text("not a picture")
    for number in (5, 3, 1, 7):
        expected = [pictures()[place] for place in evenly(5, number)]
        for source in (ClipSource(folder, number) for folder in (root, packed, unpacked)):
            assert same(source.read("a.gif"), expected)
            assert source.missing(["a.gif", "b.gif"]) == ["b.gif"]
    assert same(read_clip(root / "gifs/a.gif", 5), pictures())
    (root / "gifs/a.gif").write_bytes(gif(pictures(1)))
    assert same(ClipSource(root, 4).read("a.gif"), pictures(1) * 4)


def test_frames_are_drawn_over_each_other_and_transparency_is_white(root):
    clear = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    dot = clear.copy()
    dot.putpixel((1, 1), (250, 0, 0, 255))
    buffer = io.BytesIO()
    dot.save(buffer, "GIF", save_all=True, append_images=[clear, dot], duration=100, disposal=2)
    (root / "gifs/a.gif").write_bytes(buffer.getvalue())
    first, *_ = ClipSource(root, 3).read("a.gif")
    assert first.mode == "RGB"
    assert first.getpixel((1, 1)) == (250, 0, 0)
    assert first.getpixel((5, 5)) == (255, 255, 255)


def test_damaged_clips_are_one_line(root):
    whole = gif(pictures())
    cut = [whole[:length] for length in (0, 6, 40, len(whole) // 2, len(whole) - 20, len(whole) - 2, len(whole) - 1)]
    for content in (*cut, whole[:6] + bytes(30), b"<html></html>" * 9):
        (root / "gifs/a.gif").write_bytes(content)
        assert "clip 'a.gif' cannot be decoded as GIF" in refused(root)
        with pytest.raises(InputError, match="cannot be decoded as GIF"):
            read_clip(root / "gifs/a.gif", 2)
    Image.new("RGB", (4, 4)).save(root / "gifs/a.gif", "PNG")
    assert "cannot be decoded as GIF" in refused(root)


def test_too_large_clips_are_one_line(root, monkeypatch):
    monkeypatch.setattr(frames, "MAX_CLIP_PIXELS", 8 * 8 * 4)
    assert "clip 'a.gif' has 5 frames, more than 256 pixels" in refused(root)
    monkeypatch.setattr("seqcap.data.images.MAX_PIXELS", 63)
    assert "clip 'a.gif' has more than 63 pixels" in refused(root)
    # A header may promise what no file holds.
    (root / "gifs/a.gif").write_bytes(b"GIF89a\xff\xff\xff\xff" + gif(pictures())[10:])
    assert "clip 'a.gif' has more than 63 pixels" in refused(root)


def test_missing_clips_and_pictures_are_one_line(root, tmp_path):
    assert "has no image 'b.gif'" in refused(root, "b.gif")
    unpacked = tmp_path / "unpacked"
    (unpacked / "frames/a").mkdir(parents=True)
    assert "has no frames of clip 'a.gif'" in refused(unpacked)
    for number, side in enumerate((8, 9)):
        Image.new("RGB", (side, side)).save(unpacked / f"frames/a/{number}.png")
    assert "the frames of clip 'a.gif' differ in size" in refused(unpacked)
    (unpacked / "frames/a/1.png").write_bytes(b"no picture")
    assert "image 'a/1.png' cannot be decoded" in refused(unpacked)
    with pytest.raises(InputError, match="is not a folder"):
        ClipSource(tmp_path / "nowhere", 2)


@pytest.mark.parametrize("name", ["../a.gif", "/a.gif", "...gif", "x/../../a.gif", "", "\0.gif", "x\\a.gif"])
def test_no_name_leaves_the_folder(root, tmp_path, name):
    unpacked = tmp_path / "unpacked"
    (unpacked / "frames").mkdir(parents=True)
    for number, image in enumerate(pictures()):
        image.save(unpacked / f"{number}.png")
        image.save(tmp_path / f"{number}.png")
    assert "name" in refused(unpacked, name)
    assert "leaves the folder" in refused(unpacked, name)
    if name != "...gif":
        assert "leaves the folder" in refused(root, name)
