"""Scores of whole variants: their rows, and what happens where something is missing."""

import math

import pandas as pd
import pytest
from small_task import write_task

from seqcap import artifacts
from seqcap.artifacts import DECODED, REFERENCES, read_table, write_json, write_rows
from seqcap.errors import InputError
from seqcap.evaluation import evaluate
from seqcap.metrics.quality import METRICS


@pytest.fixture
def task(tmp_path, monkeypatch):
    """Two variants on the six test images: `perfect` says the references, `wrong` always the same caption."""
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    rewards = {"cider": {"cider": 1.0}, "mixed": {"bleu2": 0.5, "rouge_l": 2.0}}
    write_json("configs/evaluate_sle.json", {"split": "test", "dataset": "flickr8k", "rewards": rewards})
    references = read_table("artifacts/image/data/references.parquet", REFERENCES).to_pandas()
    references = references[references.split == "test"].groupby("image_id").tokens.apply(list)
    for variant in ("perfect", "wrong"):
        write_json(f"configs/sle_{variant}.json", {"variant": variant, "task": "image"})
        rows = []
        for image, captions in references.items():
            for decoder, number in (("greedy", 1), ("beam", 2), ("sample", 2)):
                for rank in range(number):
                    tokens = list(captions[rank]) if variant == "perfect" else ["some", "thing", "else", "here"]
                    row = {"variant": variant, "seed": 1, "image_id": image, "decoder": decoder, "rank": rank}
                    rows.append(row | {"text": " ".join(tokens), "tokens": tokens, "log_prob": -1.0 - rank})
        write_rows(f"artifacts/sle/decode/{variant}.parquet", rows, DECODED)
    return tmp_path


def corpus(rows, variant, decoder, metric):
    values = [
        row["value"]
        for row in rows
        if (row["variant"], row["decoder"], row["metric"]) == (variant, decoder, metric) and row["image_id"] is None
    ]
    assert len(values) == 1
    return values[0]


def test_captions_that_are_references_score_as_such(task):
    rows, _ = evaluate("sle")
    assert corpus(rows, "perfect", "greedy", "BLEU2") == pytest.approx(1)
    assert corpus(rows, "perfect", "beam", "ROUGE_L") == pytest.approx(1)
    assert corpus(rows, "perfect", "sample", "log_prob_mean") == pytest.approx(-1.5)
    # Of the training captions' combinations of colour and animal the test split repeats all.
    assert corpus(rows, "perfect", "sample", "novel") == 0
    assert corpus(rows, "wrong", "sample", "novel") == 100
    assert corpus(rows, "wrong", "sample", "length") == 4
    assert corpus(rows, "wrong", "sample", "vocabulary") == 4
    assert corpus(rows, "wrong", "sample", "unique") < corpus(rows, "perfect", "sample", "unique")
    assert corpus(rows, "wrong", "greedy", "CIDEr") == 0 < corpus(rows, "perfect", "greedy", "CIDEr")
    # Two equal captions of four words: 4 unigrams and 3 bigrams of 8 words.
    assert corpus(rows, "wrong", "sample", "Div1") == pytest.approx(4 / 8)


def test_every_row_is_a_number_and_there_once(task):
    rows, _ = evaluate("sle")
    table = pd.DataFrame(rows)
    assert all(math.isfinite(value) for value in table.value)
    assert not table.duplicated(["variant", "seed", "image_id", "decoder", "rank", "metric"]).any()
    write_rows("artifacts/sle/scores.parquet", rows, artifacts.SCORES)


def test_every_metric_has_a_value_without_java(task, monkeypatch):
    monkeypatch.setenv("PATH", "")
    rows, reasons = evaluate("sle")
    assert reasons == {}
    for metric in METRICS:
        assert corpus(rows, "wrong", "beam", metric) < corpus(rows, "perfect", "beam", metric)
    assert corpus(rows, "perfect", "beam", "METEOR") == pytest.approx(1)
    assert corpus(rows, "perfect", "sample", "oracle") >= corpus(rows, "perfect", "greedy", "CIDEr")


def test_left_over_captions_of_other_parameters_are_not_scored(task):
    (task / "configs/sle_wrong.json").unlink()
    rows, _ = evaluate("sle")
    assert {row["variant"] for row in rows} == {"perfect"}


def test_a_split_without_captions_is_one_line(task):
    write_json("configs/evaluate_sle.json", {"split": "unused", "dataset": "flickr8k", "rewards": {}})
    with pytest.raises(InputError, match="no captions in split 'unused'"):
        evaluate("sle")


def test_captions_of_an_image_without_references_are_one_line(task):
    path = task / "artifacts/sle/decode/wrong.parquet"
    rows = read_table(path, DECODED).to_pylist()
    write_rows(path, [row | {"image_id": row["image_id"] + 100} for row in rows], DECODED)
    with pytest.raises(InputError, match=r"13\d"):
        evaluate("sle")


def test_a_file_without_a_column_is_one_line(task):
    path = task / "artifacts/sle/decode/wrong.parquet"
    table = read_table(path, DECODED).drop_columns(["log_prob"])
    artifacts.write_rows(path, table.to_pylist(), DECODED.remove(DECODED.get_field_index("log_prob")))
    with pytest.raises(InputError, match=r"wrong\.parquet.*log_prob"):
        evaluate("sle")


def test_first_captions_are_scored_by_every_reward_and_for_repetition(task):
    rows, _ = evaluate("sle")
    values = {
        (row["variant"], row["decoder"], row["metric"], row["image_id"]): row["value"]
        for row in rows
        if row["rank"] == 0 and row["image_id"] is not None
    }
    for (variant, decoder, metric, image), value in values.items():
        if metric == "reward_mixed" and variant == "perfect":
            assert value == pytest.approx(2.5)
        if metric == "reward_cider":
            assert value == values[variant, decoder, "CIDEr", image]
        if metric == "words":
            assert value == (4 if variant == "wrong" else 3)
        if metric == "seq-rep-2":
            assert value == 0
    assert sum(metric == "reward_mixed" for _, _, metric, _ in values) == 2 * 2 * 6
