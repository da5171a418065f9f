"""Compiled functions, where their code can be kept and where it cannot."""

from seqcap.errors import warn
from seqcap.system.compilation import compiled


def test_functions_are_compiled_where_nothing_can_be_written(monkeypatch, capsys):
    """Neither beside the file, as in a package that is read-only, nor in a cache folder."""
    warn.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    functions = []
    for name in ("one", "two"):
        defined = {}
        exec(compile(f"def {name}(x): return x + 1", f"/proc/none/{name}.py", "exec"), defined)
        functions.append(compiled(defined[name]))
    assert [function(1) for function in functions] == [2, 2]
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: compiled code cannot be kept")
