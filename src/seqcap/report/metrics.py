"""metrics.json: the few numbers of a paper that `dvc exp show` puts side by side, as its part of the first page has
them."""

from collections.abc import Mapping
from typing import Any

from seqcap.config import Frozen
from seqcap.metrics import registry
from seqcap.report.inputs import Run
from seqcap.report.paper import Captions
from seqcap.report.verdicts import FAILS, HOLDS, ONE_SEED, UNSURE


class Measured(Frozen):
    """A run's number, its mean over seeds, in the metric's scale of tables."""

    run: str
    metric: str
    decoder: str = "beam"
    captions: Captions = "best"


def section_metrics(run: Run, said: Mapping[str, Any], wanted: Mapping[str, Measured]) -> dict[str, float]:
    """How many claims hold, fail and are undecided, the difference that stands for the paper, and the numbers that are
    `wanted`, of runs that are there. `said` is the paper's claims.json."""
    verdicts = said["verdicts"]
    numbers: dict[str, float] = {}
    if any(verdicts.values()):
        undecided = verdicts[UNSURE] + verdicts[ONE_SEED]
        numbers = {"hold": verdicts[HOLDS], "fail": verdicts[FAILS], "undecided": undecided}
    if said.get("finding"):
        claims = {claim["id"]: claim["records"][0] for claim in said["claims"]}
        difference = claims[said["finding"]["claim"]]["difference"]
        numbers |= {"finding": float(difference)} if difference else {}
    for name, measured in wanted.items():
        values = run.scores.by_seed(measured.run, measured.decoder, measured.metric, measured.captions)
        if values is not None and not values.isna().all():
            metric = registry.find(measured.metric)
            numbers[name] = round(float(values.mean()) * metric.scale, metric.digits(metric.scale))
    return numbers
