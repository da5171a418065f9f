"""What other data have otherwise: their words, and where cross-entropy stands."""

from typing import Any

from invented_evidence import ORIGIN, evidence, side

from seqcap.first_page.what_differs import what_differs
from seqcap.report.evidence import Evidence
from seqcap.report.summary import VERSION, Summary

FEW = {"different": 456, "per_text": 9.84, "different_texts": 0.95}
MANY = {"different": 7370, "per_text": 10.82, "different_texts": 0.99}


def summary(*records: Evidence, words: object = FEW) -> Summary:
    """Results in which run b is of cross-entropy."""
    claim = {"id": "C1", "sentence": "a beats b", "explained": {}, "control": False}
    claims = [claim | {"records": [record.model_dump(mode="json") for record in records]}]
    task = {"task": "image", "name": "data", "kind": "images", "sizes": {}, "seeds": [1]}
    return Summary(
        said={"version": VERSION, "likelihood": ["b"], "finding": None, "claims": claims},
        metrics={},
        curves="",
        provenance=ORIGIN | {"data": [task | ({"words": words} if words else {})]},
    )


def compared(level: float, **changes: Any) -> Evidence:
    seeds = (1, 2, 3)
    sides = (side("A", dict.fromkeys(seeds, level + 9)), side("B", dict.fromkeys(seeds, level)))
    return evidence(**{"sides": sides, "what": "CIDEr of the best beam caption"} | changes)


def test_words_and_levels_of_both_are_told():
    of_pairs = {"metric": "Div2", "decoder": "sample", "what": "Div-2 of 5 samples", "decimals": 4}
    here = summary(compared(75.38), compared(0.774, **of_pairs))
    there = summary(compared(44.12), compared(0.838, **of_pairs), words=MANY)
    counted, *others = what_differs({"sle": here}, {"sle": there})["words"]
    assert counted == "7,370 different words in training texts (456)"
    assert others == ["10.8 words a text (9.8)", "99% of texts differ (95%)"]
    levels = ["CIDEr, beam 44.1 (75.4)", "Div-2, samples 83.8 (77.4)"]
    assert what_differs({"sle": here}, {"sle": there})["levels"] == levels


def test_levels_are_those_of_one_run():
    """Of two of which as many are known, the one whose best captions are."""
    start = {"sides": (side("A", {1: 9.0, 2: 9.0}), side("Start", {1: 0.2, 2: 0.2}))}
    longer = {"sides": (side("A", {1: 9.0, 2: 9.0}), side("B", {1: 44.0, 2: 44.0}))}
    samples = {"decoder": "sample", "what": "CIDEr of 5 samples"}
    of_both = summary(evidence(**samples, **start), evidence(what="CIDEr of the best beam caption", **longer))
    of_both.said["likelihood"].append("start")
    assert what_differs({"sle": of_both}, {"sle": of_both})["levels"] == ["CIDEr, beam 44.0 (44.0)"]


def test_the_mean_of_a_beams_captions_is_no_level_of_its_best():
    of_all = summary(compared(70.0, what="CIDEr of the beam's 5"))
    assert what_differs({"sle": of_all}, {"sle": of_all})["levels"] == []


def test_what_is_known_of_one_alone_is_not_told():
    known, nothing = summary(compared(75.38)), summary(compared(60.0, decoder="greedy"), words=None)
    assert what_differs({"sle": known}, {"sle": nothing}) == {"words": [], "levels": []}
    assert what_differs({"sle": known}, {"spider": known}) == {"words": [], "levels": []}
