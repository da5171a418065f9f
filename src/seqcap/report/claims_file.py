"""claims.yaml of a paper: its claims as data, what stands in for what, and what limits the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf

from seqcap.config import Frozen
from seqcap.report.claims import Comparison
from seqcap.report.evidence import MARGIN, Changed, Registered, Rule
from seqcap.report.inputs import Results
from seqcap.report.paper import Captions, Paper, read_yaml

Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]


class OfScenes(str):
    """A text whose end is said of results on generated scenes alone: in files, `common: <text>` and `scenes: <text>` in
    the place of a text; there may be nothing in common.

    Attributes:
        common: what of it is said of all results.
    """

    common: str = ""


def _text(value: Any) -> Any:
    if not isinstance(value, Mapping) or "scenes" not in value or value.keys() - {"common", "scenes"}:
        return value
    parts = [value.get("common", ""), value["scenes"]]
    if not all(isinstance(part, str) for part in parts):
        return value
    text = OfScenes(" ".join(filter(None, parts)))
    text.common = parts[0]
    return text


def _of_all_data(text: str) -> str:
    return text.common if isinstance(text, OfScenes) else text


Text = Annotated[InstanceOf[str], BeforeValidator(_text)]

# The verdicts that a hand-written text may explain.
Explained = Literal["holds", "reversed", "smaller than printed", "cannot tell", "does not hold"]

# What all comparisons of a claim have of it.
_OF_ALL = ("control", "about", "why", "explained", "rule", "margin", "registered", "changed")


class Comparisons(Frozen):
    """A group of comparisons of one claim: every combination of its blocks, columns or metrics, decoders, left sides
    and right sides, in this order."""

    left: Names  # runs, or in a paper with code of its own what that code reads
    right: Names  # the same
    base: str | None = None  # if given: left is further above `base` than `base` is above right
    table: str = ""  # where the paper prints what is compared; "": nowhere
    blocks: Names = ("",)
    columns: Names | Mapping[str, int] = ()  # of `columns_of`, with the sign of left - right if not as printed
    columns_of: str = ""  # key of `Facts.columns`; "": `table`
    metrics: Mapping[str, int] = {}  # in place of columns: metric -> the claimed sign
    decoders: Names = ("beam",)
    captions: Captions = "best"

    def each(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Block, column or metric, decoder, left and right of each comparison."""
        return product(self.blocks, self.columns or self.metrics, self.decoders, self.left, self.right)


class StatedClaim(Frozen):
    """A claim, one sentence of the paper. Its first comparison is the primary one, which decides it, or its first ones,
    each of which has to hold; the others are details. What the sentence names decides which are primary, never our
    numbers."""

    id: str
    control: bool = False  # whether it is a question of ours, which the paper does not claim
    about: str = ""  # of a control: the claim that it asks about, if it is one
    sentence: str
    why: Text  # what in the paper makes the first comparisons the primary ones
    # Verdict -> why it does not hold, or what was tried; of one that holds, what limits it. A text was written for its
    # verdict, and goes with it. That of "does not hold" is for failures without a text of their own.
    explained: Mapping[Explained, Text] = {}
    rule: Rule = "difference"
    margin: float = Field(MARGIN, gt=0, lt=1)  # of "no worse"
    primary: int = Field(1, ge=1)  # how many of the first comparisons decide it
    registered: Registered | None = None  # None: nothing was, before the first run
    changed: Changed | None = None
    comparisons: tuple[Comparisons, ...]


class OnOneCaptioner(Frozen):
    """Two rows of the table across papers, in one of its columns."""

    column: str
    left: str  # a run
    right: str


class Finding(Frozen):
    """What the paper claims above all, and the claim whose number stands for it."""

    sentence: str
    claim: str
    control: str = ""  # a control of ours without which that number misleads
    shown: tuple[str, ...] = ()  # the claims on the first page; none: the first ones
    across: OnOneCaptioner | None = None  # what the table across papers says of it
    failing: str = ""  # in a few words, what may explain most of its claims that fail on generated data


