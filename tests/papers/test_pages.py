"""The pages of the papers' invented runs: as committed text, and what is true of all of them."""

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import invented_estimates
import pandas as pd
import pytest
import snapshots
from invented_across import AcrossRun
from invented_evidence import ORIGIN
from invented_papers import KINDS
from invented_runs import PaperRun, write_report_config

from seqcap import papers
from seqcap.files import json_file
from seqcap.first_page.report import write_report
from seqcap.papers.across.tables import FILE
from seqcap.report import provenance
from seqcap.report.drawing import figures
from seqcap.report.inputs import Results
from seqcap.report.reported import PaperConfig, ReportConfig
from seqcap.report.section import write_section
from seqcap.report.tables import write_tables

# Page -> what only it shows.
PAGES = {
    "sle/report.md": "a page as most are: claims of several comparisons, tables beside print, remarks with numbers",
    "sle/details.md": "what a page leaves to its details: other comparisons, long tables, settings, files",
    "spider/report.md": "two training seeds, other numbers of captions, rewards, a gradient's variance",
    "smoothing/report.md": "rows that depend on the run, translation, ensembles",
    "psst/report.md": "numbers that are read off curves, automatic raters, methods in place of runs",
    "wtfrl/report.md": "ablations that are found by their settings, claims that are data",
    "across/report.md": "a paper without claims: rows told apart, rank correlations",
    "report.md": "the first page of all papers",
    "figures.txt": "what is drawn: words, lines and bars of every figure",
}
PRINTED = [
    (name, path.stem) for name in KINDS for path in sorted((papers.FOLDER / name / "published").glob("table?.csv"))
]


def origin(config: PaperConfig) -> dict[str, Any]:
    """In place of what is different wherever the tests run."""
    data = [{"task": "image", "name": "scenes", "kind": "images", "sizes": {"test": 12}, "seeds": [1, 2, 3]}]
    return ORIGIN | {
        "versions": {"Python": "3"},
        "data": data,
        "minutes": {run.name: 1.5 for run in config.runs},
    }


def runs() -> Iterator[PaperRun]:
    for paper, kind in {**KINDS, "across": AcrossRun}.items():
        invented = kind()
        if paper == "spider":
            # No count of captions is fixed.
            invented.beam, invented.samples = 4, 3
        yield invented


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Results]]:
    """The papers' results, whose report is in reports/ of the current directory."""
    before, described, found = Path.cwd(), list[str](), dict[str, Results]()

    def describe(figure: figures.Figure, path: Path) -> None:
        described.extend([f"# {path.stem}", *snapshots.in_words(figure), ""])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provenance, "measure", origin)
        patch.setattr(figures, "_save", describe)
        os.chdir(tmp_path_factory.mktemp("pages"))
        invented_estimates.write()
        for invented in runs():
            results = found[invented.paper] = invented.write()
            write_tables(results)
            figures.write_figures(results)
            write_section(results, [("sll_sle", "sll")] if invented.paper == "sle" else [])
        write_report_config(*found)
        write_report(ReportConfig.read("report"))
        Path("reports/figures.txt").write_text("\n".join(described), encoding="utf-8")
        yield found
        os.chdir(before)


def read(page: str) -> str:
    return Path("reports", page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_the_committed_one(page: str, written: dict[str, Results]):
    snapshots.check(page.replace("/", "-"), read(page))


def test_no_link_is_dead_and_no_number_is_missing(written: dict[str, Results]):
    for path in Path("reports").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bnan\b|None", text)
        for link, _, anchor in (link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", text)):
            target = path.parent / link if link else path
            if target.suffix == ".png":
                continue  # figures are described here, not saved
            if target.is_dir():
                continue
            page = target.read_text(encoding="utf-8")
            headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.*)$", page)}
            assert not anchor or anchor in headings | set(re.findall(r'<a id="(\w+)"></a>', page)), (path, link, anchor)


def lines(paper: str, table: str) -> pd.DataFrame:
    return pd.read_csv(f"reports/{paper}/tables/{table}.csv", dtype=str, keep_default_na=False)


@pytest.mark.parametrize(("paper", "table"), PRINTED)
def test_every_published_cell_appears_once_as_printed(paper: str, table: str, written: dict[str, Results]):
    ours, theirs = lines(paper, f"{paper}_{table}"), written[paper].paper.published.table(table)
    in_print = ours["row"].isin(theirs["row"]) & ours["column"].isin(theirs["column"])
    keys = ["block", "row", "column", "direction"]
    assert ours.loc[in_print, keys].to_numpy().tolist() == theirs[keys].to_numpy().tolist()
    assert ours.loc[in_print, "paper"].tolist() == theirs["printed"].tolist()
    assert (ours.loc[~in_print, "paper"] == "").all()


# Loss smoothing's tables have columns of print alone.
@pytest.mark.parametrize("paper", [paper for paper in KINDS if paper != "smoothing"])
def test_every_number_has_an_interval_and_every_gap_a_reason(paper: str, written: dict[str, Results]):
    for table in written[paper].paper.tables:
        cells = lines(paper, table)
        empty, full = cells[cells["ours"] == ""], cells[cells["ours"] != ""]
        assert (empty["note"] != "").all()
        assert (empty[["ours_low", "ours_high", "n"]] == "").all(axis=None)
        bounded = full[full["ours_low"] != ""]
        assert (bounded["ours_low"].astype(float) <= bounded["ours"].astype(float)).all()
        assert (bounded["ours_high"].astype(float) >= bounded["ours"].astype(float)).all()


def test_captions_are_published_and_one_scene_is_shown(written: dict[str, Results]):
    results = written["across"]
    folder = Path("reports/across/results")
    example = json_file.read_json(folder / "example.json")
    labels = [results.by_name[name].label for name in FILE.shown]
    assert [of["label"] for of in example["captions"]] == ["reference grammar", *labels]
    # The invented captions are not of these scenes.
    assert all(of["false"] for of in example["captions"][1:])
    captions = json.loads(gzip.decompress((folder / "captions/across_sll_beam.json.gz").read_bytes()))
    decoded = results.decoded("across_sll")
    first = decoded[(decoded["decoder"] == "beam") & (decoded["rank"] == 0) & (decoded["seed"] == 1)]
    assert captions == [
        {"image_id": item, "caption": text} for item, text in zip(first["item"], first["text"], strict=True)
    ]
