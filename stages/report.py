"""What is about all papers: a first page, all pages as HTML, claims.csv, curves.csv and metrics.json.
`report.py` writes it into reports/, `report.py <folder>` into another folder that holds one for each paper."""

import sys
from pathlib import Path

from seqcap.config.report import ReportConfig
from seqcap.errors import one_line_errors
from seqcap.report import REPORTS
from seqcap.report.report import write_report
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone("report"):
        write_report(ReportConfig.read("report"), Path(sys.argv[1]) if sys.argv[1:] else REPORTS)
