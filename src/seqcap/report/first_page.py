"""The first page: what the papers claim and how it fares here. Its numbers are those of the papers' results and of the
table across papers; texts/first_page.md has its words."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqcap.files import json_file
from seqcap.report import REPORTS, provenance, texts
from seqcap.report.advice import advice
from seqcap.report.learnt import learnt
from seqcap.report.overview import (
    ACROSS,
    CIDER,
    DISTINCT,
    DIVERSITY,
    LITERAL,
    PRECISION,
    RECALL,
    SAMPLES,
    TRUTH,
    Overview,
)
from seqcap.report.reported import ReportConfig
from seqcap.report.summary import RESULTS, Claim, Line, Summary, foremost
from seqcap.report.verdicts import (
    DAGGER,
    DECIDED,
    FEW_SEEDS,
    HOLDS,
    LESS,
    NOT_RUN,
    REVERSED,
    UNDECIDABLE,
    UNSURE,
    UNTESTABLE,
)

EXAMPLE = "example.json"  # `seqcap.report.example` writes it; to import that takes seconds
# Columns that results of older code lack.
_WANTED = (DISTINCT, LITERAL, PRECISION, RECALL)
# Measures of claims: the judge's recall, a literal listener's, and truth. A judge is of another kind than what pays in
# results that have a twin of that, too.
_BY_JUDGE, _BY_TWIN, _LITERALLY, _TRUE = "fixed_R@10", "twin_R@10", "literal_R@10", "true_of_own"
# Use of the advice -> the claims that tell of it on other data.
_OF_USE = {
    CIDER: ("L6", "D1b", "D2b"),
    SAMPLES: ("C1", "C2"),
    DIVERSITY: ("L6",),
    DISTINCT: ("D3a", "D1a"),
    TRUTH: ("D12d",),
}
_SMOOTHING = ("L1", "L3", "L6")  # the claims that a kind of smoothing beats likelihood in captions

_NO_REASON = "No reason was found; tried: only what its page shows."

ByOutcome = dict[str, dict[tuple[str, str], list[Claim]]]  # paper -> verdict and reason -> claims


@dataclass(frozen=True)
class There:
    """The comparison that decides a claim, on the data of an experiment; `rule` as of `Summary`."""

    line: Line
    verdict: str  # of the claim, if the same comparisons decide it there
    words: str  # what is said of the claim there
    rule: str
    same: bool = True  # else the right side is another one


@dataclass(frozen=True)
class Reported:
    """What the first page is made of: the committed results of all papers."""

    config: ReportConfig
    folder: Path  # of the report
    papers: Mapping[str, Summary]  # those whose results are there
    published: Mapping[str, Mapping[str, Summary]]  # data -> paper -> what an experiment on it has published
    studies: Mapping[Path, Summary]  # folder -> what a study of ours has published
    faults: Sequence[str]  # why published data are left out
    probed: bool  # whether the features of generated images were probed

    def claims(self) -> Iterator[tuple[str, Claim]]:
        for paper, summary in self.papers.items():
            for claim in summary.claims:
                yield paper, claim

    def elsewhere(self, paper: str, claim: Claim) -> dict[str, There]:
        """Data -> the comparison there that decides a claim here, if it has a number."""
        found = {}
        for data, papers in self.published.items():
            there = (_same(claim, papers[paper]) or _nearest(claim, papers[paper])) if paper in papers else None
            if there:
                found[data] = there
        return found

    def shown(self, paper: str) -> list[Claim]:
        """The claims of a paper that this page shows (`foremost`), of those that were run."""
        summary = self.papers[paper]
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        return [claims[name] for name in foremost(summary.said["finding"], list(claims))]

    def shares_the_kind(self, data: str) -> bool:
        """Whether the judge of other data is of the kind that pays: these results have no twin beside it."""
        papers = self.published[data].values()
        return any(of.measures(_BY_JUDGE) for of in papers) and not any(of.measures(_BY_TWIN) for of in papers)

    def likelihood(self, paper: str) -> list[str]:
        """A paper's runs by cross-entropy alone."""
        return list(self.papers[paper].said.get("likelihood", []))

    def page_of(self, paper: str, data: str) -> str:
        """A paper's page on other data, relative to this report; "" where it is not in its folder."""
        return self.page(Path(self.config.beside[data], paper))

    def page(self, folder: Path) -> str:
        """The page in a folder of results, relative to this report; "" where it is not in its folder."""
        page = folder / "report.md"
        return page.relative_to(self.folder).as_posix() if page.is_relative_to(self.folder) else ""

    def shared(self, claims: Mapping[str, Sequence[Claim]]) -> list[str]:
        """The other data that some of the papers' claims have a number on."""
        its = [(paper, claim) for paper, of_paper in claims.items() for claim in of_paper]
        return [data for data in self.published if any(data in self.elsewhere(*pair) for pair in its)]

    def pages_on(self, data: str, papers: Collection[str]) -> str:
        """Some papers with results on other data, each with a link to its page there."""
        labels = {paper: str(self.published[data][paper].said["label"]) for paper in papers}
        pages = {paper: self.page_of(paper, data) for paper in labels}
        return ", ".join(f"[{label}]({pages[paper]})" if pages[paper] else label for paper, label in labels.items())

    @property
    def rising(self) -> int:
        """How many claims of today's rule use a run that was still rising."""
        return sum(DAGGER in claim.words and not claim.control for _, claim in self.claims())

    @property
    def is_of_this_checkout(self) -> bool:
        """Whether it is that of `seqcap repro`, and not that of a published experiment."""
        return self.folder == REPORTS

    @property
    def absent(self) -> list[str]:
        return [paper for paper in self.config.papers if paper not in self.papers]

    @property
    def datasets(self) -> str:
        return ", ".join(dict.fromkeys(data for summary in self.papers.values() for data in summary.said["datasets"]))

    @property
    def on_generated(self) -> str:
        """ " on generated scenes": what the title says of the data."""
        return f" on generated {' and '.join(self.datasets.split(', '))}" if self.generated else ""

    @property
    def generated(self) -> bool:
        """Whether all data are generated."""
        return set(self.datasets.split(", ")) <= {"scenes", "clips"}

    @property
    def scales(self) -> str:
        return ", ".join(dict.fromkeys(summary.provenance["scale"] for summary in self.papers.values()))

    @property
    def older(self) -> list[str]:
        """The labels of the papers whose claims are not counted."""
        return [summary.said["label"] for summary in self.papers.values() if summary.rule and summary.claims]

    @property
    def rules(self) -> dict[str, list[str]]:
        """Commit of an older rule -> what is judged by it."""
        found = dict[str, list[str]]()
        for summary in self.papers.values():
            if summary.rule and summary.claims:
                found.setdefault(summary.rule, []).append(str(summary.said["label"]))
        for data, papers in self.published.items():
            for rule in dict.fromkeys(summary.rule for summary in papers.values() if summary.rule):
                found.setdefault(rule, []).append(data)
        return found

    @property
    def counted(self) -> str:
        """ " of A, B": the papers whose claims are counted, where those of others are not."""
        labels = [summary.said["label"] for summary in self.papers.values() if summary.claims and not summary.rule]
        return f" of {', '.join(labels)}" if self.older else ""

    def total(self, *, control: bool, printed: bool | None = None) -> Counter[str]:
        """The verdicts on all papers' claims, or on our controls; of those alone that have a difference in print, or
        that have none."""
        counts = [summary.counts(control=control, printed=printed) for summary in self.papers.values()]
        return sum(counts, Counter[str]())

    def sizes(self, data: str) -> str:
        """ "2 training seeds, 1,000 test items" of the comparisons on other data."""
        lines = [line for summary in self.published[data].values() for claim in summary.claims for line in claim.lines]
        seeds = {number for line in lines for number in line.seeds}
        items = {line.items for line in lines if line.items}
        return f"{_span(seeds)} training seeds, {_span(items)} test items"


