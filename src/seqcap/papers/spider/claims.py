"""Which of PG-SPIDEr's claims this run can test, how long each policy was trained, and how noisy the gradient is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from seqcap.papers.spider.variance import in_words, read_variance
from seqcap.report.claims import Claim, Result
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import Run
from seqcap.report.markdown import by_number

_POLICIES = ("pg_bleu4", "pg_cider", "pg_bcmr", "pg_spider", "pg_spice")  # the runs trained by policy gradient
_OF_PLATEAU = ("S3", "S6")  # claims about PG-SPIDEr trained until it gains no more


def claims(run: Run) -> list[Claim]:
    """The paper's claims; PG-SPIDEr's rank is not tested where it had fewer updates than other policies."""
    ours, most = run.steps.get("pg_spider", 0), max(run.steps.get(name, 0) for name in _POLICIES)
    found = ClaimsFile.read(run.paper).build(run.paper)
    if not 0 < ours < most:
        return found
    reason = f"PG-SPIDEr was trained for {ours:,} steps, other policies, which gain until late, for {most:,}"
    return [
        replace(claim, untestable=reason)
        if claim.id in _OF_PLATEAU and "pg_spider" in (claim.left, claim.right)
        else claim
        for claim in found
    ]


def stand_ins(run: Run) -> list[tuple[str, str]]:
    checked = "a checker's share of captions whose every statement is true of the scene"
    here = checked if run.knows_facts else "not measured: only generated scenes know their own facts"
    return [("people's judgement of captions of 492 images, % not bad (Figure 3)", here)]


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    found, file = [], ClaimsFile.read(run.paper)
    if run.steps:
        trained = by_number((run.by_name[name].label, number) for name, number in run.steps.items())
        found.append(file.remark("updates", trained=trained, compared=_compared(run.steps)))
    if variance := in_words(read_variance(run)[0]):
        found.append(file.remark("variance", found=variance))
    return found


def _compared(steps: Mapping[str, int]) -> str:
    policy, mixer = steps.get("pg_bcmr"), steps.get("mixer_bcmr")
    if not policy or not mixer:
        return ""
    equal = "equally many updates" if policy == mixer else f"{policy:,} against {mixer:,}"
    return f" S2 compares PG-BCMR with MIXER-BCMR after {equal}."
