"""What the papers' own runs say, beside the table of all objectives: of CIDEr, and of independent listeners."""

from collections.abc import Iterator, Mapping

from seqcap.report.summary import Claim, Line, Summary

# What runs of cross-entropy are called that were trained for as many updates as what they are compared with.
AS_LONG = "as many steps more"
# Measures: the judge's recall, that of a twin of what pays, and that of a listener that takes every word literally.
JUDGE, TWIN, LITERAL = "fixed_R@10", "twin_R@10", "literal_R@10"
OWN = "own_"  # begins the measures of what pays a run or learns with it
TRUTH = "true_of_own"  # how many captions are true
TRUTHS = (TRUTH, "all_true")  # what a checker knows
Named = tuple[str, Claim, Line]  # paper, claim and one of its comparisons


def cider_against_likelihood(papers: Mapping[str, Summary]) -> list[Named]:
    """Every comparison of the best beam caption's CIDEr with cross-entropy that was trained for as many updates."""
    comparisons = dict[tuple[str, ...], Named]()
    for paper, claim, line in _comparisons(papers):
        left, _, right = line.sides.partition(" against ")
        of_quality = line.key[1:3] == ("CIDEr", "beam") and "best beam" in line.what and not line.key[5]
        if of_quality and line.low and AS_LONG in right and AS_LONG not in left:
            comparisons.setdefault(line.key, (paper, claim, line))
    return list(comparisons.values())


def on_other_data(comparison: Line, papers: Mapping[str, Summary]) -> Line | None:
    """The same comparison in the results of an experiment."""
    return next((line for _, _, line in _comparisons(papers) if line.key == comparison.key), None)


def levels(summary: Summary, metric: str) -> dict[str, float]:
    """Label -> its level in points, of the runs whose best beam captions claims compare by a measure."""
    by_label = dict[str, float]()
    for judged in summary.in_points.values():
        for outcome in judged.outcomes:
            evidence = outcome.given
            # What all captions of a beam have on average is another quality.
            if (evidence.metric, evidence.decoder) == (metric, "beam") and "beam's" not in evidence.what:
                by_label |= {side.label: side.value for side in evidence.sides}
    return by_label


def labels(summary: Summary) -> dict[str, str]:
    """Run -> its label, of the runs that are a side of a comparison by themselves."""
    outcomes = (outcome for judged in summary.in_points.values() for outcome in judged.outcomes)
    sides = (side for outcome in outcomes for side in outcome.given.sides)
    return {side.runs[0]: side.label for side in sides if len(side.runs) == 1}


def against_likelihood(summary: Summary, metric: str) -> dict[str, Line]:
    """Label -> the comparison with likelihood, of the runs whose best beam captions are compared with its by a
    measure."""
    likelihood = summary.said.get("likelihood", [])
    lines = [line for claim in summary.claims for line in claim.lines if line.difference]
    found = [
        line for line in lines if line.key[1:3] == (metric, "beam") and line.key[4] in likelihood and not line.key[5]
    ]
    return {line.sides.partition(" against ")[0]: line for line in found}


def by_greedy(claim: Claim) -> Line | None:
    """The comparison that decides a claim, of greedy captions; None where that is it, or the claim has it not."""
    _, metric, captions, *_ = claim.deciding.key
    return None if captions == "greedy" else otherwise(claim, metric, "greedy")


def otherwise(claim: Claim, metric: str, captions: str) -> Line | None:
    """The comparison of the runs that decide a claim, by another metric or of other captions; None where the claim
    has it not."""
    paper, _, _, *runs = claim.deciding.key
    key = (paper, metric, captions, *runs)
    return next((line for line in claim.lines if line.key == key and line.difference), None)


def knows_a_judge(summary: Summary) -> bool:
    """Whether its judge is of another kind than what pays: such results have a twin, too."""
    return summary.measures(JUDGE) and summary.measures(TWIN)


def _comparisons(papers: Mapping[str, Summary]) -> Iterator[Named]:
    for paper, summary in papers.items():
        for claim in summary.claims:
            for line in claim.lines:
                if line.difference:
                    yield paper, claim, line
