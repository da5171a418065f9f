"""Which epoch's weights a seed keeps."""

from types import SimpleNamespace

import pandas as pd

from seqcap.report.selection import kept, kept_early

SEEDS = {1: [0.9, 0.5, 0.7, 0.6, 0.6], 2: [0.1, 0.7, 0.3, 0.4, 0.5], 3: [0.1, 0.2, 0.3, 0.4, 0.5]}


def curve(run, quantity, seeds=SEEDS):
    points = [
        {"run": run, "quantity": quantity, "seed": seed, "step": 10 * epoch, "value": value}
        for seed, values in seeds.items()
        for epoch, value in enumerate(values)
    ]
    return pd.DataFrame(points)


def results(*curves):
    """Results that know their runs and curves alone."""
    every = pd.concat(curves)
    runs = [SimpleNamespace(name=name, label=name.upper()) for name in every["run"].unique()]
    decisive = {name: of_run[of_run["quantity"] == "val_cider"] for name, of_run in every.groupby("run")}
    return SimpleNamespace(trained=runs, curves=every, decisive=decisive.get)


def test_a_seed_keeps_the_epoch_that_is_best_on_val():
    """Weights of before any step are not kept."""
    assert kept(curve("sll", "val_cider")) == {1: 0.5, 2: 0.25, 3: 1.0}
    assert kept(curve("sll", "val_cider")[:0]) == {}


def test_seeds_that_are_kept_early_are_found():
    """But those of an objective that keeps the last epoch are not."""
    luo = [curve("luo", "val_cider"), curve("luo", "val_R@10")]
    assert kept_early(results(curve("sll", "val_cider"), *luo)) == {"sll": {2: 0.25}}
    assert kept_early(results(*luo)) == {}
