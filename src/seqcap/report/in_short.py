"""The first page in ten sentences or so: what a reader in a hurry would ask of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap.report import own_runs, provenance
from seqcap.report.advice import advice
from seqcap.report.all_papers import Reported
from seqcap.report.learnt import learnt
from seqcap.report.main_claims import MainClaim, of_another_captioner
from seqcap.report.outcomes import numbers, shortly
from seqcap.report.overview import WORSE, Overview
from seqcap.report.summary import Summary
from seqcap.report.verdicts import DECIDED, HOLDS, LESS, REVERSED, read

_SMOOTHING = "smoothing"  # the paper
_TRUTHS = ("true_of_own", "all_true")  # metrics of what a checker knows
_WHY = "[why, as far as known](#what-did-not-reproduce)"


def in_short(
    report: Reported, main: Sequence[MainClaim], rows: Overview | None, on_other_data: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Sentences on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_to_pick(rows), _of_main_claims(report, main)]
    told += learnt(rows) if rows else []
    told += [_of_smoothing(report, main), _of_studies(report), _of_failures(report)]
    told += [_on_other_data(report, data, of) for data, of in on_other_data.items()]
    told += [_of_cost(report, rows), _of_origin(report)]
    return [sentence for sentence in told if sentence]


def _to_pick(rows: Overview | None) -> str:
    """What to take for each use, and what it clearly costs, each thing once."""
    told, known = [], set[str]()
    for row in advice(rows) if rows else []:
        costs = [part for part in row.otherwise.split("; ") if WORSE in part and part not in known]
        known |= set(costs) if row.take.startswith("*") else set()
        but = f" (but {', '.join(costs)})" if costs and row.take.startswith("*") else ""
        told.append(f"{row.use}: {row.take.replace('*', '')}{but}")
    return f"**To pick** ([more](#what-to-use-when)). {_capital('. '.join(map(_capital, told)))}." if told else ""


def _of_main_claims(report: Reported, main: Sequence[MainClaim]) -> str:
    """The main claims by what became of them: those that hold, with who finds so; the others with their numbers."""
    groups = dict[str, list[str]]()
    for of in main:
        said = f"{report.papers[of.paper].said['label']}'s"
        verdict = read(of.claim.verdict) if of.claim.verdict in DECIDED else "undecided"
        if verdict == HOLDS:
            # It is one sentence of a paper, and others may fail.
            said += f" *{of.sentence.rstrip('.')}*" + (f" ({of.by_whom})" if of.by_whom else "")
        elif of.claim.deciding.difference:
            said += f" ({of.claim.deciding.metric} {numbers(of.claim.deciding)})"
        groups.setdefault(verdict, []).append(said)
    order = [*(read(verdict) for verdict in DECIDED), "undecided"]
    told = [f"{_capital(verdict)}: {'; '.join(groups[verdict])}." for verdict in order if verdict in groups]
    return f"**Main claims.** {' '.join(told)}" if told else ""


def _of_smoothing(report: Reported, main: Sequence[MainClaim]) -> str:
    """What its paper's own runs say."""
    told = []
    for of in main:
        if of.paper == _SMOOTHING:
            line, greedy = of.claim.deciding, own_runs.by_greedy(of.claim)
            said = f"In the paper's own runs, at print's strengths, {shortly(line.what)}, {numbers(line)}"
            told.append(f"{said} (greedy {numbers(greedy)})." if greedy else f"{said}.")
            told += of_another_captioner(report.papers[of.paper], of.paper, of.claim)
    if not told:
        return ""
    return f"**Smoothing.** {' '.join(told)} Its strength was not tuned on these data."


def _of_studies(report: Reported) -> str:
    """What studies of ours say of each of their questions."""
    told = []
    for folder, summary in report.studies.items():
        page, title = report.page(folder), summary.said["title"]
        claims = [f"{claim.sentence}? *{_capital(claim.words)}*: {numbers(claim.deciding)}" for claim in summary.claims]
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


