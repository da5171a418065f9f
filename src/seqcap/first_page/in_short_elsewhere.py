"""What *In short* says of other data: how the comparisons that decide claims here came out there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.first_page import own_runs, unknown_words
from seqcap.first_page.all_papers import Reported
from seqcap.first_page.elsewhere import WHOLE, Pair
from seqcap.first_page.finding import Finding
from seqcap.first_page.outcomes import numbers
from seqcap.first_page.overview import ACROSS, CIDER, DIVERSITY, SAMPLES, Overview
from seqcap.report import wording
from seqcap.report.summary import RESULTS, Claim
from seqcap.report.verdicts import COUNTED, DECIDED, NOT_RUN

_OWN = " (own listener)"  # finds what the judge does not confirm


def on_data(report: Reported, data: str, of: Mapping[str, Any]) -> Finding | None:
    """How the comparisons that decide claims here came out on other data. `of`: what is compared, by how it came out
    (`first_page`)."""
    number = len(of["compared"])
    if not number:
        return None
    answer = _of_one(report, data, of) if number == 1 else _of_several(of)
    several = [_counted_there(report, data), _fared_there(report, data)]
    caveat = [*(several if number > 1 else []), _beside_likelihood(report, data)]
    caveat += [_turned(report, data, of), _on_one_captioner(report, data), _ungrammatical(report, data)]
    caveat += [_lacking_there(report, data), _of_unknown_words(report, data), "[More](#on-other-data)."]
    only = " (sentences, not pictures)" if report.has_only_sentences(data) else ""
    return Finding(f"{data}{only}", answer, " ".join(filter(None, caveat)))


def _of_one(report: Reported, data: str, of: Mapping[str, Any]) -> str:
    ways = {
        "goes the same way there": of["alike"],
        "goes the other way there": of["turned"],
        "cannot be told, here or there": of["compared"],
    }
    way = next(said for said, found in ways.items() if found)
    ((paper, pair),) = of["compared"]
    there = next((claim for claim in report.published[data][paper].claims if claim.id == pair.claim.id), None)
    claims = {"here": pair.claim, "there": there}
    rising = " and ".join(where for where, claim in claims.items() if claim and claim.rising)
    against = ", against print" * bool(of["against"])
    still_rose = f"; a run of it still rose {rising}" if rising else ""
    return f"the one comparison that decides a claim here {way}{against}{still_rose}"


def _of_several(of: Mapping[str, Any]) -> str:
    number, alike, turned = (len(of[key]) for key in ("compared", "alike", "turned"))
    parts = [f"{alike or 'none'} {'has' if alike < 2 else 'have'} the same sign there, by both intervals"]
    parts[0] += f" (against print: {of['against']})" * bool(of["against"])
    parts.append(f"{turned or 'none'} the opposite one{f' ({named})' if (named := of['turned_claims']) else ''}")
    if silent := number - alike - turned:
        parts.append(f"{silent} {_is(silent)} open")
    return f"of {number} comparisons that claims here rest on, {', '.join(parts)}"


def _counted_there(report: Reported, data: str) -> str:
    """How many claims were run there, and how they fared."""
    counts = sum((summary.counts(control=False) for summary in report.published[data].values()), Counter[str]())
    told = [f"{counts[verdict]} {COUNTED[verdict][counts[verdict] > 1]}" for verdict in DECIDED if counts[verdict]]
    run = counts.total() - counts[NOT_RUN]
    still_open = run - sum(counts[verdict] for verdict in DECIDED)
    return f"Of {run} claims that were run there {', '.join(told)}, {still_open} {_is(still_open)} undecided."


def _fared_there(report: Reported, data: str) -> str:
    """How the claims fared there, by their verdict here: both by today's rule. Of those that are undecided here, which
    are decided there."""
    told = []
    for verdict in (*DECIDED, ""):
        claims = [(paper, claim) for paper, claim in _todays_claims(report) if _decided(claim) == verdict]
        named = dict[str, list[str]]()
        for paper, claim in claims:
            there = _verdict_there(report, data, paper, claim)
            named.setdefault(there, []).append(claim.id + _OWN * bool(report.unconfirmed(paper, claim, data)))
        if verdict and named.keys() - {NOT_RUN}:
            how = COUNTED[verdict][len(claims) > 1]
            number = f"{len(claims)} claim{'s' * (len(claims) > 1)}"
            told.append(f"Of the {number} that {how} here {_listed(named, verdict)}.")
        elif not verdict and named.keys() & set(DECIDED):
            told.append(f"Decided there alone: {_listed({name: named[name] for name in DECIDED if name in named})}.")
    return " ".join(told)


def _todays_claims(report: Reported) -> list[tuple[str, Claim]]:
    claims = [(paper, claim) for paper, claim in report.claims() if not report.papers[paper].rule]
    return [(paper, claim) for paper, claim in claims if not claim.control and claim.verdict != NOT_RUN]


def _decided(claim: Claim) -> str:
    """The verdict on a claim here, if it decides; else ""."""
    return claim.verdict if claim.verdict in DECIDED else ""


def _verdict_there(report: Reported, data: str, paper: str, claim: Claim) -> str:
    """The verdict on a paper's claim on other data, by today's rule; not run where there is none."""
    there = report.claim_on(data, paper, claim.id)
    return there.verdict if there else NOT_RUN


def _listed(named: Mapping[str, Sequence[str]], here: str = "") -> str:
    """ "C1, C2 also there, S4c is not found as printed": claims by their verdict there, those that were run. `here`:
    their verdict here."""
    parts = []
    for verdict, words in COUNTED.items():
        names = named.get(verdict, [])
        if names and verdict != NOT_RUN:
            parts.append(f"{', '.join(names)} {'also there' if verdict == here else words[len(names) > 1]}")
    return ", ".join(parts)


def _beside_likelihood(report: Reported, data: str) -> str:
    """How many objectives raise the CIDEr of the best caption over cross-entropy of as many updates, there and here."""
    compared = own_runs.cider_against_likelihood(report.papers)
    pairs = [(line, own_runs.on_other_data(line, report.published[data])) for _, _, line in compared]
    both = [(here, there) for here, there in pairs if there]
    if not both:
        return ""
    raising, lowering = (
        ", ".join(here.sides.partition(" against ")[0] for here, there in both if there.side == side)
        for side in (1, -1)
    )
    told = f"{raising or 'none'} of the {len(both)} compared raise the best caption's CIDEr there"
    told += f", {lowering} lower it" * bool(lowering)
    of_here = sum(here.side == 1 for here, _ in both)
    return f"Over cross-entropy of as many updates {told}; here {of_here} raise it ([numbers](#the-same-in-own-runs))."


def _turned(report: Reported, data: str, of: Mapping[str, Any]) -> str:
    """The comparisons that decide a claim with the opposite sign there, and how their claims fared there."""
    told = [
        f"{_there(pair)}{_judged(report, paper, pair, data)}, here {numbers(pair.here)}"
        for paper, pair in of["turned"]
        if pair.here.key == pair.claim.deciding.key
    ]
    return f"Opposite: {'; '.join(told)}." if told else ""


def _on_one_captioner(report: Reported, data: str) -> str:
    """What is clearly better than cross-entropy in the table of all objectives there. What is behind may not have had
    the time."""
    folder = report.folder_of(ACROSS, data)
    path = folder / "tables" / f"{ACROSS}.csv" if folder else None
    rows = Overview.read(path) if path and path.is_file() else None
    base = rows.baseline if rows else None
    if rows is None or base is None:
        return ""
    told = []
    for column in (name for name in (CIDER, SAMPLES, DIVERSITY, rows.distinct) if name in base.levels):
        known = [row for row in rows.objectives if column in row.levels]
        better = [f"{row.label} {row.levels[column].value:.1f}" for row in known if rows.is_ahead(row, base, column)]
        told.append(f"{column} ({base.levels[column].value:.1f}) {', '.join(better) or 'none'}")
    page = report.page_of(ACROSS, data)
    where = f"[one captioner]({page})" if page else "one captioner"
    taken = report.published[data][ACROSS].provenance["minutes"]
    minutes = [taken[row.run] for row in rows.objectives if row.run in taken]
    within = f", within {min(minutes):.0f} to {max(minutes):.0f} minutes of training" if minutes else ""
    what = f"On {where} there{within}, clearly above cross-entropy trained further (in brackets)"
    return f"{what}: {'; '.join(told)}."


def _ungrammatical(report: Reported, data: str) -> str:
    """Objectives there of whose best captions many have a fault, beside those of cross-entropy."""
    shares, likelihood = dict[str, float](), list[float]()
    # The table of all objectives has runs of cross-entropy's form that are none, at other temperatures.
    papers = {paper: there for paper, there in report.published[data].items() if paper != ACROSS}
    for paper, there in papers.items():
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
    return f"In own runs there, captions with a plain fault, in a hundred: {named}; {usual}."


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


def _lacking_there(report: Reported, data: str) -> str:
    """What other data lack of what is known here; "" where that is nothing."""
    papers = report.published[data].items()
    pairs = [(report.papers[paper], there) for paper, there in papers if paper in report.papers]
    is_truth_known = any(
        here.measures(truth) and not there.measures(truth) for here, there in pairs for truth in own_runs.TRUTHS
    )
    told = ["a checker of truth"] if is_truth_known else []
    if of_papers := report.without_another_judge(data):
        told.append(f"for {' and '.join(of_papers)} a judge of another kind than what pays")
    if told and ACROSS not in report.published[data]:
        told.append("the table of all objectives, so that picks are of scenes alone")
    return f"Lacking there: {'; '.join(told)}." if told else ""
