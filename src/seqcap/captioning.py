"""Captions for whole splits: every decoder over every image, as rows of `artifacts.DECODED`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from seqcap import decoding, machine
from seqcap.artifacts import DATA, FEATURES, IMAGES, in_split, read_table
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.features.store import FeatureStore
from seqcap.models.ensemble import Ensemble


def decode_split(config: dict[str, Any]) -> list[dict[str, Any]]:
    """Greedy, beam and sampled captions of a split's images.

    Args:
        config: how to decode a variant, as configs/decode_*.json describe it; its weights are in
            <weights>/seed<k>.safetensors. Its split may be one of ours or one of COCO's own (`COCO_SPLITS`). With
            `ensemble` true all seeds decode together (`Ensemble`), and the rows' seed is the first of them; otherwise
            each seed decodes by itself.

    Returns:
        Rows of `artifacts.DECODED`: per image one greedy caption, the beam's best and the samples.

    Raises:
        InputError: malformed inputs, or a split without images.
    """
    device = machine.device()
    if device.type == "cpu":
        torch.set_num_threads(1)
    vocabulary = Vocabulary.read(DATA / "vocabulary.json")
    images = read_table(DATA / "images.parquet", IMAGES).to_pylist()
    wanted = [row["image_id"] for row in images if in_split(config["split"], row["split"], row["file"])]
    image_ids = np.array(wanted, dtype=np.int64)
    if len(image_ids) == 0:
        raise InputError(DATA / "images.parquet", f"has no images in split {config['split']!r}", "choose another split")
    rows: list[dict[str, Any]] = []
    teams = [config["seeds"]] if config.get("ensemble") else [[seed] for seed in config["seeds"]]
    for team in teams:
        seed = team[0]
        captioner, _ = Ensemble.load([Path(config["weights"]) / f"seed{member}.safetensors" for member in team], device)
        kinds = [member.features for member in captioner.members]
        stores = {kind: FeatureStore(FEATURES / f"{kind}.parquet") for kind in dict.fromkeys(kinds)}
        torch.manual_seed(seed)
        starts = range(0, len(image_ids), config["batch_size"])
        for start in tqdm(starts, desc=f"decode {config['variant']} seed {seed}", unit="batch", mininterval=1):
            chosen = image_ids[start : start + config["batch_size"]]
            features = {
                kind: torch.from_numpy(store.get(store.rows_of(chosen))).to(device) for kind, store in stores.items()
            }
            with torch.no_grad():
                memory = captioner.encode([features[kind] for kind in kinds])
            length = config["max_length"]
            greedy = decoding.greedy(captioner, memory, length)
            found = {
                "greedy": decoding.Captions(greedy.tokens[:, None], greedy.log_prob[:, None]),
                "beam": decoding.beam(captioner, memory, length, config["beam"]),
                "sample": decoding.sample(captioner, memory, length, config["samples"]),
            }
            for decoder, captions in found.items():
                tokens, log_prob = captions.tokens.tolist(), captions.log_prob.tolist()
                for image_id, image_tokens, image_log_prob in zip(chosen.tolist(), tokens, log_prob, strict=True):
                    for rank, (ids, value) in enumerate(zip(image_tokens, image_log_prob, strict=True)):
                        words = vocabulary.decode(ids)
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
