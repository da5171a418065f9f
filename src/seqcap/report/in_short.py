"""The first page in ten sentences or so: what a reader in a hurry would ask of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.report.advice import advice
from seqcap.report.all_papers import Reported
from seqcap.report.asides import Asides, often_ungrammatical
from seqcap.report.in_short_elsewhere import on_data
from seqcap.report.in_short_origin import of_cost, of_origin
from seqcap.report.in_short_smoothing import of_smoothing, of_studies
from seqcap.report.learnt import learnt
from seqcap.report.main_claims import MainClaim
from seqcap.report.outcomes import capital
from seqcap.report.overview import WORSE, Overview
from seqcap.report.summary import Claim, Line
from seqcap.report.verdicts import HOLDS, IN_PART, LESS, REVERSED


def in_short(
    report: Reported,
    main: Sequence[MainClaim],
    rows: Overview | None,
    on_other_data: Mapping[str, Mapping[str, Any]],
    asides: Asides,
) -> list[str]:
    """Sentences on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_to_pick(rows, asides)]
    told += learnt(rows, asides) if rows else []
    told += [of_smoothing(report, main, rows), of_studies(report), _of_outcomes(report)]
    told += [on_data(report, data, of) for data, of in on_other_data.items()]
    told += [of_cost(report, rows), of_origin(report)]
    return [sentence for sentence in told if sentence]


def _to_pick(rows: Overview | None, asides: Asides) -> str:
    """What to take for each use, and what it clearly costs, each thing once."""
    told, known = [], set[str]()
    for row in advice(rows, ungrammatical=often_ungrammatical(rows.objectives, asides)) if rows else []:
        said = f"{row.use}: {row.take.replace('*', '')}"
        costs = [part for part in row.otherwise.split("; ") if WORSE in part and part not in known]
        costs += [row.ungrammatical] if row.ungrammatical else []
        known |= set(costs)
        said += f" (but {', '.join(costs)})" if costs else ""
        told.append(said + (f"; not told apart: {row.tied}" if row.tied else ""))
    return f"**To pick** ([more](#what-to-use-when)). {capital('. '.join(map(capital, told)))}." if told else ""


def _of_outcomes(report: Reported) -> str:
    """Which of each paper's claims hold, which are reversed or without effect, and what may explain most of these."""
    parts, explained = [], False
    for summary in report.papers.values():
        claims = [claim for claim in summary.claims if not claim.control]
        told = _which(claims)
        if told and not summary.rule:
            is_failing = any(claim.verdict in (REVERSED, LESS) for claim in claims)
            known = summary.said["finding"].get("failing", "") if report.on_generated and is_failing else ""
            explained |= bool(known)
            parts.append(f"{summary.said['label']}, of {len(claims)}: {told}{f' ({known})' if known else ''}.")
    if not parts:
        return ""
    what = ", in brackets what may explain most that is reversed or without effect" if explained else ""
    told = "".join(f"\n  - {part}" for part in parts)
    return f"**What reproduced, and [what did not](#what-did-not-reproduce)**{what}:{told}"


def _which(claims: Sequence[Claim]) -> str:
    """The claims that hold, those that are reversed, and those without effect."""
    parts = []
    for said, verdict in {"hold": HOLDS, "reversed": REVERSED, "no effect": LESS}.items():
        found = [claim for claim in claims if claim.verdict == verdict]
        named = [f"*{claim.sentence}*{_in_part(claim)}" for claim in found]
        parts += [f"{said} {', '.join(named)}"] if named else []
    return "; ".join(parts)


def _in_part(claim: Claim) -> str:
    """ " (in part: BLEU-4; CIDEr, ROUGE-L hold)": which of several comparisons have its verdict, and which hold."""
    if IN_PART not in claim.words:
        return ""
    due = [line for line in claim.primary if line.verdict == claim.verdict]
    held = [line for line in claim.primary if line.verdict == HOLDS]
    by_metric = len({line.metric for line in claim.primary}) > 1
    told = f"in {len(due)} of {len(claim.primary)}"
    if by_metric:
        told += f": {_metrics(due)}" + (f"; {_metrics(held)} hold{'s' * (len(held) == 1)}" if held else "")
    return f" ({told})"


def _metrics(lines: Sequence[Line]) -> str:
    return ", ".join(dict.fromkeys(line.metric for line in lines))
