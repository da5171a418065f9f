"""The first page in ten answers or so: what a reader in a hurry would ask of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.report.advice import DISTINCT_AND_TRUE, Advice, advice
from seqcap.report.all_papers import Reported
from seqcap.report.asides import Asides, often_ungrammatical
from seqcap.report.finding import Finding
from seqcap.report.in_short_elsewhere import on_data
from seqcap.report.in_short_origin import of_cost, of_origin
from seqcap.report.in_short_smoothing import of_smoothing
from seqcap.report.learnt import learnt
from seqcap.report.main_claims import MainClaim
from seqcap.report.outcomes import capital
from seqcap.report.overview import DIVERSITY, MORE_CIDER, SAMPLES, Overview
from seqcap.report.uses import truest_judged, ungrammatical_in_own_runs
from seqcap.report.verdicts import HOLDS, LESS, NOT_RUN, REVERSED


def in_short(
    report: Reported,
    main: Sequence[MainClaim],
    rows: Overview | None,
    on_other_data: Mapping[str, Mapping[str, Any]],
    asides: Asides,
) -> list[Finding]:
    """What is found on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_to_pick(rows, asides, truest_judged(report, rows) if rows else "")]
    told += learnt(rows, asides, ungrammatical_in_own_runs(report)) if rows else []
    told += [of_smoothing(report, main), _of_outcomes(report)]
    told += [on_data(report, data, of, main) for data, of in on_other_data.items()]
    told += [of_cost(report, rows), of_origin(report)]
    return [finding for finding in told if finding]


def _to_pick(rows: Overview | None, asides: Asides, truest: str = "") -> Finding | None:
    """What to take for each use, and in what it is clearly behind cross-entropy. `truest`: what is most often true of
    own runs that a judge judged."""
    if rows is None:
        return None
    told, known = list[str](), dict[tuple[str, ...], str]()
    for row in advice(rows, ungrammatical=often_ungrammatical(rows.objectives, asides)):
        names = ", ".join(filter(None, [row.take.replace("*", ""), row.tied]))
        # Each list of columns once.
        is_known = row.costs in known
        worse = f"as {known[row.costs]}" if is_known else _columns(row.costs)
        costs = [f"behind in: {worse}"] if row.costs else []
        known.setdefault(row.costs, row.first)
        costs += [f"ungrammatical in a hundred: {row.ungrammatical}"] if row.ungrammatical else []
        but = f"; {'; '.join(costs)}" if costs else ""
        beside = f"; {truest}" if truest and row.use == DISTINCT_AND_TRUE else ""
        told.append(f"{capital(row.use)}: {names}{but}{_grammatical(row)}{_over_temperatures(rows, row)}{beside}.")
    if not told:
        return None
    answer = "for each use the leader with its equals, and in what the leader is behind cross-entropy"
    return Finding("To pick", answer, f"[With numbers](#what-to-use-when).{_listed(told)}")


def _grammatical(row: Advice) -> str:
    """What to take where what leads is often ungrammatical, and what that costs."""
    if not row.next:
        return ""
    costs = "the same" if set(row.next_costs) == set(row.costs) else _columns(row.next_costs)
    return f"; grammatical: {row.next}" + (f" (behind in: {costs})" if row.next_costs else "")


def _columns(names: Sequence[str]) -> str:
    return ", ".join(name.replace(", ", " of ") for name in names)


def _over_temperatures(rows: Overview, row: Advice) -> str:
    """What samples have over the cheapest rival, cross-entropy at the temperature that makes its own as diverse."""
    found = next((of for of in rows.objectives if of.label == row.first), None)
    if row.column not in (SAMPLES, DIVERSITY) or found is None or MORE_CIDER not in found.levels:
        return ""
    gain = f"{found.levels[MORE_CIDER].value:+.1f}"
    rival = "cross-entropy's at the temperature that makes them as diverse"
    return f"; {rows.beside_likelihood(found, SAMPLES)}, {gain} over {rival}"


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
    beside = "[What does](#claims); [what is reversed or without effect](#what-did-not-reproduce)"
    beside += f", and what may explain most of it:{_listed(explained)}" if explained else "."
    return Finding("What holds", f"of the papers' claims, {', '.join(held)}", beside)


def _listed(parts: Sequence[str]) -> str:
    return "".join(f"\n  - {part}" for part in parts)
