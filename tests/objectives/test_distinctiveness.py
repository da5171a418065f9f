"""Distinctive objectives against equations 1 to 3 written out in float64: three images, and two more as negatives."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, assert_close, gradient, log_probs, make_context, tiny_captioner
from small_listener import Store, learning, tiny_listener, weights
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD
from seqcap.models import decoding
from seqcap.objectives import (
    centred_reinforce,
    distinctive_reinforce,
    scst_discriminator,
    scst_discriminator_unsubtracted,
    scst_grammar,
    unidirectional_reinforce,
    weighted_teacher_forcing,
    weighted_teacher_forcing_reinforce,
)
from seqcap.objectives.shared import base, contrastive_reward, cooperation, discriminator
from seqcap.objectives.shared.contrastive_reward import BEAM, CANDIDATES, GREEDY, TRUTH
from seqcap.retrieval import grammar
from seqcap.tasks.images import ImageSplit

FEATURES = torch.randn(3, CHANNELS, generator=torch.Generator().manual_seed(1))
ITEMS = np.array([10, 20, 30, 40, 50])
# Of each training image, as rows. The first image is mined for the second, which is in its batch.
MINED = np.array([[3, 1], [0, 3], [3, 4], [0, 1], [1, 2]])
SAID = torch.tensor(
    [
        [[4, 5, EOS], [5, EOS, PAD], [3, 5, 4]],
        [[4, 4, EOS], [5, 3, EOS], [5, 5, EOS]],
        [[5, 4, EOS], [4, EOS, PAD], [3, 3, EOS]],
    ]
)
BATCH = base.Batch(FEATURES, np.array([0, 1, 2]), SAID[TRUTH][:, None])
PEOPLE = torch.tensor([[[4, 5, EOS]], [[5, EOS, PAD]]])
BICONTRASTIVE = [weighted_teacher_forcing, distinctive_reinforce, weighted_teacher_forcing_reinforce]
SELF_CRITICAL = [scst_discriminator, scst_discriminator_unsubtracted]
WITH_DISCRIMINATOR = [*BICONTRASTIVE, centred_reinforce, unidirectional_reinforce, *SELF_CRITICAL]
EVERY = [*WITH_DISCRIMINATOR, scst_grammar]
REWARDED = {
    weighted_teacher_forcing: (TRUTH,),
    distinctive_reinforce: (BEAM,),
    weighted_teacher_forcing_reinforce: (BEAM, TRUTH),
    unidirectional_reinforce: (BEAM,),
    centred_reinforce: (BEAM,),
    scst_discriminator: (BEAM,),
    scst_discriminator_unsubtracted: (BEAM,),
}
CONTEXT = make_context(None, 3, 6, reads={"listener": Path("listener")}, items=ITEMS)
# 60 and 70 are of val.
STORE = Store(20, 30, 10, 60, 40, 50, 70)


@pytest.fixture
def listener():
    val = ImageSplit(STORE.inputs([60, 70]), [], PEOPLE)
    return tiny_listener(6, store=STORE, split=lambda name, length: {"val": val}[name])


@pytest.fixture
def captioner():
    return tiny_captioner(words=2, seed=50, scale=1.0)


@pytest.fixture
def build(monkeypatch, listener):
    """Builds an objective with the fixture's retriever, past its first steps unless `steps` says otherwise."""

    def build(module, steps=None, context=CONTEXT, **settings):
        def load(path):
            assert path == Path("listener/seed1.safetensors")
            return listener, {}

        def read(path, items, ranks):
            assert path == Path("listener/seed1.mined.parquet")
            assert items is context.items
            return MINED[:, [{4: 0, 5: 1}[rank] for rank in ranks]]

        monkeypatch.setattr(cooperation.retrieval, "load", load)
        monkeypatch.setattr(discriminator, "read", read)
        torch.manual_seed(5)
        objective = module.Model(module.Config(**settings), context)
        for parameter in (p for p in objective.parameters() if p.requires_grad):
            torch.nn.init.normal_(parameter, std=0.8)
        if module is scst_grammar:
            # Near the retriever, and not the same.
            state = {name: value + 0.2 * torch.randn_like(value) for name, value in listener.state_dict().items()}
            objective.grammar.encoder.tower.load_state_dict(state)
        objective.steps.fill_(1000 if steps is None else steps)
        return objective

    return build


