"""What seqcap's public doors cost beside its own code called directly, and beside pycocoevalcap, on COCO's captions.

    OMP_NUM_THREADS=1 python benchmarks/doors.py

A door is what others call: `CaptionReward`, `TokenReward`, `evaluate`, `seqcap.coco`. Directly is the least that gives
the same numbers: captions are split and numbered by a dict, and the kernels called, as the training loop and
`seqcap score` do. The three take turns; each number is the CPU time of a call in its fastest turn, as what else runs on
the machine only slows it. pycocoevalcap gets words; doors for texts get texts, and split them, too. Takes a minute or
two; writes the table results/doors.md beside this file. To expect: ratios near 1.
"""

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from rewards import BATCH, Batch, Captions, Corpus, batch_of, coco, difference, official_bleu

import seqcap
from seqcap.data.tokenizer import tokenize
from seqcap.data.vocabulary import EOS, PAD, SPECIALS, Vocabulary
from seqcap.files.writing import atomic
from seqcap.metrics.quality import Coder, measure
from seqcap.metrics.significance import with_intervals
from seqcap.rewards.bleu import Bleu
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import References

ROUNDS, SECONDS = 7, 0.2  # of CPU in each turn
SHIFT = 100_000
IMAGES = 2_000
SCORED = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "CIDEr")
HEADER = (
    "| door | directly, ms | through the door, ms | ratio | pycocoevalcap, ms | pycocoevalcap over the door |\n"
    "|---|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Door:
    """Three ways to the same values [n]; each is called without arguments."""

    name: str
    direct: Callable[[], Any]
    door: Callable[[], Any]
    theirs: Callable[[], Any]

    def line(self) -> str:
        direct, door, theirs = (1000 * seconds for seconds in in_turns([self.direct, self.door, self.theirs]))
        return f"| {self.name} | {direct:.2f} | {door:.2f} | {door / direct:.2f} | {theirs:.1f} | {theirs / door:.1f} |"


def in_turns(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """CPU seconds of each call in its fastest turn, over rounds in which all take turns."""
    found: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(ROUNDS):
        for call, seconds in zip(calls, found, strict=True):
            begin, number = time.process_time(), 0
            while number == 0 or time.process_time() - begin < SECONDS:
                call()
                number += 1
            seconds.append((time.process_time() - begin) / number)
    return [min(seconds) for seconds in found]


def spelled(corpus: Corpus, ids: Iterable[int]) -> str:
    return " ".join(corpus.words[token] for token in ids if token >= len(SPECIALS))


def rewards_of(corpus: Corpus) -> list[Door]:
    """A batch of a training step, with the document frequencies and the references of the whole split."""
    rng = np.random.default_rng(0)
    batch = batch_of(corpus.references, rng.choice(len(corpus.references), BATCH, replace=False), rng)
    texts = {image: [spelled(corpus, ids) for ids in group] for image, group in enumerate(corpus.references)}
    said = [spelled(corpus, row) for row in batch.rows]
    vocabulary, cider = Vocabulary(corpus.words), CiderD(References(corpus.references))
    # A caption of words is not always split into the same words again.
    split = [[vocabulary.encode_reference(tokenize(text)) for text in group] for group in texts.values()]
    cider_of_texts = CiderD(References(split))
    # As of a tokenizer whose ids are larger than the kernels'.
    number = {token + SHIFT: token for token in range(len(corpus.words))}
    shifted = [[[token + SHIFT for token in ids] for ids in group] for group in corpus.references]
    of_texts = seqcap.CaptionReward("cider", texts)
    of_tokens = seqcap.TokenReward("cider", shifted, pad=PAD + SHIFT, eos=EOS + SHIFT)
    spoken, images = batch.rows + SHIFT, batch.image.tolist()

    def texts_directly() -> Any:
        encoded = [vocabulary.encode(tokenize(caption)) for caption in said]
        rows = np.full((len(encoded), max(map(len, encoded)) + 1), PAD)
        for row, ids in zip(rows, encoded, strict=True):
            row[: len(ids) + 1] = [*ids, EOS]
        return cider_of_texts.score(rows, batch.image)

    def tokens_directly() -> Any:
        rows = np.array([[number[token] for token in row] for row in spoken.tolist()])
        return cider.score(rows, batch.image)

    theirs = official(corpus, batch)
    doors = [
        Door("CaptionReward, CIDEr-D of 50 texts", texts_directly, lambda: of_texts(said, image_id=images), theirs),
        Door("TokenReward, CIDEr-D of 50 x 20 ids", tokens_directly, lambda: of_tokens(spoken, images), theirs),
    ]
    for door in doors:
        assert difference(door.direct(), door.door()) < 1e-9
    return doors


def official(corpus: Corpus, batch: Batch) -> Callable[[], Any]:
    """pycocoevalcap's CIDEr-D of a batch, with document frequencies of the batch: it knows no others."""
    references = {
        key: [spelled(corpus, ids) for ids in corpus.references[image]] for key, image in enumerate(batch.image)
    }
    said = {key: [spelled(corpus, row)] for key, row in enumerate(batch.rows)}
    return lambda: Cider().compute_score(references, said)


def metrics_of(corpus: Corpus, images: int) -> list[Door]:
    """The first images of the split, with a caption each."""
    group: Captions = corpus.references[:images]
    batch = batch_of(group, range(images), np.random.default_rng(1))
    references = {image: [spelled(corpus, ids) for ids in captions] for image, captions in enumerate(group)}
    said = {image: [spelled(corpus, batch.rows[image * (len(batch.rows) // images)])] for image in range(images)}

    def numbered(metric: Any) -> Any:
        coder = Coder()
        cooked = coder.cook([[text.split() for text in texts] for texts in references.values()])
        rows = coder.rows([texts[0].split() for texts in said.values()])
        return metric(cooked).score(rows, np.arange(images))

    def measured() -> Any:
        words = {image: [tokenize(text) for text in texts] for image, texts in references.items()}
        found = measure(words, [(image, tokenize(texts[0])) for image, texts in said.items()], SCORED)
        return with_intervals(found, images)

    def theirs() -> Any:
        return (
            official_bleu(references, said),
            Rouge().compute_score(references, said),
            Cider().compute_score(references, said),
        )

    def drop_in(name: str, kernel: Any, official: Callable[[], Any]) -> Door:
        door = getattr(seqcap.coco, name)
        return Door(
            f"seqcap.coco.{name}, {images:,} images",
            lambda: numbered(kernel),
            lambda: door().compute_score(references, said)[1],
            official,
        )

    metrics: list[tuple[str, Any, Callable[[], Any]]] = [
        ("Cider", CiderD, lambda: Cider().compute_score(references, said)),
        ("Bleu", Bleu, lambda: official_bleu(references, said)),
        ("Rouge", RougeL, lambda: Rouge().compute_score(references, said)),
    ]
    captions = {image: texts[0] for image, texts in said.items()}
    return [
        *(drop_in(*metric) for metric in metrics),
        Door(
            f"evaluate, BLEU, ROUGE-L and CIDEr of {images:,} texts, with intervals",
            measured,
            lambda: seqcap.evaluate(captions, references, SCORED),
            theirs,
        ),
    ]


def main() -> None:
    words, every = coco("val2014")
    corpus = Corpus(words, [captions[:5] for captions in every])
    lines = [HEADER]
    print(HEADER)
    doors = [*rewards_of(corpus), *metrics_of(corpus, IMAGES)]
    # Else a collection that visits these captions falls on one of the three.
    gc.freeze()
    for door in doors:
        lines.append(door.line())
        print(lines[-1], flush=True)
    with atomic(Path(__file__).parent / "results/doors.md") as temporary:
        temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
