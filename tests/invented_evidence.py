"""Invented evidence on a claim, and where it comes from, without a run."""

from typing import Any

import numpy as np

from seqcap.report.evidence import Evidence, Gain, Side

# Of a paper's provenance, what no test asks to be its own.
ORIGIN: dict[str, Any] = {
    "commit": "0123456789ab",
    "experiment": None,
    "changed": [],
    "day": "2026-01-02",
    "scale": "laptop",
    "processor": "A processor",
    "instructions": "AVX2",
    "cores": 2,
    "minutes_of_training": 10.04,
    "minutes_of_everything": None,
    "not_timed": [],
    "captioners": {"lstm": {"architecture": "lstm", "hidden": 8}},
    "encoders": {"image": {"backbone": "scenes_cnn", "weights": "scenes"}},
}


def evidence(difference: float = 10.0, scatter: float = 0.1, seeds: int = 3, **changes: Any) -> Evidence:
    """Left is `difference` above right on average; the seeds' differences are `scatter` apart."""
    steps = scatter * (np.arange(seeds) - (seeds - 1) / 2)
    right = dict.fromkeys(range(1, seeds + 1), 100.0)
    left = {seed: 100.0 + difference + float(step) for seed, step in zip(right, steps, strict=True)}
    values: dict[str, Any] = {
        "paper": "sle",
        "claim": "C1",
        "sentence": "a beats b",
        "level": "primary",
        "sign": 1,
        "better": 1,
        "metric": "CIDEr",
        "decoder": "beam",
        "left": "a",
        "right": "b",
        "what": "CIDEr",
        "decimals": 2,
        "items": 1000,
        "sides": (side("A", left), side("B", right)),
        "covariance": tuple((0.0,) * (row + 1) for row in range(2 * seeds)),
    }
    return Evidence.model_validate(values | changes)


def side(label: str, by_seed: dict[int, float], **gained: float) -> Side:
    return Side(
        label=label,
        value=float(np.mean(list(by_seed.values()))),
        by_seed=by_seed,
        runs=(label.lower(),),
        gained={run: Gain(points=points) for run, points in (gained or {label.lower(): 0.2}).items()},
    )
