"""A paper as the report sees it: its folder's YAML files. The report does not know which papers there are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from seqcap.config import Frozen
from seqcap.errors import InputError
from seqcap.report.published import Published

_T = TypeVar("_T")
# The decoded captions of an item that a number is about: all of them, the first, or the set as a whole.
Captions = Literal["every", "best", "set"]
# Column of a table -> (metric in the scores, over which captions of an item).
Columns = Mapping[str, tuple[str, Captions]]
# Column of a table -> (decoder, metric, captions).
Sources = Mapping[str, tuple[str, str, Captions]]
# Published row, where its label stands for several runs (block, row) or (column, row) -> (run, decoder).
Rows = Mapping[str, tuple[str, str]] | Mapping[tuple[str, str], tuple[str, str]]


class Ours(Frozen):
    """A row that the paper does not print: the printed row that it follows, and what is said of it."""

    like: str
    note: str


class TableText(Frozen):
    """Title and text of a table; `Results.fill` fills in title and reading."""

    title: str
    reading: str = ""
    brackets: str = "95% t interval over training seeds and test images"  # what [ ] hold
    published: str = ""  # the published table whose cells it has, if it needs no code
    task: str = ""  # whose data stand for the paper's; "": the first of the paper's
    evaluation: str = ""  # whose numbers of captions are filled in; "": that of the first run
    notes: Mapping[str, str] = {}  # printed row -> what is said of it
    # Columns that the paper does not print -> metric and captions. Those that nothing was measured of are left out.
    beside: Mapping[str, tuple[str, Captions]] = {}
    # Block (`{captioner}`: that of the row's run) -> columns, a row per run; and the same of people's captions.
    measured: Mapping[str, Sources] = {}
    people: Mapping[str, Sources] = {}
    exact: bool = False  # whether it is only of data whose every fact is known
    exact_reading: str = ""  # on such data, what is at `{exact}` in the reading
    details: bool = False  # whether it is on the page of details


class Quantity(Frozen):
    """What a column of learning curves shows: of each run the first of its quantities that the run has."""

    title: str
    of: tuple[str, ...]
    scale: float = 1
    relative: bool = False  # whether it is divided by its mean at step 0
    task: str = ""  # whose runs it is of; "": all
    captioner: str = ""  # the same


class LearningCurves(Frozen):
    """A figure of learning curves: a column per quantity, a row per group of runs, few lines in each panel."""

    columns: tuple[Quantity, ...]
    rows: Mapping[str, tuple[str, ...]]  # what is said of a group -> the labels of its runs
    # Whether a run's steps are shares of all its own: for runs that have the same time, but not the same updates.
    shares: bool = False
    start: str = ""  # the label of what they start from, a dashed line at its value; "": they start from different ones
    compared: bool = False  # whether its rows are compared, so that one alone is no figure
    # A share of the steps, of which the values may be below the panels, so that the differences at the end are seen.
    early: float = 0


class Examples(Frozen):
    """A figure of images, drawn by rule, with the captions of some runs, of the first seed."""

    # In words, what the runs of a choice share -> run -> what it is called. The first choice counts whose runs are all
    # there.
    systems: Mapping[str, Mapping[str, str]]
    images: int
    first: int = 0  # so many of those that are drawn are skipped
    decoder: Literal["beam", "sample"] = "beam"  # a line per run, or a column of samples
    printed: str = ""  # the published examples that follow
    people: bool = False  # whether people's first caption is above
    task: str = ""  # "": that of the pictures


class Coordinate(Frozen):
    """An axis of a trade-off: its label, what it shows of runs and of people's captions, and in which scale."""

    label: str
    measure: tuple[str, str, Captions]  # decoder, metric, captions
    people: tuple[str, str, Captions] | None = None  # None: people have no number
    scale: float = 1


class PrintedPoints(Frozen):
    """The paper's points: name -> row of a published table, and the columns of both coordinates."""

    table: str
    rows: Mapping[str, str]
    x: str
    y: str


