"""Every captioner through the calls that decoders and objectives use."""

import pytest
import torch
from enumeration import say
from small_task import needs_precision

from seqcap import models
from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.models import decoding
from seqcap.models.base import ImageCaptioner, repeat, select
from seqcap.models.likelihood import cross_entropy
from seqcap.models.recording import record

VOCABULARY, HIDDEN = 11, 8
SHAPES = {"lstm": (5,), "attention": (3, 3, 5), "transformer": (3, 3, 5), "translator": (13,)}
CONFIGS = {
    "lstm": {"hidden": HIDDEN, "image_input": "every_step"},
    "attention": {"hidden": HIDDEN},
    "transformer": {"hidden": HIDDEN, "layers": 2, "heads": 2, "feed_forward": 12},
    "translator": {"embedding": 6, "hidden": HIDDEN, "readout": 7},
}
SOURCE_WORDS = 13
needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device: captions and gradients are the CPU's"
)
CAPTIONS = torch.tensor([[4, 5, 6, EOS, PAD], [7, EOS, PAD, PAD, PAD], [8, 9, 10, 4, EOS]])


@pytest.fixture(params=["lstm", "attention", "lstm_initial", "transformer", "translator"])
def captioner(request):
    torch.manual_seed(0)
    architecture = request.param.removesuffix("_initial")
    config = dict(CONFIGS[architecture])
    if request.param == "lstm_initial":
        config["image_input"] = "initial_state"
    captioner = models.build(architecture, config, VOCABULARY, SHAPES[architecture])
    captioner.dropout = 0.4
    return captioner


def features(captioner, n=3):
    if not isinstance(captioner, ImageCaptioner):
        return sentences(n)
    shape = SHAPES["attention" if captioner.features == "grid" else "lstm"]
    return torch.randn(n, *shape, generator=torch.Generator().manual_seed(1))


