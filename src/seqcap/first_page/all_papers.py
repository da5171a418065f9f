"""What the first page is made of: the committed results of all papers, and what has been published on other data."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seqcap.first_page import elsewhere
from seqcap.first_page.elsewhere import There
from seqcap.first_page.own_runs import JUDGE, OWN
from seqcap.report.reported import ReportConfig
from seqcap.report.summary import Claim, Summary, foremost, has_results
from seqcap.report.verdicts import HOLDS, NOT_RUN

GENERATED = {"scenes", "clips"}  # datasets


@dataclass(frozen=True)
class Reported:
    """What the first page is made of: the committed results of all papers."""

    config: ReportConfig
    folder: Path  # of the report
    papers: Mapping[str, Summary]  # those whose results are there
    published: Mapping[str, Mapping[str, Summary]]  # data -> paper -> what an experiment on it has published
    again: Mapping[str, Mapping[Path, Summary]]  # data -> folder -> what another experiment on it has of such a paper
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

    def claim_on(self, data: str, paper: str, name: str) -> Claim | None:
        """A paper's claim on other data, by today's rule; None where there is none."""
        summary = self.published[data].get(paper)
        if summary is None or summary.rule:
            return None
        return next((claim for claim in summary.claims if claim.id == name), None)

    def unconfirmed(self, paper: str, claim: Claim, data: str) -> list[Claim]:
        """Our questions about a claim that holds on other data, by its own listener, that a judge there does not
        confirm."""
        there = self.claim_on(data, paper, claim.id)
        if there is None or there.verdict != HOLDS or not there.deciding.key[1].startswith(OWN):
            return []
        controls = self.published[data][paper].controls_of(there)
        return [control for control in controls if control.deciding.key[1] == JUDGE and control.verdict != HOLDS]

    def shown(self, paper: str) -> list[Claim]:
        """The claims of a paper that this page shows (`foremost`), of those that were run."""
        summary = self.papers[paper]
        claims = {claim.id: claim for claim in summary.claims if claim.verdict != NOT_RUN}
        return [claims[name] for name in foremost(summary.said["finding"], list(claims))]

    def main(self, paper: str) -> Claim | None:
        """What a paper claims above all; None where that was not run."""
        summary = self.papers[paper]
        name = (summary.said["finding"] or {}).get("claim")
        return next((claim for claim in summary.claims if claim.id == name and claim.verdict != NOT_RUN), None)

    def tabled(self, paper: str) -> list[Claim]:
        """The claims that a paper's table has on this page: those that it shows, and all others that hold. Its main
        claim and our controls stand in the table of main claims, where numbers prove something."""
        if not self.config.proves:
            return self.shown(paper)
        main = self.main(paper)
        shown = [claim for claim in self.shown(paper) if not claim.control and claim is not main]
        holding = [claim for claim in self.papers[paper].claims if claim.verdict == HOLDS and not claim.control]
        more = [claim for claim in holding if claim is not main and claim not in shown]
        return [*shown, *more]

    def told(self, paper: str) -> list[Claim]:
        """The claims whose numbers stand in one of the tables of this page."""
        main = self.main(paper) if self.config.proves else None
        return [*([main] if main else []), *self.tabled(paper)]

    def captioner(self, paper: str) -> str:
        """A paper's captioner; "" where it has several, or its results do not say it."""
        names = self.papers[paper].said.get("captioners", [])
        return str(names[0]) if len(names) == 1 else ""

    def without_another_judge(self, data: str) -> list[str]:
        """The papers whose judge on other data is of the kind that pays, and whose judge here is not."""
        papers = self.published[data].items()
        known = [(self.papers[paper], summary) for paper, summary in papers if paper in self.papers]
        return [str(there.said["label"]) for here, there in known if elsewhere.has_another_judge(here, there)]

    def has_only_sentences(self, data: str) -> bool:
        tasks = [task for summary in self.published[data].values() for task in summary.provenance["data"]]
        return bool(tasks) and all(task["kind"] == "sentences" for task in tasks)

    def page_of(self, paper: str, data: str) -> str:
        """A paper's page on other data, relative to this report; "" where it is not in its folder."""
        folder = self.folder_of(paper, data)
        return self.page(folder) if folder else ""

    def folder_of(self, paper: str, data: str) -> Path | None:
        """The folder of a paper's results on other data; None without any."""
        folders = (Path(folder, paper) for folder in self.config.beside[data])
        return next(filter(has_results, folders), None)

    def page(self, folder: Path) -> str:
        """The page in a folder of results, relative to this report; "" where it is not in its folder."""
        page = folder / "report.md"
        return page.relative_to(self.folder).as_posix() if page.is_relative_to(self.folder) else ""

    def linked(self, folder: Path, label: str) -> str:
        """A label with a link to the page in a folder of results; alone where the page is not in this report's."""
        page = self.page(folder)
        return f"[{label}]({page})" if page else label

    def with_numbers(self, paper: str) -> list[str]:
        """The other data that a claim of a paper which this page shows has a number on."""
        told = self.told(paper)
        return [data for data in self.published if any(data in self.elsewhere(paper, claim) for claim in told)]

    def pages_on(self, data: str, papers: Collection[str]) -> str:
        """Some papers with results on other data, each with a link to its page there."""
        labels = {paper: str(self.published[data][paper].said["label"]) for paper in papers}
        folders = {paper: self.folder_of(paper, data) for paper in labels}
        linked = [self.linked(folder, labels[paper]) if folder else labels[paper] for paper, folder in folders.items()]
        return ", ".join(linked)

    @staticmethod
    def named_study(summary: Summary, what: str) -> str:
        """What a study is called, with its data where these are not generated: there may be one on several."""
        others = [data for data in summary.said["datasets"] if data not in GENERATED]
        return f"{what} ({', '.join(others)})" if others else what

    @property
    def absent(self) -> list[str]:
        return [paper for paper in self.config.papers if paper not in self.papers]

    @property
    def datasets(self) -> str:
        return ", ".join(dict.fromkeys(data for summary in self.papers.values() for data in summary.said["datasets"]))

    @property
    def on_generated(self) -> str:
        """ " on generated scenes": what the title says of the data."""
        generated = set(self.datasets.split(", ")) <= GENERATED
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
        return sizes(self.published[data].values())


def sizes(summaries: Iterable[Summary]) -> str:
    """ "2 training seeds, 1,000 test items" of the comparisons in some results."""
    lines = [line for summary in summaries for claim in summary.claims for line in claim.lines]
    seeds = {number for line in lines for number in line.seeds}
    items = {line.items for line in lines if line.items}
    return f"{span(seeds)} training seeds, {span(items)} test items"


def span(numbers: Collection[int]) -> str:
    """ "1 to 2": the lowest and the highest of some counts, once where they are one; "no" without any."""
    return " to ".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)})) if numbers else "no"


def link(paper: str, claim: Claim) -> str:
    """A link from the first page to a claim on its paper's page."""
    return f"[{claim.id}]({paper}/report.md#{claim.id.lower()})"
