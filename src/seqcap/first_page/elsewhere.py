"""Comparisons of the papers' claims on the data of an experiment. Beside a number here stands only that of the same
comparison: the same runs, measure and decoder."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from seqcap.first_page.own_runs import knows_a_judge
from seqcap.report.summary import Claim, Line, Summary
from seqcap.report.verdicts import NOT_RUN, UNTESTABLE

DETAIL = "(a detail there)"
WHOLE = "the whole claim: "  # begins the words of a claim, after those of a comparison that does not decide it there
SUM = "(sum of two comparisons, no interval)"


@dataclass(frozen=True)
class There:
    """The comparison that decides a claim here, on other data; `rule` as of `Summary`."""

    line: Line
    words: str  # what is said of the claim there
    rule: str


@dataclass(frozen=True)
class Pair:
    """One comparison of a claim, here and on other data."""

    claim: Claim
    here: Line
    there: Line

    @property
    def both(self) -> bool:
        """Whether both intervals are on a side of 0."""
        return bool(self.here.side and self.there.side)

    @property
    def opposite(self) -> bool:
        return self.both and self.here.side != self.there.side

    @property
    def alike(self) -> bool:
        return self.both and self.here.side == self.there.side

    @property
    def is_as_claimed(self) -> bool:
        """Whether both are as the paper says."""
        return self.alike and self.here.side == self.here.sign


def same(wanted: Claim, here: Summary, summary: Summary) -> There | None:
    """The deciding comparison of a claim: of the same claim, if the same comparisons decide it there; else where it
    decides a claim or, if it decides none there, as a detail or as the sum of two comparisons."""
    if _is_by_another_judge(wanted.deciding, here, summary):
        return None
    key, primary = wanted.deciding.key, [line.key for line in wanted.primary]
    for claim in summary.claims:
        if [line.key for line in claim.primary] == primary:
            line = next(line for line in claim.primary if line.key == key)
            # Another comparison may decide it there than here.
            decides = line.key == claim.deciding.key or line.verdict in ("", claim.words)
            words = claim.words if decides else f"{line.verdict}; {WHOLE}{claim.words}"
            return There(line, words, summary.rule) if line.difference else None
    alike = [line for line in _lines(summary) if line.key == key]
    if alike:
        line = next((line for line in alike if line.primary), alike[0])
        return There(line, line.verdict or DETAIL, summary.rule)
    total = _sum_of_two(wanted.deciding, summary)
    return There(total, SUM, summary.rule) if total else None


def is_tested(wanted: Claim, summary: Summary) -> bool:
    """Whether there is a number of a claim of this name, be it of another comparison."""
    return any(claim.id == wanted.id and claim.deciding.difference for claim in summary.claims)


def pairs(here: Summary, there: Summary) -> list[Pair]:
    """Every comparison that has a number here and there, once: the primary ones of claims here, then the others."""
    by_key = {line.key: line for line in _lines(there)}
    claims = [claim for claim in here.claims if claim.verdict not in (NOT_RUN, UNTESTABLE)]
    compared = [(claim, line) for claim in claims for line in claim.primary]
    compared += [(claim, line) for claim in claims for line in claim.lines]
    by_comparison = dict[tuple[str, ...], Pair]()
    for claim, line in compared:
        if line.difference and line.key in by_key and not _is_by_another_judge(line, here, there):
            by_comparison.setdefault(line.key, Pair(claim, line, by_key[line.key]))
    return list(by_comparison.values())


def has_another_judge(here: Summary, there: Summary) -> bool:
    """Whether the judge there is of the kind that pays, which is a twin by today's name, and the judge here is not."""
    return knows_a_judge(here) and not knows_a_judge(there)


def _is_by_another_judge(line: Line, here: Summary, there: Summary) -> bool:
    is_by_judge = line.key[1].startswith("fixed_") or "the judge" in line.key[3:5]
    return is_by_judge and has_another_judge(here, there)


def _lines(summary: Summary) -> Iterator[Line]:
    for claim in summary.claims:
        yield from (line for line in claim.lines if line.difference)


def _sum_of_two(wanted: Line, summary: Summary) -> Line | None:
    """A comparison as that of its left side with a third run, and of this with its right side: equal seeds and items
    make the sum exact."""
    _, metric, decoder, left, right, base = wanted.key
    if base:
        return None
    lines = [line for line in _lines(summary) if line.key[1:3] == (metric, decoder) and not line.key[5]]
    for first in (line for line in lines if line.key[3] == left):
        for second in (line for line in lines if line.key[4] == right):
            joined = first.key[4] == second.key[3] and first.what == second.what
            if joined and (first.seeds, first.items) == (second.seeds, second.items):
                total = float(first.difference) + float(second.difference)
                digits = len(first.difference.partition(".")[2])
                return replace(first, difference=f"{total:.{digits}f}", low="", high="", side=None, verdict="")
    return None
