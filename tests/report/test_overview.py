"""What is said of a table of many objectives: only what its numbers tell apart."""

import csv
from collections.abc import Mapping

import pytest

from seqcap.report.advice import advice
from seqcap.report.learnt import learnt
from seqcap.report.overview import CIDER, DISTINCT, DIVERSITY, LITERAL, SAMPLES, TRUTH, TWIN, WORDS, Overview

# Run -> column -> number. Whatever is 10 higher is shown to be better; intervals reach 3 to either side.
BASE = {CIDER: 75, DISTINCT: 40, LITERAL: 50, TRUTH: 70, WORDS: 7, SAMPLES: 30, DIVERSITY: 75}
START = BASE | {SAMPLES: 29}
PEOPLE = {DISTINCT: 90, LITERAL: 95, TRUTH: 100}
COOPERATION = BASE | {CIDER: 60, DISTINCT: 60, LITERAL: 30, TRUTH: 50}
SMOOTHING = BASE | {DIVERSITY: 90, SAMPLES: 15}
REINFORCED = BASE | {CIDER: 78, SAMPLES: 70, DIVERSITY: 25, TRUTH: 90}
OBJECTIVES = {"start": "cross_entropy", "xe": "cross_entropy", "human": "", "tok": "token_smoothing"}


def table(rows: Mapping[str, Mapping[str, float]], older: bool = False) -> Overview:
    lines = []
    for run, numbers in rows.items():
        for column, value in numbers.items():
            ahead = [other for other, its in rows.items() if other != "human" and value >= its.get(column, 999) + 10]
            ends = (value - 3, value + 3) if run != "human" else ("", "")
            words = {"paper": "p", "row": run.upper(), "run": run, "objective": OBJECTIVES.get(run, "other")}
            direction = "" if column == WORDS else "higher"
            line = words | {"column": column, "direction": direction, "ours": value, "n": "9 images x 3 seeds"}
            line |= {"ours_low": ends[0], "ours_high": ends[1]}
            lines.append(line if older else line | {"ahead_of": " ".join(ahead)})
    return Overview.of([{key: str(value) for key, value in line.items()} for line in lines])


@pytest.fixture
def rows() -> dict[str, Mapping[str, float]]:
    start = {"start": START, "xe": BASE}
    return start | {"tok": SMOOTHING, "scst": REINFORCED, "joint": COOPERATION, "human": PEOPLE}


def test_only_what_is_told_apart_is_marked(rows):
    of = table(rows)
    (header, _, *body) = of.markdown({"minutes": {"tok": "1.5"}})[:-2]
    assert header.count("|") == 2 + len(BASE) + 2
    tok, scst, joint, human = body[2:]
    assert "| 75.0 ±3.0 |" in body[1]
    # The highest CIDEr is not told apart from others, that of samples is.
    assert "| 78.0 ±3.0 |" in scst
    assert "| __70.0__ ±3.0 ▲ |" in scst
    assert "| 60.0 ±3.0 ▼ | __60.0__ ±3.0 ▲ | 30.0 ±3.0 ▼ | 50.0 ±3.0 ▼ | 7.0 |" in joint
    assert tok.endswith("| 15.0 ±3.0 ▼ | __90.0__ ±3.0 ▲ | 1.5 |")
    assert human == "| p | HUMAN | – | 90.0 | 95.0 | 100.0 | – | – | – | – |"


def test_rows_of_older_tables_are_told_apart_by_their_intervals(rows):
    """Intervals of 3 to either side overlap where numbers differ by 6."""
    rows["tok"] = SMOOTHING | {CIDER: 81, TRUTH: 77}
    of = table(rows, older=True)
    base, tok = of.baseline, of.objectives[0]
    assert base is not None
    assert not of.is_ahead(tok, base, CIDER)
    assert of.is_ahead(tok, base, TRUTH)
    assert of.is_ahead(base, tok, SAMPLES)
    assert "of older code" in of.markdown()[-1]


