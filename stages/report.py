"""Stage `report`: tables, figures and scores of every paper -> reports/report.md and metrics.json."""

from seqcap.errors import one_line_errors
from seqcap.reporting.papers import read_runs
from seqcap.reporting.report import write_report


def main() -> None:
    write_report(read_runs())


if __name__ == "__main__":
    with one_line_errors():
        main()
