"""What each paper claims above all: how it fared here and on other data, and what else bears on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seqcap.first_page import own_runs
from seqcap.first_page.all_papers import Reported, link
from seqcap.first_page.elsewhere import There
from seqcap.first_page.outcomes import by_whom, counted, in_print, numbers, shortly, words
from seqcap.first_page.overview import CIDER, TRUTH, Overview
from seqcap.report.summary import Claim, Summary
from seqcap.report.verdicts import HOLDS, REVERSED


@dataclass(frozen=True)
class MainClaim:
    """A row of the table of main claims."""

    paper: str
    claim: Claim
    sentence: str
    verdict: str  # in words
    beside: str  # what others say of the same sides
    greedy: str  # the same comparison of greedy captions; "" without one
    there: Mapping[str, There]  # data -> the same comparison on it
    judged: Claim | None  # the control that asks the judge, where an own listener decides
    judged_there: Mapping[str, There]  # data -> the same of the judge there
    notes: Sequence[str]  # sentences


def main_claims(report: Reported, rows: Overview | None) -> list[MainClaim]:
    """Those of the papers whose main claim was run. `rows`: the table of all objectives."""
    found = []
    for paper, summary in report.papers.items():
        claim = report.main(paper)
        if claim is not None:
            controls = [other for other in report.shown(paper) if other.control and other.deciding.difference]
            judged = _by_the_judge(claim, controls)
            asked = summary.said["finding"].get("across")
            on_one = rows.compared(asked["left"], asked["right"], TRUTH) if rows and asked else ""
            verdict = ", ".join(filter(None, [words(claim), _by_whom(claim, judged)]))
            beside = _among_others(claim, judged, controls) + _by_words(claim, controls)
            beside += _by_truth(claim, controls, on_one)
            notes = _notes(paper, summary, claim, judged, rows)
            # Those with the opposite answer have a list of their own.
            told = [control for control in controls if control is not judged and control.verdict != REVERSED]
            others = [control for control in told if not _is_beside(claim, control)]
            notes += [_of_control(paper, control) for control in others]
            sentence = summary.said["finding"]["sentence"]
            greedy = own_runs.by_greedy(claim)
            of_greedy = numbers(greedy) if greedy else ""
            judged_there = {} if judged is None else report.elsewhere(paper, judged)
            there = report.elsewhere(paper, claim)
            found.append(
                MainClaim(paper, claim, sentence, verdict, beside, of_greedy, there, judged, judged_there, notes)
            )
    return found


def left_out(report: Reported) -> list[str]:
    """The labels of the papers whose main claim was not run."""
    papers = report.papers.items()
    return [summary.said["label"] for paper, summary in papers if summary.claims and report.main(paper) is None]


def _notes(paper: str, summary: Summary, claim: Claim, judged: Claim | None, rows: Overview | None) -> list[str]:
    notes = []
    if judged is not None:
        notes.append(f"By the judge: {numbers(judged.deciding)}, *{judged.words}* ({link(paper, judged)}).")
    if counted(claim):
        count = counted(claim, " comparisons")
        notes.append(f"{count[0].upper()}{count[1:]}.")
    first = claim.primary[0]
    if claim.verdict != HOLDS and first.key != claim.deciding.key and first.difference:
        printed = f"; print {in_print(first)}" if first.printed else ""
        notes.append(f"{shortly(first.what)}: {first.sides}: {numbers(first)}{printed}.")
    notes.append(claim.explained)
    if claim.rising:
        notes.append(f"†, still rising: {' and '.join(claim.rising)}.")
    told = _across_says(rows, summary.said["finding"].get("across"))
    if told:
        notes.append(f"[In about equal time](#all-objectives-on-one-captioner): {told}.")
    return list(filter(None, notes))


def _by_whom(claim: Claim, judged: Claim | None) -> str:
    """Who finds what is said of a claim: what an own listener finds, a judge may not."""
    whom = by_whom(claim)
    if not whom or judged is None:
        return whom
    if claim.verdict == judged.verdict == HOLDS:
        return f"{whom} and by the judge"
    return f"{whom} alone; by the judge: {judged.verdict}"


def _among_others(claim: Claim, judged: Claim | None, controls: Sequence[Claim]) -> str:
    """What the judge says of the same sides where a control asks others, too."""
    if judged is not None:
        return ""
    for line in [line for control in controls for line in control.primary]:
        if line.key[1] == own_runs.JUDGE and line.key[3:] == claim.deciding.key[3:] and line.difference:
            return f"; by the judge {numbers(line)}"
    return ""


def _by_words(claim: Claim, controls: Sequence[Claim]) -> str:
    """What a listener that takes every word literally says of the same sides, where it does not confirm the claim."""
    if claim.verdict != HOLDS:
        return ""
    for control in controls:
        _, measure, _, *sides = control.deciding.key
        if measure == own_runs.LITERAL and tuple(sides) == claim.deciding.key[3:] and control.verdict != HOLDS:
            return f"; by the literal listener {numbers(control.deciding)}, {control.verdict}"
    return ""


def _by_truth(claim: Claim, controls: Sequence[Claim], on_one: str) -> str:
    """What a claim that holds costs in truth, by a control; where that is open, also by the table of all objectives,
    `on_one`."""
    for control in controls:
        _, measure, _, *sides = control.deciding.key
        is_alike = measure == own_runs.TRUTH and tuple(sides) == claim.deciding.key[3:]
        if is_alike and claim.verdict == HOLDS:
            told = f"; true captions {numbers(control.deciding)}"
            if control.verdict == HOLDS:
                return told
            also = f" (on one captioner {on_one})" if on_one else ""
            return f"{told}, {control.verdict}{also}"
    return ""


def _is_beside(claim: Claim, control: Claim) -> bool:
    """Whether what a control says stands beside the verdict: of truth always, of the literal listener where it does not
    confirm the claim."""
    _, measure, _, *sides = control.deciding.key
    is_told = measure == own_runs.TRUTH or (measure == own_runs.LITERAL and control.verdict != HOLDS)
    return is_told and tuple(sides) == claim.deciding.key[3:] and claim.verdict == HOLDS


def _of_control(paper: str, control: Claim) -> str:
    sentence = control.sentence.replace("Control: ", "")
    number = f"{control.deciding.metric} {numbers(control.deciding)}"
    return f"Control {link(paper, control)}: {sentence}: {number}, *{control.words}*."


def _by_the_judge(claim: Claim, controls: Sequence[Claim]) -> Claim | None:
    """The control that asks the judge what the own listener says of the same sides; None where there is none."""
    _, metric, *_ = claim.deciding.key
    if not metric.startswith(own_runs.OWN):
        return None
    for control in controls:
        _, measure, _, *sides = control.deciding.key
        if measure == own_runs.JUDGE and tuple(sides) == claim.deciding.key[3:]:
            return control
    return None


def _across_says(rows: Overview | None, asked: Mapping[str, str] | None) -> str:
    """What the table across papers says of two of its objectives; "" where nothing is asked, or it does not have
    them."""
    # What is compared with cross-entropy the table has marks for.
    if rows is None or not asked or (rows.baseline and asked["right"] == rows.baseline.run):
        return ""
    # What is found more often may cost CIDEr.
    columns = dict.fromkeys([asked["column"], CIDER])
    compared = {column: rows.compared(asked["left"], asked["right"], column) for column in columns}
    return "; ".join(f"{column} {told}" for column, told in compared.items() if told)
