"""How fast rewards and metrics are, and how near: against pycocoevalcap on the same captions in the same run.

    OMP_NUM_THREADS=1 python benchmarks/rewards.py

Captions are COCO's (inside pycocoevalcap's SPICE jar): val2014, and train2014 for the memory. An image has 5 hypotheses
and 5 references; rewards use one core and come in batches of 10 images unless said. What pycocoevalcap is given is made
outside the timing. Its `Cider` counts document frequencies anew at every call, so speed is measured with those of the
batch; agreement (5,000 images, 1,000 for BLEU between samples, 800 for METEOR) with those of all images on both sides.
METEOR's jar is warm, gets all captions at once and may use every core. The official SPICE cannot be compared with: its
parser's models are in no package. SPICE (spaCy) as a reward is measured on captions of generated scenes, seen for the
first time (fresh) or again (remembered).

Takes 4 minutes, 3 GB and Linux (/proc), and Java for METEOR's ratio; kernels are compiled in the first run, half a
minute more. Writes results/rewards.json and the table results/rewards.md beside this file. To expect: CIDEr-D 100 times
as fast as pycocoevalcap (25 times where a batch's references are cooked on demand), ROUGE-L 80, BLEU between samples
60, METEOR 8; at least 300 fresh samples/s of SPICE; 5,000 images scored in under 6 s without SPICE and 30 s with it;
differences below 1e-9; and under 1.5 GB for the references of train2014.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pycocoevalcap.bleu.bleu import Bleu as OfficialBleu
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from seqcap.data.tokenizer import tokenize
from seqcap.data.vocabulary import EOS, PAD, SPECIALS
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import read_table, write_table
from seqcap.files.schemas import PARAPHRASES
from seqcap.files.writing import atomic
from seqcap.metrics import meteor as jar
from seqcap.metrics.registry import QUALITY
from seqcap.rewards import PARSES
from seqcap.rewards.bleu import Bleu, pairwise_bleu
from seqcap.rewards.ciderd import CiderD, document_frequencies
from seqcap.rewards.meteor import Lexicon, Meteor
from seqcap.rewards.meteor_resources import filter_paraphrases
from seqcap.rewards.mixture import Mixture, RewardInputs
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import References
from seqcap.rewards.spice import SpiceReward
from seqcap.spice.cache import CachedParser
from seqcap.spice.parser import Parser, normalised
from seqcap.world.captions import DETAILS, plan
from seqcap.world.english import realise
from seqcap.world.graph import Scene, pick, sample

Ints = npt.NDArray[np.int64]
Captions = Sequence[Sequence[Sequence[int]]]
Strings = tuple[dict[int, list[str]], dict[int, list[str]]]
T = TypeVar("T")

HYPOTHESES = REFERENCES = 5
# Words of a caption and EOS.
TIME = 20
# A measurement of speed is the fastest of three passes that take so long together.
SECONDS = 2.4
BATCH, BATCHES = 10, 200
IMAGES, METEOR_IMAGES, PAIRWISE_IMAGES, SCENES = 5_000, 800, 1_000, 500
# In each of three sets: fresh hypotheses can be scored only once.
FRESH_BATCHES = 20
SPIDER = {"cider": 1.0, "spice": 1.0}
SAME = 1e-12


class Corpus(NamedTuple):
    """Words, by id, and every image's captions as ids without EOS."""

    words: list[str]
    references: Captions


class Batch(NamedTuple):
    """Hypotheses [n, TIME] of the images [n]."""

    rows: Ints
    image: Ints


@dataclass(frozen=True)
class Row:
    """One line of the table: ours, theirs and how far they are apart, as far as there is something to compare with."""

    measured: str
    unit: str
    seqcap: float
    pycocoevalcap: float | None = None
    largest_difference: float | None = None
    peak_mb: float | None = None
    remark: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.pycocoevalcap is None else self.seqcap / self.pycocoevalcap

    def to_json(self) -> dict[str, Any]:
        numbers = {
            "seqcap": self.seqcap,
            "pycocoevalcap": self.pycocoevalcap,
            "ratio": self.ratio,
            "peak_mb": self.peak_mb,
        }
        return {
            "measured": self.measured,
            "unit": self.unit,
            "remark": self.remark,
            "largest_difference": self.largest_difference,
            **{name: None if value is None else float(f"{value:.3g}") for name, value in numbers.items()},
        }

    def to_markdown(self) -> str:
        cells = [
            f"{self.measured}, {self.unit}",
            shown(self.seqcap),
            shown(self.pycocoevalcap),
            shown(self.ratio),
            "" if self.largest_difference is None else f"{self.largest_difference:.0e}",
            self.remark if self.peak_mb is None else f"{self.peak_mb:,.0f} MB",
        ]
        return f"| {' | '.join(cells)} |"


