"""The captions that are scored, and their references."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seqcap.config import StageConfig, TaskKind
from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import DECODED, REFERENCES, SCORES
from seqcap.tasks import ARTIFACTS

Caption = list[str]
Sets = dict[int, list[Caption]]  # item -> its captions, best first
Ranks = Sequence[int] | int | None  # rank of each caption, or of all of them; None: values of sets


class EvaluationConfig(StageConfig):
    """What the stage `evaluate` scores: the decoded captions of an evaluation's runs."""

    name: str
    paper: str
    task: str
    kind: TaskKind
    dataset: str
    split: str
    references: tuple[int, ...] | None  # how many to score against, as on COCO's server; None: every metric, all
    rewards: Mapping[str, Mapping[str, float]]  # name -> metric -> weight
    decoded: Mapping[str, str]  # run or ensemble -> file of its captions


@dataclass
class DecodedRun:
    """The captions of one seed of a run, and the rows of their scores.

    Attributes:
        name: the run's, or an ensemble's.
        seed: of the training.
        captions: decoder -> item, ascending -> its captions by rank.
        log_prob: decoder -> mean over its captions, nats.
    """

    name: str
    seed: int
    captions: dict[str, Sets]
    log_prob: dict[str, float] = field(default_factory=dict)

    def corpus(self, decoder: str, metric: str, value: float) -> pa.Table:
        """A row of `schemas.SCORES` for all captions of a decoder together."""
        return self._rows(decoder, metric, 1, value=pa.array([float(value)]))

    def scores(
        self, decoder: str, metric: str, items: Iterable[int], values: Iterable[float], ranks: Ranks = 0
    ) -> pa.Table:
        """A row for each value: of an item's caption of some rank, or of its set of captions if `ranks` is None."""
        column = pa.array(np.fromiter(values, dtype=np.float64))
        return self._rows(decoder, metric, len(column), items, ranks, value=column)

    def counts(
        self, decoder: str, metric: str, items: Iterable[int], statistics: npt.NDArray[np.float64], ranks: Ranks = 0
    ) -> pa.Table:
        """A row for each item with its counts [items, k] for a corpus metric; `metric` as in `Metric.statistics`."""
        number, k = statistics.shape
        starts = np.arange(number + 1, dtype=np.int32) * k
        lists = pa.ListArray.from_arrays(starts, statistics.ravel())
        return self._rows(decoder, metric, number, items, ranks, statistics=lists)

    def _rows(
        self,
        decoder: str,
        metric: str,
        number: int,
        items: Iterable[int] | None = None,
        ranks: Ranks = None,
        **columns: pa.Array,
    ) -> pa.Table:
        fixed = {"run": self.name, "seed": self.seed, "decoder": decoder, "metric": metric}
        columns |= {name: pa.repeat(value, number) for name, value in fixed.items()}
        if items is not None:
            columns["item"] = pa.array(np.fromiter(items, dtype=np.int64, count=number))
        if ranks is not None:
            columns["rank"] = pa.repeat(ranks, number) if isinstance(ranks, int) else pa.array(ranks, pa.int64())
        nulls = {field.name: pa.nulls(number, field.type) for field in SCORES if field.name not in columns}
        arrays = [(columns | nulls)[field.name].cast(field.type) for field in SCORES]
        return pa.Table.from_arrays(arrays, schema=SCORES)


def read_runs(config: EvaluationConfig) -> list[DecodedRun]:
    """The captions of every run and seed, in the configuration's order; InputError for missing or wrong files."""
    return [run for name, path in config.decoded.items() for run in _read_run(name, path)]


def _read_run(name: str, path: str) -> Iterator[DecodedRun]:
    table = read_table(path, DECODED).sort_by([("item", "ascending"), ("rank", "ascending")])
    for seed in sorted(pc.unique(table["seed"]).to_pylist()):
        rows = table.filter(pc.equal(table["seed"], seed))
        run = DecodedRun(name, seed, {})
        for decoder in sorted(pc.unique(rows["decoder"]).to_pylist()):
            decoded = rows.filter(pc.equal(rows["decoder"], decoder))
            sets: Sets = {}
            for item, tokens in zip(decoded["item"].to_pylist(), decoded["tokens"].to_pylist(), strict=True):
                sets.setdefault(item, []).append(tokens)
            run.captions[decoder] = sets
            run.log_prob[decoder] = float(np.mean(decoded["log_prob"].to_numpy()))
        yield run


def read_references(config: EvaluationConfig, split: str) -> Sets:
    """Item, ascending -> the tokens of its references, in the file's order; InputError if the split has none."""
    path = ARTIFACTS / config.task / "data/references.parquet"
    table = read_table(path, REFERENCES)
    table = table.filter(pc.equal(table["split"], split))
    if not len(table):
        raise InputError(path, f"has no captions in split {split!r}", "choose another split")
    sets: Sets = {item: [] for item in sorted(pc.unique(table["item"]).to_pylist())}
    for item, tokens in zip(table["item"].to_pylist(), table["tokens"].to_pylist(), strict=True):
        sets[item].append(tokens)
    return sets


def flat(sets: Sets) -> list[tuple[int, Caption]]:
    return [(item, tokens) for item, captions in sets.items() for tokens in captions]


def first(sets: Sets) -> list[tuple[int, Caption]]:
    """(item, caption) of every item's caption of rank 0."""
    return [(item, captions[0]) for item, captions in sets.items()]