@pytest.fixture
def say(monkeypatch):
    """Makes searches find captions [3, b, time]; x_gt is the batch's."""

    def say(captions=SAID):
        def beam(captioner, memory, max_length, width, no_repeat_ngram):
            assert (width, max_length, no_repeat_ngram) == (5, 3, 3)
            others = captions[GREEDY][:, None].expand(-1, 4, -1)
            return decoding.Captions(torch.cat([captions[BEAM][:, None], others], 1), torch.zeros(len(memory[0]), 5))

        monkeypatch.setattr(contrastive_reward.decoding, "beam", beam)
        found = decoding.Captions(captions[GREEDY], torch.zeros(captions.shape[1]))
        monkeypatch.setattr(contrastive_reward.decoding, "greedy", lambda captioner, memory, max_length: found)
        return replace(BATCH, captions=captions[TRUTH][:, None])

    return say


# --- Equations 1 to 3, written out.


def seen(listener, rows) -> Tensor:
    """The retriever's embeddings of training images."""
    inputs = STORE.inputs(ITEMS)
    return listener.embed_images(inputs.get(np.array(rows, dtype=int))).detach().double()


def heard(listener, captions: Tensor) -> Tensor:
    return listener.embed_captions(captions.flatten(0, 1)).detach().double().view(*captions.shape[:2], -1)


def directions(texts: Tensor, images: Tensor, others: Tensor, which: int, tau: float) -> tuple[list, list]:
    """Equation 2 of texts [3, b, d], one direction after the other; `others` are the images that are only negatives."""
    b = len(images)
    to_text, to_image = [], []
    for i in range(b):
        x = texts[which, i]
        negatives = [texts[w, j] for w in range(3) for j in range(b) if (w, j) != (which, i)]
        assert len(negatives) == 3 * b - 1
        total = sum(math.exp(float(text @ images[i]) / tau) for text in negatives)
        to_text.append(tau * math.log(math.exp(float(x @ images[i]) / tau) / total))
        negatives = [images[j] for j in range(b) if j != i] + list(others)
        total = sum(math.exp(float(x @ image) / tau) for image in negatives)
        to_image.append(tau * math.log(math.exp(float(x @ images[i]) / tau) / total))
    return to_text, to_image


def similarity(listener, module, captions: Tensor, which: int, tau: float) -> Tensor:
    """r_sim [3] of every objective with a discriminator, float64."""
    texts, images = heard(listener, captions), seen(listener, [0, 1, 2])
    if module in SELF_CRITICAL:
        return torch.stack([texts[which, i] @ images[i] - texts[GREEDY, i] @ images[i] for i in range(3)])
    # The batch's mined images are rows 3, 1, 0, 3, 3 and 4: two of them are no others than the batch's.
    to_text, to_image = directions(texts, images, seen(listener, [3, 4]), which, tau)
    if module is unidirectional_reinforce:
        return torch.tensor(to_text).double()
    return torch.tensor(to_text).double() + torch.tensor(to_image).double()


def human(objective, listener, captions: Tensor, which: int) -> Tensor:
    """P_D [3], with gradient."""
    texts, images = heard(listener, captions)[which], seen(listener, [0, 1, 2])
    layers = objective.discriminator.layers
    value = torch.cat([images, texts], 1).float()
    for linear in (layers[0], layers[2]):
        value = (value @ linear.weight.T + linear.bias).relu()
    value = value @ layers[4].weight.T + layers[4].bias
    return value[:, 1].exp() / value.exp().sum(1)


def rewards(objective, listener, module, captions: Tensor, which: int, alpha: float, tau: float) -> Tensor:
    paid = alpha * similarity(listener, module, captions, which, tau)
    return (paid + (1 - alpha) * regular(objective, listener, module, captions, which).detach()).float()


def regular(objective, listener, module, captions: Tensor, which: int) -> Tensor:
    """What 1 - alpha weighs, [3]."""
    own = human(objective, listener, captions, which)
    return own - human(objective, listener, captions, GREEDY) if module is scst_discriminator else own


def baseline(module, reward: Tensor) -> Tensor | float:
    return reward.mean() if module is centred_reinforce else 0.0


