"""`seqcap compare`: the difference between two runs that are scored already, and its place in the report."""

from pathlib import Path

from seqcap import papers
from seqcap.config import config_path
from seqcap.config.report import ReportConfig, SectionConfig
from seqcap.errors import InputError
from seqcap.pipeline.experiment import apply_overlay
from seqcap.pipeline.params import read_params
from seqcap.report.comparison import compared, heading, matrix
from seqcap.report.inputs import Run
from seqcap.tools.score_tables import align


def compare(left: str, right: str) -> str:
    """A table of the differences between two runs of a paper, in every metric that both have."""
    config = find_paper(left, right)
    run = Run.read(config, papers.load(config.paper))
    results = compared(run, left, right)
    if not results:
        raise InputError(f"{left}, {right}", "have no score in common", "run `seqcap repro`")
    return "\n".join([heading(run, left, right, results), *align(matrix(run, left, right, results))])


def keep(left: str, right: str) -> str:
    """Adds the comparison to the paper's parameters, and says so in a line."""
    paper = find_paper(left, right).paper
    params = read_params()
    path = params.source(paper)
    pairs = [list(pair) for pair in params.papers[paper].comparisons]
    if [left, right] not in pairs:
        apply_overlay(Path(), {path.as_posix(): {"comparisons": [*pairs, [left, right]]}}, path)
    return f"{path}: the report compares {left} with {right} from the next `seqcap repro` on"


def find_paper(left: str, right: str) -> SectionConfig:
    """The configuration of the paper that has both runs."""
    if not config_path("report").is_file():
        raise InputError(config_path("report"), "does not exist", "run `seqcap repro` from the root of a checkout")
    known: set[str] = set()
    for paper in ReportConfig.read("report").papers:
        config = SectionConfig.read("section", paper)
        runs = {run.name for run in config.runs}
        if {left, right} <= runs:
            return config
        known |= runs
    for name in (left, right):
        if name not in known:
            raise InputError("papers/", f"there is no trained run {name!r}", f"choose among {', '.join(sorted(known))}")
    raise InputError("papers/", f"no paper has both {left} and {right}", "compare runs of one paper")
