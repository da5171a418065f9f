"""What *In short* says of other data: how the comparisons that decide claims here came out there."""

from collections.abc import Mapping
from typing import Any

from seqcap.first_page import own_runs, unknown_words
from seqcap.first_page.all_papers import Reported, link
from seqcap.first_page.elsewhere import WHOLE, Pair
from seqcap.first_page.finding import Finding
from seqcap.first_page.outcomes import fared, numbers
from seqcap.first_page.overview import ACROSS
from seqcap.report import wording
from seqcap.report.summary import RESULTS, Claim, Summary
from seqcap.report.verdicts import COUNTED, NOT_RUN, decided

_TRUTHS = (own_runs.TRUTH, "all_true")  # metrics of what a checker knows


def on_data(report: Reported, data: str, of: Mapping[str, Any]) -> Finding | None:
    """How the comparisons that decide claims here came out on other data. `of`: what is compared, by how it came out
    (`first_page`)."""
    number = len(of["compared"])
    if not number:
        return None
    answer = _of_one(of) if number == 1 else _of_several(of)
    caveat = [_how_alike(of) if number > 1 else "", _turned(report, data, of), _turned_details(of)]
    caveat += [_ungrammatical(report, data), _counted_there(report, data), _decided_there_alone(report, data)]
    caveat += [_lacking_there(report, data), _of_unknown_words(report, data), "[More](#on-other-data)."]
    only = " (sentences, not pictures)" if report.has_only_sentences(data) else ""
    return Finding(f"{data}{only}", answer, " ".join(filter(None, caveat)))


def _of_one(of: Mapping[str, Any]) -> str:
    ways = {
        "goes the same way there": _agree(of),
        "goes the other way there": of["turned"],
        "cannot be told, here or there": _silent(of),
    }
    way = next(said for said, count in ways.items() if count)
    return f"the one comparison that decides a claim here {way}{', against print' * _against_print(of)}"


def _of_several(of: Mapping[str, Any]) -> str:
    agree, silent = _agree(of), _silent(of)
    parts = [f"{agree or 'none'} {_has(agree)} the same sign there, by both intervals, whatever q"]
    parts.append(f"{of['turned'] or 'none'} the opposite one")
    if silent:
        parts.append(f"{silent} {_is(silent)} open (an interval has 0 in it, here, there or both)")
    return f"of {len(of['compared'])} comparisons that decide claims and controls here, {', '.join(parts)}"


def _agree(of: Mapping[str, Any]) -> int:
    return len(of["alike"]) + len(of["divided"])


def _silent(of: Mapping[str, Any]) -> int:
    return len(of["one_sided"]) + len(of["neither"])


def _against_print(of: Mapping[str, Any]) -> int:
    return len(of["alike"]) - int(of["as_claimed"])


def _how_alike(of: Mapping[str, Any]) -> str:
    kinds = {"smaller there (in points)": of["smaller"], "against print": _against_print(of)}
    told = [f"{count} {_is(count)} {kind}" for kind, count in kinds.items() if count]
    return f"Of those with the same sign {'; '.join(told)}." if told else ""


def _turned(report: Reported, data: str, of: Mapping[str, Any]) -> str:
    """The deciding comparisons with the opposite sign, and how their claims fared there."""
    told = [
        f"{_there(pair)}{_judged(report, paper, pair, data)}, here {numbers(pair.here)}"
        for paper, pair in of["opposite"]
        if pair.here.key == pair.claim.deciding.key
    ]
    return f"Opposite: {'; '.join(told)}." if told else ""


def _turned_details(of: Mapping[str, Any]) -> str:
    """How many details of claims have opposite signs; "" of a single one. The table has them."""
    details = [pair for _, pair in of["opposite"] if pair.here.key != pair.claim.deciding.key]
    return f"{len(details)} of the claims' details have the opposite sign there." if len(details) > 1 else ""


