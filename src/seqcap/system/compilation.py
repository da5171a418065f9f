"""Compiles functions by numba."""

import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

from seqcap.errors import warn

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """The function as machine code without the interpreter and its lock; `options` are numba's. The code is kept on the
    disk. Where numba can write neither beside the function's file nor into a cache folder, each process compiles anew,
    and a warning says so."""
    try:
        fast = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # "no locator available"
        warn("compiled code cannot be kept, which takes seconds each time; set NUMBA_CACHE_DIR to a folder to write in")
        fast = numba.njit(nogil=True, **options)(function)
    return cast("Callable[P, R]", fast)


def load_without_blas() -> None:
    """Loads numba's functions on arrays without scipy.linalg, where it looks for BLAS, in a fifth of a second. For
    programs that call no linear algebra in compiled functions, as this package calls none."""
    absent = "scipy.linalg" not in sys.modules
    if absent:
        sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401  looks for scipy.linalg as it is imported
    finally:
        if absent:
            del sys.modules["scipy.linalg"]
