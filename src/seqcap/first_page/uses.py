"""What the papers' own runs and other data say of each use of an objective, beside the advice by the table of all
objectives on one captioner."""

from collections.abc import Mapping, Sequence

from seqcap.first_page import elsewhere, own_runs
from seqcap.first_page.all_papers import Reported, link
from seqcap.first_page.outcomes import numbers
from seqcap.first_page.overview import Overview
from seqcap.report.summary import Claim, Line
from seqcap.report.verdicts import HOLDS

# The claims that tell of a use on other data, and do not stand in a table of the first page.
_OF_DISTINCTIVENESS, _OF_TRUTH = ("D10",), ("D12d",)
# Measure -> its words: those of the judge and of truth, each with what else is told of the same captions.
_JUDGED = {
    own_runs.JUDGE: "R@10 by the judge",
    "CIDEr": "CIDEr",
    own_runs.LITERAL: "R@10 by the literal listener",
    own_runs.TRUTH: "true captions",
}
_TRUE = {"all_true": "true captions", "CIDEr": "CIDEr"}
_SIDES = {1: "above", 0: "not told apart from", -1: "below"}  # of cross-entropy, that an interval is on


def uses(report: Reported, rows: Overview) -> dict[str, str]:
    """Use -> what the papers' own runs and other data say of it; without those of which nothing is said."""
    by_id = {claim.id: (paper, claim) for paper, claim in report.claims()}

    def elsewhere_of(names: Sequence[str]) -> str:
        return _told_elsewhere(report, [by_id[name] for name in names if name in by_id])

    told = {
        "One caption": [_of_quality(report)],
        "Captions that tell images apart": [_in_own_runs(report, rows, _JUDGED), elsewhere_of(_OF_DISTINCTIVENESS)],
        "Captions that are true": [_in_own_runs(report, rows, _TRUE), elsewhere_of(_OF_TRUTH)],
    }
    texts = {use: " ".join(filter(None, parts)) for use, parts in told.items()}
    return {use: text for use, text in texts.items() if text}


def nearest_judged(report: Reported, rows: Overview) -> str:
    """Of each paper's own runs that the table of all objectives lacks, and that are not shown to be less true than
    likelihood's, that of which the judge finds most more: both differences; "" without one."""
    labels, told = {row.label for row in rows.objectives}, []
    for summary in filter(own_runs.knows_a_judge, report.papers.values()):
        found = own_runs.against_likelihood(summary, own_runs.JUDGE)
        truth = own_runs.against_likelihood(summary, own_runs.TRUTH)
        more = [name for name, line in found.items() if float(line.difference) > 0 and name not in labels]
        names = [name for name in more if name in truth and truth[name].side != -1]
        if names:
            best = max(names, key=lambda name: float(found[name].difference))
            of_both = f"R@10 by the judge {numbers(found[best])}, true captions {numbers(truth[best])}"
            told.append(f"In {summary.said['label']}'s own runs {found[best].sides}: {of_both}.")
    return " ".join(told)


def _of_quality(report: Reported) -> str:
    """How the CIDEr of the papers' objectives compares with cross-entropy's that was trained as long."""
    compared = own_runs.cider_against_likelihood(report.papers)
    if not compared:
        return ""
    parts = []
    for side, words in _SIDES.items():
        told = [
            f"{_left(line)} {numbers(line)} {_in_brackets(paper, claim, line)}"
            for paper, claim, line in compared
            if line.side == side
        ]
        if told:
            parts.append(f"{words} it: {', '.join(told)}")
    text = "CIDEr, beam, against cross-entropy of as many updates (95% intervals, each by "
    text += f"itself): {'; '.join(parts)}."
    for data, papers in report.published.items():
        pairs = [(line, own_runs.on_other_data(line, papers)) for _, _, line in compared]
        told = [f"{_left(line)} {numbers(other)}" for line, other in pairs if other]
        if told:
            text += f" *On {data}* so compared: {', '.join(told)}."
    return text


def _in_brackets(paper: str, claim: Claim, line: Line) -> str:
    """A claim, of which a comparison may be a detail or one of several that it needs."""
    decides = line.key in {primary.key for primary in claim.primary}
    part = ", CIDEr alone" if decides and len(claim.primary) > 1 and claim.verdict != HOLDS else ""
    return f"({'' if decides else 'detail of '}{claim.id}{part})"


def _in_own_runs(report: Reported, rows: Overview, measures: Mapping[str, str]) -> str:
    """What a measure says of the best captions in the own runs of papers that have objectives of the table, the highest
    first, and others in brackets; of those runs that claims compare by all. `measures`: metric -> its words, the first
    one outside the brackets."""
    labels, told = {row.label for row in rows.objectives}, []
    first, *others = measures.values()
    for paper, summary in report.papers.items():
        if own_runs.JUDGE in measures and not own_runs.knows_a_judge(summary):
            continue
        values, *beside = (own_runs.levels(summary, metric) for metric in measures)
        known = [label for label in values if all(label in levels for levels in beside)]
        if labels.isdisjoint(known):
            continue
        sides = sorted(known, key=lambda label: -values[label])
        brackets = {label: ", ".join(f"{levels[label]:.1f}" for levels in beside) for label in sides}
        told_of = ", ".join(f"{label} {values[label]:.1f} ({brackets[label]})" for label in sides)
        captioner = report.captioner(paper)
        whose = f"{summary.said['label']}'s own runs" + (f" (captioner: {captioner})" if captioner else "")
        told.append(f"In {whose}, {first}, with {', '.join(others)} in brackets: {told_of}.")
    return " ".join(told)


def _told_elsewhere(report: Reported, claims: Sequence[tuple[str, Claim]]) -> str:
    """What all other data tell of some claims; "" without other data."""
    if not report.published:
        return ""
    told = [_told_on(report, data, claims) for data in report.published]
    return " ".join(filter(None, told))


def _told_on(report: Reported, data: str, claims: Sequence[tuple[str, Claim]]) -> str:
    """ "*On Flickr8k:* CIDEr, SLL against XE +25.2 [23.2, 27.1] ([C1](..))." "" where nothing was measured there."""
    told, measured = list[str](), ""
    for paper, claim in claims:
        there = report.elsewhere(paper, claim).get(data)
        if there:
            summed = f" {elsewhere.SUM}" if there.words == elsewhere.SUM else ""
            metric = "" if told and there.line.metric == measured else f"{there.line.metric}, "
            measured = there.line.metric
            # An older rule has not written the sides, which are those here.
            told.append(f"{metric}{claim.deciding.sides} {numbers(there.line)}{summed} ({link(paper, claim)})")
    return f"*On {data}:* {'; '.join(told)}." if told else ""


def _left(line: Line) -> str:
    return line.sides.partition(" against ")[0]
