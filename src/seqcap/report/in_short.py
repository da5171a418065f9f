"""The first page in ten sentences or so: what a reader in a hurry would ask of it."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqcap.report import own_runs, provenance
from seqcap.report.advice import advice
from seqcap.report.all_papers import Reported, link
from seqcap.report.asides import Asides
from seqcap.report.learnt import learnt
from seqcap.report.main_claims import MainClaim
from seqcap.report.outcomes import fared, numbers, shortly
from seqcap.report.overview import ACROSS, CIDER, WORSE, Overview
from seqcap.report.summary import Claim, Line, Summary
from seqcap.report.verdicts import HOLDS, IN_PART, LESS, REVERSED, read

_SMOOTHING = "smoothing"  # the paper
_TRUTHS = ("true_of_own", "all_true")  # metrics of what a checker knows
_MUCH_SMALLER = 0.5  # times what a difference is here
_MOST = 0.5  # of a difference by a beam, from which what greedy captions lack of it is most of it
# Its claims that ask the same of another captioner or task, and of which.
_ELSEWHERE = {
    "L6b": "With attention, Tok-Seq",
    "L7": "In translation to French, BLEU of Tok",
    "L8": "Of Seq",
    "L9a": "Of Tok-Seq",
    "L9b": "From German, of Tok-Seq",
}
# The claims that a kind of smoothing beats likelihood, beside which the main one stands.
_KINDS = ("L1", "L3")
_LOSSES = ("across_tok", "across_seq", "across_tok_seq")  # its rows of the table of all objectives
_GERMAN = ("de_en_seq_bleu4_batch", "de_en_mle")  # the comparison that L8 is of, from German
_GAINS = "tables/sizes_gains.csv"  # of a study of data size
_WEAKER = "_quarter"  # ends the names of its runs that are a quarter as strong


def in_short(
    report: Reported,
    main: Sequence[MainClaim],
    rows: Overview | None,
    on_other_data: Mapping[str, Mapping[str, Any]],
    asides: Asides,
) -> list[str]:
    """Sentences on each question, without those of which nothing is known. `rows`: the table of all objectives."""
    told = [_to_pick(rows)]
    told += learnt(rows, asides) if rows else []
    told += [_of_smoothing(report, main, rows), _of_studies(report), _of_outcomes(report)]
    told += [_on_other_data(report, data, of) for data, of in on_other_data.items()]
    told += [_of_cost(report, rows), _of_origin(report)]
    return [sentence for sentence in told if sentence]


def _to_pick(rows: Overview | None) -> str:
    """What to take for each use, and what it clearly costs, each thing once."""
    told, known = [], set[str]()
    for row in advice(rows) if rows else []:
        said = f"{row.use}: {row.take.replace('*', '')}"
        costs = [part for part in row.otherwise.split("; ") if WORSE in part and part not in known]
        known |= set(costs)
        said += f" (but {', '.join(costs)})" if costs else ""
        told.append(said + (f"; not told apart: {row.tied}" if row.tied else ""))
    return f"**To pick** ([more](#what-to-use-when)). {_capital('. '.join(map(_capital, told)))}." if told else ""


def _of_smoothing(report: Reported, main: Sequence[MainClaim], rows: Overview | None) -> str:
    """What its paper's own runs say, and the table of all objectives."""
    told = []
    for of in main:
        if of.paper == _SMOOTHING:
            line, summary = of.claim.deciding, report.papers[of.paper]
            kinds = [claim for claim in summary.claims if claim.id in _KINDS and claim.deciding.difference]
            alike = [*(claim for claim in kinds if _is_compared_alike(claim.deciding, line)), of.claim]
            pairs = [(claim.deciding.sides.partition(" against ")[0], numbers(claim.deciding)) for claim in alike]
            compared = [f"{loss} {difference}" for loss, difference in pairs]
            what, against = line.what.partition(": ")[0], line.sides.partition(" against ")[2]
            told.append(f"Of its paper's claims {fared(summary.claims)}.{_helps(alike)}")
            begin = f"In our runs, {shortly(what)}, against {against}"
            told.append(f"{begin}: {', '.join(compared)}, *{of.claim.words}*{_by_greedy(of.claim)}.")
            told += [_otherwise(alike), _of_weaker_runs(summary), *_asked_elsewhere(summary), _on_one_captioner(rows)]
            told.append("Other strengths are the paper's or its authors' code's; none was chosen on these data.")
    return f"**Smoothing.** {' '.join(filter(None, told))}" if told else ""


