"""The first page: what the papers claim and how it fares here. Its numbers are those of the papers' claims.json and of
the table across papers; what was measured is added where it is given."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqcap.config.report import ReportConfig
from seqcap.report import overview, texts
from seqcap.report.markdown import markdown_table
from seqcap.report.provenance import Measured
from seqcap.report.verdicts import FAILS, HOLDS, NOT_RUN, UNSURE, in_words

Record = Mapping[str, str]  # a line of claims.csv
Said = Mapping[str, Any]  # of a paper: its claims.json
_TESTED = (HOLDS, FAILS, UNSURE)
_UNSURE = "Not significant (in brackets, the difference that the run could have found)"
TRIAL = "# seqcap: a trial of a few training steps, whose numbers prove nothing"


def key(record: Record) -> tuple[str, ...]:
    """What tells comparisons apart, whatever the words for them."""
    return tuple(record[column] for column in ("paper", "claim", "metric", "decoder", "left", "right", "base"))


@dataclass(frozen=True)
class Reported:
    config: ReportConfig
    papers: Mapping[str, Said]  # those whose parts are there
    published: Mapping[str, Mapping[tuple[str, ...], Record]]  # data -> `key` of a primary comparison -> its line there
    faults: Sequence[str]  # why published data are left out
    features: str  # the page on what the features of generated images hold; "" if there are none

    def claims(self) -> Iterator[tuple[str, Mapping[str, Any], Record]]:
        """Each paper's claims that were run, with their primary comparisons."""
        for paper, said in self.papers.items():
            for claim in said["claims"]:
                if claim["records"][0]["verdict"] != NOT_RUN:
                    yield paper, claim, claim["records"][0]

    def elsewhere(self, primary: Record) -> dict[str, Record]:
        """Data -> the same comparison there, if it has a number."""
        found = {data: records.get(key(primary)) for data, records in self.published.items()}
        return {data: record for data, record in found.items() if record is not None and record["difference"]}

    @property
    def datasets(self) -> str:
        return ", ".join(dict.fromkeys(data for said in self.papers.values() for data in said["datasets"]))


def first_page(report: Reported, measured: Measured | None) -> str:
    """The page as markdown; links are relative to reports/. `measured`: None leaves out what is measured."""
    proves = report.config.proves
    table = overview.read(overview.FILE) if overview.ACROSS in report.papers else []
    parts = [
        _head(report),
        _findings(report),
        _advice(report) if proves else [],
        overview.on_first_page(table, measured),
        _claims(report),
        _differing(report) if proves else [],
        _failed(report) if proves else [],
        _limits(report),
        texts.lines("reading"),
        _origin(report, measured),
    ]
    return "\n".join("\n".join(part).rstrip("\n") + "\n" for part in parts if part)


def _head(report: Reported) -> list[str]:
    config, papers = report.config, [said for said in report.papers.values() if said["claims"]]
    total = sum((Counter(said["verdicts"]) for said in papers), Counter[str]())
    absent = [f"`{paper}`" for paper in config.papers if paper not in report.papers]
    pages = ", ".join(f"[{said['label']}]({paper}/report.md)" for paper, said in report.papers.items())
    return [
        f"# seqcap: {len(papers)} captioning papers, reproduced" if config.proves else TRIAL,
        "",
        f"Every number of ours is from this run on {report.datasets} (scale: {config.scale}); those under *paper* are "
        f"quoted. Each paper has a page: {pages}. **{in_words(total)[0].upper()}{in_words(total)[1:]}.**",
        *(["", f"Not run here: {', '.join(absent)}."] if absent else []),
        *(line for fault in report.faults for line in ("", f"{fault}.")),
    ]


def _findings(report: Reported) -> list[str]:
    matrix = [["paper", "what it claims above all", "measured by", "paper", report.datasets]]
    matrix[0] += [*([_names(report)] if report.published else []), "verdict", "its claims"]
    left_out = []
    for paper, said in report.papers.items():
        if not said["claims"]:
            continue
        finding, claims = said["finding"], {claim["id"]: claim for claim in said["claims"]}
        if not claims[finding["claim"]]["records"][0]["difference"]:
            left_out.append(said["label"])
            continue
        tested = sum(said["verdicts"][verdict] for verdict in _TESTED)
        row = _found(report, paper, finding["sentence"], claims[finding["claim"]])
        matrix.append(
            [f"[{said['label']}]({paper}/report.md)", *row, f"{said['verdicts'][HOLDS]} of {tested} tested hold"]
        )
        control = claims.get(finding["control"])
        if control and control["records"][0]["difference"]:
            matrix.append(["", *_found(report, paper, control["sentence"], control), ""])
    lines = ["## Findings", "", *_table(matrix)] if len(matrix) > 1 else []
    absent = f"Not run: the claims that stand for {', '.join(left_out)}."
    return [*lines, *([""] if lines else []), absent] if left_out else lines


def _found(report: Reported, paper: str, sentence: str, claim: Mapping[str, Any]) -> list[str]:
    record = claim["records"][0]
    row = [
        f"{sentence} ({_link(paper, claim['id'])})",
        record["what"],
        _signed(record["paper_difference"]),
        span(record),
    ]
    return [*row, *([_beside(report, record)] if report.published else []), f"**{record['verdict']}**"]


def _advice(report: Reported) -> list[str]:
    remarks = report.papers.get(overview.ACROSS, {}).get("remarks", ())
    how = "By the table below: one captioner, one start, equally many updates. [ ]: 95% intervals."
    return ["## What to use when", "", how, "", *remarks] if remarks else []


