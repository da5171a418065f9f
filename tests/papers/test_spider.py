"""PG-SPIDEr: its tables, claims, figures, and the variance of its gradient."""

import re

import numpy as np
import pytest
from invented_runs import REWARDS

from seqcap.papers.spider import figures
from seqcap.papers.spider.claims import remarks
from seqcap.papers.spider.variance import in_words

# --- Tables


# --- Claims


def test_updates_are_those_of_the_curves(spider, monkeypatch: pytest.MonkeyPatch):
    words = remarks(spider.read(), [])[0]
    assert "so many steps of training: 240: PG-BLEU-4, PG-CIDEr, MIXER-BCMR," in words
    assert "MLE;" not in words
    assert "the first 128 train its baseline alone." in words
    assert "S2 compares PG-BCMR with MIXER-BCMR after equally many updates." in words
    made = spider.curves
    longer = {"mixer_bcmr": 10}
    monkeypatch.setattr(
        spider, "curves", lambda name: [row | {"step": row["step"] * longer.get(name, 1)} for row in made(name)]
    )
    words = remarks(spider.read(), [])[0]
    assert "2,400: MIXER-BCMR; 240: PG-BLEU-4" in words
    assert "after 240 against 2,400." in words
    entry = spider.entry
    without = {"pg_cider": {"rollouts": 3}}
    monkeypatch.setattr(
        spider,
        "entry",
        lambda name: entry(name).model_copy(update={"settings": without.get(name, entry(name).settings)}),
    )
    assert "baseline alone" not in remarks(spider.read(), [])[0]


def test_how_long_mixer_is_partly_maximum_likelihood(spider, monkeypatch: pytest.MonkeyPatch):
    made = spider.curves
    prefix = [
        {"step": step, "quantity": "xe_prefix", "value": 3.0 if step <= 120 else 0.0} for step in range(10, 250, 10)
    ]

    def curves(name: str) -> list[dict[str, object]]:
        rows = made(name)
        return rows + [rows[0] | row for row in prefix] if name == "mixer_bcmr" else rows

    monkeypatch.setattr(spider, "curves", curves)
    words = remarks(spider.read(), [])[0]
    assert "equally many updates, of MIXER's the first 120 with a prefix that is maximum likelihood." in words


def test_rewards_are_compared_with_as_many_updates_of_maximum_likelihood(spider):
    def said() -> str:
        return next((words for words in remarks(spider.read(), []) if words.startswith("*Against MLE")), "")

    assert said() == ""
    spider.names.append("mle_longer")
    gained, itself, reward = re.split(
        r" MLE of as many updates gains over MLE itself: | BCMR on test, of greedy captions and of a beam's: ", said()
    )
    assert re.search(r"CIDEr [+-][\d.]+ \[.*\(PG-BCMR\).*\(MIXER-BCMR\).*\(PG-CIDEr\)", gained)
    assert re.match(r"CIDEr [+-][\d.]+ \[\S+ \S+\] \(mle_longer\)", itself)
    level = r"\d\.\d\d, \d\.\d\d"
    assert re.match(rf"MLE {level}; mle_longer {level}; PG-BCMR {level}; MIXER-BCMR {level}\.$", reward)


def test_how_fast_a_policy_and_mixer_learn(spider):
    said = remarks(spider.read(), [])[1]
    levels = {
        label: {int(step): float(value) for value, step in re.findall(r"([\d.]+) \((\d+)\)", its)}
        for label, its in re.findall(r"(PG-BCMR|MIXER-BCMR) ([\d. ,()]+)", said)
    }
    assert list(levels["PG-BCMR"]) == list(levels["MIXER-BCMR"]) == [0, 60, 120, 180, 240]
    level, gain = REWARDS["bcmr"]
    for step, value in levels["PG-BCMR"].items():
        assert value == pytest.approx(level + gain * (1 - np.exp(-step / 60)), abs=0.05 * level)
    spider.names.remove("mixer_bcmr")
    assert not any("How fast" in words for words in remarks(spider.read(), []))


def test_rates_are_compared_by_what_a_run_is_paid(spider, monkeypatch: pytest.MonkeyPatch):
    spider.names.append("rate_spider_low")
    entry = spider.entry

    def slower(name):
        if name != "rate_spider_low":
            return entry(name)
        changes = {"name": name, "learning_rate": 0.0001, "epochs": 3, "seeds": (1,)}
        return entry("pg_spider").model_copy(update=changes)

    monkeypatch.setattr(spider, "entry", slower)
    monkeypatch.setattr(spider, "reward_of", lambda name: "spider" if "spider" in name else "cider")
    (said,) = (words for words in remarks(spider.read(), []) if "Learning rates" in words)
    lower, ours = map(
        float, re.findall(r"([\d.]+) \([\d.]+", said.split("PG-SPIDEr, epochs 1 to 3 of seed 1: ")[1])[:2]
    )
    level, gain = REWARDS["spider"]
    expected = level + gain * np.mean([1 - np.exp(-step / 60) for step in (10, 20, 30)])
    assert ours == pytest.approx(expected, abs=0.05 * level)
    assert lower == pytest.approx(expected, abs=0.05 * level)
    spider.names.remove("rate_spider_low")
    assert any("No run here has another" in words for words in remarks(spider.read(), []))
    better = "The tables' rate of PG-SPIDEr is not the best" in said
    assert better == (lower > ours)


# --- Variance


def test_variance_in_words(spider):
    noisy = {(3, False): np.full(8, 6.0), (1, False): np.full(8, 3.0)}
    assert in_words(noisy) == " K = 3 rollouts leave 2.00 [2.00, 2.00] of K = 1's variance without the baseline."
    noisy[1, False] = np.array([2.0, 4.0] * 8)
    low, high = re.search(r"leave 2\.00 \[([\d.]+), ([\d.]+)\]", in_words(noisy)).groups()
    assert 1.5 < float(low) < 2 < float(high) < 3
    spider.write_variance(spider.variance())
    words = remarks(spider.read(), [])[-1]
    # K rollouts divide six tenths of the variance by K; the baseline takes four fifths of it.
    assert float(words.split("leave ")[1].split()[0]) == pytest.approx(0.6, abs=0.1)
    assert float(words.split("At K = 3 the baseline leaves ")[1].split()[0]) == pytest.approx(0.2, abs=0.04)


# --- Figures


def test_a_short_run_says_so_below_its_bar(spider):
    curves = spider.curves
    slow = {"pg_spider": 1 / 6, "mixer_bcmr": 10}

    def paced(name):
        return [row | {"step": int(row["step"] * slow.get(name, 1))} for row in curves(name)]

    spider.curves = paced
    _, ours = figures.figure3(spider.read()).axes
    labels = [label.get_text() for label in ours.get_xticklabels()]
    # Of MIXER, which has no bar, nothing is said.
    assert labels[:2] == ["PG-SPIDEr\nonly 40 of\n240 steps", "PG-BCMR"]


def test_on_photographs_there_is_no_stand_in(spider):
    spider.dataset = "flickr8k"
    words = "On flickr8k nothing stands in for people: what is true of it is not known."
    assert figures.figure3(spider.read()) == words