def _same(wanted: Claim, summary: Summary) -> There | None:
    """The deciding comparison of a claim: of the same claim, if the same comparisons decide it there; else where it
    decides a claim or, if it decides none there, as a detail of one."""
    key, primary = wanted.deciding.key, [line.key for line in wanted.primary]
    for claim in summary.claims:
        if [line.key for line in claim.primary] == primary:
            line = next(line for line in claim.primary if line.key == key)
            return There(line, claim.verdict, claim.words, summary.rule) if line.difference else None
    alike = [line for claim in summary.claims for line in claim.lines if line.key == key and line.difference]
    if not alike:
        return None
    line = next((line for line in alike if line.primary), alike[0])
    return There(line, "", line.verdict or "(a detail there)", summary.rule)


def _nearest(wanted: Claim, summary: Summary) -> There | None:
    """Where a claim is decided by another comparison: one of the same side by the same measure with another side."""
    tested = any(claim.id == wanted.id and claim.deciding.difference for claim in summary.claims)
    primary = [line for claim in summary.claims for line in claim.primary if line.difference]
    alike = [line for line in primary if line.key[1:4] == wanted.deciding.key[1:4]]
    if not (tested and alike):
        return None
    return There(alike[0], "", f"(against `{alike[0].key[4]}`)", summary.rule, same=False)


