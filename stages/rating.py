"""A web page on which people rate a paper's captions: `rating.py <paper>` -> reports/<paper>/rating."""

import sys

from seqcap import papers
from seqcap.config.rating import RatingConfig
from seqcap.errors import one_line_errors
from seqcap.rating.page import write_kit
from seqcap.report.inputs import Results
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"rating-{sys.argv[1]}"):
        config = RatingConfig.read("rating", sys.argv[1])
        write_kit(Results.read(config, papers.load(config.paper)), config.judge)
