"""What is NaN or infinite stops a run: with run, seed and step, and with its last good checkpoint kept."""

from pathlib import Path

import pytest
import torch
from small_task import STAGE, run_config, train_group

from seqcap.errors import InputError
from seqcap.files.tensors import load_weights, save_weights
from seqcap.objectives import cross_entropy
from seqcap.rewards.mixture import Mixture
from seqcap.system.scratch import checkpoints
from seqcap.training import captioners, loop

PRETRAINED = Path("starts/pretrain/lstm")
# 24 images in batches of 5.
STEPS_PER_EPOCH = 5
NAN = float("nan")


def broken_at(monkeypatch, step, change):
    """Changes the loss of one step: `change` of the loss and the captioner."""
    original, calls = cross_entropy.Model.forward, []

    def forward(model, captioner, batch):
        calls.append(batch)
        loss, logs = original(model, captioner, batch)
        return (change(loss, captioner) if len(calls) == step else loss), logs

    monkeypatch.setattr(cross_entropy.Model, "forward", forward)


def no_gradient(loss, captioner):
    """A finite loss whose gradient is NaN."""
    return loss + (0 * captioner.output.bias.sum()).abs().sqrt()


@pytest.mark.parametrize(
    ("change", "value", "step"),
    [
        (lambda loss, captioner: loss * NAN, "nan", 1),
        (no_gradient, "nan", 7),
        (lambda loss, captioner: loss + torch.inf, "inf", 10),
    ],
)
def test_a_run_stops_and_goes_on_from_its_last_good_state(small_images, monkeypatch, change, value, step):
    whole = run_config(weights="whole")
    train_group(whole)
    broken = run_config(weights="broken")
    with monkeypatch.context() as patch:
        broken_at(patch, step, change)
        problem = rf"^small seed 1: the loss or its gradient is {value} at step {step}; lower its learning_rate"
        with pytest.raises(InputError, match=problem):
            train_group(broken)
    assert not Path("broken").exists()
    kept = list(checkpoints(STAGE).rglob("*.safetensors"))
    # The last epoch's end before the step; before the first there is none.
    epochs = (step - 1) // STEPS_PER_EPOCH
    assert [load_weights(path)[1]["at"] for path in kept] == [epochs * STEPS_PER_EPOCH][: min(epochs, 1)]
    train_group(broken)
    assert Path("broken/seed1.safetensors").read_bytes() == Path("whole/seed1.safetensors").read_bytes()


@pytest.mark.parametrize("at", [-1, 980, 2.5, None])
def test_a_checkpoint_beyond_the_last_step_is_refused(small_images, monkeypatch, at):
    run = run_config(training={"epochs": 2})
    with monkeypatch.context() as patch:
        broken_at(patch, STEPS_PER_EPOCH + 1, no_gradient)
        with pytest.raises(InputError, match="the loss or its gradient is nan"):
            train_group(run)
    [path] = checkpoints(STAGE).rglob("*.safetensors")
    tensors, metadata = load_weights(path)
    save_weights(path, tensors, metadata | {"at": at})
    with pytest.raises(InputError, match=rf"holds no state of this run \(it is at step {at} of 10\); delete it"):
        train_group(run)


def test_weights_that_the_disk_has_changed_fail_the_stage(small_images, monkeypatch):
    """They are read once more before it ends."""

    def save_and_flip_a_bit(path, *content):
        save_weights(path, *content)
        written = bytearray(path.read_bytes())
        written[-1] ^= 1
        path.write_bytes(written)

    monkeypatch.setattr(captioners, "save_weights", save_and_flip_a_bit)
    with pytest.raises(InputError, match=r"^weights/seed1\.safetensors: is damaged"):
        train_group(run_config())


@pytest.mark.parametrize("split", ["val", "train"])
def test_rewards_stop_a_run(small_images, monkeypatch, split):
    """The captions of val are scored first."""
    train_group(run_config(weights=str(PRETRAINED)))
    run = run_config(objective="self_critical", settings={"samples": 2}, start=str(PRETRAINED), reward={"bleu1": 1.0})
    score, calls = Mixture.score, []

    def wrong(mixture, hypotheses, image):
        calls.append(image)
        return score(mixture, hypotheses, image) * (1 if split == "train" and len(calls) == 1 else NAN)

    monkeypatch.setattr(Mixture, "score", wrong)
    with pytest.raises(InputError, match=rf"^small seed 1: {split}_reward is nan at step 0"):
        train_group(run)
    assert not Path("weights").exists()


def test_looking_waits_for_the_device_only_now_and_then(small_images, monkeypatch):
    """On a GPU, to look at a number after every step would let it wait."""
    looks, original = [], loop.check_finite
    monkeypatch.setattr(loop, "check_finite", lambda job, state: looks.append(state.step) or original(job, state))
    train_group(run_config(training={"epochs": 2, "batch_size": 1}))
    assert looks == [10, 20, 24, 30, 40, 48]