def first_page(report: Reported) -> str:
    """The page as markdown; links are relative to the folder of the report."""
    return texts.text(
        "first_page",
        report=report,
        link=_link,
        numbers=_numbers,
        **_example(report),
        **_across(report),
        **_findings(report),
        **_differing(report),
        **_became(report),
        **_limits(report),
        **_origins(report),
    )


def _example(report: Reported) -> dict[str, Any]:
    """A scene with captions of it: that of the table across papers or, without one, of the first paper that has one.
    `shares`: label -> how many of all captions are true, in a hundred, where a claim tells."""
    for paper in sorted(report.papers, key=lambda name: name != ACROSS):
        path = report.folder / paper / RESULTS / EXAMPLE
        if path.is_file():
            example = {"paper": paper, **json_file.read_json(path)}
            return {"example": example, "shares": _shares(report.papers[paper])}
    return {"example": None}


def _shares(summary: Summary) -> dict[str, str]:
    """Label -> the share of a run's true captions, of those that claims compare."""
    outcomes = [outcome for judged in summary.in_points.values() for outcome in judged.outcomes]
    sides = [side for of in outcomes if of.evidence.metric == _TRUE for side in of.given.sides]
    return {side.label: f"{side.value:.1f}" for side in sides}


def _across(report: Reported) -> dict[str, Any]:
    """What the table across papers says: its rows, what was learnt of it, what to use when, and its figure."""
    across = report.papers.get(ACROSS)
    found: dict[str, Any] = {"table": [], "picture": None, "advice": [], "of_objectives": [], "lacking": []}
    found["captioners"] = across.said.get("captioners", []) if across else []
    found["data_across"] = across.said["datasets"] if across else []
    path = report.folder / ACROSS / "tables" / f"{ACROSS}.csv"
    if across is None or not path.is_file():
        return found
    rows = Overview.read(path)
    if not rows.directions:
        return found
    figures = json_file.read_json(report.folder / ACROSS / "figures/figures.json")
    drawn = [{"name": name, **figures["figures"][name]} for name in figures["order"]]
    minutes = {run: f"{number:.1f}" for run, number in across.provenance["minutes"].items()}
    return found | {
        "table": rows.markdown({"minutes": minutes}),
        "picture": next((figure for figure in drawn if "missing" not in figure), None),
        "advice": advice(rows, _own_runs(report), _uses(report)),
        "of_objectives": learnt(rows, _independent(report)),
        "lacking": [name for name in _WANTED if not rows.has(name)],
        "has_judge": rows.has(DISTINCT),
    }


