"""Stage `report`: tables, figures, claims and scores -> reports/report.md and metrics.json."""

from seqcap.errors import one_line_errors
from seqcap.reporting.inputs import ReportConfig, Scores, read_variants
from seqcap.reporting.report import write_report


def main() -> None:
    write_report("sle", Scores.read("sle"), read_variants("sle"), ReportConfig.read())


if __name__ == "__main__":
    with one_line_errors():
        main()
