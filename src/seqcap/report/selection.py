"""Which epoch's weights a seed keeps: the best on val, or the last one."""

from collections.abc import Mapping, Sequence

import pandas as pd

from seqcap.report import judging
from seqcap.report.claims import JudgedClaim
from seqcap.report.inputs import Results

_EARLY = 0.5  # share of the updates


def kept(on_val: pd.DataFrame) -> dict[int, float]:
    """Seed -> the share of its steps after which it is best on val, of a run's curve (`Results.decisive`). Weights of
    before any step are not kept."""
    after = on_val[on_val["step"] > 0]
    shares = {}
    for seed, of_seed in after.groupby("seed"):
        steps = of_seed["step"].to_numpy()
        shares[int(str(seed))] = float(steps[of_seed["value"].to_numpy().argmax()] / steps.max())
    return shares


def kept_early(results: Results) -> dict[str, dict[int, float]]:
    """Run -> the seeds whose weights are of the first half of its updates, and the share of them."""
    found = {}
    for run in results.trained:
        shares = {} if run.keeps_last else kept(results.decisive(run.name))
        if early := {seed: share for seed, share in sorted(shares.items()) if share < _EARLY}:
            found[run.name] = early
    return found


def in_part(results: Results, early: Mapping[str, Mapping[int, float]]) -> tuple[list[str], list[str]]:
    """The labels of the runs of `kept_early` that have other seeds, too, and of those whose seeds are all early."""
    some, whole = list[str](), list[str]()
    for name, seeds in early.items():
        run = results.by_name[name]
        (some if len(seeds) < len(run.seeds) else whole).append(run.label)
    return some, whole


def without_early(judged: Sequence[JudgedClaim], early: Mapping[str, Mapping[int, float]]) -> list[str]:
    """What primary comparisons of runs with such seeds would be without these, in words."""
    found = []
    for outcome in (outcome for judged_claim in judged for outcome in judged_claim.judged.primary):
        shown = outcome.evidence
        if left := judging.without(outcome.given, early):
            sides = " against ".join(shown.side_labels)
            found.append(f"{shown.claim}, {shown.what}, {sides}: {left.span} ({left.seeds} seeds)")
    return found
