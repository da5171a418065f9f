"""Captions for whole splits: every decoder over every image, as rows of `artifacts.DECODED`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from seqcap import decoding, machine, tasks
from seqcap.models.ensemble import Ensemble


def decode_split(config: dict[str, Any]) -> list[dict[str, Any]]:
    """Greedy, beam and sampled captions of a split's images, or translations of its sentences.

    Args:
        config: how to decode a variant, as configs/decode_*.json describe it; its weights are in
            <weights>/seed<k>.safetensors. Its split may be one of ours or one of COCO's own (`COCO_SPLITS`). With
            `ensemble` true all seeds decode together (`Ensemble`), and the rows' seed is the first of them; otherwise
            each seed decodes by itself.

    Returns:
        Rows of `artifacts.DECODED`: per image one greedy caption, the beam's best and the samples, if any are wanted.

    Raises:
        InputError: malformed inputs, or an empty split.
    """
    device = machine.device()
    if device.type == "cpu":
        torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    teams = [config["seeds"]] if config.get("ensemble") else [[seed] for seed in config["seeds"]]
    for team in teams:
        seed = team[0]
        captioner, _ = Ensemble.load([Path(config["weights"]) / f"seed{member}.safetensors" for member in team], device)
        seen = [tasks.load(config["task"], type(member)) for member in captioner.members]
        inputs = [task.inputs(config["split"]) for task in seen]
        ids = inputs[0].ids
        torch.manual_seed(seed)
        starts = range(0, len(ids), config["batch_size"])
        for start in tqdm(starts, desc=f"decode {config['variant']} seed {seed}", unit="batch", mininterval=1):
            chosen = np.arange(start, min(start + config["batch_size"], len(ids)))
            batch_ids = ids[chosen].tolist()
            with torch.no_grad():
                memory = captioner.encode([given.get(chosen).to(device) for given in inputs])
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
                    for rank, (spoken, value) in enumerate(zip(image_tokens, image_log_prob, strict=True)):
                        words = seen[0].words(spoken)
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