HEADER = "| | seqcap | pycocoevalcap | ratio | largest difference | |\n|---|---:|---:|---:|---:|---|"


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def coco(split: str) -> Corpus:
    """All captions of a split, cut to what has room before EOS; ids count up from the specials as words come."""
    package = importlib.util.find_spec("pycocoevalcap")
    assert package is not None
    assert package.submodule_search_locations is not None
    path = Path(package.submodule_search_locations[0]) / "spice" / "spice-1.0.jar"
    with zipfile.ZipFile(path) as archive:
        annotations = json.loads(archive.read(f"coco/annotations/captions_{split}.json"))["annotations"]
    images: dict[int, list[list[int]]] = {}
    ids = {word: number for number, word in enumerate(SPECIALS)}
    for annotation in annotations:
        caption = [ids.setdefault(word, len(ids)) for word in tokenize(annotation["caption"])[: TIME - 1]]
        images.setdefault(annotation["image_id"], []).append(caption)
    return Corpus(list(ids), list(images.values()))


def coco_ids() -> Captions:
    """Five captions of every image of val2014."""
    return [captions[:REFERENCES] for captions in coco("val2014").references]


def hypothesis(references: Captions, image: int, rng: np.random.Generator) -> list[int]:
    """A caption that is right in parts: one of the image's that goes over into another, half the time of any image."""
    first = references[image][int(rng.integers(REFERENCES))]
    other = image if rng.random() < 0.5 else int(rng.integers(len(references)))
    cut = int(rng.integers(len(first) + 1))
    return [*first[:cut], *references[other][int(rng.integers(REFERENCES))][cut:]]


def padded(captions: Sequence[Sequence[int]]) -> Ints:
    rows = np.full((len(captions), TIME), PAD, dtype=np.int64)
    for row, caption in zip(rows, captions, strict=True):
        row[: len(caption) + 1] = [*caption, EOS]
    return rows


def batch_of(references: Captions, images: Iterable[int], rng: np.random.Generator) -> Batch:
    image = np.repeat(np.fromiter(images, dtype=np.int64), HYPOTHESES)
    return Batch(padded([hypothesis(references, index, rng) for index in image.tolist()]), image)


def text(ids: Iterable[int]) -> str:
    """Ids as pycocoevalcap takes them: a word each, EOS included."""
    return " ".join(str(token) for token in ids if token != PAD)


def texts_of(captions: Sequence[Sequence[int]]) -> list[str]:
    return [text([*caption, EOS]) for caption in captions]


def as_strings(references: Captions, batch: Batch) -> Strings:
    """What pycocoevalcap takes: references and hypothesis by key, every hypothesis an entry of its own."""
    return (
        {key: texts_of(references[index]) for key, index in enumerate(batch.image)},
        {key: [text(row)] for key, row in enumerate(batch.rows)},
    )


def official_bleu(references: dict[int, list[str]], hypotheses: dict[int, list[str]]) -> Any:
    return OfficialBleu(4).compute_score(references, hypotheses, verbose=0)


def pairs_of(batch: Batch) -> list[tuple[str, list[str]]]:
    """Each sample of an image with each other one as the only reference."""
    spoken = [text(row) for row in batch.rows]
    images = [spoken[start : start + HYPOTHESES] for start in range(0, len(spoken), HYPOTHESES)]
    return [(one, [other]) for of_image in images for one, other in permutations(of_image, 2)]


def official_pairwise(pairs: Sequence[tuple[str, list[str]]]) -> Any:
    scorer = BleuScorer(n=4)
    for pair in pairs:
        scorer += pair
    return scorer.compute_score(option="closest")


def our_pairwise(batch: Batch) -> npt.NDArray[np.float64]:
    return pairwise_bleu(batch.rows.reshape(-1, HYPOTHESES, TIME))


