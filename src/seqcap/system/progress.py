"""Progress bars on a terminal; in a file or a pipe, a line every ten seconds:

sll seed 1: 120/480 (25%), 12.10step/s, 00:30 left, 00:10 so far, val_cider=0.908"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

LINE_SECONDS = 10
LINE = "{desc}: {n_fmt}/{total_fmt} ({percentage:.0f}%), {rate_fmt}, {remaining} left, {elapsed} so far{postfix}"
# tqdm's own lock uses a semaphore, which a killed process leaves behind with a warning.
tqdm.set_lock(threading.RLock())


def progress(iterable: Iterable[Any] | None = None, *, unit: str, **options: Any) -> tqdm[Any]:
    """Shows progress on standard error; `unit` is in the singular, `options` are tqdm's."""
    shown: dict[str, Any] = {"unit": unit, **options}
    if sys.stderr.isatty():
        return tqdm(iterable, mininterval=1, **shown)
    # The delay suppresses a line at the start. Every update looks at the clock, because the pace may change.
    return Lines(iterable, bar_format=LINE, mininterval=LINE_SECONDS, miniters=1, delay=1e-9, **shown)


class Lines(tqdm):  # type: ignore[type-arg]
    """Writes lines instead of a bar; tqdm calls `display` every `mininterval` seconds."""

    def set_postfix(self, ordered_dict: Any = None, refresh: bool | None = True, **kwargs: Any) -> None:
        """Like tqdm's, but shown with the next line."""
        super().set_postfix(ordered_dict, refresh=False, **kwargs)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Writes a line in one piece: several processes may write to the same file."""
        self.fp.write(f"{self}\n")
        self.fp.flush()

    def close(self) -> None:
        """The last line, where anything was counted: without it there is no pace to tell."""
        if not self.disable:
            if self.n > self.initial:
                self.display()
            self.disable = True
            self._decr_instances(self)  # type: ignore[attr-defined]
