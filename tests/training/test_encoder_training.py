"""Pretraining: the pictures, the targets, the same weights from the same seed, and that it learns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_task import SMALL

from seqcap.features.encoders import Encoder, with_weights
from seqcap.files.json_file import write_json
from seqcap.training import encoders, loop
from seqcap.training.checkpoint import State
from seqcap.training.encoders import (
    TRAIN,
    VAL,
    EncoderConfig,
    Examples,
    Job,
    _per_cell,
    _shifted,
    draw_examples,
    one_cycle,
    train_on_scenes,
)
from seqcap.world.graph import MOTIONS
from seqcap.world.labels import CLIP_LABELS, CLIP_OBJECT_LABELS, IMAGE_LABELS, OBJECT_LABELS


def squares(n: int, seed: int) -> Examples:
    """Label 0: a red square somewhere; label 1: it is in the left half. The square is an object with label 0."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 60, (n, 3, 16, 16), dtype=np.uint8)
    labels, objects, middles = np.zeros((n, 2)), np.zeros((n, 1, 1)), np.zeros((n, 1, 2))
    for i in range(n):
        if rng.random() < 0.7:
            x, y = rng.integers(0, 13, 2)
            images[i, 0, y : y + 4, x : x + 4] = 250
            labels[i] = 1, x < 6
            objects[i] = 1
            middles[i, 0] = (y + 2) / 16, (x + 2) / 16
    return Examples(torch.from_numpy(images), *(torch.from_numpy(v).float() for v in (labels, objects, middles)))


def config(**changes: object) -> EncoderConfig:
    return EncoderConfig.model_validate(SMALL["encoder"] | changes)


@pytest.fixture(autouse=True)
def on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "python"})


def trained(train: Examples, val: Examples, kept: str = "kept", **changes: object) -> tuple[Encoder, State[Any]]:
    """An encoder of pictures, trained."""
    encoder = with_weights("scenes_cnn", "random", seed=1)
    return encoder, loop.train(Job(encoder, config(**changes), train, val), Path(kept))


def weights(encoder: Encoder) -> torch.Tensor:
    return torch.cat([tensor.flatten().double() for tensor in encoder.state_dict().values()])


def test_it_learns_what_is_there_and_where():
    encoder, state = trained(squares(240, 1), squares(100, 2), epochs=8, batch_size=32)
    assert state.best_value is not None
    assert state.best_value > 0.95
    # The first channel is the evidence of the object's label, in the cell where it is.
    test = squares(100, 3)
    with torch.inference_mode():
        evidence = encoder.eval()(test.images)[:, 0]
    there = test.objects[:, 0, 0] > 0
    assert evidence.amax((1, 2))[there].min() > evidence.amax((1, 2))[~there].max()
    targets = _per_cell(test.objects, test.middles, 2, 2)[..., 0]
    assert (evidence.flatten(1).argmax(1) == targets.flatten(1).argmax(1))[there].float().mean() > 0.8


def test_the_same_seed_gives_the_same_weights(monkeypatch, killed_after_saving):
    """Also if it is killed and resumes, within an epoch, too. The last epoch's weights are kept."""
    data = squares(32, 1), squares(16, 2)
    one, state = trained(*data, kept="one")
    other, _ = trained(*data, kept="other", seed=2)
    assert not torch.equal(weights(one), weights(other))
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)
    monkeypatch.setattr(loop, "LOG_STEPS", 1)
    (two, resumed), kills = killed_after_saving(lambda: trained(*data, kept="two"))
    assert kills == 8
    assert torch.equal(weights(one), weights(two))
    assert (resumed.best_value, resumed.curves) == (state.best_value, state.curves)


@pytest.mark.parametrize("steps", [1, 7, 240])
def test_the_learning_rate_is_that_of_torchs_cycle(steps):
    optimizer = torch.optim.AdamW([torch.zeros(1, requires_grad=True)])
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps, pct_start=0.2)
    for at in range(steps):
        [group] = optimizer.param_groups
        assert one_cycle(at, steps, 0.01) == (group["lr"], group["betas"][0])
        optimizer.step()
        schedule.step()


