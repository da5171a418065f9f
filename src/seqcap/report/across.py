"""The papers' objectives on one captioner, on the first page: table and figure."""

from seqcap.files.json_file import read_json
from seqcap.report import REPORTS
from seqcap.report.overview import Lines, read
from seqcap.report.overview import overview as table_of
from seqcap.report.provenance import Measured

PAPER = "across"  # made like a paper, but of none


def lines() -> Lines:
    return read(REPORTS / PAPER / "tables/across.csv")


def overview(table: Lines, measured: Measured | None) -> list[str]:
    """Table and figure, with the minutes that were measured."""
    if not table:
        return []
    names = dict.fromkeys(line["run"] for line in table)
    minutes = {run: f"{measured.minutes[run]:.1f}" for run in names if run in measured.minutes} if measured else {}
    folder = REPORTS / PAPER / "figures"
    figures = read_json(folder / "figures.json")
    drawn = [name for name in figures["order"] if "missing" not in figures["figures"][name]][:1]
    shown = [
        line for name in drawn for line in ("", f"![{figures['figures'][name]['title']}]({PAPER}/figures/{name}.png)")
    ]
    return [
        "## All objectives on one captioner",
        "",
        f"More of it, and how well the papers' yardsticks rank these objectives, is on [its page]({PAPER}/report.md). "
        "Minutes: of one core, for the training of one seed after the common start.",
        "",
        *table_of(table, {"minutes": minutes}),
        *shown,
    ]