def log_p(captioner, captions: Tensor) -> Tensor:
    """log p [3] of one caption of each image."""
    return torch.stack([log_probs(captioner, FEATURES[i], captions[i : i + 1])[0] for i in range(3)])


def term(captioner, captions: Tensor, reward: Tensor) -> Tensor:
    return -sum(reward[i] * log_p(captioner, captions)[i] for i in range(3)) / 3


@pytest.mark.parametrize("module", WITH_DISCRIMINATOR)
@pytest.mark.parametrize(("alpha", "tau"), [(0.94, 0.01), (0.5, 0.3)])
def test_the_loss_is_equation_3(captioner, listener, build, say, module, alpha, tau, monkeypatch):
    """Of the captioner only its terms, of the discriminator only its cross-entropy: no gradient goes through r."""
    objective = build(module, alpha=alpha, **({} if module in SELF_CRITICAL else {"temperature": tau}))
    shuffled = SAID[TRUTH].flip(0)
    monkeypatch.setattr(discriminator, "shuffle_words", lambda captions: shuffled)
    loss, logs = objective(captioner, say())
    right = human(objective, listener, SAID, TRUTH).log() + (1 - human(objective, listener, SAID, BEAM)).log()
    entropy = -right.sum() / 6
    paid = {which: rewards(objective, listener, module, SAID, which, alpha, tau) for which in CANDIDATES.values()}
    terms = {which: term(captioner, SAID[which], of - baseline(module, of)) for which, of in paid.items()}
    expected = sum(terms[which] for which in REWARDED[module])
    torch.testing.assert_close(loss, expected + entropy, atol=1e-5, rtol=1e-4)
    assert_close(gradient(captioner, loss), gradient(captioner, expected))
    assert_close(gradient(objective.discriminator, loss), gradient(objective.discriminator, entropy))
    assert [parameter for parameter in listener.parameters() if parameter.requires_grad] == []
    for name, which in CANDIDATES.items():
        reward = paid[which]
        assert logs[f"{name}_reward"] == pytest.approx(reward.mean().item(), abs=1e-5)
        assert logs[f"{name}_positive"] == (reward > 0).float().mean().item()
        assert logs[f"{name}_human"] == pytest.approx(human(objective, listener, SAID, which).mean().item(), abs=1e-6)
        spread = similarity(listener, module, SAID, which, tau).std(correction=0).item()
        assert logs[f"{name}_similarity_std"] == pytest.approx(alpha * spread, abs=1e-5)
        spread = regular(objective, listener, module, SAID, which).std(correction=0).item()
        assert logs[f"{name}_regular_std"] == pytest.approx((1 - alpha) * spread, abs=1e-5)
        logits = captioner.teacher_force(FEATURES, SAID[which]).log_softmax(2)
        along = -(logits.exp() * logits).sum(2)[SAID[which] != PAD]
        assert logs[f"{name}_entropy"] == pytest.approx(along.mean().item(), rel=1e-5)
        if module in (*BICONTRASTIVE, centred_reinforce):
            both = directions(heard(listener, SAID), seen(listener, [0, 1, 2]), seen(listener, [3, 4]), which, tau)
            for way, found in zip(("to_text", "to_image"), both, strict=True):
                assert logs[f"{name}_{way}_positive"] == pytest.approx(np.mean(np.array(found) > 0))
    assert logs["train_reward"] == logs["beam_reward"]
    assert logs["discriminator_loss"] == pytest.approx(entropy.item(), rel=1e-5)
    found = human(objective, listener, torch.stack([shuffled] * 3), BEAM).mean()
    assert logs["shuffled_human"] == pytest.approx(found.item(), rel=1e-5)
    right = torch.cat([human(objective, listener, SAID, TRUTH) > 0.5, human(objective, listener, SAID, BEAM) < 0.5])
    assert logs["discriminator_accuracy"] == pytest.approx(right.float().mean().item())


