"""WTF-RL's claims; how much of its gain in recall a judge confirms, what alpha weighs, how long runs were trained."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from seqcap.papers.wtfrl.runs import LONGER, PEOPLE, RL, TF, TUNES, WTF, WTF_RL, changed, measure, runs_of_table
from seqcap.papers.wtfrl.vocabulary import METRIC, Vocabulary
from seqcap.report import example
from seqcap.report.claims import Comparison, JudgedClaim
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.markdown import by_number
from seqcap.report.reported import ReportedRun
from seqcap.report.tables import Measure

_TEST_IMAGES = 5000  # of COCO
_SHOWN = (TF, WTF, WTF_RL, "rl", "scst_grammar")
_UNLIKE = 10  # times another policy's learning rate, from which two are not compared
_NOTES = 5  # of what training measures of a batch, so many are averaged: one is of 20 images


def claims(results: Results) -> list[Comparison]:
    """Those of claims.yaml. Numbers of words are of all captions together, which no score of an item tells."""
    claims = [
        replace(claim, sources=(Vocabulary(claim.left), Vocabulary(claim.right))) if claim.metric == METRIC else claim
        for claim in ClaimsFile.of(results).build(results.paper)
    ]
    return [replace(claim, untestable=_unlike_rates(results, claim)) for claim in claims]


def _unlike_rates(results: Results, claim: Comparison) -> str:
    """Why two policies cannot be compared where one learns many times as fast as the other; "" where they can: which
    of them has moved how far would decide."""
    policies = [results.by_name[name] for name in (claim.left, claim.right) if name in results.by_name]
    paid = [run for run in policies if run.payer is not None]
    if len(paid) < 2:
        return ""
    slow, fast = sorted(paid, key=lambda run: run.learning_rate)
    if fast.learning_rate < _UNLIKE * slow.learning_rate:
        return ""
    rates = f"{slow.label} has a rate of {slow.learning_rate:g}, {fast.label} one of {fast.learning_rate:g}"
    return f"{rates}: how far each has moved would decide"


def stand_ins(results: Results) -> list[tuple[str, str]]:
    """How the paper trains, and how WTF-RL was trained here."""
    run, file = results.by_name.get(WTF_RL), ClaimsFile.of(results)
    if run is None or run.name not in results.steps:
        return []
    updates = results.steps[run.name] - int(run.settings["pretraining_steps"])
    here = file.remark(
        "trained_here",
        rate=run.learning_rate,
        updates=updates,
        alpha=run.settings["alpha"],
        tau=run.settings["temperature"],
    )
    return [(file.remarks["trained_there"], here)]


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    said = _confirmed, _ordered, _seeds, _weighed, _guarded, _steps, _among
    return [*filter(None, (of(results) for of in said))]


def scene(results: Results) -> dict[str, Any] | None:
    """A scene with captions of it, for the first page where the table across papers has none."""
    return example.choose(results, _SHOWN)


def _confirmed(results: Results) -> str:
    found, strict, by_twin, literally = [], [], [], ""
    for run in runs_of_table(results):
        paid, judged, twin = (
            measure(results, "T2I R@10", columns).gain(results, run.name, TF) for columns in ("table1", "judge", "twin")
        )
        literal = Measure("beam", "literal_R@10", "best").gain(results, run.name, TF)
        if run.name != TF and paid.value is not None and judged.value is not None:
            words = f"{run.label} {paid.signed(100, 1)}, {judged.signed(100, 1)}"
            # A gain that may be zero has no share.
            share = _judged_share(results, run, "T2I R@10")
            words += "" if share is None else f" ({share:.0%})"
            if share is not None and twin.value is not None:
                by_twin.append(f"{run.label} {twin.value / paid.value:.0%}")
            if literal.value is not None:
                words += f" and {literal.signed(100, 1)}"
                literally = ", and by a listener that takes every word literally"
            found.append(words)
            share = _judged_share(results, run, "I2T R@1")
            strict += [] if share is None else [f"{run.label} {share:.0%}"]
    if not found:
        return ""
    # Recall among the first ten is near its ceiling for some.
    told = f" Of image-to-text R@1 that share is {', '.join(strict)}." if strict else ""
    # Of its kind, and as little seen by any objective as the judge.
    told += f" The twin's share is {', '.join(by_twin)}." if by_twin else ""
    file = ClaimsFile.of(results)
    return file.remark("confirmed", found="; ".join(found), shares=told, literally=literally) + _people(results)


def _people(results: Results) -> str:
    """What is found by people's captions, beside TF's: whether to be found is to be like people."""
    column = "T2I R@10"
    found = []
    for columns, name in (("table1", PEOPLE), ("judge", HUMAN)):
        measured = measure(results, column, columns)
        people = Measure("sample", measured.metric, "every").of(results, name).value
        theirs = measured.of(results, TF).value
        if people is None or theirs is None:
            return ""
        found.append((people, theirs))
    (paid, paid_tf), (judged, judged_tf) = found
    numbers = {"paid": paid, "paid_tf": paid_tf, "judged": judged, "judged_tf": judged_tf}
    return f" {ClaimsFile.of(results).remark('people', **{key: 100 * value for key, value in numbers.items()})}"


def _ordered(results: Results) -> str:
    """In print RL is found more often than WTF-RL, and writes worse."""
    if not {RL, WTF_RL} <= results.by_name.keys():
        return ""
    table = results.paper.published.table("table1").set_index(["row", "column"])["value"]
    rows = {name: row for row, (name, _) in results.paper.facts.rows["table1"].items()}
    numbers = {}
    for column, key in (("T2I R@10", "recall"), ("CIDEr", "cider")):
        ours = measure(results, column).gain(results, WTF_RL, RL)
        if ours.value is None:
            return ""
        numbers[key] = ours.signed(100, 1)
        numbers[f"printed_{key}"] = f"{table[rows[WTF_RL], column] - table[rows[RL], column]:+.1f}"
    judged = measure(results, "T2I R@10", "judge").gain(results, WTF_RL, RL)
    numbers["judged"] = "not measured" if judged.value is None else judged.signed(100, 1)
    return ClaimsFile.of(results).remark("ordered", **numbers)


def _judged_share(results: Results, run: ReportedRun, column: str) -> float | None:
    """The judge's gain over TF in a recall, as a share of the gain by what pays; None without a gain, which may not be
    zero, by either of them, or where recall by what pays the run is not to be had, or TF's is by another retriever."""
    rewards = results.by_name[WTF_RL].payer if WTF_RL in results.by_name else run.payer
    if run.objective == TUNES or run.payer not in (None, rewards):
        return None
    paid, judged = (measure(results, column, columns).gain(results, run.name, TF) for columns in ("table1", "judge"))
    if paid.value is None or judged.value is None or min(paid.low or 0.0, judged.low or 0.0) <= 0:
        return None
    return judged.value / paid.value


