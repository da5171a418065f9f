"""What is said of a table of many objectives: only what its numbers tell apart."""

import csv
from collections.abc import Mapping
from dataclasses import replace

import pytest

from seqcap.first_page.advice import advice
from seqcap.first_page.asides import Asides
from seqcap.first_page.in_short import _to_pick
from seqcap.first_page.in_short_smoothing import _on_one_captioner
from seqcap.first_page.learnt import learnt
from seqcap.first_page.overview import (
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    MORE_CIDER,
    SAMPLES,
    TRUTH,
    TWIN,
    WORDS,
    Overview,
)

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
    (header, _, *body) = of.markdown(more={"minutes": {"tok": "1.5"}})[:-2]
    assert header.count("|") == 2 + len(BASE) + 2
    tok, scst, joint, human = body[2:]
    assert "| 75.0 ±3.0 |" in body[1]
    # The highest CIDEr is not told apart from others, that of samples is.
    assert "| 78.0 ±3.0 |" in scst
    assert "| __70.0__ ±3.0 ▲ |" in scst
    assert "| 60.0 ±3.0 ▼ | __60.0__ ±3.0 ▲ | 30.0 ±3.0 ▼ | 50.0 ±3.0 ▼ | 7.0 |" in joint
    assert tok.endswith("| 15.0 ±3.0 ▼ | __90.0__ ±3.0 ▲ | 1.5 |")
    assert human == "| p | HUMAN | – | 90.0 | 95.0 | 100.0 | – | – | – | – |"
    assert DISTINCT in "".join(of.markdown())
    assert DISTINCT not in "".join(of.markdown(without=[DISTINCT]))


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
    one, samples, diversity, distinct, both, truth = advice(table(rows))
    assert (one.take, one.gains) == ("none; the highest number is SCST's", "CIDEr, beam 78.0 (75.0)")
    assert one.otherwise == "true captions 90.0 ▲ (70.0); R@10 by the judge 40.0 (40.0)"
    assert samples.take == "**SCST**"
    assert samples.otherwise == "Div-2, samples 25.0 ▼ (75.0); CIDEr, beam 78.0 (75.0)"
    assert samples.costs == (DIVERSITY,)
    # TOK's samples are more diverse, and worse; its best caption is not.
    assert diversity.take == "none; nearest is TOK"
    assert diversity.gains == "Div-2, samples 90.0 ▲ (75.0)"
    assert diversity.otherwise.startswith("CIDEr, samples 15.0 ▼ (30.0)")
    assert diversity.note == ""
    # The judge finds JOINT's captions, and a literal listener does not.
    assert distinct.take == "none"
    assert both.take == "none; least untrue, with R@10 by the judge in brackets: JOINT 50.0 (60.0)"
    assert truth.take == "**SCST**"


def test_what_comes_nearest_is_named(rows):
    between = advice(table(rows | {"seq": SMOOTHING | {DIVERSITY: 86, SAMPLES: 18}}))[2]
    assert between.take == "none; nearest is SEQ"
    assert between.note == "More diverse, at a higher cost: TOK (Div-2, samples 90.0; CIDEr, samples 15.0)."
    # What says less that is true is not near.
    false = advice(table(rows | {"seq": SMOOTHING | {DIVERSITY: 86, SAMPLES: 18, TRUTH: 40}}))[2]
    assert false.take == "none; nearest is TOK"
    # Of the truest, which are not told apart, that with the highest CIDEr is named first.
    rows["joint"] = COOPERATION | {LITERAL: 65}
    both = advice(table(rows | {"tok": SMOOTHING | {DISTINCT: 55, TRUTH: 55}}))[-2]
    least = "none; least untrue, with R@10 by the judge in brackets"
    assert both.take == f"{least}: TOK 55.0 (55.0) or JOINT 50.0 (60.0)"


