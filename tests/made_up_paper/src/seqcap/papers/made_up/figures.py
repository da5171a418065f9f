"""The made-up Figure 1."""

from matplotlib.figure import Figure

from seqcap.report.inputs import Results


def figure1(results: Results) -> Figure:
    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    for entry in results.runs:
        by_seed = results.scores.by_seed(entry.name, "beam", "CIDEr")
        if by_seed is not None:
            axes.plot(by_seed.index, by_seed, "o", label=entry.label)
    axes.legend()
    return figure


FIGURES = {"made_up_fig1": figure1}
