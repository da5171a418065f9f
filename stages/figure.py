"""Stage `figure_<paper>`: decoded captions, scores and curves -> reports/figures/<paper>_*.png and curves.csv."""

import argparse

from seqcap.errors import one_line_errors
from seqcap.reporting import figures, inputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", choices=sorted(figures.PAPERS))
    paper = parser.parse_args().paper
    variants = inputs.read_variants(paper)
    config = inputs.ReportConfig.read()
    run = figures.Inputs(
        config=config,
        variants=variants,
        scores=inputs.Scores.read(paper),
        decoded={variant.variant: inputs.read_decoded(paper, variant.variant) for variant in variants},
        curves=inputs.read_curves(paper, variants),
        images=inputs.read_images(config.split),
    )
    figures.draw(paper, run)
    figures.write_curves(run.curves)


if __name__ == "__main__":
    with one_line_errors():
        main()
