"""The pages of the report: templates, which are filled in."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from seqcap.report.markdown import escaped, markdown_table
from seqcap.report.verdicts import in_words


class Texts:
    """The templates of a folder."""

    def __init__(self, folder: Path) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters |= {
            "capital": lambda sentence: sentence[:1].upper() + sentence[1:],
            "cell": escaped,  # of a table that a template writes
            "in_words": in_words,
            "signed": lambda number: number if number[:1] in ("", "+", "-") else f"+{number}",
            "table": lambda matrix: "\n".join(markdown_table(matrix)),
        }

    def fill(self, name: str, **values: Any) -> str:
        """<name>.md, filled with `values`; several empty lines become one."""
        filled = self._environment.get_template(f"{name}.md").render(values)
        return re.sub(r"\n{3,}", "\n\n", filled).strip("\n") + "\n"
