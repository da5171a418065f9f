"""ImageSource: folder and tar agree, damaged images name themselves, nothing leaves the folder."""

import io
import struct
import tarfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image
from small_gifs import pack

from seqcap.data.images import ImageSource, read_image
from seqcap.errors import InputError


def noise(seed: int, size: tuple[int, int] = (12, 9)) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8))


def jpeg(seed: int) -> bytes:
    buffer = io.BytesIO()
    noise(seed).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "folder"
    (root / "images").mkdir(parents=True)
    for i in range(5):
        (root / "images" / f"{i}.jpg").write_bytes(jpeg(i))
    return root


def test_folder_and_tar_agree(folder, tmp_path):
    (tmp_path / "tar").mkdir()
    pack(tmp_path / "tar" / "images_12.tar", {f"deep/er/{i}.jpg": jpeg(i) for i in range(5)})
    files = [f"{i}.jpg" for i in range(5)]
    a, b = ImageSource(folder), ImageSource(tmp_path / "tar")
    assert a.missing([*files, "9.jpg"]) == b.missing([*files, "9.jpg"]) == ["9.jpg"]
    with ThreadPoolExecutor(4) as pool:
        for left, right in zip(pool.map(a.read, files * 8), pool.map(b.read, files * 8), strict=True):
            assert left.mode == "RGB"
            assert np.array_equal(np.asarray(left), np.asarray(right))


def test_a_subfolder_in_the_name_picks_the_member(tmp_path):
    pack(tmp_path / "x.tar", {"coco/train2014/a.jpg": jpeg(0), "coco/val2014/a.jpg": jpeg(1)})
    source = ImageSource(tmp_path)
    expected = np.asarray(Image.open(io.BytesIO(jpeg(1))))
    assert np.array_equal(np.asarray(source.read("val2014/a.jpg")), expected)
    with pytest.raises(InputError, match=r"train2014/a\.jpg and coco/val2014/a\.jpg"):
        source.read("a.jpg")
    # Files beside the dataset's JSON.
    (tmp_path / "x.tar").unlink()
    (tmp_path / "val2014").mkdir()
    (tmp_path / "val2014" / "a.jpg").write_bytes(jpeg(1))
    assert np.array_equal(np.asarray(ImageSource(tmp_path).read("val2014/a.jpg")), expected)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "content", [jpeg(3)[:-60], jpeg(3)[:20], b"", b"<html>404</html>", b"%!PS-Adobe-3.0 EPSF-3.0\n" * 9]
)
def test_truncated_or_not_an_image_names_the_file(tmp_path, content, packed):
    if packed:
        pack(tmp_path / "x.tar", {"images/broken.jpg": content})
    else:
        (tmp_path / "images").mkdir()
        (tmp_path / "images" / "broken.jpg").write_bytes(content)
    with pytest.raises(InputError, match=r"'broken\.jpg' cannot be decoded as .*PPM \([^<]*\)"):
        ImageSource(tmp_path).read("broken.jpg")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("absent.jpg", "cannot be read"),
        ("images", "is no plain file"),
        ("a" * 300, "cannot be read"),
        ("cut.jpg", "cannot be decoded"),
    ],
)
def test_a_file_of_its_own_is_read_or_named(tmp_path, name, problem):
    """Whatever lies beside it."""
    (tmp_path / "images").mkdir()
    (tmp_path / "one.tar").write_bytes(b"no tar")
    (tmp_path / "a.jpg").write_bytes(jpeg(0))
    assert np.array_equal(np.asarray(read_image(tmp_path / "a.jpg")), np.asarray(Image.open(io.BytesIO(jpeg(0)))))
    (tmp_path / "cut.jpg").write_bytes(jpeg(0)[:200])
    with pytest.raises(InputError, match=rf"^{tmp_path / name}: {problem}"):
        read_image(tmp_path / name)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [9_200, 60_000])
def test_a_decompression_bomb_is_refused_before_decoding(tmp_path, side):
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    content = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    pack(tmp_path / "x.tar", {"bomb.png": content})
    with pytest.raises(InputError, match=r"'bomb\.png' has more than 80,000,000 pixels"):
        ImageSource(tmp_path).read("bomb.png")


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "LA", "RGBA", "I;16"])
def test_every_mode_becomes_rgb(tmp_path, mode):
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
    # Transparent pixels become white.
    Image.new("RGBA", (2, 2), (255, 0, 0, 0)).save(tmp_path / "clear.png")
    assert ImageSource(tmp_path).read("clear.png").getpixel((0, 0)) == (255, 255, 255)


