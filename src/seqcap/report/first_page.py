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
from seqcap.report.learnt import YARDSTICKS, learnt, read_yardsticks
from seqcap.report.overview import ACROSS, LITERAL, PRECISION, RECALL, TWIN, Overview
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
_WANTED = (TWIN, LITERAL, PRECISION, RECALL)

_NO_REASON = "No reason was found; tried: nothing beyond what the paper's page shows."

ByPaper = dict[str, list[Claim]]  # paper -> claims
ByOutcome = dict[str, dict[tuple[str, str], list[Claim]]]  # paper -> verdict and reason -> claims


@dataclass(frozen=True)
class There:
    """The comparison that decides a claim, on the data of an experiment; `rule` as of `Summary`."""

    line: Line
    verdict: str  # of the claim, if the same comparisons decide it there
    words: str  # what is said of the claim there
    rule: str


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
            there = _same(claim, papers[paper]) if paper in papers else None
            if there and there.line.difference:
                found[data] = there
        return found

    def is_another(self, data: str, paper: str, claim: Claim) -> bool:
        """Whether a claim is decided by another comparison on other data."""
        papers = self.published[data]
        its = [other for other in papers[paper].claims if other.id == claim.id] if paper in papers else []
        return any(other.deciding.difference and other.deciding.key != claim.deciding.key for other in its)

    def label(self, paper: str) -> str:
        """A paper's label, with a mark where its verdicts are not by today's rule."""
        summary = self.papers[paper]
        return f"{summary.said['label']} (older rule)" if summary.rule else str(summary.said["label"])

    def shown(self, paper: str) -> list[Claim]:
        """The claims of a paper that this page shows (`foremost`), of those that were run."""
        summary = self.papers[paper]
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        return [claims[name] for name in foremost(summary.said["finding"], list(claims))]

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

    def pages_on(self, data: str, papers: Collection[str] | None = None) -> str:
        """The papers, or some of them, with results on other data, each with a link to its page there."""
        its = self.published[data] if papers is None else {paper: self.published[data][paper] for paper in papers}
        labels = {paper: str(summary.said["label"]) for paper, summary in its.items()}
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

    def total(self, *, control: bool) -> Counter[str]:
        """The verdicts on all papers' claims, or on our controls."""
        return sum((summary.counts(control=control) for summary in self.papers.values()), Counter[str]())

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
            return There(line, claim.verdict, claim.words, summary.rule)
    alike = [line for claim in summary.claims for line in claim.lines if line.key == key]
    if not alike:
        return None
    line = next((line for line in alike if line.primary), alike[0])
    return There(line, "", line.verdict or "(decides no claim there)", summary.rule)


def first_page(report: Reported) -> str:
    """The page as markdown; links are relative to the folder of the report."""
    return texts.text(
        "first_page",
        report=report,
        **_example(report),
        **_across(report),
        **_findings(report),
        **_differing(report),
        **_became(report),
        **_limits(report),
        **_origins(report),
    )


def _example(report: Reported) -> dict[str, Any]:
    """A scene with captions of it: that of the table across papers or, without one, of the first paper that has one."""
    for paper in sorted(report.papers, key=lambda name: name != ACROSS):
        path = report.folder / paper / RESULTS / EXAMPLE
        if path.is_file():
            return {"example": {"paper": paper, **json_file.read_json(path)}}
    return {"example": None}


def _across(report: Reported) -> dict[str, Any]:
    """What the table across papers says: its rows, what was learnt of it, what to use when, and its figure."""
    across = report.papers.get(ACROSS)
    found: dict[str, Any] = {"table": [], "picture": None, "advice": [], "of_objectives": [], "lacking": []}
    found["captioners"] = across.said.get("captioners", []) if across else []
    found["on"] = _on(across.said["datasets"]) if across else ""
    path = report.folder / ACROSS / "tables" / f"{ACROSS}.csv"
    if across is None or not path.is_file():
        return found
    rows = Overview.read(path)
    if not rows.directions:
        return found
    figures = json_file.read_json(report.folder / ACROSS / "figures/figures.json")
    drawn = [{"name": name, **figures["figures"][name]} for name in figures["order"]]
    minutes = {run: f"{number:.1f}" for run, number in across.provenance["minutes"].items()}
    yardsticks = read_yardsticks(path.with_name(f"{YARDSTICKS}.csv"))
    return found | {
        "table": rows.markdown({"minutes": minutes}),
        "picture": next((figure for figure in drawn if "missing" not in figure), None),
        "advice": advice(rows, _better_than_likelihood(report), _literal(report)),
        "of_objectives": learnt(rows, yardsticks),
        "lacking": [name for name in _WANTED if not rows.has(name)],
        "has_twin": rows.has(TWIN),
    }


def _on(datasets: Sequence[str]) -> str:
    """What the table across papers is of."""
    return "generated scenes" if list(datasets) == [SCENES] else ", ".join(datasets)


def _better_than_likelihood(report: Reported) -> list[str]:
    """The comparisons by which the CIDEr of a paper's objective is shown to be higher than that of cross-entropy."""
    found: dict[str, str] = {}
    for paper, claim in report.claims():
        likelihood = report.papers[paper].said.get("likelihood", [])
        for line in claim.lines:
            _, metric, decoder, _, right, base = line.key
            is_quality = (metric, decoder, base) == ("CIDEr", "beam", "")
            if is_quality and right in likelihood and line.verdict == HOLDS:
                found[line.sides] = f"{line.sides} {_numbers(line)} ({_link(paper, claim)})"
    return list(found.values())


