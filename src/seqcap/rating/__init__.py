"""The rating kit: captions of a run come in, a page that people judge them on and rates from their answers go out; may
import `report` and every room before it.

Two tasks (Vered et al., ICCV 2019, table 5). *Accuracy*: a caption and two images, its own and a similar one; which
does it mean? *Naturalness*: two captions; which is better English? `page` writes a paper's page and the key to its
answers, `aggregate` reads the answers.

The key is what the page does not hold: which caption of which model a question judges, and which of its sides, a or b,
favours it. The order of the sides tells nothing.
"""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from seqcap.config import Frozen
from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.report import REPORTS

PAGE, KEY_FILE = "page.html", "key.json"
Task = Literal["accuracy", "naturalness"]


class Entry(Frozen):
    """One caption that is judged."""

    task: Task
    item: int  # its image
    model: str  # whose caption it is
    against: str | None  # naturalness: the model whose caption it is compared with
    # Where it is judged; equal captions share one. None if both captions of the comparison are the same.
    question: str | None
    side: Literal["a", "b"] | None  # the answer in its favour: its own image, or the model's caption


class Key(Frozen):
    """The file beside the page; `kit` is the page's name, a hash of its content."""

    kit: str
    entries: tuple[Entry, ...]


def read_key(path: Path) -> Key:
    try:
        return Key.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise InputError(path, f"{where}: {first['msg']}", "take the key.json that was written with the page") from None


def kit_folder(paper: str) -> Path:
    """The folder of a paper's kit."""
    return REPORTS / paper / "rating"
