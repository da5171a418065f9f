"""Scores a paper's captions: `evaluate.py <paper>`."""

import sys
from pathlib import Path

from seqcap.artifacts import SCORES, write_json, write_rows
from seqcap.errors import one_line_errors
from seqcap.evaluation import evaluate

if __name__ == "__main__":
    with one_line_errors():
        paper = sys.argv[1]
        rows, reasons = evaluate(paper)
        write_rows(Path(f"artifacts/{paper}/scores.parquet"), rows, SCORES)
        write_json(Path(f"artifacts/{paper}/reasons.json"), reasons)