def _literal(report: Reported) -> list[str]:
    """The claims that are decided by what a listener finds which takes every word literally."""
    its = [(paper, claim) for paper, claim in report.claims() if claim.deciding.key[1].startswith("literal_")]
    return [
        f"{claim.deciding.sides} {_numbers(claim.deciding)}, {claim.verdict} ({_link(paper, claim)})"
        for paper, claim in its
        if claim.deciding.difference
    ]


def _numbers(line: Line) -> str:
    """ "+5.5 [3.2, 7.7]"."""
    difference = f"{float(line.difference):+z.{len(line.difference.partition('.')[2])}f}"
    return f"{difference} [{line.low}, {line.high}]" if line.low else difference


def _link(paper: str, claim: Claim) -> str:
    return f"[{claim.id}]({paper}/report.md#{claim.id.lower()})"


def _findings(report: Reported) -> dict[str, Any]:
    """What each paper claims above all and, below it, a control of it; and the papers whose claim was not run."""
    findings, left_out = [], []
    for paper, summary in report.papers.items():
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        if not summary.claims:
            continue
        finding = summary.said["finding"]
        claim, control = (claims.get(finding[name]) for name in ("claim", "control"))
        if claim is None:
            left_out.append(summary.said["label"])
            continue
        findings.append({"paper": paper, "first": True, "sentence": finding["sentence"], "claim": claim})
        if control:
            findings.append({"paper": paper, "first": False, "sentence": control.sentence, "claim": control})
    main = {finding["paper"]: [finding["claim"]] for finding in findings if finding["first"]}
    return {
        "findings": findings,
        "left_out": left_out,
        "headlines": _headlines(report, findings),
        "beside": report.shared(main),
    }


def _headlines(report: Reported, findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Two sentences: what became of the main claims here, and what on other data."""
    if not findings:
        return []
    here, there = dict[str, list[str]](), dict[str, dict[str, list[str]]]()
    for finding in (finding for finding in findings if finding["first"]):
        paper, claim = finding["paper"], finding["claim"]
        summary = report.papers[paper]
        control = next((other["claim"] for other in findings if other["paper"] == paper and not other["first"]), None)
        words = _with_rule(claim.words.removesuffix(DAGGER).strip(), summary.rule)
        words += f", its control {control.verdict}" if control else ""
        here.setdefault(words, []).append(summary.said["label"])
        for data, found in report.elsewhere(paper, claim).items():
            words = found.verdict or found.line.verdict
            known = _with_rule(words, found.rule) if words else "decided by another comparison"
            there.setdefault(data, {}).setdefault(known, []).append(summary.said["label"])
    sentences = [f"**Main claims, on {' and '.join(report.datasets.split(', '))}.** {_grouped(here)}."]
    sentences += [f"**Main claims, on {data}.** {_grouped(groups)}." for data, groups in there.items()]
    return sentences


def _with_rule(verdict: str, rule: str) -> str:
    return f"{verdict} by an older rule" if rule else verdict


def _grouped(labels: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{', '.join(names)}: {words}" for words, names in labels.items())


def _differing(report: Reported) -> dict[str, Any]:
    """Claims that were tested by today's rule here and on other data, with the same verdict or with different ones."""
    same, both, differing = Counter[str](), Counter[str](), dict[tuple[str, str, str], ByPaper]()
    for paper, claim in report.claims():
        for data, there in report.elsewhere(paper, claim).items():
            if report.papers[paper].rule or there.rule:
                continue
            verdict, other = claim.verdict, there.verdict
            if verdict in DECIDED and other in DECIDED:
                both[data] += 1
                same[data] += verdict == other
                if verdict != other:
                    differing.setdefault((data, verdict, other), {}).setdefault(paper, []).append(claim)
    agreeing = {data: f"{same[data]} of {number}" for data, number in both.items()}
    uncompared = [data for data in report.published if data not in both]
    return {"same": agreeing, "differing": differing, "uncompared": uncompared, "signs": _signs(report)}


def _signs(report: Reported) -> dict[str, ByPaper]:
    """What is told of the signs of the comparisons that decide a claim here and are there on other data, too."""
    found = dict[str, ByPaper]()
    for paper, claim in report.claims():
        for data, there in report.elsewhere(paper, claim).items():
            if claim.deciding.difference:
                words = f"{data}, {_in_words(_sign(claim.deciding), _sign(there.line))}"
                found.setdefault(words, {}).setdefault(paper, []).append(claim)
    return dict(sorted(found.items()))


def _sign(line: Line) -> int:
    """The sign of a difference; 0 where its interval is not on one side of 0."""
    low, high = (float(text) if text else 0.0 for text in (line.low, line.high))
    return (low > 0) - (high < 0)


def _in_words(here: int, there: int) -> str:
    if not (here and there):
        return "an interval holds 0, here or there"
    return "the same sign" if here == there else "the opposite sign"


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
    """Why a claim did not reproduce, as far as it is known. Of one that cannot be told, its words say it."""
    if claim.verdict == FEW_SEEDS:
        return ""
    if claim.verdict in (UNTESTABLE, UNDECIDABLE):
        failing = [line.reason for line in claim.primary if line.verdict == claim.verdict and line.reason]
        return f"{failing[0][0].upper()}{failing[0][1:]}." if failing else ""
    if claim.explained or claim.verdict == UNSURE:
        return claim.explained
    return _NO_REASON


def _limits(report: Reported) -> dict[str, Any]:
    seeds = {number for _, claim in report.claims() for number in claim.deciding.seeds if claim.verdict != NOT_RUN}
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
