"""`launcher: torchrun`: as many processes as it likes take the steps of one."""

from pathlib import Path

import children
import numpy as np
import pytest
import torch
from small_task import CHANNELS, LAYOUT, run_config, train_group

from seqcap.config import config_path, write_config
from seqcap.files.json_file import write_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import CURVES
from seqcap.files.tensors import load_weights
from seqcap.training.batches import Batches
from seqcap.training.captioners import Job
from seqcap.training.run import TrainConfig

TRAIN = LAYOUT["train"]


@pytest.mark.parametrize("size", [6, 5, 23, 30])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_image_is_trained_on_once_an_epoch(small_images, world, size):
    """Whatever is left over for an epoch's last batch: 4 of 24, or 1."""
    split = Job(run_config(), 1).training
    steps = -(-TRAIN // size)
    epochs = np.zeros((2, TRAIN))
    for rank in range(world):
        batches = Batches(split, size, 1, rank, world).read(0, 2 * steps, torch.device("cpu"))
        for at, batch in enumerate(batches):
            assert batch.features.shape == (len(batch.images), CHANNELS)
            whole = min(size, TRAIN - at % steps * size)
            # Of the mean over processes, what each image counts.
            epochs[at // steps, batch.images] += batch.weight / world / len(batch.images) * whole
    np.testing.assert_allclose(epochs, 1)


def test_two_processes_of_torchrun_take_the_steps_of_one(small_images):
    """Losses, scores and weights, up to float error. The captions of each image have nine tokens: means over a
    process's tokens are means over its images. 24 images in batches of 5: shares of 3 and 2, at last of 2 and 2."""
    run = run_config(training={"epochs": 2, "batch_size": 5, "dropout": 0.0}, weights="two")
    write_config(config_path("train", "group"), TrainConfig(runs=(run,), code={}))
    launcher = "torchrun --standalone --nproc-per-node=2"
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": launcher})
    process = children.start("train.py", "train", "group")
    [[one]] = train_group(run.model_copy(update={"weights": "one"}))
    process.join(timeout=300)
    assert process.exitcode == 0
    two = read_table("two/curves.parquet", CURVES).to_pylist()
    assert [(row["step"], row["quantity"]) for row in two] == [(row["step"], row["quantity"]) for row in one.curves]
    assert {"train_loss", "val_cider"} <= {row["quantity"] for row in two}
    np.testing.assert_allclose([row["value"] for row in two], [row["value"] for row in one.curves], rtol=1e-4)
    expected, _ = load_weights(Path("one/seed1.safetensors"))
    found, _ = load_weights(Path("two/seed1.safetensors"))
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-3, atol=1e-4)
