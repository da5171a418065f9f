"""What keeps the code easy to change: rooms in one order, short modules and functions, and a light start."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/seqcap"
FILES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "stages").glob("*.py")])
# The rooms, from the ground up: each imports those before it only. README shows them.
ROOMS = (
    *("errors", "files", "system", "config", "world", "data", "features", "models", "tasks", "spice", "rewards"),
    *("metrics", "library", "coco", "retrieval", "objectives", "training", "evaluation", "report", "rating", "papers"),
    *("pipeline", "tools", "cli", "__main__"),
)
# Rooms whose __init__ finds modules by names, also those of rooms above.
FINDERS = ("models", "tasks", "objectives", "papers")
MOST_AT_THE_TOP = 6
LONGEST_MODULE, LONGEST_FUNCTION = 500, 70
MOST_LINES = {"src": 26_000, "tests": 24_000}
# What takes seconds to import, or much memory.
HEAVY = {"torch", "torchvision", "numba", "spacy", "matplotlib", "transformers"}


# --- Rooms


def module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything in a module but what is for type checkers only, and docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        yield from statements(node)


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """The package's modules, and names in them, that import statements name."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.startswith("seqcap.")}


def named(nodes: Iterable[ast.AST]) -> set[str]:
    """The package's modules that texts name, such as those for `import_module`."""
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if re.fullmatch(rf"seqcap\.({'|'.join(ROOMS)})(\.\w*)*", text)}


def room_of(name: str) -> str:
    return name.split(".")[1]


def arrows(name: str, code: str) -> set[tuple[str, str]]:
    """(room, room that it imports), at the top and inside functions, of a module's code."""
    nodes, room = list(statements(ast.parse(code))), room_of(name)
    found = imported(nodes) if name in {f"seqcap.{finder}" for finder in FINDERS} else imported(nodes) | named(nodes)
    return {(room, room_of(other)) for other in found if room_of(other) in ROOMS} - {(room, room)}


def test_rooms_are_those_of_the_package():
    at_the_top = {path.stem for path in PACKAGE.glob("*.py")}
    assert len(at_the_top) <= MOST_AT_THE_TOP
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert sorted(ROOMS) == sorted(folders | at_the_top - {"__init__"})


@pytest.mark.parametrize("room", [room for room in ROOMS if (PACKAGE / room).is_dir()])
def test_a_room_opens_with_a_sentence(room):
    opening = (ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or "").split("\n\n")[0]
    assert re.match(r"[A-Z].{20,}?[.](\s|$)", opening, re.DOTALL), opening


def test_no_arrow_points_upwards():
    """Nor in a circle, of which one arrow would."""
    upwards = {
        f"{module(path)} imports {other}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / "__init__.py"
        for room, other in arrows(module(path), path.read_text())
        if ROOMS.index(other) > ROOMS.index(room)
    }
    assert not upwards, "\n".join(sorted(upwards))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import seqcap.report.claims", {"report"}),
        ("from seqcap import papers, __version__", {"papers"}),
        ("def f():\n    from seqcap.tools.score import score", {"tools"}),
        ("import_module('seqcap.evaluation.captions')", {"evaluation"}),
        ("import_module(f'seqcap.papers.{name}')", {"papers"}),
        ("if TYPE_CHECKING:\n    from seqcap.report.inputs import Run", set()),
        ('"""Of `seqcap.report`."""\nlocked("seqcap.lock")\nfrom seqcap.metrics import spice', set()),
    ],
)
def test_arrows_are_seen(code, found):
    assert arrows("seqcap.metrics.quality", code) == {("metrics", room) for room in found}


def test_no_circle_of_modules():
    """At their tops: what a module imports inside a function may import it."""
    known = {module(path): path for path in PACKAGE.rglob("*.py")}
    graph = {}
    for name, path in known.items():
        names = imported(ast.parse(path.read_text()).body)
        graph[name] = {n if n in known else n.rpartition(".")[0] for n in names} & known.keys() - {name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


# --- Sizes


def is_kernel(node: ast.AST) -> bool:
    """Whether it is a function that numba compiles."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any("njit" in ast.unparse(decorator) or "kernel" in ast.unparse(decorator) for decorator in decorators)


def test_modules_and_functions_are_short():
    long = []
    for path in FILES:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        lines = len(path.read_text().splitlines())
        if lines > LONGEST_MODULE and not any(map(is_kernel, nodes)):
            long.append(f"{path.relative_to(ROOT)}: {lines} lines")
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and not is_kernel(node):
                lines = node.end_lineno - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {lines} lines")
    assert not long, "\n".join(long)


@pytest.mark.parametrize("folder", MOST_LINES)
def test_a_newcomer_can_read_it(folder):
    files = (ROOT / folder).rglob("*.py")
    assert sum(len(path.read_text().splitlines()) for path in files) <= MOST_LINES[folder]


# --- Start


LIGHT_MODULES = [
    *("cli", "pipeline.experiment", "config.report", "tasks", "rewards", "metrics"),
    *("data.captions", "data.pairs", "metrics.files", "tools.submit"),
]


@pytest.mark.parametrize("stage", ["data", "tables", "section", "report", ""])
def test_what_is_small_starts_fast(stage):
    """Importing torch or numba takes longer than such a stage does, or a mistake in a command."""
    code = f"import runpy; runpy.run_path('stages/{stage}.py', run_name='imported')"
    if not stage:
        code = f"import {', '.join(f'seqcap.{name}' for name in LIGHT_MODULES)}"
    code += f"; import sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
