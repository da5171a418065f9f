"""Tables that WTF-RL's paper does not print: recall by a judge and by truth, and ablations."""

from dataclasses import replace

from seqcap.papers.wtfrl.runs import PEOPLE, WTF_RL, ablations, in_words, measure, runs_of_table
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.tables import HUMAN_LABEL, Cell, Made, Measure, measured_cells
from seqcap.report.tradeoff import Score, difference, shown

TRUE = "true of its scene, %"
_EXACT = {
    TRUE: Measure("beam", "true_of_own"),
    "T2I R@10, literal": Measure("beam", "literal_R@10"),
    "of it alone, %": Measure("beam", "alone"),
    "bits": Measure("beam", "bits"),
}
_LANGUAGE = {"log p of a word": Measure("beam", "xe_log_prob"), "words": Measure("beam", "words")}
_EXACT_READING = (
    "True of its scene: what a checker says, which no retriever knows: captions that are found more often than "
    "people's own, although fewer of them are true, hack the reward. A literal listener believes every word: it takes "
    "the scenes that a caption is true of, in any order. Bits: how much of the choice among all scenes of the split a "
    "caption settles, 0 if it is not true of its own. "
)


def _recalls(run: Run, *columns: str) -> dict[str, Measure]:
    return {
        f"{column}, {who}": measure(run, column, of)
        for who, of in (("reward's", "table1"), ("judge's", "judge"))
        for column in columns
    }


def retrieval(run: Run) -> Made:
    """Recall by the retriever that pays, by a judge, and exactly; people's captions last."""
    recalls = _recalls(run, "T2I R@1", "T2I R@10", "I2T R@1", "I2T R@10")
    columns = recalls | (_EXACT if run.knows_facts else {}) | _LANGUAGE
    units, data = run.kind(run.config.pictures).units, run.stand_in(run.config.pictures)
    rows = [
        (entry.label, {column: Score(entry.name, of) for column, of in columns.items()}) for entry in runs_of_table(run)
    ]
    rows.append((HUMAN_LABEL, {column: _people_score(of) for column, of in columns.items()}))
    cells = []
    for row, scores in rows:
        for column, of in scores.items():
            cells.append(Cell.of(run, of.measure.metric, "", row, column, of.measure.of(run, of.name), data))
        for column in ("T2I R@10", "I2T R@10"):
            paid, judged = (scores[f"{column}, {who}"] for who in ("reward's", "judge's"))
            gap, name = shown(difference(paid.drawn(run), judged.drawn(run)), units), f"{column}, reward's - judge's"
            cells.append(replace(Cell.of(run, paid.measure.metric, "", row, name, gap, data), direction=""))
    return Made(cells, words={"exact": _EXACT_READING if run.knows_facts else ""})


def _people_score(of: Measure) -> Score:
    name = PEOPLE if of.metric.startswith("own_") else HUMAN
    return Score(name, Measure("sample", of.metric, "set" if of.captions == "set" else "every"))


def changes(run: Run) -> Made:
    if WTF_RL not in run.by_name:
        return Made([], f"Not measured: variant {WTF_RL} is not part of this run.")
    columns = _recalls(run, "T2I R@10", "I2T R@10")
    columns |= {column: measure(run, column) for column in ("CIDEr", "Self-BLEU")}
    columns |= {TRUE: _EXACT[TRUE]} if run.knows_facts else {}
    blocks = ablations(run)
    if not blocks:
        return Made([], "This run has no ablations.")
    # All of the same seeds, WTF-RL too.
    seeds = min(len(entry.seeds) for rows in blocks.values() for entry in rows.values())
    run = run.of_first_seeds({entry.name: seeds for entry in run.trained})
    base = run.by_name[WTF_RL]
    cells = [cell.remarked(in_words(base)) for cell in measured_cells(run, "as it is", base, columns)]
    for block, rows in blocks.items():
        for row, entry in rows.items():
            cells += [replace(cell, row=row) for cell in measured_cells(run, block, entry, columns)]
    return Made(cells)


TABLES = {"wtfrl_retrieval": retrieval, "wtfrl_ablations": changes}
