"""What a paper's part of the report is made from: its runs, scores, decoded captions and learning curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from seqcap import artifacts
from seqcap.config.report import PaperConfig, ReportedEvaluation, ReportedRun
from seqcap.errors import InputError
from seqcap.reporting import papers
from seqcap.reporting.papers import KARPATHY_TEST, Captions, Paper
from seqcap.tasks import ARTIFACTS, KINDS, Kind

# The dataset whose every fact is known.
SCENES = "scenes"
# Captions that people wrote are scored as if a run had this name; people have no training seeds.
HUMAN = "human"

# What a paper measured on -> dataset and split that are the same, not a stand-in.
_SAME = {KARPATHY_TEST: ("coco", "test")}
# Kind of task -> dataset -> what a reader should know of it. The name of any other dataset says enough.
_DATASETS = {
    "images": {
        "scenes": "scenes (generated), {split} split",
        "flickr8k": "Flickr8k (photographs; official splits), {split} split",
        "flickr30k": "Flickr30k (photographs; Karpathy's splits), {split} split",
        "coco": "COCO (Karpathy's splits), {split} split",
    },
    "sentences": {"scenes": "scenes (sentences that a grammar writes of generated scenes)"},
}
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Count(int):
    """A number of captions in text: `f"{count} samples"`, or `f"the {count.word} captions"`."""

    @property
    def word(self) -> str:
        """Spelled out, up to twelve."""
        return _WORDS[self] if self < len(_WORDS) else str(self)

    @property
    def start(self) -> str:
        """The same at the start of a sentence."""
        return self.word.capitalize()


class Scores:
    """The scores of one paper's runs.

    Args:
        frame: columns of `artifacts.SCORES`; metrics in the scale of their definition (CIDEr about 1, not 100).
        source: the file they come from, for error messages.
    """

    def __init__(self, frame: pd.DataFrame, source: str | Path = "scores") -> None:
        self.source = source
        keys = ["variant", "seed", "item", "decoder", "rank", "metric"]
        for wrong, problem in (
            (frame.duplicated(keys), "scored twice"),
            (np.isinf(frame["value"].to_numpy(dtype=float)), "infinite"),
        ):
            if wrong.any():
                record = frame.loc[wrong, keys].iloc[0].to_dict()
                raise InputError(source, f"{record} is {problem}", "run the evaluate stage again")
        whole = frame["item"].isna()
        self._items = self._by_metric(frame[~whole])
        self._corpora = self._by_metric(frame[whole & frame["value"].notna()])
        self._names = set(frame["variant"])
        self._averaged: dict[tuple[str, str, str, Captions], pd.DataFrame | None] = {}

    @staticmethod
    def _by_metric(frame: pd.DataFrame) -> dict[tuple[str, str, str], pd.DataFrame]:
        """(run, decoder, metric) -> its rows."""
        groups = frame.groupby(["variant", "decoder", "metric"], sort=False)
        return {(str(name), str(decoder), str(metric)): group for (name, decoder, metric), group in groups}

    @classmethod
    def read(cls, files: Sequence[str]) -> Scores:
        """Reads the scores of several evaluations. People's captions count once, as the first of them has them."""
        frames: list[pd.DataFrame] = []
        for file in files:
            frame = _frame(artifacts.read_table(file, artifacts.SCORES))
            if any((earlier["variant"] == HUMAN).any() for earlier in frames):
                frame = frame[frame["variant"] != HUMAN]
            frames.append(frame)
        return cls(pd.concat(frames, ignore_index=True), files[0] if len(files) == 1 else Path(files[0]).parent)

    def per_item(self, name: str, decoder: str, metric: str, captions: Captions) -> pd.DataFrame | None:
        """Scores [items x seeds] of a run, averaged over an item's captions; None where there are none.

        A value is NaN where the metric is undefined for an item (the precision of a caption that states nothing).

        Raises:
            InputError: two seeds were scored on different items.
        """
        key = name, decoder, metric, captions
        if key not in self._averaged:
            self._averaged[key] = self._average(*key)
        return self._averaged[key]

    def _average(self, name: str, decoder: str, metric: str, captions: Captions) -> pd.DataFrame | None:
        group = self._items.get((name, decoder, metric))
        if group is None:
            return None
        rank = group["rank"]
        group = group[rank.isna() if captions == "set" else rank == 0 if captions == "best" else rank.notna()]
        if group.empty:
            return None
        means = group.groupby(["item", "seed"])["value"].mean()
        if len(means) != group["item"].nunique() * group["seed"].nunique():
            raise InputError(
                self.source,
                f"the seeds of {name} have {metric} ({decoder}) for different items",
                "run the decode and evaluate stages again",
            )
        return means.unstack().astype(float)

    def corpus(self, name: str, decoder: str, metric: str) -> pd.Series[float] | None:
        """A corpus metric's value per seed, or None where there is none."""
        group = self._corpora.get((name, decoder, metric))
        return None if group is None else group.set_index("seed")["value"].sort_index().astype(float)

    def best_by_seed(self, name: str, decoder: str, metric: str) -> pd.Series[float] | None:
        """Value per seed over the first caption of every item: the corpus value, else the mean of single scores."""
        corpus = self.corpus(name, decoder, metric)
        if corpus is not None:
            return corpus
        items = self.per_item(name, decoder, metric, "best")
        return None if items is None else items.mean(axis=0)

    def why_missing(self, name: str, decoder: str, metric: str) -> str:
        """Why there is no such score, in words fit for a table's note."""
        if name not in self._names:
            return f"no scores of variant {name}"
        return f"the evaluate stage wrote no {metric} for {name} ({decoder})"


