"""claims.yaml of a paper: its claims as data, what stands in for what, and what limits the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from seqcap.config import Frozen
from seqcap.report.claims import Claim
from seqcap.report.paper import Captions, Paper, read_yaml
from seqcap.report.tables import Measure

Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]


class Entry(Frozen):
    """Comparisons of one claim that differ in block, metric, decoder or run alone, in this order.

    Attributes:
        left, right: runs, or in a paper with code of its own what that code reads.
        base: where given, the claim is that left differs from `base` by more than right does.
        table: where the paper prints what is compared; "": nowhere.
        columns: those of `columns_of`, alone or with the claimed sign of left - right. Alone, the sign is as printed.
        columns_of: key of `Facts.columns`; "": `table`.
        metrics: in place of columns, metric -> the claimed sign.
        headline: whether the findings repeat it, or in which columns; `headline_decoders` narrows that down.
    """

    id: str
    text: str
    left: Names
    right: Names
    base: str | None = None
    table: str = ""
    blocks: Names = ("",)
    columns: Names | Mapping[str, int] = ()
    columns_of: str = ""
    metrics: Mapping[str, int] = {}
    decoders: Names = ("beam",)
    captions: Captions = "best"
    headline: bool | tuple[str, ...] = False
    headline_decoders: Names = ()

    def each(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Block, column or metric, decoder, left and right of each comparison."""
        return product(self.blocks, self.columns or self.metrics, self.decoders, self.left, self.right)

    def is_headline(self, column: str, decoder: str = "") -> bool:
        if self.headline_decoders and decoder not in self.headline_decoders:
            return False
        return self.headline if isinstance(self.headline, bool) else column in self.headline


class ClaimsFile(Frozen):
    """claims.yaml.

    Attributes:
        metrics: each run's numbers in reports/metrics.json: name -> decoder, metric and captions.
        words: key of `Facts.columns` -> column -> what is compared in it, where the metric's label says too little.
        stand_ins: pairs of what the paper has and what stands for it here, apart from the data.
        remarks: texts that the paper's claims.py fills in, by its own keys.
        limits: what a reader must know beyond what the run shows.
    """

    metrics: Mapping[str, tuple[str, str] | tuple[str, str, Captions]] = {}
    claims: tuple[Entry, ...] = ()
    words: Mapping[str, Mapping[str, str]] = {}
    stand_ins: tuple[tuple[str, str], ...] = ()
    remarks: Mapping[str, str] = {}
    limits: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @classmethod
    def read(cls, paper: Paper) -> ClaimsFile:
        return _read(paper.folder / "claims.yaml")

    def remark(self, key: str, /, **values: Any) -> str:
        return self.remarks[key].format(**values)

    def measures(self) -> dict[str, Measure]:
        return {name: Measure(*parts) for name, parts in self.metrics.items()}

    def build(self, paper: Paper) -> list[Claim]:
        return [claim for entry in self.claims for claim in self._build(entry, paper)]

    def _build(self, entry: Entry, paper: Paper) -> Iterator[Claim]:
        where = entry.columns_of or entry.table
        for _, column, decoder, left, right in entry.each():
            metric, captions = paper.facts.columns[where][column] if entry.columns else (column, entry.captions)
            names = [left, right, *([entry.base] if entry.base else [])]
            printed = None
            if entry.table:
                rows = (paper.row_of(entry.table, name, decoder) for name in names)
                printed = paper.published.printed(entry.table, column, *rows)
            signs = entry.columns or entry.metrics
            yield Claim(
                entry.id,
                entry.text,
                metric,
                decoder,
                captions,
                left,
                right,
                signs[column] if isinstance(signs, Mapping) else printed.sign if printed else 1,
                printed,
                entry.base,
                headline=entry.is_headline(column, decoder),
                phrase=self.words.get(where, {}).get(column, ""),
            )


@cache
def _read(path: Path) -> ClaimsFile:
    found: ClaimsFile = read_yaml(path, ClaimsFile)
    return found