def _seeds(results: Results) -> str:
    """Recall, truth and the share of rewards above zero, seed by seed: one that locks in or diverges shows."""
    found, truths = [], False
    for run in [*runs_of_table(results), *changed(results)]:
        recall = results.scores.by_seed(run.name, "beam", "own_R@10", "best")
        if recall is None or recall.empty:
            continue
        words = f"{run.label} {', '.join(f'{100 * value:.1f}' for value in recall)}"
        true = results.scores.by_seed(run.name, "beam", "all_true", "best")
        if true is not None and not true.empty:
            words += f"; true {', '.join(f'{100 * value:.1f}' for value in true)}"
            truths = True
        begun = _first_notes(results, run.name)
        # WTF is paid for people's captions alone.
        paid = "truth_positive" if run.name == WTF else "beam_positive"
        shares = begun[begun["quantity"] == paid].groupby("seed")["value"].mean()
        found.append(f"{words} ({', '.join(f'{share:.0%}' for share in shares)})" if len(shares) else words)
    true_ones = "; then the share of true captions" if truths else ""
    return ClaimsFile.of(results).remark("seeds", found="; ".join(found), truth=true_ones) if found else ""


def _first_notes(results: Results, name: str) -> pd.DataFrame:
    """A run's learning curves where its captioner begins to learn. While a partner learns alone, training does not
    record the captioner's entropy."""
    mine = results.curves[results.curves["run"] == name]
    steps = mine.loc[mine["quantity"] == "beam_entropy", "step"].drop_duplicates().nsmallest(_NOTES)
    first: pd.DataFrame = mine[mine["step"].isin(steps)]
    return first