def test_a_copy_of_the_own_image_is_no_negative(captioner, listener, build, say, monkeypatch):
    """The fourth training image shows what the first shows, under another name."""
    features = STORE.features.copy()
    features[STORE.rows_of([40])] = features[STORE.rows_of([10])]
    monkeypatch.setattr(STORE, "features", features)
    objective = build(distinctive_reinforce)
    captioned = objective.caption(captioner, captioner.encode(FEATURES), say())
    texts, images = heard(listener, SAID), seen(listener, [0, 1, 2])
    found = contrastive_reward.text_to_image(captioned, BEAM, 0.01, None)
    # The first image's caption has as negatives images 1, 2 and 4; the others have the copy as a negative, too.
    alone = directions(texts, images, seen(listener, [4]), BEAM, 0.01)[1]
    both = directions(texts, images, seen(listener, [3, 4]), BEAM, 0.01)[1]
    np.testing.assert_allclose(found.numpy(), [alone[0], *both[1:]], atol=1e-5)
    assert both[0] <= 0 < abs(alone[0] - both[0])


@pytest.mark.parametrize("module", BICONTRASTIVE)
def test_half_of_the_reward_is_another_alpha(captioner, build, say, module):
    """The released code's .94 is .887 of equation 2, up to the scale of the loss."""
    batch = say()
    kept = 1 - 0.94 / 2
    assert 0.47 / kept == pytest.approx(0.887, abs=1e-3)
    found = []
    for settings in ({"halve": True}, {"alpha": 0.47 / kept}):
        loss, _ = build(module, **settings)(captioner, batch)
        found.append(gradient(captioner, loss))
    assert_close(found[0], kept * found[1])


# --- What is learned.


def test_the_longest_captions_are_whole(captioner, build, monkeypatch):
    short = decoding.Captions(torch.tensor([[EOS], [EOS], [EOS]]), torch.zeros(3))
    monkeypatch.setattr(contrastive_reward.decoding, "greedy", lambda captioner, memory, max_length: short)
    found = contrastive_reward.draw_captions(captioner, captioner.encode(FEATURES), BATCH, 3)
    assert found[GREEDY].tolist() == [[EOS, PAD, PAD]] * 3
    assert torch.equal(found[TRUTH], SAID[TRUTH])


def test_one_of_peoples_captions_is_drawn(captioner, build):
    some = torch.tensor([[[PAD, PAD, PAD], [4, 5, EOS], [5, 5, 5]]]).expand(3, -1, -1)
    objective = build(distinctive_reinforce)
    memory = captioner.encode(FEATURES)
    torch.manual_seed(0)
    found = [objective.caption(captioner, memory, replace(BATCH, captions=some)).captions[TRUTH] for _ in range(30)]
    assert {tuple(caption) for captions in found for caption in captions.tolist()} == {(4, 5, EOS), (5, 5, 5)}


def test_shuffled_words_are_the_same_words():
    captions = torch.tensor([[4, 5, 6, 7, 8, EOS, PAD, PAD], [4, 4, EOS, PAD, PAD, PAD, PAD, PAD], [*range(4, 12)]])
    torch.manual_seed(0)
    found = torch.stack([contrastive_reward.shuffle_words(captions) for _ in range(200)])
    assert torch.equal(found[:, :, 5:][:, :2], captions[:2, 5:].expand(200, -1, -1))
    assert torch.equal(found.sort(2).values, captions.sort(1).values.expand(200, -1, -1))
    assert all(set(found[:, 0, place].tolist()) == {4, 5, 6, 7, 8} for place in range(5))


def test_sizes_are_those_of_the_released_code():
    layers = discriminator.Discriminator(512).layers
    sizes = [(layer.in_features, layer.out_features) for layer in layers if isinstance(layer, torch.nn.Linear)]
    assert sizes == [(1024, 512), (512, 256), (256, 2)]


# --- Who learns, and when.


@pytest.mark.parametrize("co_training", [True, False])
@pytest.mark.parametrize("module", WITH_DISCRIMINATOR)
def test_the_discriminator_learns_alone_then_along(captioner, listener, build, module, co_training):
    """Its opinion is that before the step. In the first steps nothing is asked of the captioner but captions."""
    objective = build(module, steps=0, pretraining_steps=3, co_training=co_training)
    state, update = learning(captioner, objective, BATCH)
    retriever = weights(listener)
    torch.manual_seed(0)
    for step in range(6):
        captioned = objective.caption(captioner, captioner.encode(FEATURES), BATCH).captions
        opinion = human(objective, listener, captioned, BEAM).mean().item()
        speaker, critic = weights(captioner), weights(objective.discriminator)
        assert objective.trains_captioner() == (step >= 3)
        logs = update()
        assert logs["beam_human"] == pytest.approx(opinion, rel=1e-4)
        assert torch.equal(weights(captioner), speaker) == (step < 3)
        assert torch.equal(weights(objective.discriminator), critic) == (step >= 3 and not co_training)
        assert ("beam_entropy" in logs, "truth_entropy" in logs) == (step >= 3, step >= 3)
        moments = [p for p in captioner.parameters() if p in state.optimizer.state]
        assert (len(moments) > 0) == (step >= 3)
    assert torch.equal(weights(listener), retriever)


