"""Captions for whole splits, by every decoder: rows of `schemas.DECODED`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqcap import tasks
from seqcap.errors import InputError
from seqcap.evaluation.search import DecodingRun
from seqcap.models import decoding
from seqcap.models.base import Tensors
from seqcap.models.ensemble import Ensemble
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.tasks.base import Ids, Task


class Tempered:
    """p(y_t | y_<t, x)^(1 / T), normalised, of a captioner: below T = 1, probable words become more probable.

    Args:
        captioner: a captioner, or an ensemble.
        temperature: T, above 0.
    """

    def __init__(self, captioner: decoding.Decoder, temperature: float) -> None:
        self.captioner, self.temperature = captioner, temperature

    def start(self, memory: Tensors) -> Tensors:
        return self.captioner.start(memory)

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        logits, state = self.captioner.step(inputs, state, memory)
        return logits.float() / self.temperature, state


def decode_split(run: DecodingRun) -> list[dict[str, Any]]:
    """Greedy, beam and sampled captions of a split's images, or translations of its sentences: rows of
    `schemas.DECODED`, per item one greedy caption, the beam's best, and the samples if wanted. The split may be one of
    COCO's own (`COCO_SPLITS`). Seeds of a team decode together (`Ensemble`). InputError for malformed inputs, an empty
    split, weights of another task, or captions without a probability."""
    return [row for team in run.teams for row in _decode(run, team)]


def _decode(run: DecodingRun, team: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    device = machine.one_thread_device()
    paths = [Path(run.weights) / f"seed{member}.safetensors" for member in team]
    captioner, metadata = Ensemble.load(paths, device)
    seen = [tasks.load(run.kind, run.task, type(member)) for member in captioner.members]
    for task, path, described in zip(seen, paths, metadata, strict=True):
        task.check(path, described)
    inputs = [task.inputs(run.split) for task in seen]
    ids = inputs[0].ids
    torch.manual_seed(team[0])
    starts = range(0, len(ids), run.batch_size)
    for start in progress(starts, desc=f"decode {run.name} seed {team[0]}", unit="batch"):
        chosen = np.arange(start, min(start + run.batch_size, len(ids)))
        with torch.no_grad():
            memory = captioner.encode([given.get(chosen).to(device) for given in inputs])
        known = decoding.Known(captioner)
        greedy = decoding.greedy(known, memory, run.max_length)
        decoded = {
            "greedy": decoding.Captions(greedy.tokens[:, None], greedy.log_prob[:, None]),
            "beam": decoding.beam(known, memory, run.max_length, run.beam, run.no_repeat_ngram),
        }
        if run.samples > 0:
            drawn_by = known if run.temperature == 1 else Tempered(known, run.temperature)
            decoded["sample"] = decoding.sample(drawn_by, memory, run.max_length, run.samples)
        for decoder, captions in decoded.items():
            # For later captions of a beam, -inf means that there are no more.
            if not bool(captions.log_prob[:, 0].isfinite().all()) or bool(captions.log_prob.isnan().any()):
                problem = f"a {decoder} caption of {run.split} has a log-probability that is not finite"
                raise InputError(paths[0], problem, "train it again, with a lower learning_rate")
            common = {"run": run.name, "seed": team[0], "decoder": decoder}
            yield from (common | row for row in _rows(ids[chosen], captions, seen[0]))


def _rows(ids: Ids, captions: decoding.Captions, task: Task) -> Iterator[dict[str, Any]]:
    tokens, log_prob = captions.tokens.tolist(), captions.log_prob.tolist()
    for item, item_tokens, item_log_prob in zip(ids.tolist(), tokens, log_prob, strict=True):
        for rank, (spoken, value) in enumerate(zip(item_tokens, item_log_prob, strict=True)):
            words = task.words(spoken)
            yield {"item": item, "rank": rank, "text": " ".join(words), "tokens": words, "log_prob": value}