class MainNumber(Frozen):
    """A run's number, its mean over seeds, in the metric's scale of tables."""

    run: str
    metric: str
    decoder: str = "beam"
    captions: Captions = "best"


class ClaimsFile(Frozen):
    """claims.yaml."""

    metrics: Mapping[str, MainNumber] = {}  # the paper's few numbers in reports/metrics.json
    finding: Finding | None = None  # None: it claims nothing
    claims: tuple[StatedClaim, ...] = ()
    words: Mapping[str, Mapping[str, str]] = {}  # key of `Facts.columns` -> column -> what it compares
    stand_ins: tuple[tuple[Text, Text], ...] = ()  # what the paper has and what stands for it here, apart from the data
    remarks: Mapping[str, Text] = {}  # texts that the paper's claims.py fills in, by its own keys
    limits: tuple[Text, ...] = ()  # what a reader must know beyond what the run shows
    errors: tuple[str, ...] = ()

    @classmethod
    def read(cls, paper: Paper) -> ClaimsFile:
        return read_yaml(paper.folder / "claims.yaml", cls)

    @classmethod
    def of(cls, results: Results) -> ClaimsFile:
        """What is true of these results: on other data than scenes without what is said or registered of scenes."""
        file = cls.read(results.paper)
        if results.are_of_scenes:
            return file
        claims = [
            stated.model_copy(
                update={
                    "why": _of_all_data(stated.why),
                    "explained": {
                        key: _of_all_data(text) for key, text in stated.explained.items() if _of_all_data(text)
                    },
                    "registered": None,
                }
            )
            for stated in file.claims
        ]
        limits = [_of_all_data(text) for text in file.limits if _of_all_data(text)]
        remarks = {key: _of_all_data(text) for key, text in file.remarks.items()}
        stand_ins = tuple((_of_all_data(theirs), _of_all_data(ours)) for theirs, ours in file.stand_ins)
        return file.model_copy(
            update={"claims": tuple(claims), "limits": tuple(limits), "remarks": remarks, "stand_ins": stand_ins}
        )

    def remark(self, key: str, /, **values: Any) -> str:
        """A remark, filled in; "" where it is not of these results."""
        return self.remarks[key].format(**values)

    def build(self, paper: Paper) -> list[Comparison]:
        return self.made(lambda stated, group: self._build(stated, group, paper))

    def made(self, make: Callable[[StatedClaim, Comparisons], Iterable[Comparison]]) -> list[Comparison]:
        """The comparisons of all claims, as `make` gives them for a claim and each of its groups."""
        comparisons: list[Comparison] = []
        for stated in self.claims:
            made = (claim for group in stated.comparisons for claim in make(stated, group))
            shared = {name: getattr(stated, name) for name in _OF_ALL}
            comparisons += [replace(claim, **shared, primary=rank < stated.primary) for rank, claim in enumerate(made)]
        return comparisons

    def _build(self, stated: StatedClaim, group: Comparisons, paper: Paper) -> Iterator[Comparison]:
        where = group.columns_of or group.table
        for _, column, decoder, left, right in group.each():
            metric, captions = paper.facts.columns[where][column] if group.columns else (column, group.captions)
            names = [left, right, *([group.base] if group.base else [])]
            printed = None
            if group.table:
                rows = (paper.row_of(group.table, name, decoder) for name in names)
                printed = paper.published.printed(group.table, column, *rows)
            signs = group.columns or group.metrics
            yield Comparison(
                stated.id,
                stated.sentence,
                metric,
                decoder,
                captions,
                left,
                right,
                signs[column] if isinstance(signs, Mapping) else printed.sign if printed else 1,
                printed,
                group.base,
                phrase=self.words.get(where, {}).get(column, ""),
            )