def _own_runs(report: Reported) -> str:
    """The comparisons by which the CIDEr of a paper's objective is shown to be above or below cross-entropy's, each
    with those of the same objective with other runs of cross-entropy; "" without any."""
    found: dict[str, list[str]] = {HOLDS: [], REVERSED: []}
    for paper, claim in report.claims():
        lines = [line for line in claim.lines if _is_of_quality(line, report.likelihood(paper))]
        # What is no worse may be lower: its interval has to be on one side of 0, too.
        for line in (line for line in lines if line.verdict in found and _sign(line)):
            way = HOLDS if _sign(line) > 0 else REVERSED
            beside = [of for of in lines if of.key[3] == line.key[3] and of is not line]
            others = "".join(f", against {of.sides.partition(' against ')[2]} {_numbers(of)}" for of in beside)
            found[way].append(f"{line.sides} {_numbers(line)}{others} ({_link(paper, claim)})")
    parts = [(found[HOLDS], "to beat it"), (found[REVERSED], "to be below it")]
    return "; ".join(f"shown {words}: {'; '.join(its)}" for its, words in parts if its)


def _is_of_quality(line: Line, likelihood: Collection[str]) -> bool:
    """Whether it compares the CIDEr of the best caption with a run of cross-entropy."""
    _, metric, decoder, _, right, base = line.key
    # What all captions of a beam have on average is another quality.
    return (
        (metric, decoder, base) == ("CIDEr", "beam", "")
        and "best beam" in line.what
        and right in likelihood
        and bool(line.difference)
    )


def _independent(report: Reported) -> dict[str, list[str]]:
    """Objective -> what the judge, a literal listener and the checker say of it against cross-entropy, in its paper's
    own runs."""
    found = dict[str, list[str]]()
    names = {_BY_JUDGE: "the judge's R@10", _LITERALLY: "a literal listener's R@10", _TRUE: "true captions"}
    for metric, name in names.items():
        for paper, claim in report.claims():
            line = claim.deciding
            known = metric != _BY_JUDGE or report.papers[paper].measures(_BY_TWIN)
            if line.key[1] == metric and known and line.difference and line.key[4] in report.likelihood(paper):
                words = f"{name} {_numbers(line)}, {claim.verdict} ({_link(paper, claim)})"
                found.setdefault(line.sides.partition(" against ")[0], []).append(words)
    return found


def _uses(report: Reported) -> dict[str, str]:
    """Use of the advice -> what other data say of it; and what claims of smoothing say, here and there."""
    by_id = {claim.id: (paper, claim) for paper, claim in report.claims()}
    found = {}
    for use, names in _OF_USE.items():
        its = [by_id[name] for name in names if name in by_id]
        told = [_told_on(report, data, its) for data in report.published]
        found[use] = " ".join(filter(None, told)) or ("*On other data:* not measured." if told else "")
    sure = []
    for paper, claim in (by_id[name] for name in _SMOOTHING if name in by_id):
        there = [f"; on {data} {_numbers(of.line)}" for data, of in report.elsewhere(paper, claim).items()]
        if claim.deciding.difference:
            sure.append(f"{_link(paper, claim)} {claim.sentence}: {_how_sure(claim.deciding)}{''.join(there)}")
    found["smoothing"] = ". ".join(sure)
    return found


def _told_on(report: Reported, data: str, claims: Sequence[tuple[str, Claim]]) -> str:
    """ "*On Flickr8k:* [C1](..) a beats b +25.2 [23.2, 27.1]." "" where the data tell of none of the claims."""
    told = []
    for paper, claim in claims:
        there = report.elsewhere(paper, claim).get(data)
        if there:
            words = "" if there.same else f" {there.words}"
            told.append(f"{_link(paper, claim)} {claim.sentence}: {_numbers(there.line)}{words}")
    return f"*On {data}:* {'; '.join(told)}." if told else ""


def _how_sure(line: Line) -> str:
    """ "-3.8 [-7.8, 0.5], 5 seeds; in print +6.33, outside the interval": a number, and whether the paper's is in its
    interval, without carrying it over; "" without a number."""
    if not line.difference:
        return ""
    seeds = " and ".join(map(str, line.seeds))
    words = f"{_numbers(line)}, {seeds} seeds" if seeds else _numbers(line)
    if line.printed:
        words += f"; in print {float(line.printed):+g}"
    if line.printed and line.low:
        inside = float(line.low) <= float(line.printed) <= float(line.high)
        words += ", inside the interval" if inside else ", outside the interval"
    return words


