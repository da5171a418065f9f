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
Measured = Mapping[str, Mapping[tuple[str, ...], float]]  # paper -> metric, captions and run -> level in points


def what_differs(here: Mapping[str, Summary], there: Mapping[str, Summary]) -> dict[str, list[str]]:
    """What is known of both: `words` of the training texts, `levels` of cross-entropy. Each is of the other data, with
    that of this page in brackets."""
    words = next(_words(here, there), [])
    ours, theirs = _levels(here), _levels(there)
    levels = dict[str, str]()
    for paper, measured in theirs.items():
        for key, level in measured.items():
            name = _LEVELS[key[0], key[1]]
            if key in ours.get(paper, {}):
                levels.setdefault(name, f"{name} {level:.1f} ({ours[paper][key]:.1f})")
    return {"words": words, "levels": [levels[name] for name in _LEVELS.values() if name in levels]}


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
    found = dict[str, dict[tuple[str, ...], float]]()
    for paper, summary in papers.items():
        known, likelihood = found.setdefault(paper, {}), summary.said.get("likelihood", [])
        for judged in summary.in_points.values():
            for evidence in (outcome.given for outcome in judged.outcomes):
                # What all captions of a beam have on average is another measure.
                if (evidence.metric, evidence.decoder) in _LEVELS and "beam's" not in evidence.what:
                    alone = (side for side in evidence.sides if side.runs in {(name,) for name in likelihood})
                    known |= {(evidence.metric, evidence.decoder, *side.runs): side.value for side in alone}
    return found
