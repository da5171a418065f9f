"""COCO's 1,000 example captions: the published SPICE, and SPICE's own scorer on our tuples."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from seqcap.metrics.spice import spice
from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Concept, Match, Tuples, build_graph, find_concept, match

# pycocoevalcap's README; its parser is not ours. And what ours gives for the first hundred captions.
PUBLISHED, OF_HUNDRED = 0.133, 0.127


class Golden(NamedTuple):
    """The metric's value, and the tuples of each candidate and of its references."""

    corpus: float
    sides: list[tuple[Tuples, list[Tuples]]]


@pytest.fixture(scope="module")
def scored(
    golden: Path,
    coco_annotations: dict[int, list[str]],
    uncached: CachedParser,
    tmp_path_factory: pytest.TempPathFactory,
    full: bool,
) -> Golden:
    def words(caption: str) -> list[str]:
        return re.findall(r"[\w'-]+", caption.lower())

    rows = json.loads(golden.read_text())[: None if full else 100]
    captions = [(row["image_id"], words(row["caption"])) for row in rows]
    references = {image_id: [words(text) for text in coco_annotations[image_id]] for image_id, _ in captions}
    parser = CachedParser(tmp_path_factory.mktemp("golden") / "parses.parquet", uncached.parser)
    corpus = float(spice(references, captions, parser).mean())
    said = [(" ".join(tokens), [" ".join(other) for other in references[image_id]]) for image_id, tokens in captions]
    parsed = parser.parse(text for candidate, others in said for text in [candidate, *others])
    return Golden(corpus, [(parsed[candidate], [parsed[other] for other in others]) for candidate, others in said])


def test_the_corpus_is_near_the_published_score(scored, full):
    """`make campaigns` scores all thousand captions."""
    assert scored.corpus == pytest.approx(PUBLISHED if full else OF_HUNDRED, abs=0.003)
    assert len(scored.sides) == (1_000 if full else 100)


def chained(words: Iterable[str]) -> list[str]:
    """Words in an order in which each follows a synonym of some word before it, where there is one."""
    left, order, group = sorted(words), list[str](), Concept()
    while left:
        word = next((word for word in left if not find_concept(word).isdisjoint(group)), left[0])
        group = find_concept(word) if find_concept(word).isdisjoint(group) else group | find_concept(word)
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
        pytest.skip(f"needs Java 11 or later that runs SPICE's own scorer: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(row)[0]["scores"]["All"] for row in done.stdout.splitlines()]
    return [Match(row["tp"], row["tp"] + row["fp"], row["tp"] + row["fn"]) for row in rows]


def test_spices_own_scorer_agrees_on_our_tuples(scored, pycocoevalcap_folder, full):
    """In the references' own order SPICE merges a little less (see `in_chains`): its score depends on that order."""
    if not full:
        pytest.skip("needs SEQCAP_FULL=1, as `make campaigns` sets it: SPICE's own scorer takes minutes")
    if shutil.which("java") is None or not (pycocoevalcap_folder / "spice" / "lib").is_dir():
        pytest.skip(
            "needs Java 11 or later on PATH and pycocoevalcap's SPICE libraries: its scorer is compared with ours"
        )
    chains = [(in_chains([candidate]), in_chains(others)) for candidate, others in scored.sides]
    as_given = [(candidate, [words for caption in others for words in caption]) for candidate, others in scored.sides]
    ours = [match(build_graph(candidate), build_graph(references)) for candidate, references in as_given]
    theirs = by_spice(pycocoevalcap_folder, [*chains, *as_given])
    corpus = np.mean([found.f for found in ours])
    assert corpus == pytest.approx(scored.corpus, abs=1e-12)
    for answers, least, tolerance in ((theirs[: len(ours)], 0.995, 1e-5), (theirs[len(ours) :], 0.985, 2e-4)):
        assert np.mean([left == right for left, right in zip(ours, answers, strict=True)]) >= least
        assert corpus == pytest.approx(np.mean([found.f for found in answers]), abs=tolerance)
