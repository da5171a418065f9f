"""BLEU of a paper's translations: `evaluate_translation.py <paper>` -> artifacts/<paper>/translation.parquet."""

import sys
from pathlib import Path

from seqcap.artifacts import SCORES, write_rows
from seqcap.errors import one_line_errors
from seqcap.translation import evaluate_translations

if __name__ == "__main__":
    with one_line_errors():
        paper = sys.argv[1]
        write_rows(Path(f"artifacts/{paper}/translation.parquet"), evaluate_translations(paper), SCORES)
