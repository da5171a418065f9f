"""Stage `figure_<paper>`: captions, scores, curves -> reports/figures/<paper>_*.png and reports/curves_<paper>.csv."""

import argparse

from seqcap.errors import one_line_errors
from seqcap.reporting import figures
from seqcap.reporting.inputs import Run
from seqcap.reporting.papers import find


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper")
    run = Run.read(find(parser.parse_args().paper))
    figures.draw(run)
    figures.write_curves(run)


if __name__ == "__main__":
    with one_line_errors():
        main()