def sentences(n):
    """Source ids of different length, each ending in EOS."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, SOURCE_WORDS, (n, 6), generator=generator)
    ends = torch.arange(n) % 4 + 2
    time = torch.arange(6)
    return ids.masked_fill(time == ends[:, None], EOS).masked_fill(time > ends[:, None], PAD)


@pytest.mark.parametrize("training", [False, True])
def test_stepping_equals_teacher_forcing(captioner, training):
    captioner.train(training)
    x = features(captioner)
    torch.manual_seed(2)
    forced = captioner.teacher_force(x, CAPTIONS)
    torch.manual_seed(2)
    memory = captioner.encode(x)
    state = captioner.start(memory)
    inputs = torch.full((3,), BOS)
    for t in range(CAPTIONS.shape[1]):
        logits, state = captioner.step(inputs, state, memory)
        here = CAPTIONS[:, t] != PAD
        torch.testing.assert_close(logits[here], forced[here, t])
        inputs = CAPTIONS[:, t]
    assert not torch.allclose(forced[0], forced[1])
    torch.manual_seed(2)
    torch.testing.assert_close(captioner.token_logits(CAPTIONS, captioner.encode(x)), forced[CAPTIONS != PAD])
    assert forced.softmax(2)[:, :, [PAD, BOS]].max() == 0


@pytest.mark.parametrize(("architecture", "shape"), [("lstm", (1030,)), ("attention", (3, 3, 5))])
def test_every_channel_is_standardised(architecture, shape):
    """Some at a time, see `fit_standardisation`."""
    captioner, channels = models.build(architecture, CONFIGS[architecture], VOCABULARY, shape), shape[-1]
    x = torch.randn(40, *shape, generator=torch.Generator().manual_seed(0)) * torch.arange(1, channels + 1) + 7
    captioner.fit_standardisation(x)
    standard = captioner.standardise(x).reshape(-1, channels)
    torch.testing.assert_close(standard.mean(0), torch.zeros(channels), atol=1e-5, rtol=0)
    torch.testing.assert_close(standard.std(0), torch.ones(channels), atol=1e-5, rtol=0)
    assert "feature_mean" in captioner.state_dict()


def test_a_one_hot_distribution_is_its_token(captioner):
    captioner.eval()
    memory = captioner.encode(features(captioner))
    tokens = torch.tensor([4, 5, 6])
    by_id, _ = captioner.step(tokens, captioner.start(memory), memory)
    one_hot = torch.nn.functional.one_hot(tokens, VOCABULARY).float()
    by_distribution, _ = captioner.step(one_hot, captioner.start(memory), memory)
    torch.testing.assert_close(by_id, by_distribution)


def test_the_state_before_any_token_is_what_stepping_leads_to(captioner):
    """Of several tokens of a caption at once, and of one token twice: all that follows them is the same."""
    captioner.train()
    memory = captioner.encode(features(captioner))
    every = captioner.unroll(CAPTIONS, memory)
    rows, places = (CAPTIONS[:, 1:] != PAD).nonzero().T
    rows, places = torch.cat([rows, rows[:3]]), torch.cat([places, places[:3]])
    state, own = captioner.states(CAPTIONS, memory, rows, places), select(memory, rows)
    for later in range(1, CAPTIONS.shape[1]):
        inputs = CAPTIONS[rows, places + later - 1]
        hidden, state = captioner.recur(captioner.embed(inputs), state, own)
        torch.testing.assert_close(hidden, every[rows, places + later])
        there = (places + later + 1 < CAPTIONS.shape[1]).nonzero()[:, 0]
        rows, places, state, own = rows[there], places[there], select(state, there), select(own, there)
    assert len(rows) == 0


def test_padding_of_the_source_changes_nothing():
    torch.manual_seed(0)
    translator = models.build("translator", CONFIGS["translator"], VOCABULARY, (SOURCE_WORDS,)).eval()
    source = sentences(3)
    wider = torch.cat([source, torch.full((3, 4), PAD)], dim=1)
    torch.testing.assert_close(translator.teacher_force(wider, CAPTIONS), translator.teacher_force(source, CAPTIONS))


def test_the_translators_encoder_reads_each_sentence_to_its_end():
    translator = models.build("translator", CONFIGS["translator"], VOCABULARY, (SOURCE_WORDS,))
    source = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0], [0, 0, 0, 0], [4, 9, 2, 0]])
    lengths = torch.tensor([4, 2, 1, 3])
    expected, last = translator.read_packed(translator.source(source), lengths)
    found, ends = translator.read_source(translator.source(source), lengths)
    told = torch.arange(4) < lengths[:, None]
    torch.testing.assert_close(found[told], expected[told])
    torch.testing.assert_close(ends, last)
    parameters = list(translator.encoder.parameters())
    for a, b in zip(
        torch.autograd.grad(found[told].square().sum() + ends.sum(), parameters),
        torch.autograd.grad(expected[told].square().sum() + last.sum(), parameters),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_the_translators_step_is_bahdanaus():
    """The equations of appendix A.2 written out, for one sentence without padding."""
    torch.manual_seed(0)
    m = models.build("translator", CONFIGS["translator"], VOCABULARY, (SOURCE_WORDS,)).eval()
    memory = m.encode(torch.tensor([[4, 5, EOS]]))
    h, keys, s = memory[0][0], memory[1][0], memory[3][0]
    weights = m.recurrent.weight.split(HIDDEN)
    scores = [m.score.weight[0] @ torch.tanh(weights[0] @ s + key) for key in keys]
    alpha = torch.stack(scores).softmax(0)
    context = sum(a * annotation for a, annotation in zip(alpha, h, strict=True))
    y = m.embedding.weight[7]
    sums = [
        recurrent @ s + word @ y + bias + from_context @ context
        for recurrent, word, bias, from_context in zip(
            weights[1:],
            m.word_gates.weight.split(HIDDEN),
            m.word_gates.bias.split(HIDDEN),
            m.context_gates.weight.split(HIDDEN),
            strict=True,
        )
    ]
    cell = sums[0].sigmoid() * sums[2].tanh()
    state = sums[3].sigmoid() * cell.tanh()
    deep = m.state_readout(state) + m.word_readout.weight @ y + m.context_readout.weight @ context
    expected = m.output.weight @ torch.stack([torch.max(deep[i], deep[i + 1]) for i in range(0, len(deep), 2)])
    logits, (next_state, next_cell) = m.step(torch.tensor([7]), m.start(memory), memory)
    torch.testing.assert_close(logits[0, EOS:], (expected + m.output.bias)[EOS:])
    torch.testing.assert_close(next_state[0], state)
    torch.testing.assert_close(next_cell[0], cell)


def test_every_parameter_learns(captioner):
    captioner.eval()
    captioner.token_logits(CAPTIONS, captioner.encode(features(captioner))).softmax(1)[:, 4].sum().backward()
    for name, parameter in captioner.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


# --- Captions that are drawn and scored in one pass, against the same captions scored again.
LENGTH, TIMES = 6, 3


def draw(captioner, dropout, prefix=None):
    captioner.dropout = dropout
    captioner.train()
    torch.manual_seed(3)
    memory = repeat(captioner.encode(features(captioner)), TIMES)
    greedy = torch.arange(len(memory[0])) % TIMES == 1
    torch.manual_seed(4)
    return record(captioner, memory, LENGTH, greedy, prefix), memory, greedy


def gradients(captioner, value):
    found = torch.autograd.grad(value, list(captioner.parameters()), allow_unused=True, retain_graph=True)
    assert sum(part is not None for part in found) > 5
    return {name: part for (name, _), part in zip(captioner.named_parameters(), found, strict=True) if part is not None}


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_scores_and_gradients_are_those_of_a_second_pass(captioner, dropout):
    """Of some of the captions in any order; one of them has no weight."""
    drawn, memory, greedy = draw(captioner, dropout)
    torch.manual_seed(4)
    same = decoding.rollout(captioner, memory, LENGTH, greedy)
    assert drawn.tokens.tolist() == same.tokens.tolist()
    rows = torch.tensor([5, 0, 3, 2])
    tokens, own = drawn.tokens[rows], tuple(part[rows] for part in memory)
    torch.testing.assert_close(drawn.log_prob(rows), same.log_prob[rows])
    outputs = captioner.token_outputs(tokens, own)
    log_p = captioner.logits(outputs).log_softmax(1)
    expected = log_p.gather(1, tokens[tokens != PAD][:, None]).squeeze(1)
    entropy = -(log_p.exp() * log_p).sum(1)
    scores = drawn.score(rows, entropy=True)
    torch.testing.assert_close(scores.log_prob, expected)
    torch.testing.assert_close(scores.outputs, outputs)
    torch.testing.assert_close(scores.entropy, entropy)
    weights = torch.randn(len(expected)).masked_fill((tokens != PAD).nonzero()[:, 0] == 2, 0.0)
    plain = drawn.score(rows).log_prob
    both = scores.log_prob @ weights + scores.entropy.sum()
    pairs = ((plain @ weights, expected @ weights), (both, expected @ weights + entropy.sum()))
    for found, wanted in pairs:
        for name, part in gradients(captioner, found).items():
            torch.testing.assert_close(part, gradients(captioner, wanted)[name], msg=name, atol=1e-6, rtol=1e-4)


def test_in_bfloat16_gradients_are_nearly_the_same(captioner, monkeypatch):
    if "sentences" in captioner.kinds:
        # Its encoder is torch's LSTM, which emulates nothing.
        needs_precision("bfloat16")
    found = []
    for precision in (torch.float32, torch.bfloat16):
        captioner.precision = precision
        say(monkeypatch, CAPTIONS.repeat(TIMES, 1))
        drawn, memory, _ = draw(captioner, 0.4)
        found.append(gradients(captioner, drawn.log_prob(torch.arange(len(memory[0]))).sum()))
    for name, exact in found[0].items():
        assert found[1][name].dtype == torch.float32
        assert (found[1][name] - exact).norm() < 0.1 * exact.norm() + 1e-3, name


def test_captions_continue_their_prefixes(captioner):
    """One ends in its prefix, one where the others go on."""
    prefix = torch.tensor([[4, 5], [7, EOS], [EOS, PAD]]).repeat(TIMES, 1)
    drawn, memory, _ = draw(captioner, 0.0, prefix)
    assert (drawn.tokens[:, :2] == prefix).all()
    assert (drawn.tokens[1::3, 2:] == PAD).all()
    assert (drawn.tokens[::3, 2] != PAD).all()
    rows = torch.arange(len(prefix))
    logits = captioner.token_logits(drawn.tokens, memory)
    expected = torch.nn.functional.cross_entropy(logits, drawn.tokens[drawn.tokens != PAD], reduction="none")
    torch.testing.assert_close(drawn.score(rows).log_prob, -expected)


@needs_gpu
def test_captions_on_a_gpu_are_those_of_the_cpu(captioner):
    captioner.eval()
    x = features(captioner)
    expected = captioner.teacher_force(x, CAPTIONS)
    actual = captioner.cuda().teacher_force(x.cuda(), CAPTIONS.cuda()).cpu()
    torch.testing.assert_close(actual, expected, atol=1e-3, rtol=1e-3)


@needs_gpu
def test_gradients_on_a_gpu_are_those_of_the_cpu(captioner):
    """Captions are drawn and scored there, and scored here in a second pass."""
    captioner.cuda().train()
    captioner.dropout = 0.0
    x = features(captioner)
    memory = repeat(captioner.encode(x.cuda()), TIMES)
    drawn = record(captioner, memory, LENGTH, torch.arange(len(memory[0]), device="cuda") % TIMES == 1)
    rows = torch.arange(len(memory[0]), device="cuda").flip(0)
    there = gradients(captioner, drawn.log_prob(rows).sum())
    tokens = drawn.tokens.cpu()
    captioner.cpu()
    logits = captioner.token_logits(tokens, repeat(captioner.encode(x), TIMES))
    here = gradients(captioner, -cross_entropy(logits, tokens[tokens != PAD], reduction="none").sum())
    assert here.keys() == there.keys()
    for name, part in there.items():
        torch.testing.assert_close(part.cpu(), here[name], msg=name, atol=1e-3, rtol=1e-3)