def _on_other_data(report: Reported, data: str, of: Mapping[str, Any]) -> str:
    """How the comparisons that decide claims here came out on other data."""
    agree, silent = len(of["alike"]) + len(of["divided"]), len(of["one_sided"]) + len(of["neither"])
    if not of["compared"]:
        return ""
    parts = [f"{agree} agree{'s' * (agree == 1)} ({of['smaller']} with a smaller difference)"] if agree else []
    parts.append(f"{of['turned'] or 'none'} disagree{'s' * (of['turned'] < 2)}")
    parts += [f"{silent} cannot be told"] if silent else []
    details = len(of["opposite"]) - of["turned"]
    parts += [f"{details} detail{'s' * (details > 1)} of claims disagree{'s' * (details == 1)}"] if details else []
    only = " (sentences, not pictures)" if _has_only_sentences(report, data) else ""
    told = f"**{data}**{only}. Of the comparisons that decide here, there {', '.join(parts)} ([more](#on-other-data))."
    return f"{told} {_unlike_here(report, data)}".rstrip()


def _unlike_here(report: Reported, data: str) -> str:
    """What other data lack of what the claims here are judged by; "" where that is nothing."""
    papers = report.published[data].items()
    pairs = [(report.papers[paper], there) for paper, there in papers if paper in report.papers]
    lacks = any(here.measures(truth) and not there.measures(truth) for here, there in pairs for truth in _TRUTHS)
    told = ["nothing there knows what is true"] if lacks else []
    told += ["the judge is of the kind that pays"] if report.has_another_judge(data) else []
    return f"{_capital('; '.join(told))}." if told else ""


def _has_only_sentences(report: Reported, data: str) -> bool:
    tasks = [task for summary in report.published[data].values() for task in summary.provenance["data"]]
    return bool(tasks) and all(task["kind"] == "sentences" for task in tasks)


def _of_cost(report: Reported, rows: Overview | None) -> str:
    """Minutes of training: of a seed in the table of all objectives, and of all runs together."""
    parts = [f"each seed of an objective on one captioner {rows.budget}"] if rows and rows.budget else []
    taken = {label: provenance.minutes_of_training(summary.provenance) for label, summary in _results(report).items()}
    told = [f"{label} {minutes}" for label, minutes in taken.items() if minutes]
    if told:
        parts.append(f"all runs, in minutes: {', '.join(told)}")
    return f"**Cost**, of one core or a shared GPU, without what all start from: {'; '.join(parts)}." if parts else ""


def _of_origin(report: Reported) -> str:
    """Processors, commits and days; and what was trained elsewhere."""
    processors, trained = dict[str, None](), []
    results = _results(report)
    for label, summary in results.items():
        processor, _, elsewhere = provenance.in_words(summary.provenance)["processor"].partition("; ")
        if processor != provenance.NOT_RECORDED:
            processors[processor] = None
        if elsewhere:
            trained.append(f"{label} {elsewhere}")
    origins = [summary.provenance for summary in results.values()]
    commits = {origin["commit"] for origin in origins if origin["commit"]}
    days = sorted(origin["day"] for origin in origins if origin["day"])
    if not processors or not days:
        return ""
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    lacking = " (of some results not recorded)" if any(origin["commit"] is None for origin in origins) else ""
    where = "; ".join([_either(list(processors)), *trained])
    number = f"{len(commits)} commit{'s' * (len(commits) != 1)}"
    return f"**Made** on {where}; {dates}, {number}{lacking} ([each](#where-this-comes-from))."


def _either(processors: Sequence[str]) -> str:
    """ "A or B, 2 cores": processors, and once what all of them have after their name."""
    ends = {processor.partition(", ")[2] for processor in processors}
    if len(ends) > 1:
        return " or ".join(processors)
    names = " or ".join(processor.partition(", ")[0] for processor in processors)
    return ", ".join(filter(None, [names, *ends]))


def _results(report: Reported) -> dict[str, Summary]:
    """All results that the page has, by name."""
    results = {str(summary.said["label"]): summary for summary in report.papers.values()}
    results |= {str(summary.said["label"]): summary for summary in report.studies.values()}
    for data, papers in report.published.items():
        results |= {f"{summary.said['label']} on {data}": summary for summary in papers.values()}
    return results


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
