"""The papers, a folder each: a name comes in, a `Paper` for the report goes out. May import all rooms before it.

- `paper.yaml`: facts, rows and columns (`seqcap.report.paper.Facts`); `published/`: the paper's own numbers.
- `tables.yaml` and `tables.py`: title and text of each table; `TABLES`, file name -> function of the results that gives
  its cells. Tables of `published` or `measured` cells need none. With `details: true`, here or below, it is on the
  details' page.
- `figures.yaml` and `figures.py`: title and caption of each figure; `FIGURES`, file name -> function that draws it.
  Learning curves, trade-offs and example captions that figures.yaml declares need none. Nothing else imports it, nor
  matplotlib.
- `claims.yaml` (`seqcap.report.claims_file.ClaimsFile`): the main finding, and the claims, each a sentence of the paper
  with its comparisons, the primary one first, and why it is that one. Where a paper needs code, `claims.py`:
  `claims(results)`; `stand_ins(results)`, pairs of a thing in the paper and its stand-in here, apart from the data;
  `remarks(results, judged)`, paragraphs after the findings, from these results' numbers and texts of claims.yaml;
  `scene(results)`, a scene with captions for the first page (`seqcap.report.example`).
- `rows.py`, where rows depend on the run: `rows(results)`. `methods.yaml`: what code must know of runs.
- `rating.py`, where people judged captions: `questions(results, similar)`, the questions of `seqcap.rating`.
"""

import ast
import importlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.report.paper import Paper

FOLDER = Path(__file__).parent
# Stage -> the part of a paper that it needs.
_PARTS = {"tables": "tables", "figures": "figures", "section": "claims", "rating": "rating"}
_NEEDED = ("__init__.py", "paper.yaml", "tables.yaml", "figures.yaml", "claims.yaml")  # every paper has these files


def load(name: str) -> Paper:
    """A paper; an InputError says that there is none, or what its paper.yaml lacks."""
    return Paper.read(_folder(name), partial(_module, name))


def _module(name: str, part: str) -> Any:
    if not (FOLDER / name / f"{part}.py").is_file():
        return None
    return importlib.import_module(f"{__name__}.{name}.{part}")


def sources(name: str, stage: str) -> tuple[list[str], list[str]]:
    """The code and data of a paper's stage: names of modules, and patterns of files in the package."""
    part = _PARTS[stage]
    modules = [module for module in (part, "rows") if (FOLDER / name / f"{module}.py").is_file()]
    files = [f"papers/{name}/{file}.yaml" for file in ("paper", "rows", "methods", part)]
    shared = ["report/literature/*.csv"] if stage == "section" else []
    names = [f"{__name__}.{name}", *(f"{__name__}.{name}.{module}" for module in modules)]
    return names, [*files, f"papers/{name}/published/*", *shared]


def check(parameters: Iterable[str]) -> None:
    """Checks that every paper has a folder, a file of parameters (`parameters` are their names) and all its parts."""
    wanted = set(parameters)
    for folder in sorted(path.parent.name for path in FOLDER.glob("*/*") if path.parent.name != "__pycache__"):
        if folder not in wanted:
            raise InputError(f"src/seqcap/papers/{folder}", f"has no papers/{folder}/runs.yaml", "add it")
    for name in sorted(wanted):
        place, shown = _folder(name), f"src/seqcap/papers/{name}"
        for file in _NEEDED:
            if not (place / file).is_file():
                raise InputError(shown, f"has no {file}", "every paper has one")
        paper = load(name)
        tables = [key for key, text in paper.tables.items() if not (text.published or text.measured)]
        figures = [key for key, text in paper.figures.items() if not (text.curves or text.examples or text.tradeoffs)]
        for part, needed in (("tables", tables), ("figures", figures)):
            there = _keys(place / f"{part}.py", part.upper())
            if missing := [key for key in needed if key not in there]:
                problem = f"has no {part.upper()} with {', '.join(missing)}"
                raise InputError(f"{shown}/{part}.py", problem, f"{part}.yaml names them")


def _folder(name: str) -> Path:
    if (FOLDER / name).is_dir():
        return FOLDER / name
    known = ", ".join(sorted(path.parent.name for path in FOLDER.glob("*/paper.yaml")))
    fix = f"add src/seqcap/papers/{name}, or name one of {known}"
    raise InputError(f"papers/{name}/runs.yaml", f"there is no paper {name!r}", fix)


def _keys(path: Path, constant: str) -> set[str]:
    """The keys of a dictionary that a module defines, without running the module: it may import matplotlib."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found |= {str(key.value) for key in node.value.keys if constant in names and isinstance(key, ast.Constant)}
    return found
