"""A paper's figures: `figures.py <paper>` -> reports/<paper>/figures."""

import sys

from seqcap import papers
from seqcap.config.report import PaperConfig
from seqcap.errors import one_line_errors
from seqcap.report.figures import write_figures
from seqcap.report.inputs import Results
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"figures-{sys.argv[1]}"):
        config = PaperConfig.read("figures", sys.argv[1])
        write_figures(Results.read(config, papers.load(config.paper)))
