"""What figures share: the same bytes twice, images chosen by rule, curves averaged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from seqcap.files import json_file
from seqcap.report.drawing import figures, learning, panels
from seqcap.report.drawing.colours import colour_of, palette
from seqcap.report.drawing.scatter import HOLLOW, Point, frame
from seqcap.report.inputs import Results
from seqcap.report.paper import FigureText, LearningCurves, Quantity, Said
from seqcap.report.tables import Estimate


def draw(results: Results, function: Callable[[Results], Figure | str]) -> None:
    """Writes a paper's figures as if it had one, "one", that a function draws."""
    results = replace(
        results, paper=replace(results.paper, find=lambda part: SimpleNamespace(FIGURES={"one": function}))
    )
    vars(results.paper)["figures"] = {"one": FigureText(title="Figure 1", caption="Its caption.")}
    figures.write_figures(results)


def test_a_figure_of_nothing_is_a_sentence(sle):
    draw(sle.write(), lambda run: "Nothing was measured.")
    assert [path.name for path in Path("reports/sle/figures").iterdir()] == ["figures.json"]
    index = json_file.read_json("reports/sle/figures/figures.json")
    assert index == {"order": ["one"], "figures": {"one": {"title": "Figure 1", "missing": "Nothing was measured."}}}


@pytest.mark.parametrize(
    ("said", "dataset", "is_there"),
    [
        ({"run": "sll_*"}, "scenes", True),
        ({"run": "sll"}, "scenes", False),
        ({"one_seed": True}, "scenes", True),
        ({"one_seed": True, "run": "xe"}, "scenes", False),
        ({"exact": True}, "scenes", True),
        ({"exact": True}, "flickr8k", False),
        ({"exact": False}, "flickr8k", True),
    ],
)
def test_a_caption_says_nothing_of_what_is_not_there(sle, said, dataset, is_there):
    sle.names, sle.dataset = ["xe", "sll_me", "xe_att"], dataset
    text = FigureText(title="", caption="Lines{marks}. {samples}.", where={"marks": Said(text="; marks", **said)})
    assert figures.caption_of(sle.read(), text) == ("Lines; marks. 5." if is_there else "Lines. 5.")


def test_a_frame_holds_intervals_but_for_very_long_ones():
    axis = Figure().subplots()
    points = [
        Point("a", "k", (10.0, 9.0, 13.0), (1.0, -9.0, 9.0)),
        Point("b", "k", (20.0, 16.0, 24.0), (2.0, 2.0, 2.0)),
    ]
    frame([axis], points)
    assert axis.get_xlim() == pytest.approx((8, 24.3))
    assert axis.get_ylim() == pytest.approx((0.5, 2.5))


def test_a_method_has_one_colour_everywhere():
    of_sll = [colour_of(label) for label in ("SLL", "SLL*", "SLL (clips)")]
    assert set(of_sll) == {"#0072B2"}
    assert colour_of("Seq | Hamming | V") == colour_of("Seq")
    assert colour_of("PSST Multinomial, rho 0.5") == colour_of("PSST Multinomial")
    # A setting may have a colour of its own.
    assert colour_of("PSST Multinomial, rho 0.75") != colour_of("PSST Multinomial")
    assert colour_of("no method") is None


def test_unknown_methods_get_colours_that_are_free():
    colours = palette(["mine", "SLL", "yours"])
    assert colours["SLL"] == colour_of("SLL")
    assert len(set(colours.values())) == 3


def test_images_are_chosen_by_rule():
    images = pd.DataFrame({"item": [1, 2, 3, 4], "file": list("abcd"), "longest_reference": [3, 10, 9, 20]})
    assert sorted(panels.choose_images(images, 2)["item"]) == [2, 4]
    chosen = panels.choose_images(images, 3)["item"].tolist()
    assert sorted(chosen[:2]) == [2, 4]
    assert chosen[2] in (1, 3)
    assert panels.choose_images(images, 4)["item"].tolist()[:3] == chosen


def test_photographs_that_may_not_be_shown_make_no_figure(sle):
    run = sle.read()
    captions = [[panels.Line("")], [panels.Line("a heading"), panels.Line("a dog")]]
    printed = panels.Row("image 1 of the paper", captions)
    assert len(panels.captions_figure(run, [printed]).texts) > 1
    task = run.config.tasks[run.config.pictures].model_copy(update={"show": False})
    hidden = replace(run, config=run.config.model_copy(update={"tasks": {run.config.pictures: task}}))
    assert len(panels.captions_figure(hidden, [printed]).texts) > 1
    words = panels.captions_figure(hidden, [panels.Row("image 2", captions, file="2.jpg"), printed])
    assert words == "These photographs are not ours to show; some of their captions are in `results/captions`."


