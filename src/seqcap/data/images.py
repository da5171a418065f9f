"""Images, read by name from a folder or from a tar, one at a time and in any order."""

import io
import os
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, UnidentifiedImageError

from seqcap.errors import InputError

# The formats of photographs. Pillow also opens formats that run programs: for EPS it calls Ghostscript.
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
# EXIF's orientations but 1, which is upright: how to turn what the sensor saw.
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# Seven times a 12-megapixel photograph. A larger image is a decompression bomb or not the right file.
MAX_PIXELS = 80_000_000


def relative_parts(file: str) -> tuple[str, ...] | None:
    """The parts of a file name in an image folder; None if the name is empty or leaves the folder."""
    parts = PurePosixPath(file).parts
    if not parts or file.startswith("/") or ".." in parts or "\0" in file or "\\" in file:
        return None
    return parts


def read_image(path: Path) -> Image.Image:
    """A plain file as `ImageSource.read` returns it, and with its errors."""
    return _decoded(read_plain(path), path, "", "name another image, or restore this one")


def read_plain(path: Path) -> bytes:
    """The bytes of a file that a user names; an `InputError` for a device, which may have no end."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(path, "is no plain file", "name an image")
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None


def pixels(image: Image.Image, side: int) -> npt.NDArray[np.uint8]:
    """An image as [side, side, 3], squashed and not cropped: captions also describe its edges."""
    return np.array(image.resize((side, side), Image.Resampling.BICUBIC) if image.size != (side, side) else image)


class ImageSource:
    """The images of one dataset, in the folder `root/images` (or another `folder`); else in a single `root/*.tar`; else
    in `root` itself, as COCO's `train2014/`.

    A tar is indexed once and never unpacked; a name matches a member in any of its subfolders. Several threads may read
    at once.

    Args:
        root: the dataset's folder.
        folder: the folder of images in `root`, if it is there.

    Raises:
        InputError: `root` is no folder, there are several tars, or the tar is compressed, damaged, or has members that
            are links or would leave the folder.
    """

    def __init__(self, root: str | Path, folder: str = "images") -> None:
        root = Path(root)
        if not root.is_dir():
            raise InputError(root, "is not a folder", "set the dataset's root in params.yaml")
        tars = sorted(root.glob("*.tar"))
        self._members: dict[str, list[tuple[tuple[str, ...], int, int]]] | None = None
        if (root / folder).is_dir():
            self.path = root / folder
        elif len(tars) > 1:
            names = ", ".join(tar.name for tar in tars)
            raise InputError(root, f"holds several tars ({names})", f"keep one, or unpack them into {folder}/")
        elif tars:
            self.path = tars[0]
            self._members = _index(self.path)
            self._descriptor = os.open(self.path, os.O_RDONLY)
        else:
            self.path = root

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def missing(self, files: list[str]) -> list[str]:
        """The files that do not exist; an `InputError` if a name leaves the folder or fits several members of a tar."""
        if self._members is not None:
            return [file for file in files if self._find(file) is None]
        return [file for file in files if not _is_file(self.path.joinpath(*self._parts(file)))]

    def read(self, file: str) -> Image.Image:
        """One image as 8-bit RGB, upright as its EXIF says. Transparency becomes white; 16-bit levels keep their upper
        8 bits. An `InputError` if the image is missing, truncated, damaged, too large or of an unknown format."""
        fix = "restore this image, or drop it from the dataset"
        return _decoded(self.content(file), self.path, f"image {file!r} ", fix)

    def content(self, file: str) -> bytes:
        """The bytes of a file; an `InputError` if it cannot be read."""
        fix = "restore the file"
        if self._members is None:
            # Only names are confined to the folder. Links in it are the user's own (DVC's cache, a shared disk).
            path = self.path.joinpath(*self._parts(file))
            if not _is_file(path):
                raise InputError(self.path, f"has no image {file!r}", fix)
            try:
                return path.read_bytes()
            except OSError as error:
                raise InputError(path, f"cannot be read ({error.strerror})", fix) from None
        member = self._find(file)
        if member is None:
            raise InputError(self.path, f"has no image {file!r}", fix)
        offset, size = member
        # pread has no shared file position, so threads need no lock. A short read shows as a truncated image.
        return os.pread(self._descriptor, size, offset)

    def _parts(self, file: str) -> tuple[str, ...]:
        parts = relative_parts(file)
        if parts is None:
            raise InputError(self.path, f"image name {file!r} leaves the folder", "give a name relative to the folder")
        return parts

    def _find(self, file: str) -> tuple[int, int] | None:
        assert self._members is not None
        parts = self._parts(file)
        members = [m for m in self._members.get(parts[-1], []) if m[0][-len(parts) :] == parts]
        if len(members) > 1:
            names = " and ".join("/".join(member[0]) for member in members[:2])
            raise InputError(self.path, f"image {file!r} may be {names}", "name the subfolder too, or keep one of them")
        return members[0][1:] if members else None


def _index(path: Path) -> dict[str, list[tuple[tuple[str, ...], int, int]]]:
    """Members of a tar by base name: (parts of the full name, offset, size)."""
    members: dict[str, list[tuple[tuple[str, ...], int, int]]] = defaultdict(list)
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                if member.isdir():
                    continue
                parts = relative_parts(member.name)
                if parts is None:
                    problem = f"member {member.name!r} leaves the folder"
                    raise InputError(path, problem, "pack the tar with relative names")
                if not member.isreg() or member.issparse():
                    problem = f"member {member.name!r} is not a plain file"
                    raise InputError(path, problem, "pack the tar with plain files only")
                members[parts[-1]].append((parts, member.offset_data, member.size))
    except (tarfile.TarError, OSError, EOFError) as error:
        problem = f"is not an uncompressed tar ({brief(error)})"
        raise InputError(path, problem, "restore it, or decompress it (gunzip)") from None
    return dict(members)


def _is_file(path: Path) -> bool:
    """Whether a file exists; one with a name that is too long does not."""
    try:
        return path.is_file()
    except OSError:
        return False


def _decoded(content: bytes, path: Path, what: str, fix: str) -> Image.Image:
    with opened(content, FORMATS, path, what, fix) as image:
        return rgb(_upright(image))


def _upright(image: Image.Image) -> Image.Image:
    """An image as its EXIF says it was held: phones store photographs as the sensor saw them."""
    # TIFFs turn when they are loaded.
    image.load()
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # Damaged EXIF raises many kinds of errors; the pixels are whole.
        return image
    return image.transpose(TURNS[orientation]) if orientation in TURNS else image


@contextmanager
def opened(content: bytes, formats: tuple[str, ...], path: Path, what: str, fix: str) -> Iterator[Image.Image]:
    """An image or a clip in a file's content; what goes wrong in the block is an `InputError`, too. `path`, `what` and
    `fix` are for its message."""
    try:
        with Image.open(io.BytesIO(content), formats=formats) as image:
            # The header has width and height: they are checked before any pixel is decoded.
            if image.width * image.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            if image.format == "GIF" and not _has_end(content):
                raise OSError("it is cut off")
            yield image
    except InputError:
        raise
    except Image.DecompressionBombError:
        raise InputError(path, f"{what}has more than {MAX_PIXELS:,} pixels", fix) from None
    except Exception as error:  # Pillow's decoders raise whatever a damaged header provokes, not only OSError
        why = "unknown format" if isinstance(error, UnidentifiedImageError) else brief(error)
        raise InputError(path, f"{what}cannot be decoded as {', '.join(formats)} ({why})", fix) from None


def _has_end(gif: bytes) -> bool:
    """Whether a GIF's blocks lead to its end mark. Pillow takes one that is cut off for a shorter clip. After GIF89a,
    sections 15 to 27."""
    offset = 13 + _colours(gif, 10)
    while offset < len(gif):
        kind = gif[offset : offset + 1]
        if kind == b";":
            return True
        if kind not in (b"!", b","):
            # Pillow passes over it, too.
            offset += 1
            continue
        # An extension has a label, an image a place, perhaps colours, and the size of its codes.
        offset += 2 if kind == b"!" else 11 + _colours(gif, offset + 9)
        while any(gif[offset : offset + 1]):
            offset += 1 + gif[offset]
        offset += 1
    return False


def _colours(gif: bytes, flags: int) -> int:
    """The length of a GIF's table of colours, whose flags are at a place."""
    return 3 << (gif[flags] % 8 + 1) if flags < len(gif) and gif[flags] & 0x80 else 0


def rgb(image: Image.Image) -> Image.Image:
    """An image as 8-bit RGB, see `ImageSource.read`."""
    if image.mode.startswith("I"):
        # 16-bit grey: Pillow's own conversion would turn all levels above 255 white.
        levels = np.clip(np.asarray(image).astype(np.int64), 0, 65535) >> 8
        image = Image.fromarray(levels.astype(np.uint8))
    if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        # To drop alpha would show the colours that transparent pixels hide.
        coloured = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", coloured.size, "white"), coloured)
    return image.convert("RGB")


def brief(error: Exception) -> str:
    """The message of an error, or its type's name."""
    return str(error) or type(error).__name__
