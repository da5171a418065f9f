"""Scores how well people's captions tell their image from all others of the split, as `retrieval` scores those of runs.
They are run `human`, decoder `sample`; their `xe_log_prob` is the mean over the runs' seeds. Run `human:<folder>` has
their scores by the initial listeners in a folder. Here `*_text_R@K` tell whether one of an image's captions is among
the first K of all.
`own_told_<kind>`, `fixed_told_<kind>` and `twin_told_<kind>`: whether a caption scores higher than what it becomes with
one fact of a kind exchanged (`seqcap.retrieval.exchanges`). `*_told_<kind>_elsewhere`: the same two captions with the
next image of the split: what their words tell without the image."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from seqcap.evaluation.inputs import DecodedRun
from seqcap.evaluation.retrieval import Finder, JudgedConfig, Judges, mean, said_by_people, vocabulary_of
from seqcap.retrieval import exchanges
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.tasks import ARTIFACTS


class PeopleConfig(JudgedConfig):
    """What the stage `people` measures: how well people's captions tell images apart, for retrievers."""

    decoded: Mapping[str, str] = {}
    seeds: tuple[int, ...]  # of the runs whose captions are scored beside theirs


def evaluate(config: PeopleConfig) -> pa.Table:
    """Scores people's captions: rows of `schemas.SCORES`. InputError for a malformed artifact, or missing weights of a
    listener, judge or captioner."""
    machine.one_thread_device()
    people = said_by_people(config, vocabulary_of(config))
    judges = Judges(config, config.seeds, people.sets)
    tables: list[pa.Table] = []
    initial = Path(config.listener)
    for seed in progress(config.seeds, desc=f"people {config.name}", unit="listener"):
        heard = DecodedRun(f"human:{initial.name}", seed, {})
        listener = Finder(initial / f"seed{seed}.safetensors", config.task, config.split)
        tables += people.scores(heard, listener.find(people, "own"))
        tables += people.scores_of_sets(heard, listener.find_captions(people, "own"))
        tables += told_apart(heard, "own", [listener], config)
    human = DecodedRun("human", 0, {})
    tables += people.scores(human, judges.everything(people, config.seeds))
    for name, finders in judges.finders.items():
        tables += people.scores(human, mean([judge.find(people, name) for judge in finders]))
        tables += people.scores_of_sets(human, mean([judge.find_captions(people, name) for judge in finders]))
        tables += told_apart(human, name, finders, config)
    return pa.concat_tables(tables)


def told_apart(run: DecodedRun, name: str, finders: Sequence[Finder], config: PeopleConfig) -> list[pa.Table]:
    """Rows of `schemas.SCORES`: whether people's captions score higher than what they are with one fact exchanged, with
    their own image and with the next one."""
    task = finders[0].retriever.load_task(ARTIFACTS / config.task)
    split = task.split(config.split, config.max_length)
    exchanged = exchanges.read(task, config.split, config.max_length, 0)
    tables = []
    for away, where in enumerate(("", "_elsewhere")):
        compared = [exchanges.compare(finder.retriever, split, exchanged, finder.device, away) for finder in finders]
        for kind, (rows, numbers, _) in compared[0].items():
            below = np.mean([by_kind[kind][2] for by_kind in compared], axis=0)
            items = split.inputs.ids[rows].tolist()
            tables.append(run.scores("sample", f"{name}_told_{kind}{where}", items, below, numbers.tolist()))
    return tables
