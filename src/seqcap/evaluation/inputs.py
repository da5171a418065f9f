"""What is scored: the captions that each run decoded, and the references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seqcap.config.evaluation import EvaluationConfig
from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import DECODED, REFERENCES, SCORES
from seqcap.tasks import ARTIFACTS

Caption = list[str]
# Item -> its captions, the best first.
Sets = dict[int, list[Caption]]
# Rank of each caption, or of all of them; None: the values are of sets.
Ranks = Sequence[int] | int | None


@dataclass
class DecodedRun:
    """What one run decoded with one seed.

    Attributes:
        captions: decoder -> item, ascending -> captions by rank.
        log_prob: decoder -> the mean over its captions, nats.
    """

    name: str
    seed: int
    captions: dict[str, Sets]
    log_prob: dict[str, float] = field(default_factory=dict)

    def corpus(self, decoder: str, metric: str, value: float) -> pa.Table:
        """A row of `schemas.SCORES`: what a decoder's captions are worth together."""
        return self._rows(decoder, metric, 1, value=pa.array([float(value)]))

    def scores(
        self, decoder: str, metric: str, items: Iterable[int], values: Iterable[float], ranks: Ranks = 0
    ) -> pa.Table:
        """A row for each value: of an item's caption of some rank, or with `ranks` None of its set of captions."""
        column = pa.array(np.fromiter(values, dtype=np.float64))
        return self._rows(decoder, metric, len(column), items, ranks, value=column)

    def counts(
        self, decoder: str, metric: str, items: Iterable[int], statistics: npt.NDArray[np.float64], ranks: Ranks = 0
    ) -> pa.Table:
        """A row for each item with what it adds to a corpus metric, [items, k]; `metric` as `Metric.statistics`."""
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
        fixed = {"variant": self.name, "seed": self.seed, "decoder": decoder, "metric": metric}
        columns |= {name: pa.repeat(value, number) for name, value in fixed.items()}
        if items is not None:
            columns["item"] = pa.array(np.fromiter(items, dtype=np.int64, count=number))
        if ranks is not None:
            columns["rank"] = pa.repeat(ranks, number) if isinstance(ranks, int) else pa.array(ranks, pa.int64())
        nulls = {field.name: pa.nulls(number, field.type) for field in SCORES if field.name not in columns}
        arrays = [(columns | nulls)[field.name].cast(field.type) for field in SCORES]
        return pa.Table.from_arrays(arrays, schema=SCORES)


def read_runs(config: EvaluationConfig) -> list[DecodedRun]:
    """The captions of every run with every seed, runs in the order of the configuration.

    Raises:
        InputError: a file is missing or malformed.
    """
    return [run for name, path in config.decoded.items() for run in _read_run(name, path)]


def _read_run(name: str, path: str) -> Iterator[DecodedRun]:
    table = read_table(path, DECODED).sort_by([("item", "ascending"), ("rank", "ascending")])
    for seed in sorted(pc.unique(table["seed"]).to_pylist()):
        rows = table.filter(pc.equal(table["seed"], seed))
        run = DecodedRun(name, seed, {})
        for decoder in sorted(pc.unique(rows["decoder"]).to_pylist()):
            found = rows.filter(pc.equal(rows["decoder"], decoder))
            sets: Sets = {}
            for item, tokens in zip(found["item"].to_pylist(), found["tokens"].to_pylist(), strict=True):
                sets.setdefault(item, []).append(tokens)
            run.captions[decoder] = sets
            run.log_prob[decoder] = float(np.mean(found["log_prob"].to_numpy()))
        yield run


def read_references(config: EvaluationConfig, split: str) -> Sets:
    """Item, ascending -> the tokens of its captions by people, in the order of the file.

    Raises:
        InputError: the split has none.
    """
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
    """(item, caption) of every caption."""
    return [(item, tokens) for item, captions in sets.items() for tokens in captions]


def first(sets: Sets) -> list[tuple[int, Caption]]:
    """(item, caption) of every item's caption of rank 0."""
    return [(item, captions[0]) for item, captions in sets.items()]
