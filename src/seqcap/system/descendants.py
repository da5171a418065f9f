"""The processes that a process has started, and those that they have."""

from contextlib import suppress

import psutil


def terminate_descendants(process: int | None = None) -> None:
    """Asks all of a process, or of this one, to end."""
    with suppress(psutil.Error):
        for descendant in psutil.Process(process).children(recursive=True):
            with suppress(psutil.Error):
                descendant.terminate()
