"""Tables that WTF-RL's paper does not print: recall by a judge and by truth, and ablations."""

from dataclasses import replace

from seqcap.papers.wtfrl.runs import PEOPLE, WTF_RL, ablations, in_words, runs_of_table
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.statistics import difference
from seqcap.report.tables import Cell, Content, Measure, columns_beside, measured_cells, people_label, shown
from seqcap.report.tradeoff import Score


def retrieval(results: Results) -> list[Cell]:
    """Recall by the retriever that pays, by a judge, and exactly; people's captions last."""
    columns = columns_beside(results, "wtfrl_retrieval", "beam")
    rows = [
        (run.label, {column: Score(run.name, measure) for column, measure in columns.items()})
        for run in runs_of_table(results)
    ]
    people = {}
    for column, measure in columns.items():
        name = PEOPLE if measure.metric.startswith("own_") else HUMAN
        people[column] = Score(name, Measure("sample", measure.metric, "set" if measure.captions == "set" else "every"))
    rows.append((people_label(results), people))
    units, data, cells = results.kind(results.config.pictures).units, results.stand_in(results.config.pictures), []
    for row, scores in rows:
        for column, score in scores.items():
            cells.append(
                Cell.of(results, score.measure.metric, "", row, column, score.measure.of(results, score.name), data)
            )
        for column in ("T2I R@10", "I2T R@10"):
            paid, judged = (scores[f"{column}, {who}"] for who in ("reward's", "judge's"))
            gap, name = (
                shown(difference(paid.number(results), judged.number(results)), units),
                f"{column}, reward's - judge's",
            )
            cells.append(replace(Cell.of(results, paid.measure.metric, "", row, name, gap, data), direction=""))
    return cells


def changes(results: Results) -> Content:
    if WTF_RL not in results.by_name:
        return Content([], f"Not measured: run {WTF_RL} is not part of these results.")
    blocks = ablations(results)
    if not blocks:
        return Content([], "This run has no ablations.")
    columns = columns_beside(results, "wtfrl_ablations", "beam")
    base = results.by_name[WTF_RL]
    cells = [cell.remarked(in_words(base)) for cell in measured_cells(results, "as it is", base, columns)]
    for block, rows in blocks.items():
        for row, run in rows.items():
            cells += [replace(cell, row=row) for cell in measured_cells(results, block, run, columns)]
    return Content(cells)


TABLES = {"wtfrl_retrieval": retrieval, "wtfrl_ablations": changes}
