"""The report: a first page, a page per paper, all of them as HTML, claims.csv, curves.csv, metrics.json, pages.json."""

from seqcap.config.report import ReportConfig
from seqcap.errors import one_line_errors
from seqcap.report.report import write_report
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone("report"):
        write_report(ReportConfig.read("report"))
