"""Gradients through a listener: against exact enumeration of every batch of captions, and measured on a small task."""

from itertools import product

import enumeration
import numpy as np
import pytest
import torch
from enumeration import CHANNELS, all_captions, assert_close, log_probs, tiny_captioner
from enumeration import gradient as slope
from small_task import SMALL
from torch import Tensor

from seqcap.data.vocabulary import EOS
from seqcap.evaluation import estimators, gradients
from seqcap.evaluation.estimators import (
    OWN_HINGE,
    REFERENCE,
    Estimator,
    EstimatorsConfig,
    Setup,
    credit,
    gradient,
    measure,
)
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import ESTIMATES
from seqcap.models import decoding
from seqcap.models.relaxation import Relaxation, relaxed_rollout
from seqcap.retrieval.dual_encoder import Config, Model
from seqcap.retrieval.losses import hinges

CAPTIONS = all_captions(words=1, max_length=2)
MARGIN = 0.6


def setup_of(pictures: int) -> Setup:
    captioner = tiny_captioner(words=1, seed=7, scale=1.0)
    torch.manual_seed(3)
    listener = Model(Config(embedding=3, hidden=4), len(captioner.output.bias), (CHANNELS,)).requires_grad_(False)
    for parameter in listener.parameters():
        torch.nn.init.normal_(parameter, std=0.8)
    features, seen = torch.randn(2, pictures, CHANNELS)
    references = torch.tensor([[[4, EOS]], [[3, 4]], [[4, 4]]])[:pictures]
    return Setup(captioner, listener, features, listener.embed_images(seen), references, MARGIN, max_length=2)


def own_hinges(setup: Setup, captions: Tensor) -> Tensor:
    """Of each item [b], as training has them."""
    to_text, to_picture = hinges(setup.images, setup.listener.embed_captions(captions), MARGIN)
    return to_text + to_picture


def log_p(setup: Setup) -> Tensor:
    """log p [pictures, 7] of all captions, with gradient."""
    return torch.stack([log_probs(setup.captioner, features, CAPTIONS) for features in setup.features])


def say(monkeypatch: pytest.MonkeyPatch, captions: Tensor) -> None:
    """Makes random captions be `captions`; greedy ones are what they are."""
    real = decoding.choose
    enumeration.say(monkeypatch, captions)
    said = decoding.choose

    def choose(probabilities, greedy):
        return (real if bool(greedy.all()) else said)(probabilities, greedy)

    monkeypatch.setattr(decoding, "choose", choose)


def expected(setup: Setup, estimator: Estimator) -> Tensor:
    """The mean of an estimator over every batch of captions."""
    found, pictures, total = log_p(setup), torch.arange(len(setup.images)), 0.0
    for rows in product(range(len(CAPTIONS)), repeat=len(pictures)):
        with pytest.MonkeyPatch.context() as patch:
            say(patch, CAPTIONS[list(rows)])
            total = total + found[pictures, list(rows)].sum().exp().item() * gradient(setup, estimator).double()
    return total


def exact(setup: Setup, others_too: bool) -> Tensor:
    """The gradient of F; without that of captions as negatives of others, if not `others_too`."""
    found, pictures, total = log_p(setup), torch.arange(len(setup.images)), 0.0
    for rows in product(range(len(CAPTIONS)), repeat=len(pictures)):
        hinge, log_probs_of = own_hinges(setup, CAPTIONS[list(rows)]), found[pictures, list(rows)]
        p = log_probs_of.sum().exp()
        total = total + (p * hinge.mean() if others_too else (p.detach() * hinge * log_probs_of).mean())
    return slope(setup.captioner, total)


# --- Score functions


def test_the_reference_is_right_on_average():
    """With three pictures, since the hinge of one takes the worse of two others."""
    setup = setup_of(3)
    assert_close(expected(setup, Estimator(REFERENCE)), exact(setup, others_too=True))


def test_its_own_hinge_alone_is_another_gradient():
    setup = setup_of(2)
    actual = expected(setup, Estimator(OWN_HINGE))
    assert_close(actual, exact(setup, others_too=False))
    right = exact(setup, others_too=True)
    assert (actual - right).norm() > 0.2 * right.norm()


def test_own_hinges_are_paid_over_those_of_references(monkeypatch):
    setup, rows = setup_of(3), [1, 4, 6]
    say(monkeypatch, CAPTIONS[rows])
    paid = own_hinges(setup, CAPTIONS[rows]) - own_hinges(setup, setup.references[:, 0])
    right = slope(setup.captioner, (paid * log_p(setup)[torch.arange(3), rows]).mean())
    assert_close(gradient(setup, Estimator(OWN_HINGE)).double(), right)


