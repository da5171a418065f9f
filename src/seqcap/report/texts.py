"""The longer texts of the report: templates in texts/, which are filled in."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

# Part of the code of every module that imports this one (`pipeline.code`).
DATA_FILES = "texts/*"
_FOLDER = FileSystemLoader(Path(__file__).parent / "texts")
_ENVIRONMENT = Environment(loader=_FOLDER, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def lines(name: str, **values: Any) -> list[str]:
    """The lines of texts/<name>.md, filled with `values`."""
    return _ENVIRONMENT.get_template(f"{name}.md").render(values).splitlines()
