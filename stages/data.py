"""A task's items, their captions or translations, and the vocabularies: `data.py <task>` -> artifacts/<task>/data/."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from seqcap.data import captions, pairs
from seqcap.data.captions import ClipData, ImageData
from seqcap.data.datasets import GENERATED
from seqcap.data.pairs import Corpus, SentenceData
from seqcap.features.captioner_folder import read_vocabulary
from seqcap.files.schemas import SPLITS
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.pipeline.parameter_files import PARAMS
from seqcap.pipeline.validation import find, fingerprint, validated
from seqcap.tasks import ARTIFACTS
from seqcap.world import scenes
from seqcap.world.parallel import LANGUAGES

if TYPE_CHECKING:
    from seqcap.pipeline.forms import SentenceTask, Task

Data = Annotated[ImageData | ClipData | SentenceData, Field(discriminator="kind")]


def stages(project: Project) -> Stages:
    for name, task in project.shared.tasks.items():
        is_read = task.kind != "sentences"
        yield Stage(
            name,
            f"Generate or read what is captioned in task {name}, and build its vocabulary",
            _config(project, name, task),
            reads=[],
            writes=[f"artifacts/{name}/data"],
            modules=[f"seqcap.data.datasets.{task.dataset}"] if is_read else [],
        )


def _config(project: Project, name: str, task: Task) -> ImageData | ClipData | SentenceData:
    generated = task.dataset in GENERATED
    files = [] if generated else list(Path(str(task.root)).glob("*"))
    if task.kind == "images" and task.pretrained is not None:
        files += Path(task.pretrained).glob("*.json")
    common: dict[str, Any] = {
        "root": project.data_root(name),
        "seed": project.shared.seed,
        "fingerprint": fingerprint(files),
    }
    if task.kind == "sentences":
        parallel = project.shared.parallel.model_dump() if generated else None
        return SentenceData(corpus=_corpus(name, task, generated), parallel=parallel, **common)
    common |= task.model_dump(include={"dataset", "min_count", "max_length"})
    if task.kind == "clips":
        return ClipData(clips=project.shared.clips.model_dump() if generated else None, **common)
    values = project.shared.scenes.model_dump() | task.world
    common["seed"] += values.pop("seed_offset", 0)
    world = validated(scenes.Config, values, PARAMS, f"tasks.{name}.world").model_dump() if generated else None
    return ImageData(scenes=world, pretrained=task.pretrained, **common)


def _corpus(name: str, task: SentenceTask, generated: bool) -> Corpus:
    corpus = task.model_dump(include=set(Corpus.model_fields))
    if generated:
        # Generated text has spaces between all words already.
        corpus |= {"splits": {split: split for split in SPLITS}, "tokenise": False}
        for side in ("source", "target"):
            find(dict.fromkeys(LANGUAGES), corpus[side], PARAMS, f"tasks.{name}.{side}")
    return Corpus(**corpus)


def run(config: ImageData | ClipData | SentenceData, task: str) -> None:
    folder = ARTIFACTS / task / "data"
    if isinstance(config, SentenceData):
        pairs.prepare(config, folder)
    elif isinstance(config, ImageData) and config.pretrained is not None:
        captions.prepare(config, folder, read_vocabulary(Path(config.pretrained)))
    else:
        captions.prepare(config, folder)


KIND = Kind("data", Data, stages, run)

if __name__ == "__main__":
    main(KIND)
