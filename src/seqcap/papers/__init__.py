"""The papers: a package each, found by its name, of modules that the stages import one by one.

- `__init__.py`: `PAPER`, the facts.
- `rows.py`: `ROWS`, or `rows(run)` if they depend on the run: published table -> row, as the paper labels it -> (run,
  decoder); where a row's label stands for several runs, (block, row) or (column, row). Rows that are not there are
  other systems' published numbers. `OURS`, if there are any: rows that the paper does not print.
- `tables.py`: `TABLES`, file name -> how the table is made of a `Run`.
- `figures.py`: `FIGURES`, file name -> a `FigureKind`. Nothing else imports it, nor matplotlib.
- `claims.py`: `CLAIMS`, or `claims(run)`; and if the paper has them `HEADLINES`, the keys of the claims that its
  findings repeat; `METRICS`, each run's numbers in reports/metrics.json, by name; `stand_ins(run)`, pairs of what the
  paper has and what stands for it here, apart from the data; `remarks(run, results)`, paragraphs after the findings,
  from this run's numbers; `errors()`, contradictions found in the paper's own numbers.
- `rating.py`, where people judged captions: `questions(run, similar)`, what `seqcap.rating` asks of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seqcap.errors import InputError

# What several papers measured on.
KARPATHY_TEST = "COCO Karpathy test"

# Which of the decoded captions of an item a number is about: all of them, the first, or the set as a whole.
Captions = Literal["every", "best", "set"]
# Column of a table -> (metric in the scores, over which captions of an item).
Columns = Mapping[str, tuple[str, Captions]]
# Published row -> (run, decoder).
Rows = Mapping[str, tuple[str, str]] | Mapping[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class Paper:
    """Facts about one paper.

    Attributes:
        name: of its package here, its file of parameters and its folder in reports/.
        label: its name in headings.
        title: with authors and venue.
        published_on: task -> the data behind its numbers.
        limits: what a reader must know beyond what the run shows.
    """

    name: str
    label: str
    title: str
    published_on: Mapping[str, str]
    limits: Sequence[str] = ()


def load(name: str, part: str = "") -> Any:
    """A paper's package, or one of its modules.

    Raises:
        InputError: there is no such paper, or it has no such module.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    if name not in names:
        raise InputError(f"papers/{name}.yaml", f"there is no paper {name!r}", f"known: {', '.join(names)}")
    package = importlib.import_module(f"{__name__}.{name}")
    if not part:
        return package
    if part not in [module.name for module in pkgutil.iter_modules(package.__path__)]:
        raise InputError(f"src/seqcap/papers/{name}", f"has no {part}.py", "every paper has one")
    return importlib.import_module(f"{package.__name__}.{part}")


def given(part: Any, name: str, run: Any, default: Any = None) -> Any:
    """What a paper's module says: the constant `name` in capitals, else the function of that name of the run.

    Raises:
        InputError: it has neither, and there is no default.
    """
    if hasattr(part, name.upper()):
        return getattr(part, name.upper())
    if hasattr(part, name):
        return getattr(part, name)(run)
    if default is None:
        raise InputError(part.__file__, f"has neither {name.upper()} nor {name}(run)", "every paper has one")
    return default
