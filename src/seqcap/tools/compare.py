"""`seqcap compare`: the difference between two runs that are scored already, and its place in the report."""

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from difflib import get_close_matches
from pathlib import Path

from seqcap import papers
from seqcap.config import config_path
from seqcap.errors import InputError
from seqcap.pipeline.experiment import RUNS, apply_overlay
from seqcap.pipeline.parameter_files import PARAMS
from seqcap.pipeline.params import read_params
from seqcap.report.comparison import compared, heading, matrix
from seqcap.report.inputs import Results
from seqcap.report.reported import ReportConfig, SectionConfig
from seqcap.tools.score import align


@contextmanager
def scored(experiment: str | None = None) -> Iterator[None]:
    """Works in the root of the checkout around this folder, or in the clone of one of its experiments."""
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / PARAMS).is_file()), None)
    if root is None:
        raise InputError("seqcap compare", "this is no checkout of seqcap", "change to one that has run `seqcap repro`")
    if experiment is not None:
        root = root / RUNS / experiment
        if not root.is_dir():
            known = ", ".join(path.name for path in sorted(root.parent.glob("[!.]*")))
            problem = f"there is no such experiment here, but {known}" if known else "there is no experiment here"
            fix = "run it with `seqcap repro --experiment`"
            raise InputError(root.relative_to(root.parents[1]), problem, fix)
    with chdir(root):
        yield


def compare(left: str, right: str) -> str:
    """A table of the differences between two runs of a paper, in every metric that both have."""
    config = find_paper(left, right)
    run = Results.read(config, papers.load(config.paper))
    results = compared(run, left, right)
    if not results:
        raise InputError(f"{left}, {right}", "have no score in common", "run `seqcap repro`")
    return "\n".join([heading(run, left, right, results), *align(matrix(run, left, right, results))])


def keep(left: str, right: str) -> str:
    """Adds the comparison to the paper's parameters, and says so in a line. Not in an experiment's clone, which takes
    its parameters from the experiment's file whenever it runs."""
    paper = find_paper(left, right).paper
    clone = Path.cwd()
    if clone.parent.name == RUNS.name and (clone.parents[1] / PARAMS).is_file():
        file, entry = (
            f"experiments/{clone.name}.yaml",
            f"papers/{paper}/runs.yaml: {{comparisons: [[{left}, {right}]]}}",
        )
        raise InputError(file, "decides what this experiment reports", f"add there `{entry}`, and run it again")
    params = read_params()
    path = params.source(paper)
    pairs = [list(pair) for pair in params.papers[paper].comparisons]
    if [left, right] not in pairs:
        apply_overlay(Path(), {path.as_posix(): {"comparisons": [*pairs, [left, right]]}}, path)
    return f"{path}: the report compares {left} with {right} from the next `seqcap repro` on"


def find_paper(left: str, right: str) -> SectionConfig:
    """The configuration of the paper that has both runs."""
    if not config_path("report").is_file():
        raise InputError("seqcap compare", "nothing has run here", "run `seqcap repro`, or name an --experiment")
    known: dict[str, str] = {}
    for paper in ReportConfig.read("report").papers:
        config = SectionConfig.read("section", paper)
        runs = {run.name for run in config.runs}
        if {left, right} <= runs:
            return config
        known |= dict.fromkeys(runs, f"papers/{paper}/runs.yaml")
    for name in (left, right):
        if name not in known:
            close = [f"{run} ({known[run]})" for run in get_close_matches(name, known)]
            fix = f"did you mean {' or '.join(close)}?" if close else f"see {', '.join(sorted(set(known.values())))}"
            raise InputError("seqcap compare", f"no trained run is called {name!r}", fix)
    what = f"{left} is in {known[left]}, {right} in {known[right]}"
    raise InputError("seqcap compare", what, "compare runs of one paper")
