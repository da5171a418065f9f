"""What *In short* says of how results were made: minutes of training, processors, commits and days."""

from collections.abc import Sequence

from seqcap.first_page.all_papers import Reported
from seqcap.first_page.asides import minutes_of_updates
from seqcap.first_page.finding import Finding
from seqcap.first_page.outcomes import capital
from seqcap.first_page.overview import ACROSS, Overview
from seqcap.report import provenance
from seqcap.report.summary import Summary


def of_cost(report: Reported, rows: Overview | None) -> Finding | None:
    """Minutes of training: of a seed in the table of all objectives and in the papers' own runs, and of all runs
    together."""
    budget = rows.budget if rows else ""
    alike = f"each seed of an objective on one captioner has {budget} of a core, a budget that ranks nothing"
    alike += _of_updates(report, rows) if rows else ""
    together = _together(report)
    of_each = "; ".join(filter(None, [alike if budget else "", _of_seeds(report)]))
    if not of_each and not together:
        return None
    where = "[Of each objective](#all-objectives-on-one-captioner); " if budget else ""
    where += "[of each paper](#where-this-comes-from), whose details have each run's"
    caveat = f"Not in these: {_of_starts(report)}. {where}."
    return Finding("Cost", of_each or together, caveat, f"{capital(together)}." if of_each and together else "")


def _of_starts(report: Reported) -> str:
    """What runs start from, and is not in their minutes: of the table of all objectives with what it took."""
    across = report.papers.get(ACROSS)
    minutes = across.provenance.get("minutes_of_starts", {}) if across else {}
    return "the common start, and retrievers" + (
        f" ({sum(minutes.values()):.1f} minutes for all seeds)" * bool(minutes)
    )


def _of_updates(report: Reported, rows: Overview) -> str:
    """ "; 1,000 updates take 0.1 (MIXER-BCMR) to 4.8 (PG-SPIDEr) minutes": in the table of all objectives."""
    minutes = minutes_of_updates(report.folder / ACROSS, report.papers[ACROSS].provenance["minutes"])
    per_thousand = {row.label: minutes[row.run] for row in rows.rows if row.run in minutes}
    if len(per_thousand) < 2:
        return ""
    ends = (min(per_thousand, key=per_thousand.__getitem__), max(per_thousand, key=per_thousand.__getitem__))
    return f"; 1,000 updates take {' to '.join(f'{per_thousand[label]:.1f} ({label})' for label in ends)} minutes"


def _of_seeds(report: Reported) -> str:
    """ "a seed in the papers' own runs took 0.3 to 15.2 minutes": on a core."""
    across = report.papers.get(ACROSS)
    results = [summary for summary in _results(report).values() if summary is not across and not _is_of_gpu(summary)]
    minutes = [taken for summary in results for taken in summary.provenance["minutes"].values()]
    if not minutes:
        return ""
    return f"a seed in the papers' own runs took {min(minutes):.1f} to {max(minutes):.1f} minutes"


def _is_of_gpu(summary: Summary) -> bool:
    return "; " in provenance.in_words(summary.provenance)["processor"]


def _together(report: Reported) -> str:
    """The minutes of all results by cores of which they are known; "" of a single one."""
    of_cores = [summary for summary in _results(report).values() if not _is_of_gpu(summary)]
    known = [summary.provenance for summary in of_cores if summary.provenance["minutes_of_training"]]
    if len(known) < 2:
        return ""
    minutes = sum(of["minutes_of_training"] for of in known)
    on_gpus = {
        label: provenance.minutes_of_training(summary.provenance)
        for label, summary in _results(report).items()
        if _is_of_gpu(summary)
    }
    apart = "".join(f"; {label} {taken} on a GPU" for label, taken in on_gpus.items() if taken)
    least = "at least " * any(provenance.minutes_of_training(of).endswith("more") for of in known)
    lacking = " (of some results it is not recorded)" if len(known) < len(of_cores) else ""
    return f"all runs and seeds by cores together took {least}{minutes:,.0f} minutes{lacking}{apart}"


def of_origin(report: Reported) -> Finding | None:
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
        return None
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    unknown = _unrecorded(report)
    lacking = f"Not recorded: {unknown}. " if unknown else ""
    where = "; ".join([_either(list(processors)), *trained])
    number = f"{len(commits)} commit{'s' * (len(commits) != 1)}"
    across = report.papers.get(ACROSS)
    table = f"The table of all objectives: `{across.provenance['commit']}`. " if across else ""
    answer = f"on {where}; {dates}, {number}"
    return Finding("Made", answer, f"{table}{lacking}[Each](#where-this-comes-from).")


def _unrecorded(report: Reported) -> str:
    """The results of which no commit is known."""
    told = [str(summary.said["label"]) for summary in report.papers.values() if not summary.provenance["commit"]]
    for data, papers in report.published.items():
        unknown = [str(summary.said["label"]) for summary in papers.values() if not summary.provenance["commit"]]
        if unknown:
            told.append(f"on {data} {', '.join(unknown)}" if len(unknown) < len(papers) else data)
    return "; ".join(told)


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
    results |= {report.named_study(study, str(study.said["label"])): study for study in report.studies.values()}
    for data, papers in report.published.items():
        results |= {f"{summary.said['label']} on {data}": summary for summary in papers.values()}
        again = report.again[data].values()
        results |= {f"{summary.said['label']} on {data} (again)": summary for summary in again}
    return results
