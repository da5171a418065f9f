"""Mines similar training images with a retriever: `mine.py <retriever>` -> artifacts/mined/<retriever>/."""

import sys

from seqcap.config.mining import MiningConfig
from seqcap.errors import one_line_errors
from seqcap.retrieval.mining import make
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"mine-{sys.argv[1]}"):
        make(MiningConfig.read("mine", sys.argv[1]))