def _numbers(line: Line) -> str:
    """ "+5.5 [3.2, 7.7]"; "" without a number."""
    if not line.difference:
        return ""
    difference = f"{float(line.difference):+z.{len(line.difference.partition('.')[2])}f}"
    return f"{difference} [{line.low}, {line.high}]" if line.low else difference


def _link(paper: str, claim: Claim) -> str:
    return f"[{claim.id}]({paper}/report.md#{claim.id.lower()})"


def _findings(report: Reported) -> dict[str, Any]:
    """What each paper claims above all, here and on other data, with the controls of it that this page shows; and the
    papers whose claim was not run."""
    findings, left_out = [], []
    for paper, summary in report.papers.items():
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        if not summary.claims:
            continue
        finding = summary.said["finding"]
        claim = claims.get(finding["claim"])
        if claim is None:
            left_out.append(summary.said["label"])
            continue
        found = {"paper": paper, "sentence": finding["sentence"], "claim": claim, "sure": _how_sure(claim.deciding)}
        first = claim.primary[0]
        told = claim.verdict == HOLDS or first.key == claim.deciding.key or not first.difference
        found["first"] = "" if told else f"{first.what}, {first.sides}: {_how_sure(first)}"
        found["there"] = report.elsewhere(paper, claim)
        found["controls"] = [other for other in report.shown(paper) if other.control]
        findings.append(found)
    return {"findings": findings, "left_out": left_out}


def _differing(report: Reported) -> dict[str, Any]:
    """Claims that have a number here and on other data, by what their intervals say of the sign. `agreeing`: data -> of
    how many that both decide by today's rule the verdict is one. `covered`: data -> of how many of each paper's claims
    and controls there is a number."""
    alike, others = (dict[str, list[dict[str, Any]]]() for _ in range(2))
    decided, one, smaller = Counter[str](), Counter[str](), Counter[str]()
    covered = dict[str, list[str]]()
    for data, papers in report.published.items():
        for paper in (paper for paper in papers if paper in report.papers):
            summary = report.papers[paper]
            both = [(claim, report.elsewhere(paper, claim).get(data)) for claim in summary.claims]
            there = [(claim, of) for claim, of in both if of and of.same and claim.deciding.difference]
            run = sum(claim.verdict != NOT_RUN for claim in summary.claims)
            covered.setdefault(data, []).append(f"{summary.said['label']} {len(there)} of {run}")
            for claim, of in there:
                if not (summary.rule or of.rule) and claim.verdict in DECIDED and of.verdict in DECIDED:
                    decided[data] += 1
                    one[data] += claim.verdict == of.verdict
                words = _of_signs(claim.deciding, of.line, report.datasets, data)
                row = {"paper": paper, "claim": claim, "there": of, "words": words}
                (others if words else alike).setdefault(data, []).append(row)
                if not words:
                    smaller[data] += abs(float(of.line.difference)) < abs(float(claim.deciding.difference))
    agreeing = {data: f"{one[data]} of {number}" for data, number in decided.items()}
    return {"alike": alike, "smaller": smaller, "others": others, "covered": covered, "agreeing": agreeing}


def _of_signs(here: Line, there: Line, name: str, data: str) -> str:
    """Whose interval of one comparison holds 0, or that both are on opposite sides; "" where they are on one side."""
    signs = {name: _sign(here), data: _sign(there)}
    holding = [where for where, sign in signs.items() if not sign]
    if holding:
        return "both" if len(holding) == len(signs) else holding[0]
    return "" if signs[name] == signs[data] else "none, opposite signs"


def _sign(line: Line) -> int:
    """The sign of a difference; 0 where its interval is not on one side of 0."""
    low, high = (float(text) if text else 0.0 for text in (line.low, line.high))
    return (low > 0) - (high < 0)


def _span(numbers: Collection[int]) -> str:
    return " to ".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)})) if numbers else "no"