def _helps(claims: Sequence[Claim]) -> str:
    """The answer to whether smoothing helps, where its kinds have one."""
    verdicts = {claim.verdict for claim in claims}
    if verdicts == {REVERSED}:
        told = "it harms"
    elif verdicts == {HOLDS}:
        told = "it helps"
    elif HOLDS not in verdicts:
        told = "no kind of it is shown to help"
    else:
        return ""
    return f" At the paper's strength {told} captions without attention, by CIDEr."


def _otherwise(claims: Sequence[Claim]) -> str:
    """What the comparisons that decide claims by CIDEr are by BLEU-4, and by captions that a beam ranks per token."""
    by_what = {"By BLEU-4": ("BLEU4", "beam"), "By captions ranked by log p / length": ("CIDEr", "per token, all")}
    told = []
    for words, (metric, captions) in by_what.items():
        found = [_the_same(claim, metric, captions) for claim in claims]
        differences = [f"{_loss(line)} {numbers(line)}" for line in found if line is not None]
        told += [f"{words}: {', '.join(differences)}"] if differences else []
    return f"{'. '.join(told)} (details)." if told else ""


def _the_same(claim: Claim, metric: str, captions: str) -> Line | None:
    """The comparison of the runs that decide a claim by another measure; None where it has it not."""
    paper, _, _, *runs = claim.deciding.key
    key = (paper, metric, captions, *runs)
    return next((line for line in claim.lines if line.key == key and line.difference), None)


def _loss(line: Line) -> str:
    """What is compared with likelihood, without what it samples by."""
    return line.sides.partition(" against ")[0].partition(" | ")[0]


def _of_weaker_runs(summary: Summary) -> str:
    """What runs a quarter as strong say of the same comparisons."""
    lines = [line for claim in summary.claims for line in claim.lines if line.difference and _is_weaker(line)]
    if not lines:
        return ""
    seeds = min(number for line in lines for number in line.seeds)
    return f"A quarter as strong (details of {seeds} seeds, added later, without a verdict), {_by_side(lines)}."


def _is_weaker(line: Line) -> bool:
    return line.key[2] == "beam" and line.key[3].endswith(_WEAKER)


def _by_side(lines: Sequence[Line]) -> str:
    """ "behind is Tok-Seq -14.6 [-22.3, -6.9], not told apart from MLE Tok -0.9 [-3.9, 2.0]"."""
    words = {1: "ahead is", -1: "behind is", 0: "not told apart from MLE"}
    parts = []
    for side, said in words.items():
        told = [f"{line.sides.partition(', ')[0]} {numbers(line)}" for line in lines if line.side == side]
        parts += [f"{said} {', '.join(told)}"] if told else []
    return ", ".join(parts)


def _asked_elsewhere(summary: Summary) -> list[str]:
    """What the claims of other captioners or tasks say."""
    others = [claim for claim in summary.claims if claim.id in _ELSEWHERE and claim.deciding.difference]
    return [
        f"{_ELSEWHERE[claim.id]}: {numbers(claim.deciding)}, *{read(claim.verdict)}* ({link(_SMOOTHING, claim)}"
        f"{', changed after a result was seen' * claim.changed}{_from_german(claim)})."
        for claim in others
    ]