def _guarded(results: Results) -> str:
    """What the discriminator takes for people's at the end of training, and whether it sees more than words."""
    quantities = {"truth_human": "people's captions", "beam_human": "the beam's", "shuffled_human": "shuffled ones"}
    found, blind = [], []
    for run in runs_of_table(results):
        mine = results.curves[results.curves["run"] == run.name]
        steps = mine.loc[mine["quantity"] == "shuffled_human", "step"].drop_duplicates().nlargest(_NOTES)
        ends = mine[mine["step"].isin(steps)].groupby("quantity")["value"].mean()
        if quantities.keys() <= set(ends.index):
            values = ", ".join(f"{words} {ends[key]:.2f}" for key, words in quantities.items())
            found.append(f"{run.label}: {values}")
            blind.append(ends["shuffled_human"] >= ends["truth_human"])
    if not found:
        return ""
    file = ClaimsFile.of(results)
    concluded = f" {file.remarks['blind']}" if all(blind) else ""
    return file.remark("guarded", found="; ".join(found)) + concluded


def _weighed(results: Results) -> str:
    """How much both parts of the reward vary when the captioner begins to learn, which is their weight, not alpha; and
    the mean of what regularises, which shifts all rewards."""
    found = []
    for run in runs_of_table(results):
        first = _first_notes(results, run.name).groupby("quantity")["value"].mean()
        if {"beam_similarity_std", "beam_regular_std"} <= set(first.index):
            words = f"{run.label}: {first['beam_similarity_std']:.3g} and {first['beam_regular_std']:.3g}"
            means = [first[name] for name in ("beam_human", "beam_grammar") if name in first.index]
            found.append(f"{words} ({means[0]:.2f})" if means else words)
    return ClaimsFile.of(results).remark("weighed", found="; ".join(found)) if found else ""


def _steps(results: Results) -> str:
    settings = {run.name: run.settings for run in runs_of_table(results) if run.name in results.steps}
    alone = {name: int(own.get("pretraining_steps", own.get("tuning_steps", 0))) for name, own in settings.items()}
    learned = {name: results.steps[name] - steps for name, steps in alone.items() if results.steps[name] > steps}
    if not learned:
        return ""
    partners = {name: alone[name] for name in learned if alone[name]}
    before = f" Before them a discriminator or grammar head learned alone: {_by_number(partners)}." if partners else ""
    if {WTF, LONGER} <= set(learned):
        mine, other = learned[WTF], learned[LONGER]
        before += f" D10 compares {'equally many steps' if mine == other else f'{mine:,} steps with {other:,}'}."
    # RL may need a smaller one.
    rates = {name: results.by_name[name].learning_rate for name in learned}
    differ = ""
    if len(set(rates.values())) > 1:
        differ = f" Learning rates differ: {_by_number(rates)}; a difference between such runs is one of rates, too."
    told = _told(results, partners)
    return ClaimsFile.of(results).remark("steps", learned=_by_number(learned), before=before, told=told, differ=differ)


def _told(results: Results, partners: Mapping[str, int]) -> str:
    """How often the partners tell captions of val right when they have learned alone for so many steps, and at the end,
    means over seeds."""
    found, ended = {}, {}
    for name, steps in partners.items():
        mine = results.curves[results.curves["run"] == name]
        shares = mine[mine["quantity"].isin(["val_discriminator", "val_grammar"])]
        alone = shares[shares["step"] <= steps]
        if len(alone):
            found[name], ended[name] = (
                round(100 * float(of.loc[of["step"] == of["step"].max(), "value"].mean()), 1) for of in (alone, shares)
            )
    if not found:
        return ""
    return f" {ClaimsFile.of(results).remark('told', found=_by_number(found), ended=_by_number(ended))}"


def _by_number(numbers: Mapping[str, float]) -> str:
    """Runs are named, since labels contain commas."""
    return by_number((f"`{name}`", number) for name, number in numbers.items())


def _among(results: Results) -> str:
    by_run = (results.scores.per_item(run.name, "beam", "own_R@1", "best") for run in runs_of_table(results))
    scored = next((len(scores) for scores in by_run if scores is not None), None)
    if scored is None:
        return ""
    table = results.paper.published.table("table1")
    printed = table.loc[table["column"].str.contains("R@"), "value"] / 100 * _TEST_IMAGES
    whole = int((abs(printed - printed.round()) < 1e-6).sum())
    numbers = {"scored": scored, "whole": whole, "recalls": len(printed), "images": _TEST_IMAGES}
    return ClaimsFile.of(results).remark("among", **numbers)