def _became(report: Reported) -> dict[str, Any]:
    """What became of the papers' claims: those that hold, those that are shown to be otherwise, those that are so but
    for a run that was still rising, those that are not decided, and those of an older rule; of each, paper -> verdict
    and reason -> claims."""
    groups = {name: ByOutcome() for name in ("held", "otherwise", "excused", "undecided", "before")}
    for paper, claim in report.claims():
        if not claim.control and claim.verdict != NOT_RUN:
            name = _outcome(report.papers[paper], claim)
            reason = "" if name in ("held", "before") else _reason(claim)
            if name in ("undecided", "before") and not reason and claim in report.shown(paper):
                continue  # the tables of claims say all that is known
            groups[name].setdefault(paper, {}).setdefault((claim.words, reason), []).append(claim)
    return groups


def _outcome(summary: Summary, claim: Claim) -> str:
    if summary.rule:
        return "before"
    if claim.verdict == HOLDS:
        return "held"
    if claim.verdict in (REVERSED, LESS):
        return "otherwise"
    return "excused" if claim.excused else "undecided"


def _reason(claim: Claim) -> str:
    """Why a claim did not reproduce, as far as it is known. Of one that cannot be told or decided, its words say it."""
    if claim.verdict == FEW_SEEDS:
        return ""
    if claim.verdict == UNTESTABLE:
        failing = [line.reason for line in claim.primary if line.verdict == claim.verdict and line.reason]
        return f"{failing[0][0].upper()}{failing[0][1:]}." if failing else ""
    if claim.explained or claim.verdict in (UNSURE, UNDECIDABLE):
        return claim.explained
    return _NO_REASON


def _limits(report: Reported) -> dict[str, Any]:
    seeds = {number for _, claim in report.claims() for line in claim.lines for number in line.seeds}
    said = [summary.said for summary in report.papers.values()]
    return {
        "generated": any({"scenes", "clips"} & set(contents["datasets"]) for contents in said),
        "repeated": _span(seeds) if seeds else "",
        "levels": list(dict.fromkeys(name for contents in said for name in contents["levels"])),
    }


def _origins(report: Reported) -> dict[str, Any]:
    """Where each paper's results come from, here and on other data: a row for each of the data; and the commits."""
    rows = []
    for paper, summary in report.papers.items():
        rows += _origin(summary, f"[{summary.said['label']}]({paper}/report.md)")
    for data in report.published:
        rows += _origins_on(report, data)
    for folder, summary in report.studies.items():
        page = report.page(folder)
        rows += _origin(summary, f"[{summary.said['label']}]({page})" if page else summary.said["label"])
    published = [summary for papers in report.published.values() for summary in papers.values()]
    origins = [summary.provenance for summary in (*report.papers.values(), *published, *report.studies.values())]
    commits = {origin["commit"] for origin in origins}
    versions = {provenance.in_words(origin)["versions"] for origin in origins if origin["versions"]}
    return {
        "origins": rows,
        "commits": sorted(commit for commit in commits if commit),
        "unknown": None in commits,
        # In words where all are the same.
        "versions": versions.pop() if len(versions) == 1 else "",
    }


def _origins_on(report: Reported, data: str) -> list[dict[str, str]]:
    """The rows of the papers on other data; those that have one origin share them."""
    papers, rows = report.published[data], list[dict[str, str]]()
    alike = dict[str, list[str]]()
    for paper, summary in papers.items():
        alike.setdefault(repr(_origin(summary, "")), []).append(paper)
    for its in alike.values():
        rows += _origin(papers[its[0]], f"{report.pages_on(data, its)} on {data}")
    return rows


def _origin(summary: Summary, label: str) -> list[dict[str, str]]:
    """The rows of a paper's data. What they share is in the first."""
    shared = provenance.in_words(summary.provenance)
    data = [provenance.data_in_words(task) for task in summary.provenance["data"]]
    first, *others = [{**dict.fromkeys(shared, ""), "paper": "", **task} for task in data]
    return [{**first, **shared, "paper": label}, *others]