def test_what_is_clearly_better_is_advised(rows):
    rows["tok"] = SMOOTHING | {SAMPLES: 28, CIDER: 90}
    rows["joint"] = COOPERATION | {LITERAL: 65}
    one, _, diversity, distinct, _, _ = advice(table(rows))
    assert (one.take, one.gains) == ("**TOK**", "CIDEr, beam 90.0 ▲ (75.0)")
    assert (diversity.take, diversity.gains) == ("**TOK**", "Div-2, samples 90.0 ▲ (75.0)")
    broken = Asides(worded={"tok": {"two verbs": 33.66}, "scst": {"two verbs": 20.0}})
    one = advice(table(rows), broken)[0]
    assert (one.ungrammatical, one.next) == ("TOK 33.7", "")
    truth = advice(table(rows | {"joint": COOPERATION | {TRUTH: 80}}), broken)[-1]
    assert (truth.ungrammatical, truth.next) == ("SCST 20.0", "JOINT (true captions 80.0)")
    assert CIDER in truth.next_costs
    # What is as often true, and seldom ungrammatical, is named first.
    truth = advice(table(rows | {"joint": COOPERATION | {TRUTH: 85}}), broken)[-1]
    assert (truth.take, truth.tied) == ("**JOINT**", "SCST")
    assert (truth.ungrammatical, truth.next) == ("SCST 20.0", "")
    assert distinct.use == "captions that tell images apart, to a judge"
    assert distinct.take == "**JOINT**"
    people = "HUMAN: R@10 by the judge 90.0; R@10 by the literal listener 95.0; true captions 100.0."
    assert distinct.note == people
    # A judge that prefers what is less often true is told of.
    distinct = advice(table(rows | {"human": PEOPLE | {DISTINCT: 40}}))[3]
    assert distinct.note.endswith("true captions 100.0. So what the judge follows is not truth alone.")
    rows["scst"] = REINFORCED | {DISTINCT: 58}
    both = advice(table(rows))[-2]
    assert both.take == "**SCST**"


def test_what_leads_with_others_is_named_with_them(rows):
    tied = rows | {"scst": REINFORCED, "pg": REINFORCED | {SAMPLES: 65}}
    samples = advice(table(tied))[1]
    assert (samples.take, samples.tied) == ("**SCST**", "PG")
    assert samples.gains.startswith("CIDEr, samples 70.0")
    # One that another leader beats does not lead, though it is not told apart from the best.
    of = table(tied | {"weak": REINFORCED | {SAMPLES: 45}})
    best = of.rows[3]
    unsure = replace(best.levels[SAMPLES], ahead_of=frozenset({"start", "xe", "tok"}))
    doubtful = [*of.rows[:3], replace(best, levels=best.levels | {SAMPLES: unsure}), *of.rows[4:]]
    assert advice(replace(of, rows=doubtful))[1].tied == "PG"


def test_what_is_uncertain_is_said(rows):
    """What is told apart neither from the best nor from cross-entropy says nothing; and a leader of unlike seeds has
    its interval beside its name."""
    of = table(rows | {"wild": BASE | {SAMPLES: 65}})
    wild, best = of.rows[-1], of.rows[3]
    vague = replace(wild, levels=wild.levels | {SAMPLES: replace(wild.levels[SAMPLES], ahead_of=frozenset())})
    wide = replace(best, levels=best.levels | {SAMPLES: replace(best.levels[SAMPLES], low=50, high=90)})
    samples = advice(replace(of, rows=[*of.rows[:3], wide, *of.rows[4:-1], vague]))[1]
    assert samples.take == "**SCST** (±20.0)"
    assert (samples.note, samples.unsure) == ("", "WILD")


def test_a_row_of_few_seeds_is_shown_and_compared_with_nothing(rows):
    lines = [
        {"paper": "p", "row": run.upper(), "run": run, "objective": OBJECTIVES.get(run, "other")}
        | {"column": CIDER, "direction": "higher", "ours": f"{numbers[CIDER]}", "ours_low": "", "ours_high": ""}
        | {"n": f"9 images x {1 if run == 'mine' else 3} seed{'' if run == 'mine' else 's'}", "ahead_of": ""}
        for run, numbers in {"xe": BASE, "scst": REINFORCED, "mine": REINFORCED | {CIDER: 99}}.items()
    ]
    of = Overview.of(lines)
    assert [row.run for row in of.objectives] == ["scst"]
    quality = learnt(of)[0]
    assert quality.answer == "of 1 objectives none is told apart from cross-entropy trained further"
    assert quality.caveat == "78.0 against 75.0."
    *table_lines, _, reading = of.markdown()
    assert "| p | (MINE) | 99.0 |" in table_lines
    assert reading.endswith("A row in brackets has too few seeds to be compared with others.")


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