def test_long_curves_are_averaged():
    curve = pd.DataFrame({1: np.arange(1001.0), 2: np.arange(1001.0) + 2}, index=pd.Index(range(1001), name="step"))
    binned = learning._binned(curve)
    assert len(binned) == 61
    assert binned.index[0] == 0
    assert binned[1].iloc[1] == pytest.approx(np.mean(range(1, 17)))
    assert binned[2].iloc[1] == pytest.approx(np.mean(range(1, 17)) + 2)
    assert len(learning._binned(curve.head(50))) == 50


def test_one_seed_is_hollow_and_dotted():
    axis = Figure().subplots()
    points = {0.0: Estimate(0.2, 0.1, 0.3, seeds=1), 1.0: Estimate(0.4, 0.3, 0.5, seeds=3)}
    figures.plot_estimates(axis, points, 100, color="#0072B2", marker="s", label="ours")
    several, alone = axis.containers
    assert alone.get_label() == HOLLOW
    assert alone.lines[0].get_markerfacecolor() == "white"
    assert alone.lines[0].get_xydata().tolist() == [[0, 20]]
    assert alone.lines[2][0].get_linestyle() != several.lines[2][0].get_linestyle()
    figure = axis.figure
    figures.legend(figure, [axis], ncols=2)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ours", HOLLOW]


def test_a_file_with_a_palette_keeps_colours_of_few_pixels(sle):
    colours = ("#D55E00", "#E69F00", "#CC79A7", "#0072B2")

    def one(results: Results) -> Figure:
        figure = Figure()
        axis = figure.subplots()
        for place, colour in enumerate(colours):
            axis.plot(place, place, "s", color=colour)
        return figure

    draw(sle.write(), one)
    with Image.open("reports/sle/figures/one.png") as image:
        assert image.mode == "P"
        pixels = np.asarray(image.convert("RGB"), dtype=float).reshape(-1, 3)
    for colour in colours:
        assert np.abs(pixels - 255 * np.array(to_rgb(colour))).max(axis=1).min() < 12, colour


def test_a_curve_of_one_seed_is_thin_and_others_have_a_band(sle):
    sle.names = ["sll", "sll_me"]
    entry = sle.entry
    sle.entry = lambda name: entry(name).model_copy(update={"seeds": (1,)} if name == "sll_me" else {})
    declared = LearningCurves(
        columns=(Quantity(title="reward", of=("train_reward",)),), rows={"both": ("SLL", "SLL-ME")}
    )
    axis = learning.draw(sle.read(), declared).axes[0]
    widths = {line.get_label(): line.get_linewidth() for line in axis.get_lines()}
    assert widths["SLL"] > widths["SLL-ME (one seed)"]
    assert len(axis.collections) == 1


def test_runs_of_one_colour_differ_in_dashes_and_are_named_once(sle):
    sle.names = ["sll_sle", "sll_sle_95"]
    runs = sle.read().runs
    looks = learning._looks(runs)
    colours, dashes = zip(*looks.values(), strict=True)
    assert len(set(colours)) == len(set(dashes)) == len(runs) == 2
    assert looks[runs[-1].name][1] == "-"
    axis = Figure().subplots()
    for label in ("a", "a (one seed)", "b (one seed)"):
        axis.plot([0, 1], [0, 1], label=label)
    learning.name_lines([axis])
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["a", "b (one seed)"]


def test_lines_of_other_rows_are_grey_and_empty_panels_left_out(sle):
    sle.names = ["sll", "sll_me"]
    declared = LearningCurves(
        columns=(Quantity(title="reward", of=("train_reward",)), Quantity(title="none", of=("no_such",))),
        rows={"first": ("SLL",), "second": ("SLL-ME",), "none": ("SLL-SLE",)},
    )
    run = sle.read()
    figure = learning.draw(run, declared)
    assert [axis.get_ylabel() for axis in figure.axes] == ["first", "second"]
    grey = [[line for line in axis.get_lines() if line.get_color() == learning._OTHERS] for axis in figure.axes]
    assert list(map(len, grey)) == [1, 1]
    # Of rows that are compared one alone says nothing.
    compared = declared.model_copy(update={"compared": True})
    assert len(learning.draw(run, compared).axes) == 2
    alone = compared.model_copy(update={"rows": {"first": ("SLL",), "none": ("SLL-SLE",)}})
    assert learning.draw(run, alone) == "Of what is compared, only 'first' is part of this run."
    nothing = declared.model_copy(update={"rows": {"none": ("SLL-SLE",)}})
    assert learning.draw(run, nothing) == "This run has none of the learning curves."
