"""How much of WTF-RL's gain in recall a judge confirms, what alpha weighs, and how long runs were trained."""

from collections.abc import Mapping, Sequence

from seqcap.papers.wtfrl.runs import LONGER, TF, WTF, measure, runs_of_table
from seqcap.report.claims import JudgedClaim
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import Run
from seqcap.report.markdown import by_number

_TEST_IMAGES = 5000  # of COCO


def remarks(run: Run, judged: Sequence[JudgedClaim]) -> list[str]:
    return [*filter(None, (_confirmed(run), _weighed(run), _steps(run), _among(run)))]


def _confirmed(run: Run) -> str:
    found = []
    for entry in runs_of_table(run):
        paid, judged = (measure(run, "T2I R@10", of).gain(run, entry.name, TF) for of in ("table1", "judge"))
        if entry.name != TF and paid.value is not None and judged.value is not None:
            words = f"{entry.label} {paid.signed(100, 1)} and {judged.signed(100, 1)}"
            # A gain that may be zero has no share.
            found.append(f"{words} ({judged.value / paid.value:.0%})" if (paid.low or 0.0) > 0 else words)
    return ClaimsFile.read(run.paper).remark("confirmed", found="; ".join(found)) if found else ""


def _weighed(run: Run) -> str:
    """How much both parts of the reward vary when the captioner begins to learn: that, not alpha, is their weight."""
    found = []
    for entry in runs_of_table(run):
        mine = run.curves[run.curves["variant"] == entry.name]
        # While a partner learns alone, training does not record the captioner's entropy.
        begun = mine.loc[mine["quantity"] == "beam_entropy", "step"]
        first = mine[mine["step"] == begun.min()].groupby("quantity")["value"].mean()
        if {"beam_similarity_std", "beam_regular_std"} <= set(first.index):
            found.append(f"{entry.label}: {first['beam_similarity_std']:.3g} and {first['beam_regular_std']:.3g}")
    return ClaimsFile.read(run.paper).remark("weighed", found="; ".join(found)) if found else ""


def _steps(run: Run) -> str:
    settings = {entry.name: entry.settings for entry in runs_of_table(run) if entry.name in run.steps}
    alone = {name: int(of.get("pretraining_steps", of.get("tuning_steps", 0))) for name, of in settings.items()}
    learned = {name: run.steps[name] - steps for name, steps in alone.items() if run.steps[name] > steps}
    if not learned:
        return ""
    partners = {name: alone[name] for name in learned if alone[name]}
    before = f" Before them a discriminator or grammar head learned alone: {_by_number(partners)}." if partners else ""
    if {WTF, LONGER} <= set(learned):
        mine, other = learned[WTF], learned[LONGER]
        before += f" D10 compares {'equally many steps' if mine == other else f'{mine:,} steps with {other:,}'}."
    # RL may need a smaller one.
    rates = {name: run.by_name[name].learning_rate for name in learned}
    differ = f" Learning rates differ: {_by_number(rates)}." if len(set(rates.values())) > 1 else ""
    return ClaimsFile.read(run.paper).remark("steps", learned=_by_number(learned), before=before, differ=differ)


def _by_number(numbers: Mapping[str, float]) -> str:
    """Runs are named, since labels contain commas."""
    return by_number((f"`{name}`", number) for name, number in numbers.items())


def _among(run: Run) -> str:
    by_run = (run.scores.per_item(entry.name, "beam", "own_R@1", "best") for entry in runs_of_table(run))
    scored = next((len(scores) for scores in by_run if scores is not None), None)
    if scored is None:
        return ""
    table = run.paper.published.table("table1")
    printed = table.loc[table["column"].str.contains("R@"), "value"] / 100 * _TEST_IMAGES
    whole = int((abs(printed - printed.round()) < 1e-6).sum())
    numbers = {"scored": scored, "whole": whole, "recalls": len(printed), "images": _TEST_IMAGES}
    return ClaimsFile.read(run.paper).remark("among", **numbers)
