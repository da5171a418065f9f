"""Scores Elbayad et al.'s captions as COCO's server does."""

from pathlib import Path

from seqcap.artifacts import SCORES, read_json, write_json, write_rows
from seqcap.errors import one_line_errors
from seqcap.evaluation import evaluate_server

OUTPUT = Path("artifacts/smoothing")

if __name__ == "__main__":
    with one_line_errors():
        rows, reasons = evaluate_server(read_json("configs/evaluate_server.json"))
        write_rows(OUTPUT / "server_scores.parquet", rows, SCORES)
        write_json(OUTPUT / "server_reasons.json", reasons)
