"""The pages of the report as one file, report.html.

Of raw HTML only what our pages use is let through, and only in this form: `<a id="name"></a>`. All else is text, so
that nothing in a caption or a label becomes a part of the page.
"""

import base64
import io
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from PIL import Image

from seqcap.files.writing import atomic
from seqcap.report.standalone import render

# Part of the code of every module that imports this one (`pipeline.code`).
DATA_FILES = "web/*"
LARGEST = 4_000_000  # bytes of the file
# Of a figure's colours so many are kept: the first number that makes the file small enough; None keeps all. Figures are
# lines and flat areas, which lossy formats would blur.
_COLOURS = (None, 256, 64)
_ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
_NUMBER = re.compile(r"[<>≤≥~ ]*[-+−]?\.?\d")


@dataclass
class _Page:
    name: str
    title: str
    tokens: Sequence[Token]
    headings: list[tuple[int, str, str]] = field(default_factory=list)  # level, id, text
    body: str = ""


def write_html(pages: Mapping[str, str], folder: Path, target: Path) -> None:
    """Writes pages as one file. The same pages and pictures give the same bytes.

    `pages`: name -> markdown; the first is the front page, and `file_of` tells where each lies. Links between them stay
    within the file. Of links to other files the words remain: the file may be sent without them. Pictures in `folder`
    are embedded; of others the words remain, too.
    """
    markdown = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}).enable("table")
    markdown.inline.ruler.before("autolink", "anchor", _anchor)
    # A wide table scrolls, by keys as well.
    markdown.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0"><table>\n')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    files = {file_of(name): name for name in pages}
    parsed, pictures = [], list[tuple[Token, Path]]()
    for name, text in pages.items():
        page = _Page(name, name, markdown.parse(text, {"page": name}))
        _name_headings(page)
        _mark_numbers(page.tokens)
        pictures += _resolve(page, files, folder.resolve())
        parsed.append(page)
    for colours in _COLOURS:
        for token, path in pictures:
            token.attrs |= _picture(path, colours)
        for page in parsed:
            page.body = markdown.renderer.render(page.tokens, markdown.options, {})
        text = render(Path(__file__).parent / "web", pages=parsed)
        if len(text.encode()) <= LARGEST:
            break
    with atomic(target) as path:
        path.write_text(text, encoding="utf-8")


def file_of(name: str) -> str:
    """The file of a page: report.md of "report", sle/report.md of "sle", sle/details.md of "sle/details"."""
    return f"{name}.md" if name == "report" or "/" in name else f"{name}/report.md"


def _anchor(state: StateInline, silent: bool) -> bool:
    anchor = _ANCHOR.match(state.src, state.pos)
    if anchor and not silent:
        state.push("html_inline", "", 0).content = f'<a id="{state.env["page"]}/{anchor[1]}"></a>'
    if anchor:
        state.pos = anchor.end()
    return bool(anchor)


def _text(inline: Token) -> str:
    return "".join(token.content for token in inline.children or () if token.type in ("text", "code_inline")).strip()


def _name_headings(page: _Page) -> None:
    """Gives headings the anchors that git hosts give them, after the page's name, and lists them."""
    seen: dict[str, int] = {}
    for token, inline in pairwise(page.tokens):
        if token.type != "heading_open":
            continue
        text, level = _text(inline), int(token.tag[1])
        if level == 1 and page.title == page.name:
            page.title = text
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        token.attrs["id"] = f"{page.name}/{slug}" + (f"-{seen[slug]}" if seen[slug] else "")
        if level in (2, 3):
            page.headings.append((level, str(token.attrs["id"]), text))


def _mark_numbers(tokens: Sequence[Token]) -> None:
    """Marks the columns of tables that hold numbers: they are sorted as such."""
    columns: dict[int, list[tuple[Token, str]]] = {}
    column = 0
    for token, inline in pairwise(tokens):
        if token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            # Alignment would be a style, which the file's policy forbids.
            token.attrs = {"scope": "col"} if token.type == "th_open" else {}
            columns.setdefault(column, []).append((token, _text(inline)))
            for child in inline.children or ():
                # A line does not break within an interval.
                child.content = re.sub(r"(?<=\d), (?=[-+−\d])", ",\u00a0", child.content)
            column += 1
        elif token.type == "table_close":
            for cells in columns.values():
                filled = [text for _, text in cells[1:] if text and not text.startswith("–")]
                if filled and 2 * sum(bool(_NUMBER.match(text)) for text in filled) > len(filled):
                    for cell, _ in cells:
                        cell.attrs["class"] = "number"
            columns = {}


def _resolve(page: _Page, files: Mapping[str, str], folder: Path) -> Iterator[tuple[Token, Path]]:
    """Turns links between pages into anchors and those to other files into words, and yields the pictures that are
    there."""
    target: str | None = ""
    for token in (child for block in page.tokens for child in block.children or ()):
        if token.type == "link_open":
            target = _link(str(token.attrs["href"]), page.name, files)
            token.attrs["href"] = target or ""
        if token.type in ("link_open", "link_close") and target is None:
            # Links hold no links: what closes is the last one.
            token.type, token.content, token.nesting = "text", "", 0
        elif token.type == "image":
            path = (folder / _beside(page.name, unquote(str(token.attrs["src"])))).resolve()
            if path.is_relative_to(folder) and path.suffix == ".png" and path.is_file():
                yield token, path
            else:
                token.type, token.content = "text", f"[{token.content}]"


def _beside(name: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file_of(name)), link))


def _link(link: str, name: str, files: Mapping[str, str]) -> str | None:
    """Where a page's link leads to; None: to a file that is not in this one."""
    if re.match(r"[\w+.-]*:", link):
        return link
    path, _, anchor = link.partition("#")
    target = _beside(name, path) if path else file_of(name)
    if target not in files:
        return None
    return f"#{files[target]}" + (f"/{anchor}" if anchor else "")


def _picture(path: Path, colours: int | None) -> dict[str, str | int | float]:
    with Image.open(path) as file:
        flat = file.convert("RGB")
    buffer = io.BytesIO()
    if colours:
        flat = flat.quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).convert("RGB")
    flat.save(buffer, "WEBP", lossless=True, quality=50)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return {"src": f"data:image/webp;base64,{data}", "width": flat.width, "height": flat.height}
