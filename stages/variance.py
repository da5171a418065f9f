"""The variance of policy gradients: `variance.py <name>` -> artifacts/<paper>/results/<name>.parquet."""

from typing import Any

from pydantic import Field

from seqcap import rewards
from seqcap.errors import InputError
from seqcap.evaluation.variance import Sizes, VarianceConfig, measure
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import VARIANCE
from seqcap.objectives.rollout_policy_gradient import Config
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, entries, main
from seqcap.pipeline.validation import Name, Positive, Section, validated
from seqcap.tasks import ARTIFACTS, KINDS


class VarianceParams(Section, Sizes):
    """What a paper's file says of a measurement of variance."""

    captioner: Name  # a pretrained one
    reward: Name
    settings: dict[str, Any]  # of `rollout_policy_gradient`, but for `rollouts`
    rollouts: list[Positive] = Field(min_length=1)


VARIANCES = entries("variances", VarianceParams, of_papers=True)


def stages(project: Project) -> Stages:
    params = project.params
    for name, wanted in params[VARIANCES].items():
        paper, source, place = params.paper(name), params.source(name), f"variances.{name}"
        start = project.pretrained(wanted.captioner, source, f"{place}.captioner")
        weights = project.reward(wanted.reward, start.task, source, place)
        if list(rewards.reads(weights)):
            raise InputError(source, f"{place}.reward is {wanted.reward!r}", "name one without meteor")
        settings = [wanted.settings | {"rollouts": rollouts} for rollouts in wanted.rollouts]
        config = VarianceConfig(
            **wanted.model_dump(include=set(Sizes.model_fields)),
            paper=paper,
            task=start.task,
            kind=start.kind,
            max_length=start.max_length,
            reward=weights,
            settings=tuple(validated(Config, values, source, f"{place}.settings") for values in settings),
            seed=project.shared.seed,
            start=start.weights,
        )
        yield Stage(
            name,
            "How noisy the policy gradient is with more rollouts, with and without a baseline",
            config,
            reads=[*project.task(config.task), config.start],
            writes=[f"artifacts/{paper}/results/{name}.parquet"],
            paper=paper,
            modules=[
                f"seqcap.models.{start.architecture}",
                *KINDS[start.kind].modules,
                *rewards.modules(weights),
            ],
        )


def run(config: VarianceConfig, name: str) -> None:
    write_rows(ARTIFACTS / config.paper / f"results/{name}.parquet", measure(config), VARIANCE)


KIND = Kind("variance", VarianceConfig, stages, run, keys=[VARIANCES], on_gpu=True)

if __name__ == "__main__":
    main(KIND)