@pytest.mark.parametrize("module", WITH_DISCRIMINATOR)
def test_the_partner_is_the_discriminator_at_its_own_pace(captioner, build, module):
    objective = build(module, discriminator_pace=7.0)
    assert list(objective.partners()) == ["discriminator"]
    partner = objective.partners()["discriminator"]
    assert partner.module is objective.discriminator
    assert (partner.pace, partner.learns, partner.metadata) == (7.0, True, {"embedding": 4})
    assert not build(module, co_training=False).partners()["discriminator"].learns
    assert build(module, steps=0, co_training=False).partners()["discriminator"].learns


@pytest.mark.parametrize("module", EVERY)
@pytest.mark.parametrize("steps", [0, 1000])
def test_every_parameter_that_may_learn_gets_a_gradient(captioner, build, module, steps):
    """In every step, or DistributedDataParallel refuses the next one."""
    objective = build(module, steps=steps)
    loss, _ = objective(captioner, BATCH)
    learners = [p for p in (*captioner.parameters(), *objective.parameters()) if p.requires_grad]
    assert None not in torch.autograd.grad(loss, learners, allow_unused=True)


@pytest.mark.parametrize("module", EVERY)
@pytest.mark.parametrize("settings", [{}, {"mined_ranks": ()}])
def test_a_batch_of_one_is_finite(captioner, build, module, settings):
    """The last one of an epoch may be. Without another image there is nothing to tell its caption from."""
    settings = {name: value for name, value in settings.items() if name in module.Config.model_fields}
    batch = base.Batch(FEATURES[:1], np.array([0]), SAID[TRUTH][:1, None])
    loss, logs = build(module, **settings)(captioner, batch)
    assert loss.isfinite()
    assert np.isfinite(list(logs.values())).all()


@pytest.mark.parametrize("module", WITH_DISCRIMINATOR)
def test_the_discriminators_accuracy_on_val(listener, build, module):
    """On its own captions of two images, in an order of their own, and on people's."""
    objective = build(module)
    captions = torch.tensor([[4, EOS, PAD], [5, 4, 5]])
    images = listener.embed_images(STORE.inputs([70, 60]).get(np.array([0, 1])))
    texts = [listener.embed_captions(said) for said in (captions, PEOPLE.flip(0)[:, 0])]
    right = [(objective.discriminator(images, said).argmax(1) == kind) for kind, said in enumerate(texts)]
    found = objective.measures(STORE.inputs([70, 60]), captions.numpy())
    assert found["val_discriminator"] == torch.cat(right).double().mean().item()
    assert "val_R@10" in found


# --- SCST-Grammar.


