"""metrics.json: few numbers, by short names."""

from collections import Counter

import pytest
from parameter_files import ROOT

from seqcap import papers
from seqcap.pipeline.params import read_params
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.metrics import Measured, section_metrics
from seqcap.report.verdicts import COUNTED, FAILS, HOLDS, ONE_SEED, UNSURE, UNTESTABLE

WANTED = {
    "cider": Measured(run="sll", metric="CIDEr"),
    "div2": Measured(run="sll", metric="Div2", decoder="sample", captions="set"),
    "gone": Measured(run="none", metric="CIDEr"),
}


def said(*verdicts, difference="1.50"):
    """What claims.json needs, with claim C2 as the finding."""
    record = {"difference": difference}
    claims = [{"id": "C1", "records": [{"difference": "-3"}]}, {"id": "C2", "records": [record, {"difference": "7"}]}]
    counts = dict.fromkeys(COUNTED, 0) | Counter(verdicts)
    return {"verdicts": counts, "finding": {"sentence": "a", "claim": "C2"}, "claims": claims}


def test_a_paper_has_its_counts_its_finding_and_its_named_numbers(sle):
    sle.names = ["xe", "sll"]
    run = sle.read()
    numbers = section_metrics(run, said(HOLDS, HOLDS, FAILS, UNSURE, ONE_SEED, UNTESTABLE), WANTED)
    cider = run.scores.by_seed("sll", "beam", "CIDEr")
    assert numbers.pop("cider") == pytest.approx(100 * cider.mean(), abs=0.01)
    assert numbers.pop("div2") == pytest.approx(run.scores.by_seed("sll", "sample", "Div2", "set").mean(), abs=1e-4)
    assert numbers == {"hold": 2, "fail": 1, "undecided": 2, "finding": 1.5}
    # Of what has not run, and of what makes no claims, there are no numbers.
    assert "finding" not in section_metrics(run, said(UNSURE, difference=""), {})
    assert section_metrics(run, {"verdicts": dict.fromkeys(COUNTED, 0), "finding": None, "claims": []}, {}) == {}


def test_all_papers_together_have_forty_numbers_at_most():
    """Each of a run that is trained and scored so."""
    params, total = read_params(ROOT), 0
    for name in params.papers:
        file = ClaimsFile.read(papers.load(name))
        assert {measured.run for measured in file.metrics.values()} <= {*params.runs, *params.ensembles}
        assert all(len(metric) <= 8 for metric in file.metrics)
        total += len(file.metrics) + 4 * bool(file.claims)
    assert 20 <= total <= 40
