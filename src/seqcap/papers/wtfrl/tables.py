"""WTF-RL's Table 1, and what it does not print: recall by a judge and by truth, and ablations."""

from __future__ import annotations

from dataclasses import replace

from seqcap.papers.wtfrl.ablations import ablations
from seqcap.papers.wtfrl.rows import COLUMNS, OURS, PEOPLE, ROWS, WTF_RL, by_judge, measure, of_table
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.tables import HUMAN_LABEL, Cell, Measure, Table, measured_cells, with_unpublished
from seqcap.report.tradeoff import Score, difference, shown

_TIES = (
    "Ties: an image that scores as high as the right one stands before it; of captions that score alike, as equal ones "
    "do, the order is random. A captioner that always says the same has an R@1 of 1 / N both ways."
)


def table1(run: Run) -> Table:
    """Every published cell, ours from the best beam caption."""
    reading = (
        f"The first caption of {run.a_beam()}, in which none repeats a trigram. T2I: percent of captions that find "
        "their image among all, within the first K; I2T: percent of images that find their caption among all that were "
        f"generated; both by the retriever that pays the captioner. {_TIES} Self-BLEU: of the first 1,000 captions, "
        "each against the others, 5-grams; a low one is distinctive."
    )
    cells = with_unpublished(run, "table1", ROWS, COLUMNS, OURS, "not in the paper's table")
    return Table("WTF-RL, Table 1: retrieval, writing quality and Self-BLEU", reading, cells)


# --- What the paper does not print

_BY_WHOM = {
    f"{column}, {who}": of(column)
    for who, of in (("reward's", measure), ("judge's", by_judge))
    for column in ("T2I R@1", "T2I R@10", "I2T R@1", "I2T R@10")
}
_EXACT = {
    "T2I R@10, literal": Measure("beam", "literal_R@10"),
    "true of its scene, %": Measure("beam", "true_of_own"),
    "of it alone, %": Measure("beam", "alone"),
    "bits": Measure("beam", "bits"),
}
_LANGUAGE = {"log p of a word": Measure("beam", "xe_log_prob"), "words": Measure("beam", "words")}


def retrieval(run: Run) -> Table:
    """Recall by the retriever that pays, by a judge, and exactly; people's captions last."""
    columns = _BY_WHOM | (_EXACT if run.knows_facts else {}) | _LANGUAGE
    cells = []
    for entry in of_table(run):
        cells += measured_cells(run, "", entry, columns)
        cells += _gaps(run, entry.label, {column: Score(entry.name, of) for column, of in _BY_WHOM.items()})
    data = run.stand_in(run.config.pictures)
    people = {column: Score(_who(of), _heard(of)) for column, of in columns.items()}
    cells += [
        Cell.of(of.measure.metric, "", HUMAN_LABEL, column, of.measure.of(run, of.name), data)
        for column, of in people.items()
    ]
    cells += _gaps(run, HUMAN_LABEL, people)
    exact = (
        "A literal listener believes every word: it takes the scenes that a caption is true of, in any order. Bits: "
        "how much of the choice among all scenes of the split a caption settles, 0 if it is not true of its own. "
    )
    reading = (
        "Table 1's captions found by the retriever that pays (reward's) and by a judge that no objective has seen. "
        "What the first finds and the second does not pleases the reward, but tells nobody else more. "
        f"{exact if run.knows_facts else ''}log p: mean over a caption's words under TF, nats. Of people all captions "
        f"count: each has to find its image, and an image one of its own among all. {_TIES}"
    )
    return Table("WTF-RL: recall by what pays, and by others", reading, cells)


def _who(of: Measure) -> str:
    """Whom a measure of people's captions has the scores of."""
    return PEOPLE if of.metric.startswith("own_") else HUMAN


def _heard(of: Measure) -> Measure:
    """The same of all captions that people wrote."""
    return Measure("sample", of.metric, "set" if of.captions == "set" else "every")


def _gaps(run: Run, row: str, scores: dict[str, Score]) -> list[Cell]:
    """What the retriever that pays finds more than the judge."""
    units, data = run.kind(run.config.pictures).units, run.stand_in(run.config.pictures)
    cells = []
    for column in ("T2I R@10", "I2T R@10"):
        paid, judged = (scores[f"{column}, {who}"].drawn(run) for who in ("reward's", "judge's"))
        ours = shown(difference(paid, judged), units)
        cell = Cell.of(COLUMNS[column][0], "", row, f"{column}, reward's - judge's", ours, data)
        cells.append(replace(cell, direction=""))
    return cells


_ABLATED = {column: of for column, of in _BY_WHOM.items() if "R@10" in column} | {
    column: measure(column) for column in ("CIDEr", "Self-BLEU")
}


def changes(run: Run) -> Table:
    """WTF-RL with one setting changed, beside WTF-RL itself."""
    cells = []
    for what, rows in ablations(run).items():
        for row, entry in rows.items():
            made = measured_cells(run, what, entry, _ABLATED)
            cells += [replace(cell, row=row) for cell in made]
    reading = (
        "WTF-RL with one setting changed, in blocks by which. Alpha: the weight of the similarity against the "
        "discriminator; tau: the reward's temperature; mined images: negatives beside the batch's. Columns as in the "
        "table of recall. An ablation with one seed shows a direction; no claim rests on it."
    )
    if WTF_RL not in run.by_name:
        reading = f"Not measured: variant {WTF_RL} is not part of this run."
    elif not cells:
        reading = "This run has no ablations."
    return Table("WTF-RL: ablations", reading, cells)


TABLES = {
    "wtfrl_table1": table1,
    "wtfrl_retrieval": retrieval,
    "wtfrl_ablations": changes,
}
