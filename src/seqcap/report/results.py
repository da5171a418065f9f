"""What the first page needs of a paper: a few small files beside the paper's page, which its own stage writes and git
keeps. The first page reads those of every paper, so that one paper can be run and published alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.report.verdicts import UNSURE

RESULTS = "results"  # the folder of these files, in the paper's
# The version of these files. Verdicts follow from them by today's rule. Those of an earlier version do not hold enough
# for that: they are shown in the words of the paper's own stage, and are not counted.
VERSION = 2

Record = Mapping[str, Any]  # of a comparison: what its paper's stage has written of it


@dataclass(frozen=True)
class Line:
    """A comparison as the first page shows it; "" and 0 where there is no number."""

    key: tuple[
        str, ...
    ]  # what tells comparisons apart, whatever the words for them and the claim that they are part of
    primary: bool
    what: str
    printed: str  # the paper's difference
    difference: str
    low: str
    high: str
    verdict: str
    detectable: str  # the difference that could have been found, where none was
    seeds: int
    items: int

    @classmethod
    def of(cls, record: Record) -> Self:
        return cls(
            key=tuple(record[column] for column in ("paper", "metric", "decoder", "left", "right", "base")),
            primary=record["kind"] == "primary",
            what=record["what"],
            printed=record["paper_difference"],
            difference=record["difference"],
            low=record["low"],
            high=record["high"],
            verdict=record["verdict"],
            detectable=record["detectable"] if record["verdict"] == UNSURE else "",
            seeds=int(record["seeds"].partition("/")[2] or 0),
            items=int(record["items"] or 0),
        )


@dataclass(frozen=True)
class Claim:
    """A claim with its comparisons, the primary one first."""

    id: str
    sentence: str
    explained: str  # why it does not hold, or what was tried
    control: bool  # whether it is a question of ours
    lines: tuple[Line, ...]

    @property
    def first(self) -> Line:
        return self.lines[0]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        lines = tuple(Line.of(record) for record in said["records"])
        return cls(said["id"], said["sentence"], said["explained"], said["control"], lines)


@dataclass(frozen=True)
class Results:
    """A paper's results.

    Attributes:
        said: claims.json. What the paper claims above all, and each claim with the records of its comparisons, the
            primary one first.
        metrics: metrics.json. The numbers for `dvc exp show`.
        curves: curves.csv, as text.
        provenance: provenance.json. Where the results come from (`seqcap.report.provenance`).
    """

    said: Mapping[str, Any]
    metrics: Mapping[str, float]
    curves: str
    provenance: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Reads the results in a paper's folder; an `InputError` if a newer version of the code has written them."""
        results = folder / RESULTS
        said = json_file.read_json(results / "claims.json")
        if said["version"] > VERSION:
            problem = f"has version {said['version']}, and this code knows {VERSION}"
            raise InputError(results / "claims.json", problem, "update the code")
        return cls(
            said=said,
            metrics=json_file.read_json(results / "metrics.json"),
            curves=(results / "curves.csv").read_text(encoding="utf-8"),
            provenance=json_file.read_json(results / "provenance.json"),
        )

    def write(self, folder: Path) -> None:
        """Writes the results into a paper's folder."""
        results = folder / RESULTS
        for name in ("said", "metrics", "provenance"):
            file = "claims" if name == "said" else name
            json_file.write_json(results / f"{file}.json", getattr(self, name))
        with writing.atomic(results / "curves.csv") as path:
            path.write_text(self.curves, encoding="utf-8")

    @property
    def rule(self) -> str:
        """The commit whose rule the verdicts are of, if that is not today's; else ""."""
        return "" if self.said["version"] == VERSION else str(self.said["rule"])[:7]

    @property
    def records(self) -> list[Record]:
        """Those of every comparison, as claims.csv has them."""
        return [record for claim in self.said["claims"] for record in claim["records"]]

    @cached_property
    def claims(self) -> Sequence[Claim]:
        return [Claim.of(claim) for claim in self.said["claims"]]

    def counts(self, *, control: bool) -> Counter[str]:
        """How many of the paper's claims, or of our controls, have each verdict of today's rule."""
        if self.rule:
            return Counter()
        return Counter(claim.first.verdict for claim in self.claims if claim.control == control)


def read_all(folder: Path, papers: Sequence[str]) -> dict[str, Results]:
    """The results in a folder of papers; those papers that have none are left out."""
    there = [paper for paper in papers if (folder / paper / RESULTS / "claims.json").is_file()]
    return {paper: Results.read(folder / paper) for paper in there}
