"""WTF-RL's runs, and the measures of Table 1."""

from seqcap.config.report import ReportedRun
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.paper import Paper
from seqcap.report.tables import Measure

TF, LONGER, WTF, WTF_RL, RL, ALONE = ("tf", "tf_longer", "wtf", "wtf_rl", "rl", "rl_alone")
PEOPLE = f"{HUMAN}:reward"  # in the scores: people's captions, found by the retriever that pays


def measure(run: Run, column: str, of: str = "table1") -> Measure:
    """The measure of a column, of the best caption of the beam; with `of` "judge" recall by the judge."""
    return Measure("beam", *run.paper.facts.columns[of][column])


def rows_by_run(paper: Paper) -> dict[str, str]:
    return {name: row for row, (name, _) in paper.facts.rows["table1"].items()}


def runs_of_table(run: Run) -> list[ReportedRun]:
    """The runs that make rows, in their order, without the ablations."""
    return [run.by_name[name] for name in rows_by_run(run.paper) if name in run.by_name]
