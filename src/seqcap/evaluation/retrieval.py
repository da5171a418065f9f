"""Scores how well the captions of runs tell their image from all others of the split; `people` scores people's.
Each run has one caption per image, greedy or the best of a beam:
- `own_rank`, `own_R@1`, `own_R@5`, `own_R@10`: the rank of the caption's image among all images of the split, and
  whether it is within K (0 or 1), by the run's own listener (Vered et al., ICCV 2019), or if the run trains none, by
  the retriever that pays it or that others start from;
- `fixed_rank` and `fixed_R@K`: the same by a retriever that no objective uses and that differs in kind, the judge: the
  mean over its seeds. `twin_*`: by a twin of the initial listener, of its kind, with another random seed;
- `own_text_R@K`, `fixed_text_R@K` and `twin_text_R@K`, per image: whether its caption is among the first K of all
  captions; equal ones are in random order, so values may lie between 0 and 1 (`ranking.shared_recall`);
- `Self-BLEU`, of the first 1,000 images: similarity of a caption to other images' captions (`self_bleus`), by 5-grams;
- `fixed_choice`: whether a judge prefers the caption's image to the most similar one (0 or 1; ties are wrong);
- `xe_log_prob`: the mean log p of a caption's tokens, EOS included, by the pretrained captioner of the run's seed,
  nats;
- on scenes `true_of_own`, `alone`, `bits`, `literal_R@K` and `unparsed`, see `discriminability.Matcher.measures`.
A language that only speaker and listener understand raises only the own scores: the gap to the others is its drift.
Run `human:<run>` has the ranks of people's captions, decoder `sample`, by the listener that a run has trained."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from seqcap import models, retrieval, tasks
from seqcap.config import TaskKind
from seqcap.data.tokens import load_vocabulary
from seqcap.data.vocabulary import EOS, PAD, Vocabulary
from seqcap.evaluation.inputs import Caption, DecodedRun, EvaluationConfig, Sets, flat, read_references, read_runs
from seqcap.files.schemas import VOCABULARY
from seqcap.metrics.self_bleu import self_bleus
from seqcap.retrieval.ranking import CHUNK, TIE, given, ranks, shared_recall
from seqcap.retrieval.recalls import KS, embed_captions, embed_images
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.tasks import ARTIFACTS
from seqcap.tasks.base import Inputs
from seqcap.world.discriminability import Matcher
from seqcap.world.scenes import read_scenes

SELF_BLEU = 5  # order of Self-BLEU's n-grams (Chaffin et al., 2024, by their code)
KEPT = 8  # listeners in memory: the initial ones are used by every run that trains none
MetricValues = Mapping[str, Iterable[float]]  # metric -> its value for each caption


class JudgedConfig(EvaluationConfig):
    """Who scores captions of images by retrieval."""

    kind: TaskKind = "images"
    references: tuple[int, ...] | None = None
    rewards: Mapping[str, Mapping[str, float]] = {}
    listener: str  # folder of the retrievers that runs start with
    judge: str  # folder of the retriever that no run is trained with; all its seeds judge all
    twin: str | None  # folder of a retriever like the listener, of another seed
    captioner: str  # folder of the captioners that runs start with
    max_length: int  # tokens of a caption, EOS included


class RetrievalConfig(JudgedConfig):
    """What the stage `retrieve` measures: how well decoded captions tell images apart, for retrievers."""

    weights: Mapping[str, str]  # run -> folder of its seed<k>.safetensors and, if any, seed<k>.listener.safetensors
    decoder: Literal["greedy", "beam"]
    payers: Mapping[str, str]  # run -> folder of the retriever that pays it, where it is another one


@dataclass(frozen=True)
class SplitCaptions:
    """Captions of a split's images by one decoder, or by people.

    Attributes:
        decoder: its name in scores; people's captions count as "sample".
        sets: item -> its captions, best first.
        ids: [n, time], of all captions of `sets`, one after the other.
    """

    decoder: str
    sets: Sets
    ids: Tensor

    @property
    def items(self) -> list[int]:
        return [item for item, _ in flat(self.sets)]

    def scores(self, run: DecodedRun, values: MetricValues) -> list[pa.Table]:
        """Rows of `schemas.SCORES`, one per caption and metric."""
        ranks = [rank for captions in self.sets.values() for rank in range(len(captions))]
        return [run.scores(self.decoder, metric, self.items, scores, ranks) for metric, scores in values.items()]

    def scores_of_sets(self, run: DecodedRun, values: MetricValues) -> list[pa.Table]:
        """Rows of `schemas.SCORES`, one per image and metric."""
        return [run.scores(self.decoder, metric, self.sets, scores, None) for metric, scores in values.items()]


def evaluate(config: RetrievalConfig) -> pa.Table:
    """Scores every seed of every run: rows of `schemas.SCORES`. InputError for a malformed artifact, or missing weights
    of a listener, judge or captioner."""
    machine.one_thread_device()
    vocabulary = vocabulary_of(config)
    people = said_by_people(config, vocabulary)
    runs = read_runs(config)
    judges = Judges(config, sorted({run.seed for run in runs}), people.sets)
    finder = lru_cache(KEPT)(lambda path: Finder(path, config.task, config.split))
    tables: list[pa.Table] = []
    for run in progress(runs, desc=f"retrieve {config.name}", unit="run"):
        best = {item: captions[:1] for item, captions in run.captions[config.decoder].items()}
        ids = encoded((tokens for _, tokens in flat(best)), vocabulary, config.max_length)
        captions = SplitCaptions(config.decoder, best, ids)
        path, trained = listener_weights(config, run)
        own = finder(path)
        ones = {
            name: [finder.find_ones(captions, name) for finder in finders]
            for name, finders in {"own": [own], **judges.finders}.items()
        }
        tables += captions.scores(run, judges.everything(captions, [run.seed]))
        for by_finder in ones.values():
            tables += captions.scores(run, mean([ranked for ranked, _ in by_finder]))
            tables += captions.scores_of_sets(run, mean([texts for _, texts in by_finder]))
        items, alike = zip(*self_bleus(best, SELF_BLEU), strict=True)
        tables.append(run.scores(config.decoder, "Self-BLEU", items, alike))
        if trained:
            heard = DecodedRun(f"human:{run.name}", run.seed, {})
            tables += people.scores(heard, own.find(people, "own"))
    return pa.concat_tables(tables)


def vocabulary_of(config: JudgedConfig) -> Vocabulary:
    return load_vocabulary(ARTIFACTS / config.task / "data" / VOCABULARY)


def said_by_people(config: JudgedConfig, vocabulary: Vocabulary) -> SplitCaptions:
    """People's captions of the split; retrievers read them cut as in training, where every reference has its EOS."""
    references = read_references(config, config.split)
    spoken = (tokens[: config.max_length - 1] for _, tokens in flat(references))
    return SplitCaptions("sample", references, encoded(spoken, vocabulary, config.max_length))


