"""Learning curves as CSV."""

from seqcap.files import parquet, schemas
from seqcap.report.curves import POINTS, curve_lines, thinned


def test_long_curves_become_means_of_what_follows_each_other():
    short = [(step, 0.5 * step) for step in range(POINTS)]
    assert thinned(short) == short
    found = thinned([(10 * i, float(i)) for i in range(2 * POINTS + 1)])
    assert found[:2] == [(20, 1.0), (50, 4.0)]
    # The last part is shorter.
    assert found[-1] == (10 * 2 * POINTS, 2 * POINTS - 0.5)
    assert len(found) == 14 <= POINTS


def test_curves_of_val_are_whole(tmp_path):
    steps = 3 * POINTS
    rows = [
        {"run": "a", "seed": 1, "step": step, "images": step, "quantity": quantity, "value": step / steps}
        for quantity in ("val_cider", "train_loss")
        for step in range(steps)
    ]
    parquet.write_rows(tmp_path / "curves.parquet", rows, schemas.CURVES)
    lines = curve_lines("sle", [tmp_path / "curves.parquet"])
    assert [sum(quantity in line for line in lines) for quantity in ("val_cider", "train_loss")] == [steps, POINTS]


def test_every_curve_is_thinned_by_itself(tmp_path):
    rows = [
        {"run": run, "seed": seed, "step": step, "images": step, "quantity": "loss", "value": step / 3}
        for run in ("b", "a")
        for seed in (2, 1)
        for step in range(3)
    ]
    parquet.write_rows(tmp_path / "curves.parquet", rows, schemas.CURVES)
    lines = curve_lines("sle", [tmp_path / "curves.parquet"])
    assert lines[:4] == ["sle,a,1,0,loss,0", "sle,a,1,1,loss,0.3333", "sle,a,1,2,loss,0.6667", "sle,a,2,0,loss,0"]
    assert len(lines) == 12


def test_a_curve_that_others_continue_from_is_told_once(tmp_path):
    """Each of these has it beside its own weights."""
    rows = [
        {"run": "a", "seed": 1, "step": step, "images": step, "quantity": "loss", "value": step / 3}
        for step in range(3)
    ]
    for name in ("own", "start"):
        parquet.write_rows(tmp_path / f"{name}.parquet", rows, schemas.CURVES)
    assert len(curve_lines("psst", [tmp_path / "own.parquet", tmp_path / "start.parquet"])) == len(rows)
