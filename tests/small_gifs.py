"""Small GIFs, and tars of files, that tests read."""

import io
import tarfile
from pathlib import Path

from PIL import Image

COLOURS = [(250, 0, 0), (0, 250, 0), (0, 0, 250), (250, 250, 0), (0, 250, 250)]


def pictures(count: int = 5, side: int = 8) -> list[Image.Image]:
    """Each of a colour of its own, with a white dot that moves."""
    found = []
    for number in range(count):
        image = Image.new("RGB", (side, side), COLOURS[number])
        image.putpixel((number, 2), (255, 255, 255))
        found.append(image)
    return found


def gif(images: list[Image.Image]) -> bytes:
    buffer = io.BytesIO()
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=100)
    return buffer.getvalue()


def pack(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
