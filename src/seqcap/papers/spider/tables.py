"""Tables that PG-SPIDEr's paper does not print: every reward and all metrics of every run."""

from seqcap.report.inputs import Run
from seqcap.report.tables import Cell, Measure, measured_cells, quality_cells


def rewards(run: Run) -> list[Cell]:
    names = list(dict.fromkeys(entry.reward for entry in run.trained if entry.reward))
    cells = []
    for decoder in ("greedy", "beam"):
        columns = {name: Measure(decoder, f"reward_{name}") for name in names}
        for entry in run.trained:
            for cell in measured_cells(run, decoder, entry, columns):
                own = cell.column == entry.reward
                cells.append(cell.remarked("the reward it was trained on") if own else cell)
    return cells


TABLES = {"spider_rewards": rewards, "spider_quality": quality_cells}
