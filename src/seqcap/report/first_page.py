"""The first page: what the papers claim and how it fares here. Its numbers are those of the papers' results and of the
table across papers; texts/first_page.md has its words."""

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from seqcap.files import json_file
from seqcap.report import REPORTS, elsewhere, outcomes, own_runs, provenance, texts
from seqcap.report.advice import SMOOTHING, advice
from seqcap.report.elsewhere import There
from seqcap.report.learnt import learnt
from seqcap.report.outcomes import in_print, numbers
from seqcap.report.overview import (
    ACROSS,
    DISTINCT,
    LITERAL,
    PEOPLE,
    PRECISION,
    RECALL,
    SAMPLES,
    TRUTH,
    TWIN,
    Overview,
)
from seqcap.report.overview import CIDER as CIDER_OF_BEAM
from seqcap.report.reported import ReportConfig
from seqcap.report.summary import RESULTS, Claim, Line, Summary, foremost
from seqcap.report.verdicts import DAGGER, DECIDED, HOLDS, LESS, NOT_RUN, REVERSED

EXAMPLE = "example.json"  # `seqcap.report.example` writes it; to import that takes seconds
# Columns that results of older code lack.
_WANTED = (DISTINCT, LITERAL, PRECISION, RECALL)
_OF_FACTS = (LITERAL, PRECISION, RECALL)  # of these those that only scenes can have
# Column of papers' tables -> what makes it a number in 100: the shares of captions and of statements that are true.
_TRUE = {TRUTH: 1, "true of its scene, %": 1}
_PRECISE = {PRECISION: 1, "true precision": 100}
# Use of the advice -> the claims that tell of it on other data.
_OF_USE = {SAMPLES: ("C1", "C2"), DISTINCT: ("D3a", "D1a", "D2a", "D10"), TRUTH: ("D12d",)}
# How a main claim fared -> in words, of one and of several.
_BY_ITSELF = "by its own listener alone"
_HEADLINES = {
    HOLDS: ("holds", "hold"),
    _BY_ITSELF: ("holds by its own listener alone", "hold by their own listeners alone"),
    REVERSED: ("is reversed", "are reversed"),
    LESS: ("shows no effect where print has one", "show no effect where print has one"),
    "": ("is open", "are open"),
}
# Times the usual training time, from which a run is named for it.
_LONGER = 2
# The claims that a kind of smoothing beats likelihood in captions, without attention and with it.
_SMOOTHING, _WITH_ATTENTION = ("L1", "L3", "L6"), "L6b"


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
        comparisons = {}
        for data, papers in self.published.items():
            there = elsewhere.same(claim, self.papers[paper], papers[paper]) if paper in papers else None
            if there:
                comparisons[data] = there
        return comparisons

    def another(self, paper: str, claim: Claim, data: str) -> str:
        """A link to a claim on other data that decide it by another comparison; "" where they do not test it."""
        summary, page = self.published[data].get(paper), self.page_of(paper, data)
        if summary is None or not page or not elsewhere.is_tested(claim, summary):
            return ""
        return f"[another comparison]({page}#{claim.id.lower()})"

    def shown(self, paper: str) -> list[Claim]:
        """The claims of a paper that this page shows (`foremost`), of those that were run."""
        summary = self.papers[paper]
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        return [claims[name] for name in foremost(summary.said["finding"], list(claims))]

    def tabled(self, paper: str) -> list[Claim]:
        """Those of the claims of a paper that this page shows which its table has. What was learnt tells our controls,
        where numbers prove something."""
        return [claim for claim in self.shown(paper) if not (claim.control and self.config.proves)]

    def captioner(self, paper: str) -> str:
        """A paper's captioner; "" where it has several, or its results do not say it."""
        names = self.papers[paper].said.get("captioners", [])
        return str(names[0]) if len(names) == 1 else ""

    def has_another_judge(self, data: str) -> bool:
        """Whether a paper's judge on other data is of the kind that pays, and its judge here is not."""
        papers = self.published[data].items()
        known = [(self.papers[paper], summary) for paper, summary in papers if paper in self.papers]
        return any(elsewhere.has_another_judge(here, there) for here, there in known)

    def page_of(self, paper: str, data: str) -> str:
        """A paper's page on other data, relative to this report; "" where it is not in its folder."""
        return self.page(Path(self.config.beside[data], paper))

    def page(self, folder: Path) -> str:
        """The page in a folder of results, relative to this report; "" where it is not in its folder."""
        page = folder / "report.md"
        return page.relative_to(self.folder).as_posix() if page.is_relative_to(self.folder) else ""

    def with_numbers(self, paper: str) -> list[str]:
        """The other data that a claim of a paper which this page shows has a number on."""
        tabled = self.tabled(paper)
        return [data for data in self.published if any(data in self.elsewhere(paper, claim) for claim in tabled)]

    def unmeasured(self, data: str) -> list[str]:
        """The papers with results on other data which have no number there of a claim that this page shows."""
        here = {paper: summary for paper, summary in self.papers.items() if paper in self.published[data]}
        return [
            str(summary.said["label"])
            for paper, summary in here.items()
            if not any(data in self.elsewhere(paper, claim) for claim in self.tabled(paper))
        ]

    @property
    def is_across_here_alone(self) -> bool:
        """Whether no other data have the table of all objectives."""
        return all(ACROSS not in papers for papers in self.published.values())

    def pages_on(self, data: str, papers: Collection[str]) -> str:
        """Some papers with results on other data, each with a link to its page there."""
        labels = {paper: str(self.published[data][paper].said["label"]) for paper in papers}
        pages = {paper: self.page_of(paper, data) for paper in labels}
        return ", ".join(f"[{label}]({pages[paper]})" if pages[paper] else label for paper, label in labels.items())

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
        generated = set(self.datasets.split(", ")) <= {"scenes", "clips"}
        return f" on generated {' and '.join(self.datasets.split(', '))}" if generated else ""

    @property
    def scales(self) -> str:
        return ", ".join(dict.fromkeys(summary.provenance["scale"] for summary in self.papers.values()))

    @property
    def older(self) -> list[str]:
        """The labels of the papers whose claims are not counted."""
        return [summary.said["label"] for summary in self.papers.values() if summary.rule and summary.claims]

    @property
    def judged_before(self) -> list[str]:
        """What is judged by an older rule: papers, and other data."""
        published = self.published.items()
        return self.older + [data for data, papers in published if any(summary.rule for summary in papers.values())]

    def total(self, *, control: bool) -> Counter[str]:
        """The verdicts on all papers' claims, or on our controls."""
        counts = [summary.counts(control=control) for summary in self.papers.values()]
        return sum(counts, Counter[str]())

    def sizes(self, data: str) -> str:
        """ "2 training seeds, 1,000 test items" of the comparisons on other data."""
        lines = [line for summary in self.published[data].values() for claim in summary.claims for line in claim.lines]
        seeds = {number for line in lines for number in line.seeds}
        items = {line.items for line in lines if line.items}
        return f"{_span(seeds)} training seeds, {_span(items)} test items"


