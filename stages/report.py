"""What is about all papers: a first page, all pages as HTML, claims.csv, curves.csv and metrics.json.
`report.py` writes it into reports/, `report.py <folder>` into another folder that holds one for each paper."""

import sys
from pathlib import Path

from seqcap.errors import one_line_errors
from seqcap.first_page.report import write_report
from seqcap.pipeline.kind import Key, Kind, Project, Stage, Stages
from seqcap.pipeline.validation import Section
from seqcap.report import REPORTS
from seqcap.report.reported import ReportConfig
from seqcap.system.scratch import alone


class ReportParams(Section):
    """What params.yaml says of the first page."""

    proves: bool  # whether its runs are long enough to say anything of the papers
    # Data -> folders that experiments on it have published; of a paper the first that has it.
    beside: dict[str, list[str]] | None


REPORT: Key[ReportParams] = Key("report", ReportParams)


def stages(project: Project) -> Stages:
    wanted, papers = project.params[REPORT], project.params.papers
    probed = [path for stage in project.stages("probe").values() for path in stage.writes]
    config = ReportConfig(
        proves=wanted.proves,
        papers=tuple(papers),
        pictures=tuple(project.shared.features),
        beside=wanted.beside or {},
    )
    folders = [folder for folders in config.beside.values() for folder in folders]
    # Its sections, too, must be there: it reads all that is in a paper's folder.
    project.stages("section")
    written = ("report.md", "report.html", "features/report.md", "claims.csv", "curves.csv")
    yield Stage(
        "",
        "The first page, and all pages as one file",
        config,
        # All that it reads is in git, so that one paper can be run without the others.
        reads=[*(f"reports/{paper}" for paper in papers), *probed, *folders],
        writes=[f"reports/{path}" for path in written],
        cached=False,
        metrics=["reports/metrics.json"],
    )


def run(config: ReportConfig, folder: str) -> None:
    write_report(config, Path(folder) if folder else REPORTS)


KIND = Kind("report", ReportConfig, stages, run, keys=[REPORT])

if __name__ == "__main__":
    with one_line_errors(), alone("report"):
        run(ReportConfig.read("report"), sys.argv[1] if sys.argv[1:] else "")
