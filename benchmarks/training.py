"""Images per second of the objectives' training steps at COCO's shapes, against textbook PyTorch.

    python benchmarks/training.py

LSTM of 512, vocabulary 9,487, 5 samples and 5 references an image, captions of COCO val2014 (inside pycocoevalcap's
SPICE jar), random features. "Textbook" is what most repositories do with the public packages alone: an LSTMCell looped
over all steps, torch.distributions.Categorical, every padded step projected onto the vocabulary, pycocoevalcap's Cider
as the reward; for loss smoothing a target row of the whole vocabulary at every step, and captions changed one by one
with NumPy (lazy, so that both feed each caption once). Both start from the same captioner, trained for some steps so
that samples have the lengths of captions.

"Products" are the matrix products of such a step and nothing else, with as many rows as its captions have tokens: those
that any implementation needs in float32. Captions are multiplied once, sampled and greedy ones, too; seqcap multiplies
samples twice, without a gradient and with one. Loss smoothing needs what cross-entropy needs, and exploration what the
self-critical step needs.

The Transformer has OFA-tiny's sizes and reads grids of 14 x 14 cells; its cross-entropy and its beam of 5 run beside
BART of transformers (https://github.com/huggingface/transformers), with as many layers of the same sizes. It encodes
each image once for all its captions, too. The weights of both are random: every beam is 20 tokens long.

Each case runs in a process of its own, for its peak memory. Takes about 20 minutes; writes results/training.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pycocoevalcap.cider.cider_scorer import CiderScorer
from rewards import coco_ids, status
from torch import Tensor, nn
from torch.distributions import Categorical

from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.files.json_file import write_json
from seqcap.files.tensors import load_weights, save_weights
from seqcap.models import decoding, transformer
from seqcap.models.base import repeat
from seqcap.models.lstm import Config, Model
from seqcap.objectives import cross_entropy, self_critical, sequence_exploration, sequence_smoothing, token_smoothing
from seqcap.objectives.base import Batch, Context
from seqcap.objectives.smoothing import FIRST_WORD
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.sequences import References

HIDDEN, CHANNELS, VOCABULARY, SAMPLES, TIME, IMAGES = 512, 2048, 9487, 5, 20, 5000
ITEMS = np.arange(IMAGES)
# Loss smoothing's: Tok rfreq and Seq on COCO.
TAU, BETA, SEQUENCE_TAU, ALPHA = 0.18, 0.18, 0.1, 0.4
# The Transformer's. Its features are a hundred times as large: there are as many as two batches.
OFA_TINY = transformer.Config(hidden=256, layers=4, heads=4, feed_forward=1024)
GRID, GRIDS, WIDTH = (14, 14), 100, 5
TRANSFORMER_TASKS = ("transformer_xe", "transformer_beam")
TASKS = ("xe", "self_critical", "exploration", "token_smoothing", "sequence_smoothing", *TRANSFORMER_TASKS)
CASES = [
    (task, code, batch, threads)
    for task in TASKS
    for code in ("seqcap", "textbook")
    for batch in (10, 50)
    for threads in (1, 2)
    # The exploration step's textbook reward is minutes of pure Python: the self-critical one stands for both.
    if not (task == "exploration" and code == "textbook")
]
# The task whose products are those of each task of the LSTM.
PRODUCTS = {
    "xe": "xe",
    "self_critical": "self_critical",
    "exploration": "self_critical",
    "token_smoothing": "xe",
    "sequence_smoothing": "xe",
}
CASES += [
    (task, "products", batch, threads) for task in ("xe", "self_critical") for batch in (10, 50) for threads in (1, 2)
]


class Data:
    """Batches of COCO captions with random features, one vector an image or a grid of them."""

    def __init__(self, grid: bool = False) -> None:
        self.references = [
            [[min(token, VOCABULARY - 1) for token in caption] for caption in captions]
            for captions in coco_ids()[:IMAGES]
        ]
        shape = (GRIDS, *GRID, CHANNELS) if grid else (IMAGES, CHANNELS)
        self.features = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        self.captions = torch.full((IMAGES, 5, TIME), PAD)
        for i, captions in enumerate(self.references):
            for j, caption in enumerate(captions):
                self.captions[i, j, : len(caption) + 1] = torch.tensor([*caption, EOS])
        self.frequencies = torch.bincount(self.captions[self.captions != PAD], minlength=VOCABULARY)
        self.embeddings = torch.randn(VOCABULARY, 300, generator=torch.Generator().manual_seed(1))
        self.embeddings[:FIRST_WORD] = 0

    def batch(self, size: int, step: int) -> Batch:
        chosen = np.random.default_rng(step).permutation(IMAGES)[:size]
        captions = self.captions[chosen]
        captions = captions[:, :, : int((captions != PAD).sum(2).max())]
        return Batch(self.features[chosen % len(self.features)], chosen, captions)


def captioner() -> Model:
    torch.manual_seed(0)
    return Model(Config(hidden=HIDDEN, image_input="initial_state"), VOCABULARY, (CHANNELS,))


def optimise(parameters: Any, loss: Callable[[Batch], Tensor], fused: bool) -> Callable[[Batch], None]:
    optimizer = torch.optim.Adam(parameters, lr=1e-5, fused=fused)

    def step(batch: Batch) -> None:
        optimizer.zero_grad(set_to_none=True)
        loss(batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()

    return step


class Textbook:
    """The same captioner and losses, written the straightforward way."""

    def __init__(self, model: Model, data: Data) -> None:
        self.model = model
        self.scorer = CiderScorer()
        self.texts = [[" ".join(map(str, [*c, EOS])) for c in captions] for captions in data.references]
        for captions in self.texts:
            self.scorer += (captions[0], captions)
        self.scorer.compute_doc_freq()
        self.rng = np.random.default_rng(0)
        vectors, frequencies = nn.functional.normalize(data.embeddings, dim=1), data.frequencies.float()
        rare = torch.minimum(frequencies[:, None], frequencies) / torch.maximum(frequencies[:, None], frequencies)
        similar = (vectors @ vectors.T - BETA * rare.nan_to_num()) / TAU
        similar[:, :FIRST_WORD] = -torch.inf
        self.targets = torch.softmax(similar, dim=1)
        self.targets[:FIRST_WORD] = torch.eye(VOCABULARY)[:FIRST_WORD]

    def cell(self, tokens: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h, c = torch.lstm_cell(self.model.embedding(tokens), state, *self.model.lstm.all_weights[0])
        return torch.log_softmax(self.model.logits(h), 1), (h, c)

    def start(self, features: Tensor, times: int) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h = self.model.image(features).repeat_interleave(times, 0)
        return torch.full((len(h),), BOS), (h, torch.zeros_like(h))

    def forced(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Captions [n, time], and log-probabilities [n, time, V] at each of their tokens."""
        captions = batch.captions.flatten(0, 1)
        inputs, state = self.start(batch.features, captions.shape[0] // len(batch.features))
        log_probs = []
        for t in range(captions.shape[1]):
            log_p, state = self.cell(inputs, state)
            inputs = captions[:, t]
            log_probs.append(log_p)
        return captions, torch.stack(log_probs, 1)

    @staticmethod
    def mean(losses: Tensor, captions: Tensor) -> Tensor:
        mask = (captions != PAD).float()
        return (losses * mask).sum() / mask.sum()

    def xe(self, batch: Batch) -> Tensor:
        captions, log_p = self.forced(batch)
        return self.mean(-log_p.gather(2, captions[:, :, None]).squeeze(2), captions)

    def token_smoothing(self, batch: Batch) -> Tensor:
        captions, log_p = self.forced(batch)
        hard = -log_p.gather(2, captions[:, :, None]).squeeze(2)
        smooth = -(self.targets[captions] * log_p).sum(2)
        return self.mean(ALPHA * smooth + (1 - ALPHA) * hard, captions)

    def sequence_smoothing(self, batch: Batch) -> Tensor:
        captions, log_p = self.forced(batch)
        loss = (1 - ALPHA) * self.mean(-log_p.gather(2, captions[:, :, None]).squeeze(2), captions)
        for _ in range(SAMPLES):
            changed = torch.stack([self.change(caption) for caption in captions])
            loss = loss + ALPHA / SAMPLES * self.mean(-log_p.gather(2, changed[:, :, None]).squeeze(2), captions)
        return loss

    def change(self, caption: Tensor) -> Tensor:
        """A caption with some words substituted, d of them with p(d) ~ C(T, d) (V - 1)^d exp(-d / tau)."""
        words = np.flatnonzero(caption.numpy() >= FIRST_WORD)
        number, alternatives = len(words), VOCABULARY - FIRST_WORD - 1
        p = np.array([comb(number, d) * (alternatives * np.exp(-1 / SEQUENCE_TAU)) ** d for d in range(number + 1)])
        d = self.rng.choice(number + 1, p=p / p.sum())
        changed = caption.clone()
        for place in self.rng.choice(words, d, replace=False):
            changed[place] = int(self.rng.integers(FIRST_WORD, VOCABULARY))
        return changed

    def sample(self, features: Tensor, times: int, greedy: bool) -> tuple[Tensor, Tensor]:
        inputs, state = self.start(features, times)
        going = torch.ones(len(inputs), dtype=torch.bool)
        tokens, log_probs = [], []
        for _ in range(TIME):
            log_p, state = self.cell(inputs, state)
            inputs = log_p.argmax(1) if greedy else Categorical(logits=log_p).sample()
            tokens.append(inputs.masked_fill(~going, PAD))
            log_probs.append(log_p.gather(1, inputs[:, None]).squeeze(1).masked_fill(~going, 0))
            going = going & (inputs != EOS)
            if not bool(going.any()):
                break
        return torch.stack(tokens, 1), torch.stack(log_probs, 1).sum(1)

    def reward(self, tokens: Tensor, images: np.ndarray) -> Tensor:
        scorer = CiderScorer()
        for row, image in zip(tokens.tolist(), images, strict=True):
            scorer += (" ".join(str(token) for token in row if token != PAD), self.texts[image])
        scorer.document_frequency = self.scorer.document_frequency
        return torch.tensor(scorer.compute_cider()).float()

    def self_critical(self, batch: Batch) -> Tensor:
        tokens, log_prob = self.sample(batch.features, SAMPLES, greedy=False)
        with torch.no_grad():
            greedy, _ = self.sample(batch.features, 1, greedy=True)
        baseline = self.reward(greedy, batch.images).repeat_interleave(SAMPLES)
        return -((self.reward(tokens, batch.images.repeat(SAMPLES)) - baseline) * log_prob).mean()


class Bart(nn.Module):
    """BART with an image's cells as its encoder's inputs."""

    def __init__(self) -> None:
        super().__init__()
        import transformers

        import seqcap.features.torchvision_shim  # noqa: F401  # transformers imports torchvision

        transformers.logging.set_verbosity_error()
        hidden, layers, heads, inner = OFA_TINY.hidden, OFA_TINY.layers, OFA_TINY.heads, OFA_TINY.feed_forward
        sizes = {"layers": layers, "attention_heads": heads, "ffn_dim": inner}
        config = transformers.BartConfig(
            vocab_size=VOCABULARY,
            d_model=hidden,
            max_position_embeddings=GRID[0] * GRID[1],
            dropout=0.0,
            tie_word_embeddings=False,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
            forced_eos_token_id=None,
            **{f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in sizes.items()},
        )
        self.cells = nn.Linear(CHANNELS, hidden)
        self.bart = transformers.BartForConditionalGeneration(config)

    def encode(self, batch: Batch, times: int) -> Any:
        """What the decoder attends to, of each image `times` times in a row."""
        encoded = self.bart.get_encoder()(inputs_embeds=self.cells(batch.features.flatten(1, 2)))
        encoded.last_hidden_state = encoded.last_hidden_state.repeat_interleave(times, 0)
        return encoded

    def xe(self, batch: Batch) -> Tensor:
        captions = batch.captions.flatten(0, 1)
        encoded = self.encode(batch, captions.shape[0] // len(batch.features))
        return self.bart(encoder_outputs=encoded, labels=captions.masked_fill(captions == PAD, -100)).loss

    @torch.no_grad()
    def beam(self, batch: Batch) -> Tensor:
        return self.bart.generate(
            encoder_outputs=self.encode(batch, 1), num_beams=WIDTH, max_new_tokens=TIME, length_penalty=0.0
        )


def transformer_step(task: str, code: str, data: Data) -> Callable[[Batch], Any]:
    """A training step or a beam search of the Transformer or of BART."""
    torch.manual_seed(0)
    if code == "textbook":
        bart = Bart()
        return optimise(list(bart.parameters()), bart.xe, True) if task == "transformer_xe" else bart.eval().beam
    model = transformer.Model(OFA_TINY, VOCABULARY, (*GRID, CHANNELS))
    if task == "transformer_xe":
        objective = cross_entropy.Model(cross_entropy.Config(), context(data))
        return optimise(list(model.parameters()), lambda batch: objective(model, batch)[0], True)
    model.eval().requires_grad_(False)
    return lambda batch: decoding.beam(model, model.encode(batch.features), TIME, WIDTH)


def context(data: Data) -> Context:
    reward = CiderD(References(data.references))
    return Context(reward, TIME, HIDDEN, 1, data.embeddings, data.frequencies, {}, 1, Path(), ITEMS)


def lstm_step(task: str, code: str, size: int, data: Data, weights: Path) -> Callable[[Batch], None]:
    """A training step of the LSTM captioner on `size` images, or its products alone."""
    model = captioner()
    model.load_state_dict(load_weights(weights)[0])
    model.train()
    if code == "textbook":
        textbook = Textbook(model, data)
        return optimise(list(model.parameters()), getattr(textbook, task), False)
    if code == "products":
        return products(task, model, data.batch(size, 0))
    about = context(data)
    token = token_smoothing.Config(tau=TAU, beta=BETA, alpha=ALPHA)
    sequence = sequence_smoothing.Config(tau=SEQUENCE_TAU, alpha=ALPHA, samples=SAMPLES, lazy=True)
    objective = {
        "xe": lambda: cross_entropy.Model(cross_entropy.Config(), about),
        "self_critical": lambda: self_critical.Model(self_critical.Config(samples=SAMPLES), about),
        "exploration": lambda: sequence_exploration.Model(sequence_exploration.Config(samples=SAMPLES), about),
        "token_smoothing": lambda: token_smoothing.Model(token, about),
        "sequence_smoothing": lambda: sequence_smoothing.Model(sequence, about),
    }[task]()
    return optimise(list(model.parameters()), lambda batch: objective(model, batch)[0], True)


class Products:
    """The matrix products of an LSTM's training step, into memory that is there.

    Args:
        images: number of images.
        computed: tokens of each caption that the step computes, [n].
        trained: of these, tokens of each caption that it takes gradients of, [m].
    """

    def __init__(self, images: int, computed: Tensor, trained: Tensor) -> None:
        self.pairs: list[tuple[Tensor, Tensor, Tensor]] = []
        tokens, with_gradient, gates = int(computed.sum()), int(trained.sum()), 4 * HIDDEN
        self.add(images, CHANNELS, HIDDEN)
        # Of the weights alone: features are not trained.
        self.add(CHANNELS, images, HIDDEN)
        for outputs in (gates, VOCABULARY):
            self.add(tokens, HIDDEN, outputs)
            self.add(with_gradient, outputs, HIDDEN)
            self.add(HIDDEN, with_gradient, outputs)
        # From one state to the next; the gradient of the weights takes all steps at once.
        for lengths, inner, outer in ((computed, HIDDEN, gates), (trained, gates, HIDDEN)):
            for step in range(int(lengths.max())):
                self.add(int((lengths > step).sum()), inner, outer)
        self.add(HIDDEN, with_gradient, gates)

    def add(self, rows: int, inner: int, columns: int) -> None:
        self.pairs.append((torch.randn(rows, inner), torch.randn(inner, columns), torch.empty(rows, columns)))

    def __call__(self, _: Batch) -> None:
        for left, right, out in self.pairs:
            torch.mm(left, right, out=out)


def products(task: str, model: Model, batch: Batch) -> Products:
    """Those of a step on a batch.

    Args:
        task: xe or self_critical.
        model: draws the captions of self_critical; only their lengths matter.
    """
    images = len(batch.images)
    if task == "xe":
        lengths = (batch.captions != PAD).sum(2).flatten()
        return Products(images, lengths, lengths)
    with torch.no_grad():
        memory = repeat(model.encode(batch.features), SAMPLES + 1)
        greedy = torch.arange(images * (SAMPLES + 1)) % (SAMPLES + 1) == SAMPLES
        lengths = (decoding.rollout(model, memory, TIME, greedy).tokens != PAD).sum(1)
    return Products(images, lengths, lengths[~greedy])


def run_case(task: str, code: str, size: int, threads: int, weights: Path) -> dict[str, Any]:
    """Measures one case in this process."""
    torch.set_num_threads(threads)
    of_transformer = task in TRANSFORMER_TASKS
    data = Data(grid=of_transformer)
    step = transformer_step(task, code, data) if of_transformer else lstm_step(task, code, size, data, weights)
    step(data.batch(size, 0))
    steps, begin = 0, time.perf_counter()
    while steps < 3 or time.perf_counter() - begin < 10:
        steps += 1
        step(data.batch(size, steps))
    speed = steps * size / (time.perf_counter() - begin)
    memory = status("self", "VmHWM") / 1e3
    return {"task": task, "code": code, "batch": size, "threads": threads, "images_per_s": speed, "peak_gb": memory}


def pretrain(weights: Path) -> None:
    """Some cross-entropy steps, so that samples end where captions do."""
    torch.set_num_threads(2)
    data, model = Data(), captioner()
    objective = cross_entropy.Model(cross_entropy.Config(), context(data))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    for at in range(60):
        optimizer.zero_grad(set_to_none=True)
        objective(model, data.batch(50, 1000 + at))[0].backward()
        optimizer.step()
    save_weights(weights, model.state_dict(), {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="measure these, keep the others")
    parser.add_argument("--case", help="JSON of one case; internal")
    parser.add_argument("--weights", type=Path, help="internal")
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(run_case(*json.loads(arguments.case), arguments.weights)))
        return
    path = Path(__file__).parent / "results" / "training.json"
    before = json.loads(path.read_text())["cases"] if path.exists() else []
    results = [case for case in before if case["task"] not in arguments.tasks]
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "captioner.safetensors"
        if not set(arguments.tasks) <= set(TRANSFORMER_TASKS):
            pretrain(weights)
        for case in [case for case in CASES if case[0] in arguments.tasks]:
            environment = os.environ | {"OMP_NUM_THREADS": str(case[3])}
            command = [sys.executable, __file__, "--case", json.dumps(case), "--weights", str(weights)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            results.append(json.loads(done.stdout.splitlines()[-1]))
            print(results[-1], flush=True)
    report = {
        "cases": results,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "torch": torch.__version__},
    }
    write_json(path, report)
    print(
        "\n| step | batch | threads | seqcap, images/s | textbook, images/s | ratio | products alone, images/s |",
        end="",
    )
    print(" products' share of seqcap's step | GB | textbook GB |\n|" + "---|" * 10)
    found = {(r["task"], r["code"], r["batch"], r["threads"]): r for r in results}
    for (task, code, size, threads), ours in found.items():
        if code == "seqcap":
            other = found["self_critical" if task == "exploration" else task, "textbook", size, threads]
            speed = ours["images_per_s"]
            alone = found.get((PRODUCTS.get(task, ""), "products", size, threads))
            bound = f"{alone['images_per_s']:.1f} | {speed / alone['images_per_s']:.0%}" if alone else "|"
            print(
                f"| {task} | {size} | {threads} | {speed:.1f} | {other['images_per_s']:.1f} "
                f"| {speed / other['images_per_s']:.1f} | {bound} | {ours['peak_gb']:.1f} | {other['peak_gb']:.1f} |"
            )


if __name__ == "__main__":
    main()
