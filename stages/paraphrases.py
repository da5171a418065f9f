"""METEOR's paraphrases of a task's words: `paraphrases.py <task>` -> artifacts/words/<task>/paraphrases.parquet."""

from seqcap.config import StageConfig
from seqcap.data.tokens import load_vocabulary
from seqcap.data.vocabulary import SPECIALS
from seqcap.files.parquet import write_table
from seqcap.files.schemas import PARAPHRASES, VOCABULARY
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.rewards.meteor_resources import filter_paraphrases
from seqcap.tasks import ARTIFACTS


class ParaphrasesConfig(StageConfig):
    """METEOR's paraphrases of a task's words."""

    task: str


def stages(project: Project) -> Stages:
    for name in project.shared.features:
        (data,) = project.written("data", name)
        yield Stage(
            name,
            f"METEOR's paraphrase table, filtered to the vocabulary of task {name}",
            ParaphrasesConfig(task=name),
            reads=[f"{data}/{VOCABULARY}"],
            writes=[f"artifacts/words/{name}/paraphrases.parquet"],
        )


def run(config: ParaphrasesConfig, task: str) -> None:
    words = load_vocabulary(ARTIFACTS / task / "data" / VOCABULARY).words[len(SPECIALS) :]
    write_table(ARTIFACTS / f"words/{task}/paraphrases.parquet", filter_paraphrases(words), PARAPHRASES)


KIND = Kind("paraphrases", ParaphrasesConfig, stages, run)

if __name__ == "__main__":
    main(KIND)