def first_page(report: Reported) -> str:
    """The page as markdown; links are relative to the folder of the report."""
    return texts.text(
        "first_page",
        report=report,
        link=_link,
        numbers=numbers,
        in_print=in_print,
        of_print=_of_print,
        counted=outcomes.counted,
        counts=_counts(report),
        held=outcomes.held(report.papers),
        failed=outcomes.failed(report.papers),
        left_open=outcomes.left_open(report.papers),
        reversed_controls=outcomes.reversed_controls(report.papers),
        by_whom=outcomes.by_whom,
        **_example(report),
        **_across(report),
        **_findings(report),
        on_other_data={data: _on_other_data(report, data) for data in report.published},
        **_limits(report),
        **_origins(report),
    )


def _counts(report: Reported) -> dict[str, Any]:
    """How the claims of today's rule fared, all together, and how many of them use a run that was still rising."""
    verdicts, controls = report.total(control=False), report.total(control=True)
    run = verdicts.total() - verdicts[NOT_RUN]
    judged = [(paper, claim) for paper, claim in report.claims() if not report.papers[paper].rule]
    rising = [claim for _, claim in judged if DAGGER in claim.words and not claim.control]
    labels = [str(summary.said["label"]) for summary in report.papers.values() if summary.claims and not summary.rule]
    return {
        "claims": run,
        "of": ", ".join(labels),
        "hold": verdicts[HOLDS],
        "reversed": verdicts[REVERSED],
        "without": verdicts[LESS],
        "open": run - sum(verdicts[name] for name in DECIDED),
        "controls": controls.total() - controls[NOT_RUN],
        "controls_hold": controls[HOLDS],
        "rising": len(rising),
        "rising_hold": sum(claim.verdict == HOLDS for claim in rising),
    }


