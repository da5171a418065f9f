"""Decodes a split with every seed of a variant, or of a group of them: `decode.py configs/decode_<name>.json`."""

import sys

from seqcap.artifacts import DECODED, read_json, write_rows
from seqcap.captioning import decode_split
from seqcap.errors import one_line_errors

if __name__ == "__main__":
    with one_line_errors():
        config = read_json(sys.argv[1])
        for run in config.get("runs", [config]):
            write_rows(run["decoded"], decode_split(run), DECODED)
