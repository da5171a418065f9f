"""The study of data size: what slopes are, its two claims, tables and figure, also of a run that has only a part."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from invented_papers import judgements, numbers
from invented_runs import PaperRun, Rows, rng_of

from seqcap.papers.sizes.study import FILE, SMOOTHED, Slope
from seqcap.report.drawing.figures import draw
from seqcap.report.inputs import Results
from seqcap.report.reported import ReportedEvaluation, ReportedRun, ReportedTask
from seqcap.report.section import all_claims
from seqcap.report.statistics import Number
from seqcap.report.verdicts import HOLDS, NOT_RUN

SIZES = (200, 400, 800, 3200)
STRENGTHS = {"tok": 0.69, "tok_rfreq": 0.69, "seq": 0.23, "tok_seq": 0.76}


@dataclass
class SizesRun(PaperRun):
    """Every loss gains .08 with 200 images and .02 less with each doubling, but for noise."""

    paper = "sizes"

    images: int = 40
    samples: int = 0
    beam: int = 3
    there: tuple[int, ...] = SIZES
    names: list[str] = field(default_factory=list)

    def entries(self) -> list[ReportedRun]:
        return [self.entry(f"{loss}_{size}") for size in self.there for loss in FILE.losses]

    def entry(self, name: str) -> ReportedRun:
        loss, _, size = name.rpartition("_")
        values: dict[str, Any] = {"task": f"scenes_{size}", "captioner": f"lstm_{size}", "evaluation": f"sizes_{size}"}
        return self.reported(name, label=FILE.losses[loss].label, objective="cross_entropy", **values)

    def tasks(self) -> dict[str, ReportedTask]:
        return {f"scenes_{size}": ReportedTask(kind="images", dataset="scenes", show=True) for size in self.there}

    def config(self) -> Any:
        return super().config().model_copy(update={"pictures": f"scenes_{self.there[0]}"})

    def evaluations(self) -> dict[str, ReportedEvaluation]:
        return {f"sizes_{size}": self.evaluation(f"scenes_{size}", f"sizes_{size}") for size in self.there}

    def scores(self, evaluation: str) -> Rows:
        size = int(evaluation.removeprefix("sizes_"))
        doublings = np.log2(size / 200)
        hard = np.random.default_rng(size).normal(0, 0.1, self.images)
        rows = []
        for loss in FILE.losses:
            gain = 0.0 if loss == FILE.base else 0.08 - 0.02 * doublings
            for seed in self.seeds:
                values = 0.5 + 0.1 * doublings + gain + hard
                values = values + rng_of(seed, f"{loss}_{size}").normal(0, 0.01, self.images)
                for decoder in ("greedy", "beam"):
                    keys = {"run": f"{loss}_{size}", "seed": seed, "decoder": decoder, "rank": 0, "metric": "CIDEr"}
                    rows += [keys | {"item": item, "value": float(value)} for item, value in enumerate(values)]
        return rows

    def curves(self, name: str) -> Rows:
        loss, _, _ = name.rpartition("_")
        keys = {"run": name, "seed": 1, "images": 0}
        rows = [keys | {"step": step, "quantity": "val_cider", "value": 0.5} for step in (0, 10, 20)]
        if loss in STRENGTHS:
            rows.append(keys | {"step": 10, "quantity": "smoothing_strength", "value": STRENGTHS[loss]})
        return rows


def test_slopes_are_those_of_least_squares():
    results = SizesRun().read()
    means = [results.scores.by_seed(f"tok_{size}", "beam", "CIDEr") for size in SIZES]
    number = Slope("tok", "beam", SIZES).number(results)
    assert isinstance(number, Number)
    for seed in (1, 2, 3):
        slope, _ = np.polyfit(np.log2(SIZES), [of[seed] for of in means], 1)
        assert number.by_seed[seed] == pytest.approx(slope)
    assert number.value == pytest.approx(np.mean(list(number.by_seed.values())))
    two = Slope("tok", "beam", (200, 3200)).number(results)
    assert isinstance(two, Number)
    assert two.value == pytest.approx((means[3].mean() - means[0].mean()) / 4)


def test_a_gain_that_falls_is_found_with_equal_seeds_as_pairs():
    results = SizesRun().read()
    judged = judgements(results)
    assert {name: of.verdict for name, of in judged.items()} == {"D1": HOLDS, "D2": HOLDS}
    first, slope = judged["D1"].first, judged["D2"].first
    assert first.evidence.left == "tok_200"
    assert first.difference == pytest.approx(8, abs=0.5)
    assert slope.difference == pytest.approx(-2, abs=0.3)
    assert slope.evidence.sign == -1
    # Sizes differ in their captioner and data, but both sides have the same ones.
    assert slope.evidence.paired
    assert slope.low is not None
    assert slope.low < -2 < (slope.high or 0) < 0
    assert [of.evidence.level for of in judged["D2"].outcomes].count("primary") == 1
    assert len(all_claims(results)) == 2 * 2 * len(SMOOTHED)


def test_tables_have_gains_levels_and_strengths():
    results = SizesRun().read()
    gains = numbers(results, "sizes_gains")
    assert gains.loc[("Tok | Glove sim", "200 images")].mean() == pytest.approx(8, abs=0.5)
    assert gains.loc[("Tok | Glove sim", "per doubling")].mean() == pytest.approx(-2, abs=0.3)
    assert numbers(results, "sizes_levels").loc[("MLE", "3,200 images")].mean() == pytest.approx(90, abs=6)
    strengths = numbers(results, "sizes_strength")
    assert strengths[("Tok-Seq | CIDER | Vrefs", "800 images")] == pytest.approx(0.76)
    figure = draw(results, "sizes_gains")
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["a beam of 3", "greedy"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["200", "400", "800", "3,200"]


def test_a_single_size_has_no_slope():
    results = SizesRun(there=(400,)).read()
    assert judgements(results)["D1"].first.evidence.left == "tok_400"
    assert judgements(results)["D2"].first.reason == "a slope needs two sizes"
    assert ("Tok | Glove sim", "per doubling") not in numbers(results, "sizes_gains").index


def test_photographs_have_the_same_claims_with_their_own_sizes():
    results = SizesRun(there=(500, 6000)).read()
    judged = judgements(results)
    assert {name: of.verdict for name, of in judged.items()} == {"D1": HOLDS, "D2": HOLDS}
    assert judged["D1"].first.evidence.left == "tok_500"
    assert judged["D2"].first.difference == pytest.approx(-2, abs=0.3)


def test_a_loss_that_was_not_run_has_no_verdict():
    whole = SizesRun().read()
    runs = tuple(run for run in whole.runs if not run.name.startswith("tok_"))
    part = Results(whole.config.model_copy(update={"runs": runs}), whole.paper, whole.scores)
    vars(part)["curves"] = whole.curves
    assert {of.verdict for of in judgements(part).values()} == {NOT_RUN}