def _claims(report: Reported) -> list[str]:
    lines = [
        "## Claims",
        "",
        "Left minus right, in the printed scale, with 95% intervals. A claim's link leads to its "
        "details: both sides, q, seeds and items.",
        "",
    ]
    for paper, said in report.papers.items():
        rows = [(claim, record) for name, claim, record in report.claims() if name == paper]
        if not said["claims"]:
            continue
        lines += [f"**{said['label']}** on {', '.join(said['datasets'])}: {in_words(said['verdicts'])}.", ""]
        others = dict.fromkeys(data for _, record in rows for data in report.elsewhere(record))
        matrix = [["", "claim", "measured by", "paper", "ours", *others, "verdict"]]
        for claim, record in rows:
            row = [_link(paper, claim["id"]), claim["sentence"], record["what"], _signed(record["paper_difference"])]
            there = report.elsewhere(record)
            beside = [f"{span(there[data])} {there[data]['verdict']}" if data in there else "" for data in others]
            matrix.append([*row, span(record), *beside, record["verdict"]])
        lines += [*_table(matrix), ""] if rows else []
    return lines


def _differing(report: Reported) -> list[str]:
    """Claims that were tested here and on other data with different verdicts."""
    groups: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    same: Counter[str] = Counter()
    for paper, claim, record in report.claims():
        for data, other in report.elsewhere(record).items():
            here, there = record["verdict"], other["verdict"]
            if here == there:
                same[data] += here in _TESTED
            elif here in _TESTED and there in _TESTED:
                groups.setdefault((data, here, there), []).append((paper, claim["id"]))
    alike = ", ".join(f"of {number} on {data}" for data, number in same.items() if number)
    lines = [f"- The verdict is the same {alike}."] if alike else []
    lines += [
        f"- {here[0].upper()}{here[1:]} on {report.datasets}, {there} on {data}: {_by_paper(report, claims)}."
        for (data, here, there), claims in groups.items()
    ]
    return [f"## What differs on {' and '.join(report.published)}", "", *lines] if lines else []


def _failed(report: Reported) -> list[str]:
    """What did not reproduce, and why; then what could not be told."""
    failed, rest = dict[tuple[str, str], list[str]](), dict[str, list[tuple[str, str]]]()
    for paper, said in report.papers.items():
        for claim in said["claims"]:
            record = claim["records"][0]
            verdict = record["verdict"]
            if verdict == FAILS:
                why = claim["explained"] or "No reason was found."
                failed.setdefault((paper, why), []).append(f"{_link(paper, claim['id'])}, {claim['sentence']}")
            elif verdict == UNSURE:
                rest.setdefault(_UNSURE, []).append((paper, f"{claim['id']} ({record['detectable']})"))
            elif verdict != HOLDS:
                rest.setdefault(f"{verdict[0].upper()}{verdict[1:]}", []).append((paper, claim["id"]))
    lines = [f"- {report.papers[paper]['label']} {'; '.join(claims)}. {why}" for (paper, why), claims in failed.items()]
    lines += [f"- {what}: {_by_paper(report, claims)}." for what, claims in rest.items()]
    return ["## What did not reproduce", "", *lines] if lines else []


def _by_paper(report: Reported, claims: Sequence[tuple[str, str]]) -> str:
    """ "SLE C1, C2; PSST P1" of papers and claims."""
    found: dict[str, list[str]] = {}
    for paper, claim in claims:
        found.setdefault(report.papers[paper]["label"], []).append(claim)
    return "; ".join(f"{label} {', '.join(its)}" for label, its in found.items())


def _limits(report: Reported) -> list[str]:
    seeds = [int(record["seeds"].partition("/")[2]) for _, _, record in report.claims() if record["seeds"]]
    datasets = {data for said in report.papers.values() for data in said["datasets"]}
    return texts.lines(
        "limits",
        generated=bool({"scenes", "clips"} & datasets),
        seeds=sorted({min(seeds), max(seeds)}) if seeds else [],
        levels=list(dict.fromkeys(name for said in report.papers.values() for name in said["levels"])),
        features=report.features,
    )


def _origin(report: Reported, measured: Measured | None) -> list[str]:
    config = report.config
    seeds = sorted({seed for runs in config.runs.values() for run in runs.values() for seed in run.seeds})
    facts = [["", ""], *(map(list, measured.facts) if measured else [])]
    facts.append(["training seeds", ", ".join(map(str, seeds))])
    if measured:
        names = {"": "pretraining", **{paper: said["label"] for paper, said in report.papers.items()}}
        minutes = [f"{label} {measured.totals[name]:.1f}" for name, label in names.items() if name in measured.totals]
        facts.append(["minutes of training, all runs and seeds, one core each", ", ".join(minutes) or "not known"])
    facts.append(["all of it again", "`seqcap repro --jobs 2`"])
    facts.append(["one part", f"`seqcap repro --papers <paper>`, of {', '.join(report.papers)}"])
    return ["## Where this comes from", "", *_table(facts)]


def span(record: Record) -> str:
    """ "+1.5 [-0.2, +3.1]"; "" without a number."""
    difference, low, high = (_signed(record[column]) for column in ("difference", "low", "high"))
    return f"{difference} [{low}, {high}]" if difference else ""


def _signed(number: str) -> str:
    return number if number[:1] in ("", "+", "-") else f"+{number}"


def _names(report: Reported) -> str:
    return " / ".join(report.published)


def _beside(report: Reported, primary: Record) -> str:
    several = len(report.published) > 1
    found = report.elsewhere(primary).items()
    return "; ".join(f"{data + ' ' if several else ''}{span(record)} {record['verdict']}" for data, record in found)


def _link(paper: str, claim: str) -> str:
    return f"[{claim}]({paper}/report.md#{claim.lower()})"


def _table(matrix: Sequence[Sequence[str]]) -> list[str]:
    """As `markdown_table`, with bold cells."""
    return [line.replace("\\*\\*", "**") for line in markdown_table(matrix)]