class Judges:
    """Those who score the captions of any run, and people's.

    Args:
        config: who they are.
        seeds: of the captioners, at least one.
        items: of the split.

    Attributes:
        finders: how their measures begin -> the retrievers that no run has seen: all seeds of the judge, and the twin.

    Raises:
        InputError: weights are missing, or belong to another task.
    """

    def __init__(self, config: JudgedConfig, seeds: Sequence[int], items: Iterable[int]) -> None:
        self.finders = {"fixed": [Finder(path, config.task, config.split) for path in judge_weights(config.judge)]}
        if config.twin is not None:
            self.finders["twin"] = [Finder(judge_weights(config.twin)[0], config.task, config.split)]
        self._speakers = Speakers(seeds, config)
        self._matcher = None
        if config.dataset == "scenes":
            scenes = read_scenes(ARTIFACTS / config.task / "data/scenes.parquet")
            self._matcher = Matcher({item: scenes[item] for item in items})

    def everything(self, captions: SplitCaptions, seeds: Iterable[int]) -> MetricValues:
        """Metric -> its value for each caption: what the judge chooses, how probable it is by the captioners of some
        seeds and, of scenes, what is true."""
        log_prob = np.mean([self._speakers.log_prob(captions, seed) for seed in seeds], axis=0)
        choice = mean([{"fixed_choice": judge.choose(captions)} for judge in self.finders["fixed"]])
        values = {**choice, "xe_log_prob": log_prob}
        if self._matcher is None:
            return values
        true = [self._matcher.measures(item, tokens) for item, tokens in flat(captions.sets)]
        return values | {metric: [measures[metric] for measures in true] for metric in true[0]}