def test_two_rows_are_compared_in_words(rows):
    of = table(rows)
    assert of.compared("scst", "xe", SAMPLES) == "70.0 (SCST) against 30.0 (XE), clearly better"
    assert of.compared("xe", "scst", SAMPLES).endswith("(SCST), clearly worse")
    assert of.compared("scst", "xe", DISTINCT).endswith("(XE), not told apart")
    assert of.compared("scst", "nobody", SAMPLES) == ""


def test_what_was_learnt_reads_right_whatever_comes_out(rows):
    of = table(rows)
    quality, samples, distinct, truth = learnt(of)
    assert quality.answer == "none of 3 objectives has clearly more than cross-entropy trained further (75.0)"
    assert quality.caveat == "1 has clearly less (JOINT 60.0); 2 are not told apart from it."
    assert samples.answer == (
        "1 of 3 objectives clearly raise their CIDEr (most: SCST 70.0, from 30.0); 1 of 1 of these make them clearly "
        "less diverse"
    )
    assert samples.details == "Those of TOK are clearly more diverse; 1 of 1 of these have clearly less CIDEr."
    assert distinct.answer == (
        "by those of JOINT the judge finds most images (R@10 by the judge 60.0 ▲ (40.0); CIDEr, beam 60.0 ▼ (75.0)), "
        "but they are clearly less often true (50.0 of a hundred against 70.0)"
    )
    assert "By those of JOINT the judge finds clearly more images than by cross-entropy's." in distinct.details
    assert distinct.caveat == "The literal listener clearly finds fewer by those of JOINT 30.0."
    assert distinct.details.startswith("JOINT has R@10 by the literal listener 30.0 ▼ (50.0). ")
    agreeing = learnt(of, Asides(judges_agree="0.99 [0.94, 1.00]"))[2]
    assert agreeing.caveat.endswith("ranks objectives like what pays (Spearman 0.99 [0.94, 1.00]).")
    assert truth.answer == "those of SCST 90.0 are clearly more often true than cross-entropy's (70.0)"
    assert truth.caveat.startswith("Clearly less often true are those of JOINT 50.0; the others are not told apart")
    assert truth.details == "Cross-entropy's have 7.0 words; the truer ones have 7.0."
    by_length = learnt(of, Asides(at_equal_length="JOINT -7"))[3].caveat
    told = "at equal length, in WTF-RL's own runs, against TF, JOINT -7 (points, without intervals, of the third of"
    assert told in by_length
    # People's captions are found more often by the judge than any objective's; where they are not, this is told.
    poorer = table({**rows, "human": PEOPLE | {DISTINCT: 55}})
    assert learnt(poorer)[2].details.endswith(
        "By the HUMAN itself: R@10 by the judge 55.0, R@10 by the literal listener 95.0, true captions 100.0: the "
        "judge follows more than truth."
    )
    same = dict.fromkeys(rows, BASE)
    quality, distinct = learnt(table(same))
    assert quality.answer == "of 3 objectives none is told apart from cross-entropy trained further"
    assert distinct.answer == "no objective's captions are clearly found more often by the judge"
    assert learnt(table({"start": START})) == []


def test_how_captions_are_worded_is_told(rows):
    def said(**runs):
        found = learnt(table(rows), Asides(worded=runs, two_verbs={"scst": "34.0 (5 to 60)"}))
        return next(finding for finding in found if finding.topic == "Wording of the best caption")

    base, seldom = {"distinct captions": 48.2, "two verbs": 0.3}, {"distinct captions": 60, "two verbs": 2}
    told = said(xe=base, scst={"distinct captions": 11, "two verbs": 34}, tok=seldom)
    assert told.answer == "often ungrammatical are those of SCST 34.0 (5 to 60) (in a hundred; lowest to highest seed)"
    seen, differ = told.caveat.split(". ")
    assert seen.endswith("which CIDEr and the checker of truth do not see; other faults were not counted")
    assert differ.endswith("fewest SCST 11.0, TOK 60.0, most TOK 60.0; cross-entropy 48.2.")
    assert told.details == ""
    few = said(xe=base, tok=seldom)
    assert few.answer == "no objective writes more than 10 ungrammatical ones in a hundred"
    assert few.caveat.startswith("Different captions in a hundred: ")
    # Of photographs no grammar is known.
    unknown = said(xe={"distinct captions": 48.2}, tok={"distinct captions": 60})
    assert unknown.answer.startswith("different captions in a hundred: fewest TOK 60.0, most")
    assert unknown.details == ""


