"""A paper's page, its details and its results: `section.py <paper>` -> reports/<paper>."""

import sys

from seqcap import papers
from seqcap.config.report import SectionConfig
from seqcap.errors import one_line_errors
from seqcap.report.inputs import Results
from seqcap.report.section import write_section
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"section-{sys.argv[1]}"):
        config = SectionConfig.read("section", sys.argv[1])
        write_section(Results.read(config, papers.load(config.paper)), config.comparisons)