def test_nothing_is_advised_that_is_worse_than_cross_entropy_in_its_use(rows):
    one, samples, diversity, smoothing, distinct, truth = advice(table(rows))
    assert one.startswith(
        "**The highest CIDEr of one caption: not known.** In this table no objective is shown to beat cross-entropy."
    )
    assert samples.startswith("**Random samples that are good one by one: SCST.**")
    # TOK's samples are more diverse, and worse; its best caption is not.
    assert diversity.startswith("**Diverse samples: TOK.** Div-2, samples 90.0 [87.0, 93.0] against 75.0")
    assert "here the best caption is not shown to lose, a single sample is." in diversity
    assert "SCST loses least diversity" in diversity
    assert "Of 1 kinds 1 are shown to make samples more diverse, and 1 to lower their CIDEr." in smoothing
    assert smoothing.endswith("Div-2, samples, and CIDEr, samples: TOK 90.0, 15.0; XE 75.0, 30.0.")
    # The judge finds JOINT's captions, and a literal listener does not.
    assert distinct == "**Captions that tell images apart: none is shown to do so better than cross-entropy.**"
    assert truth.startswith("**Captions that are true: SCST.** True captions 90.0")
    rows["tok"] = SMOOTHING | {SAMPLES: 28, CIDER: 90}
    rows["joint"] = COOPERATION | {LITERAL: 65}
    one, _, diversity, _, distinct, _ = advice(table(rows))
    assert one.startswith("**The highest CIDEr of one caption: TOK.** CIDEr, beam 90.0 [87.0, 93.0] against 75.0")
    assert diversity.startswith("**Diverse samples: TOK.**")
    assert "a single sample is" not in diversity
    assert distinct.startswith("**Captions that tell images apart, to a judge: JOINT.**")
    assert "The judge is of another kind than the retriever that pays." in distinct
    assert "Its captions are shown to be true less often" in distinct
    rows["joint"] = {**rows["joint"], TWIN: 65}
    rows["xe"] = {**rows["xe"], TWIN: 40}
    # Of those that are found more often the truest is named with what it is not told apart from.
    rows["scst"] = REINFORCED | {DISTINCT: 58, TWIN: 58}
    rows["tok"] = SMOOTHING | {DISTINCT: 58, TRUTH: 85, TWIN: 58}
    *_, distinct, truth = advice(table(rows), others={DISTINCT: "*On photographs:* as here.", TRUTH: ""})
    assert "of another kind than the retriever that pays. By a twin of what pays: R@10 by the twin 65.0" in distinct
    assert "SCST has most true captions, not told apart from TOK: true captions 90.0" in distinct
    assert distinct.endswith(" *On photographs:* as here.")
    assert "photographs" not in truth
    one, *_ = advice(table({"start": START, "xe": BASE, "scst": REINFORCED}), "shown to beat it: A against B +2.0")
    assert one.endswith("In the papers' own runs, which are longer, shown to beat it: A against B +2.0.")


def test_what_older_tables_call_the_judge_is_a_twin(rows, tmp_path):
    """They have one retriever beside what pays, of its kind."""
    path = tmp_path / "across.csv"
    words = {"paper": "p", "row": "A", "run": "a", "objective": "other", "column": DISTINCT, "direction": "higher"}
    line = words | {"ours": "60", "ours_low": "57", "ours_high": "63", "n": "9 images x 3 seeds", "ahead_of": ""}
    for columns, distinct in (([DISTINCT], TWIN), ([DISTINCT, TWIN], DISTINCT)):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, line)
            writer.writeheader()
            writer.writerows(line | {"column": column} for column in columns)
        assert Overview.read(path).distinct == distinct


def test_what_was_learnt_reads_right_whatever_comes_out(rows):
    own = {"JOINT": ["the judge's R@10 +5.0, holds"], "XE": ["nothing"]}
    quality, samples, distinct, truth = learnt(table(rows), own)
    assert quality.endswith(
        "No objective is shown to beat cross-entropy trained further; 1 of 3 are shown to be worse, and 2 "
        "cannot be told from it."
    )
    assert "1 of 3 objectives are shown to raise the CIDEr of random samples" in samples
    assert "and 1 of 1 of these to make them less diverse (most of all SCST: CIDEr 70.0 against 30.0" in samples
    assert "By captions of JOINT the judge is shown to find more" in distinct
    assert "to find more by those of none, fewer by those of JOINT (JOINT: 30.0 against 50.0)." in distinct
    assert distinct.endswith("In its paper's own runs, JOINT against likelihood: the judge's R@10 +5.0, holds.")
    assert "SCST is shown to have true captions, which say something and nothing false, more often" in truth
    same = dict.fromkeys(rows, BASE)
    quality, distinct = learnt(table(same))
    assert "0 of 3 are shown to be worse, and 3 cannot be told from it" in quality
    assert distinct.endswith("No objective's captions are shown to be found more often by the judge.")
    assert learnt(table({"start": START})) == []
