"""The pages of the report: templates in texts/ and, of the first page, first_page_texts/, which are filled in."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from seqcap.report.markdown import escaped, markdown_table
from seqcap.report.verdicts import in_words, side_labels

# Part of the code of every module that imports this one (`pipeline.code`). Those of the first page are part of
# `first_page`, so that a change of them makes no paper's page stale.
DATA_FILES = "texts/*"
_ENVIRONMENT = Environment(
    loader=FileSystemLoader([Path(__file__).parent / folder for folder in ("texts", "first_page_texts")]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def text(name: str, **values: Any) -> str:
    """<name>.md, filled with `values`; several empty lines become one."""
    filled = _ENVIRONMENT.get_template(f"{name}.md").render(values)
    return re.sub(r"\n{3,}", "\n\n", filled).strip("\n") + "\n"


_ENVIRONMENT.filters |= {
    "capital": lambda sentence: sentence[:1].upper() + sentence[1:],
    "cell": escaped,  # of a table that a template writes
    "in_words": in_words,
    "side_labels": side_labels,
    "signed": lambda number: number if number[:1] in ("", "+", "-") else f"+{number}",
    "table": lambda matrix: "\n".join(markdown_table(matrix)),
}
