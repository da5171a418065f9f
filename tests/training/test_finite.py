"""What is NaN or infinite stops a run: with variant, seed and step, and with its last good checkpoint kept."""

from pathlib import Path

import pytest
import torch
from small_task import LAYOUT, STAGE, run_config, train_group

from seqcap.config.training import VarianceConfig
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.evaluation import variance
from seqcap.files.tensors import load_weights, save_weights
from seqcap.objectives import cross_entropy, self_critical
from seqcap.rewards.mixture import Mixture
from seqcap.system.scratch import checkpoints
from seqcap.training import loop

PRETRAINED = Path("artifacts/pretrain/lstm")
# 24 images in batches of 5.
STEPS_PER_EPOCH = 5
NAN = float("nan")


def broken_at(monkeypatch, step, change, objective=cross_entropy):
    """Changes the loss of one step: `change` of the loss and the captioner."""
    original, calls = objective.Model.forward, []

    def forward(model, captioner, batch):
        calls.append(batch)
        loss, logs = original(model, captioner, batch)
        return (change(loss, captioner) if len(calls) == step else loss), logs

    monkeypatch.setattr(objective.Model, "forward", forward)


def no_gradient(loss, captioner):
    """A finite loss whose gradient is NaN."""
    return loss + (0 * captioner.output.bias.sum()).abs().sqrt()


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (lambda loss, captioner: loss * NAN, "nan"),
        (lambda loss, captioner: loss + torch.inf, "inf"),
        (no_gradient, "nan"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 10])
def test_a_run_stops_and_goes_on_from_its_last_good_state(task, monkeypatch, change, value, step):
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


@pytest.mark.parametrize("split", ["train", "val"])
def test_rewards_stop_a_run(task, monkeypatch, split):
    train_group(run_config(weights=str(PRETRAINED)))
    run = run_config(objective="self_critical", settings={"samples": 2}, start=str(PRETRAINED), reward={"bleu1": 1.0})
    build, score = Mixture.__init__, Mixture.score
    sizes = {}

    def remember(mixture, weights, material):
        sizes[mixture] = len(material.references)
        build(mixture, weights, material)

    def wrong(mixture, hypotheses, image):
        return score(mixture, hypotheses, image) * (NAN if sizes[mixture] == LAYOUT[split] else 1)

    monkeypatch.setattr(Mixture, "__init__", remember)
    monkeypatch.setattr(Mixture, "score", wrong)
    with pytest.raises(InputError, match=rf"^small seed 1: {split}_reward is nan at step 0"):
        train_group(run)
    assert not Path("weights").exists()


@pytest.mark.parametrize("weight", [NAN, float("inf")])
def test_weights_of_rewards_stop_a_run(task, weight):
    with pytest.raises(InputError, match=r"^small seed 1: val_reward is (nan|inf) at step 0"):
        train_group(run_config(reward={"cider": weight}))


def test_log_probabilities_stop_a_run(task, monkeypatch):
    """Logits that overflow."""
    train_group(run_config(weights=str(PRETRAINED)))
    broken_at(monkeypatch, 3, lambda loss, captioner: loss * (captioner.output.bias * 3e38 * 1e3).sum(), self_critical)
    run = run_config(objective="self_critical", settings={"samples": 2}, start=str(PRETRAINED))
    with pytest.raises(InputError, match=r"^small seed 1: the loss or its gradient is (nan|-?inf) at step 3"):
        train_group(run)


def test_a_run_does_not_start_from_weights_that_are_not_finite(task):
    train_group(run_config(weights=str(PRETRAINED), training={"epochs": 1}))
    tensors, metadata = load_weights(PRETRAINED / "seed1.safetensors")
    save_weights(PRETRAINED / "seed1.safetensors", tensors | {"output.bias": tensors["output.bias"] * NAN}, metadata)
    with pytest.raises(InputError, match=r"seed1\.safetensors: weight 'output\.bias' is NaN or infinite"):
        train_group(run_config(start=str(PRETRAINED)))


def test_a_run_does_not_start_from_weights_of_another_vocabulary(task):
    train_group(run_config(weights=str(PRETRAINED), training={"epochs": 1}))
    path = Path("artifacts/image/data/vocabulary.json")
    words = Vocabulary.read(path).words
    Vocabulary([*words[:4], *words[:3:-1]]).write(path)
    with pytest.raises(InputError, match=r"seed1\.safetensors: was trained with another vocabulary than that of artif"):
        train_group(run_config(start=str(PRETRAINED)))


def test_looking_waits_for_the_device_only_now_and_then(task, monkeypatch):
    """On a GPU, to look at a number after every step would let it wait."""
    looks, original = [], loop.check_finite
    monkeypatch.setattr(loop, "check_finite", lambda job, state: looks.append(state.at) or original(job, state))
    train_group(run_config(training={"epochs": 2, "batch_size": 1}))
    assert looks == [10, 20, 24, 30, 40, 48]


def test_the_variance_of_what_is_not_finite_is_not_measured(task, monkeypatch):
    train_group(run_config(weights=str(PRETRAINED), training={"epochs": 1}))
    settings = {"paths": 1, "rollouts": 2, "baseline_hidden": 4, "baseline_steps": 1}
    config = VarianceConfig(
        code={},
        paper="paper",
        task="image",
        kind="images",
        reward={"cider": 1.0},
        settings=(settings,),
        images=3,
        replicates=2,
        batch_size=3,
        learning_rate=0.01,
        max_length=6,
        seed=1,
        start=str(PRETRAINED),
    )
    monkeypatch.setattr(variance, "flat_gradient", lambda *_: torch.tensor([1.0, NAN]))
    with pytest.raises(InputError, match=r"its policy gradient with 2 rollouts is not finite"):
        variance.measure(config)
