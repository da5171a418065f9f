"""Parses of captions in a Parquet file, so that all runs together parse a caption once."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from seqcap.errors import InputError, warn
from seqcap.files.advice import warn_unkept
from seqcap.files.parquet import read_table, write_table
from seqcap.files.schemas import SCENE_GRAPHS
from seqcap.spice.matching import Tuples
from seqcap.spice.parser import Parser, normalised
from seqcap.system.progress import progress
from seqcap.system.scratch import locked

FLUSH = 20_000  # captions between two writes, about 20 seconds
SHOWN = 5_000  # captions from which on progress is shown
ROWS = 50_000  # rows that become Python objects at once


class CachedParser:
    """Turns captions into tuples, with a file of earlier parses (`schemas.SCENE_GRAPHS`). The file is written whole,
    atomically, every 20,000 captions, and several processes may share it. Parses by another version of the parser are
    not used, and the next write drops them. A damaged file is made anew, and one that cannot be written is done
    without; a warning says so.

    Args:
        path: the file; None: nothing is kept.
        parser: what parses captions that the file lacks; None: one with a process for each core.

    Raises:
        InputError: `parser` is None, and spaCy or its model is not installed.
    """

    def __init__(self, path: str | Path | None = None, parser: Parser | None = None) -> None:
        self.parser = Parser() if parser is None else parser
        self._path = None if path is None else Path(path)

    def parse(self, texts: Iterable[str]) -> dict[str, Tuples]:
        """The tuples of every caption, by its text as given; none for a caption without words (empty, punctuation,
        emoji)."""
        spelled = {text: normalised(text) for text in texts}
        wanted = dict.fromkeys(text for text in spelled.values() if text)
        parsed = {"": (), **self._stored(wanted)}
        missing = [text for text in wanted if text not in parsed]
        fresh: dict[str, Tuples] = {}
        is_short = len(missing) < SHOWN
        with progress(total=len(missing), desc="SPICE (spaCy) parses", unit="caption", disable=is_short) as bar:
            for text, tuples in zip(missing, self.parser.parse(missing), strict=True):
                fresh[text] = tuples
                bar.update()
                if len(fresh) == FLUSH:
                    self._store(fresh)
                    parsed.update(fresh)
                    fresh = {}
        self._store(fresh)
        parsed.update(fresh)
        return {text: parsed[spelling] for text, spelling in spelled.items()}

    def _read(self) -> pa.Table:
        # `Path.exists` fails in a folder that may not be entered.
        if self._path is None or not os.path.exists(self._path):  # noqa: PTH110
            return SCENE_GRAPHS.empty_table()
        try:
            table = read_table(self._path, SCENE_GRAPHS)
        except InputError as error:
            warn(f"captions are parsed anew, since the earlier parses cannot be read: {error}")
            return SCENE_GRAPHS.empty_table()
        return table.filter(pc.equal(table["parser"], self.parser.version))

    def _stored(self, wanted: Mapping[str, None]) -> dict[str, Tuples]:
        table = self._read()
        table = table.filter(pc.is_in(table["text"], pa.array(wanted, pa.string())))
        kept: dict[tuple[str, ...], tuple[str, ...]] = {}
        parsed: dict[str, Tuples] = {}
        for start in range(0, len(table), ROWS):
            rows = table.slice(start, ROWS)
            for text, row in zip(rows["text"].to_pylist(), rows["tuples"].to_pylist(), strict=True):
                parsed[text] = tuple(kept.setdefault(words, words) for words in map(tuple, row))
        return parsed

    def _store(self, fresh: Mapping[str, Tuples]) -> None:
        if self._path is None or not fresh:
            return
        columns = [list(fresh), [self.parser.version] * len(fresh), list(fresh.values())]
        rows = pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, SCENE_GRAPHS.types, strict=True)],
            schema=SCENE_GRAPHS,
        )
        try:
            with locked(self._path.with_name(f".{self._path.name}.lock"), "adds parses"):
                before = self._read()
                # Another process may have added the same captions.
                known = pc.is_in(before["text"], rows["text"])
                write_table(self._path, pa.concat_tables([before.filter(pc.invert(known)), rows]), SCENE_GRAPHS)
        except InputError:
            warn_unkept(self._path)
