"""A task's visual encoder, downloaded, read, or trained on scenes or clips:
`encoder.py <task>` -> starts/encoder/<task>.safetensors."""

from pathlib import Path

from seqcap.data.datasets import GENERATED
from seqcap.errors import InputError
from seqcap.features.encoders import with_weights
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.pipeline.parameter_files import PARAMS
from seqcap.pipeline.validation import fingerprint
from seqcap.tasks import STARTS
from seqcap.training.encoders import EncoderConfig, EncoderSettings, train_on_scenes

TRAINED = "scenes"  # the `weights` of encoders that are trained here


def stages(project: Project) -> Stages:
    for name, features in project.shared.features.items():
        task, place = project.shared.tasks[name], f"features.{name}"
        if features.weights == TRAINED and task.dataset not in GENERATED:
            what = f"{place}.weights is 'scenes', but the images are {task.dataset}'s"
            raise InputError(PARAMS, what, "use imagenet, or a checkpoint")
        is_clips = task.kind == "clips"
        if (features.frames is not None) != is_clips or (features.backbone == "clips_cnn" and not is_clips):
            what = f"{place}.frames is {features.frames}, and the backbone {features.backbone}"
            raise InputError(PARAMS, what, "clips have frames, and images have neither these nor clips_cnn")
        settings = features.model_dump(include=set(EncoderSettings.model_fields))
        files = fingerprint([Path(features.weights)])
        yield Stage(
            name,
            f"Train, read or fetch the weights of the visual encoder of task {name}",
            EncoderConfig(**settings, task=name, fingerprint=files, seed=project.shared.seed),
            reads=[],
            writes=[f"starts/encoder/{name}.safetensors"],
            cached=False,
        )


def run(config: EncoderConfig, task: str) -> None:
    metadata = {"weights": config.weights, "image_size": config.image_size}
    if config.frames is not None:
        metadata["frames"] = config.frames
    is_trained = config.weights == TRAINED
    encoder = with_weights(config.backbone, "random" if is_trained else config.weights, config.seed)
    if is_trained:
        metadata["val_mean_average_precision"] = train_on_scenes(encoder, config)
    encoder.save(STARTS / f"encoder/{task}.safetensors", metadata)


KIND = Kind("encoder", EncoderConfig, stages, run, on_gpu=True)

if __name__ == "__main__":
    main(KIND)
