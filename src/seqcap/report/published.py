"""A paper's own numbers and example captions, as packaged in its folder: nothing there was measured here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.metrics import registry

# Name of a printed scale -> factor from our metrics to it.
SCALES = {"x100": 100.0, "x1": 1.0, "ratio": 1.0, "percent": 100.0}


@dataclass(frozen=True)
class Printed:
    """Published cells, one for each side of a comparison: records of `Published.table`."""

    cells: tuple[dict[str, Any], ...]

    @property
    def scale(self) -> float:
        return SCALES[self.cells[0]["scale"]]

    @property
    def values(self) -> list[float]:
        return [cell["value"] for cell in self.cells]

    @property
    def decimals(self) -> int:
        return max(len(cell["printed"].partition(".")[2]) for cell in self.cells)

    @property
    def sign(self) -> int:
        return 1 if self.values[0] > self.values[1] else -1


@dataclass(frozen=True)
class Published:
    """The numbers that a paper prints, in the CSV files of a folder."""

    folder: Path

    def table(self, name: str) -> pd.DataFrame:
        """A table, or a figure's numbers, in its printed order, one record per cell; cached: do not change it.

        Columns paper, table (several where a file holds several parts of a figure), block, row, column, scale,
        direction, note, `printed` (as the paper prints it, or "") and `value` (float; NaN where it reports none).
        """
        return _read_table(self.folder / f"{name}.csv")

    def records(self, table: str) -> list[dict[str, Any]]:
        return [{str(key): value for key, value in record.items()} for record in self.table(table).to_dict("records")]

    def rows(self, table: str) -> list[str]:
        return list(dict.fromkeys(map(str, self.table(table)["row"])))

    def cell(self, table: str, row: str, column: str, block: str | None = None) -> dict[str, Any]:
        """The one cell that holds a number; `block` is needed where several blocks of the table have that row."""
        wanted = {"row": row, "column": column} | ({} if block is None else {"block": block})
        cells = [record for record in self.records(table) if record["printed"] and wanted.items() <= record.items()]
        if len(cells) != 1:
            where = ", ".join(filter(None, (block, row, column)))
            raise InputError(self.folder / f"{table}.csv", f"has {len(cells)} numbers for {where}", "name one cell")
        return cells[0]

    def value(self, table: str, row: str, column: str, block: str | None = None) -> float:
        return float(self.cell(table, row, column, block)["value"])

    def printed(self, table: str, column: str, *rows: str, block: str | None = None) -> Printed:
        return Printed(tuple(self.cell(table, row, column, block) for row in rows))

    @cached_property
    def quality(self) -> float:
        """The factor from our metrics of quality to the scale that the paper prints: CIDEr's; 100 where it has none."""
        for path in sorted(self.folder.glob("table*.csv")):
            cells = _read_table(path)
            for scale in cells.loc[cells["column"].str.startswith("CIDEr"), "scale"]:
                return SCALES[scale]
        return 100.0

    def scale(self, metric: str) -> float:
        """The factor from a metric to the scale of the paper's tables and figures, ours of that paper too."""
        of_quality = metric.partition(" ")[0] in (*registry.QUALITY, "BLEU", "oracle")
        return self.quality if of_quality else registry.find(metric).scale

    def text_claims(self) -> dict[str, dict[str, str]]:
        """Numbers in the running text, by place; `value` and `column` may hold several, separated by slashes."""
        records = _read_csv(self.folder / "text_claims.csv").to_dict("records")
        return {str(record["table"]): {str(k): str(v) for k, v in record.items()} for record in records}

    def examples(self, figure: str) -> dict[str, Any]:
        """The captions that a figure or table shows, as packaged: by system, or by image and system."""
        shown: dict[str, Any] = YAML(typ="safe").load(self.folder / "examples.yaml")[figure]
        return shown

    def example_captions(self, figure: str, system: str) -> list[str]:
        """The captions that a figure shows for one system; "(x5)" after a caption stands for five of them."""
        shown: list[str] = []
        for caption in self.examples(figure)[system]:
            repeated = re.fullmatch(r"(.*) \(x(\d+)\)", caption)
            shown += [repeated[1]] * int(repeated[2]) if repeated else [caption]
        return shown


def literature(dataset: str) -> pd.DataFrame | None:
    """Other systems' published results on `dataset`, in per cent, or None where none are packaged."""
    path = Path(__file__).parent / "literature" / f"{dataset}.csv"
    return _read_table(path) if path.is_file() else None


@cache
def _read_table(path: Path) -> pd.DataFrame:
    frame = _read_csv(path)
    return frame.assign(printed=frame["value"], value=pd.to_numeric(frame["value"].replace("", None)).astype(float))


def _read_csv(path: Path) -> pd.DataFrame:
    # Everything stays text: "75.0" must not become "75", nor an empty cell a number.
    return pd.read_csv(path, dtype=str, keep_default_na=False)
