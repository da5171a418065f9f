"""Decodes a split with the runs of a group: `decode.py <group>` -> artifacts/<paper>/decode/<evaluation>/<group>/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from seqcap.errors import InputError
from seqcap.evaluation.decode import decode_split
from seqcap.evaluation.search import DecodeConfig, DecodingRun, Search
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DECODED
from seqcap.pipeline.kind import Key, Kind, Project, Stage, Stages, main
from seqcap.pipeline.validation import Section
from seqcap.tasks import KINDS

if TYPE_CHECKING:
    from seqcap.training.run import TrainingRun


class Decoding(Section):
    """What params.yaml says of decoding."""

    batch_size: int = Field(ge=1)


DECODING: Key[Decoding] = Key("decoding", Decoding)


def stages(project: Project) -> Stages:
    for group, runs in project.trained().items():
        paper, evaluation = project.params.paper(group), project.params.groups[group]
        folder = f"artifacts/{paper}/decode/{evaluation}/{group}"
        readers = [KINDS[run.kind].reader for run in runs.values()]
        yield Stage(
            group,
            f"Decode a split with the runs of group {group}, or with their ensembles",
            DecodeConfig(runs=tuple(_decoded(project, runs, evaluation, folder))),
            reads=[*project.task(next(iter(runs.values())).task), *project.written("train", group)],
            writes=[folder],
            paper=paper,
            modules=[*readers, *(f"seqcap.models.{run.architecture}" for run in runs.values())],
        )


def _decoded(project: Project, runs: Mapping[str, TrainingRun], evaluation: str, folder: str) -> Iterator[DecodingRun]:
    """The group's ensembles, or each of its runs with every seed."""
    search = project.params.evaluations[evaluation].model_dump(include=set(Search.model_fields))
    ensembles = {name: runs[one.run] for name, one in project.params.ensembles.items() if one.run in runs}
    for name, run in (ensembles or runs).items():
        yield DecodingRun(
            **run.model_dump(include={"task", "kind", "max_length", "weights"}),
            **search,
            name=name,
            split=project.split(evaluation),
            teams=_teams(project, name, run) if ensembles else tuple((seed,) for seed in run.seeds),
            batch_size=project.params[DECODING].batch_size,
            decoded=f"{folder}/{name}.parquet",
        )


def _teams(project: Project, name: str, run: TrainingRun) -> tuple[tuple[int, ...], ...]:
    """The seeds that decode together in each ensemble."""
    ensemble = project.params.ensembles[name]
    members, number = ensemble.members, ensemble.number
    if members * number > len(run.seeds):
        what = f"ensembles.{name} takes {number} x {members} seeds"
        raise InputError(project.params.source(name), what, f"run {run.name} has {len(run.seeds)}")
    return tuple(run.seeds[start : start + members] for start in range(0, members * number, members))


def run(config: DecodeConfig, group: str) -> None:
    for run in config.runs:
        write_rows(run.decoded, decode_split(run), DECODED)


KIND = Kind("decode", DecodeConfig, stages, run, keys=[DECODING], on_gpu=True)

if __name__ == "__main__":
    main(KIND)
