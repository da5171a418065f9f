"""Images per second of the LSTM's training steps at COCO's shapes on a GPU, against textbook PyTorch.

    python benchmarks/gpu.py

Captioner, captions, textbook steps and products are those of training.py. The textbook's steps run in float32 and, by
autocast, in bfloat16. Time is wall time until the device has done its work; the median of several steps after warm-up.
"Share of the peak" is what the necessary products' operations per second are of what the device reaches, here and now,
in a square product of 8,192 in the same precision (float32 without TF32).

Takes about four minutes; writes results/gpu.json.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm
from training import (
    CHANNELS,
    OBJECTIVES,
    PRODUCTS,
    Data,
    Textbook,
    captioner,
    context,
    optimise,
    pretrain,
    products,
)

from seqcap import objectives
from seqcap.files.json_file import write_json
from seqcap.files.tensors import load_weights

TASKS = ("xe", "self_critical", "exploration", "token_smoothing")
SIZES = (50, 250)
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
WARM_UP = 3
SECONDS = 2.0  # that a case is measured for, if three steps take no longer
BATCHES = 8  # different ones, in turn
SQUARE = 8192
Case = dict[str, Any]


def seconds_per_call(call: Any, device: str) -> float:
    """The median wall time of a call, the device's work included."""
    taken: list[float] = []
    for at in range(WARM_UP):
        call(at)
    while len(taken) < 3 or sum(taken) < SECONDS:
        wait(device)
        begin = time.perf_counter()
        call(WARM_UP + len(taken))
        wait(device)
        taken.append(time.perf_counter() - begin)
    return median(taken)


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


@cache
def peak(precision: str, device: str) -> float:
    """Operations per second of a large square product."""
    left, right = (torch.randn(SQUARE, SQUARE, device=device, dtype=PRECISIONS[precision]) for _ in range(2))
    return 2 * SQUARE**3 / seconds_per_call(lambda _: left @ right, device)


def run_case(task: str, code: str, precision: str, size: int, weights: Mapping[str, Tensor], data: Data) -> Case:
    """Measures one case."""
    device = data.device
    model = captioner().to(device)
    model.load_state_dict(weights)
    model.train()
    batches = [data.batch(size, at) for at in range(BATCHES)]
    if code == "textbook":
        step = optimise(list(model.parameters()), in_autocast(Textbook(model, data), task, precision), False)
    else:
        model.precision = PRECISIONS[precision]
        name, settings = OBJECTIVES[task]
        objective = objectives.build(name, settings, context(data, (CHANNELS,))).to(device)
        step = optimise(list(model.parameters()), lambda batch: objective(model, batch)[0], True)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    taken = seconds_per_call(lambda at: step(batches[at % BATCHES]), device)
    found = {"task": task, "code": code, "precision": precision, "batch": size, "images_per_s": size / taken}
    if device == "cuda":
        found["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    if code == "seqcap":
        needed = products(PRODUCTS[task], model, batches[0], device=device, dtype=PRECISIONS[precision])
        found["share_of_peak"] = needed.operations / taken / peak(precision, device)
        found["products_images_per_s"] = size / seconds_per_call(lambda _: needed(batches[0]), device)
    return found


def in_autocast(textbook: Textbook, task: str, precision: str) -> Any:
    """The textbook's loss of a batch, its products in this precision."""

    def loss(batch: Any) -> torch.Tensor:
        device = batch.features.device.type
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16"):
            return getattr(textbook, task)(batch)  # type: ignore[no-any-return]

    return loss


def cases() -> list[tuple[str, str, str, int]]:
    """Task, code, precision and size of all that is measured."""
    codes = {task: ["seqcap"] if task == "exploration" else ["seqcap", "textbook"] for task in TASKS}
    return [
        (t, code, precision, size) for t in TASKS for size in SIZES for code in codes[t] for precision in PRECISIONS
    ]


def table(results: list[Case]) -> list[str]:
    """Each task's speed beside its textbook step's; exploration beside the self-critical one, as in training.py."""
    lines = [
        "| step | batch | precision | seqcap, images/s | textbook, images/s | ratio | over textbook in float32 "
        "| products alone, images/s | share of the peak | GB | textbook GB |",
        "|---|---:|---|" + "---:|" * 8,
    ]
    found = {(r["task"], r["code"], r["precision"], r["batch"]): r for r in results}
    for (task, code, precision, size), ours in found.items():
        if code != "seqcap":
            continue
        peer_task = "self_critical" if task == "exploration" else task
        same, single = (found[peer_task, "textbook", kind, size] for kind in (precision, "float32"))
        speed = ours["images_per_s"]
        cells = [task, f"{size}", precision, f"{speed:,.0f}", f"{same['images_per_s']:,.0f}"]
        cells += [f"{speed / peer['images_per_s']:.2f}" for peer in (same, single)]
        cells += [f"{ours['products_images_per_s']:,.0f}", f"{ours['share_of_peak']:.3f}"]
        cells += [f"{case['peak_gb']:.1f}" if "peak_gb" in case else "" for case in (ours, same)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit("benchmarks/gpu.py: there is no CUDA device here; benchmarks/training.py measures a CPU")
    torch.set_num_threads(1)
    data = Data(device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "captioner.safetensors"
        pretrain(path, "cuda")
        weights = load_weights(path)[0]
    results = []
    for case in tqdm(cases()):
        results.append(run_case(*case, weights, data))
    found = {"device": torch.cuda.get_device_name(), "python": platform.python_version(), "torch": torch.__version__}
    peaks = {precision: peak(precision, "cuda") for precision in PRECISIONS}
    path = Path(__file__).parent / "results" / "gpu.json"
    write_json(path, {**found, "operations_per_s": peaks, "cases": results})
    print("", *table(results), sep="\n")


if __name__ == "__main__":
    main()
