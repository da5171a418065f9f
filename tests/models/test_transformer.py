"""The Transformer against PyTorch's own layers, against itself word by word, and against exhaustive enumeration."""

import math

import pytest
import torch
from torch import nn

from seqcap import models
from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.models import decoding
from seqcap.models.base import repeat, select

WORDS, HIDDEN, LAYERS, HEADS, GRID, CHANNELS = 3, 8, 2, 2, (2, 3), 5
V = 4 + WORDS
CONFIG = {"hidden": HIDDEN, "layers": LAYERS, "heads": HEADS, "feed_forward": 12}


def transformer(seed=0, words=WORDS):
    """In double precision, all weights random, also those that start at 0 or 1; what it sees matters."""
    torch.manual_seed(seed)
    captioner = models.build("transformer", CONFIG, 4 + words, (*GRID, CHANNELS)).double()
    with torch.no_grad():
        for parameter in captioner.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.7)
        captioner.keys_values.weight *= 5
    return captioner.eval()


def talker():
    """One whose captions end early or late, as the picture has it."""
    captioner = transformer(seed=13)
    captioner.output.bias.data[EOS] += 1
    return captioner


def pictures(n):
    return torch.randn(n, *GRID, CHANNELS, generator=torch.Generator().manual_seed(1)).double()


def captions_of_every_length(longest=6):
    """Ids [n, longest + 2]: random captions of 0 to `longest` words, EOS, padding; and one that is all padding."""
    time = torch.arange(longest + 2)
    ends = torch.arange(longest + 1)[:, None]
    ids = torch.randint(3, V, (longest + 1, len(time)), generator=torch.Generator().manual_seed(2))
    ids = ids.masked_fill(time == ends, EOS).masked_fill(time > ends, PAD)
    return torch.cat([ids, torch.full_like(ids[:1], PAD)])


CAPTIONS = captions_of_every_length()


def stepped(captioner, captions, memory):
    """Decoder outputs [n, time, hidden], word by word."""
    state, inputs, outputs = captioner.start(memory), torch.full_like(captions[:, 0], BOS), []
    for t in range(captions.shape[1]):
        hidden, state = captioner.recur(captioner.embed(inputs), state, memory)
        inputs = captions[:, t]
        outputs.append(hidden)
    return torch.stack(outputs, 1)


def torchs_decoder(captioner):
    """The decoder of PyTorch, with the captioner's weights."""
    size = HIDDEN * 2
    layers = []
    for i, layer in enumerate(captioner.decoder):
        theirs = nn.TransformerDecoderLayer(
            HIDDEN, HEADS, CONFIG["feed_forward"], 0.0, "gelu", batch_first=True, norm_first=True
        ).double()
        cells = captioner.keys_values
        weights = {
            "self_attn.in_proj_weight": layer.words.weight,
            "self_attn.in_proj_bias": layer.words.bias,
            "self_attn.out_proj.weight": layer.from_words.weight,
            "self_attn.out_proj.bias": layer.from_words.bias,
            "multihead_attn.in_proj_weight": torch.cat([layer.query.weight, cells.weight[i * size : (i + 1) * size]]),
            "multihead_attn.in_proj_bias": torch.cat([layer.query.bias, cells.bias[i * size : (i + 1) * size]]),
            "multihead_attn.out_proj.weight": layer.from_cells.weight,
            "multihead_attn.out_proj.bias": layer.from_cells.bias,
            "linear1.weight": layer.feed_forward[0].weight,
            "linear1.bias": layer.feed_forward[0].bias,
            "linear2.weight": layer.feed_forward[2].weight,
            "linear2.bias": layer.feed_forward[2].bias,
        }
        for j, norm in enumerate(layer.norms, start=1):
            weights |= {f"norm{j}.weight": norm.weight, f"norm{j}.bias": norm.bias}
        theirs.load_state_dict(weights)
        layers.append(theirs)
    return layers