class OnDemand:
    """CIDEr-D where only the document frequencies are known beforehand, not which images will come."""

    def __init__(self, references: Captions) -> None:
        self._references = references
        self._frequencies = document_frequencies(References(references))

    def score(self, rows: Ints, image: Ints) -> npt.NDArray[np.float64]:
        """As of `CiderD`; the hypotheses of an image follow each other."""
        captions = [self._references[index] for index in image[::HYPOTHESES]]
        reward = CiderD(References(captions), self._frequencies)
        return reward.score(rows, np.arange(len(captions)).repeat(HYPOTHESES))


def per_second(call: Callable[..., Any], inputs: Sequence[Any], units: int) -> float:
    """Units of work a second, `units` of them in each input: the fastest of three passes. What else runs on the
    machine only slows it."""
    call(*inputs[0])
    best = 0.0
    for _ in range(3):
        calls, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < SECONDS / 3:
            call(*inputs[calls % len(inputs)])
            calls += 1
        best = max(best, calls * units / (time.perf_counter() - begin))
    return best


def one_pass(call: Callable[..., Any], inputs: Sequence[Any], units: int) -> float:
    """As `per_second`, for what can be done only once."""
    begin = time.perf_counter()
    for arguments in inputs:
        call(*arguments)
    return len(inputs) * units / (time.perf_counter() - begin)


def seconds_of(call: Callable[[], T]) -> tuple[float, T]:
    begin = time.perf_counter()
    value = call()
    return time.perf_counter() - begin, value


def difference(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> float:
    return float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())


def agreement(references: Captions) -> dict[str, float]:
    """Largest differences over images with 5 hypotheses each, document frequencies being those of the same images."""
    batch = batch_of(references, range(len(references)), np.random.default_rng(1))
    cooked, on_demand = References(references), OnDemand(references)
    size = BATCH * HYPOTHESES
    parts = [
        Batch(batch.rows[start : start + size], batch.image[start : start + size])
        for start in range(0, len(batch.rows), size)
    ]
    cider, bleu, rouge = CiderD(cooked).score(*batch), Bleu(cooked).score(*batch), RougeL(cooked).score(*batch)
    demanded = np.concatenate([on_demand.score(*part) for part in parts])
    texts = dict(enumerate(map(texts_of, references)))
    found: dict[str, list[float]] = {}
    # One hypothesis of every image at a time: frequencies are counted over the images that are passed.
    for slot in range(HYPOTHESES):
        chosen = slice(slot, None, HYPOTHESES)
        spoken = {key: [text(row)] for key, row in enumerate(batch.rows[chosen])}
        ciders = Cider().compute_score(texts, spoken)[1]
        found.setdefault("cider", []).append(difference(cider[chosen], ciders))
        found.setdefault("demanded", []).append(difference(demanded[chosen], ciders))
        found.setdefault("bleu", []).append(difference(bleu[chosen].T, official_bleu(texts, spoken)[1]))
        found.setdefault("rouge", []).append(difference(rouge[chosen], Rouge().compute_score(texts, spoken)[1]))
    part = Batch(batch.rows[: PAIRWISE_IMAGES * HYPOTHESES], batch.image[: PAIRWISE_IMAGES * HYPOTHESES])
    others = ~np.eye(HYPOTHESES, dtype=bool)
    found["pairwise"] = [
        difference(our_pairwise(part)[:, others].reshape(-1, 4).T, official_pairwise(pairs_of(part))[1])
    ]
    return {name: max(values) for name, values in found.items()}


def sequences(references: Captions) -> list[Row]:
    """CIDEr-D, BLEU and ROUGE-L."""
    rng = np.random.default_rng(0)
    cooked = References(references)
    cider, on_demand, bleu, rouge = CiderD(cooked), OnDemand(references), Bleu(cooked), RougeL(cooked)
    batches, large = (
        [batch_of(references, rng.choice(len(references), size, replace=False), rng) for _ in range(BATCHES)]
        for size in (BATCH, 5 * BATCH)
    )
    strings, large_strings = ([as_strings(references, batch) for batch in made[:20]] for made in (batches, large))
    alone = [(batch,) for batch in batches]
    pairs = [(pairs_of(batch),) for batch in batches[:20]]
    unit = "images/s"
    theirs = per_second(Cider().compute_score, strings, BATCH)
    apart = agreement(references[:IMAGES])
    return [
        Row("CIDEr-D, batches of 10", unit, per_second(cider.score, batches, BATCH), theirs, apart["cider"]),
        Row(
            "CIDEr-D, batches of 50",
            unit,
            per_second(cider.score, large, 5 * BATCH),
            per_second(Cider().compute_score, large_strings, 5 * BATCH),
            apart["cider"],
        ),
        Row(
            "CIDEr-D, batches of 10, references cooked on demand",
            unit,
            per_second(on_demand.score, batches, BATCH),
            theirs,
            apart["demanded"],
        ),
        Row(
            "BLEU-1 to BLEU-4",
            unit,
            per_second(bleu.score, batches, BATCH),
            per_second(official_bleu, strings, BATCH),
            apart["bleu"],
        ),
        Row(
            "ROUGE-L",
            unit,
            per_second(rouge.score, batches, BATCH),
            per_second(Rouge().compute_score, strings, BATCH),
            apart["rouge"],
        ),
        Row(
            "BLEU-1 to BLEU-4 between 5 samples",
            unit,
            per_second(our_pairwise, alone, BATCH),
            per_second(official_pairwise, pairs, BATCH),
            apart["pairwise"],
        ),
    ]


