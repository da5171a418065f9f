"""Captions for whole splits: every decoder over every image, as rows of `artifacts.DECODED`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from seqcap import decoding, machine, models, tasks


def decode_split(config: dict[str, Any], weights: Path) -> list[dict[str, Any]]:
    """Greedy, beam and sampled captions of a split's images, or translations of its sentences.

    Args:
        config: a configs/decode_*.json.
        weights: folder with seed<k>.safetensors of every seed.

    Returns:
        Rows of `artifacts.DECODED`: per image one greedy caption, the beam's best and the samples, if any are wanted.

    Raises:
        InputError: malformed inputs, or an empty split.
    """
    device = machine.device()
    if device.type == "cpu":
        torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for seed in config["seeds"]:
        captioner, _ = models.load(weights / f"seed{seed}.safetensors")
        captioner.to(device)
        task = tasks.load(config["task"], type(captioner))
        inputs = task.inputs(config["split"])
        torch.manual_seed(seed)
        starts = range(0, len(inputs.ids), config["batch_size"])
        for start in tqdm(starts, desc=f"decode {config['variant']} seed {seed}", unit="batch", mininterval=1):
            chosen = np.arange(start, min(start + config["batch_size"], len(inputs.ids)))
            batch_ids = inputs.ids[chosen].tolist()
            with torch.no_grad():
                memory = captioner.encode(inputs.get(chosen).to(device))
            length = config["max_length"]
            greedy = decoding.greedy(captioner, memory, length)
            found = {
                "greedy": decoding.Captions(greedy.tokens[:, None], greedy.log_prob[:, None]),
                "beam": decoding.beam(captioner, memory, length, config["beam"]),
            }
            if config["samples"] > 0:
                found["sample"] = decoding.sample(captioner, memory, length, config["samples"])
            for decoder, captions in found.items():
                tokens, log_prob = captions.tokens.tolist(), captions.log_prob.tolist()
                for image_id, image_tokens, image_log_prob in zip(batch_ids, tokens, log_prob, strict=True):
                    for rank, (ids, value) in enumerate(zip(image_tokens, image_log_prob, strict=True)):
                        words = task.words(ids)
                        rows.append(
                            {
                                "variant": config["variant"],
                                "seed": seed,
                                "image_id": image_id,
                                "decoder": decoder,
                                "rank": rank,
                                "text": " ".join(words),
                                "tokens": words,
                                "log_prob": value,
                            }
                        )
    return rows
