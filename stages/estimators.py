"""Variance and bias of gradients through a listener: `estimators.py <name>` -> artifacts/<paper>/results/."""

import sys

from seqcap.config.estimators import ESTIMATES, EstimatorsConfig
from seqcap.errors import one_line_errors
from seqcap.evaluation.estimators import measure
from seqcap.files.parquet import write_rows
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"estimators-{sys.argv[1]}"):
        config = EstimatorsConfig.read("estimators", sys.argv[1])
        write_rows(f"artifacts/{config.paper}/results/{sys.argv[1]}.parquet", measure(config), ESTIMATES)
