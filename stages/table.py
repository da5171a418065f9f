"""Stage `table_<paper>`: scores -> reports/tables/<paper>_*.csv and .md."""

import argparse

from seqcap.errors import one_line_errors
from seqcap.reporting.inputs import Run
from seqcap.reporting.papers import find


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper")
    run = Run.read(find(parser.parse_args().paper))
    for name, make in run.paper.tables.items():
        make(run).write(name)


if __name__ == "__main__":
    with one_line_errors():
        main()
