"""Scenes: a generated dataset of small images with scene graphs and five captions each.

It replaces COCO where there are no photographs, and shows what COCO cannot: whether a caption is true (`checker`).
Images of the split "server" have forty captions, as c40 of Chen et al., "Microsoft COCO Captions: data collection and
evaluation server", 2015. The same configuration and seed give the same bytes.
"""

import io
import json
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from seqcap.files import json_file, parquet, schemas, writing
from seqcap.system.progress import progress
from seqcap.world.captions import DetailWeights
from seqcap.world.drawing import draw
from seqcap.world.english import annotate
from seqcap.world.graph import Scene, sample
from seqcap.world.lookalikes import look_alikes, members

# One row per image; `graph` is the scene as JSON. Look-alikes share a `group`, the item of the first of them; it is
# null for other images.
SCENES = pa.schema([("item", pa.int64()), ("split", pa.string()), ("group", pa.int64()), ("graph", pa.string())])
S = TypeVar("S", bound=Scene)
CAPTIONS_FILE, IMAGES_FILE, SCENES_FILE = "dataset_scenes.json", "images.tar", "scenes.parquet"


class Config(BaseModel):
    """Size and difficulty of the dataset. With `detail` 4 : 4 : 2, self-critical training makes captions generic, as on
    COCO; with 1 : 4 : 5 it does not; with 8 : 1 : 1 those of cross-entropy are generic already."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    train: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    val: Annotated[int, Field(ge=1, le=1_000_000)] = 300
    test: Annotated[int, Field(ge=1, le=1_000_000)] = 300
    server: Annotated[int, Field(ge=0, le=1_000_000)] = 0  # images with many captions, as on COCO's server
    size: Annotated[int, Field(ge=32, le=512)] = 64  # side in pixels
    captions: Annotated[int, Field(ge=1, le=100)] = 5  # per image
    server_captions: Annotated[int, Field(ge=1, le=1000)] = 40  # per image of `server`
    noise: Annotated[int, Field(ge=0, le=64)] = 6  # largest change of a pixel's channel, of 255
    wrong_colours: Annotated[float, Field(ge=0, le=1)] = 0.05  # probability that an annotator names a colour wrong
    detail: DetailWeights = (4, 4, 2)


def write(folder: str | Path, config: Config, seed: int) -> None:
    """Generates the dataset and writes its three files into `folder`.

    - `dataset_scenes.json`: captions in Karpathy's layout; `filename` is the name inside the tar's `images/`.
    - `images.tar`: `images/000000.png` and so on, RGB.
    - `scenes.parquet`: see `SCENES`; item is the JSON's imgid.

    Each image has its own random numbers, from (seed, imgid): its scene and noise depend neither on the number of
    images nor on captions. Look-alikes (`lookalikes`) depend on (seed, imgid of the first of them), but a group that
    the end of a split would cut is not formed. The server's images come last, so that they do not change the others.
    """
    folder = Path(folder)
    splits = [name for name in (*schemas.SPLITS, schemas.SERVER) for _ in range(getattr(config, name))]
    images: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    caption_id = 0
    with write_tar(folder / IMAGES_FILE) as add:
        shown = progress(splits, desc="scenes", unit="image")
        for image_id, (split, (group, scene)) in enumerate(zip(shown, _scenes(splits, seed), strict=True)):
            _, noise_rng, caption_rng, _ = _random(seed, image_id)
            name = f"{image_id:06d}.png"
            content = io.BytesIO()
            draw(scene, config.size, config.noise, noise_rng).save(content, "PNG")
            add(f"images/{name}", content.getvalue())
            number = config.server_captions if split == schemas.SERVER else config.captions
            ids = list(range(caption_id, caption_id + number))
            caption_id += number
            sentences: list[dict[str, Any]] = []
            for sentence_id in ids:
                tokens = annotate(scene, config.detail, config.wrong_colours, caption_rng)
                sentences.append({"raw": " ".join(tokens), "tokens": tokens, "imgid": image_id, "sentid": sentence_id})
            image = {"filename": name, "split": split, "imgid": image_id, "sentids": ids, "sentences": sentences}
            images.append(image)
            rows.append(scene_row(image_id, split, group, scene))
    json_file.write_json(folder / CAPTIONS_FILE, {"dataset": "scenes", "images": images})
    parquet.write_rows(folder / SCENES_FILE, rows, SCENES)


@contextmanager
def write_tar(path: Path) -> Iterator[Callable[[str, bytes], None]]:
    """A function that adds a file, by its name and content, to a new tar, with time 0 and user 0: nothing depends on
    the machine."""
    with writing.atomic(path) as temporary, tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as tar:

        def add(name: str, content: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))

        yield add


def scene_row(item: int, split: str, group: int | None, scene: Scene) -> dict[str, Any]:
    """A row of `SCENES`."""
    graph = json.dumps(scene.to_json(), sort_keys=True, separators=(",", ":"))
    return {"item": item, "split": split, "group": group, "graph": graph}


def _random(seed: int, image_id: int) -> list[np.random.Generator]:
    return [np.random.default_rng(child) for child in np.random.SeedSequence([seed, image_id]).spawn(4)]


def _scenes(splits: Sequence[str], seed: int) -> Iterator[tuple[int | None, Scene]]:
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
    """The scenes that `write` wrote, as `read_worlds` reads them."""
    return read_worlds(path, Scene.from_json)


def read_worlds(path: str | Path, from_json: Callable[[str], S]) -> dict[int, S]:
    """Item -> scene or clip, in the file's order. `from_json`: of `Scene` or `motion.Clip`."""
    return {row["item"]: from_json(row["graph"]) for row in parquet.read_table(path, SCENES).to_pylist()}
