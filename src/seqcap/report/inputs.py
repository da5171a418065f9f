"""The results of a paper, as its part of the report reads them: runs, scores, captions and learning curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from seqcap.files import parquet, schemas
from seqcap.metrics import registry
from seqcap.report import convergence
from seqcap.report.evidence import Gain
from seqcap.report.paper import Captions, Paper, read_yaml
from seqcap.report.reported import PaperConfig, ReportedEvaluation, ReportedRun
from seqcap.report.statistics import Missing, Sample, matched
from seqcap.rewards.corpus import corpus_values
from seqcap.tasks import ARTIFACTS, KINDS, Kind

SCENES, CLIPS = "scenes", "clips"  # the datasets whose every fact is known
# Metrics that need them.
_OF_FACTS = (
    *("precision_true", "recall_true", "f1_true", "all_true", "true_of_own"),
    *("literal_R@1", "literal_R@5", "literal_R@10", "alone", "bits", "unparsed"),
)
HUMAN = "human"  # captions that people wrote are scored as if a run had this name; people have no training seeds

# A paper's data -> the same dataset and split here; all other data are stand-ins.
_SAME = {"COCO Karpathy test": ("coco", "test")}
# Part of the code of every module that imports this one (`pipeline.code`).
DATA_FILES = "datasets.yaml"
_DATASETS = read_yaml(Path(__file__).with_name("datasets.yaml"), dict[str, dict[str, str]])
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Count(int):
    """A number of captions in text: `{n}`, spelled out `{n.word}`, at the start of a sentence `{n.start}`."""

    @property
    def word(self) -> str:
        return _WORDS[self] if self < len(_WORDS) else str(self)

    @property
    def start(self) -> str:
        return self.word.capitalize()


_SYSTEM = ["run", "decoder", "metric"]  # columns of scores that say which system and which metric a row is of


class Scores:
    """The scores of one paper's runs. There are millions: each is looked up on demand.

    Args:
        table: with the columns of `schemas.SCORES`.
    """

    def __init__(self, table: pa.Table) -> None:
        lists = table["statistics"].combine_chunks()
        offsets = lists.offsets.to_numpy()
        self._flat = lists.values.to_numpy()
        types = {"seed": np.int32, "item": np.int64, "rank": np.int32, "value": np.float64}
        # Columns of all rows; no item or rank is -1, no value NaN.
        self._columns = {name: _numbers(table[name]).astype(kind, copy=False) for name, kind in types.items()}
        # Of a row's statistics, where they are in `_flat`, and how many.
        self._columns |= {"start": offsets[:-1], "length": np.diff(offsets)}
        systems = table.select(_SYSTEM).to_pandas(categories=_SYSTEM)
        self._places = systems.groupby(_SYSTEM, observed=True, sort=False).indices
        self._samples: dict[tuple[str, str, str, Captions], Sample | None] = {}
        self._corpora: dict[tuple[str, str, str], pd.Series[float] | None] = {}

    @classmethod
    def read(cls, files: Sequence[str]) -> Scores:
        """Reads several files of scores. People's captions count once, in each metric as the first file has them."""
        tables: list[pa.Table] = []
        known: set[str] = set()
        for file in files:
            table = parquet.read_table(file, schemas.SCORES, _SYSTEM)
            metrics, people = table["metric"], pc.equal(table["run"], HUMAN)
            again = pc.and_(people, pc.is_in(metrics, pa.array(sorted(known), pa.string())))
            tables.append(table.filter(pc.invert(again)) if pc.any(again).as_py() else table)
            known |= set(metrics.filter(people).unique().to_pylist())
        return cls(pa.concat_tables(tables))

    def by_rank(self, name: str, decoder: str, metric: str) -> pd.DataFrame:
        """The score of every caption of every item, of a metric of captions: columns seed, item, rank and value."""
        rows = pd.DataFrame(self._rows(name, decoder, metric))
        return rows.loc[(rows["item"] >= 0) & (rows["rank"] >= 0), ["seed", "item", "rank", "value"]]

    def per_item(self, name: str, decoder: str, metric: str, captions: Captions) -> pd.DataFrame | None:
        """Scores [items x seeds] of a run, means over an item's captions, NaN where undefined; None without any."""
        sample = None if registry.find(metric).statistics else self.sample(name, decoder, metric, captions)
        if sample is None:
            return None
        values = np.where(sample.counted, sample.statistics[:, :, 0], np.nan)
        return pd.DataFrame(values, pd.Index(sample.items, name="item"), pd.Index(sample.seeds, name="seed"))

    def sample(self, name: str, decoder: str, metric: str, captions: Captions) -> Sample | None:
        """The scores of items, or their statistics for a corpus metric; None without any. Its value
        is the one for the whole corpus where the evaluate stage wrote that."""
        key = name, decoder, metric, captions
        if key not in self._samples:
            of_items = self._of_items(*key)
            corpus = None if captions == "every" else self.corpus(name, decoder, metric)
            if of_items is not None and corpus is not None and set(of_items.seeds.tolist()) <= set(corpus.index):
                shift = corpus[of_items.seeds.tolist()].to_numpy() - of_items.by_seed
                of_items = replace(of_items, shift=shift)
            self._samples[key] = of_items
        return self._samples[key]

    def samples(self, names: Sequence[str], decoder: str, metric: str, captions: Captions) -> list[Sample] | Missing:
        """`sample` of several names."""
        samples = []
        for name in names:
            sample = self.sample(name, decoder, metric, captions)
            if sample is None:
                return Missing(self.why_missing(name, decoder, metric))
            samples.append(sample)
        return samples

    def _of_items(self, name: str, decoder: str, metric: str, captions: Captions) -> Sample | None:
        counts = registry.find(metric).statistics
        rows = self._rows(name, decoder, counts or metric)
        if counts:
            chosen = rows["length"] > 0
        else:
            ranks = {"set": rows["rank"] < 0, "best": rows["rank"] == 0, "every": rows["rank"] >= 0}
            chosen = ranks[captions] & (rows["item"] >= 0) & (rows["length"] == 0)
        rows = {column: values[chosen] for column, values in rows.items()}
        if not len(rows["item"]):
            return None
        items, item = np.unique(rows["item"], return_inverse=True)
        seeds, seed = np.unique(rows["seed"], return_inverse=True)
        cell = item * len(seeds) + seed
        shape = (len(items), len(seeds), -1)
        if counts:
            starts = rows["start"][np.argsort(cell)]
            statistics = self._flat[starts[:, None] + np.arange(rows["length"][0])].reshape(shape)
            return Sample(items, seeds, statistics, np.ones(shape[:2], bool), partial(corpus_values, metric))
        known = ~np.isnan(rows["value"])
        cells = len(items) * len(seeds)
        number = np.bincount(cell, weights=known, minlength=cells)
        total = np.bincount(cell, weights=np.where(known, rows["value"], 0.0), minlength=cells)
        return Sample(items, seeds, (total / np.maximum(number, 1)).reshape(shape), (number > 0).reshape(shape[:2]))

    def _rows(self, name: str, decoder: str, metric: str) -> dict[str, NDArray[Any]]:
        """The columns of the rows of one system and metric."""
        places = self._places.get((name, decoder, metric), np.array([], dtype=np.intp))
        return {column: values[places] for column, values in self._columns.items()}

    def corpus(self, name: str, decoder: str, metric: str) -> pd.Series[float] | None:
        """A metric's values of the whole corpus, by seed; None without any."""
        key = name, decoder, metric
        if key not in self._corpora:
            rows = self._rows(*key)
            whole = (rows["item"] < 0) & ~np.isnan(rows["value"])
            values = pd.Series(rows["value"][whole], pd.Index(rows["seed"][whole], name="seed")).sort_index()
            self._corpora[key] = None if values.empty else values
        return self._corpora[key]

    def by_seed(self, name: str, decoder: str, metric: str, captions: Captions = "best") -> pd.Series[float] | None:
        """A metric's value per seed: that of the corpus if there is one, else the mean over items."""
        corpus = None if captions == "every" else self.corpus(name, decoder, metric)
        if corpus is not None:
            return corpus
        sample = self.sample(name, decoder, metric, captions)
        return None if sample is None else pd.Series(sample.by_seed, pd.Index(sample.seeds, name="seed"))

    def items(self, name: str) -> int:
        """How many items a run, or people, have scores of."""
        places = [places for (run, *_), places in self._places.items() if run == name]
        items = self._columns["item"][np.concatenate([[], *places]).astype(int)]
        return len(np.unique(items[items >= 0]))

    def why_missing(self, name: str, decoder: str, metric: str) -> str:
        if all(run != name for run, *_ in self._places):
            return f"no scores of run {name}"
        if metric in _OF_FACTS and all(measured not in _OF_FACTS for _, _, measured in self._places):
            return "only generated scenes come with every fact that is true of them"
        return f"the evaluate stage wrote no {metric} for {name} ({decoder})"


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    missing = np.nan if pa.types.is_floating(column.type) else -1
    return np.asarray(pc.fill_null(column, missing).to_numpy())


