"""Weighted sums of rewards: each part is the metric itself, with the weight that params.yaml gives."""

from pathlib import Path

import numpy as np
import pytest

from seqcap.errors import InputError
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import PARAPHRASES
from seqcap.pipeline.params import read_params
from seqcap.rewards import MODULES
from seqcap.rewards.bleu import Bleu
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.meteor import Lexicon, Meteor
from seqcap.rewards.mixture import Mixture, RewardInputs
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import References
from seqcap.rewards.spice import SpiceReward
from seqcap.spice.cache import CachedParser

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "a", "dog", "cat", "runs", "sits", "red", "on", "grass", "puppy"]
IDS = {word: index for index, word in enumerate(WORDS)}
REFERENCES = [["a dog runs on grass", "a red dog"], ["a cat sits", "a cat on grass"], ["grass"]]
HYPOTHESES = ["a puppy runs", "a cat sits on grass", "dog"]


def ids(text):
    return [IDS[word] for word in text.split()]


@pytest.fixture(scope="module")
def paraphrases(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "paraphrases.parquet"
    write_rows(path, [{"left": "puppy", "right": "dog"}, {"left": "dog", "right": "puppy"}], PARAPHRASES)
    return path


@pytest.fixture
def task(tmp_path, monkeypatch, loaded_once):
    monkeypatch.chdir(tmp_path)
    references = [[ids(text) for text in texts] for texts in REFERENCES]
    rows = np.zeros((3, 7), dtype=np.int64)
    for row, text in zip(rows, HYPOTHESES, strict=True):
        row[: len(text.split()) + 1] = [*ids(text), 2]
    return references, rows


def parts(references, rows, paraphrases):
    cooked, image = References(references, eos=False), np.arange(3)
    lexicon = Lexicon(WORDS, read_table(paraphrases, PARAPHRASES))
    values = {f"bleu{n + 1}": Bleu(cooked).score(rows, image)[:, n] for n in range(4)}
    values["cider"] = CiderD(References(references)).score(rows, image)
    values["rouge_l"] = RougeL(cooked).score(rows, image)
    values["meteor"] = Meteor(cooked, lexicon).score(rows, image)
    values["spice"] = SpiceReward(cooked, WORDS, CachedParser(None)).score(rows, image)
    values["bleu4_ended"] = Bleu(References(references)).score(rows, image)[:, 3]
    return values


def test_a_mixture_is_the_weighted_sum_of_its_metrics(task, paraphrases):
    references, rows = task
    values = parts(references, rows, paraphrases)
    assert set(values) == set(MODULES)
    assert all(value.max() > 0 for value in values.values())
    inputs = RewardInputs(references, WORDS, paraphrases)
    signs = {"cider": 1.0, "bleu4": -3.0, "meteor": -0.5}
    rewards = read_params(Path(__file__).parents[2]).shared.rewards
    for name, weights in [*((m, {m: 1.0}) for m in MODULES), *rewards.items(), ("signs", signs)]:
        expected = sum(weight * values[metric] for metric, weight in weights.items())
        score = Mixture(weights, inputs).score(rows, np.arange(3))
        np.testing.assert_allclose(score, expected, rtol=0, atol=1e-12, err_msg=name)

    # To the last bit, however the weights are ordered: BLEU, CIDEr, ROUGE-L, METEOR, SPICE.
    weights = dict.fromkeys(MODULES, 0.1) | {"bleu2": 0.7, "rouge_l": 1 / 3, "meteor": -5.1}
    bleus = [f"bleu{n}" for n in range(1, 5)]
    expected = np.stack([values[name] for name in bleus], 1) @ np.array([weights[name] for name in bleus])
    for metric in ("cider", "rouge_l", "meteor", "spice", "bleu4_ended"):
        expected = expected + weights[metric] * values[metric]
    backwards = dict(reversed(weights.items()))
    assert Mixture(backwards, inputs).score(rows, np.arange(3)).tolist() == expected.tolist()


def test_only_cider_and_bleu4_ended_count_the_end_of_a_caption(task):
    """Three right words and EOS are no 4-gram of BLEU; CIDEr-D pays for EOS unless told otherwise."""
    references = [[ids("a red dog"), ids("red dog runs")], [ids("a cat")], [ids("cat sits")]]
    ended, cut = np.array([[*ids("a red dog"), 2]]), np.array([ids("a red dog")])
    inputs = RewardInputs(references, WORDS)
    for metric, counts in (("bleu4", False), ("rouge_l", False), ("cider", True), ("bleu4_ended", True)):
        mixture = Mixture({metric: 1.0}, inputs)
        assert (mixture.score(ended, [0])[0] != mixture.score(cut, [0])[0]) == counts
    assert Mixture({"bleu4": 1.0}, inputs).score(ended, [0])[0] < 0.1
    assert Mixture({"bleu4_ended": 1.0}, inputs).score(ended, [0])[0] == pytest.approx(1)
    plain = Mixture({"cider": 1.0}, RewardInputs(references, WORDS, eos=False))
    assert plain.score(ended, [0])[0] == plain.score(cut, [0])[0] > 0


def test_missing_weights_and_paraphrases_are_named(task):
    references, rows = task
    with pytest.raises(InputError, match="reward: is asked for by the objective, but the run is paid none"):
        Mixture({"meteor": 0.0}, RewardInputs(references, WORDS)).score(rows, np.arange(3))
    with pytest.raises(InputError, match="paraphrases: are not read, but the reward has meteor"):
        Mixture({"meteor": 1.0}, RewardInputs(references, WORDS))
