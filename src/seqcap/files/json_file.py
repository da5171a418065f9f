"""JSON files: sorted keys, so that the same content gives the same bytes."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.files.reading import read_text
from seqcap.files.writing import atomic

FIX = "restore or re-download the file"
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # a surrogate (half of a UTF-16 pair), as JSON escapes it


def write_json(path: str | Path, value: Any) -> None:
    """Writes JSON with sorted keys and a final newline."""
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Reads a JSON file. Keys that come twice and lone surrogates, which cannot be written, are an `InputError`."""
    try:
        text = read_text(path)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None
    except ValueError as error:
        raise InputError(path, f"is not JSON ({error})", FIX) from None
    return parse_json(path, text)


def parse_json(path: str | Path, text: str, where: str = "") -> Any:
    """The value of a JSON text, for which errors are as in `read_json`; `where` is its place in the file."""
    try:
        value = json.loads(text, object_pairs_hook=unique_object)
        if SURROGATE.search(text):
            # Fails unless all surrogates come in pairs.
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 40) : error.start]
        raise InputError(path, f"{where}has half a character after {near!r}", FIX) from None
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"{where}is not JSON ({error})", FIX) from None
    return value


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object from its pairs; a `ValueError` if a key comes twice, since one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r:.60} is there twice in one object")
    return found
