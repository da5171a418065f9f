"""Stage `table_<paper>`: scores -> reports/tables/<paper>_*.csv and .md."""

import argparse

from seqcap.errors import one_line_errors
from seqcap.reporting.inputs import ReportConfig, Scores, read_variants
from seqcap.reporting.tables import PAPERS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", choices=sorted(PAPERS))
    paper = parser.parse_args().paper
    for table in PAPERS[paper](Scores.read(paper), read_variants(paper), ReportConfig.read()):
        table.write()


if __name__ == "__main__":
    with one_line_errors():
        main()