def mean(by_retriever: Sequence[MetricValues]) -> dict[str, NDArray[np.float64]]:
    """Each metric's mean over retrievers, for each caption."""
    return {metric: np.mean([list(values[metric]) for values in by_retriever], axis=0) for metric in by_retriever[0]}


def encoded(captions: Iterable[Caption], vocabulary: Vocabulary, max_length: int) -> Tensor:
    """Ids [n, max_length] as a captioner writes them: a caption of `max_length` words was cut and has no EOS."""
    rows = [[*vocabulary.encode(tokens), EOS][:max_length] for tokens in captions]
    return torch.tensor([row + [PAD] * (max_length - len(row)) for row in rows])


def judge_weights(folder: str) -> list[Path]:
    """A judge's weights, of all its seeds, for all runs and seeds."""
    paths = sorted(Path(folder).glob("seed*.safetensors"), key=lambda path: (len(path.name), path.name))
    return paths or [Path(folder) / "seed1.safetensors"]


def most_similar(judge: str, task: str, split: str) -> dict[int, int]:
    """Image of a split -> the image that a judge's first seed, in a folder, finds most similar. InputError if
    there are no weights, or they belong to another task."""
    machine.one_thread_device()
    finder = Finder(judge_weights(judge)[0], task, split)
    items = list(finder.rows)
    return {item: items[other] for item, other in zip(items, finder.similar().tolist(), strict=True)}


def listener_weights(config: RetrievalConfig, run: DecodedRun) -> tuple[Path, bool]:
    """The listener of a run's seed, and whether the run trained it. If the run trained other seeds only, the file does
    not exist, which is an error; the initial listener is no substitute. Of others it is the retriever that pays
    them, or the initial one."""
    weights = Path(config.weights[run.name])
    if any(weights.glob("seed*.listener.safetensors")):
        return weights / f"seed{run.seed}.listener.safetensors", True
    return Path(config.payers.get(run.name, config.listener)) / f"seed{run.seed}.safetensors", False


