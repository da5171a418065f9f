"""The rating kit: a page that people judge captions on, and what their answers say.

Two tasks (Vered et al., ICCV 2019, table 5). *Accuracy*: a caption and two pictures, its own and a similar one; which
does it mean? *Naturalness*: two captions; which is better English? `page` writes the page and the key to its answers,
`kit` those of a paper, `aggregate` reads the answers.
"""

from pathlib import Path

from seqcap.report import REPORTS

PAGE, KEY_FILE = "page.html", "key.json"


def kit_folder(paper: str) -> Path:
    """Where a paper's kit is."""
    return REPORTS / paper / "rating"