def test_scst_grammars_reward_is_of_the_tuned_encoder(captioner, listener, build, say, monkeypatch):
    objective = build(scst_grammar)
    jumbled = SAID[TRUTH].flip(0)
    monkeypatch.setattr(scst_grammar, "shuffle_words", lambda captions: jumbled)
    loss, logs = objective(captioner, say())
    tuned = objective.grammar
    texts, images = heard(tuned.encoder.tower, SAID), seen(listener, [0, 1, 2])
    assert (texts - heard(listener, SAID)).abs().max() > 0.05

    def intact(vectors):
        hidden = (vectors.float() @ tuned.head[0].weight.T).relu() @ tuned.head[2].weight.T
        return hidden.softmax(-1)[..., 1].double()

    cosines = (texts * images).sum(2)
    assert cosines.min() < 0 < cosines.max()
    clip_s = 2.5 * cosines.clamp(min=0)
    g = intact(texts)
    reward = 2 * (clip_s[BEAM] - clip_s[GREEDY]) + g[BEAM] - g[GREEDY]
    expected = term(captioner, SAID[BEAM], reward.float().detach())
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-4)
    assert_close(gradient(captioner, loss), gradient(captioner, expected))
    assert not gradient(tuned, loss).any()
    assert logs["train_reward"] == logs["beam_reward"] == pytest.approx(reward.mean().item(), abs=1e-5)
    assert logs["beam_grammar"] == pytest.approx(g[BEAM].mean().item(), rel=1e-5)
    assert logs["truth_grammar"] == pytest.approx(g[TRUTH].mean().item(), rel=1e-5)
    of_jumbled = intact(tuned.encoder.tower.embed_captions(jumbled)).mean().item()
    assert logs["shuffled_grammar"] == pytest.approx(of_jumbled, rel=1e-5)
    for name, which in CANDIDATES.items():
        logits = captioner.teacher_force(FEATURES, SAID[which]).log_softmax(2)
        along = -(logits.exp() * logits).sum(2)[SAID[which] != PAD]
        assert logs[f"{name}_entropy"] == pytest.approx(along.mean().item(), rel=1e-5)


def test_the_grammar_is_tuned_first_and_fixed_then(captioner, listener, build):
    objective = build(scst_grammar, steps=0, tuning_steps=3)
    _, update = learning(captioner, objective, BATCH)
    retriever, projection = weights(listener), weights(objective.grammar.encoder.tower.image)
    torch.manual_seed(0)
    for step in range(6):
        speaker, head, encoder = (weights(m) for m in (captioner, objective.grammar.head, objective.grammar.encoder))
        assert objective.partners()["grammar"].learns == (step < 3)
        logs = update()
        assert torch.equal(weights(captioner), speaker) == (step < 3)
        assert torch.equal(weights(objective.grammar.head), head) == (step >= 3)
        assert torch.equal(weights(objective.grammar.encoder), encoder) == (step >= 3)
        assert ("grammar_loss" in logs, "beam_reward" in logs) == (step < 3, step >= 3)
    assert torch.equal(weights(listener), retriever)
    assert torch.equal(weights(objective.grammar.encoder.tower.image), projection)


def test_the_grammar_is_tuned_on_peoples_captions_and_faults_of_the_step(captioner, build, monkeypatch):
    """A resumed run meets the same faults."""
    objective = build(scst_grammar, steps=2)
    seeds, faulty, original = [], [], grammar.damage

    def spy(captions, vocabulary_size, rng):
        assert (vocabulary_size, captions.tolist()) == (6, SAID[TRUTH].tolist())
        seeds.append(rng.bit_generator.seed_seq.entropy)
        faulty.append(original(captions, vocabulary_size, rng))
        return faulty[-1]

    monkeypatch.setattr(scst_grammar, "damage", spy)
    loss, logs = objective(captioner, BATCH)
    objective(captioner, BATCH)
    assert seeds == [[1, 2], [1, 3]]
    expected, _ = objective.grammar.loss(objective.embed_batch(BATCH), SAID[TRUTH], faulty[0])
    torch.testing.assert_close(loss, expected)
    assert loss.item() == pytest.approx(logs["grammar_loss"])
    assert 0 <= logs["grammar_accuracy"] <= 1


def test_the_grammar_partner_and_its_accuracy_on_val(build, listener, monkeypatch):
    objective = build(scst_grammar, steps=0, grammar_pace=3.0)
    partner = objective.partners()["grammar"]
    assert partner.module is objective.grammar
    assert (partner.pace, partner.metadata) == (3.0, {"encoder": listener.metadata()})
    faulty = torch.tensor([[5, 5, 5, EOS], [EOS, PAD, PAD, PAD]])
    monkeypatch.setattr(scst_grammar, "damage", lambda captions, size, rng: faulty)
    kinds = [objective.grammar(captions)[1].argmax(1) for captions in (PEOPLE[:, 0], faulty)]
    expected = ((kinds[0] == 1).sum() + (kinds[1] == 0).sum()).item() / 4
    found = objective.measures(STORE.inputs([60, 70]), np.array([[4, EOS], [5, EOS]]))
    assert found["val_grammar"] == expected
    assert "val_R@10" in found
