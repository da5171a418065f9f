"""Decodes a split with every seed of a variant: `decode.py configs/decode_<name>.json <weights> <output>`."""

import sys
from pathlib import Path

from seqcap.artifacts import DECODED, read_json, write_rows
from seqcap.captioning import decode_split
from seqcap.errors import one_line_errors

if __name__ == "__main__":
    with one_line_errors():
        config, weights, output = map(Path, sys.argv[1:])
        write_rows(output, decode_split(read_json(config), weights), DECODED)
