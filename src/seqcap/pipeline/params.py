"""The parameter files as typed values (`forms`): params.yaml, papers/<paper>/runs.yaml, and beside each of them
scales/<scale>.yaml, which holds what another scale changes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from seqcap.errors import InputError
from seqcap.papers import check as check_papers
from seqcap.pipeline.forms import (
    EnsembleParams,
    EvaluationParams,
    PaperFile,
    RunParams,
    Shared,
    named_sections,
    paper_form,
    shared_form,
)
from seqcap.pipeline.kind import Key
from seqcap.pipeline.overlay import overlay, trained_runs
from seqcap.pipeline.parameter_files import PARAMS, SCALES, parameter_files, read_yaml, scale_file
from seqcap.pipeline.validation import validated

T = TypeVar("T")
ALPHA = "$alpha"  # the value of a run that stands for `alpha` of params.yaml


@dataclass(frozen=True)
class Params:
    """All parameters, with `scale`, `like`, `sweep` and `$alpha` resolved.

    Attributes:
        shared: those of params.yaml.
        papers: each paper's.
        entries: key -> its named entries, of all papers.
        sources: name of a paper or of an entry -> the file that it comes from.
    """

    shared: Shared
    papers: Mapping[str, PaperFile]
    entries: Mapping[str, Mapping[str, Any]]
    sources: Mapping[str, Path]

    @property
    def evaluations(self) -> Mapping[str, EvaluationParams]:
        return self.entries["evaluations"]

    @property
    def groups(self) -> Mapping[str, str]:
        return self.entries["groups"]

    @property
    def runs(self) -> Mapping[str, RunParams]:
        return self.entries["runs"]

    @property
    def ensembles(self) -> Mapping[str, EnsembleParams]:
        return self.entries["ensembles"]

    def __getitem__(self, key: Key[T]) -> T:
        """What stands at a kind's key: in params.yaml, or the entries of all papers."""
        value: T = self.entries[key.name] if key.of_papers else getattr(self.shared, key.name)  # type: ignore[assignment]
        return value

    def of_paper(self, paper: str, key: Key[T]) -> T:
        """What stands at a kind's key in a paper's file."""
        value: T = getattr(self.papers[paper], key.name)
        return value

    def source(self, name: str) -> Path:
        """The file to name in an error about a paper or an entry."""
        return self.sources.get(name, PARAMS)

    def paper(self, name: str) -> str:
        """The paper that an entry belongs to."""
        return self.source(name).parent.name


def read_params(root: Path = Path()) -> Params:
    """Reads and checks the parameter files of the project in `root`; an `InputError` names file, key and value."""
    files = {path: read_yaml(root / path) for path in parameter_files(root)}
    for path, content in files.items():
        check_sections(content, root / path)
    check_papers(path.parent.name for path in files if path != PARAMS)
    _apply_scale(files, root)
    shared = validated(shared_form(), files.pop(PARAMS), PARAMS)
    papers: dict[str, PaperFile] = {}
    sources: dict[str, Path] = {}
    entries: dict[str, dict[str, Any]] = {key: {} for key in named_sections() & paper_form().model_fields.keys()}
    for path, content in files.items():
        if not content:
            # An experiment has left the paper out.
            continue
        runs = trained_runs(content.get("runs", {}), path)
        paper = validated(paper_form(), content | {"runs": _fill(runs, shared.alpha)}, path)
        papers[path.parent.name] = paper
        sources[path.parent.name] = path
        for section, named in entries.items():
            for name, value in getattr(paper, section).items():
                if sources.setdefault(name, path) != path:
                    raise InputError(path, f"{section}.{name} is in {sources[name]}, too", "give it another name")
                named[name] = value
    return Params(shared, papers, entries, sources)


def check_sections(content: Mapping[str, Any], path: Path) -> None:
    """Checks that the sections of a file that have named entries are mappings."""
    for section in sorted(named_sections()):
        entries = content.get(section, {})
        runs = entries.values() if section == "runs" and isinstance(entries, dict) else ()
        if not all(isinstance(value, dict) for value in (entries, *runs)):
            raise InputError(path, f"{section} is {entries!r:.80}", "expected a mapping of named entries")


def _apply_scale(files: dict[Path, dict[str, Any]], root: Path) -> None:
    """Lays the values of `scale` over those of the files. What an experiment has left out is passed over."""
    scale = files[PARAMS].get("scale")
    allowed = ["laptop", *sorted(path.stem for path in (root / SCALES).glob("*.yaml"))]
    if scale not in allowed:
        raise InputError(PARAMS, f"scale is {scale!r}", f"allowed: {', '.join(allowed)}")
    if scale == "laptop":
        return
    for file, content in files.items():
        path = scale_file(file, scale)
        if not content or not (root / path).is_file():
            continue
        changes = read_yaml(root / path)
        check_sections(changes, path)
        for section, values in changes.items():
            if section not in content:
                raise InputError(path, f"{section} is not in {file}", f"allowed: {', '.join(content)}")
            kept = values
            if section in named_sections():
                kept = {name: value for name, value in values.items() if name in content[section]}
            overlay(content, {section: kept}, path)


def _fill(value: Any, alpha: float) -> Any:
    if isinstance(value, dict):
        return {key: _fill(item, alpha) for key, item in value.items()}
    return alpha if value == ALPHA else value
