"""The variance of policy gradients: `variance.py <name>` -> artifacts/<paper>/results/<name>.parquet."""

import sys

from seqcap.config.training import VarianceConfig
from seqcap.errors import one_line_errors
from seqcap.evaluation.variance import measure
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import VARIANCE
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone(f"variance-{sys.argv[1]}"):
        config = VarianceConfig.read("variance", sys.argv[1])
        write_rows(f"artifacts/{config.paper}/results/{sys.argv[1]}.parquet", measure(config), VARIANCE)