@dataclass(frozen=True)
class Results:
    """The results of one paper: its runs with their scores, captions and learning curves. All but the scores is read on
    first use.

    Attributes:
        config: the configuration of the stage that reads them.
        paper: its facts, and its own code.
        scores: of its runs and of people.
    """

    config: PaperConfig
    paper: Paper
    scores: Scores

    @classmethod
    def read(cls, config: PaperConfig, paper: Paper) -> Results:
        # Evaluations of images come first: human captions in tables are those of images.
        evaluations = sorted(config.evaluations.values(), key=lambda evaluation: evaluation.task != config.pictures)
        scores = Scores.read(
            [file for evaluation in evaluations for file in (evaluation.scores, *evaluation.retrieval)]
        )
        return cls(config, paper, scores)

    @property
    def runs(self) -> tuple[ReportedRun, ...]:
        """All runs that were scored, in the order of runs.yaml, then ensembles of their seeds."""
        return self.config.runs

    @cached_property
    def by_name(self) -> dict[str, ReportedRun]:
        return {run.name: run for run in self.runs}

    @cached_property
    def trained(self) -> list[ReportedRun]:
        """`runs` without the ensembles."""
        return [run for run in self.runs if not run.members]

    @cached_property
    def captioners(self) -> list[str]:
        return list(dict.fromkeys(run.captioner for run in self.trained))

    @cached_property
    def decoded(self) -> Callable[[str], pd.DataFrame]:
        """Run -> its captions, columns of `schemas.DECODED` without the tokens."""

        def read(name: str) -> pd.DataFrame:
            run = self.by_name[name]
            frame = parquet.read_table(run.decoded, schemas.DECODED).drop_columns(["tokens"]).to_pandas()
            return pd.DataFrame(frame[frame["seed"].isin(run.seeds)])

        return cache(read)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Learning curves of `trained`, columns of `schemas.CURVES`."""
        frames: list[pd.DataFrame] = []
        for run in self.trained:
            frame = parquet.read_table(Path(run.weights) / "curves.parquet", schemas.CURVES).to_pandas()
            frames.append(frame[frame["seed"].isin(run.seeds)])
        return pd.concat(frames, ignore_index=True)

    def decisive(self, name: str) -> pd.DataFrame:
        """What greedy captions of val earn along a run's training: of its reward or, without one, of CIDEr. The best
        epoch is kept, but for objectives that keep the last one. Columns of `schemas.CURVES`."""
        mine = self.curves[self.curves["run"] == name]
        paid = mine[mine["quantity"] == "val_reward"]
        return paid if len(paid) else mine[mine["quantity"] == "val_cider"]

    def recorded(self, name: str, quantity: str) -> float | None:
        """The mean of what a run has recorded along its training; None without any."""
        mine = (self.curves["run"] == name) & (self.curves["quantity"] == quantity)
        values = self.curves.loc[mine, "value"]
        return None if values.empty else float(values.mean())

    @cached_property
    def gained(self) -> Mapping[str, Mapping[str, Gain]]:
        """Run -> how much its curves rose at the end of its training (`convergence.gains`); of a run without updates of
        its own, at the end of its captioner's."""
        gains = dict(convergence.gains(self.curves))
        for run in self.trained:
            start = Path(run.weights) / "start.parquet"
            if run.epochs == 0 and start.is_file():
                frame = parquet.read_table(start, schemas.CURVES).to_pandas()
                for gained in convergence.gains(frame[frame["seed"].isin(run.seeds)]).values():
                    marked = {"of_start": True}
                    gains[run.name] = {measure: gain.model_copy(update=marked) for measure, gain in gained.items()}
        return gains

    @cached_property
    def steps(self) -> dict[str, int]:
        last = self.curves.groupby("run")["step"].max()
        return {run.name: int(last[run.name]) for run in self.trained if last.get(run.name, 0)}

    @cached_property
    def images(self) -> pd.DataFrame:
        return read_images(self.config.pictures, self.split(self.config.pictures))

    def matched(self, names: Sequence[str], decoder: str, metric: str, captions: Captions) -> list[Sample] | Missing:
        """The scores of several runs on the items that all of them have, or why there are none."""
        for name in names:
            if name not in self.by_name:
                return Missing.run(name)
        samples = self.scores.samples(names, decoder, metric, captions)
        if isinstance(samples, Missing):
            return samples
        unit = self.kind(self.by_name[names[0]].task).unit
        return matched(samples) or Missing(f"{metric} is undefined for every test {unit}")

    def share_start(self, sides: Iterable[Iterable[str]]) -> bool:
        """Whether equal seeds of some sides start from the same weights: their runs are of the same captioners for the
        same tasks. Sides without runs of these results do not matter."""
        present = [[self.by_name[name] for name in side if name in self.by_name] for side in sides]
        return len({frozenset((run.task, run.captioner) for run in side) for side in present if side}) < 2

    def kind(self, task: str) -> Kind:
        return KINDS[self.config.tasks[task].kind]

    def dataset(self, task: str) -> str:
        return self.config.tasks[task].dataset

    @property
    def datasets(self) -> str:
        return ", ".join(dict.fromkeys(self.dataset(run.task) for run in self.runs))

    @property
    def knows_facts(self) -> bool:
        """Whether everything that is true of the images is known."""
        return self.knows_facts_of(self.config.pictures)

    def knows_facts_of(self, task: str) -> bool:
        return self.dataset(task) in (SCENES, CLIPS)

    @property
    def are_of_scenes(self) -> bool:
        """Whether all data are generated scenes, clips and sentences of them, which claims were registered for."""
        return all(map(self.knows_facts_of, self.config.tasks))

    def stand_in(self, task: str, evaluation: str = "", published_on: str = "") -> str:
        """Which data stood in for the paper's; `published_on` defaults to what paper.yaml says of the task."""
        published_on = published_on or self.paper.facts.published_on.get(task, "")
        if not any(run.task == task for run in self.runs):
            return f"{published_on}: not part of this run"
        split = self.evaluation(evaluation).split if evaluation else self.split(task)
        dataset = self.dataset(task)
        here = _DATASETS[self.config.tasks[task].kind].get(dataset, dataset).format(split=split)
        same = not published_on or _SAME.get(published_on) == (dataset, split)
        return here if same else f"{here}, stands in for {published_on}"

    def split(self, task: str) -> str:
        """The split that a task's runs are decoded on: that of the first of them."""
        names = [run.evaluation for run in self.runs if run.task == task]
        names += [name for name, evaluation in self.config.evaluations.items() if evaluation.task == task]
        return self.evaluation(names[0]).split

    def evaluation(self, name: str = "") -> ReportedEvaluation:
        return self.config.evaluations[name or self.runs[0].evaluation]

    def beam(self, evaluation: str = "") -> Count:
        return Count(self.evaluation(evaluation).beam)

    def samples(self, evaluation: str = "") -> Count:
        return Count(self.evaluation(evaluation).samples)

    def a_beam(self, evaluation: str = "") -> str:
        """ "a beam of 5"; "a beam" of an evaluation that is not part of this run."""
        known = not evaluation or evaluation in self.config.evaluations
        return f"a beam of {self.beam(evaluation)}" if known else "a beam"

    def fill(self, text: str, evaluation: str = "", **more: Any) -> str:
        """Text with its placeholders filled in: the counts `{beam}` and `{samples}`, the words `{a_beam}`, `{several}`
        ("three or five", as many captions as samples and the beam give), `{captioners}` and `{n}`, and a text's own."""
        captioners = " and ".join(f"`{captioner}`" for captioner in self.captioners)
        known_evaluation = evaluation if evaluation in self.config.evaluations else ""
        beam, samples = self.beam(known_evaluation), self.samples(known_evaluation)
        known = {"beam": beam, "samples": samples, "captioners": captioners, "a_beam": self.a_beam(evaluation)}
        n = self.sizes(known_evaluation) if "{n}" in text else ""
        several = " or ".join(dict.fromkeys((samples.word, beam.word)))
        return text.format(**known, several=several, n=n, **more)

    def sizes(self, evaluation: str = "") -> str:
        """ "2,000 test images, 800 test clips, 3 to 5 training seeds": what its numbers, or those of one evaluation,
        are of, if nothing else is said. A run with one seed is marked where it is shown: beside others it is not
        counted."""
        of = [run for run in self.trained if evaluation in ("", run.evaluation)]
        firsts = {run.evaluation: run for run in reversed(of)}
        items = dict.fromkeys(
            f"{self.scores.items(run.name):,} {self.evaluation(run.evaluation).split} {self.kind(run.task).units}"
            for run in reversed(firsts.values())
        )
        numbers = sorted({len(run.seeds) for run in of})
        several = [number for number in numbers if number > 1] or numbers
        seeds = " to ".join(map(str, dict.fromkeys((several[0], several[-1]))))
        return f"{', '.join(items)}, {seeds} training seed{'s' if several[-1] > 1 else ''}"


def read_images(task: str, split: str) -> pd.DataFrame:
    """A split's images in the order of their ids: item, file, longest_reference (words of the longest caption)."""
    data = ARTIFACTS / task / "data"
    images: pd.DataFrame = parquet.read_table(data / "images.parquet", schemas.IMAGES).to_pandas()
    references = parquet.read_table(data / "references.parquet", schemas.REFERENCES)
    lengths = pd.Series(pc.list_value_length(references["tokens"]).to_numpy(), references["item"].to_numpy())
    longest = lengths.groupby(level=0).max().rename("longest_reference")
    chosen = images[images["split"] == split].merge(longest, left_on="item", right_index=True)
    return chosen.sort_values("item").reset_index(drop=True)


def read_captions(task: str) -> dict[int, str]:
    """Item -> its first reference caption."""
    references = parquet.read_table(ARTIFACTS / task / "data/references.parquet", schemas.REFERENCES)
    items, texts = (references[column].to_pylist()[::-1] for column in ("item", "text"))
    return dict(zip(items, texts, strict=True))
