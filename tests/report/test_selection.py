"""Which epoch's weights a seed keeps."""

from types import SimpleNamespace

import pandas as pd

from seqcap.report.selection import in_part, kept, kept_early

SEEDS = {1: [0.9, 0.5, 0.7, 0.6, 0.6], 2: [0.1, 0.7, 0.3, 0.4, 0.5], 3: [0.1, 0.2, 0.3, 0.4, 0.5]}


def results(keeps_last=False):
    """Results of one run, which know its curve alone."""
    points = [
        {"run": "sll", "quantity": "val_cider", "seed": seed, "step": 10 * epoch, "value": value}
        for seed, values in SEEDS.items()
        for epoch, value in enumerate(values)
    ]
    curve = pd.DataFrame(points)
    return SimpleNamespace(trained=[SimpleNamespace(name="sll", keeps_last=keeps_last)], decisive={"sll": curve}.get)


def test_a_seed_keeps_the_epoch_that_is_best_on_val():
    """Weights of before any step are not kept."""
    curve = results().decisive("sll")
    assert kept(curve) == {1: 0.5, 2: 0.25, 3: 1.0}
    assert kept(curve[:0]) == {}


def test_seeds_that_are_kept_early_are_found():
    """But those of a run that keeps the last epoch are not, whatever val says."""
    assert kept_early(results()) == {"sll": {2: 0.25}}
    assert kept_early(results(keeps_last=True)) == {}


def test_runs_whose_seeds_are_all_early_are_told_apart():
    runs = {name: SimpleNamespace(label=name.upper(), seeds=(1, 2)) for name in ("sll", "pg")}
    early = {"sll": {2: 0.25}, "pg": {1: 0.25, 2: 0.25}}
    assert in_part(SimpleNamespace(by_name=runs), early) == (["SLL"], ["PG"])
