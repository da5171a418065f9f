"""The first page in ten answers or so: what a reader in a hurry would ask of it. Numbers stand further down."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seqcap.first_page.advice import DISTINCT_AND_TRUE, Advice, advice
from seqcap.first_page.all_papers import Reported
from seqcap.first_page.asides import Asides
from seqcap.first_page.finding import Finding
from seqcap.first_page.in_short_elsewhere import on_data
from seqcap.first_page.in_short_origin import of_cost, of_origin
from seqcap.first_page.in_short_smoothing import of_smoothing
from seqcap.first_page.learnt import learnt
from seqcap.first_page.main_claims import MainClaim
from seqcap.first_page.outcomes import capital
from seqcap.first_page.overview import DISTINCT, DIVERSITY, SAMPLES, TWIN, Overview
from seqcap.first_page.uses import nearest_judged
from seqcap.report.summary import Claim, Summary
from seqcap.report.verdicts import HOLDS, IN_PART, LESS, NOT_RUN, REVERSED, decided
from seqcap.report.wording import MANY

_FAILED = {REVERSED: "reversed", LESS: "not found as printed"}


def in_short(
    report: Reported,
    main: Sequence[MainClaim],
    rows: Overview | None,
    on_other_data: Mapping[str, Mapping[str, Any]],
    asides: Asides,
) -> list[Finding]:
    """What is found on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_to_pick(rows, asides, nearest_judged(report, rows) if rows else "")]
    told += learnt(rows, asides) if rows else []
    told += [of_smoothing(report, main, rows), _of_what_holds(report), _of_what_failed(report)]
    told += [on_data(report, data, of) for data, of in on_other_data.items()]
    told += [of_cost(report, rows), of_origin(report)]
    return [finding for finding in told if finding]


def _to_pick(rows: Overview | None, asides: Asides, nearest: str = "") -> Finding | None:
    """What to take for each use. `nearest`: what comes near to captions that are distinctive and true, of own runs."""
    if rows is None:
        return None
    told = [_named(row, nearest, is_worded=bool(asides.two_verbs)) for row in advice(rows, asides)]
    if not told:
        return None
    answer = "for each use what leads, and what is not told apart from it"
    return Finding("To pick", answer, f"[What each costs](#what-to-use-when).{_listed(told)}")


def _named(row: Advice, nearest: str, *, is_worded: bool) -> str:
    """ "One caption with the highest CIDEr: A, B; often ungrammatical, in a hundred: A 30.0; with at most 10: C"."""
    names = ", ".join(filter(None, [row.take.replace("*", ""), row.tied]))
    other = f"; with at most {MANY:.0f}: {row.next}" if row.next else ""
    often = f"; often ungrammatical, in a hundred: {row.ungrammatical}{other}" if row.ungrammatical else ""
    # It is counted of the best caption of a beam alone.
    unknown = "; not known whether these are grammatical" if is_worded and row.column == SAMPLES else ""
    price = f"; {row.otherwise.partition('; ')[0]}" if row.column in (DISTINCT, TWIN, SAMPLES) and row.leading else ""
    gain = f" ({row.gains}; {row.otherwise.partition('; ')[0]})" if row.column == DIVERSITY else ""
    beside = f" {nearest}" if nearest and row.use == DISTINCT_AND_TRUE else ""
    return f"{capital(row.use)}: {names}{gain}{often}{price}{unknown}.{beside}"


def _of_what_holds(report: Reported) -> Finding | None:
    """How many of each paper's claims hold."""
    held = [
        f"{summary.said['label']} {sum(claim.verdict == HOLDS for claim in claims)} of {len(claims)}"
        for _, summary, claims in _judged(report)
    ]
    answer = f"of the papers' claims, {', '.join(held)}"
    return Finding("What holds", answer, "[Which](#claims).") if held else None


def _of_what_failed(report: Reported) -> Finding | None:
    """Which claims of each paper are reversed or not found as printed, and what may explain most of them."""
    counts, told = Counter[str](), []
    for paper, summary, claims in _judged(report):
        failed = {words: [claim for claim in claims if claim.verdict == verdict] for verdict, words in _FAILED.items()}
        counts.update({words: len(of) for words, of in failed.items()})
        briefly = {words: [_briefly(report, paper, claim) for claim in of] for words, of in failed.items() if of}
        which = "; ".join(f"{words}: {', '.join(of)}" for words, of in briefly.items())
        known = summary.said["finding"].get("failing", "") if report.on_generated else ""
        told += [f"{summary.said['label']}, {which}.{f' Why, perhaps: {known}.' * bool(known)}"] if which else []
    if not told:
        return None
    answer = " and ".join(f"{count} {words}" for words, count in counts.items() if count)
    where = "[Each](#what-did-not-reproduce), and by paper what may explain most of it:"
    return Finding("What failed", f"of the papers' claims, {answer}", f"{where}{_listed(told)}")


def _briefly(report: Reported, paper: str, claim: Claim) -> str:
    """With where it holds."""
    there = report.elsewhere(paper, claim)
    held = [f", holds on {data}" for data, of in there.items() if decided(of.words) == HOLDS and not of.rule]
    return f"*{claim.sentence}* ({claim.id}{', in part' * (IN_PART in claim.words)}{''.join(held)})"


def _judged(report: Reported) -> Iterator[tuple[str, Summary, list[Claim]]]:
    """The papers that today's rule judges, with their claims that were run."""
    for paper, summary in report.papers.items():
        claims = [claim for claim in summary.claims if not claim.control and claim.verdict != NOT_RUN]
        if claims and not summary.rule:
            yield paper, summary, claims


def _listed(parts: Sequence[str]) -> str:
    return "".join(f"\n  - {part}" for part in parts)
