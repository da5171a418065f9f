"""Scenes: a generated dataset of small images with scene graphs, five captions each, and an exact checker.

Images of the split "server" have forty captions, as some of COCO's test images do (Chen et al., "Microsoft COCO
Captions: data collection and evaluation server", 2015: c5 and c40).

It stands in for COCO where there are no photographs. It also shows what COCO cannot show: whether a caption is true.
The same configuration and seed give the same files, byte for byte.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seqcap.errors import InputError
from seqcap.files import json_file, parquet, schemas, writing
from seqcap.system.progress import progress
from seqcap.world.captions import DetailWeights
from seqcap.world.drawing import draw
from seqcap.world.english import annotate
from seqcap.world.graph import Scene, sample
from seqcap.world.lookalikes import look_alikes, members

# One row per image; `graph` is the scene as JSON. Look-alikes have the same `group`, the item of the first of them;
# it is null where an image has none.
SCENES = pa.schema([("item", pa.int64()), ("split", pa.string()), ("group", pa.int64()), ("graph", pa.string())])

S = TypeVar("S", bound=Scene)

CAPTIONS_FILE, IMAGES_FILE, SCENES_FILE = "dataset_scenes.json", "images.tar", "scenes.parquet"


class Config(BaseModel):
    """Size and difficulty of the dataset.

    Attributes:
        train, val, test: numbers of images.
        server: number of images with many captions, like those of COCO's server; 0: no such split.
        size: width and height of an image, in pixels.
        captions: captions per image.
        server_captions: captions per image of `server`.
        noise: largest change of a pixel's channel by noise, of 255.
        wrong_colours: probability that an annotator names a colour wrong.
        detail: the ratio of generic : medium : detailed captions. With 4 : 4 : 2, self-critical training makes captions
            generic, as on COCO. With 1 : 4 : 5 it does not. With 8 : 1 : 1 those of cross-entropy are generic already.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    val: Annotated[int, Field(ge=1, le=1_000_000)] = 300
    test: Annotated[int, Field(ge=1, le=1_000_000)] = 300
    server: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    size: Annotated[int, Field(ge=32, le=512)] = 64
    captions: Annotated[int, Field(ge=1, le=100)] = 5
    server_captions: Annotated[int, Field(ge=1, le=1000)] = 40
    noise: Annotated[int, Field(ge=0, le=64)] = 6
    wrong_colours: Annotated[float, Field(ge=0, le=1)] = 0.05
    detail: DetailWeights = (4, 4, 2)


def write(folder: str | Path, config: Config, seed: int) -> None:
    """Generates the dataset and writes its three files into `folder`.

    - `dataset_scenes.json`: captions in Karpathy's layout; `filename` is the name inside the tar's `images/`.
    - `images.tar`: `images/000000.png` and so on, RGB.
    - `scenes.parquet`: see `SCENES`; item is the JSON's imgid.

    Every image has random numbers of its own, from (seed, imgid): an image's scene and noise do not depend on the
    number of images, nor on the captions. Look-alikes (`lookalikes`) depend on (seed, imgid of the first of them),
    with one exception: a group that the end of a split would cut is not formed, and its images stand alone. The
    server's images come last, so that the others are the same with and without them.
    """
    folder = Path(folder)
    splits = [name for name in (*schemas.SPLITS, schemas.SERVER) for _ in range(getattr(config, name))]
    images: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    caption_id = 0
    with (
        writing.atomic(folder / IMAGES_FILE) as temporary,
        tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        shown = progress(splits, desc="scenes", unit="image")
        for image_id, (split, (group, scene)) in enumerate(zip(shown, _scenes(splits, seed), strict=True)):
            _, noise_rng, caption_rng, _ = _random(seed, image_id)
            name = f"{image_id:06d}.png"
            content = io.BytesIO()
            draw(scene, config.size, config.noise, noise_rng).save(content, "PNG")
            add_member(tar, f"images/{name}", content.getvalue())
            number = config.server_captions if split == schemas.SERVER else config.captions
            sentences: list[dict[str, Any]] = []
            for sentence_id in range(caption_id, caption_id + number):
                tokens = annotate(scene, config.detail, config.wrong_colours, caption_rng)
                sentences.append({"raw": " ".join(tokens), "tokens": tokens, "imgid": image_id, "sentid": sentence_id})
            caption_id += number
            images.append(
                {
                    "filename": name,
                    "split": split,
                    "imgid": image_id,
                    "sentids": [sentence["sentid"] for sentence in sentences],
                    "sentences": sentences,
                }
            )
            graph = json.dumps(scene.to_json(), sort_keys=True, separators=(",", ":"))
            rows.append({"item": image_id, "split": split, "group": group, "graph": graph})
    json_file.write_json(folder / CAPTIONS_FILE, {"dataset": "scenes", "images": images})
    parquet.write_rows(folder / SCENES_FILE, rows, SCENES)


def add_member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Adds a file. TarInfo's defaults are time 0 and user 0: nothing of the machine gets in."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _random(seed: int, image_id: int) -> list[np.random.Generator]:
    """An image's random numbers: for its scene, its noise, its captions and its look-alikes."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence([seed, image_id]).spawn(4)]


def _scenes(splits: Sequence[str], seed: int) -> Iterator[tuple[int | None, Scene]]:
    """Every image's group and scene, in the order of their numbers."""
    image_id = 0
    while image_id < len(splits):
        size = members(seed, image_id)
        group = splits[image_id : image_id + size]
        if len(group) < size or len(set(group)) > 1:
            size = 1
        rng, _, _, others_rng = _random(seed, image_id)
        for scene in look_alikes(sample(rng), size, others_rng):
            yield (None if size == 1 else image_id), scene
        image_id += size


def read_scenes(path: str | Path) -> dict[int, Scene]:
    """The scene graphs that `write` wrote, as `read_worlds` reads them."""
    return read_worlds(path, Scene.from_json)


def read_worlds(path: str | Path, from_json: Callable[[str], S]) -> dict[int, S]:
    """Reads the graphs of a generated dataset: of scenes, or with `motion.Clip.from_json` those of `clips.write_clips`.

    Returns:
        item -> scene, in the order of the file.

    Raises:
        InputError: the file is missing or damaged, or a graph is not a scene.
    """
    table = parquet.read_table(path, SCENES)
    scenes: dict[int, S] = {}
    for image_id, graph in zip(table["item"].to_pylist(), table["graph"].to_pylist(), strict=True):
        try:
            scenes[image_id] = from_json(graph)
        except ValidationError as error:
            problem = f"item {image_id}: {error.errors()[0]['msg']}"
            raise InputError(path, problem, "run `dvc repro` to make it again") from None
    return scenes
