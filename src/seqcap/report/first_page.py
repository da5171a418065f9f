"""The first page: what the papers claim and how it fares here. Its numbers are those of the papers' claims.json and of
the table across papers; what was measured is added where it is given. texts/first_page.md has its words."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqcap.config.report import ReportConfig
from seqcap.report import overview, texts
from seqcap.report.provenance import Measured
from seqcap.report.verdicts import DECIDED, HOLDS, LESS, NOT_RUN, REVERSED

Record = Mapping[str, str]  # a line of claims.csv
Said = Mapping[str, Any]  # of a paper: its claims.json
Claim = Mapping[str, Any]  # an entry of it
ByPaper = dict[str, list[str]]  # paper -> claims


def key(record: Record) -> tuple[str, ...]:
    """What tells comparisons apart, whatever the words for them and the claim that they are part of."""
    return tuple(record[column] for column in ("paper", "metric", "decoder", "left", "right", "base"))


@dataclass(frozen=True)
class Reported:
    config: ReportConfig
    papers: Mapping[str, Said]  # those whose parts are there
    published: Mapping[str, Mapping[tuple[str, ...], Record]]  # data -> `key` of a comparison -> its line there
    faults: Sequence[str]  # why published data are left out
    features: str  # the page on what the features of generated images hold; "" if there are none

    def claims(self) -> Iterator[tuple[str, Claim, Record]]:
        """Each paper's claims, with their primary comparisons."""
        for paper, said in self.papers.items():
            for claim in said["claims"]:
                yield paper, claim, claim["records"][0]

    def elsewhere(self, primary: Record) -> dict[str, Record]:
        """Data -> the same comparison there, if it has a number."""
        found = {data: records.get(key(primary)) for data, records in self.published.items()}
        return {data: record for data, record in found.items() if record is not None and record["difference"]}

    def others(self, paper: str) -> list[str]:
        """The other data that some claim of a paper was run on."""
        records = [record for name, _, record in self.claims() if name == paper and record["verdict"] != NOT_RUN]
        return list(dict.fromkeys(data for record in records for data in self.elsewhere(record)))

    @property
    def absent(self) -> list[str]:
        return [paper for paper in self.config.papers if paper not in self.papers]

    @property
    def datasets(self) -> str:
        return ", ".join(dict.fromkeys(data for said in self.papers.values() for data in said["datasets"]))

    def total(self, kind: str) -> Counter[str]:
        """The "verdicts" on all papers' claims, or those on "controls"."""
        return sum((Counter(said[kind]) for said in self.papers.values()), Counter[str]())

    @property
    def sizes(self) -> dict[str, str]:
        """Data -> "2 training seeds, 1,000 test items" of its comparisons."""
        found = {}
        for data, records in self.published.items():
            seeds = {int(n) for record in records.values() for n in record["seeds"].split(" and ") if n}
            items = {int(record["items"]) for record in records.values() if record["items"]}
            found[data] = f"{_span(seeds)} training seeds, {_span(items)} test items"
        return found


def first_page(report: Reported, measured: Measured | None) -> str:
    """The page as markdown; links are relative to reports/. `measured`: None leaves out what is measured."""
    labels = {"": "pretraining", **{paper: said["label"] for paper, said in report.papers.items()}}
    totals = {label: measured.totals[name] for name, label in labels.items() if measured and name in measured.totals}
    runs = [run for runs in report.config.runs.values() for run in runs.values()]
    return texts.text(
        "first_page",
        report=report,
        remarks=report.papers.get(overview.ACROSS, {}).get("remarks", ()),
        measured=measured,
        totals=totals,
        seeds=sorted({seed for run in runs for seed in run.seeds}),
        **_findings(report),
        **(overview.on_first_page(measured) if overview.ACROSS in report.papers else {"table": []}),
        **_differing(report),
        **_failed(report),
        **_limits(report),
    )


def _findings(report: Reported) -> dict[str, Any]:
    """What each paper claims above all and, below it, a control of it; and the papers whose claim was not run."""
    findings, left_out = [], []
    for paper, said in report.papers.items():
        claims = {claim["id"]: claim for claim in said["claims"] if claim["records"][0]["difference"]}
        if not said["claims"]:
            continue
        claim, control = (claims.get(said["finding"][name]) for name in ("claim", "control"))
        if claim is None:
            left_out.append(said["label"])
            continue
        findings.append({"paper": paper, "first": True, "sentence": said["finding"]["sentence"], "claim": claim})
        if control:
            findings.append({"paper": paper, "first": False, "sentence": control["sentence"], "claim": control})
    return {"findings": findings, "left_out": left_out}


def _differing(report: Reported) -> dict[str, Any]:
    """Claims that were tested here and on other data, with the same verdict or with different ones."""
    same, both, differing = Counter[str](), Counter[str](), dict[tuple[str, str, str], ByPaper]()
    for paper, claim, record in report.claims():
        for data, other in report.elsewhere(record).items():
            here, there = record["verdict"], other["verdict"]
            if here in DECIDED and there in DECIDED:
                both[data] += 1
                same[data] += here == there
                if here != there:
                    differing.setdefault((data, here, there), {}).setdefault(paper, []).append(claim["id"])
    return {"same": {data: f"{same[data]} of {number}" for data, number in both.items()}, "differing": differing}


def _span(numbers: Collection[int]) -> str:
    return " to ".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)})) if numbers else "no"


def _failed(report: Reported) -> dict[str, Any]:
    """What did not reproduce, by paper and reason; then what could not be told, by verdict."""
    failed, untold = dict[tuple[str, str], list[Claim]](), dict[str, ByPaper]()
    for paper, claim, record in report.claims():
        verdict = record["verdict"]
        if verdict in (REVERSED, LESS):
            failed.setdefault((paper, claim["explained"] or "No reason was found."), []).append(claim)
        elif verdict != HOLDS:
            untold.setdefault(verdict, {}).setdefault(paper, []).append(claim["id"])
    return {"failed": failed, "untold": untold}


def _limits(report: Reported) -> dict[str, Any]:
    records = [record for _, _, record in report.claims() if record["seeds"] and record["verdict"] != NOT_RUN]
    seeds = {int(n) for record in records for n in record["seeds"].split(" and ")}
    said = report.papers.values()
    return {
        "generated": any({"scenes", "clips"} & set(of["datasets"]) for of in said),
        "repeated": _span(seeds) if seeds else "",
        "levels": list(dict.fromkeys(name for of in said for name in of["levels"])),
    }
