"""Tables that PG-SPIDEr's paper does not print: every reward and all metrics of every run."""

from seqcap.report.inputs import Results
from seqcap.report.tables import Cell, Measure, measured_cells, quality_cells


def rewards(results: Results) -> list[Cell]:
    paid = dict.fromkeys(run.reward for run in results.trained if run.reward)
    names = [name for name in paid if measured(results, name)]
    cells = []
    for decoder in ("greedy", "beam"):
        columns = {name: Measure(decoder, f"reward_{name}") for name in names}
        for run in results.trained:
            for cell in measured_cells(results, decoder, run, columns):
                own = cell.column == run.reward
                cells.append(cell.remarked("the reward it was trained on") if own else cell)
    return cells


def measured(results: Results, reward: str) -> bool:
    """Whether the reward was measured: one that counts EOS is for training only."""
    of_greedy = Measure("greedy", f"reward_{reward}")
    return any(of_greedy.of(results, run.name).value is not None for run in results.trained)


TABLES = {"spider_rewards": rewards, "spider_quality": quality_cells}