class Finder:
    """A retriever, and its embeddings of all images of the split.

    Args:
        path: the retriever's weights.
        task: name of the task, a folder in artifacts/.
        split: whose images are searched.

    Raises:
        InputError: the file is missing, holds no retriever, or belongs to another task.
    """

    def __init__(self, path: Path, task: str, split: str) -> None:
        self.device = machine.device()
        self.retriever = retrieval.load(path)[0].to(self.device)
        inputs = self.retriever.inputs(ARTIFACTS / task, split)
        self.rows = rows_by_item(inputs)
        self.images = embed_images(self.retriever, inputs, self.device)

    def find(self, captions: SplitCaptions, name: str) -> MetricValues:
        """The rank of each caption's image: `<name>_rank` and `<name>_R@<k>`."""
        own = torch.tensor([self.rows[item] for item in captions.items])
        texts = embed_captions(self.retriever, captions.ids, self.device)
        return _ranked(ranks(texts, self.images, own, compare=self.retriever.compare), name)

    def find_captions(self, captions: SplitCaptions, name: str) -> MetricValues:
        """The best rank of each image's own captions among all captions of other images: `<name>_text_R@<k>` per image,
        in the order of `captions.sets`."""
        rows = {item: row for row, item in enumerate(captions.sets)}
        owners = torch.tensor([rows[item] for item in captions.items], device=self.device)
        images = self.images[[self.rows[item] for item in rows]]
        texts = embed_captions(self.retriever, captions.ids, self.device)
        everything = torch.arange(len(images), device=self.device)
        best = ranks(images, texts, everything, owners, self.retriever.compare_captions).numpy()
        return {f"{name}_text_R@{k}": best <= k for k in KS}

    @torch.no_grad()
    def find_ones(self, captions: SplitCaptions, name: str) -> tuple[MetricValues, MetricValues]:
        """For one caption per image: as `find`, and as `find_captions`, with equal captions in random order."""
        own = torch.tensor([self.rows[item] for item in captions.items], device=self.device)
        scores = self.retriever.compare(embed_captions(self.retriever, captions.ids, self.device), self.images)
        by_image = scores[:, own].T
        texts = {f"{name}_text_R@{k}": shared_recall(by_image, by_image, k, given).numpy() for k in KS}
        return _ranked(ranks(scores, self.images, own, compare=given), name), texts

    def similar(self) -> Tensor:
        """The row of the image that is most similar to each image [n] of the split."""
        images = self.retriever.summarise(self.images)
        return (images @ images.T).fill_diagonal_(-torch.inf).argmax(1)

    @torch.no_grad()
    def choose(self, captions: SplitCaptions) -> NDArray[np.bool_]:
        """Whether each caption [n] scores its own image higher than the most similar one."""
        own = torch.tensor([self.rows[item] for item in captions.items], device=self.device)
        other = self.similar()[own]
        texts = embed_captions(self.retriever, captions.ids, self.device)
        pairs = ((texts[:, None], self.images[rows]) for rows in (own, other))
        right, wrong = (self.retriever.compare_own(*pair).squeeze(1) for pair in pairs)
        return (right > wrong + TIE).cpu().numpy()


def _ranked(own_ranks: Tensor, name: str) -> MetricValues:
    values = own_ranks.numpy()
    return {f"{name}_R@{k}": values <= k for k in KS} | {f"{name}_rank": values}


class Speakers:
    """The initial captioners of runs, one per seed, and what they read of the split.

    Args:
        seeds: those of the runs, at least one.
        config: names the captioners, the task and the split.

    Raises:
        InputError: a file is missing, holds no captioner, or belongs to another task.
    """

    def __init__(self, seeds: Sequence[int], config: JudgedConfig) -> None:
        self.device = machine.device()
        paths = {seed: Path(config.captioner) / f"seed{seed}.safetensors" for seed in seeds}
        loaded = {seed: models.load(path) for seed, path in paths.items()}
        self.captioners = {seed: captioner.to(self.device) for seed, (captioner, _) in loaded.items()}
        task = tasks.load(config.kind, config.task, type(self.captioners[seeds[0]]))
        for seed, (_, metadata) in loaded.items():
            task.check(paths[seed], metadata)
        self.inputs = task.inputs(config.split)
        self.rows = rows_by_item(self.inputs)

    @torch.no_grad()
    def log_prob(self, captions: SplitCaptions, seed: int) -> NDArray[np.float64]:
        """The mean log p of the tokens of each caption [n], nats."""
        captioner, means = self.captioners[seed], []
        rows = np.array([self.rows[item] for item in captions.items])
        for start in range(0, len(rows), CHUNK):
            ids = captions.ids[start : start + CHUNK].to(self.device)
            memory = captioner.encode(self.inputs.get(rows[start : start + CHUNK]).to(self.device))
            written = ids != PAD
            log_p = torch.zeros_like(ids, dtype=torch.double)
            logits = captioner.token_logits(ids, memory).double()
            log_p[written] = -F.cross_entropy(logits, ids[written], reduction="none")
            means.append((log_p.sum(1) / written.sum(1)).cpu().numpy())
        return np.concatenate(means)


def rows_by_item(inputs: Inputs) -> dict[int, int]:
    return {item: row for row, item in enumerate(inputs.ids.tolist())}
