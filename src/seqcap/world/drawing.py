"""Draws scenes: flat, outlined shapes at four times the size, averaged down, with a little pixel noise. All in whole
numbers, so that the pixels are the same on every machine."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np
from PIL import Image, ImageChops, ImageDraw

from seqcap.world.graph import GRID, HORIZON, Background, Scene, SceneObject

RGB = tuple[int, int, int]
Point = tuple[float, float]
_OVERSAMPLING = 4
PAINT: dict[str, RGB] = {
    "red": (220, 32, 38),
    "blue": (38, 78, 222),
    "green": (22, 128, 44),
    "yellow": (252, 220, 28),
    "black": (34, 34, 38),
    "white": (250, 250, 250),
    "orange": (248, 136, 18),
    "purple": (142, 40, 172),
}
# The colour of stripes and dots: light on dark paint, dark on light paint.
_PATTERN: dict[str, RGB] = dict.fromkeys(PAINT, (250, 250, 250)) | {
    "white": (70, 70, 80),
    "yellow": (120, 70, 20),
}
_SKIN, _HAIR, _TROUSERS = (240, 196, 160), (92, 56, 30), (52, 56, 92)
_WOOD, _ROOF, _GLASS, _METAL = (112, 72, 38), (128, 66, 48), (186, 220, 240), (60, 60, 64)


class _Pen:
    """Draws into one object's box, from (0, 0), its upper left corner, to (1, 1), its lower right one."""

    def __init__(self, image: Image.Image, thing: SceneObject, outline: RGB) -> None:
        self.image = image
        self.draw = ImageDraw.Draw(image)
        self.thing = thing
        self.unit = image.width / GRID
        self.outline = outline
        self.paint = PAINT[thing.colour]
        self.edge = max(1, round(3 * self.unit))

    def at(self, x: float, y: float) -> tuple[int, int]:
        if self.thing.flip:
            x = 1 - x
        return (
            round((self.thing.left + x * self.thing.width) * self.unit),
            round((self.thing.top + y * self.thing.height) * self.unit),
        )

    def _box(self, x0: float, y0: float, x1: float, y1: float) -> tuple[int, int, int, int]:
        (a, b), (c, d) = self.at(x0, y0), self.at(x1, y1)
        return min(a, c), min(b, d), max(a, c), max(b, d)

    def ellipse(self, x0: float, y0: float, x1: float, y1: float, fill: RGB | None = None) -> None:
        """An ellipse in `fill`, or in the object's colour and texture."""
        box = self._box(x0, y0, x1, y1)
        self.draw.ellipse(box, fill or self.paint)
        if fill is None:
            self._texture(lambda mask: mask.ellipse(box, 255))
        self.draw.ellipse(box, None, self.outline, self.edge)

    def polygon(self, points: Sequence[Point], fill: RGB | None = None) -> None:
        corners = [self.at(x, y) for x, y in points]
        self.draw.polygon(corners, fill or self.paint)
        if fill is None:
            self._texture(lambda mask: mask.polygon(corners, 255))
        self.draw.line([*corners, corners[0]], self.outline, self.edge, joint="curve")

    def rectangle(self, x0: float, y0: float, x1: float, y1: float, fill: RGB | None = None) -> None:
        self.polygon([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], fill)

    def limb(self, points: Sequence[Point], width: float, fill: RGB | None = None) -> None:
        """A thick line with round joints and an outline; `width` is a share of the box's width."""
        corners = [self.at(x, y) for x, y in points]
        thick = max(2, round(width * self.thing.width * self.unit))
        for colour, size in ((self.outline, thick + 2 * self.edge - 1), (fill or self.paint, thick)):
            self.draw.line(corners, colour, size, joint="curve")
            for x, y in corners:
                self.draw.ellipse((x - size // 2, y - size // 2, x + size // 2, y + size // 2), colour)

    def line(self, points: Sequence[Point], fill: RGB) -> None:
        self.draw.line([self.at(x, y) for x, y in points], fill, self.edge + 1, joint="curve")

    def _texture(self, shape: Callable[[ImageDraw.ImageDraw], None]) -> None:
        if self.thing.texture == "plain":
            return
        mask = Image.new("L", self.image.size)
        shape(ImageDraw.Draw(mask))
        # Only the part of the image with the object: the rest took most of the time.
        part, pattern = self._pattern
        self.image.paste(_PATTERN[self.thing.colour], part, ImageChops.multiply(mask.crop(part), pattern))

    @cached_property
    def _pattern(self) -> tuple[tuple[int, int, int, int], Image.Image]:
        """The object's part of the image, and a mask of its stripes or dots."""
        pattern = Image.new("L", self.image.size)
        marks = ImageDraw.Draw(pattern)
        x0, y0, x1, y1 = self._box(0, 0, 1, 1)
        if self.thing.texture == "striped":
            step = round(15 * self.unit)
            for y in range(y0 + step // 3, y1, step):
                marks.rectangle((x0, y, x1, y + round(6 * self.unit)), 255)
        else:
            step, radius = round(18 * self.unit), round(4.6 * self.unit)
            for row, y in enumerate(range(y0 + step // 2, y1, step * 2 // 3)):
                for x in range(x0 + (step // 2 if row % 2 else 0), x1 + 1, step):
                    marks.ellipse((x - radius, y - radius, x + radius, y + radius), 255)
        part = pattern.getbbox() or (x0, y0, x1, y1)
        return part, pattern.crop(part)


def draw(scene: Scene, size: int, noise: int, rng: np.random.Generator) -> Image.Image:
    """Draws a scene as an RGB image of size x size pixels; `noise` is the largest change of a pixel's channel."""
    image = _background(scene.background, size * _OVERSAMPLING).copy()
    outline = (205, 205, 215) if scene.background == "night" else (24, 24, 28)
    # What stands lower is nearer, so it is drawn later.
    for thing in sorted(scene.objects, key=lambda thing: thing.bottom):
        _DRAWERS[thing.kind](_Pen(image, thing, outline))
    pixels = np.asarray(image.reduce(_OVERSAMPLING), dtype=np.int16)
    moved = pixels + rng.integers(-noise, noise, pixels.shape, dtype=np.int16, endpoint=True)
    return Image.fromarray(np.clip(moved, 0, 255).astype(np.uint8))


@cache
def _background(background: Background, side: int) -> Image.Image:
    image = Image.new("RGB", (side, side))
    canvas = ImageDraw.Draw(image)
    unit = side / GRID
    horizon = HORIZON[background]

    def box(x0: float, y0: float, x1: float, y1: float, fill: RGB) -> None:
        canvas.rectangle((round(x0 * unit), round(y0 * unit), round(x1 * unit), round(y1 * unit)), fill)

    def disc(x: float, y: float, rx: float, ry: float, fill: RGB) -> None:
        canvas.ellipse(tuple(round(v * unit) for v in (x - rx, y - ry, x + rx, y + ry)), fill)

    match background:
        case "meadow":
            box(0, 0, GRID, horizon, (156, 214, 246))
            box(0, horizon, GRID, GRID, (132, 204, 100))
            for x, y in ((22, 150), (70, 216), (128, 172), (182, 236), (228, 160), (150, 128), (40, 242)):
                canvas.line([(round(x * unit), round(y * unit)), (round((x + 3) * unit), round((y - 10) * unit))],
                            (86, 164, 66), max(1, round(4 * unit)))  # fmt: skip
        case "beach":
            box(0, 0, GRID, 54, (190, 230, 250))
            box(0, 54, GRID, horizon, (52, 140, 206))
            for y in (70, 88):
                for x in range(16 if y == 70 else 40, GRID, 62):
                    box(x, y, x + 26, y + 4, (150, 204, 236))
            box(0, horizon - 6, GRID, horizon, (240, 246, 246))
            box(0, horizon, GRID, GRID, (242, 220, 164))
        case "street":
            box(0, 0, GRID, horizon, (204, 208, 216))
            for x, top in ((0, 34), (44, 58), (84, 22), (132, 50), (170, 30), (216, 60)):
                box(x, top, x + 36, horizon, (166, 160, 170))
                for wx in (x + 6, x + 21):
                    for wy in range(top + 8, horizon - 10, 18):
                        box(wx, wy, wx + 8, wy + 8, (206, 202, 196))
            box(0, horizon, GRID, horizon + 12, (190, 186, 180))
            box(0, horizon + 12, GRID, GRID, (128, 128, 134))
            for x in range(10, GRID, 64):
                box(x, 190, x + 36, 197, (240, 238, 214))
        case "snow":
            box(0, 0, GRID, horizon, (178, 196, 214))
            disc(60, horizon + 14, 110, 46, (224, 232, 242))
            disc(206, horizon + 14, 100, 34, (214, 224, 236))
            box(0, horizon, GRID, GRID, (236, 241, 248))
            for i in range(34):  # a fixed sprinkle of flakes
                disc(i * 71 % GRID, i * i * 13 % horizon, 3, 3, (252, 252, 255))
        case "night":
            box(0, 0, GRID, horizon, (22, 24, 66))
            disc(218, 34, 20, 20, (244, 240, 200))
            disc(209, 29, 17, 17, (22, 24, 66))
            for i in range(16):
                disc(i * 53 % 190 + 6, i * i * 11 % (horizon - 14) + 6, 2.4, 2.4, (236, 236, 220))
            box(0, horizon, GRID, GRID, (54, 60, 84))
        case "desert":
            box(0, 0, GRID, horizon, (250, 226, 176))
            disc(40, 34, 20, 20, (255, 250, 214))
            disc(70, horizon + 10, 120, 40, (214, 160, 96))
            disc(214, horizon + 10, 96, 28, (204, 148, 86))
            box(0, horizon, GRID, GRID, (224, 172, 108))
            for y in (150, 190, 230):
                for x in range(y % 50, GRID, 90):
                    box(x, y, x + 34, y + 3, (202, 148, 88))
    return image


def _person(pen: _Pen, dress: bool) -> None:
    action = pen.thing.action
    # Sitting has 76% of the standing height, and the upper body keeps its size.
    k = 1 / 0.76 if action == "sitting" else 1.0
    neck, hip = 0.25 * k, (0.64 if not dress else 0.72) * k
    legs = _SKIN if dress else _TROUSERS
    if action == "sitting":
        hip = 0.62 * k
        for foot, knee in ((0.98, 0.92), (0.78, 0.70)):
            pen.limb([(0.45, hip - 0.06), (knee, hip - 0.02), (foot - 0.04, 0.96)], 0.15, legs)
    elif action == "walking":
        pen.limb([(0.5, hip - 0.04), (0.14, 0.97)], 0.15, legs)
        pen.limb([(0.5, hip - 0.04), (0.86, 0.97)], 0.15, legs)
    else:
        pen.limb([(0.40, hip - 0.04), (0.38, 0.97)], 0.15, legs)
        pen.limb([(0.60, hip - 0.04), (0.62, 0.97)], 0.15, legs)
    if dress:
        pen.polygon([(0.24, 0.02), (0.76, 0.02), (0.84, neck + 0.12), (0.16, neck + 0.12)], _HAIR)
    shoulder = neck + 0.07
    far, near = {
        "waving": ((0.08, shoulder + 0.24), (0.97, 0.04)),
        "walking": ((0.02, shoulder + 0.20), (0.98, shoulder + 0.20)),
        "sitting": ((0.14, shoulder + 0.30), (0.80, shoulder + 0.24)),
    }.get(str(action), ((0.10, shoulder + 0.30), (0.90, shoulder + 0.30)))
    sleeve = _SKIN if dress else None
    pen.limb([(0.36, shoulder), far], 0.13, sleeve)
    pen.limb([(0.64, shoulder), near], 0.13, sleeve)
    if dress:
        pen.polygon([(0.36, neck), (0.64, neck), (0.90, hip), (0.10, hip)])
    else:
        pen.rectangle(0.27, neck, 0.73, hip)
    pen.ellipse(0.28, 0.0, 0.72, 0.27 * k, _SKIN)
    if dress:
        pen.polygon([(0.28, 0.10), (0.34, 0.01), (0.66, 0.01), (0.72, 0.10)], _HAIR)
    else:
        pen.polygon([(0.27, 0.11), (0.33, 0.0), (0.67, 0.0), (0.73, 0.11)], (48, 36, 30))


def _animal(pen: _Pen, cat: bool) -> None:
    """A dog has a snout, hanging ears and a raised tail; a cat a round face, pointed ears and a long tail."""

    def head(x: float, y: float, r: float) -> None:
        ratio = pen.thing.width / pen.thing.height
        ry = r * ratio
        if cat:
            for side in (-1, 1):
                pen.polygon([(x + side * r, y - 0.1 * ry), (x + side * 0.95 * r, y - 1.7 * ry), (x, y - 0.8 * ry)])
            pen.ellipse(x - r, y - ry, x + r, y + ry)
            for eye in (x - 0.45 * r, x + 0.45 * r):
                pen.line([(eye, y - 0.3 * ry), (eye, y + 0.15 * ry)], _eye(pen))
        else:
            pen.ellipse(x + 0.2 * r, y - 0.35 * ry, x + 1.75 * r, y + 0.75 * ry)
            pen.ellipse(x - r, y - ry, x + r, y + ry)
            pen.ellipse(x - 1.25 * r, y - 0.8 * ry, x - 0.35 * r, y + 0.95 * ry, _METAL)
            pen.line([(x + 0.35 * r, y - 0.4 * ry), (x + 0.4 * r, y)], _eye(pen))
            nose = 1.55 * r
            pen.line([(x + nose, y - 0.1 * ry), (x + nose + 0.02, y + 0.2 * ry)], _METAL)

    match pen.thing.action:
        case "sitting":
            tail = [(0.25, 0.9), (0.04, 0.8), (0.06, 0.5)] if cat else [(0.3, 0.88), (0.06, 0.66)]
            pen.limb(tail, 0.08)
            pen.polygon([(0.46, 0.34), (0.70, 0.38), (0.72, 0.97), (0.18, 0.97), (0.24, 0.66)])
            pen.limb([(0.66, 0.6), (0.70, 0.96)], 0.09)
            head(0.58, 0.27, 0.2)
        case "sleeping":
            pen.limb([(0.12, 0.8), (0.3, 0.92), (0.5, 0.92)] if cat else [(0.1, 0.75), (0.01, 0.9)], 0.08)
            pen.ellipse(0.04, 0.22, 0.78, 0.98)
            pen.limb([(0.6, 0.92), (0.94, 0.93)], 0.08)
            head(0.74, 0.62, 0.17)
        case action:
            running = action == "running"
            stance = (
                ((0.26, 0.04), (0.32, 0.20), (0.62, 0.78), (0.66, 0.94))
                if running
                else ((0.2, 0.18), (0.32, 0.32), (0.58, 0.58), (0.68, 0.70))
            )
            for hip, paw in stance:
                pen.limb([(hip, 0.66), (paw, 0.93 if not running else 0.9)], 0.09)
            tail = [(0.16, 0.5), (0.05, 0.34), (0.07, 0.04)] if cat else [(0.16, 0.48), (0.03, 0.24)]
            pen.limb(tail, 0.08)
            pen.ellipse(0.1, 0.38, 0.76, 0.78)
            head(0.76, 0.36, 0.17)


def _eye(pen: _Pen) -> RGB:
    return (240, 240, 240) if pen.thing.colour == "black" else (24, 24, 28)


def _bird(pen: _Pen) -> None:
    beak = (244, 160, 30) if pen.thing.colour != "orange" else (250, 220, 60)
    if pen.thing.action == "flying":
        pen.polygon([(0.45, 0.55), (0.12, 0.0), (0.38, 0.1), (0.62, 0.5)])
        pen.polygon([(0.0, 0.42), (0.2, 0.62), (0.02, 0.82)])
        pen.ellipse(0.12, 0.42, 0.82, 0.86)
        pen.polygon([(0.40, 0.6), (0.5, 0.02), (0.72, 0.08), (0.66, 0.6)])
        pen.polygon([(0.80, 0.56), (1.0, 0.66), (0.80, 0.74)], beak)
        pen.line([(0.74, 0.55), (0.745, 0.6)], _eye(pen))
        return
    for x in (0.46, 0.58):
        pen.line([(x, 0.8), (x, 1.0)], (200, 120, 30))
    pen.polygon([(0.0, 0.42), (0.3, 0.4), (0.3, 0.7)])
    pen.ellipse(0.12, 0.26, 0.78, 0.86)
    pen.ellipse(0.54, 0.02, 0.88, 0.48)
    pen.polygon([(0.86, 0.18), (1.0, 0.27), (0.86, 0.34)], beak)
    pen.line([(0.74, 0.16), (0.75, 0.22)], _eye(pen))


def _car(pen: _Pen) -> None:
    pen.polygon([(0.2, 0.42), (0.32, 0.02), (0.68, 0.02), (0.82, 0.42)], _GLASS)
    pen.line([(0.5, 0.04), (0.5, 0.42)], pen.outline)
    pen.polygon([(0.0, 0.4), (0.94, 0.4), (1.0, 0.56), (1.0, 0.82), (0.0, 0.82)])
    for x in (0.24, 0.76):
        pen.ellipse(x - 0.12, 0.6, x + 0.12, 1.0, (40, 40, 44))
        pen.ellipse(x - 0.05, 0.72, x + 0.05, 0.88, (170, 170, 176))


def _tree(pen: _Pen) -> None:
    pen.rectangle(0.40, 0.55, 0.60, 1.0, _WOOD)
    pen.ellipse(0.0, 0.24, 0.58, 0.70)
    pen.ellipse(0.42, 0.24, 1.0, 0.70)
    pen.ellipse(0.14, 0.0, 0.86, 0.54)


def _house(pen: _Pen) -> None:
    pen.rectangle(0.08, 0.42, 0.92, 1.0)
    pen.polygon([(0.0, 0.44), (0.5, 0.0), (1.0, 0.44)], _ROOF)
    pen.rectangle(0.2, 0.62, 0.42, 1.0, _WOOD)
    pen.rectangle(0.56, 0.56, 0.80, 0.78, _GLASS)


def _kite(pen: _Pen) -> None:
    pen.line([(0.5, 0.7), (0.36, 0.8), (0.6, 0.9), (0.4, 1.0)], pen.outline)
    pen.polygon([(0.5, 0.0), (1.0, 0.3), (0.5, 0.74), (0.0, 0.3)])
    pen.line([(0.5, 0.0), (0.5, 0.74)], pen.outline)
    pen.line([(0.0, 0.3), (1.0, 0.3)], pen.outline)


def _boat(pen: _Pen) -> None:
    pen.line([(0.48, 0.0), (0.48, 0.7)], _WOOD)
    pen.polygon([(0.52, 0.04), (0.94, 0.58), (0.52, 0.58)], (246, 244, 236))
    pen.polygon([(0.44, 0.14), (0.44, 0.58), (0.14, 0.58)], (246, 244, 236))
    pen.polygon([(0.0, 0.66), (1.0, 0.66), (0.84, 1.0), (0.16, 1.0)])


def _umbrella(pen: _Pen) -> None:
    pen.line([(0.5, 0.4), (0.5, 0.92), (0.58, 0.99), (0.68, 0.92)], pen.outline)
    rim = [(1.0, 0.5), (0.84, 0.44), (0.67, 0.5), (0.5, 0.44), (0.33, 0.5), (0.16, 0.44)]
    pen.polygon([(0.0, 0.5), (0.06, 0.28), (0.22, 0.1), (0.5, 0.02), (0.78, 0.1), (0.94, 0.28), *rim])


_DRAWERS: dict[str, Callable[[_Pen], None]] = {
    "man": lambda pen: _person(pen, dress=False),
    "woman": lambda pen: _person(pen, dress=True),
    "dog": lambda pen: _animal(pen, cat=False),
    "cat": lambda pen: _animal(pen, cat=True),
    "bird": _bird,
    "ball": lambda pen: pen.ellipse(0, 0, 1, 1),
    "car": _car,
    "tree": _tree,
    "house": _house,
    "kite": _kite,
    "boat": _boat,
    "umbrella": _umbrella,
}
