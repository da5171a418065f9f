"""Numbers that others have published, or that their programs give: each names its source."""

from pathlib import Path

import numpy as np
import pytest

import seqcap
from seqcap.metrics.quality import bleu_orders
from seqcap.metrics.significance import differences

# sacreBLEU's tests hold these p-values of BLEU, which the toolkit MultEval gave by 10,000 trials of approximate
# randomisation: github.com/mjpost/sacrebleu, test/test_significance.py at f615c72. Systems of WMT 2017, English to
# German, against LIUM's.
BASELINE = "LIUM-NMT.4900"
P_VALUES = {"FBK.4870": 0.0218, "LMU-nmt-reranked.4934": 0.09029, "xmu.4910": 0.71073, "online-B.0": 0.94111}


@pytest.fixture(scope="module")
def systems():
    """Counts [3004, 10] of each system's BLEU-4: matching n-grams, n-grams, lengths. The file has what sacreBLEU 2.6.0
    counts (tokenize="none") in the translations of test/wmt17_en_de_systems.pkl.bz2 there: their lengths, matching
    n-grams of 1 to 4 words, and the references' lengths."""
    with np.load(Path(__file__).with_name("wmt17_en_de.npz")) as file:
        counts = {name: file[name].astype(np.float64) for name in file.files}
    lengths = counts.pop("reference")
    found = {}
    for name, rows in counts.items():
        ngrams = np.maximum(rows[:, :1] - np.arange(4), 0)
        found[name] = np.column_stack([rows[:, 1:], ngrams, rows[:, 0], lengths])
    return found


@pytest.mark.parametrize("name", P_VALUES)
def test_p_values_are_those_that_sacrebleu_publishes(systems, name):
    base, other = (bleu_orders(systems[system]) for system in (BASELINE, name))
    found = differences({"BLEU4": base["BLEU4"]}, {"BLEU4": other["BLEU4"]}, 3004)["BLEU4"]
    assert found.p_value == pytest.approx(P_VALUES[name], abs=0.01)


# github.com/Labbeti/aac-metrics, README.md at 1277a4d: "Evaluate default metrics" and "Evaluate a specific metric".
CANDIDATES = ["a man is speaking", "rain falls"]
REFERENCES = [
    ["a man speaks.", "someone speaks.", "a man is speaking while a bird is chirping in the background"],
    ["rain is falling hard on a surface"],
]


def test_the_example_of_aac_metrics():
    found = seqcap.evaluate(CANDIDATES, REFERENCES, ["bleu-1", "cider"])
    assert found["bleu-1"].value == pytest.approx(0.4278, abs=5e-5)
    assert found["cider"].value == pytest.approx(0.9614, abs=5e-5)
    np.testing.assert_allclose(found.per_item["CIDEr"], [1.3641, 0.5587], atol=5e-5)