def _ungrammatical(report: Reported, data: str) -> str:
    """Objectives there of whose best captions many have a fault, beside those of cross-entropy."""
    shares, likelihood = dict[str, float](), list[float]()
    for paper, there in report.published[data].items():
        folder, label_of = report.folder_of(paper, data), own_runs.labels(there)
        for run, measured in (wording.read(folder / RESULTS) if folder else {}).items():
            share = measured.get(wording.FAULTY)
            if share is not None and run in there.said.get("likelihood", []):
                likelihood.append(share)
            elif share is not None and run in label_of and share > wording.MANY:
                shares[label_of[run]] = share
    if not shares or not likelihood:
        return ""
    named = ", ".join(f"{label} {share:.1f}" for label, share in sorted(shares.items(), key=lambda item: -item[1]))
    ends = " to ".join(dict.fromkeys(f"{end:.1f}" for end in (min(likelihood), max(likelihood))))
    usual = f"cross-entropy's {ends}, people's {wording.BY_PEOPLE:.0f}"
    return f"Often ungrammatical there, in a hundred best captions: {named}; {usual}."


def _counted_there(report: Reported, data: str) -> str:
    """How the claims of each paper fared on other data, where today's rule judges several there; and which papers an
    older one does."""
    papers = report.published[data].values()
    todays = {str(there.said["label"]): _run(there) for there in papers if not there.rule}
    older = [str(there.said["label"]) for there in papers if there.rule]
    told = [f"{label}, of {len(claims)} claims, {fared(claims)}" for label, claims in todays.items() if claims]
    parts = [f"By today's rule there: {'; '.join(told)}."] if len(told) > 1 else []
    parts += [f"{' and '.join(older)} {_is(len(older))} judged by an older rule there."] if told and older else []
    return " ".join(parts)


def _decided_there_alone(report: Reported, data: str) -> str:
    """Claims that are decided on other data, and here otherwise or not: by today's rule."""
    told = dict[str, list[str]]()
    for paper, claim in report.claims():
        there = report.elsewhere(paper, claim).get(data)
        verdict = decided(there.words.rpartition(WHOLE)[2]) if there and not there.rule else ""
        if verdict not in ("", claim.verdict) and not claim.control:
            told.setdefault(verdict, []).append(link(paper, claim))
    parts = [f"{', '.join(names)} {COUNTED[verdict][len(names) > 1]}" for verdict, names in told.items()]
    return f"Other verdicts there than here: {'; '.join(parts)}." if parts else ""


def _run(there: Summary) -> list[Claim]:
    return [claim for claim in there.claims if not claim.control and claim.verdict != NOT_RUN]


def _of_unknown_words(report: Reported, data: str) -> str:
    """Which results there have captions with unknown words."""
    folders = {paper: report.folder_of(paper, data) for paper in report.published[data]}
    found = {paper: unknown_words.in_words(folder) for paper, folder in folders.items() if folder}
    told = [f"of {report.published[data][paper].said['label']}'s {words}" for paper, words in found.items() if words]
    return f"There {'; '.join(told)}." if told else ""


def _there(pair: Pair) -> str:
    """A claim with its number on other data, and whether that is for it."""
    way = "for it" if pair.there.side == pair.there.sign else "against it"
    return f"*{pair.claim.sentence}* ({pair.there.metric} {numbers(pair.there)}, {way})"


def _judged(report: Reported, paper: str, pair: Pair, data: str) -> str:
    """ "; the claim *holds* there"."""
    there = report.elsewhere(paper, pair.claim).get(data)
    return f"; the claim *{there.words.rpartition(WHOLE)[2]}* there" if there else ""


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _has(number: int) -> str:
    return "has" if number < 2 else "have"


def _lacking_there(report: Reported, data: str) -> str:
    """What other data lack of what is known here; "" where that is nothing."""
    papers = report.published[data].items()
    pairs = [(report.papers[paper], there) for paper, there in papers if paper in report.papers]
    is_truth_known = any(
        here.measures(truth) and not there.measures(truth) for here, there in pairs for truth in _TRUTHS
    )
    told = ["a checker of truth"] if is_truth_known else []
    if of_papers := report.without_another_judge(data):
        told.append(f"for {' and '.join(of_papers)} a judge of another kind than what pays")
    if told and ACROSS not in report.published[data]:
        told.append("the table of all objectives, so that picks are of scenes alone")
    return f"Lacking there: {'; '.join(told)}." if told else ""
