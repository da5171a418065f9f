"""Scores the captions of an evaluation: `evaluate.py <evaluation>` -> artifacts/<paper>/results/."""

from seqcap.evaluation import captions, translations
from seqcap.evaluation.inputs import EvaluationConfig
from seqcap.files.parquet import write_table
from seqcap.files.schemas import SCORES
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.rewards import TRAINING_ONLY
from seqcap.tasks import ARTIFACTS


def stages(project: Project) -> Stages:
    params = project.params
    for name, evaluation in params.evaluations.items():
        paper, task = params.paper(name), project.shared.tasks[evaluation.task]
        decoded = {run.name: run.decoded for run in project.decoded(name)}
        paid = dict.fromkeys(params.runs[run].reward for run in decoded if run in params.runs)
        rewards = {reward: project.shared.rewards[reward] for reward in paid if reward is not None}
        config = EvaluationConfig(
            name=name,
            paper=paper,
            task=evaluation.task,
            kind=task.kind,
            dataset=task.dataset,
            split=project.split(name),
            references=evaluation.references,
            # Decoded captions can be scored by the others.
            rewards={key: value for key, value in rewards.items() if not any(map(value.get, TRAINING_ONLY))},
            decoded=decoded,
        )
        yield Stage(
            name,
            f"Every score of the captions of {name}",
            config,
            reads=[*project.written("data", evaluation.task), f"artifacts/{paper}/decode/{name}"],
            writes=[f"artifacts/{paper}/results/{name}.parquet"],
            paper=paper,
        )


def run(config: EvaluationConfig, name: str) -> None:
    scorer = translations if config.kind == "sentences" else captions
    write_table(ARTIFACTS / config.paper / "results" / f"{name}.parquet", scorer.evaluate(config), SCORES)


KIND = Kind("evaluate", EvaluationConfig, stages, run)

if __name__ == "__main__":
    main(KIND)
