"""The first page in ten answers or so: what a reader in a hurry would ask of it. Numbers stand further down."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.report.advice import Advice, advice
from seqcap.report.all_papers import Reported
from seqcap.report.asides import Asides, often_ungrammatical
from seqcap.report.finding import Finding
from seqcap.report.in_short_elsewhere import on_data
from seqcap.report.in_short_origin import of_cost, of_origin
from seqcap.report.in_short_smoothing import of_smoothing
from seqcap.report.learnt import learnt
from seqcap.report.main_claims import MainClaim
from seqcap.report.outcomes import capital
from seqcap.report.overview import Overview
from seqcap.report.uses import ungrammatical_in_own_runs
from seqcap.report.verdicts import HOLDS, LESS, NOT_RUN, REVERSED


def in_short(
    report: Reported,
    main: Sequence[MainClaim],
    rows: Overview | None,
    on_other_data: Mapping[str, Mapping[str, Any]],
    asides: Asides,
) -> list[Finding]:
    """What is found on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_to_pick(rows, asides)]
    told += learnt(rows, asides, ungrammatical_in_own_runs(report)) if rows else []
    told += [of_smoothing(report, main), _of_outcomes(report)]
    told += [on_data(report, data, of, main) for data, of in on_other_data.items()]
    told += [of_cost(report, rows), of_origin(report)]
    return [finding for finding in told if finding]


def _to_pick(rows: Overview | None, asides: Asides) -> Finding | None:
    """What to take for each use."""
    if rows is None:
        return None
    told = [_named(row) for row in advice(rows, ungrammatical=often_ungrammatical(rows.objectives, asides))]
    if not told:
        return None
    answer = "for each use what leads, and what is not told apart from it"
    return Finding("To pick", answer, f"[What each costs](#what-to-use-when).{_listed(told)}")


def _named(row: Advice) -> str:
    """ "One caption with the highest CIDEr: A, B (often ungrammatical: A; else C)"."""
    names = ", ".join(filter(None, [row.take.replace("*", ""), row.tied]))
    other = f"; else {row.next}" if row.next else ""
    often = f" (often ungrammatical, in a hundred: {row.ungrammatical}{other})" if row.ungrammatical else ""
    return f"{capital(row.use)}: {names}{often}."


def _of_outcomes(report: Reported) -> Finding | None:
    """How many of each paper's claims hold, and what may explain most of those that are reversed or without effect."""
    held, explained = [], []
    for summary in report.papers.values():
        claims = [claim for claim in summary.claims if not claim.control and claim.verdict != NOT_RUN]
        if claims and not summary.rule:
            label = summary.said["label"]
            held.append(f"{label} {sum(claim.verdict == HOLDS for claim in claims)} of {len(claims)}")
            failing = [claim for claim in claims if claim.verdict in (REVERSED, LESS)]
            known = summary.said["finding"].get("failing", "") if report.on_generated and failing else ""
            explained += [f"{label} ({', '.join(claim.id for claim in failing)}): {known}."] if known else []
    if not held:
        return None
    where = "[What does](#claims); [what is reversed or without effect](#what-did-not-reproduce)."
    details = f"What may explain most of what is reversed or without effect:{_listed(explained)}" if explained else ""
    return Finding("What holds", f"of the papers' claims, {', '.join(held)}", where, details)


def _listed(parts: Sequence[str]) -> str:
    return "".join(f"\n  - {part}" for part in parts)
