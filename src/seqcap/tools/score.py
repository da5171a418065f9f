"""`seqcap score`: scores captions in files against references in files, without the pipeline."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from seqcap.files.json_file import write_json
from seqcap.files.writing import check_output
from seqcap.tools.score_tables import as_json, as_latex, as_markdown, as_text, signatures
from seqcap.tools.significance import Test
from seqcap.tools.systems import score_files

STDIN = Path("-")


def score(
    references: Sequence[Path],
    candidates: Sequence[Path],
    split: str,
    metrics: Sequence[str],
    official: bool,
    paired: Test,
    form: str,
    json_file: Path | None,
    per_image: bool,
) -> None:
    """Prints the scores (`systems.score_files`) as `form`: text, json, markdown or latex; and writes them as JSON if a
    file is named. `per_image`: with the scores of every caption in JSON."""
    if json_file is not None:
        # Before the work, which can take long.
        check_output(json_file, read=[path for path in (*references, *candidates) if path != STDIN])
    systems = score_files(references, candidates, split, metrics, official, paired)
    for warning in (line for system in systems for line in system.warnings):
        print(f"warning: {warning}", file=sys.stderr)
    lines = signatures(systems, official)
    if form == "json":
        print(json.dumps(as_json(systems, lines, per_image), indent=2))
    else:
        show = {"text": as_text, "markdown": as_markdown, "latex": as_latex}[form]
        print(show(systems, lines, paired))
    if json_file is not None:
        write_json(json_file, as_json(systems, lines, per_image))
