"""Captions of whole splits, by single captioners and by all seeds together."""

from pathlib import Path

import pytest
import torch
from small_task import CHANNELS, decoding_run, randomise, write_captioner

from seqcap import models
from seqcap.data.vocabulary import BOS, EOS, UNK, Vocabulary
from seqcap.errors import InputError
from seqcap.evaluation.decode import decode_split
from seqcap.features.store import FeatureStore
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import DATA, IMAGES
from seqcap.models import decoding
from seqcap.models.base import Captioner, select
from seqcap.models.ensemble import Ensemble

FEATURES = Path("artifacts/image/features")
LSTM = ("lstm", {"hidden": 6, "image_input": "every_step"}, (CHANNELS,))
ATTENTION = ("attention", {"hidden": 6}, (2, 2, CHANNELS))
TEST = list(range(30, 36))


@pytest.fixture
def task(small_images):
    """The small task, with two LSTMs (seeds 1 and 2) and an attentive captioner (seed 3)."""
    vocabulary = Vocabulary.read(DATA / "vocabulary.json")
    for seed, (architecture, model, shape) in enumerate((LSTM, LSTM, ATTENTION), start=1):
        path = small_images / f"weights/seed{seed}.safetensors"
        write_captioner(path, architecture, model, (vocabulary,), shape, seed, randomise)
    return small_images


def tokens(rows, seed, decoder):
    return {
        (row["item"], row["rank"]): row["tokens"] for row in rows if (row["seed"], row["decoder"]) == (seed, decoder)
    }


def seen(kind):
    """The test images' features."""
    store = FeatureStore(FEATURES / f"{kind}.parquet")
    return torch.from_numpy(store.get(store.rows_of(TEST)))


def test_a_beam_repeats_itself_only_where_it_may(task):
    def repeats(**changes):
        found = tokens(decode_split(decoding_run(**changes)), 1, "beam").values()
        return [len(set(caption)) < len(caption) for caption in found]

    assert any(repeats())
    assert not any(repeats(no_repeat_ngram=1))


@pytest.mark.parametrize("team", [[1], [2, 1]])
def test_samples_are_drawn_at_their_temperature(task, team):
    """Of a logit every choice: its probability to the power of 1 / T, normalised. The rest is as at 1."""
    plain, hot = (decode_split(decoding_run(teams=[team], temperature=value)) for value in (1, 2.5))
    others = [[row for row in rows if row["decoder"] != "sample"] for rows in (plain, hot)]
    assert others[0] == others[1]
    captioner, _ = Ensemble.load([task / f"weights/seed{seed}.safetensors" for seed in team], torch.device("cpu"))
    words = Vocabulary.read(DATA / "vocabulary.json")
    memory = captioner.encode([seen("pooled") for _ in team])
    drawn = [row for row in hot if row["decoder"] == "sample"]
    for row in drawn:
        here = select(memory, torch.tensor([TEST.index(row["item"])]))
        state, last, total = captioner.start(here), torch.tensor([BOS]), 0.0
        # One of six tokens may lack EOS.
        for token in [*words.encode(row["tokens"]), EOS][:6]:
            logits, state = decoding.Known(captioner).step(last, state, here)
            chances = logits.softmax(1) ** (1 / 2.5)
            total += torch.log(chances / chances.sum())[0, token].item()
            last = torch.tensor([token])
        assert row["log_prob"] == pytest.approx(total, abs=1e-4)
    assert len(drawn) == 2 * len(TEST)


def test_the_lowest_temperature_draws_greedy_captions(task):
    rows = decode_split(decoding_run(temperature=0.01))
    greedy = {item: words for (item, _), words in tokens(rows, 1, "greedy").items()}
    assert [words for (item, _), words in tokens(rows, 1, "sample").items() if words != greedy[item]] == []


class Puzzled:
    """A captioner to which all is unknown."""

    def __init__(self, captioner: decoding.Decoder) -> None:
        self.start = captioner.start
        self._step = captioner.step

    def step(self, inputs, state, memory):
        logits, state = self._step(inputs, state, memory)
        return logits + 50 * torch.eye(logits.shape[1])[UNK], state


