"""Tables that PG-SPIDEr's paper does not print: every reward and all metrics of every run."""

from seqcap.report.inputs import Results
from seqcap.report.tables import Cell, Measure, measured_cells, quality_cells


def rewards(results: Results) -> list[Cell]:
    names = list(dict.fromkeys(run.reward for run in results.trained if run.reward))
    cells = []
    for decoder in ("greedy", "beam"):
        columns = {name: Measure(decoder, f"reward_{name}") for name in names}
        for run in results.trained:
            for cell in measured_cells(results, decoder, run, columns):
                own = cell.column == run.reward
                cells.append(cell.remarked("the reward it was trained on") if own else cell)
    return cells


TABLES = {"spider_rewards": rewards, "spider_quality": quality_cells}
