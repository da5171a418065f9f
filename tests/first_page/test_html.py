"""report.html: the pages as one file, read as text and opened in Chromium without a network."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seqcap.first_page import html
from seqcap.first_page.html import write_html

ROOT = Path(__file__).parents[2]
HOSTILE = (
    '<img src=x onerror="document.title=1"> <script>x</script> <sup onclick=x>y</sup> </section> <a href=x>z</a> &lt;'
)
PAGES = {
    "report": f"""# Findings & <limits>

[SLE](sle/report.md), [D1a](sle/report.md#d1a), [the second](sle/report.md#tables-1), [sums](#sums), [data](claims.csv).

![gain of SLL](sle/figures/gains.png)

## Sums

| objective | CIDEr | q | seeds |
|---|---:|---|---|
| SLL | 82.6 [81.0, 84.1] | <.001 | 3/3 |
| {HOSTILE} | 9.5 (one seed) | .04 | 1/1 |
| PSST | **101.0** [99.0, 103.0] | .9 |  |
|  | 1.0 | .2 | 1/1 |
| MLE | – | – | 3/3 |

{HOSTILE}

![{HOSTILE}](../secret.png) ![far](https://example.org/x.png) [evil](javascript:alert(1))
""",
    "sle": """# SLE: exploration

[all](../report.md), [sums](../report.md#sums), [csv](tables/a.csv), [paper](https://arxiv.org/abs/2003.03749)

![gain](figures/gains.png)

## Tables

<a id="d1a"></a>D1a: *kept*.

## Tables
""",
}


class Parts(HTMLParser):
    """The elements of a file, in order, and which were open at the end or closed too often."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.ids += [value for key, value in attributes if key == "id"]
        if tag not in ("meta", "img", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def of(self, tag, attribute):
        return [attributes[attribute] for name, attributes in self.found if name == tag and attribute in attributes]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside") / "reports"
    (folder / "sle/figures").mkdir(parents=True)
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 255, (40, 60, 4), dtype=np.uint8))
    for path in (folder / "sle/figures/gains.png", folder.parent / "secret.png"):
        picture.save(path)
    write_html(PAGES, folder, folder / "report.html")
    return folder


@pytest.fixture(scope="module")
def text(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_no_link_needs_a_file_beside_this_one(text):
    parts = Parts(text)
    links = parts.of("a", "href")
    assert len(set(parts.ids)) == len(parts.ids)
    assert {link[1:] for link in links if link.startswith("#")} <= set(parts.ids)
    assert {"#sle", "#sle/d1a", "#sle/tables-1", "#report", "#report/sums"} <= set(links)
    assert [link for link in links if not link.startswith("#")] == ["https://arxiv.org/abs/2003.03749"]
    # Files that may not be beside this one are named alone.
    assert "sums</a>, data." in text
    assert "sums</a>, csv, <a" in text


def test_pictures_are_in_the_file(text):
    parts = Parts(text)
    assert [source[:23] for source in parts.of("img", "src")] == ["data:image/webp;base64,"] * 2
    assert parts.of("img", "alt") == ["gain of SLL", "gain"]
    assert set(parts.of("img", "width")) == {"60"}
    # What is not a picture of the report is named, not shown.
    assert "[far]" in text


def test_what_is_not_ours_is_text(text):
    parts = Parts(text)
    assert parts.open == []
    known = "html head meta title style body a nav details summary ul li main section script"
    assert {tag for tag, _ in parts.found} <= set(
        f"{known} h1 h2 p img div table thead tbody tr th td strong sup em".split()
    )
    assert [len(parts.of("script", name)) for name in ("src", "onclick")] == [0, 0]
    assert text.count("<script>") == 1
    assert text.count("<sup") == 0
    assert text.count("&lt;img src=x onerror=") == 3
    assert "<title>Findings &amp; &lt;limits&gt;</title>" in text


def test_columns_of_numbers_are_marked(text):
    assert "82.6 [81.0,\u00a084.1]" in text
    headers = re.findall(r'<th scope="col"( class="number")?>(.*?)</th>', text)
    assert headers == [("", "objective"), *((' class="number"', name) for name in ("CIDEr", "q", "seeds"))]


def test_the_same_pages_give_the_same_bytes(folder, text, tmp_path):
    write_html(PAGES, folder, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_a_large_file_has_pictures_of_fewer_colours(folder, text, tmp_path, monkeypatch):
    monkeypatch.setattr(html, "LARGEST", len(text) - 1)
    write_html(PAGES, folder, tmp_path / "small.html")
    small = (tmp_path / "small.html").read_text(encoding="utf-8")
    assert len(small) < len(text)
    assert len(small.split("data:image")) == 3


def test_the_committed_pages_fit_into_a_file_without_a_dead_link(tmp_path):
    folder = ROOT / "reports"
    papers = [path.parent.name for path in sorted((ROOT / "papers").glob("*/runs.yaml"))]
    files = {paper: folder / paper / "report.md" for paper in papers}
    files = {"report": folder / "report.md"} | {name: file for name, file in files.items() if file.is_file()}
    write_html({name: file.read_text() for name, file in files.items()}, folder, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size <= html.LARGEST
    parts = Parts((tmp_path / "report.html").read_text())
    links = set(parts.of("a", "href"))
    assert {link[1:] for link in links if link.startswith("#")} <= set(parts.ids)
    assert [link for link in links if not link.startswith(("#", "https:"))] == []
    pictures = sum(file.read_text().count("![") for file in files.values())
    assert len(parts.of("img", "src")) == pictures > 20


def test_in_a_browser(browser, folder):
    """Every link of the navigation leads to what it names, tables sort, and nothing fails or is asked of a network."""
    from selenium.webdriver.common.by import By

    def column():
        return browser.execute_script(
            "return [...document.querySelectorAll('tbody tr')].map((row) => row.cells[1].textContent.slice(0, 3))"
        )

    def top(name):
        return browser.execute_script("return document.getElementById(arguments[0]).getBoundingClientRect().top", name)

    browser.get_log("browser")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 300, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    try:
        browser.get((folder / "report.html").as_uri())
        links = browser.find_elements(By.CSS_SELECTOR, "nav a")
        assert len(links) == 2 + 3
        for link in links:
            browser.execute_script("document.querySelectorAll('nav details').forEach((part) => { part.open = true })")
            link.click()
            name = link.get_attribute("hash")[1:]
            assert -1 <= top(name) < 300
            heading = browser.execute_script(
                "const found = document.getElementById(arguments[0]);"
                "return (found.querySelector('h1') ?? found).textContent",
                name,
            )
            assert heading == link.get_attribute("textContent")
        header = browser.find_element(By.XPATH, "//th/button[.='CIDEr']")
        # The row below PSST's has no name: it stays there.
        order = ["101", "1.0", "82.", "9.5", "–"]
        upwards = ["9.5", "82.", "101", "1.0", "–"]
        for expected, said in ((order, "descending"), (upwards, "ascending"), (order, "descending")):
            header.click()
            assert column() == expected
            assert header.find_element(By.XPATH, "..").get_attribute("aria-sort") == said
        browser.find_element(By.XPATH, "//th/button[.='q']").click()
        assert column() == ["101", "1.0", "9.5", "82.", "–"]
        assert browser.execute_script(
            "return [...document.images].every((image) => image.complete && image.naturalWidth === 60)"
        )
        assert browser.title == "Findings & <limits>"
        assert browser.execute_script("return performance.getEntriesByType('resource')") == []
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.get_log("browser") == []
    finally:
        browser.execute_cdp_cmd("Network.disable", {})