def test_pictures_do_not_depend_on_who_draws_them(monkeypatch):
    monkeypatch.setattr(encoders, "CHUNK", 3)
    alone, together = draw_examples((1, TRAIN), 8, 32, 1), draw_examples((1, TRAIN), 8, 32, 2)
    for name in ("images", "labels", "objects", "middles"):
        assert torch.equal(getattr(alone, name), getattr(together, name))
    # More pictures begin with the same ones. Another entropy gives others.
    assert torch.equal(draw_examples((1, TRAIN), 5, 32, 1).images, alone.images[:5])
    for entropy in ((2, TRAIN), (1, VAL)):
        assert not torch.equal(draw_examples(entropy, 5, 32, 1).images, alone.images[:5])


def test_pictures_have_the_labels_of_their_objects():
    drawn = draw_examples((1, TRAIN), 40, 32, 1)
    assert drawn.images.shape == (40, 3, 32, 32)
    assert drawn.images.dtype == torch.uint8
    shared = [IMAGE_LABELS.index(name) for name in OBJECT_LABELS[:20]]
    # What an object has, kinds and colours here, its picture has, and nothing else.
    assert torch.equal(drawn.objects.amax(1)[:, :20], drawn.labels[:, shared])
    numbers = (drawn.objects.sum(2) > 0).sum(1)
    assert set(numbers.tolist()) == {1, 2, 3, 4}
    column = IMAGE_LABELS.index("objects:1")
    assert torch.equal(drawn.labels[:, column : column + 4].argmax(1) + 1, numbers)
    assert drawn.middles.min() >= 0
    assert drawn.middles.max() < 1


def test_clips_are_drawn_as_pairs_of_frames_that_are_read():
    drawn = draw_examples((1, TRAIN), 40, 32, 1, frames=8)
    assert drawn.images.shape == (40, 6, 32, 32)
    assert drawn.labels.shape[1] == len(CLIP_LABELS)
    assert drawn.objects.shape[2] == len(CLIP_OBJECT_LABELS)
    motions = [CLIP_LABELS.index(name) for name in MOTIONS], [CLIP_OBJECT_LABELS.index(name) for name in MOTIONS]
    # What an object does, its clip does, and nothing else; something moves in every clip.
    assert torch.equal(drawn.objects.amax(1)[:, motions[1]], drawn.labels[:, motions[0]])
    assert drawn.labels[:, motions[0]].sum(1).min() >= 1
    first, second = drawn.images.chunk(2, 1)
    assert all((first != second).flatten(1).any(1).tolist())
    assert torch.equal(draw_examples((1, TRAIN), 5, 32, 2, frames=8).images, drawn.images[:5])
    # Frames further apart show the same clips at other moments.
    further = draw_examples((1, TRAIN), 40, 32, 1, frames=2)
    assert torch.equal(further.labels, drawn.labels)
    assert (further.images != drawn.images).any()
    moved = [(a.float() - b.float()).abs().mean() for a, b in ((first, second), further.images.chunk(2, 1))]
    assert moved[0] < moved[1]


def test_an_encoder_of_clips_learns_from_them():
    encoder = with_weights("clips_cnn", "random", seed=1)
    before = weights(encoder)
    assert 0 < train_on_scenes(encoder, config(epochs=1)) < 1
    assert not encoder.training
    assert not torch.equal(before, weights(encoder))
    # One that reads frames one by one learns from pictures.
    assert 0 < train_on_scenes(with_weights("scenes_cnn", "random", seed=1), config(epochs=1, task="image")) < 1


def test_the_targets_of_cells():
    objects = torch.zeros(2, 2, 3)
    objects[0, 0, 0] = objects[0, 1, 2] = objects[1, 0, 1] = 1
    middles = torch.tensor([[[0.1, 0.9], [0.2, 0.8]], [[0.99, 0.49], [0.0, 0.0]]])
    found = _per_cell(objects, middles, 2, 4)
    expected = torch.zeros(2, 2, 4, 3)
    # Two objects share a cell; the second picture's other object does not exist.
    expected[0, 0, 3] = torch.tensor([1.0, 0.0, 1.0])
    expected[1, 1, 1, 1] = 1
    assert torch.equal(found, expected)


def test_shifted_moves_a_batch_by_at_most_a_thirty_second_and_repeats_its_edges():
    images = torch.arange(64, dtype=torch.uint8).expand(2, 3, 64, 64)
    torch.manual_seed(0)
    moves = set()
    for _ in range(40):
        shifted = _shifted(images)
        assert shifted.shape == images.shape
        assert torch.equal(shifted[0], shifted[1])
        moves.add(int(shifted[0, 0, 0, 32]) - 32)
        assert set(shifted[0, 0, 0].tolist()) <= set(range(64))
    assert moves == {-2, -1, 0, 1, 2}
