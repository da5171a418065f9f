"""The cooperative objectives against exact enumeration: two images, every pair of their seven possible captions."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, all_captions, assert_close, gradient, log_probs, make_context, tiny_captioner
from small_listener import Store, learning, tiny_listener, weights
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD
from seqcap.models import decoding, relaxation
from seqcap.models.relaxation import Relaxation, relaxed_rollout
from seqcap.objectives import (
    discriminability,
    frozen_speaker,
    gan,
    joint_reinforce,
    self_retrieval,
    straight_through,
)
from seqcap.objectives.shared import base, cooperation

CAPTIONS = all_captions(words=1, max_length=2)
PAIRS = [list(pair) for pair in product(range(len(CAPTIONS)), repeat=2)]
FEATURES = torch.randn(2, CHANNELS, generator=torch.Generator().manual_seed(1))
# Both images have every caption as a reference, and one that is missing.
BATCH = base.Batch(FEATURES, np.array([0, 1]), torch.cat([CAPTIONS, torch.zeros(1, 2).long()]).expand(2, -1, -1))
REWARD = Cider([[[4], [4, 4]], [[3], [3, 4]], [[5]]])
MARGIN, W = 0.6, 2.5
MODULES = [straight_through, joint_reinforce, discriminability, self_retrieval, gan, frozen_speaker]
CONTEXT = make_context(REWARD, 2, 5, reads={"listener": Path("listener")}, items=np.array([10, 20]))
STORE = Store(20, 30, 10, 40, 50)


def new_listener():
    unlabelled = {"server": STORE.inputs([30, 40, 50])}
    return tiny_listener(5, store=STORE, inputs=unlabelled.__getitem__)


@pytest.fixture
def listener():
    return new_listener()


@pytest.fixture
def build(monkeypatch, listener):
    """Builds an objective whose listener is the fixture's."""

    def build(module, context=CONTEXT, **settings):
        def load(path):
            assert path == Path("listener/seed1.safetensors")
            return listener, {}

        monkeypatch.setattr(cooperation.retrieval, "load", load)
        known = {"weight": W, "margin": MARGIN}
        fields = module.Config.model_fields
        return module.Model(
            module.Config(**{name: known[name] for name in known if name in fields} | settings), context
        )

    return build