def written(image: Image.Image, kind: str, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    buffer = io.BytesIO()
    image.save(buffer, kind, exif=exif)
    return buffer.getvalue()


# What a viewer does to the stored rows for each of EXIF's orientations.
UPRIGHT = {
    1: lambda stored: stored,
    2: np.fliplr,
    3: lambda stored: np.rot90(stored, 2),
    4: np.flipud,
    5: lambda stored: np.swapaxes(stored, 0, 1),
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: np.rot90(np.swapaxes(stored, 0, 1), 2),
    8: np.rot90,
    9: lambda stored: stored,
}


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_photographs_stand_as_their_camera_was_held(tmp_path, kind, orientation):
    """From a folder, from a tar, and by themselves; also where transparency has to become white."""
    stored = noise(1)
    expected = UPRIGHT[orientation](np.asarray(stored))
    (tmp_path / "x.png").write_bytes(written(stored, kind, orientation))
    (tmp_path / "clear.png").write_bytes(written(stored.convert("RGBA"), kind, orientation))
    sources = [ImageSource(tmp_path)]
    (tmp_path / "tar").mkdir()
    pack(tmp_path / "tar/x.tar", {name: (tmp_path / name).read_bytes() for name in ("x.png", "clear.png")})
    sources.append(ImageSource(tmp_path / "tar"))
    for name in ("x.png", "clear.png"):
        for read in (*(source.read(name) for source in sources), read_image(tmp_path / name)):
            assert np.array_equal(np.asarray(read), expected)


def test_a_photograph_with_damaged_exif_is_read_as_it_is_stored(tmp_path):
    whole = written(noise(1), "JPEG", 6)
    assert whole.count(b"Exif\0\0MM\0*") == 1
    path = tmp_path / "x.jpg"
    path.write_bytes(whole)
    assert read_image(path).size == (12, 9)
    path.write_bytes(whole.replace(b"Exif\0\0MM\0*", b"Exif\0\0no\0*"))
    assert read_image(path).size == (9, 12)


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/passwd", "a/../../b.jpg", "a\0.jpg", "", "..\\b.jpg"])
def test_names_that_leave_the_folder_are_refused(folder, tmp_path, name):
    (tmp_path / "tar").mkdir()
    pack(tmp_path / "tar" / "x.tar", {"a.jpg": jpeg(0)})
    for root in (folder, tmp_path / "tar"):
        with pytest.raises(InputError, match="leaves the folder"):
            ImageSource(root).read(name)
        with pytest.raises(InputError, match="leaves the folder"):
            ImageSource(root).missing([name])


@pytest.mark.parametrize(
    ("member", "kind", "mode", "problem"),
    [
        ("../a.jpg", tarfile.REGTYPE, "w", "member .* leaves the folder"),
        ("/a.jpg", tarfile.REGTYPE, "w", "member .* leaves the folder"),
        ("images/../../a.jpg", tarfile.REGTYPE, "w", "member .* leaves the folder"),
        ("a.jpg", tarfile.SYMTYPE, "w", r"'a\.jpg' is not a plain file"),
        ("a.jpg", tarfile.LNKTYPE, "w", r"'a\.jpg' is not a plain file"),
        ("a.jpg", tarfile.FIFOTYPE, "w", r"'a\.jpg' is not a plain file"),
        ("a.jpg", tarfile.REGTYPE, "w:gz", "is not an uncompressed tar"),
    ],
)
def test_tars_of_others_are_one_line(tmp_path, member, kind, mode, problem):
    with tarfile.open(tmp_path / "x.tar", mode) as tar:
        info = tarfile.TarInfo(member)
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    with pytest.raises(InputError, match=rf"x\.tar: .*{problem}"):
        ImageSource(tmp_path)
    (tmp_path / "y.tar").write_bytes(b"")
    with pytest.raises(InputError, match=r"several tars \(x\.tar, y\.tar\)"):
        ImageSource(tmp_path)


def test_a_missing_image_or_root_is_named(folder, tmp_path):
    for name in ("9.jpg", "9" * 300):
        with pytest.raises(InputError, match=f"has no image '{name}'"):
            ImageSource(folder).read(name)
    with pytest.raises(InputError, match="nowhere: is not a folder"):
        ImageSource(tmp_path / "nowhere")
