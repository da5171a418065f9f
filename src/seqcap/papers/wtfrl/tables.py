"""Tables that WTF-RL's paper does not print: recall by a judge and by truth, and ablations."""

from dataclasses import replace

from seqcap.papers.wtfrl.runs import PEOPLE, WTF_RL, ablations, in_words, runs_of_table
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.statistics import difference
from seqcap.report.tables import HUMAN_LABEL, Cell, Made, Measure, columns_beside, measured_cells, shown
from seqcap.report.tradeoff import Score


def retrieval(run: Run) -> list[Cell]:
    """Recall by the retriever that pays, by a judge, and exactly; people's captions last."""
    columns = columns_beside(run, "wtfrl_retrieval", "beam")
    rows = [
        (entry.label, {column: Score(entry.name, of) for column, of in columns.items()}) for entry in runs_of_table(run)
    ]
    people = {}
    for column, of in columns.items():
        name = PEOPLE if of.metric.startswith("own_") else HUMAN
        people[column] = Score(name, Measure("sample", of.metric, "set" if of.captions == "set" else "every"))
    rows.append((HUMAN_LABEL, people))
    units, data, cells = run.kind(run.config.pictures).units, run.stand_in(run.config.pictures), []
    for row, scores in rows:
        for column, score in scores.items():
            cells.append(Cell.of(run, score.measure.metric, "", row, column, score.measure.of(run, score.name), data))
        for column in ("T2I R@10", "I2T R@10"):
            paid, judged = (scores[f"{column}, {who}"] for who in ("reward's", "judge's"))
            gap, name = shown(difference(paid.number(run), judged.number(run)), units), f"{column}, reward's - judge's"
            cells.append(replace(Cell.of(run, paid.measure.metric, "", row, name, gap, data), direction=""))
    return cells


def changes(run: Run) -> Made:
    if WTF_RL not in run.by_name:
        return Made([], f"Not measured: variant {WTF_RL} is not part of this run.")
    blocks = ablations(run)
    if not blocks:
        return Made([], "This run has no ablations.")
    columns = columns_beside(run, "wtfrl_ablations", "beam")
    base = run.by_name[WTF_RL]
    cells = [cell.remarked(in_words(base)) for cell in measured_cells(run, "as it is", base, columns)]
    for block, rows in blocks.items():
        for row, entry in rows.items():
            cells += [replace(cell, row=row) for cell in measured_cells(run, block, entry, columns)]
    return Made(cells)


TABLES = {"wtfrl_retrieval": retrieval, "wtfrl_ablations": changes}
