"""Word embeddings of a task's vocabulary (of the target language), trained on its captions or read from a GloVe file:
`embeddings.py <task>` -> artifacts/words/<task>/embeddings.parquet."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from seqcap.config import Fingerprint, StageConfig, TaskKind
from seqcap.data.glove import Glove, coverage, read_text, train
from seqcap.data.tokens import load_vocabulary
from seqcap.files.parquet import read_table, write_table
from seqcap.files.schemas import VOCABULARY
from seqcap.pipeline.kind import Key, Kind, Project, Stage, Stages, main
from seqcap.pipeline.validation import Name, Section, fingerprint
from seqcap.tasks import ARTIFACTS, KINDS


class Embeddings(Section):
    """What params.yaml says of word embeddings."""

    files: dict[Name, str | None]  # task -> a file of vectors; those of the other tasks are trained
    glove: Glove


class EmbeddingsConfig(StageConfig):
    """The embeddings of a task's words: trained, or read from a file."""

    task: str
    kind: TaskKind
    glove: Glove
    source: str | None  # a file of vectors; None: `glove` is trained
    fingerprint: Fingerprint


EMBEDDINGS: Key[Embeddings] = Key("embeddings", Embeddings)


def stages(project: Project) -> Stages:
    wanted = project.params[EMBEDDINGS]
    for name, task in project.shared.tasks.items():
        file = wanted.files.get(name)
        config = EmbeddingsConfig(
            task=name,
            kind=task.kind,
            glove=wanted.glove.model_copy(update={"seed": project.shared.seed}),
            source=file,
            fingerprint={} if file is None else fingerprint([Path(file)]),
        )
        yield Stage(
            name,
            f"Word embeddings of the captions or translations of task {name}",
            config,
            reads=project.written("data", name),
            writes=[f"artifacts/words/{name}/embeddings.parquet"],
        )


def run(config: EmbeddingsConfig, task: str) -> None:
    data, kind = ARTIFACTS / task / "data", KINDS[config.kind]
    vocabulary = load_vocabulary(data / VOCABULARY)
    schema = pa.schema([("split", pa.string()), (kind.captions_column, pa.list_(pa.string()))])
    rows = read_table(data / f"{kind.captions_file}.parquet", schema)
    captions = rows.filter(pc.equal(rows["split"], "train"))[kind.captions_column]
    if config.source is None:
        table = train(captions, vocabulary, config.glove)
    else:
        table = read_text(config.source, vocabulary, config.glove.dimension)
    print(coverage(table, captions, vocabulary))
    write_table(ARTIFACTS / f"words/{task}/embeddings.parquet", table, table.schema)


KIND = Kind("embeddings", EmbeddingsConfig, stages, run, keys=[EMBEDDINGS])

if __name__ == "__main__":
    main(KIND)