@pytest.mark.parametrize("name", [REFERENCE, OWN_HINGE])
def test_several_draws_are_the_mean_of_each(monkeypatch, name):
    """A caption meets those of its own draw, and no others."""
    setup, first, second = setup_of(3), CAPTIONS[[1, 4, 6]], CAPTIONS[[3, 3, 5]]
    alone = []
    for captions in (first, second):
        with monkeypatch.context() as patch:
            say(patch, captions)
            alone.append(gradient(setup, Estimator(name)))
    say(monkeypatch, torch.stack([first, second], 1).flatten(0, 1))
    torch.testing.assert_close(gradient(setup, Estimator(name, draws=2)), sum(alone) / 2, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("b", [2, 3, 6])
def test_credit_is_what_a_caption_adds(b):
    """Written out: R_i = H(y) - H without item i and caption i, less the same with the other caption in its place."""
    generator = torch.Generator().manual_seed(b)
    drawn = torch.randn(5, b, b, generator=generator).round(decimals=1) / 3
    other = torch.randn(1, b, b, generator=generator).round(decimals=1) / 3

    def hinge(cosines: Tensor, items: list[int]) -> float:
        """Summed over some items, with the captions of these alone."""
        total = 0.0
        for i in items:
            others = [j for j in items if j != i]
            if others:
                total += max(0, MARGIN + max(cosines[i, j] for j in others) - cosines[i, i])
                total += max(0, MARGIN + max(cosines[j, i] for j in others) - cosines[i, i])
        return float(total)

    everyone = list(range(b))
    for cosines, found in zip(drawn, credit(drawn, other, MARGIN), strict=True):
        for i in everyone:
            replaced = cosines.clone()
            replaced[:, i] = other[0, :, i]
            without = hinge(cosines, [j for j in everyone if j != i])
            paid, baseline = hinge(cosines, everyone) - without, hinge(replaced, everyone) - without
            assert found[i].item() == pytest.approx(paid - baseline, abs=1e-5)


# --- What passes captions on


@pytest.mark.parametrize("relaxation", [Relaxation("multinomial", 0.5), Relaxation("gumbel", 1.0, feedback_grad=False)])
def test_what_is_passed_on_is_differentiated(relaxation):
    setup = setup_of(3)
    torch.manual_seed(0)
    found = gradient(setup, Estimator(relaxation.distribution, relaxation=relaxation)).double()
    torch.manual_seed(0)
    memory = setup.captioner.encode(setup.features)
    passed = relaxed_rollout(setup.captioner, memory, 2, relaxation).passed
    assert_close(found, slope(setup.captioner, own_hinges(setup, passed).mean()))


def test_every_estimator_is_there_once():
    found = estimators.estimators((0.0, 1.0), draws=5)
    assert (found[0], found[1]) == (Estimator(REFERENCE, 5), Estimator(OWN_HINGE, 5))
    assert {one.draws for one in found[2:]} == {1}
    assert [(one.name, one.relaxation.rho, one.relaxation.feedback_grad) for one in found[2:]] == [
        (name, rho, fed) for name in ("multinomial", "gumbel") for rho, fed in ((0.0, False), (0.0, True), (1.0, True))
    ]
    assert all(one.relaxation.distribution == one.name for one in found[2:])


# --- On a task


@pytest.fixture
def config(pretrained):
    return EstimatorsConfig(**SMALL["estimators"], rhos=(0.0, 1.0), images=5, replicates=3, draws=2)


def test_rows_are_inner_products(config, tmp_path):
    rows = measure(config)
    write_rows(tmp_path / "estimators.parquet", rows, ESTIMATES)
    frame = read_table(tmp_path / "estimators.parquet", ESTIMATES).to_pandas()
    keys = ["estimator", "rho", "feedback_grad"]
    assert frame.groupby(keys, dropna=False).size().tolist() == [3] * 8
    for _, mine in frame.groupby(keys, dropna=False):
        own, across = np.array(mine["own"].tolist()), np.array(mine["reference"].tolist())
        assert mine["replicate"].tolist() == [0, 1, 2]
        assert own.shape == across.shape == (3, 3)
        assert own == pytest.approx(own.T)
        # Independent gradients: none is the other.
        assert np.linalg.eigvalsh(own).min() > 0
        assert np.allclose(own, across) == (mine["estimator"].iloc[0] == REFERENCE)
    assert measure(config) == rows


def test_products_are_of_the_gradients():
    mine, others = torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    first, second = estimators.rows(Estimator("gumbel", relaxation=Relaxation("gumbel", 0.5)), mine, others)
    assert (first["own"], first["reference"]) == ([5.0, 6.0], [1.0, 3.0, 4.0])
    assert (second["own"], second["reference"]) == ([6.0, 9.0], [0.0, 3.0, 6.0])
    assert (second["rho"], second["feedback_grad"], second["replicate"]) == (0.5, True, 1)


def test_the_listener_sees_the_captioners_pictures(config):
    setup = estimators.read_setup(config)
    store = setup.listener.load_task(gradients.tasks.ARTIFACTS / "image").store
    seen = [setup.listener.embed_images(torch.from_numpy(store.get(np.array([row])))) for row in range(24)]
    rows = [(torch.cat(seen) - picture).norm(dim=1).argmin().item() for picture in setup.images]
    assert len(set(rows)) == 5
    torch.testing.assert_close(setup.features, torch.from_numpy(store.get(np.array(rows))))