def _example(report: Reported) -> dict[str, Any]:
    """A scene with captions of it: that of the table across papers or, without one, of the first paper that has one.
    `shares`: label -> how many of all captions, and of their statements, are true, in a hundred."""
    for paper in sorted(report.papers, key=lambda name: name != ACROSS):
        path = report.folder / paper / RESULTS / EXAMPLE
        if path.is_file():
            tables = report.folder / paper / "tables"
            shares = {"true": _column(tables, _TRUE), "precise": _column(tables, _PRECISE)}
            return {"example": {"paper": paper, **json_file.read_json(path)}, "shares": shares}
    return {"example": None}


def _column(tables: Path, scales: Mapping[str, int]) -> dict[str, str]:
    """Row -> its number in a hundred, with its interval: of a column that a paper's tables have under one of some
    names."""
    numbers_of_rows = dict[str, str]()
    for path in sorted(tables.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                if line["column"] in scales and line["ours"]:
                    values = [line[name] for name in ("ours", "ours_low", "ours_high") if line[name]]
                    ours, *ends = [f"{scales[line['column']] * float(value):.1f}" for value in values]
                    numbers_of_rows.setdefault(line["row"], f"{ours} [{', '.join(ends)}]" if ends else ours)
    return numbers_of_rows


def _across(report: Reported) -> dict[str, Any]:
    """What the table across papers says: its rows, what was learnt of it, what to use when, and its figure."""
    found: dict[str, Any] = {"table": [], "picture": None, "advice": [], "of_objectives": [], "lacking": []}
    rows = _overview(report)
    if rows is None:
        return found
    across = report.papers[ACROSS]
    on_scenes = across.said["datasets"] == ["scenes"]
    found["on"] = "generated scenes" if on_scenes else ", ".join(across.said["datasets"])
    figures = json_file.read_json(report.folder / ACROSS / "figures/figures.json")
    drawn = [{"name": name, **figures["figures"][name]} for name in figures["order"]]
    taken = across.provenance["minutes"]
    minutes = {row.label: taken[row.run] for row in rows.objectives if row.run in taken}
    if minutes:
        rows = replace(rows, budget=_budget(minutes))
    return found | {
        "table": rows.markdown(
            without=[TWIN, PRECISION] if rows.has(DISTINCT) else [PRECISION],
            more={"minutes": {run: f"{number:.1f}" for run, number in taken.items()}},
        ),
        "budget": rows.budget,
        "of_table": rows.n,
        "picture": next((figure for figure in drawn if "missing" not in figure), None),
        "advice": advice(rows, _uses(report, rows)),
        "of_objectives": learnt(rows),
        "lacking": [name for name in _WANTED if not rows.has(name) and (on_scenes or name not in _OF_FACTS)],
        "has_people": any(row.run == PEOPLE for row in rows.rows),
        "has_judge": rows.has(DISTINCT),
    }


def _overview(report: Reported) -> Overview | None:
    """The table across papers; None without numbers."""
    path = report.folder / ACROSS / "tables" / f"{ACROSS}.csv"
    if ACROSS not in report.papers or not path.is_file():
        return None
    rows = Overview.read(path)
    return rows if rows.directions else None


def _budget(minutes: Mapping[str, float]) -> str:
    """ "1.0 to 1.3 minutes of training (PG-SPIDEr 4.2)": what the training of one seed took, those named that took
    longer than the others."""
    usual = median(minutes.values())
    longer = {label: taken for label, taken in minutes.items() if taken > _LONGER * usual}
    others = [taken for label, taken in minutes.items() if label not in longer]
    ends = " to ".join(dict.fromkeys(f"{end:.1f}" for end in (min(others), max(others))))
    named = ", ".join(f"{label} {taken:.1f}" for label, taken in longer.items())
    return f"{ends} minutes of training" + (f" ({named})" if named else "")


def _uses(report: Reported, rows: Overview) -> dict[str, str]:
    """Use of the advice -> what the papers' own runs and other data say of it."""
    by_id = {claim.id: (paper, claim) for paper, claim in report.claims()}
    uses = {CIDER_OF_BEAM: _of_quality(report), SMOOTHING: _of_smoothing(report, by_id)}
    for use, names in _OF_USE.items():
        uses[use] = _told_elsewhere(report, [by_id[name] for name in names if name in by_id])
    judge = "R@10 by the judge, with CIDEr in brackets"
    true = "true captions, with CIDEr in brackets"
    uses[DISTINCT] = f"{_in_own_runs(report, rows, own_runs.JUDGE, judge)} {uses[DISTINCT]}".strip()
    uses[TRUTH] = f"{_in_own_runs(report, rows, 'all_true', true)} {uses[TRUTH]}".strip()
    return uses


def _of_quality(report: Reported) -> str:
    """How the CIDEr of the papers' objectives compares with cross-entropy's that was trained as long."""
    compared = own_runs.cider_against_likelihood(report.papers)
    if not compared:
        return ""
    sides = {1: "above it", 0: "not told apart from it", -1: "below it"}
    parts = []
    for side, words in sides.items():
        told = [
            f"{_left(line)} {numbers(line)} {_in_brackets(report, paper, claim, line)}"
            for paper, claim, line in compared
            if line.side == side
        ]
        if told:
            parts.append(f"{words}: {', '.join(told)}")
    text = "**In the papers' own runs, against cross-entropy of as many updates** (95% intervals, each by "
    text += "itself; min: minutes of one core for a seed): "
    text += f"{'; '.join(parts)}. Others were not compared so."
    for data, papers in report.published.items():
        pairs = [(line, own_runs.on_other_data(line, papers)) for _, _, line in compared]
        told = [f"{_left(line)} {numbers(other)}" for line, other in pairs if other]
        if told:
            text += f" *On {data}* so compared: {', '.join(told)}."
    return text


def _in_brackets(report: Reported, paper: str, claim: Claim, line: Line) -> str:
    """A link to a claim, of which a comparison may be a detail or one of several that it needs; and the minutes of
    training of the run on the left."""
    decides = line.key in {primary.key for primary in claim.primary}
    part = ", CIDEr alone" if decides and len(claim.primary) > 1 and claim.verdict != HOLDS else ""
    minutes = report.papers[paper].provenance["minutes"].get(line.left)
    took = "" if minutes is None else f", {minutes:.1f} min"
    return f"({'' if decides else 'detail of '}{_link(paper, claim)}{part}{took})"


def _in_own_runs(report: Reported, rows: Overview, metric: str, words: str) -> str:
    """What a measure says of the best captions in the papers' own runs, of objectives of the table and cross-entropy,
    each with its CIDEr."""
    labels, told = {row.label for row in rows.objectives}, []
    for paper, summary in report.papers.items():
        if metric == own_runs.JUDGE and not own_runs.knows_a_judge(summary):
            continue
        values, quality = own_runs.levels(summary, metric), own_runs.levels(summary, "CIDEr")
        sides = [label for label in values if label in quality and (label in labels or label in _baselines(summary))]
        if labels.isdisjoint(sides):
            continue
        sides.sort(key=lambda label: -values[label])
        levels = ", ".join(f"{label} {values[label]:.1f} ({quality[label]:.1f})" for label in sides)
        captioner = report.captioner(paper)
        whose = f"{summary.said['label']}'s own runs" + (f" (captioner: {captioner})" if captioner else "")
        told.append(f"In {whose}, {words}: {levels}.")
    return " ".join(told)


def _baselines(summary: Summary) -> list[str]:
    """The labels of a paper's runs of cross-entropy that claims compare others with."""
    likelihood = summary.said.get("likelihood", [])
    lines = [line for claim in summary.claims for line in claim.lines if line.key[4] in likelihood]
    return [line.sides.partition(" against ")[2] for line in lines]


def _of_smoothing(report: Reported, by_id: Mapping[str, tuple[str, Claim]]) -> str:
    """What claims of smoothing say, here and on other data, and what they could have found."""
    told, finds = [], []
    for paper, claim in (by_id[name] for name in _SMOOTHING if name in by_id):
        line = claim.deciding
        if not line.difference:
            continue
        others = [f"on {data} {numbers(there.line)}" for data, there in report.elsewhere(paper, claim).items()]
        greedy = _by_greedy(claim, line)
        if greedy:
            others.insert(0, f"greedy {numbers(greedy)}")
        beside = f" ({'; '.join(others)})" if others else ""
        told.append(f"{_left(line)} ({_link(paper, claim)}) {numbers(line)}{beside}")
        if line.detectable:
            finds.append(float(line.detectable))
    if not told:
        return ""
    text = f"In its paper's own runs, CIDEr, beam, over MLE, without attention: {', '.join(told)}."
    if finds:
        ends = dict.fromkeys([f"{min(finds):.1f}", f"{max(finds):.1f}"])
        text += f" Differences of {' to '.join(ends)} would have been found four times in five."
    gains = own_runs.gains(report.folder / paper / "tables" / "smoothing_gains.csv", "CIDEr, with attention")
    if _WITH_ATTENTION in by_id and gains:
        attentive, line = by_id[_WITH_ATTENTION], by_id[_WITH_ATTENTION][1].deciding
        text += f" With attention {sum(gain > 0 for gain in gains)} of {len(gains)} losses are above it, most with one "
        text += f"seed; {_left(line)} ({_link(*attentive)}): {numbers(line)}."
    return text


def _by_greedy(claim: Claim, line: Line) -> Line | None:
    """The same comparison of greedy captions, where a claim has it."""
    paper, metric, _, *rest = line.key
    return next((other for other in claim.lines if other.key == (paper, metric, "greedy", *rest)), None)


def _told_elsewhere(report: Reported, claims: Sequence[tuple[str, Claim]]) -> str:
    """What all other data tell of some claims; "" without other data."""
    if not report.published:
        return ""
    told = [_told_on(report, data, claims) for data in report.published]
    return " ".join(filter(None, told))


def _told_on(report: Reported, data: str, claims: Sequence[tuple[str, Claim]]) -> str:
    """ "*On Flickr8k:* CIDEr, SLL against XE +25.2 [23.2, 27.1] ([C1](..))." "" where nothing was measured there."""
    told, measured = list[str](), ""
    for paper, claim in claims:
        there = report.elsewhere(paper, claim).get(data)
        if there:
            summed = f" {elsewhere.SUM}" if there.words == elsewhere.SUM else ""
            metric = "" if told and there.line.metric == measured else f"{there.line.metric}, "
            measured = there.line.metric
            # An older rule has not written the sides, which are those here.
            told.append(f"{metric}{claim.deciding.sides} {numbers(there.line)}{summed} ({_link(paper, claim)})")
    return f"*On {data}:* {'; '.join(told)}." if told else ""


def _of_print(line: Line) -> str:
    """ "; print +6.33, outside the interval"; "" without a number in print. Results of an older rule do not tell
    what it is at our level."""
    if not line.printed:
        return ""
    words = f"; print {in_print(line)}"
    if not line.expected:
        return words
    if line.expected_inside and line.side == 0:
        return f"{words}; the interval holds both that and 0"
    return f"{words}, {'inside' if line.expected_inside else 'outside'} the interval"


def _left(line: Line) -> str:
    return line.sides.partition(" against ")[0]


def _link(paper: str, claim: Claim) -> str:
    return f"[{claim.id}]({paper}/report.md#{claim.id.lower()})"


def _findings(report: Reported) -> dict[str, Any]:
    """What each paper claims above all, here and on other data, with the controls of it that this page shows; and the
    papers whose claim was not run."""
    findings, left_out = [], []
    rows = _overview(report)
    for paper, summary in report.papers.items():
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        if not summary.claims:
            continue
        finding = summary.said["finding"]
        claim = claims.get(finding["claim"])
        if claim is None:
            left_out.append(summary.said["label"])
            continue
        first, controls = claim.primary[0], [other for other in report.shown(paper) if other.control]
        by_judge = _by_the_judge(claim, controls)
        told = claim.verdict == HOLDS or first.key == claim.deciding.key or not first.difference
        findings.append(
            {
                "paper": paper,
                "sentence": finding["sentence"],
                "claim": claim,
                "first": None if told else first,
                "there": report.elsewhere(paper, claim),
                "controls": [control for control in controls if control is not by_judge],
                "judged": by_judge,
                "across": _across_says(rows, finding.get("across")),
            }
        )
    return {"findings": findings, "left_out": left_out, "headlines": _headlines(report, findings)}


def _across_says(rows: Overview | None, asked: Mapping[str, str] | None) -> str:
    """What the table across papers says of two of its rows; "" where nothing is asked, or it does not have them."""
    if rows is None or not asked:
        return ""
    compared = rows.compared(asked["left"], asked["right"], asked["column"])
    return f"{asked['column']} {compared}" if compared else ""


def _headlines(report: Reported, findings: Sequence[Mapping[str, Any]]) -> str:
    """ "1 holds (WTF-RL); 1 is open (SPIDEr: of 2, 1 holds, 1 is open)": how the papers' main claims fared."""
    groups = dict[str, list[str]]()
    for finding in findings:
        claim, summary = finding["claim"], report.papers[finding["paper"]]
        verdict = claim.verdict if claim.verdict in _HEADLINES else ""
        alone = finding["judged"] and finding["judged"].verdict != HOLDS
        kind = _BY_ITSELF if verdict == HOLDS and alone else verdict
        counted = "" if verdict == HOLDS else outcomes.counted(claim)
        label = str(summary.said["label"])
        groups.setdefault(kind, []).append(f"{label}: {counted}" if counted else label)
    told = [(words, groups[kind]) for kind, words in _HEADLINES.items() if kind in groups]
    return "; ".join(f"{len(labels)} {words[len(labels) > 1]} ({'; '.join(labels)})" for words, labels in told)


def _by_the_judge(claim: Claim, controls: Sequence[Claim]) -> Claim | None:
    """The control that asks the judge what the own listener says of the same sides; None where there is none."""
    _, metric, *_ = claim.deciding.key
    if not metric.startswith("own_"):
        return None
    for control in controls:
        _, measure, _, *sides = control.deciding.key
        if measure == own_runs.JUDGE and tuple(sides) == claim.deciding.key[3:]:
            return control
    return None


def _on_other_data(report: Reported, data: str) -> dict[str, Any]:
    """What the comparisons that decide claims and controls here say on other data. `opposite`: those, and details of
    claims, whose intervals are on opposite sides of 0."""
    compared = [
        (paper, pair)
        for paper, summary in report.published[data].items()
        if paper in report.papers
        for pair in elsewhere.pairs(report.papers[paper], summary)
    ]
    deciding = [(paper, pair) for paper, pair in compared if pair.here.key == pair.claim.deciding.key]
    opposite = [(paper, pair) for paper, pair in compared if pair.opposite]
    turned = {pair.claim.id for _, pair in opposite}
    alike = [(paper, pair) for paper, pair in deciding if pair.alike]
    return {
        "compared": deciding,
        "turned": sum(pair.opposite for _, pair in deciding),
        "opposite": opposite,
        "alike": [(paper, pair) for paper, pair in alike if pair.claim.id not in turned],
        "divided": [(paper, pair) for paper, pair in alike if pair.claim.id in turned],
        "one_sided": [
            (paper, pair) for paper, pair in deciding if not pair.both and (pair.here.side or pair.there.side)
        ],
        "neither": [(paper, pair) for paper, pair in deciding if not (pair.here.side or pair.there.side)],
    }


def _span(numbers: Collection[int]) -> str:
    return " to ".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)})) if numbers else "no"


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
    _say_once(rows)
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


