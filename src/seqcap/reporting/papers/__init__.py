"""The papers: a package each, which exposes one `PAPER` and is found by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from seqcap.errors import InputError
from seqcap.reporting.claims import Claim, Result
from seqcap.reporting.figures import FigureKind
from seqcap.reporting.inputs import CONFIGS, SCORES_FILE, ReportConfig, Run, Variant
from seqcap.reporting.tables import Measure, Table


@dataclass(frozen=True)
class Paper:
    """Everything that the report says of one paper.

    Attributes:
        name: of its package here, its section of params.yaml and its files.
        label: its name in headings.
        title: with authors and venue.
        published_on: task -> the data behind its numbers.
        rows: published table -> row, as the paper labels it -> (variant in params.yaml, decoder); where a row's label
            stands for several variants, (block, row) or (column, row). Rows that are not there are other systems'
            published numbers.
        tables: file name -> how the table is made.
        figures: file name -> how the figure is drawn, and its caption.
        claims: what the paper claims.
        headlines: the claims that its findings repeat, by `Claim.key`.
        metrics: the numbers of each variant in reports/metrics.json.
        stand_ins: (what the paper has, what stands for it here), apart from the data.
        limits: what a reader must know beyond what the run shows.
        remarks: paragraphs after the findings, from this run's numbers.
        errors: contradictions found in the paper's own numbers.
        score_files: which files of artifacts/<name> hold the scores of these variants and of the entries.
        entries: what is scored beside the variants without a training run of its own, such as an ensemble.
        linked: tables that the report links to without repeating them -> why.
        beam: width of the beam.
    """

    name: str
    label: str
    title: str
    published_on: Mapping[str, str]
    rows: Mapping[str, Mapping[str, tuple[str, str]] | Mapping[tuple[str, str], tuple[str, str]]]
    tables: Mapping[str, Callable[[Run], Table]]
    figures: Mapping[str, FigureKind]
    claims: Sequence[Claim]
    headlines: frozenset[tuple[str, str, str]]
    metrics: Mapping[str, Measure]
    stand_ins: Callable[[Run], list[tuple[str, str]]]
    limits: Sequence[str]
    remarks: Callable[[Run, Sequence[Result]], list[str]]
    errors: Callable[[], list[str]]
    score_files: Callable[[Sequence[Variant]], Sequence[str]] = lambda variants: (SCORES_FILE,)
    entries: Callable[[], Sequence[Variant]] = tuple
    linked: Mapping[str, str] = field(default_factory=dict)
    beam: int = 5


def find(name: str) -> Paper:
    """The paper of that name.

    Raises:
        InputError: there is no such package.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    if name not in names:
        raise InputError(CONFIGS / "report.json", f"there is no paper {name!r}", f"known: {', '.join(names)}")
    paper: Paper = importlib.import_module(f"{__name__}.{name}").PAPER
    return paper


def read_runs() -> list[Run]:
    """What this run has of every paper that takes part in it."""
    return [Run.read(find(name)) for name in ReportConfig.read().papers]
