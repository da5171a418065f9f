"""Translations decoded and scored: sacrebleu's BLEU, against this package's own, and on paper."""

import numpy as np
import pytest
from small_task import translation_config, write_translation_task

from seqcap.artifacts import DECODED, PAIRS, SCORES, read_table, write_json, write_rows
from seqcap.captioning import decode_split
from seqcap.errors import InputError
from seqcap.metrics.quality import measure
from seqcap.training import train_all
from seqcap.translation import corpus_bleu, evaluate_translations, sentence_bleu

WORDS = ["a", "dog", "runs", "on", "the", "beach", ".", "don", "'t", "&quot;"]


def texts(rng, number):
    return [" ".join(rng.choice(WORDS, rng.integers(1, 14))) for _ in range(number)]


def test_bleu_is_this_packages_own():
    """Two programs: sacrebleu here, the reward's kernel in training."""
    rng = np.random.default_rng(0)
    references = texts(rng, 200)
    translations = [
        " ".join(word if rng.random() < 0.9 else rng.choice(WORDS) for word in text.split()) for text in references
    ]
    ids = {i: [text.split()] for i, text in enumerate(references)}
    measured, _ = measure(ids, [(i, text.split()) for i, text in enumerate(translations)], ["BLEU4"])
    assert corpus_bleu(translations, references) == pytest.approx(measured["BLEU4"].corpus(), abs=1e-9)


def test_bleu_by_hand():
    """7/8, 5/7, 3/6, 2/5 of the n-grams match; nine words for eight: exp(1 - 9/8)."""
    reference, translation = "a b c d e f g h i", "a b c d x f g h"
    expected = (7 / 8 * 5 / 7 * 3 / 6 * 1 / 5) ** 0.25 * np.exp(1 - 9 / 8)
    assert corpus_bleu([translation], [reference]) == pytest.approx(expected)
    assert corpus_bleu([reference], [reference]) == pytest.approx(1)
    assert sentence_bleu(["", reference, "a b"], [reference, reference, "a b"]) == pytest.approx([0, 1, 1])


@pytest.fixture
def decoded(tmp_path, monkeypatch):
    """A paper of one translating and one captioning variant; only the first has translations."""
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, 12)
    longer = translation_config()["training"] | {"epochs": 25}
    train_all([translation_config(training=longer) | {"weights": "weights"}])
    config = {"variant": "mle", "task": "de_en", "split": "test", "seeds": [1], "max_length": 12, "weights": "weights"}
    rows = decode_split(config | {"beam": 3, "samples": 0, "batch_size": 3})
    write_rows("artifacts/paper/decode/mle.parquet", rows, DECODED)
    write_json("configs/evaluate_translation_paper.json", {"splits": {"de_en": "test"}})
    write_json("configs/paper_mle.json", {"task": "de_en", "decoded": "artifacts/paper/decode/mle.parquet"})
    write_json("configs/paper_pictures.json", {"task": "image", "decoded": "nowhere.parquet"})
    return rows


def test_translations_are_words_of_every_pair(decoded):
    pairs = read_table("artifacts/de_en/data/pairs.parquet", PAIRS).to_pylist()
    test = [row["pair_id"] for row in pairs if row["split"] == "test"]
    assert {row["decoder"] for row in decoded} == {"greedy", "beam"}
    assert [row["image_id"] for row in decoded if row["decoder"] == "greedy"] == test
    assert sum(row["decoder"] == "beam" for row in decoded) == 3 * len(test)
    assert not any("</w>" in row["text"] for row in decoded)


def test_scores_are_of_the_corpus_and_of_every_sentence(decoded):
    rows = evaluate_translations("paper")
    write_rows("scores.parquet", rows, SCORES)
    corpus = {row["decoder"]: row["value"] for row in rows if row["image_id"] is None}
    assert set(corpus) == {"greedy", "beam"}
    assert all(0 < value <= 1 for value in corpus.values())
    assert len(rows) == 2 * (1 + 8)
    assert {row["metric"] for row in rows} == {"BLEU"}


def test_missing_translations_are_one_line(decoded):
    write_rows("artifacts/paper/decode/mle.parquet", decoded[:-3], DECODED)
    with pytest.raises(InputError, match=r"mle\.parquet: does not hold one beam translation of each of 8 pairs"):
        evaluate_translations("paper")
