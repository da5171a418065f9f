"""An HTML file that needs no network and allows itself none, from a folder with template.html, page.css and page.js."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup


def render(folder: Path, **values: Any) -> str:
    """The template, filled with `values`; what is not `Markup` is escaped. The template also takes `style`, `script`
    and `policy`: only this style, this script and images within the file may run or load."""
    template, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("template.html", "page.css", "page.js")
    )
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    parts = {"policy": Markup(policy), "style": Markup(style), "script": Markup(script)}
    return environment.from_string(template).render(parts, **values)


def _digest(source: str) -> str:
    """The name of an inline script or style in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode("ascii")
