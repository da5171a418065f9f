"""Quality against diversity, distinctiveness and truth: a point per objective, a marker per paper."""

from matplotlib.figure import Figure

from seqcap.papers.across.tables import FILE, by_paper
from seqcap.report.drawing import tradeoff_figure
from seqcap.report.inputs import Results


def tradeoffs(results: Results) -> Figure | str:
    """As figures.yaml declares it, with the markers of methods.yaml."""
    papers = by_paper(results)
    shapes = {paper: FILE.papers[paper].marker for paper in papers}
    markers = {run.name: shapes[paper] for paper, runs in papers.items() for run in runs}
    markers |= dict.fromkeys(FILE.temperatures, shapes["baseline"])
    declared = results.paper.figures["across"].tradeoffs
    assert declared is not None  # figures.yaml has them
    line = tradeoff_figure.Line("cross-entropy at other temperatures", FILE.temperatures)
    return tradeoff_figure.draw(results, declared, markers, shapes, line)


FIGURES = {"across": tradeoffs}
