"""What figures share: the same bytes twice, images chosen by rule, curves averaged and written."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from seqcap.reporting import figures


@pytest.mark.parametrize("paper", ["run", "smoothing", "spider"])
def test_every_figure_is_drawn_with_the_same_bytes_twice(paper: str, request: pytest.FixtureRequest):
    drawn = request.getfixturevalue(paper).read()
    figures.draw(drawn, Path("one"))
    figures.draw(drawn, Path("two"))
    names = sorted(path.name for path in Path("one").iterdir())
    assert names == sorted(f"{name}.png" for name in drawn.paper.figures)
    for name in names:
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes(), name
        pixels = np.asarray(Image.open(Path("one") / name).convert("L"))
        assert pixels.shape[0] > 150
        assert 0.5 < np.mean(pixels > 250) < 0.999  # mostly background, not all of it


def test_unknown_variants_get_colours_that_are_free():
    colours = figures.palette(["mine", "known", "yours"], {"known": figures.GREEN})
    assert colours["known"] == figures.GREEN
    assert len(set(colours.values())) == 3


def test_images_are_chosen_by_rule():
    images = pd.DataFrame({"image_id": [1, 2, 3, 4], "file": list("abcd"), "longest_reference": [3, 10, 9, 20]})
    assert figures.choose_images(images, 2)["image_id"].tolist() == [2, 4]
    assert figures.choose_images(images, 3)["image_id"].tolist() == [2, 4, 1]


def test_long_curves_are_averaged():
    curve = pd.DataFrame({"step": range(1001), "value": np.arange(1001.0)})
    binned = figures.binned(curve)
    assert len(binned) == 101
    assert binned["step"].iloc[0] == 0
    assert binned["value"].iloc[1] == pytest.approx(np.mean(range(1, 11)))
    assert len(figures.binned(curve.head(50))) == 50


def test_a_variant_that_was_not_trained_is_only_in_the_dashed_line(run):
    read = run.read()
    axis = Figure().subplots()
    reward = read.curves[read.curves["quantity"] == "train_reward"]
    variants = [read.by_name["xe"], read.by_name["sll"]]
    figures.plot_curves(axis, reward, variants, {"sll": figures.BLUE})
    figures.plot_start(axis, reward, variants, "XE")
    assert [line.get_label() for line in axis.get_lines() if not line.get_label().startswith("_")] == [
        "SLL",
        "XE (step 0)",
    ]
    assert axis.get_lines()[-1].get_ydata()[0] == pytest.approx(0.72)


def test_dashed_curves_are_those_that_are_named(run):
    read = run.read()
    axis = Figure().subplots()
    reward = read.curves[read.curves["quantity"] == "train_reward"]
    variants = [read.by_name["sll"], read.by_name["sll_me"]]
    figures.plot_curves(axis, reward, variants, {"sll": figures.BLUE, "sll_me": figures.RED}, dashed=["sll_me"])
    styles = {line.get_label(): line.get_linestyle() for line in axis.get_lines() if line.get_linewidth() == 2}
    assert styles == {"SLL": "-", "SLL-ME": "--"}


def test_curves_for_dvc_plots(run):
    drawn = run.read()
    figures.write_curves(drawn)
    with Path("reports/curves_sle.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["step", "variant", "seed", "quantity", "value"]
    assert len(rows) == len(drawn.curves)
    assert {"lstm", "attention"} <= {row["variant"] for row in rows}
    keys = [(row["variant"], row["quantity"], int(row["seed"]), int(row["step"])) for row in rows]
    assert keys == sorted(keys)