def written_out(captioner, features, captions):
    """Decoder outputs [n, time, hidden] by PyTorch's decoder, the inputs by their formulas."""
    cells = captioner.cells(captioner.standardise(features).flatten(1, 2)) + captioner.position
    for layer in captioner.encoder:
        cells = layer(cells)
    cells = captioner.encoder_norm(cells)
    fed = torch.cat([torch.full_like(captions[:, :1], BOS), captions[:, :-1]], 1)
    x = captioner.embedding.weight[fed] * math.sqrt(HIDDEN)
    for t in range(fed.shape[1]):
        for i in range(HIDDEN // 2):
            angle = t / 10_000 ** (2 * i / HIDDEN)
            x[:, t, i] += math.sin(angle)
            x[:, t, HIDDEN // 2 + i] += math.cos(angle)
    mask = nn.Transformer.generate_square_subsequent_mask(fed.shape[1], dtype=torch.double)
    for layer in torchs_decoder(captioner):
        x = layer(x, cells, tgt_mask=mask, tgt_is_causal=True)
    return captioner.decoder_norm(x)


def test_it_is_pytorchs_transformer():
    captioner, x = transformer(), pictures(len(CAPTIONS))
    captioner.fit_standardisation(3 * x + 2)
    expected = written_out(captioner, x, CAPTIONS)
    found = captioner.unroll(CAPTIONS, captioner.encode(x))
    torch.testing.assert_close(found, expected)
    # The words at hand matter, and so does the picture.
    assert (found[0] - found[-2]).abs().max() > 0.1


@pytest.mark.parametrize("training", [False, True])
def test_all_words_at_once_are_one_word_at_a_time(training):
    """Of captions of every length in one batch, padding and what follows EOS included."""
    captioner = transformer().train(training)
    captioner.dropout = 0.4
    memory = captioner.encode(pictures(len(CAPTIONS)))
    torch.testing.assert_close(captioner.unroll(CAPTIONS, memory), stepped(captioner, CAPTIONS, memory))


def test_the_gradient_of_steps_is_that_of_all_at_once():
    """Of distributions that are fed, as relaxed captions are, and of the weights."""
    captioner = transformer()
    fed = torch.randn(2, 4, V, generator=torch.Generator().manual_seed(3)).double().softmax(2).requires_grad_()
    memory = captioner.encode(pictures(2))
    at_once, _ = captioner.read(captioner.embed(fed), captioner.start(memory), memory)
    state, outputs = captioner.start(memory), []
    for inputs in fed.unbind(1):
        logits, state = captioner.step(inputs, state, memory)
        outputs.append(logits)
    variables = [fed, *captioner.parameters()]
    expected = torch.autograd.grad(captioner.logits(at_once).sin().sum(), variables, retain_graph=True)
    found = torch.autograd.grad(torch.stack(outputs, 1).sin().sum(), variables)
    for actual, exact in zip(found, expected, strict=True):
        torch.testing.assert_close(actual, exact)
    assert expected[0][:, 0].abs().max() > 1e-3


def test_a_prefix_goes_on_as_the_caption_did():
    """Greedy captions, continued greedily from each of their places at once."""
    captioner = talker()
    memory = captioner.encode(pictures(9))
    whole = decoding.greedy(captioner, memory, 7).tokens
    assert len({tuple(row) for row in whole.tolist()}) > 2
    rows, places = (whole[:, 1:] != PAD).nonzero().T
    state = captioner.states(whole, memory, rows, places)
    own, inputs, greedy = select(memory, rows), whole[rows, places], torch.ones(len(rows), dtype=torch.bool)
    found = decoding.continuations(captioner, own, state, inputs, 6 - places, greedy).tokens
    assert found.shape == (len(rows), 6)
    for row, place, tokens in zip(rows, places, found, strict=True):
        rest = whole[row, place + 1 :]
        assert tokens[: len(rest)].tolist() == rest.tolist()
        assert (tokens[len(rest) :] == PAD).all()


def test_masks_are_drawn_in_encode_alone_and_are_one_an_image():
    captioner = transformer().train()
    captioner.dropout = 0.4
    captions, x = CAPTIONS[3:5], pictures(2)
    memory = captioner.encode(x)
    once = captioner.unroll(captions, memory)
    assert torch.equal(captioner.unroll(captions, memory), once)
    torch.testing.assert_close(captioner.unroll(captions.repeat_interleave(3, 0), repeat(memory, 3))[::3], once)
    # What the mask on the output drops is 0 at every word, of each image something else.
    zero = once == 0
    assert torch.equal(zero, zero[:, :1].expand_as(zero))
    assert 0 < zero.sum() < zero.numel()
    assert not torch.equal(zero[0], zero[1])
    assert not torch.equal(captioner.unroll(captions, captioner.encode(x)), once)


def test_a_mask_drops_its_share_and_keeps_the_mean():
    captioner = transformer().train()
    captioner.dropout = 0.4
    masks = captioner.encode(pictures(500))[-1]
    assert masks.shape == (500, 3 * LAYERS + 2, 1, HIDDEN)
    assert (masks == 0).double().mean((0, 2, 3)).tolist() == pytest.approx([0.4] * (3 * LAYERS + 2), abs=0.04)
    assert masks[masks > 0].unique().tolist() == pytest.approx([1 / 0.6])
    assert (captioner.eval().encode(pictures(5))[-1] == 1).all()


@pytest.mark.parametrize("part", range(3 * LAYERS + 2))
def test_a_mask_acts_where_it_should(part):
    """A part of the decoder whose mask is 0 is as good as one whose last weights are 0."""
    captioner, x, captions = transformer(), pictures(3), CAPTIONS[3:6]
    *cells, masks = captioner.encode(x)
    before = captioner.unroll(captions, (*cells, masks))
    masks = masks.clone()
    masks[:, part] = 0
    found = captioner.unroll(captions, (*cells, masks))
    last = [p for layer in captioner.decoder for p in (layer.from_words, layer.from_cells, layer.feed_forward[2])]
    with torch.no_grad():
        for parameter in [*last, captioner.embedding, captioner.decoder_norm][part].parameters():
            parameter.zero_()
    torch.testing.assert_close(found, captioner.unroll(captions, captioner.encode(x)))
    assert (found - before).abs().max() > 0.01


def test_the_encoder_drops_at_the_rate_that_training_sets():
    captioner, x = transformer().train(), pictures(3)
    captioner.dropout = 0.0
    without = captioner.encode(x)[0]
    assert torch.equal(captioner.encode(x)[0], without)
    captioner.dropout = 0.4
    first, second = captioner.encode(x)[0], captioner.encode(x)[0]
    assert not torch.equal(first, second)
    # In evaluation there is none, whatever the rate. (PyTorch's fused layer rounds otherwise.)
    torch.testing.assert_close(captioner.eval().encode(x)[0], without)
    assert {m.p for m in captioner.encoder.modules() if isinstance(m, nn.Dropout)} == {0.4}
