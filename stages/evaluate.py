"""Scores the captions of an evaluation: `evaluate.py <evaluation>` -> artifacts/<paper>/results/."""

import importlib
import sys

from seqcap.config.evaluation import EvaluationConfig
from seqcap.errors import one_line_errors
from seqcap.files.parquet import write_table
from seqcap.files.schemas import SCORES
from seqcap.system.scratch import alone
from seqcap.tasks import ARTIFACTS, KINDS

if __name__ == "__main__":
    with one_line_errors(), alone(f"evaluate-{sys.argv[1]}"):
        config = EvaluationConfig.read("evaluate", sys.argv[1])
        scores = importlib.import_module(KINDS[config.kind].evaluator).evaluate(config)
        write_table(ARTIFACTS / config.paper / "results" / f"{config.name}.parquet", scores, SCORES)
