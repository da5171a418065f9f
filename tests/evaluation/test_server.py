"""Scores as COCO's server computes them, against pycocoevalcap's."""

import numpy as np
import pytest
from small_task import decoded_row, evaluation_config, write_references

from seqcap.evaluation.captions import evaluate
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DECODED, SCORES
from seqcap.metrics import official
from seqcap.metrics.registry import SERVER
from seqcap.rewards.corpus import corpus_values
from seqcap.world.captions import plan
from seqcap.world.english import realise
from seqcap.world.graph import sample

RUNS = {name: f"artifacts/paper/decode/server/group/{name}.parquet" for name in ("one", "two")}
# Run and seed -> which of the people's captions it says.
SYSTEMS = {("one", 1): 40, ("one", 2): 41, ("two", 1): 42}
LEXICAL = ["BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "CIDEr"]
IMAGES = 6
CONFIG = evaluation_config(name="server", split="server", references=(5, 40, 41), decoded=RUNS)


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What people say of some scenes: forty captions each are references, the others those of two runs."""
    monkeypatch.chdir(tmp_path)
    said = {}
    for image in range(IMAGES):
        rng = np.random.default_rng([1, image])
        scene = sample(rng)
        said[image] = [realise(plan(scene, "medium", 0.05, rng), rng) for _ in range(43)]
    references = [("server", image, tokens) for image, captions in said.items() for tokens in captions[:40]]
    # A caption of another split, with the same image number as none of these.
    write_references(tmp_path / "artifacts/image/data", [*references, ("test", 99, ["a", "dog"])])
    for run, path in RUNS.items():
        rows = [
            decoded_row(run, image, "beam", rank, tokens, seed)
            for (name, seed), place in SYSTEMS.items()
            for image in said
            for rank, tokens in enumerate((said[image][place], ["nothing"]))
            if name == run
        ]
        write_rows(path, rows, DECODED)
    return said


def test_server_scores_are_those_against_the_first_references(said):
    scores = evaluate(CONFIG)
    assert scores.schema == SCORES
    table = scores.to_pandas()
    # No image has 41 references.
    assert set(table.metric) == {f"{metric} c{number}" for metric in (*SERVER, "BLEU1-4") for number in (5, 40)}
    assert set(table.decoder) == {"beam"}
    assert not table.duplicated(["run", "seed", "item", "metric"]).any()
    assert (table.value.between(0, 10) == table.statistics.isna()).all()
    corpora = table[table["item"].isna()].set_index(["run", "seed", "metric"]).value
    assert len(corpora) == 3 * 2 * len(SERVER)
    for number in (5, 40):
        references = {image: captions[:number] for image, captions in said.items()}
        for (run, seed), place in SYSTEMS.items():
            captions = [(image, spoken[place]) for image, spoken in said.items()]
            # By pycocoevalcap itself: forty references, and document frequencies of these references alone.
            expected, _ = official.measure(references, captions, LEXICAL)
            chosen = table[(table.run == run) & (table.seed == seed) & table["item"].notna()]
            for metric in LEXICAL:
                name = f"{metric} c{number}"
                assert corpora[run, seed, name] == pytest.approx(expected[metric].corpus(), abs=1e-9)
                found = chosen[chosen.metric == name]
                if metric.startswith("BLEU"):
                    assert found.empty
                    counts = chosen[chosen.metric == f"BLEU1-4 c{number}"]
                    totals = np.sum(counts.statistics.tolist(), axis=0)
                    assert corpus_values(name, totals) == pytest.approx(corpora[run, seed, name], abs=1e-12)
                else:
                    assert found["item"].tolist() == list(said)
                    assert set(found["rank"]) == {0}
                    np.testing.assert_allclose(found.value, expected[metric].per_caption, rtol=0, atol=1e-9)
    # More people to agree with.
    for metric in ("BLEU1", "BLEU4", "METEOR", "ROUGE_L"):
        assert (corpora[:, :, f"{metric} c40"] > corpora[:, :, f"{metric} c5"]).all()