def test_unknown_words_are_not_said(task):
    captioner, _ = models.load(task / "weights/seed2.safetensors")
    memory, puzzled = captioner.encode(seen("pooled")), Puzzled(captioner)
    assert (decoding.greedy(puzzled, memory, 6).tokens == UNK).all()
    known = decoding.Known(puzzled)
    for found in (decoding.greedy(known, memory, 6), decoding.beam(known, memory, 6, 3)):
        assert not (found.tokens == UNK).any()
    plain = decoding.greedy(decoding.Known(captioner), memory, 6)
    again = decoding.greedy(known, memory, 6)
    assert torch.equal(plain.tokens, again.tokens)
    assert torch.allclose(plain.log_prob, again.log_prob)


@pytest.mark.parametrize("teams", [[[1], [2]], [[2, 1], [3]]])
def test_teams_decode_by_themselves_under_the_seeds_of_their_first_members(task, teams):
    rows = decode_split(decoding_run(teams=teams))
    assert rows == [row for team in teams for row in decode_split(decoding_run(teams=[team]))]
    assert {row["seed"] for row in rows} == {team[0] for team in teams}


def test_a_captioner_decodes_its_own_captions(task):
    rows = decode_split(decoding_run(teams=[[2]]))
    captioner, _ = models.load(task / "weights/seed2.safetensors")
    found = decoding.beam(decoding.Known(captioner), captioner.encode(seen("pooled")), 6, 3)
    words = Vocabulary.read(DATA / "vocabulary.json")
    expected = {
        (image, rank): words.decode(found.tokens[i, rank].tolist()) for i, image in enumerate(TEST) for rank in range(3)
    }
    assert tokens(rows, 2, "beam") == expected


def test_an_ensemble_is_one_set_of_captions_under_the_first_seed(task):
    rows = decode_split(decoding_run(teams=[[2, 1, 3]]))
    assert {row["seed"] for row in rows} == {2}
    assert len(rows) == 6 * (1 + 3 + 2)
    ensemble, _ = Ensemble.load([task / f"weights/seed{seed}.safetensors" for seed in (2, 1, 3)], torch.device("cpu"))
    features = [seen(member.features) for member in ensemble.members]
    found = decoding.greedy(ensemble, ensemble.encode(features), 6)
    words = Vocabulary.read(DATA / "vocabulary.json")
    expected = {(image, 0): words.decode(found.tokens[i].tolist()) for i, image in enumerate(TEST)}
    assert tokens(rows, 2, "greedy") == expected
    assert expected != tokens(decode_split(decoding_run(teams=[[2]])), 2, "greedy")


def test_cocos_own_splits_are_told_by_file_names(task):
    rows = read_table(DATA / "images.parquet", IMAGES).to_pylist()
    for row in rows:
        row["file"] = f"{'val' if row['item'] in (3, 29, 31) else 'train'}2014/{row['item']}.png"
    write_rows(DATA / "images.parquet", rows, IMAGES)
    decoded = decode_split(decoding_run(split="val2014", teams=[[1]]))
    assert {row["item"] for row in decoded} == {3, 29, 31}


def other_words():
    """As many, but others: they would be said."""
    words = Vocabulary.read(DATA / "vocabulary.json").words
    Vocabulary([*words[:-1], "zebra"]).write(DATA / "vocabulary.json")


@pytest.mark.parametrize(
    ("damage", "changes", "problem"),
    [
        (other_words, {"teams": [[1]]}, r"weights/seed1\.safetensors: was trained with another vocabulary"),
        (other_words, {"teams": [[2, 1]]}, r"weights/seed\d\.safetensors: was trained with another vocabulary"),
        (
            lambda: (FEATURES / "grid.parquet").rename(FEATURES / "pooled.parquet"),
            {},
            r"seed1\.safetensors: reads features of shape \(8,\); artifacts/image has \(2,",
        ),
        (lambda: None, {"split": "server"}, "has no images in split 'server'"),
    ],
)
def test_what_does_not_fit_is_one_line(task, damage, changes, problem):
    damage()
    with pytest.raises(InputError, match=problem):
        decode_split(decoding_run(**changes))


def test_captions_without_a_probability_are_one_line(task, monkeypatch):
    logits = Captioner.logits
    monkeypatch.setattr(Captioner, "logits", lambda captioner, hidden: logits(captioner, hidden) * float("nan"))
    with pytest.raises(InputError, match=r"seed1\.safetensors: a greedy caption of test has a log-probability that is"):
        decode_split(decoding_run())
