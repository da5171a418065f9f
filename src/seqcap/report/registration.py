"""What is registered of a paper's claims before it is run, from a pilot's results: how many seeds, what they find."""

import re
from collections.abc import Sequence
from pathlib import Path

from seqcap.errors import InputError
from seqcap.files.writing import atomic
from seqcap.report import REPORTS, statistics
from seqcap.report.evidence import Registered
from seqcap.report.judging import pilot_of
from seqcap.report.outcome import Judgement, Outcome
from seqcap.report.paper import Paper
from seqcap.report.summary import Summary
from seqcap.report.verdicts import LEAST_SEEDS

MOST_SEEDS = 8  # that can be run
_TRIED = 200  # seeds; if these do not find a difference, the test items are too few
_DIGITS = 3


def register(paper: Paper, day: str, folder: Path = REPORTS) -> list[str]:
    """Writes `registered` of each claim that the paper's committed results can be a pilot of into its claims.yaml, and
    says of each claim what was written, or why nothing was."""
    summary, file = Summary.read(folder / paper.name), paper.folder / "claims.yaml"
    if summary.rule:
        raise InputError(folder / paper.name, "has results of an older version, without values by seed", "run it again")
    text, said = file.read_text(encoding="utf-8"), []
    for name, judged in summary.judged.items():
        stated = registered(judged, day)
        if isinstance(stated, str):
            said.append(f"{name}: nothing registered: {stated}")
            continue
        text = _with(text, name, stated)
        said.append(f"{name}: {stated.lacks or f'{stated.seeds} seeds'}")
    with atomic(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return said


def registered(judged: Judgement, day: str) -> Registered | str:
    """What a pilot's outcomes say of the next run, or why they say nothing. Seeds are for the primary comparison that
    takes the most; without a printed difference to be found, they are the pilot's."""
    short = [
        outcome
        for outcome in judged.primary
        if not outcome.evidence.covariance or outcome.evidence.untestable or seeds_of(outcome) < 2
    ]
    if short:
        return short[0].evidence.untestable or "the pilot has a single seed"
    first = judged.first
    pilot = seeds_of(first)
    needed = [
        statistics.seeds_needed(outcome.evidence.spread, seeds_of(outcome), outcome.wanted, LEAST_SEEDS, _TRIED)
        for outcome in judged.primary
        if outcome.wanted is not None
    ]
    enough = [number for number in needed if number is not None]
    seeds, needs = max([LEAST_SEEDS, *enough] if needed else [pilot]), None
    if len(enough) < len(needed) or seeds > MOST_SEEDS:
        needs = seeds if len(enough) == len(needed) else 0
        seeds = pilot
    finds = statistics.detectable_with(first.evidence.spread, pilot, seeds)
    return Registered(day=day, seeds=seeds, finds=_short(finds), needs=needs, pilot=pilot_of(first.given))


def seeds_of(outcome: Outcome) -> int:
    """The fewest seeds of a side that has any; 0 where neither does."""
    return min((len(side.by_seed) for side in outcome.evidence.sides if side.by_seed), default=0)


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _with(text: str, claim: str, stated: Registered) -> str:
    """claims.yaml with a line for a claim, below its id and whether it is a control, in place of the one before."""
    values = [f'day: "{stated.day}"', f"seeds: {stated.seeds}", f"finds: {stated.finds:g}"]
    values += [] if stated.needs is None else [f"needs: {stated.needs}"]
    values.append(f"pilot: {_listed(stated.pilot)}")
    line = f"    registered: {{{', '.join(values)}}}\n"
    entry = re.compile(rf"^(  - id: {re.escape(claim)}\n(?:    control: .*\n)?)(    registered: .*\n)?", re.MULTILINE)
    return entry.sub(lambda match: match[1] + line, text, count=1)


def _listed(numbers: Sequence[float]) -> str:
    return f"[{', '.join(map(repr, numbers))}]"
