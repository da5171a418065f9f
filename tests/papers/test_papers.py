"""Papers are found by their names, describe themselves consistently, and what is missing of one is named."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from invented_papers import whole
from ruamel.yaml import YAML

from seqcap import papers
from seqcap.errors import InputError
from seqcap.pipeline.params import read_params
from seqcap.report.claims import evidence
from seqcap.report.claims_file import ClaimsFile, OfScenes
from seqcap.report.section import all_claims

NAMES = ("psst", "sle", "smoothing", "spider", "wtfrl")
RUNS = read_params(Path(__file__).parents[2]).runs
PRINTED = [
    (name, path.stem) for name in NAMES for path in sorted((papers.FOLDER / name / "published").glob("table?.csv"))
]


@pytest.mark.parametrize("name", NAMES)
def test_a_paper_describes_itself(name: str):
    run = whole(name)
    paper, published = run.paper, run.paper.published
    assert paper.name == name
    assert {entry.task for entry in run.runs} <= set(paper.facts.published_on)
    assert all(file.startswith(f"{name}_") for file in (*paper.tables, *paper.figures))
    rows = paper.find("rows").rows(run) if paper.find("rows") else paper.facts.rows
    for table, of_table in rows.items():
        cells = published.table(table)
        printed = {
            *cells["row"],
            *zip(cells["block"], cells["row"], strict=True),
            *zip(cells["column"], cells["row"], strict=True),
        }
        assert set(of_table) - set(paper.facts.ours.get(table, {})) <= printed
        assert {made for made, _ in of_table.values()} <= {*run.by_name, *RUNS}


@pytest.mark.parametrize("name", NAMES)
def test_claims_have_the_sign_that_the_paper_prints(name: str):
    run = whole(name)
    for claim in all_claims(run):
        # The invented run has not all runs that the parameters have.
        assert set(claim.names) <= {*run.by_name, *RUNS}
        found = evidence(claim, run)
        assert not found.printed or found.contrast(found.printed) * found.sign > 0, claim


@pytest.mark.parametrize(
    "path", sorted(papers.FOLDER.glob("*/*.yaml")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_no_text_has_swallowed_the_keys_below_it(path: Path):
    """As where a key that has `common` and `scenes` below it ends in `>-`."""
    assert [text for text in _texts(YAML(typ="safe").load(path)) if re.match(r"\w+: [>|]-", text)] == []


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)


def test_a_claim_has_primary_comparisons_and_says_why():
    files = {name: ClaimsFile.read(papers.load(name)) for name in NAMES}
    assert 40 <= sum(not stated.control for file in files.values() for stated in file.claims) <= 60
    for name, file in files.items():
        claims = all_claims(whole(name))
        ids = [stated.id for stated in file.claims]
        assert len(set(ids)) == len(ids)
        numbers = {stated.id: stated.primary for stated in file.claims}
        assert Counter(claim.id for claim in claims if claim.primary) == numbers
        assert list(dict.fromkeys(claim.id for claim in claims)) == ids
        of_paper = {stated.id for stated in file.claims if not stated.control}
        assert {stated.about for stated in file.claims if stated.about} <= of_paper
        assert all(stated.control for stated in file.claims if stated.about)
        # Another one than before says so.
        assert all(stated.changed for stated in file.claims if stated.primary > 1)
        assert {claim.id: claim.text for claim in claims} == {of.id: of.sentence for of in file.claims}
        assert all(of.why.endswith(".") and "\n" not in of.why for of in file.claims)
        assert {file.finding.claim, file.finding.control or ids[0]} <= set(ids)
        # What claims.csv tells them apart by.
        keys = {(claim.id, claim.metric, claim.decoder, claim.left, claim.right, claim.base) for claim in claims}
        assert len(keys) == len(claims)


@pytest.mark.parametrize("name", NAMES)
def test_on_photographs_nothing_is_said_or_registered_of_scenes(name: str):
    run = whole(name)
    tasks = {task: of.model_copy(update={"dataset": "flickr8k"}) for task, of in run.config.tasks.items()}
    there = replace(run, config=run.config.model_copy(update={"tasks": tasks}))
    assert not there.are_of_scenes
    here, file = ClaimsFile.read(run.paper), ClaimsFile.of(there)
    assert any(claim.registered for claim in here.claims) == (name != "smoothing")
    assert not [claim.id for claim in file.claims if claim.registered]
    kept = [*file.limits, *file.remarks.values(), *(text for pair in file.stand_ins for text in pair)]
    kept += [text for of in file.claims for text in (of.why, *of.explained.values())]
    assert not [text for text in kept if isinstance(text, OfScenes)]
    # Nothing of what is not known of a photograph.
    kept += [text.reading for text in run.paper.tables.values() if not text.exact]
    assert not [
        text for text in kept if re.search("checker|[Ll]iteral( listener|:)|Truth at equal|how true|are new", text)
    ]
    assert file.remarks.keys() == here.remarks.keys()
    lengths = [sum(len(text) for of in each.claims for text in of.explained.values()) for each in (file, here)]
    assert lengths[0] < lengths[1]


def test_half_a_paper_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder without parameters, parameters without a folder, a missing file, a table without its function."""
    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    for name in ("sle", "spider"):
        shutil.copytree(Path(papers.__file__).parent / name, tmp_path / name)
    papers.check(["sle", "spider"])
    with pytest.raises(InputError, match=r"src/seqcap/papers/spider: has no papers/spider/runs\.yaml"):
        papers.check(["sle"])
    with pytest.raises(InputError, match=r"nobody/runs\.yaml: there is no paper 'nobody'; .* name one of sle, spider"):
        papers.check(["sle", "spider", "nobody"])
    with pytest.raises(InputError, match="there is no paper 'nobody'"):
        papers.load("nobody")
    figures = tmp_path / "sle/figures.py"
    figures.write_text(figures.read_text().replace('"sle_alpha":', '"sle_beta":'))
    with pytest.raises(InputError, match=r"papers/sle/figures\.py: has no FIGURES with sle_alpha; figures\.yaml names"):
        papers.check(["sle", "spider"])
    figures.unlink()
    with pytest.raises(InputError, match=r"figures\.py: has no FIGURES with sle_fig3, sle_alpha"):
        papers.check(["sle", "spider"])
    (tmp_path / "sle/claims.yaml").unlink()
    with pytest.raises(InputError, match=r"papers/sle: has no claims\.yaml; every paper has one"):
        papers.check(["sle", "spider"])
    (tmp_path / "sle/paper.yaml").write_text("label: SLE\n")
    with pytest.raises(InputError, match=r"sle/paper\.yaml: title: Field required"):
        papers.load("sle")


def test_claims_that_are_data_need_no_code():
    """The sign is the given one, else as printed; the first comparison is the primary one."""
    paper = papers.load("wtfrl")
    claims = ClaimsFile.read(paper).build(paper)
    keys = {(claim.id, claim.metric, claim.decoder, claim.left, claim.right) for claim in claims}
    assert len(keys) == len(claims)
    found = {(claim.id, claim.metric, claim.left, claim.right): claim for claim in claims if claim.decoder == "beam"}
    self_bleu = found["D9", "Self-BLEU", "wtf", "tf"]
    left, right = self_bleu.printed.values
    assert (self_bleu.direction, self_bleu.primary, left - right) == (-1, False, pytest.approx(-9.04))
    lost = found["D11b", "CIDEr", "rl_alone", "rl"]
    assert (lost.direction, lost.control, lost.printed) == (-1, True, None)
    assert [claim.primary for claim in claims if claim.id == "D1a"] == [True, *[False] * 5]
    assert {claim.id for claim in claims if claim.rule == "no worse"} == {"D2b", "D4", "D7c"}
