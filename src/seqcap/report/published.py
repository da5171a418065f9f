"""The papers' own numbers and example captions, packaged as facts: nothing in `published/` was measured here."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from io import StringIO
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from seqcap.errors import InputError

TABLE_COLUMNS = ["paper", "table", "block", "row", "column", "value", "scale", "direction", "note"]
LITERATURE_COLUMNS = ["system", "source", "metric", "value", "note"]

# What one unit of our own metrics is worth in the scale a paper prints.
SCALES = {"x100": 100.0, "x1": 1.0, "ratio": 1.0, "percent": 100.0}


@cache
def published_table(paper: str, table: str) -> pd.DataFrame:
    """One table of a paper, or a figure's numbers, in its printed order, one record per cell.

    It is read once, for everybody: not to be changed.

    Args:
        paper: "sle", "psst", "wtfrl", "spider" or "smoothing".
        table: "table<number>" or "fig<number>".

    Returns:
        Columns table (several where a file holds several parts of a figure), block, row, column, scale, direction and
        note (strings), `printed` (the number as the paper prints it; empty where it reports none) and `value` (float;
        NaN where it reports none).

    Raises:
        InputError: there is no such table, or its file is damaged.
    """
    name = f"{paper}_{table}.csv"
    frame = _read_csv(name, TABLE_COLUMNS)
    keys = ["table", "block", "row", "column"]
    if frame.duplicated(keys).any():
        twice = frame.loc[frame.duplicated(keys), keys].iloc[0].tolist()
        raise InputError(name, f"holds the cell {twice} twice", "restore the packaged file")
    if not set(frame["scale"]) <= set(SCALES):
        raise InputError(name, f"has an unknown scale in {sorted(set(frame['scale']))}", f"use one of {sorted(SCALES)}")
    frame["printed"] = frame["value"]
    frame["value"] = _numbers(name, frame["value"])
    return frame[[*keys, "printed", "value", "scale", "direction", "note"]]


def published_cell(paper: str, table: str, row: str, column: str, block: str | None = None) -> dict[str, Any]:
    """One cell that holds a number, as a record of `published_table`'s columns; `value` is in the printed scale.

    Args:
        paper, table: as of `published_table`.
        row, column: as the paper labels them.
        block: needed only where several blocks of the table have that row.

    Raises:
        InputError: the table has no such cell or several, or the paper reports no number in it.
    """
    frame = published_table(paper, table)
    chosen = (frame["row"] == row) & (frame["column"] == column) & frame["value"].notna()
    if block is not None:
        chosen &= frame["block"] == block
    cells = frame[chosen].to_dict("records")
    if len(cells) != 1:
        where = ", ".join([*([block] if block else []), row, column])
        raise InputError(f"{paper}_{table}.csv", f"has {len(cells)} numbers for {where}", "name one cell")
    return {str(key): value for key, value in cells[0].items()}


def published_value(paper: str, table: str, row: str, column: str, block: str | None = None) -> float:
    """The number in one cell, in its printed scale; arguments and errors as `published_cell`."""
    return float(published_cell(paper, table, row, column, block)["value"])


def text_claims(paper: str) -> dict[str, dict[str, str]]:
    """Numbers that a paper's running text states, by place in the text: place -> record of its columns.

    `value` may hold several numbers, and `column` as many metrics, separated by slashes.
    """
    records = _read_csv("text_claims.csv", TABLE_COLUMNS).to_dict("records")
    return {
        str(record["table"]): {str(k): str(v) for k, v in record.items()}
        for record in records
        if record["paper"] == paper
    }


def examples(figure: str) -> dict[str, Any]:
    """The captions that a paper's figure or table shows, as packaged: by system, or by image and system."""
    shown: dict[str, Any] = _read_yaml("qualitative.yaml")[figure]
    return shown


def example_captions(figure: str, system: str) -> list[str]:
    """Captions that a paper's figure shows for one system ("captions" where the figure has only one).

    A caption followed by "(x5)" stands for five identical ones.
    """
    shown: list[str] = []
    for caption in examples(figure)[system]:
        repeated = re.fullmatch(r"(.*) \(x(\d+)\)", caption)
        shown += [repeated[1]] * int(repeated[2]) if repeated else [caption]
    return shown


def literature(dataset: str) -> pd.DataFrame | None:
    """Other systems' published results on `dataset`, in per cent, or None where none are packaged."""
    name = f"literature_{dataset}.csv"
    if not (resources.files(__package__) / "published" / name).is_file():
        return None
    frame = _read_csv(name, LITERATURE_COLUMNS)
    frame["value"] = _numbers(name, frame["value"])
    return frame


def _text(name: str) -> str:
    file = resources.files(__package__) / "published" / name
    if not file.is_file():
        raise InputError(name, "is not among the packaged published numbers", "name a table of a packaged paper")
    return file.read_text(encoding="utf-8")


def _read_yaml(name: str) -> Any:
    return YAML(typ="safe").load(_text(name))


def _read_csv(name: str, columns: list[str]) -> pd.DataFrame:
    # Everything stays text: "75.0" must not become "75", nor an empty cell a number.
    frame = pd.read_csv(StringIO(_text(name)), dtype=str, keep_default_na=False)
    if list(frame.columns) != columns:
        raise InputError(name, f"has columns {', '.join(frame.columns)}", f"expected {', '.join(columns)}")
    return frame


def _numbers(name: str, printed: pd.Series[str]) -> pd.Series[float]:
    numbers = pd.to_numeric(printed, errors="coerce").astype(float)
    wrong = printed[numbers.isna() & (printed != "")]
    if len(wrong):
        raise InputError(name, f"value {wrong.iloc[0]!r} is not a number", "restore the packaged file")
    return numbers
