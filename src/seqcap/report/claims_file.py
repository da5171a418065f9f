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
from seqcap.report.metrics import Measured
from seqcap.report.paper import Captions, Paper, read_yaml

Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]


class Entry(Frozen):
    """Comparisons of one claim that differ in block, metric, decoder or run alone, in this order."""

    id: str
    text: str
    left: Names  # runs, or in a paper with code of its own what that code reads
    right: Names  # the same
    base: str | None = None  # if given: left differs from `base` by more than right does
    table: str = ""  # where the paper prints what is compared; "": nowhere
    blocks: Names = ("",)
    columns: Names | Mapping[str, int] = ()  # of `columns_of`, with the sign of left - right if not as printed
    columns_of: str = ""  # key of `Facts.columns`; "": `table`
    metrics: Mapping[str, int] = {}  # in place of columns: metric -> the claimed sign
    decoders: Names = ("beam",)
    captions: Captions = "best"
    headline: bool | tuple[str, ...] = False  # whether the findings repeat it, or in which columns
    headline_decoders: Names = ()  # narrow `headline` down

    def each(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Block, column or metric, decoder, left and right of each comparison."""
        return product(self.blocks, self.columns or self.metrics, self.decoders, self.left, self.right)

    def is_headline(self, column: str, decoder: str = "") -> bool:
        if self.headline_decoders and decoder not in self.headline_decoders:
            return False
        return self.headline if isinstance(self.headline, bool) else column in self.headline


class ClaimsFile(Frozen):
    """claims.yaml."""

    metrics: Mapping[str, Measured] = {}  # the paper's few numbers in reports/metrics.json
    claims: tuple[Entry, ...] = ()
    words: Mapping[str, Mapping[str, str]] = {}  # key of `Facts.columns` -> column -> what it compares
    stand_ins: tuple[tuple[str, str], ...] = ()  # what the paper has and what stands for it here, apart from the data
    remarks: Mapping[str, str] = {}  # texts that the paper's claims.py fills in, by its own keys
    limits: tuple[str, ...] = ()  # what a reader must know beyond what the run shows
    errors: tuple[str, ...] = ()

    @classmethod
    def read(cls, paper: Paper) -> ClaimsFile:
        return _read(paper.folder / "claims.yaml")

    def remark(self, key: str, /, **values: Any) -> str:
        return self.remarks[key].format(**values)

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
