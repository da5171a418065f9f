"""Images per second of CPU time of the objectives' training steps at COCO's shapes, against textbook PyTorch.

    python benchmarks/training.py
    python benchmarks/training.py --tasks self_critical --sizes 10 50

LSTM of 512, vocabulary 9,487, 5 samples and 5 references an image, captions of COCO val2014 (inside pycocoevalcap's
SPICE jar), random features, one thread. "Textbook" is what most repositories do with the public packages alone: an
LSTMCell looped over all steps, torch.distributions.Categorical, every padded step projected onto the vocabulary; for
loss smoothing a target row of the whole vocabulary at every step, and captions changed one by one with NumPy (lazy, so
that both feed each caption once). Its self-critical step is that of https://github.com/ruotianluo/self-critical.pytorch
(commit 4c48a3304932d58c5349435e7b0085f48dcb4be4, MIT): one pass that samples with gradient, one greedy pass without,
and pycocoevalcap's CIDEr of the batch with document frequencies that are known before. No code is copied. Both start
from the same captioner, trained for some steps so that samples have the lengths of captions.

"Products" are the matrix products of such a step and nothing else, with as many rows as its captions have tokens: those
that any implementation needs in float32. Captions are multiplied once, sampled and greedy ones, too. Loss smoothing
needs what cross-entropy needs, and exploration what the self-critical step needs.

The Transformer has OFA-tiny's sizes and reads grids of 14 x 14 cells; its cross-entropy and its beam of 5 run beside
BART of transformers (https://github.com/huggingface/transformers), with as many layers of the same sizes. It encodes
each image once for all its captions, too. The weights of both are random: every beam is 20 tokens long.

Each case runs in a process of its own, for its peak memory; bfloat16 only on a CPU that has it. CPU time is what the
process itself used: other work on the machine slows a case less than its wall time. Takes about 15 minutes; writes
results/training.json. gpu.py measures the LSTM's steps on a GPU.
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
from collections.abc import Callable, Collection
from functools import cached_property
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pycocoevalcap.cider.cider_scorer import CiderScorer
from rewards import coco_ids, status
from torch import Tensor, nn
from torch.distributions import Categorical

from seqcap import objectives
from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.tensors import load_weights, save_weights
from seqcap.models import decoding, transformer
from seqcap.models.base import repeat
from seqcap.models.lstm import Config, Model
from seqcap.objectives.shared.base import Batch, Context
from seqcap.objectives.shared.smoothing import FIRST_WORD
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.sequences import References
from seqcap.system import machine
from seqcap.training.optimizer import Adam  # torch's own takes two seconds to import

HIDDEN, CHANNELS, VOCABULARY, SAMPLES, TIME, IMAGES = 512, 2048, 9487, 5, 20, 5000
PRETRAINING, PRETRAINED_ON = 60, 50  # steps, images of each
ITEMS = np.arange(IMAGES)
# Loss smoothing's: Tok rfreq and Seq on COCO.
TAU, BETA, SEQUENCE_TAU, ALPHA = 0.18, 0.18, 0.1, 0.4
# The Transformer's. Its features are a hundred times as large: there are as many as two batches.
OFA_TINY = transformer.Config(hidden=256, layers=4, heads=4, feed_forward=1024)
GRID, GRIDS, WIDTH = (14, 14), 100, 5
TRANSFORMER_TASKS = ("transformer_xe", "transformer_beam")
TASKS = ("xe", "self_critical", "exploration", "token_smoothing", "sequence_smoothing", *TRANSFORMER_TASKS)
# The seconds of CPU time that a case is measured for, if three steps take no longer.
SECONDS = 10.0
# The objective and its settings in each task of the LSTM.
OBJECTIVES: dict[str, tuple[str, dict[str, Any]]] = {
    "xe": ("cross_entropy", {}),
    "self_critical": ("self_critical", {"samples": SAMPLES}),
    "exploration": ("sequence_exploration", {"samples": SAMPLES}),
    "token_smoothing": ("token_smoothing", {"tau": TAU, "beta": BETA, "alpha": ALPHA}),
    "sequence_smoothing": ("sequence_smoothing", {"tau": SEQUENCE_TAU, "alpha": ALPHA, "samples": SAMPLES}),
}
# The task whose products are those of each task of the LSTM.
PRODUCTS = {
    "xe": "xe",
    "self_critical": "self_critical",
    "exploration": "self_critical",
    "token_smoothing": "xe",
    "sequence_smoothing": "xe",
}


def together(tasks: Collection[str]) -> list[str]:
    """These tasks, and those that share products or a textbook step with them: ratios are of one run."""
    shared = {PRODUCTS.get(task, task) for task in tasks}
    return [task for task in TASKS if PRODUCTS.get(task, task) in shared]


def codes_of(task: str) -> list[str]:
    """What a task is measured with."""
    codes = ["seqcap"]
    if task in OBJECTIVES and has_bfloat16():
        codes.append("bfloat16")
    # The exploration step's textbook reward is minutes of pure Python: the self-critical one stands for both.
    if task != "exploration":
        codes.append("textbook")
    if task in PRODUCTS.values():
        codes.append("products")
    return codes


def has_bfloat16() -> bool:
    try:
        machine.check_precision("bfloat16", torch.device("cpu"))
    except InputError:
        return False
    return True


class Data:
    """Batches of COCO captions with random features, one vector an image or a grid of them, on a device."""

    def __init__(self, grid: bool = False, device: str = "cpu") -> None:
        self.device = device
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
        features = self.features[chosen % len(self.features)]
        return Batch(features.to(self.device), chosen, captions.to(self.device))


def captioner() -> Model:
    torch.manual_seed(0)
    return Model(Config(hidden=HIDDEN, image_input="initial_state"), VOCABULARY, (CHANNELS,))


def optimise(parameters: Any, loss: Callable[[Batch], Tensor], fused: bool) -> Callable[[Batch], None]:
    optimizer = Adam(parameters, lr=1e-5, fused=fused)

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
        self.data = data

    @cached_property
    def targets(self) -> Tensor:
        """Each word's distribution of smoothed targets [V, V]: gigabytes that no other step needs."""
        vectors, frequencies = nn.functional.normalize(self.data.embeddings, dim=1), self.data.frequencies.float()
        rare = torch.minimum(frequencies[:, None], frequencies) / torch.maximum(frequencies[:, None], frequencies)
        similar = (vectors @ vectors.T - BETA * rare.nan_to_num()) / TAU
        similar[:, :FIRST_WORD] = -torch.inf
        targets = torch.softmax(similar, dim=1)
        targets[:FIRST_WORD] = torch.eye(VOCABULARY)[:FIRST_WORD]
        return targets.to(self.data.device)

    def cell(self, tokens: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h, c = torch.lstm_cell(self.model.embedding(tokens), state, *self.model.lstm.all_weights[0])
        return torch.log_softmax(self.model.logits(h), 1), (h, c)

    def start(self, features: Tensor, times: int) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h = self.model.image(features).repeat_interleave(times, 0)
        return torch.full((len(h),), BOS, device=h.device), (h, torch.zeros_like(h))

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
            changed = torch.stack([self.change(caption) for caption in captions.cpu()]).to(captions.device)
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
        going = torch.ones(len(inputs), dtype=torch.bool, device=inputs.device)
        tokens, log_probs = [], []
        for _ in range(TIME):
            log_p, state = self.cell(inputs, state)
            inputs = log_p.argmax(1) if greedy else Categorical(logits=log_p).sample()  # type: ignore[no-untyped-call]
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
        return torch.tensor(scorer.compute_cider()).float().to(tokens.device)

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
        both: dict[str, Any] = {f"{part}_{name}": n for part in ("encoder", "decoder") for name, n in sizes.items()}
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
            **both,
        )
        self.cells = nn.Linear(CHANNELS, hidden)
        self.bart: Any = transformers.BartForConditionalGeneration(config)

    def encode(self, batch: Batch, times: int) -> Any:
        """What the decoder attends to, of each image `times` times in a row."""
        encoded = self.bart.get_encoder()(inputs_embeds=self.cells(batch.features.flatten(1, 2)))
        encoded.last_hidden_state = encoded.last_hidden_state.repeat_interleave(times, 0)
        return encoded

    def xe(self, batch: Batch) -> Tensor:
        captions = batch.captions.flatten(0, 1)
        encoded = self.encode(batch, captions.shape[0] // len(batch.features))
        loss: Tensor = self.bart(encoder_outputs=encoded, labels=captions.masked_fill(captions == PAD, -100)).loss
        return loss

    @torch.no_grad()
    def beam(self, batch: Batch) -> Tensor:
        found: Tensor = self.bart.generate(
            encoder_outputs=self.encode(batch, 1), num_beams=WIDTH, max_new_tokens=TIME, length_penalty=0.0
        )
        return found


def transformer_step(task: str, code: str, data: Data) -> Callable[[Batch], Any]:
    """A training step or a beam search of the Transformer or of BART."""
    torch.manual_seed(0)
    if code == "textbook":
        bart = Bart()
        return optimise(list(bart.parameters()), bart.xe, True) if task == "transformer_xe" else bart.eval().beam
    model = transformer.Model(OFA_TINY, VOCABULARY, (*GRID, CHANNELS))
    if task == "transformer_xe":
        objective = objectives.build("cross_entropy", {}, context(data, (*GRID, CHANNELS)))
        return optimise(list(model.parameters()), lambda batch: objective(model, batch)[0], True)
    model.eval().requires_grad_(False)
    return lambda batch: decoding.beam(model, model.encode(batch.features), TIME, WIDTH)


def context(data: Data, shape: tuple[int, ...]) -> Context:
    reward = CiderD(References(data.references))
    return Context(reward, TIME, HIDDEN, 1, data.embeddings, data.frequencies, {}, 1, Path(), ITEMS, shape)


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
    model.precision = torch.bfloat16 if code == "bfloat16" else torch.float32
    name, settings = OBJECTIVES[task]
    objective = objectives.build(name, settings, context(data, (CHANNELS,)))
    return optimise(list(model.parameters()), lambda batch: objective(model, batch)[0], True)


class Products:
    """The matrix products of an LSTM's training step, into memory that is there.

    Args:
        images: number of images.
        computed: tokens of each caption that the step computes, [n].
        trained: of these, tokens of each caption that it takes gradients of, [m].
        kind: device and type of the factors.
    """

    def __init__(self, images: int, computed: Tensor, trained: Tensor, **kind: Any) -> None:
        self.kind = kind
        self.operations = 0  # multiplications and additions
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
        self.operations += 2 * rows * inner * columns
        left, right = torch.randn(rows, inner, **self.kind), torch.randn(inner, columns, **self.kind)
        self.pairs.append((left, right, torch.empty(rows, columns, **self.kind)))

    def __call__(self, _: Batch) -> None:
        for left, right, out in self.pairs:
            torch.mm(left, right, out=out)


def products(task: str, model: Model, batch: Batch, **kind: Any) -> Products:
    """Those of a step on a batch.

    Args:
        task: xe or self_critical.
        model: draws the captions of self_critical; only their lengths matter.
        batch: of the task.
        kind: see `Products`.
    """
    images = len(batch.images)
    if task == "xe":
        lengths = (batch.captions != PAD).sum(2).flatten()
        return Products(images, lengths, lengths, **kind)
    with torch.no_grad():
        memory = repeat(model.encode(batch.features), SAMPLES + 1)
        greedy = torch.arange(images * (SAMPLES + 1), device=batch.features.device) % (SAMPLES + 1) == SAMPLES
        lengths = (decoding.rollout(model, memory, TIME, greedy).tokens != PAD).sum(1)
    return Products(images, lengths, lengths[~greedy], **kind)


def run_case(task: str, code: str, size: int, weights: Path) -> dict[str, Any]:
    """Measures one case in this process."""
    torch.set_num_threads(1)
    machine.keep_memory()
    of_transformer = task in TRANSFORMER_TASKS
    data = Data(grid=of_transformer)
    step = transformer_step(task, code, data) if of_transformer else lstm_step(task, code, size, data, weights)
    step(data.batch(size, 0))
    steps, begin = 0, time.process_time()
    while steps < 3 or time.process_time() - begin < SECONDS:
        steps += 1
        step(data.batch(size, steps))
    speed = steps * size / (time.process_time() - begin)
    memory = status("self", "VmHWM") / 1e3
    return {"task": task, "code": code, "batch": size, "images_per_s": speed, "peak_gb": memory, "cpu": cpu()}


def cpu() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def pretrain(weights: Path, device: str = "cpu") -> None:
    """Some cross-entropy steps, so that samples end where captions do."""
    torch.set_num_threads(1)
    data, model = Data(device=device), captioner().to(device)
    objective = objectives.build("cross_entropy", {}, context(data, (CHANNELS,))).to(device)
    optimizer = Adam(model.parameters(), lr=2e-3, fused=True)
    for at in range(PRETRAINING):
        optimizer.zero_grad(set_to_none=True)
        objective(model, data.batch(PRETRAINED_ON, 1000 + at))[0].backward()
        optimizer.step()
    save_weights(weights, model.state_dict(), {})


def table(results: list[dict[str, Any]]) -> list[str]:
    """Each task's speed beside those of its peer and of its products alone."""
    lines = [
        "| step | batch | seqcap, images/s | textbook, images/s | ratio | bfloat16, images/s | ratio "
        "| products alone, images/s | step over products | GB | textbook GB | CPU |",
        "|---|" + "---:|" * 10 + "---|",
    ]
    found = {(r["task"], r["code"], r["batch"]): r for r in results}
    for (task, code, size), ours in found.items():
        if code != "seqcap":
            continue
        speed = ours["images_per_s"]
        peer = found.get(("self_critical" if task == "exploration" else task, "textbook", size))
        alone, half = found.get((PRODUCTS.get(task), "products", size)), found.get((task, "bfloat16", size))
        cells = [task, f"{size}", f"{speed:.1f}", shown(peer), over(ours, peer), shown(half), over(half, peer)]
        cells += [shown(alone), over(alone, ours), f"{ours['peak_gb']:.1f}"]
        cells += ["" if peer is None else f"{peer['peak_gb']:.1f}", ours["cpu"]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def shown(result: dict[str, Any] | None) -> str:
    return "" if result is None else f"{result['images_per_s']:.1f}"


def over(left: dict[str, Any] | None, right: dict[str, Any] | None) -> str:
    """How many times as fast; nothing where one was not measured."""
    if left is None or right is None:
        return ""
    return f"{left['images_per_s'] / right['images_per_s']:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="measure these and what they share")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10, 50], help="images of a batch")
    parser.add_argument("--case", help="JSON of one case; internal")
    parser.add_argument("--weights", type=Path, help="internal")
    arguments = parser.parse_args()
    if arguments.case:
        task, code, size = json.loads(arguments.case)
        print(json.dumps(run_case(task, code, size, arguments.weights)))
        return
    path = Path(__file__).parent / "results" / "training.json"
    before = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else []
    tasks = together(arguments.tasks)
    cases = [(task, code, size) for task in tasks for size in arguments.sizes for code in codes_of(task)]
    results = [case for case in before if (case["task"], case["code"], case["batch"]) not in cases]
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "captioner.safetensors"
        if not set(tasks) <= set(TRANSFORMER_TASKS):
            pretrain(weights)
        for case in cases:
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            command = [sys.executable, __file__, "--case", json.dumps(case), "--weights", str(weights)]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            results.append(json.loads(done.stdout.splitlines()[-1]))
            print(results[-1], flush=True)
    write_json(path, {"cases": results, "python": platform.python_version(), "torch": torch.__version__})
    print("", *table(results), sep="\n")


if __name__ == "__main__":
    main()
