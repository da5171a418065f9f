"""How long each of PG-SPIDEr's policies was trained, and how noisy the gradient is."""

from collections.abc import Mapping, Sequence

from seqcap.papers.spider.variance import in_words, read_variance
from seqcap.report.claims import JudgedClaim
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import Results
from seqcap.report.markdown import by_number


def stand_ins(results: Results) -> list[tuple[str, str]]:
    checked = "F1 of what a caption says truly of the scene and what it leaves out, by a checker"
    here = checked if results.knows_facts else "not measured: only generated scenes know their own facts"
    return [("people's judgement of captions of 492 images, % not bad (Figure 3)", here)]


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    found, file = [], ClaimsFile.read(results.paper)
    if results.steps:
        trained = by_number((results.by_name[name].label, number) for name, number in results.steps.items())
        found.append(file.remark("updates", trained=trained, compared=_compared(results.steps)))
    if variance := in_words(read_variance(results)[0]):
        found.append(file.remark("variance", found=variance))
    return found


def _compared(steps: Mapping[str, int]) -> str:
    policy, mixer = steps.get("pg_bcmr"), steps.get("mixer_bcmr")
    if not policy or not mixer:
        return ""
    equal = "equally many updates" if policy == mixer else f"{policy:,} against {mixer:,}"
    return f" S2 compares PG-BCMR with MIXER-BCMR after {equal}."
