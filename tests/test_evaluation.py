"""Scores of whole variants: their rows, and what happens where something is missing."""

import math

import numpy as np
import pandas as pd
import pytest
from small_task import write_task

from seqcap import artifacts
from seqcap.artifacts import DECODED, REFERENCES, read_table, write_json, write_rows
from seqcap.data.scenes.captions import plan
from seqcap.data.scenes.english import realise
from seqcap.data.scenes.graph import sample
from seqcap.errors import InputError
from seqcap.evaluation import SERVER_METRICS, evaluate, evaluate_server
from seqcap.metrics import official
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
        decoded = f"artifacts/sle/decode/{variant}.parquet"
        write_json(f"configs/sle_{variant}.json", {"variant": variant, "decoded": decoded, "task": "image"})
        rows = []
        for image, captions in references.items():
            for decoder, number in (("greedy", 1), ("beam", 2), ("sample", 2)):
                for rank in range(number):
                    tokens = list(captions[rank]) if variant == "perfect" else ["some", "thing", "else", "here"]
                    row = {"variant": variant, "seed": 1, "image_id": image, "decoder": decoder, "rank": rank}
                    rows.append(row | {"text": " ".join(tokens), "tokens": tokens, "log_prob": -1.0 - rank})
        write_rows(decoded, rows, DECODED)
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


RUNS = [{"variant": name, "decoded": f"artifacts/smoothing/server/{name}.parquet"} for name in ("one", "two")]
SERVER = {"split": "server", "references": [5, 40], "runs": RUNS}
LEXICAL = ["BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "CIDEr"]


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Eight scenes of forty references each; a variant of two seeds and one of one, which say what other people say."""
    monkeypatch.chdir(tmp_path)
    said = {}
    for image in range(8):
        rng = np.random.default_rng([1, image])
        scene = sample(rng)
        said[image] = [realise(plan(scene, "medium", 0.05, rng), rng) for _ in range(43)]
    rows = [
        {"image_id": image, "split": "server", "text": " ".join(tokens), "tokens": tokens}
        for image, captions in said.items()
        for tokens in captions[:40]
    ]
    # A caption of another split, with the same image number as none of these.
    rows.append({"image_id": 99, "split": "test", "text": "a dog", "tokens": ["a", "dog"]})
    rows = [row | {"caption_id": number} for number, row in enumerate(rows)]
    write_rows("artifacts/image/data/references.parquet", rows, REFERENCES)
    systems = {("one", 1): 40, ("one", 2): 41, ("two", 1): 42}
    for variant in ("one", "two"):
        rows = []
        for (name, seed), place in systems.items():
            for image in said if name == variant else ():
                for rank, tokens in enumerate((said[image][place], ["nothing"])):
                    row = {"variant": variant, "seed": seed, "image_id": image, "decoder": "beam", "rank": rank}
                    rows.append(row | {"text": " ".join(tokens), "tokens": tokens, "log_prob": -1.0})
        write_rows(f"artifacts/smoothing/server/{variant}.parquet", rows, DECODED)
    return said, systems


def test_server_scores_are_those_against_the_first_references(server):
    said, systems = server
    rows, reasons = evaluate_server(SERVER)
    assert reasons == {}
    table = pd.DataFrame(rows)
    assert set(table.metric) == {f"{metric} c{number}" for metric in SERVER_METRICS for number in (5, 40)}
    assert set(table.decoder) == {"beam"}
    assert not table.duplicated(["variant", "seed", "image_id", "metric"]).any()
    assert table.value.between(0, 10).all()
    corpora = table[table.image_id.isna()].set_index(["variant", "seed", "metric"]).value
    assert len(corpora) == 3 * 2 * len(SERVER_METRICS)
    for number in (5, 40):
        references = {image: captions[:number] for image, captions in said.items()}
        for (variant, seed), place in systems.items():
            captions = [(image, spoken[place]) for image, spoken in said.items()]
            # By pycocoevalcap itself: forty references, and document frequencies of these references alone.
            expected, _ = official.measure(references, captions, LEXICAL)
            chosen = table[(table.variant == variant) & (table.seed == seed) & table.image_id.notna()]
            for metric in LEXICAL:
                name = f"{metric} c{number}"
                assert corpora[variant, seed, name] == pytest.approx(expected[metric].corpus(), abs=1e-9)
                found = chosen[chosen.metric == name]
                if metric.startswith("BLEU"):
                    assert found.empty
                else:
                    assert found.image_id.tolist() == list(said)
                    assert set(found["rank"]) == {0}
                    np.testing.assert_allclose(found.value, expected[metric].per_caption, rtol=0, atol=1e-9)
    # More people to agree with.
    for metric in ("BLEU1", "BLEU4", "METEOR", "ROUGE_L"):
        assert (corpora[:, :, f"{metric} c40"] > corpora[:, :, f"{metric} c5"]).all()
    write_rows("artifacts/smoothing/server_scores.parquet", rows, artifacts.SCORES)


def test_fewer_references_than_asked_for_are_a_reason(server):
    rows, reasons = evaluate_server(SERVER | {"references": [5, 41]})
    assert {row["metric"] for row in rows} == {f"{metric} c5" for metric in SERVER_METRICS}
    assert reasons == {f"{metric} c41": "an image has 40 references" for metric in SERVER_METRICS}


@pytest.mark.parametrize("change", [{"image_id": 99}, {"decoder": "greedy"}])
def test_captions_of_other_images_than_the_servers_are_one_line(server, change):
    path = "artifacts/smoothing/server/two.parquet"
    rows = read_table(path, DECODED).to_pylist()
    write_rows(path, [row | change if row["image_id"] == 3 else row for row in rows], DECODED)
    with pytest.raises(InputError, match=r"two\.parquet: the beam captions of seed 1 are not of the images"):
        evaluate_server(SERVER)
