"""How the best captions of a beam are worded, whatever they say: how many of them differ; of generated scenes, how many
have two verbs where the grammar of their references has one; and of photographs, how many have a fault that hardly any
caption by people has. Metrics and the checker of truth do not see that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from seqcap.files import json_file

if TYPE_CHECKING:
    from seqcap.report.inputs import Results

FILE = "wording.json"  # in the folder of a paper's results
# Shares of captions in points.
DISTINCT, TWO_VERBS, FAULTY = "distinct captions", "two verbs", "captions with a fault"
MANY = 10.0  # captions of a hundred
Measured = Mapping[str, Mapping[str, Sequence[float]]]  # run -> share -> its value for each seed
_SCENES = "scenes"  # the dataset of which the grammar is known
_PHOTOGRAPHS = ("flickr8k", "flickr30k", "coco")  # datasets of English captions by people
_VERBS = ("is", "are")
_JOINS = ("and", "while")  # join two sentences of the grammar
_OPENS = ("that", "who", "which")  # open a clause within one, which has a verb of its own
_BEINGS = "man|men|woman|women|person|people|boy|boys|girl|girls|child|children|baby|dog|dogs"
BY_PEOPLE = 1.0  # of a hundred captions by people that have a fault: of all 40,455 of Flickr8k, most the last one
# Faults of an English caption.
_FAULTS = (
    r"\b(\w+) (?:and )?\1\b",  # a word twice in a row: "is is", "a black and black dog"
    r"\b(\w+ \w+ \w+) (?:\w+ )?\2\b",  # three words twice, at most one between: "a red shirt and a red shirt"
    rf"\bin (?:a|an|the) (?:{_BEINGS})\b",  # a being as a place
    # two verbs that nothing joins
    r"(?<!that )(?<!who )(?<!which )\b(?:is|are) (?:(?!and|while|that|who|which|as)\w+ )*(?:is|are)\b",
    r"\b(?:a|an|the) (?:a|an|the|is|are|in|on|of|with|and)\b",  # an article without a noun
    r"\b(?:a|an|the|in|on|of|with|to|at|and|is|are)$",  # an end that promises more
)
_FAULT = re.compile("|".join(f"(?:{fault})" for fault in _FAULTS))


def has_two_verbs(words: Sequence[str]) -> bool:
    """Whether a sentence has a second verb: "there is a man is in the grass". No reference of a scene has."""
    verbs = 0
    for before, word in pairwise(["", *words]):
        if word in _JOINS:
            verbs = 0
        verbs += word in _VERBS and before not in _OPENS
        if verbs > 1:
            return True
    return False


def has_fault(caption: str) -> bool:
    """Whether an English caption, lower-case words with a space between them, has one of a few plain faults: "a man in
    a woman is standing". Others are not seen."""
    return _FAULT.search(caption) is not None


def measure(results: Results, rows: Iterable[tuple[str, str]]) -> Measured:
    """What is measured of the runs among some rows, run and decoder, that are decoded by a beam."""
    runs = dict.fromkeys(name for name, decoder in rows if decoder == "beam")
    return {name: shares for name in runs if (shares := _shares(results, name))}


def write(measured: Measured, folder: Path) -> None:
    json_file.write_json(folder / FILE, measured)


def read_by_seed(folder: Path) -> Measured:
    """What a paper's results have; {} without any."""
    path = folder / FILE
    return json_file.read_json(path) if path.is_file() else {}


def read(folder: Path) -> dict[str, dict[str, float]]:
    """Run -> its shares, means over seeds; {} where a paper's results have none."""
    return {run: {name: fmean(by_seed) for name, by_seed in of.items()} for run, of in read_by_seed(folder).items()}


def ungrammatical(measured: Measured, labels: Mapping[str, str]) -> list[str]:
    """ "SLL 13.9 (0 to 39)": the runs of which many best captions have two verbs, most first, with their seeds'
    range. `labels`: run -> its name; runs without one are left out."""
    return [told for share, told in _by_share(measured, labels, TWO_VERBS) if share > MANY]


def faulty(measured: Measured, labels: Mapping[str, str]) -> list[str]:
    """ "PG-BCMR 24.2 (22 to 27)": how many best captions have a fault, of each run of which it is known, most first.
    `labels`: as of `ungrammatical`."""
    return [told for _, told in _by_share(measured, labels, FAULTY)]


def distinct(measured: Measured, labels: Mapping[str, str]) -> list[str]:
    """ "SLL 43.1 (41 to 46)": how many best captions differ, fewest first. `labels`: as of `ungrammatical`."""
    return [told for _, told in reversed(_by_share(measured, labels, DISTINCT))]


def _by_share(measured: Measured, labels: Mapping[str, str], share: str) -> list[tuple[float, str]]:
    """A share's mean over seeds, in points, and in words with its run's label, of each run that has both; most
    first."""
    known = {run: of[share] for run, of in measured.items() if run in labels and share in of}
    ranked = sorted(known, key=lambda run: -fmean(known[run]))
    return [(fmean(known[run]), f"{labels[run]} {with_range(known[run])}") for run in ranked]


def with_range(by_seed: Sequence[float]) -> str:
    """ "13.9 (0 to 39)": the mean of seeds, and the lowest and highest."""
    ends = f"{min(by_seed):.0f} to {max(by_seed):.0f}" if len(by_seed) > 1 else "one seed"
    return f"{fmean(by_seed):.1f} ({ends})"


def _shares(results: Results, name: str) -> Mapping[str, Sequence[float]]:
    """Share -> its value for each seed of a run, in points; {} without captions of a beam."""
    decoded = results.decoded(name)
    best = decoded[(decoded["decoder"] == "beam") & (decoded["rank"] == 0)]
    texts = [of_seed["text"].tolist() for _, of_seed in best.groupby("seed")]
    if not texts:
        return {}
    shares = {DISTINCT: [_points(len(set(captions)) / len(captions)) for captions in texts]}
    task = results.by_name[name].task
    if results.dataset(task) == _SCENES:
        broken = [fmean(has_two_verbs(caption.split()) for caption in captions) for captions in texts]
        shares[TWO_VERBS] = [_points(share) for share in broken]
    elif results.dataset(task) in _PHOTOGRAPHS:
        shares[FAULTY] = [_points(fmean(map(has_fault, captions))) for captions in texts]
    return shares


def _points(share: float) -> float:
    return round(100 * share, 2)