def say(monkeypatch, sampled: Tensor) -> Tensor:
    """Makes samples be `sampled` [2, time], and greedy captions what is returned: they earn something, too."""
    best = torch.tensor([[4, EOS], [3, 3]])[:, : sampled.shape[1]]
    left: list = []

    def choose(probabilities, greedy):
        if not left:
            each = len(greedy) // 2
            captions = [(best if flag else sampled)[i // each] for i, flag in enumerate(greedy.tolist())]
            left.append((torch.stack(captions), 0))
        captions, t = left.pop()
        assert len(captions) == len(greedy)
        going = captions[captions[:, t] != EOS]
        if len(going) and t + 1 < captions.shape[1]:
            left.append((going, t + 1))
        return captions[:, t]

    monkeypatch.setattr(decoding, "choose", choose)
    return best


def draw_words(monkeypatch, captions: Tensor):
    """Makes relaxed rollouts draw the words of captions [n, time], as often as they are called."""
    left: list = []

    def draw(logits, form):
        rows, t = left.pop() if left else (torch.arange(len(captions)), 0)
        assert len(logits) == len(rows)
        index = captions[rows, t]
        going = rows[index != EOS]
        if len(going) and t + 1 < captions.shape[1]:
            left.append((going, t + 1))
        return torch.softmax(logits, 1), index

    monkeypatch.setattr(relaxation, "draw", draw)


def seen(listener, items=(10, 20)) -> Tensor:
    """The listener's embeddings of images."""
    return listener.embed_images(torch.from_numpy(STORE.features[STORE.rows_of(items)]))


def own_hinges(listener, captions: Tensor, further=(), images=None) -> Tensor:
    """Written out: the hinges of both directions of each item [b]."""
    images = seen(listener) if images is None else images
    scores = images @ listener.embed_captions(captions).T
    more = seen(listener, further) @ listener.embed_captions(captions).T if further else None
    found = []
    for i in range(len(scores)):
        others = [j for j in range(len(scores)) if j != i]
        negatives = [scores[j, i] for j in others] + ([] if more is None else list(more[:, i]))
        to_text = max(scores[i, j] for j in others)
        found.append((MARGIN + to_text - scores[i, i]).relu() + (MARGIN + max(negatives) - scores[i, i]).relu())
    return torch.stack(found)


def rewards(captions: Tensor, images=(0, 1)) -> Tensor:
    return torch.from_numpy(REWARD.score(captions.numpy(), np.array(images))).float()


def log_p(captioner, captions: Tensor) -> Tensor:
    """log p [2] of one caption of each image."""
    return torch.stack([log_probs(captioner, FEATURES[i], captions[i : i + 1])[0] for i in range(2)])


# --- The hinge as a reward.


@pytest.mark.parametrize("module", [joint_reinforce, discriminability, self_retrieval])
def test_the_expected_gradient_is_the_exact_one_of_the_own_items_reward(
    captioner, listener, build, module, monkeypatch
):
    """Other items' hinges in which a caption is a negative do not count."""
    settings = {"distractors": 2} if module is self_retrieval else {}
    further = (30, 50) if module is self_retrieval else ()
    objective = build(module, **settings).eval()
    # What is subtracted is drawn apart from the samples: any will do, if it stays the same.
    monkeypatch.setattr(discriminability, "sample_references", lambda captions: CAPTIONS[[2, 5]])
    monkeypatch.setattr(self_retrieval.torch, "randperm", lambda n, device: torch.tensor([0, 2, 1]))
    objective.steps.fill_(2)
    p = [log_probs(captioner, FEATURES[i], CAPTIONS).exp() for i in range(2)]
    actual, exact, found = 0.0, 0.0, []
    for pair in PAIRS:
        tokens = CAPTIONS[pair]
        say(monkeypatch, tokens)
        probability = (p[0][pair[0]] * p[1][pair[1]]).item()
        loss, logs = objective(captioner, BATCH)
        actual = actual - probability * gradient(captioner, loss)
        hinges = own_hinges(listener, tokens, further).detach()
        earned = rewards(tokens) - W * hinges
        assert logs["hinge"] == pytest.approx(hinges.mean().item(), abs=1e-6)
        assert logs["hinge_share"] == pytest.approx((hinges > 0).float().mean().item())
        assert logs["train_reward"] == pytest.approx(rewards(tokens).mean().item(), abs=1e-6)
        exact = exact + earned[0] * p[0][pair[0]] * p[1][pair[1]].detach() / 2
        exact = exact + earned[1] * p[1][pair[1]] * p[0][pair[0]].detach() / 2
        found.append(hinges)
    assert torch.stack(found).std(0).min() > 0.1
    assert_close(actual, gradient(captioner, exact))


@pytest.mark.parametrize(
    ("module", "chosen", "used"),
    [
        (joint_reinforce, {}, "reference"),
        (joint_reinforce, {"baseline": "greedy"}, "greedy"),
        (discriminability, {}, "greedy"),
        (discriminability, {"baseline": "reference"}, "reference"),
    ],
)
def test_baselines_are_those_of_the_greedy_caption_and_of_a_reference(
    captioner, listener, build, module, chosen, used, monkeypatch
):
    objective = build(module, **chosen)
    sampled, reference = CAPTIONS[[3, 6]], CAPTIONS[[1, 5]]
    greedy = say(monkeypatch, sampled)
    assert rewards(greedy).min() > 0.1
    assert rewards(greedy).diff().abs() > 0.1
    batch = replace(BATCH, captions=torch.stack([torch.zeros_like(reference), reference], 1))
    loss, _ = objective(captioner, batch)
    baseline = own_hinges(listener, reference if used == "reference" else greedy)
    excess = (own_hinges(listener, sampled) - baseline).detach()
    assert excess.abs().min() > 1e-3
    weights = W * excess - (rewards(sampled) - rewards(greedy))
    expected = (weights * log_p(captioner, sampled)).mean()
    torch.testing.assert_close(loss, expected)
    assert_close(gradient(captioner, loss), gradient(captioner, expected))


def test_references_are_drawn_from_all_that_are_there():
    captions = torch.tensor([[[PAD, PAD], [4, EOS], [3, EOS]]]).expand(300, -1, -1)
    torch.manual_seed(0)
    found = base.sample_references(captions)[:, 0]
    assert 100 < int((found == 3).sum()) == 300 - int((found == 4).sum()) < 200


def test_unlabelled_images_are_negatives_of_captions_alone(captioner, listener, build, monkeypatch):
    """Each step draws some of them anew."""
    objective = build(self_retrieval, distractors=2)
    say(monkeypatch, CAPTIONS[[3, 6]])
    torch.manual_seed(0)
    found = {round(objective(captioner, BATCH)[1]["hinge"], 5) for _ in range(30)}
    allowed = [own_hinges(listener, CAPTIONS[[3, 6]], some).mean().item() for some in ((30, 40), (30, 50), (40, 50))]
    assert found == {round(value, 5) for value in allowed}
    assert len(found) > 1
    assert min(found) >= round(own_hinges(listener, CAPTIONS[[3, 6]]).mean().item(), 5)


# --- The hinge with a gradient.


@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize("feedback_grad", [True, False])
def test_the_loss_of_straight_through(captioner, listener, build, rho, feedback_grad, monkeypatch):
    """The hard-fed captions are those that the listener heard at rho = 0, else others."""
    objective = build(straight_through, rho=rho, feedback_grad=feedback_grad)
    heard, sampled = CAPTIONS[[6, 2]], CAPTIONS[[3, 1]]
    greedy = say(monkeypatch, sampled)
    draw_words(monkeypatch, heard)
    form = Relaxation("multinomial", rho, feedback_grad=feedback_grad)
    passed = relaxed_rollout(captioner, captioner.encode(FEATURES), 2, form).passed
    hinge = own_hinges(listener, passed).mean()
    judged = heard if rho == 0 else sampled
    cider = -((rewards(judged) - rewards(greedy)) * log_p(captioner, judged)).mean()
    loss, logs = objective(captioner, BATCH)
    torch.testing.assert_close(loss, hinge + cider)
    assert_close(gradient(captioner, loss), gradient(captioner, W * hinge + cider))
    assert_close(gradient(listener, loss), gradient(listener, hinge))
    assert logs["hinge_gradient"] == pytest.approx(W * gradient(captioner, hinge).norm().item(), rel=1e-4)
    assert logs["cider_gradient"] == pytest.approx(gradient(captioner, cider).norm().item(), rel=1e-4)
    assert logs["soft_share"] == rho
    assert logs["train_reward"] == pytest.approx(rewards(judged).mean().item())


def test_the_temperature_falls_with_the_training_steps(captioner, build, monkeypatch):
    falling = build(straight_through, distribution="gumbel", anneal_rate=0.1)
    falling.eval()
    falling(captioner, BATCH)
    assert falling.temperature() == 1
    falling.train()
    shown = [falling(captioner, BATCH)[1]["temperature"] for _ in range(10)]
    assert shown == pytest.approx([max(0.5, np.exp(-0.1 * t)) for t in range(10)])
    # A constant one reaches the rollout.
    used = []
    original = relaxation.draw
    monkeypatch.setattr(relaxation, "draw", lambda logits, form: used.append(form) or original(logits, form))
    build(straight_through, distribution="gumbel", temperature=3.0, rho=0.4, feedback_grad=False)(captioner, BATCH)
    assert set(used) == {Relaxation("gumbel", 0.4, 3.0, False)}


# --- The listener.


@pytest.mark.parametrize("module", [joint_reinforce, frozen_speaker])
def test_the_listener_learns_from_the_hinge_of_samples(captioner, listener, build, module, monkeypatch):
    objective = build(module)
    objective.steps.fill_(1)
    say(monkeypatch, CAPTIONS[[3, 6]])
    loss, _ = objective(captioner, BATCH)
    expected = own_hinges(listener, CAPTIONS[[3, 6]]).mean()
    torch.testing.assert_close(loss, expected)
    assert_close(gradient(listener, loss), gradient(listener, expected))
    assert not gradient(captioner, loss).any()


@pytest.mark.parametrize("module", [straight_through, joint_reinforce])
def test_how_the_listener_learns_does_not_depend_on_w(build, module, monkeypatch):
    """Its gradient is unweighted and clipped apart: not even clipping, which is strong here, lets w through."""
    found = []
    for w in (0.01, 1000.0):
        captioner, listener = tiny_captioner(words=1, seed=7, scale=1.0), new_listener()
        objective = build(module, weight=w)
        objective.listener = listener
        _, update = learning(captioner, objective, BATCH, clip=0.01)
        if module is joint_reinforce:
            objective.steps.fill_(1)
        torch.manual_seed(0)
        before = weights(listener)
        update()
        found.append((weights(listener) - before, weights(captioner)))
    assert found[0][0].norm() > 1e-3
    assert torch.equal(found[0][0], found[1][0])
    if module is straight_through:
        assert not torch.equal(found[0][1], found[1][1])


def test_turns_leave_the_others_weights_and_moments_alone(captioner, listener, build):
    """A gradient of zero would not: Adam would go on by its mean, and forget its scale."""
    objective = build(joint_reinforce)
    state, update = learning(captioner, objective, BATCH)
    torch.manual_seed(0)

    def moments(module):
        return [
            state.optimizer.state[p]["exp_avg_sq"].clone() for p in module.parameters() if p in state.optimizer.state
        ]

    for turn in range(6):
        speaks = turn % 2 == 0
        learner, rests = (captioner, listener) if speaks else (listener, captioner)
        before, untouched, kept = weights(learner), weights(rests), moments(rests)
        logs = update()
        assert ("train_reward" in logs) == speaks
        assert "hinge" in logs
        assert not torch.equal(weights(learner), before)
        assert torch.equal(weights(rests), untouched)
        assert all(torch.equal(old, new) for old, new in zip(kept, moments(rests), strict=True))
        assert (len(kept) == 0) == (turn == 0)


@pytest.mark.parametrize("module", MODULES)
def test_who_learns(captioner, listener, build, module):
    objective = build(module)
    _, update = learning(captioner, objective, BATCH)
    frozen = module in (discriminability, self_retrieval)
    # Without gradients of its own, a captioner that is said to learn would still be in Adam's memory.
    assert objective.trains_captioner() == (module is not frozen_speaker)
    assert set(objective.partners()) == (set() if frozen else {"listener"})
    speaker, hearer = weights(captioner), weights(listener)
    torch.manual_seed(0)
    for _ in range(2):
        logs = update()
    assert torch.equal(weights(captioner), speaker) == (module is frozen_speaker)
    assert torch.equal(weights(listener), hearer) == frozen
    assert np.isfinite(list(logs.values())).all()


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_that_may_learn_gets_a_gradient(captioner, build, module):
    """In every step, or DistributedDataParallel refuses the next one."""
    objective = build(module)
    torch.manual_seed(0)
    for _ in range(3):
        loss, _ = objective(captioner, BATCH)
        learners = [p for p in (*captioner.parameters(), *objective.parameters()) if p.requires_grad]
        assert None not in torch.autograd.grad(loss, learners, allow_unused=True)


def test_the_partner_is_the_listener_at_its_own_pace(build, listener):
    objective = build(straight_through, listener_pace=0.3)
    partner = objective.partners()["listener"]
    assert partner.module is objective.listener is listener
    assert (partner.pace, partner.learns) == (0.3, True)
    assert partner.metadata == listener.metadata()
    steps = []
    for pace in (1.0, 0.3):
        objective = build(straight_through, listener_pace=pace)
        objective.listener = new_listener()
        before = weights(objective.listener)
        torch.manual_seed(0)
        learning(tiny_captioner(words=1, seed=7, scale=1.0), objective, BATCH)[1]()
        steps.append(weights(objective.listener) - before)
    torch.testing.assert_close(steps[1], 0.3 * steps[0], atol=1e-6, rtol=1e-2)
    turns = build(joint_reinforce)
    assert (turns.trains_captioner(), turns.partners()["listener"].learns) == (True, False)
    turns.steps += 1
    assert (turns.trains_captioner(), turns.partners()["listener"].learns) == (False, True)


@pytest.mark.parametrize("module", [straight_through, joint_reinforce, discriminability])
def test_gradient_norms_are_logged_once(captioner, build, module):
    objective = build(module)
    torch.manual_seed(0)
    shown = [{"hinge_gradient", "cider_gradient"} & set(objective(captioner, BATCH)[1]) for _ in range(3)]
    assert [len(names) for names in shown] == [2, 0, 0]


def test_recall_is_that_of_the_listener_as_it_is_now(listener, build, monkeypatch):
    """Of five images' captions, in an order of their own; R@10 becomes R@1 where the listener is right."""
    objective = build(straight_through)
    items, captions = np.array([40, 10, 30, 20, 50]), CAPTIONS[[1, 2, 3, 4, 5]].numpy()
    inputs = STORE.inputs(items)
    monkeypatch.setattr(cooperation, "recall", lambda ranks, k: (ranks.tolist(), k))
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        for parameter in listener.parameters():
            torch.nn.init.normal_(parameter, std=0.8)
        with torch.no_grad():
            scores = listener.embed_captions(torch.from_numpy(captions)) @ seen(listener, items).T
        expected = [int((scores[i] > scores[i, i]).sum()) + 1 for i in range(5)]
        assert objective.measures(inputs, captions) == {"val_R@10": (expected, 10)}
        found.append(expected)
    assert found[0] != found[1]


@pytest.mark.parametrize("module", MODULES)
def test_a_batch_with_two_captions_of_one_image_is_refused(captioner, build, module):
    with pytest.raises(ValueError, match="two captions of one image"):
        build(module)(captioner, replace(BATCH, images=np.array([1, 1])))


# --- G-GAN.


def opinion(listener, captions: Tensor) -> Tensor:
    """log(r / (1 - r)) of one caption of each image."""
    return 3.0 * (seen(listener) * listener.embed_captions(captions)).sum(1)


def test_the_generator_is_paid_by_the_evaluator(captioner, listener, build, monkeypatch):
    objective = build(gan, scale=3.0)
    p = [log_probs(captioner, FEATURES[i], CAPTIONS).exp() for i in range(2)]
    actual, exact = 0.0, 0.0
    for pair in PAIRS:
        say(monkeypatch, CAPTIONS[pair])
        loss, logs = objective(captioner, BATCH)
        paid = opinion(listener, CAPTIONS[pair]).sigmoid().detach()
        assert logs["evaluator_reward"] == pytest.approx(paid.mean().item(), abs=1e-6)
        both = p[0][pair[0]] * p[1][pair[1]]
        actual = actual - both.item() * gradient(captioner, loss)
        exact = exact + both * paid.mean()
    assert_close(actual, gradient(captioner, exact))


def test_the_evaluator_tells_true_generated_and_mismatched_captions_apart(captioner, listener, build, monkeypatch):
    objective = build(gan, scale=3.0, generated=0.7, mismatched=0.4)
    sampled, true = CAPTIONS[[3, 6]], CAPTIONS[[1, 5]]
    greedy = say(monkeypatch, sampled)
    loss, logs = objective(captioner, replace(BATCH, captions=true[:, None]))
    r_true, r_generated, r_wrong = (opinion(listener, c).sigmoid() for c in (true, sampled, true.flip(0)))
    evaluator = -(r_true.log() + 0.7 * (1 - r_generated).log() + 0.4 * (1 - r_wrong).log()).mean()
    assert logs["evaluator_loss"] == pytest.approx(evaluator.item(), rel=1e-5)
    paid = (r_generated - opinion(listener, greedy).sigmoid()).detach()
    torch.testing.assert_close(loss, evaluator - (paid * log_p(captioner, sampled)).mean())
    assert_close(gradient(listener, loss), gradient(listener, evaluator))


def test_at_first_only_the_evaluator_learns(captioner, listener, build):
    objective = build(gan, pretraining_steps=2)
    _, update = learning(captioner, objective, BATCH)
    torch.manual_seed(0)
    for step in range(4):
        speaker, evaluator = weights(captioner), weights(listener)
        update()
        assert torch.equal(weights(captioner), speaker) == (step < 2)
        assert not torch.equal(weights(listener), evaluator)