def _say_once(rows: Sequence[dict[str, str]]) -> None:
    """Empties what rows have of the nearest ones above: the processor, and the sizes of the same data. That something
    is not recorded is told in words of the commit alone."""
    last = dict[str, str]()
    for row in rows:
        row |= {column: "–" for column, cell in row.items() if cell == provenance.NOT_RECORDED and column != "commit"}
        for column, of_what in (("sizes", row["name"]), ("processor", "")):
            if row[column] and row[column] == last.get(of_what):
                row[column] = ""
            elif row[column]:
                last[of_what] = row[column]


def _origins_on(report: Reported, data: str) -> list[dict[str, str]]:
    """The rows of the papers on other data; those that have one origin share them."""
    papers, rows = report.published[data], list[dict[str, str]]()
    alike = dict[str, list[str]]()
    for paper, summary in papers.items():
        alike.setdefault(repr(_origin(summary, "")), []).append(paper)
    for names in alike.values():
        rows += _origin(papers[names[0]], f"{report.pages_on(data, names)} on {data}")
    return rows


def _origin(summary: Summary, label: str) -> list[dict[str, str]]:
    """The rows of a paper's data. What they share is in the first."""
    shared = provenance.in_words(summary.provenance)
    data = provenance.data_in_words(summary.provenance["data"])
    first, *others = [{**dict.fromkeys(shared, ""), "paper": "", **task} for task in data]
    return [{**first, **shared, "paper": label}, *others]
