"""ImageSource: folder and tar agree, damaged images name themselves, nothing leaves the folder."""

from __future__ import annotations

import io
import struct
import tarfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seqcap.data.images import ImageSource, read_image
from seqcap.errors import InputError


def noise(seed: int, size: tuple[int, int] = (12, 9)) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8))


def jpeg(seed: int) -> bytes:
    buffer = io.BytesIO()
    noise(seed).save(buffer, "JPEG")
    return buffer.getvalue()


def pack(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "folder"
    (root / "images").mkdir(parents=True)
    for i in range(5):
        (root / "images" / f"{i}.jpg").write_bytes(jpeg(i))
    return root


def test_folder_and_tar_agree(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tar").mkdir()
    pack(tmp_path / "tar" / "images_12.tar", {f"deep/er/{i}.jpg": jpeg(i) for i in range(5)})
    files = [f"{i}.jpg" for i in range(5)]
    a, b = ImageSource(folder), ImageSource(tmp_path / "tar")
    assert a.missing([*files, "9.jpg"]) == b.missing([*files, "9.jpg"]) == ["9.jpg"]
    with ThreadPoolExecutor(4) as pool:
        for left, right in zip(pool.map(a.read, files * 8), pool.map(b.read, files * 8), strict=True):
            assert left.mode == "RGB"
            assert np.array_equal(np.asarray(left), np.asarray(right))


def test_files_beside_the_json_are_found_by_subfolder(tmp_path: Path) -> None:
    (tmp_path / "val2014").mkdir()
    (tmp_path / "val2014" / "a.jpg").write_bytes(jpeg(0))
    assert ImageSource(tmp_path).read("val2014/a.jpg").size == (9, 12)


def test_a_subfolder_in_the_name_picks_the_member(tmp_path: Path) -> None:
    pack(tmp_path / "x.tar", {"coco/train2014/a.jpg": jpeg(0), "coco/val2014/a.jpg": jpeg(1)})
    source = ImageSource(tmp_path)
    assert np.array_equal(np.asarray(source.read("val2014/a.jpg")), np.asarray(Image.open(io.BytesIO(jpeg(1)))))
    with pytest.raises(InputError, match=r"train2014/a\.jpg and coco/val2014/a\.jpg"):
        source.read("a.jpg")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "content", [jpeg(3)[:-60], jpeg(3)[:20], b"", b"<html>404</html>", b"%!PS-Adobe-3.0 EPSF-3.0\n" * 9]
)
def test_truncated_or_not_an_image_names_the_file(tmp_path: Path, content: bytes, packed: bool) -> None:
    if packed:
        pack(tmp_path / "x.tar", {"images/broken.jpg": content})
    else:
        (tmp_path / "images").mkdir()
        (tmp_path / "images" / "broken.jpg").write_bytes(content)
    with pytest.raises(InputError, match=r"'broken\.jpg' cannot be decoded as .*PPM \([^<]*\)"):
        ImageSource(tmp_path).read("broken.jpg")


def test_a_file_of_its_own_is_read_whatever_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for name in ("one.tar", "two.tar"):
        (tmp_path / name).write_bytes(b"no tar")
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg(0))
    assert np.array_equal(np.asarray(read_image(path)), np.asarray(Image.open(io.BytesIO(jpeg(0)))))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("absent.jpg", "cannot be read"),
        ("images", "is no plain file"),
        ("a" * 300, "cannot be read"),
        ("cut.jpg", "cannot be decoded"),
    ],
)
def test_a_file_that_is_no_image_is_named(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "cut.jpg").write_bytes(jpeg(0)[:200])
    with pytest.raises(InputError, match=rf"^{tmp_path / name}: {problem}"):
        read_image(tmp_path / name)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [9_200, 60_000])
def test_a_decompression_bomb_is_refused_before_decoding(tmp_path: Path, side: int) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    content = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    pack(tmp_path / "x.tar", {"bomb.png": content})
    with pytest.raises(InputError, match=r"'bomb\.png' has more than 80,000,000 pixels"):
        ImageSource(tmp_path).read("bomb.png")


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "LA", "RGBA", "I;16"])
def test_every_mode_becomes_rgb(tmp_path: Path, mode: str) -> None:
    image = (
        Image.fromarray(np.full((4, 4), 128 * 256, dtype=np.uint16))
        if mode == "I;16"
        else noise(0).convert("L" if mode == "1" else "RGB").convert(mode)
    )
    image.save(tmp_path / ("x.tif" if mode == "CMYK" else "x.png"))
    read = ImageSource(tmp_path).read("x.tif" if mode == "CMYK" else "x.png")
    assert (read.mode, read.size) == ("RGB", image.size)
    expected = np.full((4, 4, 3), 128) if mode == "I;16" else np.asarray(image.convert("RGB"))
    assert np.abs(np.asarray(read).astype(int) - expected).max() <= 1


def test_transparent_pixels_become_white(tmp_path: Path) -> None:
    Image.new("RGBA", (2, 2), (255, 0, 0, 0)).save(tmp_path / "x.png")
    assert ImageSource(tmp_path).read("x.png").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/passwd", "a/../../b.jpg", "a\0.jpg", "", "..\\b.jpg"])
def test_names_that_leave_the_folder_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "tar").mkdir()
    pack(tmp_path / "tar" / "x.tar", {"a.jpg": jpeg(0)})
    for root in (folder, tmp_path / "tar"):
        with pytest.raises(InputError, match="leaves the folder"):
            ImageSource(root).read(name)
        with pytest.raises(InputError, match="leaves the folder"):
            ImageSource(root).missing([name])


@pytest.mark.parametrize("name", ["../a.jpg", "/a.jpg", "images/../../a.jpg"])
def test_tar_members_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    pack(tmp_path / "x.tar", {name: jpeg(0)})
    with pytest.raises(InputError, match=r"x\.tar: member .* leaves the folder"):
        ImageSource(tmp_path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_tar_links_are_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        info = tarfile.TarInfo("a.jpg")
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    with pytest.raises(InputError, match=r"'a\.jpg' is not a plain file"):
        ImageSource(tmp_path)


def test_compressed_damaged_and_several_tars_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("a.jpg"))
    with pytest.raises(InputError, match="is not an uncompressed tar"):
        ImageSource(tmp_path)
    (tmp_path / "y.tar").write_bytes(b"")
    with pytest.raises(InputError, match=r"several tars \(x\.tar, y\.tar\)"):
        ImageSource(tmp_path)


def test_a_missing_image_or_root_is_named(folder: Path, tmp_path: Path) -> None:
    for name in ("9.jpg", "9" * 300):
        with pytest.raises(InputError, match=f"has no image '{name}'"):
            ImageSource(folder).read(name)
    with pytest.raises(InputError, match="nowhere: is not a folder"):
        ImageSource(tmp_path / "nowhere")


@pytest.mark.real
def test_flickr8k_photographs_are_read_from_the_tar(shared: Path) -> None:
    image = ImageSource(shared / "data" / "flickr8k").read("1000268201_693b08cb0e.jpg")
    assert (image.mode, image.size) == ("RGB", (224, 224))
    assert np.asarray(image).std() > 10
