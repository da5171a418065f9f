"""Frames of clips, read from GIFs or from folders of images, one clip at a time and in any order."""

import re
from pathlib import Path

from PIL import Image

from seqcap.data.images import ImageSource, opened, read_plain, relative_parts, rgb
from seqcap.errors import InputError

GIFS, FRAMES = "gifs", "frames"
# Of all frames together: ten thousand frames of TGIF's largest clips. Pillow decodes all of them.
MAX_CLIP_PIXELS = 2_500_000_000
SUFFIXES = (".jpg", ".jpeg", ".png")


def evenly(count: int, number: int) -> list[int]:
    """Positions of `number` evenly spaced frames among `count`, first and last included; short clips repeat some."""
    if number == 1:
        return [count // 2]
    return [(i * (count - 1) + (number - 1) // 2) // (number - 1) for i in range(number)]


def read_clip(path: Path, number: int) -> list[Image.Image]:
    """Frames of a GIF file, as `ClipSource.read` returns them and with its errors."""
    return decoded(read_plain(path), path, "", "name another clip, or restore this one", number)


class ClipSource:
    """The clips of one dataset. A clip `x.gif` is a file in `root/gifs` or in a single `root/*.tar`; or the images in
    `root/frames/x`, in the order of the numbers in their names. Several threads may read at once.

    Args:
        root: the dataset's folder.
        number: how many frames of a clip are read.

    Raises:
        InputError: as `ImageSource`.
    """

    def __init__(self, root: str | Path, number: int) -> None:
        self.number = number
        self._unpacked = (Path(root) / FRAMES).is_dir() and not (Path(root) / GIFS).is_dir()
        self._source = ImageSource(root, FRAMES if self._unpacked else GIFS)
        self.path = self._source.path

    def missing(self, files: list[str]) -> list[str]:
        """The clips that do not exist; an `InputError` if a name leaves the folder or fits several members of a tar."""
        if not self._unpacked:
            return self._source.missing(files)
        return [file for file in files if not self._frames(file)]

    def read(self, file: str) -> list[Image.Image]:
        """Evenly spaced frames of a clip, all of one size, as 8-bit RGB; transparency becomes white. An `InputError` if
        the clip is missing, damaged or too large, or its frames differ in size."""
        fix = "restore this clip, or take it out of the splits"
        if not self._unpacked:
            return decoded(self._source.content(file), self.path, f"clip {file!r} ", fix, self.number)
        files = self._frames(file)
        if not files:
            raise InputError(self.path, f"has no frames of clip {file!r}", "restore them")
        frames = [self._source.read(files[place]) for place in evenly(len(files), self.number)]
        if len({frame.size for frame in frames}) > 1:
            raise InputError(self.path, f"the frames of clip {file!r} differ in size", fix)
        return frames

    def _frames(self, file: str) -> list[str]:
        name = Path(file).stem
        if relative_parts(name) is None or name != file.removesuffix(".gif"):
            raise InputError(self.path, f"clip name {file!r} leaves the folder", "give a name without folders")
        try:
            found = sorted((path.name for path in (self.path / name).iterdir()), key=_numbered)
        except OSError:
            return []
        return [f"{name}/{frame}" for frame in found if Path(frame).suffix.lower() in SUFFIXES]


def decoded(content: bytes, path: Path, what: str, fix: str, number: int) -> list[Image.Image]:
    """`number` frames of a GIF's content, see `ClipSource.read`. `path`, `what` and `fix` are for messages."""
    with opened(content, ("GIF",), path, what, fix) as clip:
        count = getattr(clip, "n_frames", 1)
        if clip.width * clip.height * count > MAX_CLIP_PIXELS:
            problem = f"{what}has {count:,} frames, more than {MAX_CLIP_PIXELS:,} pixels"
            raise InputError(path, problem, fix)
        places = evenly(count, number)
        frames = {}
        # Each frame is drawn over the frames before it.
        for place in dict.fromkeys(places):
            clip.seek(place)
            frames[place] = rgb(clip)
        return [frames[place] for place in places]


def _numbered(name: str) -> list[tuple[int, str]]:
    """A key that sorts frame2 before frame10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]
