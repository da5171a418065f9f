"""Decodes a split with the runs of a group: `decode.py <group>` -> artifacts/<paper>/decode/<evaluation>/<group>/."""

import sys

from seqcap.config.decoding import DecodeConfig
from seqcap.errors import one_line_errors
from seqcap.evaluation.decode import decode_split
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DECODED
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"decode-{sys.argv[1]}"):
        for run in DecodeConfig.read("decode", sys.argv[1]).runs:
            write_rows(run.decoded, decode_split(run), DECODED)
