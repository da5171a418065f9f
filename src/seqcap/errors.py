"""The one exception that users see: one line, and exit status 2; and warnings. Imports nothing of the package."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


class InputError(Exception):
    """An error outside the code: in a parameter, a file or a record of a file.

    Args:
        source: the file that holds the problem.
        problem: what is wrong, naming the record and the value.
        fix: what to do about it.
    """

    def __init__(self, source: str | Path, problem: str, fix: str) -> None:
        # One line, even if a caption or a file name in it holds newlines.
        super().__init__(printable(f"{source}: {problem}; {fix}"))
        self._parts = (source, problem, fix)

    def __reduce__(self) -> tuple[type[InputError], tuple[str | Path, str, str]]:
        # Worker processes hand their errors to the parent.
        return InputError, self._parts


def printable(text: str) -> str:
    """A stranger's text in one line, without what would steer a terminal, or what is no text."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))


@cache
def warn(line: str) -> None:
    """Prints a warning on standard error; the same one only once."""
    print(f"warning: {printable(line)}", file=sys.stderr, flush=True)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Ends the program with one line on standard error, and status 2, on an `InputError` or if memory runs out; with
    one line and status 130 on Ctrl-C; and with status 141 on a closed output, as with `| head`."""
    try:
        yield
        # A closed pipe shows here, not when the interpreter ends.
        sys.stdout.flush()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except (MemoryError, OSError, ImportError) as error:
        # Under a limit, already a library's import may fail.
        said = str(error).lower()
        if not isinstance(error, MemoryError) and "map segment" not in said and "cannot allocate memory" not in said:
            raise
        print("error: memory has run out; allow the process more (ulimit -v), or give it less", file=sys.stderr)
        raise SystemExit(2) from None
