"""What keeps the code easy to change: short functions, no circles of imports, and a light start for small stages."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "stages").glob("*.py")])
LONGEST = 70
# What takes seconds to import, or much memory.
HEAVY = {"torch", "torchvision", "numba", "spacy", "matplotlib", "transformers"}


def module(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        "njit" in ast.unparse(decorator) or "kernel" in ast.unparse(decorator) for decorator in function.decorator_list
    )


def test_functions_fit_on_a_screen():
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > LONGEST
        and not is_kernel(node)
    ]
    assert long == []


def imported_at_the_top(path: Path, known: set[str]) -> set[str]:
    """The package's modules that importing a file imports, but for the packages that it is in itself."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in names]
        found |= set(names) & known
    return found - {module(path)}


def test_no_circle_of_imports():
    modules = {module(path): path for path in FILES if "src" in path.parts}
    graph = {name: imported_at_the_top(path, set(modules)) for name, path in modules.items()}
    # A package that imports its own parts is no circle: its parts name it only by their own names.
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


LIGHT_STAGES = ["data", "tables", "section", "report"]
LIGHT_MODULES = [
    "seqcap.cli",
    "seqcap.pipeline.experiment",
    "seqcap.config.report",
    "seqcap.tasks",
    "seqcap.rewards",
    "seqcap.metrics",
    "seqcap.data.captions, seqcap.data.pairs, seqcap.metrics.files, seqcap.tools.submit",
]


@pytest.mark.parametrize("name", LIGHT_STAGES + LIGHT_MODULES)
def test_what_is_small_starts_fast(name):
    """Importing torch or numba takes longer than such a stage does."""
    if name in LIGHT_STAGES:
        code = f"import runpy; runpy.run_path('stages/{name}.py', run_name='imported')"
    else:
        code = f"import {name}"
    code += f"; import sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