class Decoded(dict[str, pd.DataFrame]):
    """Run -> its captions, columns of `artifacts.DECODED` without the tokens; each is read on first use."""

    def __init__(self, runs: Iterable[ReportedRun]) -> None:
        super().__init__()
        self._files = {run.name: run.decoded for run in runs}

    def __missing__(self, name: str) -> pd.DataFrame:
        table = artifacts.read_table(self._files[name], artifacts.DECODED)
        self[name] = _frame(table.drop_columns(["tokens"]))
        return self[name]


@dataclass(frozen=True)
class Run:
    """What one paper's part of the report is made from. What only some tables or figures need is read on first use."""

    config: PaperConfig
    paper: Paper
    scores: Scores

    @classmethod
    def read(cls, config: PaperConfig) -> Run:
        """Reads the facts and the scores of a paper.

        Raises:
            InputError: there is no such paper, or a file is missing or malformed.
        """
        scores = Scores.read([evaluation.scores for evaluation in config.evaluations.values()])
        return cls(config, papers.load(config.paper).PAPER, scores)

    # --- What there is

    @property
    def runs(self) -> tuple[ReportedRun, ...]:
        """All that was scored, in the order of the parameters; ensembles come last."""
        return self.config.runs

    @cached_property
    def by_name(self) -> dict[str, ReportedRun]:
        """`runs` by their names."""
        return {run.name: run for run in self.runs}

    @cached_property
    def trained(self) -> list[ReportedRun]:
        """`runs` without the ensembles."""
        return [run for run in self.runs if not run.members]

    @cached_property
    def captioners(self) -> list[str]:
        """The captioners of `trained`, in its order."""
        return list(dict.fromkeys(run.captioner for run in self.trained))

    @cached_property
    def decoded(self) -> Decoded:
        """Run -> its captions."""
        return Decoded(self.runs)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Learning curves of `trained`, columns of `artifacts.CURVES`."""
        return pd.concat([read_curves(run.weights) for run in self.trained], ignore_index=True)

    @cached_property
    def images(self) -> pd.DataFrame:
        """The scored images of the task whose pictures are shown, as `read_images`."""
        return read_images(self.config.pictures, self.split(self.config.pictures))

    # --- What stands for what

    def kind(self, task: str) -> Kind:
        """What kind of task it is."""
        return KINDS[self.config.tasks[task].kind]

    def dataset(self, task: str) -> str:
        """The name of the dataset that stands for a task."""
        return self.config.tasks[task].dataset

    @property
    def datasets(self) -> str:
        """The names of the datasets that it is about."""
        return ", ".join(dict.fromkeys(self.dataset(run.task) for run in self.runs))

    @property
    def knows_facts(self) -> bool:
        """Whether everything that is true of the pictures is known."""
        return self.dataset(self.config.pictures) == SCENES

    def stand_in(self, task: str, evaluation: str = "", published_on: str = "") -> str:
        """Which data stood in for the paper's.

        Args:
            task: one that the paper has data for.
            evaluation: of that task; "": the one that its runs are decoded in.
            published_on: what the paper measured on; "": what `Paper.published_on` says.
        """
        published_on = published_on or self.paper.published_on.get(task, "")
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
        if not names:
            raise InputError(f"papers/{self.config.paper}.yaml", f"no evaluation is of task {task}", "add one")
        return self.evaluation(names[0]).split

    # --- How captions were made

    def evaluation(self, name: str = "") -> ReportedEvaluation:
        """An evaluation of the paper; without a name that of its first run."""
        return self.config.evaluations[name or self.runs[0].evaluation]

    def beam(self, evaluation: str = "") -> Count:
        """The width of an evaluation's beam."""
        return Count(self.evaluation(evaluation).beam)

    def samples(self, evaluation: str = "") -> Count:
        """How many random captions of each item an evaluation has."""
        return Count(self.evaluation(evaluation).samples)

    def several(self, evaluation: str = "") -> str:
        """How many captions of an item random samples and the beam give, spelled out."""
        counts = dict.fromkeys((self.samples(evaluation).word, self.beam(evaluation).word))
        return " or ".join(counts)

    def a_beam(self, evaluation: str = "") -> str:
        """ "a beam of 5"; "a beam" of an evaluation that is not part of this run."""
        there = not evaluation or evaluation in self.config.evaluations
        return f"a beam of {self.beam(evaluation)}" if there else "a beam"

    def fill(self, text: str, evaluation: str = "") -> str:
        """Text with `{beam}` and `{samples}` filled in; `{beam.word}` spells it out, `{beam.start}` capitalises it."""
        return text.format(beam=self.beam(evaluation), samples=self.samples(evaluation))


def read_curves(weights: str | Path) -> pd.DataFrame:
    """The learning curves beside trained weights, columns of `artifacts.CURVES`."""
    return _frame(artifacts.read_table(Path(weights) / "curves.parquet", artifacts.CURVES))


def read_images(task: str, split: str) -> pd.DataFrame:
    """A split's images in the order of their ids: item, file, longest_reference (words of the longest caption)."""
    data = ARTIFACTS / task / "data"
    images = _frame(artifacts.read_table(data / "images.parquet", artifacts.IMAGES))
    references = artifacts.read_table(data / "references.parquet", artifacts.REFERENCES)
    lengths = pd.DataFrame(
        {
            "item": references["item"].to_numpy(),
            "longest_reference": pc.list_value_length(references["tokens"]).to_numpy(),
        }
    )
    longest = lengths.groupby("item", as_index=False)["longest_reference"].max()
    chosen = images[images["split"] == split].merge(longest, on="item")
    return chosen.sort_values("item").reset_index(drop=True)


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    return frame
