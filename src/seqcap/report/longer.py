"""What objectives gain over maximum likelihood that is trained for as many updates more."""

from collections.abc import Iterable, Sequence

from seqcap.metrics import registry
from seqcap.report.inputs import Results
from seqcap.report.tables import Measure


def gains(results: Results, runs: Sequence[str], base: str, metrics: Iterable[str]) -> str:
    """ "CIDEr +6.1 [+4.2, +8.0] (SLL); METEOR ...": by how much the best beam captions of some runs are above those of
    `base`, in points; "" where nothing was measured."""
    told = []
    for metric in metrics:
        measure = Measure("beam", metric)
        gained = {name: measure.gain(results, name, base) for name in runs}
        known = [
            f"{gain.signed(100, 1)} ({results.by_name[name].label})"
            for name, gain in gained.items()
            if gain.value is not None
        ]
        if known:
            told.append(f"{registry.find(metric).label} {', '.join(known)}")
    return "; ".join(told)