def _from_german(claim: Claim) -> str:
    """What the same loss gains in the other translation, where a claim of one language has it as a detail."""
    line = next((line for line in claim.lines if line.key[3:5] == _GERMAN and line.difference), None)
    if line is None or claim.deciding.key[3:5] == _GERMAN or claim.verdict != HOLDS:
        return ""
    seeds = "one seed" if min(line.seeds) == 1 else f"{min(line.seeds)} seeds"
    return f"; from German {numbers(line)}, {seeds}"


def _on_one_captioner(rows: Overview | None) -> str:
    """What the table of all objectives says of its losses, which start from likelihood there."""
    found = [row for row in rows.objectives if row.run in _LOSSES and CIDER in row.levels] if rows else []
    if rows is None or not found:
        return ""
    told = ", ".join(f"{row.label} {rows.beside_likelihood(row, CIDER).removeprefix(f'{CIDER} ')}" for row in found)
    return f"After cross-entropy, in [the table of all objectives](#all-objectives-on-one-captioner), {CIDER}: {told}."


def _is_compared_alike(line: Line, other: Line) -> bool:
    """Whether two comparisons differ in their left sides alone."""
    of_what, of_other = (compared.what.partition(": ")[0] for compared in (line, other))
    return of_what == of_other and line.key[1:3] == other.key[1:3] and line.key[4:] == other.key[4:]


def _by_greedy(claim: Claim) -> str:
    """ " (greedy -1.2 [-2.3, -0.1]: most is the beam's)": what is left of a difference where no beam is searched."""
    line, greedy = claim.deciding, own_runs.by_greedy(claim)
    if greedy is None:
        return ""
    left = float(greedy.difference) / float(line.difference) if float(line.difference) else 1.0
    of_beam = ": most is the beam's here" if left < _MOST else ""
    return f" (greedy {numbers(greedy)}{of_beam})"


def _of_studies(report: Reported) -> str:
    """What studies of ours say of each of their questions."""
    told = []
    for folder, summary in report.studies.items():
        page, title = report.page(folder), report.named_study(summary, summary.said["title"])
        lines = [(claim, claim.deciding) for claim in summary.claims]
        claims = [
            f"*{_capital(claim.words)}*: {claim.sentence} ({line.metric} {numbers(line)})" for claim, line in lines
        ]
        most = _with_most_data(folder)
        told.append(f"**{f'[{title}]({page})' if page else title}.** {'; '.join(claims)}.{most}")
    return " ".join(told)


def _with_most_data(folder: Path) -> str:
    """What each loss gains over likelihood with the most training images, by a study of data size; "" of another."""
    path = folder / _GAINS
    if not path.is_file():
        return ""
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["block"].startswith("a beam") and line["ours"]]
    sizes = list(dict.fromkeys(line["column"] for line in lines if line["column"].endswith(" images")))
    if not sizes:
        return ""
    gains = [
        f"{line['row']} {line['ours']} [{line['ours_low']}, {line['ours_high']}]"
        for line in lines
        if line["column"] == sizes[-1]
    ]
    return (
        f" With {sizes[-1]}, the most (updates are equal, so that epochs are few, and smoothed losses learn slowly): "
        f"{', '.join(gains)}."
    )


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


def _on_other_data(report: Reported, data: str, of: Mapping[str, Any]) -> str:
    """How the comparisons that decide claims here came out on other data."""
    agree, silent = len(of["alike"]) + len(of["divided"]), len(of["one_sided"]) + len(of["neither"])
    if not of["compared"]:
        return ""
    against = len(of["alike"]) - of["as_claimed"]
    only = " (sentences, not pictures)" if _has_only_sentences(report, data) else ""
    number = len(of["compared"])
    if number == 1:
        ways = {
            "goes the same way there": agree,
            "goes the other way there": of["turned"],
            "cannot be told there": silent,
        }
        way = next(said for said, count in ways.items() if count)
        told = f"**{data}**{only}. The one comparison that decides a claim here {way}{', against print' * against}"
    else:
        kinds = {"smaller": of["smaller"], "against print": against}
        how = ", ".join(f"{count} of them {kind}" for kind, count in kinds.items() if count)
        alike = f"{agree or 'none'} {'has' if agree < 2 else 'have'} the same sign there by intervals"
        parts = [alike + (f" ({how})" if how else ""), f"{of['turned'] or 'none'} the other"]
        parts += [f"{silent} cannot be told there"] if silent else []
        told = f"**{data}**{only}. Of {number} comparisons that decide claims here, {', '.join(parts)}"
    told += f" ([more](#on-other-data)).{_much_smaller(of)}{_of_details(report, of)}{_of_a_single_one(of)}"
    return f"{told} {_lacking_there(report, data)}".rstrip()


