"""The one exception that users see: one line, and exit status 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class InputError(Exception):
    """Something outside the code is wrong: a parameter, a file, a record in it.

    Args:
        source: the file (or parameter file) that holds the problem.
        problem: what is wrong, naming the record and the value.
        fix: what to do about it.
    """

    def __init__(self, source: str | Path, problem: str, fix: str) -> None:
        line = f"{source}: {problem}; {fix}"
        # A caption or a file name may hold newlines: what the user sees stays one line.
        super().__init__(" ".join(line.split()))
        self._parts = (source, problem, fix)

    def __reduce__(self) -> tuple[type[InputError], tuple[str | Path, str, str]]:
        # Worker processes hand their errors to the parent.
        return InputError, self._parts


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Ends the process as programs do: an `InputError` becomes one line on standard error and exit status 2, Ctrl-C one
    line and 130. If nobody reads what is printed any more, as with `| head`, the rest is not printed, and it is 141."""
    try:
        yield
        # What is still in the buffer meets a closed pipe here, not when the interpreter ends.
        sys.stdout.flush()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The interpreter flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
