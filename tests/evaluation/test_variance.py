"""The measurement of the policy gradient's variance, on a task of a second."""

import numpy as np
import pandas as pd
import pytest
import torch
from small_task import SMALL

from seqcap.errors import InputError
from seqcap.evaluation import variance
from seqcap.evaluation.variance import VarianceConfig, measure
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import VARIANCE

ROLLOUTS = (1, 4)


@pytest.fixture(scope="module")
def measured(pretrained):
    """The configuration, and what was measured."""
    shared = {"paths": 1, "baseline_hidden": 16, "baseline_steps": 200}
    settings = tuple(shared | {"rollouts": rollouts} for rollouts in ROLLOUTS)
    config = VarianceConfig(**SMALL["variance"], settings=settings, images=6, replicates=40)
    return config, measure(config)


def quick(config):
    """The same with a baseline that has hardly learned, measured three times."""
    settings = tuple(setting.model_copy(update={"baseline_steps": 3}) for setting in config.settings)
    return config.model_copy(update={"replicates": 3, "settings": settings})


def test_every_setting_has_its_replicates(measured, tmp_path):
    config, rows = measured
    write_rows(tmp_path / "variance.parquet", rows, VARIANCE)
    frame = read_table(tmp_path / "variance.parquet", VARIANCE).to_pandas()
    sizes = frame.groupby(["rollouts", "baseline"]).size()
    assert sizes.to_dict() == {(k, b): config.replicates for k in ROLLOUTS for b in (False, True)}
    assert (frame.squared_distance > 0).all()
    assert frame.squared_mean.nunique() == 1
    assert 0 < frame.squared_mean[0] < frame.squared_distance.mean()


def test_rollouts_and_the_baseline_lower_the_variance(measured):
    variance = pd.DataFrame(measured[1]).groupby(["baseline", "rollouts"]).squared_distance.mean()
    assert variance[True, 1] < 0.8 * variance[False, 1]
    assert variance[True, 4] < variance[True, 1]


def test_the_same_configuration_measures_the_same(measured):
    config = quick(measured[0])
    rows, again = measure(config), measure(config)
    assert len(rows) == 3 * 2 * len(ROLLOUTS)
    assert not np.isnan([row["squared_distance"] for row in rows]).any()
    assert rows == again


def test_what_is_not_finite_is_not_measured(measured, monkeypatch):
    monkeypatch.setattr(variance, "flat_gradient", lambda *_: torch.tensor([1.0, torch.nan]))
    with pytest.raises(InputError, match=r"pretrained: its policy gradient with 1 rollouts is not finite"):
        measure(quick(measured[0]))
