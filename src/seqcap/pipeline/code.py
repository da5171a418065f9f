"""Finds the files of the package that a piece of code runs: its own and those that it imports, directly or indirectly.
Imports are read from the source, anywhere in a file, except those under `if TYPE_CHECKING`, and those of this room:
what the pipeline does shows in configs/ and in DVC's files. Modules that parameters name are imported by name, such
as captioners, objectives and rewards; kinds of stages list them. A test compares the result with what stages load. A
module that reads data files names them in its folder: `DATA_FILES = "words/*.yaml"`.

A file of stages/ counts with what its function `run` is made of, not with what it says of parameters and stages."""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
REPOSITORY = PACKAGE.parents[1]  # two folders above src/seqcap; it also holds stages/
ROOM = "pipeline"
RUN = "run"  # the function of a file of stages/ that a stage runs
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)  # nodes that may begin with a docstring


def closure(modules: Iterable[str], scripts: Iterable[str] = (), data: Iterable[str] = ()) -> dict[str, str]:
    """Maps each file that some code runs to a hash of it. `modules` are full names of modules of the package, `scripts`
    files in stages/, `data` patterns of files in the package that the code reads."""
    return dict(_closure(tuple(modules), tuple(scripts), tuple(data)))


@cache
def _closure(modules: Iterable[str], scripts: Iterable[str], data: Iterable[str]) -> Mapping[str, str]:
    """Many stages run the same code."""
    files: set[Path] = set()
    ahead = [REPOSITORY / "stages" / script for script in scripts]
    for module in modules:
        if not _files(module):
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        ahead += _files(module)
    while ahead:
        path = ahead.pop()
        if path not in files:
            files |= {path, *_data_files(path)}
            ahead += [file for module in _imports(path) for file in _files(module)]
    files |= {path for pattern in data for path in PACKAGE.glob(pattern)}
    return {path.relative_to(REPOSITORY).as_posix(): code_hash(path) for path in sorted(files)}


@cache
def code_hash(path: Path) -> str:
    """A hash of a file's content, of code without comments: these repeat no stage."""
    content = path.read_bytes()
    if path.suffix == ".py":
        source = content.decode()
        content = _statements(_run_of(source) if path.parent.name == "stages" else source).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def _statements(source: str) -> str:
    """Python without comments, docstrings and empty lines. Its text, not its tree: Pythons print a tree differently."""
    lines = source.splitlines()
    for node in _blocks(_tree(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            for row in range(docstring.lineno - 1, docstring.end_lineno or docstring.lineno):
                lines[row] = ""
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _run_of(source: str) -> str:
    """The part of a file of stages/ that its `run` needs: what defines it and the names that it uses."""
    lines, body = source.splitlines(), ast.parse(source).body
    needed, kept = {RUN}, dict[int, ast.stmt]()
    while needed:
        name = needed.pop()
        for index, statement in enumerate(body):
            if index not in kept and name in _defined(statement):
                kept[index] = statement
                needed |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    parts = [lines[statement.lineno - 1 : statement.end_lineno] for _, statement in sorted(kept.items())]
    return "\n".join(line for part in parts for line in part)


def _defined(statement: ast.stmt) -> set[str]:
    """The names of a function, class or constant that a statement of a file defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@cache
def _files(module: str) -> tuple[Path, ...]:
    """The files that an import of a module runs: its own and those of its packages. None if it is not a module."""
    package, *parts = module.split(".")
    if package != PACKAGE.name or parts[:1] == [ROOM]:
        return ()
    base = PACKAGE.joinpath(*parts)
    # A folder of data may have the name of a module beside it.
    own = next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.exists()), None)
    if own is None:
        return ()
    packages = [PACKAGE.joinpath(*parts[:depth]) / "__init__.py" for depth in range(len(parts))]
    return tuple(path for path in [*packages, own] if path.exists())


@cache
def _data_files(path: Path) -> tuple[Path, ...]:
    declared = re.search(r'^DATA_FILES = "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(path.parent.glob(declared[1])) if declared else ()


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """The modules that a file imports, and the names that it imports from them: these may be modules, too."""
    return tuple(_imported(_tree(path.read_text(encoding="utf-8"))))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        for statement in node.orelse:
            yield from _imported(statement)
    else:
        for child in _parts(node):
            yield from _imported(child)


@cache
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it but expressions."""
    yield node
    for child in _parts(node):
        yield from _blocks(child)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """A node's children that are no expressions: these have neither imports nor docstrings, and are most of a tree."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
