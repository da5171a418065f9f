"""Shows the progress of long work: a bar on a terminal, a line every ten seconds in a file or a pipe.

sll seed 1: 120/480 steps (25%), 12.1 step/s, 0:30 left, val_cider 0.908
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

LINE_SECONDS = 10
# Tqdm's own lock has a semaphore, which a killed process leaves behind with a warning.
tqdm.set_lock(threading.RLock())


def progress(
    iterable: Iterable[Any] | None = None,
    *,
    desc: str,
    unit: str,
    total: float | None = None,
    initial: int = 0,
    disable: bool = False,
) -> tqdm[Any]:
    """Shows on standard error how far the work is, as tqdm does; `unit` in the singular."""
    shown: dict[str, Any] = {"desc": desc, "unit": unit, "total": total, "initial": initial, "disable": disable}
    if sys.stderr.isatty():
        return tqdm(iterable, mininterval=1, **shown)
    # The delay suppresses a line at the very start. Every update looks at the clock, because the pace may change.
    return Lines(iterable, mininterval=LINE_SECONDS, miniters=1, delay=1e-9, **shown)


class Lines(tqdm):  # type: ignore[type-arg]
    """Writes lines instead of drawing a bar. tqdm calls `display` every `mininterval` seconds."""

    def set_postfix(self, ordered_dict: Any = None, refresh: bool | None = True, **kwargs: Any) -> None:
        """As tqdm's, but shown with the next line."""
        super().set_postfix(ordered_dict, refresh=False, **kwargs)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Writes a line."""
        self._write(ended=False)

    def close(self) -> None:
        """Writes the last line."""
        if not self.disable:
            self._write(ended=True)
            self.disable = True
            self._decr_instances(self)  # type: ignore[attr-defined]

    def _write(self, ended: bool) -> None:
        shown = self.format_dict
        done, total, seconds = shown["n"], shown["total"], shown["elapsed"]
        units = self.unit + ("es" if self.unit.endswith("tch") else "s")
        parts = [f"{done}/{total} {units} ({done / total:.0%})" if total else f"{done} {units}"]
        rate = (done - shown["initial"]) / max(seconds, 1e-9)
        if shown["rate"] is not None and not ended:
            # The recent rate.
            rate = shown["rate"]
        if rate > 0:
            parts.append(f"{rate:.1f} {self.unit}/s" if rate >= 1 else f"{1 / rate:.1f} s/{self.unit}")
        if ended:
            parts.append(f"{_clock(seconds)} in all")
        elif total and rate > 0:
            parts.append(f"{_clock((total - done) / rate)} left")
        if shown["postfix"]:
            parts.append(shown["postfix"].replace("=", " "))
        # One write, so that lines of processes side by side stay whole.
        self.fp.write(f"{self.desc.removesuffix(': ')}: {', '.join(parts)}\n")
        self.fp.flush()


def _clock(seconds: float) -> str:
    """m:ss or h:mm:ss."""
    return str(tqdm.format_interval(seconds)).removeprefix("0")
