"""What other data have otherwise than those of this page, of what bears on an objective: their words, and how well
cross-entropy does on them."""

from collections.abc import Iterator, Mapping
from typing import Any

from seqcap.report.summary import Summary

# Measure and captions -> their name here. Of a beam it is the best caption.
_LEVELS = {
    ("CIDEr", "beam"): "CIDEr, beam",
    ("CIDEr", "sample"): "CIDEr, samples",
    ("Div2", "sample"): "Div-2, samples",
    ("BLEU", "beam"): "BLEU, beam",
}
_BEST = {"CIDEr, beam", "BLEU, beam"}  # of these, those of best captions
Runs = tuple[str, ...]  # of a side of a comparison
Measured = Mapping[str, Mapping[Runs, Mapping[str, float]]]  # paper -> runs -> name here -> level in points


def what_differs(here: Mapping[str, Summary], there: Mapping[str, Summary]) -> dict[str, list[str]]:
    """What is known of both: `words` of the training texts, and `levels` of one run of cross-entropy, the one of which
    most are known, if that of its best captions is. Each is of the other data, with that of this page in brackets."""
    words = next(_words(here, there), [])
    ours, theirs = _levels(here), _levels(there)
    by_run = [
        _beside(levels, ours.get(paper, {}).get(runs, {}))
        for paper, of_runs in theirs.items()
        for runs, levels in of_runs.items()
    ]
    known = max(by_run, key=lambda levels: (len(levels), not _BEST.isdisjoint(levels)), default={})
    return {"words": words, "levels": list(known.values())}


def _beside(theirs: Mapping[str, float], ours: Mapping[str, float]) -> dict[str, str]:
    """Name -> the level there, and the one here in brackets."""
    names = [name for name in _LEVELS.values() if name in theirs and name in ours]
    return {name: f"{name} {theirs[name]:.1f} ({ours[name]:.1f})" for name in names}


def _words(here: Mapping[str, Summary], there: Mapping[str, Summary]) -> Iterator[list[str]]:
    """Of each task that is known here and there."""
    for paper, summary in there.items():
        ours = _tasks(here[paper]) if paper in here else {}
        for task, theirs in _tasks(summary).items():
            if task in ours:
                counts = f"{theirs['different']:,} different words in training texts ({ours[task]['different']:,})"
                lengths = f"{theirs['per_text']:.1f} words a text ({ours[task]['per_text']:.1f})"
                shares = f"{theirs['different_texts']:.0%} of texts differ ({ours[task]['different_texts']:.0%})"
                yield [counts, lengths, shares]


def _tasks(summary: Summary) -> dict[str, dict[str, Any]]:
    """Task -> what its texts are like. Results of older code do not say it."""
    return {task["task"]: task["words"] for task in summary.provenance["data"] if task.get("words")}


def _levels(papers: Mapping[str, Summary]) -> Measured:
    """Those of cross-entropy that claims compare."""
    found = dict[str, dict[Runs, dict[str, float]]]()
    for paper, summary in papers.items():
        known = found.setdefault(paper, {})
        likelihood = {(name,) for name in summary.said.get("likelihood", [])}
        for judged in summary.in_points.values():
            for evidence in (outcome.given for outcome in judged.outcomes):
                # What all captions of a beam have on average is another measure.
                name = _LEVELS.get((evidence.metric, evidence.decoder))
                if name and "beam's" not in evidence.what:
                    for side in (side for side in evidence.sides if side.runs in likelihood):
                        known.setdefault(side.runs, {})[name] = side.value
    return found
