"""Scores captions by retrieval: `retrieve.py <evaluation>` -> artifacts/<paper>/results/."""

import sys

from seqcap.config.retrieval_scores import RetrievalConfig
from seqcap.errors import one_line_errors
from seqcap.evaluation.retrieval import evaluate
from seqcap.files.parquet import write_table
from seqcap.files.schemas import SCORES
from seqcap.system.scratch import alone
from seqcap.tasks import ARTIFACTS

if __name__ == "__main__":
    with one_line_errors(), alone(f"retrieve-{sys.argv[1]}"):
        config = RetrievalConfig.read("retrieve", sys.argv[1])
        path = ARTIFACTS / config.paper / "results" / f"{config.name}_retrieval.parquet"
        write_table(path, evaluate(config), SCORES)
