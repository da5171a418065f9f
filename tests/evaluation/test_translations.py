"""Translations decoded and scored: sacrebleu's BLEU, against this package's own, and on paper."""

import numpy as np
import pytest
from small_task import decoded_row, decoding_run, evaluation_config, write_captioner, write_translation_task

from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.evaluation.decode import decode_split
from seqcap.evaluation.translations import bleu_statistics, corpus_bleu, evaluate
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import DECODED, PAIRS, SCORES
from seqcap.metrics.quality import measure
from seqcap.rewards.corpus import translation_bleu

WORDS = ["a", "dog", "runs", "on", "the", "beach", ".", "don", "'t", "&quot;"]
PAIR = 2 * 10**9
DECODED_FILE = "artifacts/paper/decode/all/group/mle.parquet"


def texts(rng, number):
    return [" ".join(rng.choice(WORDS, rng.integers(1, 14))) for _ in range(number)]


def translated(rng, references, share):
    """References, a share of whose words is kept."""
    return [
        " ".join(word if rng.random() < share else str(rng.choice(WORDS)) for word in text.split())
        for text in references
    ]


def test_bleu_is_this_packages_own():
    """Two programs: sacrebleu here, the reward's kernel in training."""
    rng = np.random.default_rng(0)
    references = texts(rng, 200)
    translations = translated(rng, references, 0.9)
    ids = {i: [text.split()] for i, text in enumerate(references)}
    measured = measure(ids, [(i, text.split()) for i, text in enumerate(translations)], ["BLEU4"])
    assert corpus_bleu(translations, references) == pytest.approx(measured["BLEU4"].corpus(), abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_bleu_of_summed_counts_is_sacrebleus(share):
    """Of resampled sentences too, and where orders have no match or no sentence is long enough."""
    rng = np.random.default_rng(4)
    references = texts(rng, 30)
    translations = translated(rng, references, share)
    translations[0] = ""
    counts = bleu_statistics(translations, references)
    draws = [np.arange(30), np.zeros(3, int), *(rng.integers(30, size=size) for size in (1, 2, 5, 30, 30))]
    expected = [corpus_bleu([translations[i] for i in draw], [references[i] for i in draw]) for draw in draws]
    totals = np.stack([counts[draw].sum(axis=0) for draw in draws])
    np.testing.assert_allclose(translation_bleu(totals), expected, rtol=0, atol=1e-12)


def config(**changes):
    base = {"task": "de_en", "kind": "sentences", "dataset": "text", "decoded": {"mle": DECODED_FILE}}
    return evaluation_config(**(base | changes))


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """Eight pairs; the beam's best translation is right but for the first, greedily nothing is."""
    monkeypatch.chdir(tmp_path)
    references = texts(np.random.default_rng(1), 8)
    rows, decoded = [], []
    for item, text in enumerate(references, start=PAIR):
        words = text.split()
        rows.append({"item": item, "split": "test", "source": ["ein"], "target": words, "reference": words})
        said = {"greedy": [["cat"]], "beam": [words if item > PAIR else ["cat"], ["cat"], ["cat"]]}
        for decoder, captions in said.items():
            for rank, tokens in enumerate(captions):
                decoded.append(decoded_row("mle", item, decoder, rank, tokens))
    rows.append({"item": 0, "split": "train", "source": ["ein"], "target": ["a"], "reference": ["a"]})
    write_rows("artifacts/de_en/data/pairs.parquet", rows, PAIRS)
    write_rows(DECODED_FILE, decoded, DECODED)
    return references, decoded


def test_scores_are_of_the_corpus_with_every_sentences_counts(pairs):
    references, _ = pairs
    table = evaluate(config())
    assert table.schema == SCORES
    rows = table.to_pylist()
    assert {row["metric"] for row in rows} == {"BLEU"}
    corpus = {row["decoder"]: row["value"] for row in rows if row["item"] is None}
    assert corpus == {"greedy": 0, "beam": corpus_bleu(["cat", *references[1:]], references)}
    single = {(row["decoder"], row["item"]): row["statistics"] for row in rows if row["rank"] == 0}
    assert len(single) == 2 * 8
    for place, text in enumerate(references):
        matches, length = single["beam", PAIR + place][0], len(text.split())
        assert matches == (length if place else 0)
        assert single["beam", PAIR + place][-2:] == [length if place else 1, length]


def test_a_split_without_pairs_is_one_line(pairs):
    with pytest.raises(InputError, match=r"pairs\.parquet: has no pairs in split 'val'"):
        evaluate(config(split="val"))


def test_what_a_translator_decodes_is_scored(tmp_path, monkeypatch):
    """Words of every pair, joined from subwords."""
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, 12)
    target, source = (Vocabulary.read(f"artifacts/de_en/data/{name}vocabulary.json") for name in ("", "source_"))
    settings = {"embedding": 12, "hidden": 16, "readout": 12}
    path = tmp_path / "weights/seed1.safetensors"
    write_captioner(path, "translator", settings, (source, target), (len(source),))
    run = decoding_run(name="mle", task="de_en", kind="sentences", max_length=12, samples=0, batch_size=3)
    decoded = decode_split(run)
    test = [row["item"] for row in read_table("artifacts/de_en/data/pairs.parquet", PAIRS).to_pylist()][-8:]
    assert [row["item"] for row in decoded if row["decoder"] == "greedy"] == test
    assert sum(row["decoder"] == "beam" for row in decoded) == 3 * 8
    assert not any("</w>" in row["text"] for row in decoded)
    write_rows(DECODED_FILE, decoded, DECODED)
    assert len(evaluate(config())) == 2 * (1 + 8)