def meteor(corpus: Corpus) -> list[Row]:
    """METEOR as a reward, batch after batch, against the jar, which gets everything at once."""
    references, rng = corpus.references[:METEOR_IMAGES], np.random.default_rng(2)
    filtering, paraphrases = seconds_of(lambda: filter_paraphrases(corpus.words[len(SPECIALS) :]))
    building, lexicon = seconds_of(lambda: Lexicon(corpus.words, paraphrases))
    reward = Meteor(References(references, eos=False), lexicon)
    batches = [batch_of(references, range(start, start + BATCH), rng) for start in range(0, len(references), BATCH)]
    ours = per_second(reward.score, batches, BATCH * HYPOTHESES)
    scores = np.concatenate([reward.score(*batch) for batch in batches])

    def spelled(ids: Iterable[int]) -> list[str]:
        return [corpus.words[token] for token in ids if token >= len(SPECIALS)]

    texts = {index: [spelled(caption) for caption in captions] for index, captions in enumerate(references)}
    captions = [(int(index), spelled(row)) for batch in batches for row, index in zip(*batch, strict=True)]
    theirs, apart, remark = None, None, ""
    try:
        with jar.Meteor() as program:
            program.score_captions(texts, captions[: len(captions) // 2])
            passes = [seconds_of(lambda: program.score_captions(texts, captions)[0]) for _ in range(2)]
        # What was asked twice is aligned once.
        asked = len({(index, *tokens) for index, tokens in captions})
        theirs = asked / min(seconds for seconds, _ in passes)
        apart = difference(scores, passes[0][1])
        remark = f"{100 * np.mean(np.abs(scores - passes[0][1]) <= SAME):.2f}% equal within {SAME:.0e}"
    except jar.MeteorUnavailable as error:
        remark = str(error)
    return [
        Row("METEOR", "hypotheses/s", ours, theirs, apart, remark=remark),
        Row("METEOR's paraphrases filtered", "s", filtering, remark=f"to {len(corpus.words):,} words"),
        Row("METEOR's lexicon of these words", "s", building, remark=f"{len(paraphrases):,} paraphrases"),
    ]


class Annotators:
    """Captions of generated scenes."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._said: set[tuple[str, ...]] = set()
        self.scenes = [sample(self._rng) for _ in range(SCENES)]

    def tell(self, scene: Scene) -> list[str]:
        return list(realise(plan(scene, pick(self._rng, DETAILS, (4, 4, 2)), 0.05, self._rng), self._rng))

    def tell_new(self, scene: Scene) -> list[str]:
        """What was never told before, of another scene if need be."""
        caption = self.tell(scene)
        while tuple(caption) in self._said:
            caption = self.tell(sample(self._rng))
        self._said.add(tuple(caption))
        return caption


def scene_captions() -> tuple[Corpus, list[list[Batch]]]:
    """References of scenes, and three sets of batches of hypotheses, all different."""
    annotators = Annotators(3)
    ids = {word: number for number, word in enumerate(SPECIALS)}

    def encoded(caption: Sequence[str]) -> list[int]:
        return [ids.setdefault(word, len(ids)) for word in caption[: TIME - 1]]

    references = [[encoded(annotators.tell(scene)) for _ in range(REFERENCES)] for scene in annotators.scenes]
    rng = np.random.default_rng(4)
    sets: list[list[Batch]] = [[], [], []]
    for made in sets:
        for _ in range(FRESH_BATCHES):
            image = rng.choice(SCENES, BATCH, replace=False).repeat(HYPOTHESES)
            captions = [encoded(annotators.tell_new(annotators.scenes[index])) for index in image]
            made.append(Batch(padded(captions), image))
    return Corpus(list(ids), references), sets


def spice(coco_words: Corpus) -> list[Row]:
    """SPICE (spaCy) and SPIDEr as rewards, and the parser alone."""
    corpus, sets = scene_captions()
    size = BATCH * HYPOTHESES
    rows = []
    # A mixture keeps the references' parses in a file below the current folder.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        loading, parser = seconds_of(lambda: Parser(processes=1))
        captions = [" ".join(coco_words.words[token] for token in texts[0]) for texts in coco_words.references]
        parsed = [([normalised(caption) for caption in captions[start : start + 1500]],) for start in (0, 1500, 3000)]
        speed = max(one_pass(lambda texts: list(parser.parse(texts)), [texts], 1500) for texts in parsed)
        rows.append(
            Row("SPICE's parser (spaCy), COCO's captions", "captions/s", speed, remark=f"loaded in {loading:.1f} s")
        )
        rewards: dict[str, SpiceReward | Mixture] = {
            "SPICE (spaCy)": SpiceReward(
                References(corpus.references, eos=False), corpus.words, CachedParser(PARSES, parser)
            ),
            "SPIDEr (spaCy)": Mixture(SPIDER, RewardInputs(corpus.references, corpus.words)),
        }
        for name, reward in rewards.items():
            fresh = max(one_pass(reward.score, made, size) for made in sets)
            rows.append(Row(f"{name}, fresh samples", "samples/s", fresh))
            remembered = per_second(reward.score, [batch for made in sets for batch in made], size)
            rows.append(Row(f"{name}, remembered samples", "samples/s", remembered))
    return rows


def status(pid: int | str, field: str) -> float:
    """A size in a process's status, in MB; 0 if it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) / 1024
    return 0.0


def resident(pid: int) -> float:
    """MB of a process and its children now."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return status(pid, "VmRSS") + sum(resident(int(child)) for child in children)
    return 0.0


def timed(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds that a command takes, and the largest memory it is seen with, in MB."""
    with tempfile.TemporaryFile() as output:
        begin, peak = time.perf_counter(), 0.0
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        while True:
            try:
                code = process.wait(timeout=0.05)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, resident(process.pid))
        seconds = time.perf_counter() - begin
        if code:
            output.seek(0)
            raise RuntimeError(output.read().decode())
    return seconds, peak


def score(corpus: Corpus) -> list[Row]:
    """`seqcap score` as a user runs it, on a caption of each of 5,000 images."""
    rng = np.random.default_rng(5)
    references = corpus.references[:IMAGES]

    def record(image: int, ids: Iterable[int]) -> dict[str, Any]:
        return {"image_id": image, "caption": " ".join(corpus.words[token] for token in ids)}

    annotations = [record(image, ids) for image, captions in enumerate(references) for ids in captions]
    results = [record(image, hypothesis(references, image, rng)) for image in range(len(references))]
    fast = [metric for metric in QUALITY if metric not in ("SPICE", "SPIDEr")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("references.json", "candidates.json")]
        write_json(files[0], {"annotations": annotations})
        write_json(files[1], results)
        command = [
            sys.executable,
            "-m",
            "seqcap",
            "score",
            "--references",
            str(files[0]),
            "--candidates",
            str(files[1]),
        ]
        cases = {
            "without SPICE, first time": [*command, "--metrics", *fast],
            "without SPICE": [*command, "--metrics", *fast],
            "all metrics, first time": command,
            "all metrics": command,
        }
        for case, arguments in cases.items():
            seconds, peak = timed(arguments, os.environ | {"XDG_CACHE_HOME": folder})
            rows.append(Row(f"`seqcap score`, {len(references):,} images, {case}", "s", seconds, peak_mb=peak))
    return rows


STORED = ("tokens.npy", "captions.npy", "images.npy")
WORDS_FILE, PARAPHRASES_FILE = "words.json", "paraphrases.parquet"


class Stored(Sequence[list[list[int]]]):
    """Captions in arrays, lists only while they are looked at."""

    def __init__(self, folder: Path) -> None:
        self._tokens, self._captions, self._images = (np.load(folder / name) for name in STORED)

    def __len__(self) -> int:
        return len(self._images) - 1

    def __getitem__(self, image: Any) -> Any:
        if image >= len(self):
            raise IndexError(image)
        bounds = self._captions[self._images[image] : self._images[image + 1] + 1]
        return [self._tokens[start:end].tolist() for start, end in pairwise(bounds)]


def store(folder: Path) -> None:
    """Writes what a training run finds: captions, words, paraphrases."""
    corpus = coco("train2014")
    captions = [caption for of_image in corpus.references for caption in of_image]
    sizes = ([len(caption) for caption in captions], [len(of_image) for of_image in corpus.references])
    arrays = (np.concatenate(captions).astype(np.int32), *(np.cumsum([0, *lengths]) for lengths in sizes))
    for name, array in zip(STORED, arrays, strict=True):
        np.save(folder / name, array)
    write_json(folder / WORDS_FILE, corpus.words)
    write_table(folder / PARAPHRASES_FILE, filter_paraphrases(corpus.words[len(SPECIALS) :]), PARAPHRASES)


def cook(captions: Captions, words: Sequence[str], paraphrases: pa.Table) -> None:
    """Builds every reward that needs no parser, and has each score something."""
    cooked = References(captions)
    lexicon = Lexicon(words, paraphrases)
    for reward in (CiderD(cooked), Bleu(cooked), RougeL(cooked), Meteor(References(captions, eos=False), lexicon)):
        reward.score(padded(captions[0]), np.zeros(len(captions[0]), dtype=np.int64))


def measure_memory(case: str, folder: Path) -> None:
    """Prints MB before and after all references of train2014 are cooked, and the seconds it takes."""
    if case == "store":
        store(folder)
        return
    corpus = coco("train2014") if case == "lists" else Corpus(read_json(folder / WORDS_FILE), Stored(folder))
    paraphrases = read_table(folder / PARAPHRASES_FILE, PARAPHRASES)
    before = status("self", "VmHWM")
    seconds, _ = seconds_of(lambda: cook(corpus.references, corpus.words, paraphrases))
    print(json.dumps([before, status("self", "VmHWM"), seconds, len(corpus.references)]))


def memory() -> list[Row]:
    """Peaks of processes of their own, as the system counts them: a child's `ru_maxrss` would hold its parent's."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case, held in (("store", ""), ("stored", "arrays"), ("lists", "Python lists")):
            command = [sys.executable, __file__, "--memory", case, "--folder", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            if held:
                before, after, seconds, images = json.loads(done.stdout)
                name = f"memory of all rewards but SPICE for {images:,} images, captions in {held}"
                remark = f"{before:,.0f} MB of it before; cooked in {seconds:.0f} s"
                rows.append(Row(name, "MB", after, remark=remark))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", choices=("store", "stored", "lists"), help="internal")
    parser.add_argument("--folder", type=Path, help="internal")
    arguments = parser.parse_args()
    if arguments.memory:
        measure_memory(arguments.memory, arguments.folder)
        return
    begin = time.perf_counter()
    words, every = coco("val2014")
    corpus = Corpus(words, [captions[:REFERENCES] for captions in every])
    rows: list[Row] = []
    print(HEADER)
    parts: list[Callable[[], list[Row]]] = [
        lambda: sequences(corpus.references),
        lambda: meteor(corpus),
        lambda: spice(corpus),
        lambda: score(corpus),
        memory,
    ]
    for part in parts:
        made = part()
        rows += made
        print("\n".join(row.to_markdown() for row in made), flush=True)
    minutes = (time.perf_counter() - begin) / 60
    print(f"\n{minutes:.1f} minutes, {status('self', 'VmHWM'):,.0f} MB")
    folder = Path(__file__).parent / "results"
    report = {
        "captions": {
            "images": len(corpus.references),
            "hypotheses": HYPOTHESES,
            "references": REFERENCES,
            "time": TIME,
        },
        "machine": {
            "cpus": os.cpu_count(),
            "numba": numba.__version__,
            "numpy": np.__version__,
            "processor": platform.machine(),
            "python": platform.python_version(),
            "threads": os.environ.get("OMP_NUM_THREADS"),
        },
        "rows": [row.to_json() for row in rows],
    }
    write_json(folder / "rewards.json", report)
    with atomic(folder / "rewards.md") as temporary:
        temporary.write_text("\n".join([HEADER, *(row.to_markdown() for row in rows), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
