"""A paper's tables: `tables.py <paper>` -> reports/<paper>/tables."""

import sys

from seqcap import papers
from seqcap.config.report import PaperConfig
from seqcap.errors import one_line_errors
from seqcap.report.inputs import Results
from seqcap.report.tables import write_tables
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"tables-{sys.argv[1]}"):
        config = PaperConfig.read("tables", sys.argv[1])
        write_tables(Results.read(config, papers.load(config.paper)))
