"""What *In short* says of how results were made: minutes of training, processors, commits and days."""

from collections.abc import Sequence

from seqcap.report import provenance
from seqcap.report.all_papers import Reported
from seqcap.report.overview import ACROSS, Overview
from seqcap.report.summary import Summary


def of_cost(report: Reported, rows: Overview | None) -> str:
    """Minutes of training: of a seed in the table of all objectives, and of all runs together."""
    parts = [f"each seed of an objective on one captioner, by design, {rows.budget}"] if rows and rows.budget else []
    parts += [of_seeds] if (of_seeds := _of_seeds(report)) else []
    told = []
    for label, summary in _results(report).items():
        minutes = provenance.minutes_of_training(summary.provenance)
        told += [f"{label} {minutes}{' on a GPU' * _is_of_gpu(summary)}"] if minutes else []
    if told:
        parts.append(f"all runs and seeds, in minutes: {', '.join(told)}{_together(report)}")
    return (
        f"**Cost**, of one core, without the common start, whose minutes are not recorded: {'; '.join(parts)}."
        if parts
        else ""
    )


def _of_seeds(report: Reported) -> str:
    """ "in the papers' own runs 0.3 (PSST: ST) to 15.2 (SPIDEr: PG-SPIDEr)": what a seed of theirs took."""
    minutes = {
        f"{summary.said['label']}: {label}": taken
        for paper, summary in report.papers.items()
        if paper != ACROSS
        for label, taken in summary.provenance["minutes"].items()
    }
    if not minutes:
        return ""
    ends = (min(minutes, key=minutes.__getitem__), max(minutes, key=minutes.__getitem__))
    return "in the papers' own runs " + " to ".join(f"{minutes[name]:.1f} ({name})" for name in ends)


def _is_of_gpu(summary: Summary) -> bool:
    return "; " in provenance.in_words(summary.provenance)["processor"]


def _together(report: Reported) -> str:
    """The minutes of all results by cores of which they are known; "" of a single one."""
    of_cores = [summary for summary in _results(report).values() if not _is_of_gpu(summary)]
    known = [summary.provenance for summary in of_cores if summary.provenance["minutes_of_training"]]
    if len(known) < 2:
        return ""
    minutes = sum(of["minutes_of_training"] for of in known)
    least = "at least " * any(provenance.minutes_of_training(of).endswith("more") for of in known)
    lacking = "; of some results it is not recorded" if len(known) < len(of_cores) else ""
    return f"; by cores together {least}{minutes:,.0f}{lacking}"


def of_origin(report: Reported) -> str:
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
    unknown = _unrecorded(report)
    lacking = f" (not recorded: {unknown})" if unknown else ""
    where = "; ".join([_either(list(processors)), *trained])
    number = f"{len(commits)} commit{'s' * (len(commits) != 1)}"
    across = report.papers.get(ACROSS)
    table = f" (the table of all objectives: `{across.provenance['commit']}`)" if across else ""
    return f"**Made** on {where}; {dates}, {number}{table}{lacking} ([each](#where-this-comes-from))."


def _unrecorded(report: Reported) -> str:
    """The results of which no commit is known."""
    told = [str(summary.said["label"]) for summary in report.papers.values() if not summary.provenance["commit"]]
    for data, papers in report.published.items():
        known = [str(summary.said["label"]) for summary in papers.values() if summary.provenance["commit"]]
        if len(known) < len(papers):
            told.append(f"papers on {data} but for {', '.join(known)}" if known else data)
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
    return results
