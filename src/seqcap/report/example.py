"""One generated scene with the captions of several runs, and what of them is false of it: the first page begins with
it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from PIL import Image

from seqcap.data.images import ImageSource
from seqcap.files import parquet, schemas, writing
from seqcap.files.json_file import write_json
from seqcap.report.inputs import Results, read_images
from seqcap.tasks import ARTIFACTS
from seqcap.world.checker import Statement, check
from seqcap.world.graph import COLOURS, Scene
from seqcap.world.scenes import read_scenes
from seqcap.world.words import PEOPLE

FILE, PICTURE = "example.json", "example.png"  # in the folder of a paper's results
_LONG_REFERENCE = 10  # words: such a scene shows several things
_TRIED = 200  # images
_SIDE = 256  # pixels


def choose(results: Results, names: Sequence[str]) -> dict[str, Any] | None:
    """The first scene, in an order that is drawn with a fixed seed, that has a long reference, of which all runs say
    something else, and one of them something false: its item, file and task and, of the longest reference and of each
    run, label, caption and false statements. Captions are the best of the beam, of the first seed. None where nothing
    tells what is true, or no run is there."""
    runs = [results.by_name[name] for name in names if name in results.by_name]
    task = results.config.pictures
    if not runs or not results.knows_facts_of(task):
        return None
    captions = {run.name: _captions(results, run.name) for run in runs}
    images = read_images(task, results.split(task)).sample(frac=1, random_state=0)
    long = images[images["longest_reference"] >= _LONG_REFERENCE]
    order = [*long["item"].head(_TRIED), *images["item"].head(1)]
    scenes = scenes_of(task)
    said_of = {item: [by_item[item] for by_item in captions.values()] for item in order}
    telling = (item for item in order if _differ(said_of[item]) and _errs(said_of[item], scenes[item]))
    item = next(telling, order[-1])
    scene = scenes[item]
    said = {"reference grammar": _reference(task, item)}
    said |= {run.label: captions[run.name][item].split() for run in runs}
    return {
        "item": int(item),
        "file": str(images.set_index("item")["file"][item]),
        "task": task,
        "captions": [_judged(label, words, scene) for label, words in said.items()],
    }


def write(shown: Mapping[str, Any], folder: Path) -> None:
    """Writes what was chosen, and the scene's image, large enough to be looked at, into a folder of results."""
    write_json(folder / FILE, dict(shown))
    image = ImageSource(ARTIFACTS / shown["task"] / "data").read(shown["file"])
    larger = image.resize((_SIDE, round(_SIDE * image.height / image.width)), Image.Resampling.NEAREST)
    with writing.atomic(folder / PICTURE) as path:
        larger.save(path, "PNG")


def scenes_of(task: str) -> dict[int, Scene]:
    return read_scenes(ARTIFACTS / task / "data/scenes.parquet")


def _differ(captions: Sequence[str]) -> bool:
    return len(set(captions)) == len(captions)


def _errs(captions: Sequence[str], scene: Scene) -> bool:
    """Whether one of them says something false. Otherwise a reader would take all runs for truthful."""
    return any(false_of(caption.split(), scene) for caption in captions)


def _captions(results: Results, name: str) -> dict[int, str]:
    """Item -> the best caption of the beam, of the first seed."""
    decoded = results.decoded(name)
    seed = results.by_name[name].seeds[0]
    best = decoded[(decoded["decoder"] == "beam") & (decoded["seed"] == seed) & (decoded["rank"] == 0)]
    return dict(zip(best["item"].tolist(), best["text"].tolist(), strict=True))


def _reference(task: str, item: int) -> list[str]:
    """The words of an image's longest reference."""
    table = parquet.read_table(ARTIFACTS / task / "data/references.parquet", schemas.REFERENCES)
    references: list[list[str]] = table.filter(pc.equal(table["item"], item))["tokens"].to_pylist()
    return max(references, key=len)


def false_of(words: Sequence[str], scene: Scene) -> list[str]:
    """What a caption says that is false of its scene."""
    return [_in_words(statement) for statement in check(words, scene).statements if not statement.true]


def _in_words(statement: Statement) -> str:
    """What a statement says. A person's colour is that of the clothes."""
    value, _, noun = statement.text.partition(" ")
    is_of_clothes = statement.kind == "attribute" and noun in PEOPLE and value in COLOURS
    return f"{noun} in {value}" if is_of_clothes else statement.text


def _judged(label: str, words: Sequence[str], scene: Scene) -> dict[str, Any]:
    return {"label": label, "text": " ".join(words), "false": false_of(words, scene)}