def test_samples_stand_beside_cross_entropys_as_diverse_ones(rows):
    def said(of, **asides):
        found = learnt(table(of), Asides(**asides))
        return next(finding for finding in found if finding.topic == "Random samples")

    assert said(rows).caveat.endswith("cross-entropy at another one, the cheapest rival, was not tried.")
    gains = {"xe": 0, "tok": -15, "scst": 12.5, "joint": 3}
    beside = {run: levels | ({MORE_CIDER: gains[run]} if run in gains else {}) for run, levels in rows.items()}
    expected = "those of SCST +12.5 have clearly more CIDEr, those of TOK -15.0 have clearly less"
    rest = "those of JOINT +3.0 are not told apart."
    assert said(beside).caveat.endswith(f"which takes no training, {expected}, {rest}")
    assert said(beside).details.endswith("Objectives are drawn at temperature 1 alone.")
    warm = said(beside, tempered={"SCST": "at 2 -9.0 [-10.0, -8.0]"})
    assert "alone" not in warm.details


def test_what_samples_gain_over_a_temperature_is_noted(rows):
    """Of what leads, and of the nearest to cheap diversity."""

    def notes(of, **asides):
        return {row.use: row.note for row in advice(table(of), Asides(**asides))}

    gain = "CIDEr of its samples {} over cross-entropy's at the temperature of equal Div-2."
    found = notes(rows)
    assert "temperature" not in "".join(found.values())
    gains = {"xe": 0, "tok": -15, "scst": 12.5, "joint": 3}
    beside = {run: levels | ({MORE_CIDER: gains[run]} if run in gains else {}) for run, levels in rows.items()}
    found = notes(beside)
    assert found["random samples of high CIDEr"] == gain.format("+12.5")
    assert gain.format("-15.0") in found["diverse samples at little cost"]
    warm = notes(beside, tempered={"SCST": "at 2 -9.0 [-10.0, -8.0]"})
    assert warm["random samples of high CIDEr"].endswith("of equal Div-2 (drawn at 2 -9.0 [-10.0, -8.0]).")


def test_advice_tells_where_few_captions_differ(rows):
    """Fewer than half as many as cross-entropy's, of the best caption of a beam alone and of what is named first."""
    shares = {"xe": 48.0, "scst": 11.0, "tok": 30.0}
    worded = {run: {"distinct captions": share} for run, share in shares.items()}
    *_, truth = found = advice(table(rows), Asides(worded=worded))
    assert truth.alike == "SCST 11.0 in a hundred, cross-entropy 48.0"
    assert not any(row.alike for row in found[:-1])
    worded["scst"] = {"distinct captions": 24.0}
    assert advice(table(rows), Asides(worded=worded))[-1].alike == ""


def test_what_to_pick_names_what_leads_for_each_use(rows):
    worded = {run: {"two verbs": 40.0 if run == "scst" else 0.0} for run in rows}
    asides = Asides(worded=worded, two_verbs={"scst": "40.0 (one seed)"})
    found = _to_pick(table(rows), asides, "Elsewhere RL.")
    assert found is not None
    _, one, samples, diversity, distinct, both, truth = found.caveat.split("\n  - ")
    assert one == "One caption with the highest CIDEr: none; the highest number is SCST's."
    assert (
        samples
        == "Random samples of high CIDEr: SCST; Div-2, samples 25.0 ▼ (75.0); not known whether these are grammatical."
    )
    assert diversity.startswith("Diverse samples at little cost: none; nearest is TOK (Div-2, samples 90.0 ▲ (75.0); ")
    assert distinct == "Captions that tell images apart, to a judge: none."
    least = "none; least untrue, with R@10 by the judge in brackets: JOINT 50.0 (60.0)"
    assert both == f"Such captions, and as often true: {least}. Elsewhere RL."
    assert truth == "Captions that are true: SCST; often ungrammatical, in a hundred: SCST 40.0."
    assert _to_pick(None, Asides()) is None


def test_what_of_smoothing_is_better_on_one_captioner_is_told(rows):
    of = table(rows)
    smoothed = [replace(row, paper="smoothing" if row.run == "tok" else "p") for row in of.rows]
    told = _on_one_captioner(replace(of, rows=smoothed))
    found = "clearly better in Div-2, samples: TOK, clearly worse in CIDEr, samples: TOK."
    assert told == f"On [one captioner](#all-objectives-on-one-captioner) {found}"
    assert _on_one_captioner(of) == _on_one_captioner(None) == ""