class Panel(Frozen):
    """A panel of a trade-off."""

    x: Coordinate
    y: Coordinate
    title: str = ""  # with `{data}`
    printed: PrintedPoints | None = None  # what it is of, if not of runs
    scale: str = ""  # panels with one name have one scale
    exact: bool | None = None  # whether it is only of data whose every fact is known, or only of others; None: of all


class TradeOffs(Frozen):
    """A figure of points, one for each run of pictures. Several runs without a row are grey and have no names."""

    panels: tuple[Panel, ...]
    others: str = ""  # what several runs without a row are called; "": these are left out


class Said(Frozen):
    """A part of a caption that is said where what it speaks of may be drawn."""

    text: str
    run: str = ""  # a pattern of names (`fnmatch`), of which the results have a run; "": of whatever runs
    one_seed: bool = False  # whether it is of runs with a single training seed alone
    exact: bool | None = None  # as of a `Panel`


class FigureText(Frozen):
    """Title and caption of a figure; `Results.fill` fills in the caption."""

    title: str
    caption: str
    where: Mapping[str, Said] = {}  # placeholder of the caption -> what is at it, if anything
    evaluation: str = ""  # the one whose data it shows; "": those of all
    # What the figure is of, if it takes no code of the paper's.
    curves: LearningCurves | None = None
    examples: Examples | None = None
    tradeoffs: TradeOffs | None = None
    details: bool = False  # whether it is on the page of details


class Facts(Frozen):
    """paper.yaml. Rows that are not in `rows` are other systems' published numbers. A paper whose rows depend on the
    run has rows.py instead."""

    label: str
    title: str
    published_on: Mapping[str, str]  # task -> the data behind the paper's numbers
    rows: Mapping[str, Mapping[str, tuple[str, str]]] = {}  # published table -> printed row -> run and decoder
    columns: Mapping[str, Columns] = {}  # published table -> column -> metric and captions
    ours: Mapping[str, Mapping[str, Ours]] = {}  # published table -> rows that the paper does not print


@dataclass(frozen=True)
class Paper:
    """One paper: `folder` has its name and files; `find` imports its module of a name, or returns None without one."""

    folder: Path
    facts: Facts
    find: Callable[[str], Any]

    @classmethod
    def read(cls, folder: Path, find: Callable[[str], Any]) -> Self:
        return cls(folder, read_yaml(folder / "paper.yaml", Facts), find)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def label(self) -> str:
        return self.facts.label

    @cached_property
    def published(self) -> Published:
        return Published(self.folder / "published")

    @cached_property
    def tables(self) -> Mapping[str, TableText]:
        return read_yaml(self.folder / "tables.yaml", dict[str, TableText])

    @cached_property
    def figures(self) -> Mapping[str, FigureText]:
        return read_yaml(self.folder / "figures.yaml", dict[str, FigureText])

    def functions(self, part: str) -> Mapping[str, Callable[..., Any]]:
        """`TABLES` of tables.py or `FIGURES` of figures.py, empty without such a module."""
        functions: Mapping[str, Callable[..., Any]] = getattr(self.find(part), part.upper(), {})
        return functions

    def row_of(self, table: str, run: str, decoder: str) -> str:
        """The printed row that a run makes in a table; of a table without rows of ours, its row in any other."""
        tables = [self.facts.rows[table]] if table in self.facts.rows else self.facts.rows.values()
        return next(row for rows in tables for row, source in rows.items() if source == (run, decoder))


def read_yaml(path: Path, kind: type[_T]) -> _T:
    """A YAML file as a pydantic type; an InputError names file, key and problem."""
    if not path.is_file():
        raise InputError(path, "does not exist", "every paper has one")
    try:
        return TypeAdapter(kind).validate_python(YAML(typ="safe").load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}", "correct the file") from None
