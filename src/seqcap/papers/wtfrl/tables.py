"""Tables that WTF-RL's paper does not print: recall by a judge and by truth, what the judge is worth, ablations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from seqcap.metrics import registry
from seqcap.papers.wtfrl.runs import PEOPLE, RL, TF, WTF_RL, ablations, in_words, runs_of_table
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.reported import ReportedRun
from seqcap.report.statistics import Missing, common_seeds, difference
from seqcap.report.tables import Cell, Content, Estimate, Measure, columns_beside, measured_cells, people_label, shown
from seqcap.report.tradeoff import FixedNumber


def retrieval(results: Results) -> list[Cell]:
    """Recall by the retriever that pays, by a judge, and exactly; people's captions last."""
    columns = columns_beside(results, "wtfrl_retrieval", "beam")
    rows = [
        (run.label, {column: FixedNumber(run.name, measure) for column, measure in columns.items()})
        for run in runs_of_table(results)
    ]
    people = {}
    for column, measure in columns.items():
        name = PEOPLE if measure.metric.startswith("own_") else HUMAN
        people[column] = FixedNumber(
            name, Measure("sample", measure.metric, "set" if measure.captions == "set" else "every")
        )
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
    fewer = {run.seeds for rows in blocks.values() for run in rows.values() if set(run.seeds) < set(base.seeds)}
    for seeds in sorted(fewer, key=len, reverse=True):
        cells += _of_seeds(results, base, columns, seeds)
    for block, rows in blocks.items():
        for row, run in rows.items():
            cells += [replace(cell, row=row) for cell in measured_cells(results, block, run, columns)]
    return Content(cells)


def _of_seeds(results: Results, run: ReportedRun, columns: Mapping[str, Measure], seeds: Sequence[int]) -> list[Cell]:
    """A run's row with some of its seeds alone."""
    row = f"{run.label}, seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
    data, units = results.stand_in(run.task), results.kind(run.task).units
    cells = []
    for column, measure in columns.items():
        number = measure.number(results, run.name)
        some = number if isinstance(number, Missing) else number.only(seeds)
        cells.append(Cell.of(results, measure.metric, "as it is", row, column, shown(some, units), data))
    return cells


# Who compares people's captions with exchanged ones -> how its metrics begin, and whose row they are in.
_COMPARED = {"the judge": ("fixed", HUMAN), "its twin": ("twin", HUMAN), "what pays": ("own", PEOPLE)}
# Who ranks -> its metric, and whether less of it is better.
_RANKED = {"judge": ("fixed_rank", True), "twin": ("twin_rank", True), "literal": ("bits", False)}


def exchanged(results: Results) -> Content:
    """The share of people's captions that score higher than what they become with one fact exchanged, by its kind; and
    the same with another image, by what the words alone tell."""
    data, cells = results.stand_in(results.config.pictures), []
    for fact in registry.FACTS:
        for who, (begins, name) in _COMPARED.items():
            for column, where in ((who, ""), (f"{who}, another image", "_elsewhere")):
                metric = f"{begins}_told_{fact}{where}"
                found = Measure("sample", metric, "every").of(results, name)
                cells.append(Cell.of(results, metric, "", fact, column, found, data))
    if all(cell.ours.value is None for cell in cells):
        return Content([], "Not measured in these results.")
    return Content([cell for cell in cells if any(of.ours.value is not None for of in cells if of.row == cell.row)])


def agreement(results: Results) -> Content:
    """How far judge, twin and, where facts are known, the literal listener agree on whose caption tells its image best:
    Spearman's rank correlation over captions, of people's, TF's, RL's and WTF-RL's."""
    data, cells = results.stand_in(results.config.pictures), []
    listeners = [who for who, (metric, _) in _RANKED.items() if results.knows_facts or metric != "bits"]
    sources = {people_label(results): (HUMAN, "sample")}
    sources |= {results.by_name[name].label: (name, "beam") for name in (TF, RL, WTF_RL) if name in results.by_name}
    for row, (name, decoder) in sources.items():
        for first, second in combinations(listeners, 2):
            value = _correlation(results, name, decoder, (first, second))
            column = f"{first} and {second}"
            unknown = () if value is not None else (f"{column}: ranks were not measured, or do not differ",)
            cells.append(Cell("", row, column, "higher", "", Estimate(value, remarks=unknown), 1, 3, data))
    if all(cell.ours.value is None for cell in cells):
        return Content([], "Not measured in these results.")
    return Content(cells)


def _correlation(results: Results, name: str, decoder: str, pair: tuple[str, str]) -> float | None:
    """The mean over seeds of the correlation over captions; None where one of the two was not measured, or where all
    captions are ranked alike."""
    sides = []
    for who in pair:
        metric, less = _RANKED[who]
        scores = results.scores.by_rank(name, decoder, metric)
        if scores.empty:
            return None
        values = scores.set_index(["seed", "item", "rank"])["value"]
        sides.append(-values if less else values)
    together = pd.concat(sides, axis=1, keys=pair, join="inner")
    found = [_spearman(of) for _, of in together.groupby(level="seed")]
    return float(np.mean(found)) if found and np.isfinite(found).all() else None


def _spearman(pairs: pd.DataFrame) -> float:
    ranks = pairs.rank()
    return float(ranks.iloc[:, 0].corr(ranks.iloc[:, 1]))


def equal_length(results: Results) -> Content:
    """True captions of each row and of TF, both weighted to the same numbers of words."""
    data, cells = results.stand_in(results.config.pictures), []
    for run in runs_of_table(results):
        found = _at_equal_length(results, run.name) if run.name != TF and TF in results.by_name else None
        if found is not None:
            theirs, tf = ("its true captions, %", "TF's true captions, %")
            columns = {"in common, %": found["common"], theirs: found["its"], tf: found["tf"]}
            columns["difference"] = found["its"] - found["tf"]
            for column, value in columns.items():
                ours = Estimate(value, seeds=len(common_seeds([run.seeds, results.by_name[TF].seeds])))
                cells.append(Cell("", run.label, column, "", "", ours, 100, 1, data))
    return Content(cells, "" if cells else "Not measured in these results.")


def _at_equal_length(results: Results, name: str) -> dict[str, float] | None:
    """Means over the seeds that a run and TF have both: of their captions, the share in common by number of words, the
    sum of each number's smaller share; and with these shares as weights, how many are true. None where words or truth
    were not measured, or no caption of one is as long as one of the other."""
    scores = [
        [results.scores.per_item(of, "beam", metric, "best") for metric in ("words", "true_of_own")]
        for of in (name, TF)
    ]
    found = []
    for seed in common_seeds([results.by_name[of].seeds for of in (name, TF)]):
        shares, truths = [], []
        for words, true in scores:
            if words is None or true is None:
                return None
            captions = pd.DataFrame({"words": words[seed], "true": true[seed]}).dropna().groupby("words")["true"]
            shares.append(captions.size() / captions.size().sum())
            truths.append(captions.mean())
        weights = pd.concat(shares, axis=1, join="inner").min(axis=1)
        if weights.empty:
            return None
        its, tf = (float((weights * truth).sum() / weights.sum()) for truth in truths)
        found.append({"common": float(weights.sum()), "its": its, "tf": tf})
    return {key: float(np.mean([of[key] for of in found])) for key in found[0]} if found else None


TABLES = {
    "wtfrl_retrieval": retrieval,
    "wtfrl_length": equal_length,
    "wtfrl_exchanged": exchanged,
    "wtfrl_agreement": agreement,
    "wtfrl_ablations": changes,
}
