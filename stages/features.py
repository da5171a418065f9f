"""Features of every image or clip of a task:
`features.py <task>` -> artifacts/<task>/features/{pooled.parquet,grid.parquet,origin.json}.

The features of another kind of processor have other bytes. Captioners and retrievers that git keeps need not be trained
again for that, so they depend on origin.json alone: it has the same bytes everywhere, and other ones after a change of
the encoder, of the parameters or of the code."""

import hashlib

import torch

from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource
from seqcap.errors import InputError
from seqcap.features.encoders import Encoder
from seqcap.features.extraction import Extraction, ExtractionPlan, FeaturesConfig, extract
from seqcap.files.json_file import write_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, ORIGIN
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.pipeline.parameter_files import PARAMS, PRETRAINED
from seqcap.system import machine
from seqcap.system.scratch import checkpoints
from seqcap.tasks import ARTIFACTS, KINDS, STARTS


def stages(project: Project) -> Stages:
    _check(project)
    for name, features in project.shared.features.items():
        settings = features.model_dump(include=set(Extraction.model_fields))
        yield Stage(
            name,
            f"Pooled and grid features of every image of task {name}",
            FeaturesConfig(task=name, root=project.data_root(name), **settings),
            reads=[*project.written("data", name), *project.written("encoder", name)],
            writes=[f"artifacts/{name}/features"],
        )


def _check(project: Project) -> None:
    """Checks that every task with images or clips whose features a captioner reads has a section in `features`, and no
    task without images."""
    shared = project.shared
    allowed = {name for name, task in shared.tasks.items() if KINDS[task.kind].features}
    entries = [entry for section in project.params.entries.values() for entry in section.values()]
    used = set(shared.pretrain) | {entry.captioner for entry in entries if hasattr(entry, "captioner")}
    captioners = [captioner for name, captioner in shared.captioners.items() if name in used]
    needed = allowed & {captioner.task for captioner in captioners if captioner.architecture != PRETRAINED}
    if not needed <= set(shared.features) <= allowed:
        given = ", ".join(shared.features) or "nothing"
        raise InputError(PARAMS, f"features has {given}", f"name each of {', '.join(sorted(needed or allowed))}")


def run(config: FeaturesConfig, task: str) -> None:
    machine.relaunch()
    rank, world = machine.join_group()
    torch.set_num_threads(machine.threads(world))
    # cuDNN's fastest algorithms are not deterministic.
    torch.backends.cudnn.deterministic = True
    images = read_table(ARTIFACTS / task / "data/images.parquet", IMAGES)
    settings = config.model_dump(include=set(Extraction.model_fields))
    plan = ExtractionPlan(image_ids=images["item"].to_pylist(), files=images["file"].to_pylist(), **settings)
    path = STARTS / f"encoder/{task}.safetensors"
    encoder = Encoder.load(path)
    output, kept = ARTIFACTS / task / "features", checkpoints(f"features-{task}")
    source = ImageSource(config.root) if config.frames is None else ClipSource(config.root, config.frames)
    extract(encoder, source, plan, output, kept, machine.device(), rank, world)
    if rank == 0:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        write_json(output / ORIGIN, {"configuration": config.model_dump(mode="json"), "encoder_sha256": digest})


KIND = Kind("features", FeaturesConfig, stages, run, on_gpu=True)

if __name__ == "__main__":
    main(KIND)
