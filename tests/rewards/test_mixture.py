"""Weighted sums of rewards: each part is the metric itself, with the weight that params.yaml gives."""

from pathlib import Path

import numpy as np
import pytest

from seqcap.artifacts import PARAPHRASES, write_table
from seqcap.params import read_params
from seqcap.rewards import Bleu, CiderD, Lexicon, Meteor, References, RougeL
from seqcap.rewards.meteor_resources import filter_paraphrases
from seqcap.rewards.mixture import METRICS, Mixture
from seqcap.spice.cache import CachedParser
from seqcap.spice.parser import Parser
from seqcap.spice.reward import SpiceReward

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "a", "dog", "cat", "runs", "sits", "red", "on", "grass", "puppy"]
IDS = {word: index for index, word in enumerate(WORDS)}
REFERENCES = [["a dog runs on grass", "a red dog"], ["a cat sits", "a cat on grass"], ["grass"]]
HYPOTHESES = ["a puppy runs", "a cat sits on grass", "dog"]


def ids(text):
    return [IDS[word] for word in text.split()]


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("paraphrases.parquet", filter_paraphrases(WORDS[4:]), PARAPHRASES)
    references = [[ids(text) for text in texts] for texts in REFERENCES]
    rows = np.zeros((3, 7), dtype=np.int64)
    for row, text in zip(rows, HYPOTHESES, strict=True):
        row[: len(text.split()) + 1] = [*ids(text), 2]
    return references, rows


def parts(references, rows):
    cooked, image = References(references, eos=False), np.arange(3)
    lexicon = Lexicon(WORDS, filter_paraphrases(WORDS[4:]))
    values = {f"bleu{n + 1}": Bleu(cooked).score(rows, image)[:, n] for n in range(4)}
    values["cider"] = CiderD(References(references)).score(rows, image)
    values["rouge_l"] = RougeL(cooked).score(rows, image)
    values["meteor"] = Meteor(cooked, lexicon).score(rows, image)
    values["spice"] = SpiceReward(cooked, WORDS, CachedParser(None, Parser(processes=1))).score(rows, image)
    return values


def test_a_mixture_is_the_weighted_sum_of_its_metrics(task, tmp_path):
    references, rows = task
    values = parts(references, rows)
    assert set(values) == set(METRICS)
    assert all(value.max() > 0 for value in values.values())
    for name, weights in [*((m, {m: 1.0}) for m in METRICS), *read_params_rewards().items()]:
        mixture = Mixture(weights, references, WORDS, tmp_path / "paraphrases.parquet")
        expected = sum(weight * values[metric] for metric, weight in weights.items())
        np.testing.assert_allclose(mixture.score(rows, np.arange(3)), expected, rtol=0, atol=1e-12, err_msg=name)


def read_params_rewards():
    return read_params(Path(__file__).parents[2] / "params.yaml").rewards


def test_no_weights_pay_nothing_and_need_no_files(task):
    references, rows = task
    assert Mixture({}, references, WORDS, None).score(rows, np.arange(3)).tolist() == [0, 0, 0]


def test_committed_rewards_are_those_of_the_paper():
    rewards = read_params_rewards()
    assert rewards["cider"] == {"cider": 1}
    assert rewards["spider"] == {"cider": 1, "spice": 1}
    assert rewards["bcmr"]["meteor"] == 5


def test_only_cider_counts_the_end_of_a_caption(task):
    """Three right words and EOS are no 4-gram; CIDEr-D pays for EOS unless told otherwise."""
    references = [[ids("a red dog"), ids("red dog runs")], [ids("a cat")], [ids("cat sits")]]
    ended, cut = np.array([[*ids("a red dog"), 2]]), np.array([ids("a red dog")])
    for metric, counts in (("bleu4", False), ("rouge_l", False), ("cider", True)):
        mixture = Mixture({metric: 1.0}, references, WORDS, None)
        assert (mixture.score(ended, [0])[0] != mixture.score(cut, [0])[0]) == counts
    assert Mixture({"bleu4": 1.0}, references, WORDS, None).score(ended, [0])[0] < 0.1
    plain = Mixture({"cider": 1.0}, references, WORDS, None, eos=False)
    assert plain.score(ended, [0])[0] == plain.score(cut, [0])[0] > 0