def _much_smaller(of: Mapping[str, Any]) -> str:
    """The comparisons that go the same way on other data, and are less than half as large there."""
    told = [
        f"{link(paper, pair.claim)} {pair.there.difference} there, {pair.here.difference} here"
        for paper, pair in of["alike"]
        if abs(float(pair.there.difference)) < _MUCH_SMALLER * abs(float(pair.here.difference))
    ]
    return f" Less than half: {'; '.join(told)}." if told else ""


def _of_a_single_one(of: Mapping[str, Any]) -> str:
    """The numbers of the one comparison that decides a claim here, where it goes the same way there."""
    if len(of["compared"]) > 1 or not of["alike"]:
        return ""
    (_, pair), *_ = of["alike"]
    return f" {shortly(pair.here.what)}: {numbers(pair.here)}; there {numbers(pair.there)}."


def _of_details(report: Reported, of: Mapping[str, Any]) -> str:
    """Which details of claims have the other sign on other data, of each quantity the first."""
    decide = {pair.here.key for _, pair in of["compared"]}
    found = dict[tuple[str, str], str]()
    for paper, pair in of["opposite"]:
        here = pair.here
        if here.key not in decide:
            sides = f": {here.sides}" if here.sides and here.sides not in here.what else ""
            numbers_of_both = f"{numbers(here)} here, {numbers(pair.there)} there"
            found.setdefault((paper, here.metric), f"{shortly(here.what)}{sides} {numbers_of_both}")
    return f" Of details the other way: {'; '.join(found.values())}." if found else ""


def _lacking_there(report: Reported, data: str) -> str:
    """What other data lack of what is known here; "" where that is nothing."""
    papers = report.published[data].items()
    pairs = [(report.papers[paper], there) for paper, there in papers if paper in report.papers]
    judged = any(here.measures(truth) and not there.measures(truth) for here, there in pairs for truth in _TRUTHS)
    told = ["checker of truth"] if judged else []
    told += ["independent judge"] if report.has_another_judge(data) else []
    told += ["table of all objectives"] if told and ACROSS not in report.published[data] else []
    todays = [str(there.said["label"]) for _, there in papers if not there.rule]
    by_rule = (
        f" Of its papers all but {', '.join(todays)} are of an older rule." if 0 < len(todays) < len(papers) else ""
    )
    return f"There is no {', no '.join(told)}.{by_rule}" if told else by_rule.strip()


def _has_only_sentences(report: Reported, data: str) -> bool:
    tasks = [task for summary in report.published[data].values() for task in summary.provenance["data"]]
    return bool(tasks) and all(task["kind"] == "sentences" for task in tasks)


def _of_cost(report: Reported, rows: Overview | None) -> str:
    """Minutes of training: of a seed in the table of all objectives, and of all runs together."""
    parts = [f"each seed of an objective on one captioner, by design, {rows.budget}"] if rows and rows.budget else []
    parts += [of_seeds] if (of_seeds := _of_seeds(report)) else []
    told = []
    for label, summary in _results(report).items():
        minutes = provenance.minutes_of_training(summary.provenance)
        told += [f"{label} {minutes}{' on a GPU' * _is_of_gpu(summary)}"] if minutes else []
    if told:
        parts.append(f"all runs and seeds, in minutes: {', '.join(told)}{_together(report)}")
    return f"**Cost**, of one core, without the common start: {'; '.join(parts)}." if parts else ""


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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
