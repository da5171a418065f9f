"""COCO's 1,000 example captions: the published SPICE, and SPICE's own scorer on our tuples."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from seqcap.metrics.spice import CategoryScores, Spice
from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Concept, Match, Tuples, match, meteor_synonyms

# pycocoevalcap's README; its parser is not ours.
PUBLISHED = 0.133

pytestmark = pytest.mark.real


class Golden(NamedTuple):
    categories: dict[str, CategoryScores]
    candidates: list[Tuples]
    references: list[list[Tuples]]


def words(caption: str) -> list[str]:
    return re.findall(r"[\w'-]+", caption.lower())


@pytest.fixture(scope="module")
def scored(
    golden: Path,
    coco_annotations: dict[int, list[str]],
    uncached: CachedParser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Golden:
    hypotheses = {row["image_id"]: words(row["caption"]) for row in json.loads(golden.read_text())}
    references = {image_id: [words(text) for text in coco_annotations[image_id]] for image_id in sorted(hypotheses)}
    parser = CachedParser(tmp_path_factory.mktemp("golden") / "parses.parquet", uncached.parser)
    categories = Spice(references, parser).categories(hypotheses)
    parsed = parser.parse(
        " ".join(caption) for caption in [*hypotheses.values(), *chain.from_iterable(references.values())]
    )
    return Golden(
        categories,
        [parsed[" ".join(hypotheses[image_id])] for image_id in references],
        [[parsed[" ".join(caption)] for caption in captions] for captions in references.values()],
    )


def test_the_corpus_is_near_the_published_score(scored: Golden) -> None:
    assert scored.categories["All"].corpus == pytest.approx(PUBLISHED, abs=0.003)
    assert len(scored.categories["All"].f) == 1_000
    for scores in scored.categories.values():
        assert np.isfinite(scores.f).all()
        assert scores.f.min() >= 0
        assert scores.f.max() <= 1
    objects, attributes, relations = (scored.categories[name].corpus for name in ("Object", "Attribute", "Relation"))
    assert objects > attributes > relations > 0


def chained(words: Iterable[str]) -> list[str]:
    """Words in an order in which each follows a synonym of some word before it, where there is one."""
    left, order, group = sorted(words), list[str](), Concept()
    concept = meteor_synonyms().concept
    while left:
        word = next((word for word in left if not concept(word).isdisjoint(group)), left[0])
        group = concept(word) if concept(word).isdisjoint(group) else group | concept(word)
        left.remove(word)
        order.append(word)
    return order


def in_chains(captions: Iterable[Tuples]) -> list[tuple[str, ...]]:
    """The tuples in an order in which SPICE merges transitively. It merges what is alike when it comes, so "bicycle",
    "motorcycle", "bike" become two nodes and "bicycle", "bike", "motorcycle" one."""
    tuples = {words for caption in captions for words in caption}
    ranks = {word: rank for rank, word in enumerate(chained({word for words in tuples for word in words}))}
    return sorted(tuples, key=lambda words: (len(words), [ranks[word] for word in words]))


def by_spice(folder: Path, pairs: list[tuple[Iterable[tuple[str, ...]], Iterable[tuple[str, ...]]]]) -> list[Match]:
    def line(tuples: Iterable[tuple[str, ...]]) -> str:
        # SPICE's class takes a relation's name last.
        return ";".join(",".join([words[0], *words[:0:-1]]) for words in tuples)

    jars = [folder / "spice" / "spice-1.0.jar", folder / "spice" / "lib" / "*", *(folder / "tokenizer").glob("*.jar")]
    done = subprocess.run(
        [
            *("java", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"),
            *("-cp", os.pathsep.join(map(str, jars)), str(Path(__file__).with_name("SpiceOracle.java"))),
            str(folder / "meteor" / "meteor-1.5.jar"),
        ],
        input="".join(f"{line(candidate)}|{line(reference)}\n" for candidate, reference in pairs),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    if "ClassNotFound" in done.stderr or "compiler" in done.stderr:
        pytest.skip(f"Java cannot run SPICE's scorer: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(row)[0]["scores"]["All"] for row in done.stdout.splitlines()]
    return [Match(row["tp"], row["tp"] + row["fp"], row["tp"] + row["fn"]) for row in rows]


def test_spices_own_scorer_agrees_on_our_tuples(scored: Golden, pycocoevalcap_folder: Path) -> None:
    """In the references' own order SPICE merges a little less (see `in_chains`): its score depends on that order."""
    if shutil.which("java") is None or not (pycocoevalcap_folder / "spice" / "lib").is_dir():
        pytest.skip("needs Java and the libraries of pycocoevalcap's SPICE")
    sides = list(zip(scored.candidates, scored.references, strict=True))
    chains = [(in_chains([candidate]), in_chains(references)) for candidate, references in sides]
    as_given = [(candidate, [words for caption in references for words in caption]) for candidate, references in sides]
    graph = meteor_synonyms().graph
    ours = [match(graph(candidate), graph(references)) for candidate, references in as_given]
    theirs = by_spice(pycocoevalcap_folder, [*chains, *as_given])
    corpus = np.mean([found.f for found in ours])
    assert corpus == pytest.approx(scored.categories["All"].corpus, abs=1e-12)
    for answers, least, tolerance in ((theirs[: len(ours)], 0.995, 1e-5), (theirs[len(ours) :], 0.985, 2e-4)):
        assert np.mean([left == right for left, right in zip(ours, answers, strict=True)]) >= least
        assert corpus == pytest.approx(np.mean([found.f for found in answers]), abs=tolerance)
