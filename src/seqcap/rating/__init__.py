"""The rating kit: captions of a run come in, a page that people judge them on and rates from their answers go out; may
import `report` and every room before it.

Two tasks (Vered et al., ICCV 2019, table 5). *Accuracy*: a caption and two images, its own and a similar one; which
does it mean? *Naturalness*: two captions; which is better English? `page` writes the page and the key to its answers,
`kit` those of a paper, `aggregate` reads the answers.
"""

from pathlib import Path

from seqcap.report import REPORTS

PAGE, KEY_FILE = "page.html", "key.json"


def kit_folder(paper: str) -> Path:
    """The folder of a paper's kit."""
    return REPORTS / paper / "rating"
