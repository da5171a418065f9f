"""The first page in ten sentences or so: what a reader in a hurry would ask of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.report import own_runs, provenance
from seqcap.report.all_papers import Reported
from seqcap.report.learnt import learnt, of_smoothing
from seqcap.report.main_claims import MainClaim, of_another_captioner
from seqcap.report.outcomes import numbers, shortly
from seqcap.report.overview import Overview
from seqcap.report.verdicts import DECIDED, LESS, REVERSED, read

_SMOOTHING = "smoothing"  # the paper
_WHY = "[why, as far as known](#what-did-not-reproduce)"


def in_short(
    report: Reported, main: Sequence[MainClaim], rows: Overview | None, on_other_data: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Sentences on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_of_main_claims(report, main)]
    told += learnt(rows) if rows else []
    told += [_of_smoothing(report, main, rows), _of_studies(report), _of_failures(report)]
    told += [_on_other_data(data, of) for data, of in on_other_data.items()]
    told += [_of_cost(report, rows), _of_origin(report)]
    return [sentence for sentence in told if sentence]


def _of_main_claims(report: Reported, main: Sequence[MainClaim]) -> str:
    """Papers by what became of their main claims: those that hold, with who finds so, those that do not, the rest."""
    groups = dict[str, list[str]]()
    for of in main:
        label = f"{report.papers[of.paper].said['label']}'s"
        if of.claim.verdict in DECIDED:
            groups.setdefault(read(of.claim.verdict), []).append(label + (f" ({of.by_whom})" if of.by_whom else ""))
        else:
            groups.setdefault("undecided", []).append(label)
    order = [*(read(verdict) for verdict in DECIDED), "undecided"]
    told = [f"{verdict}: {', '.join(groups[verdict])}" for verdict in order if verdict in groups]
    return f"**Main claims.** {_capital('; '.join(told))}." if told else ""


def _of_smoothing(report: Reported, main: Sequence[MainClaim], rows: Overview | None) -> str:
    """What its paper's own runs say, and what the table of all objectives says."""
    told = []
    for of in main:
        if of.paper == _SMOOTHING:
            line, greedy = of.claim.deciding, own_runs.by_greedy(of.claim)
            said = f"In the paper's own runs, at print's strengths, {shortly(line.what)}, {numbers(line)}"
            told.append(f"{said} (greedy {numbers(greedy)})." if greedy else f"{said}.")
            told += of_another_captioner(report.papers[of.paper], of.paper, of.claim)
    across = of_smoothing(rows) if rows else ""
    if across:
        told.append(f"In about equal time: {across}.")
    if not told:
        return ""
    return f"**Smoothing.** {' '.join(told)} Neither tells what it gains at strengths that are chosen for these data."


def _of_studies(report: Reported) -> str:
    """What studies of ours say of each of their questions."""
    told = []
    for folder, summary in report.studies.items():
        page, title = report.page(folder), summary.said["title"]
        claims = [f"{claim.sentence}: {numbers(claim.deciding)}, *{claim.words}*" for claim in summary.claims]
        told.append(f"**{f'[{title}]({page})' if page else title}.** {'; '.join(claims)}.")
    return " ".join(told)


def _of_failures(report: Reported) -> str:
    """How many of each paper's claims are reversed or without effect, and which."""
    parts = []
    for summary in report.papers.values():
        claims = [claim for claim in summary.claims if not claim.control]
        failed = [claim for claim in claims if claim.verdict in (REVERSED, LESS)]
        if failed and not summary.rule:
            names = ", ".join(claim.id for claim in failed)
            parts.append(f"{summary.said['label']} {len(failed)} of {len(claims)} ({names})")
    return f"**What did not reproduce.** Reversed or without effect: {'; '.join(parts)}; {_WHY}." if parts else ""


def _on_other_data(data: str, of: Mapping[str, Any]) -> str:
    """How the comparisons that decide claims here came out on other data."""
    agree, silent = len(of["alike"]) + len(of["divided"]), len(of["one_sided"]) + len(of["neither"])
    if not of["compared"]:
        return ""
    parts = [f"{agree} agree{'s' * (agree == 1)}, {of['smaller']} with a smaller difference there"] if agree else []
    parts.append(f"{of['turned'] or 'none'} disagree{'s' * (of['turned'] < 2)}")
    parts += [f"{silent} cannot be told: an interval holds 0 or is missing"] if silent else []
    return f"**{data}.** Comparisons that decide here, there: {'; '.join(parts)} ([more](#on-other-data))."


def _of_cost(report: Reported, rows: Overview | None) -> str:
    """Minutes of training: of a seed in the table of all objectives, and of all runs of each paper."""
    minutes = {
        str(summary.said["label"]): summary.provenance["minutes_of_training"]
        for summary in report.papers.values()
        if summary.claims and summary.provenance["minutes_of_training"]
    }
    parts = [f"for each seed of an objective on one captioner {rows.budget}"] if rows and rows.budget else []
    if minutes:
        taken = ", ".join(f"{label} {number:.0f}" for label, number in minutes.items())
        parts.append(f"all runs of a paper, in minutes: {taken}")
    return f"**Cost**, of one core, without what all start from: {'; '.join(parts)}." if parts else ""


def _of_origin(report: Reported) -> str:
    summaries = [*report.papers.values(), *report.studies.values()]
    summaries += [summary for papers in report.published.values() for summary in papers.values()]
    cells = [provenance.in_words(summary.provenance)["processor"] for summary in summaries]
    # A cell may name what trained beside the processor.
    known = dict.fromkeys(part for cell in cells if cell != provenance.NOT_RECORDED for part in cell.split("; "))
    return f"**Made on** {'; '.join(known)} ([commits, days, data](#where-this-comes-from))." if known else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
