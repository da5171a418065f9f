"""What the first page says of loss smoothing: the claims of its paper, and the studies of what it gains with how much
data."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from seqcap.first_page import own_runs, unknown_words
from seqcap.first_page.all_papers import Reported, link
from seqcap.first_page.asides import updates
from seqcap.first_page.finding import Finding
from seqcap.first_page.main_claims import MainClaim
from seqcap.first_page.outcomes import capital, fared, numbers, shortly
from seqcap.first_page.overview import CIDER, DIVERSITY, SAMPLES, TRUTH, Overview
from seqcap.report.summary import Claim, Line, Summary
from seqcap.report.verdicts import DAGGER, DECIDED, HOLDS, NOT_RUN, REVERSED, read

_SMOOTHING = "smoothing"  # the paper
_MOST = 0.5  # of a difference by a beam, from which what greedy captions lack of it is most of it
# Its claims that ask the same of another captioner or task, and of which.
_ELSEWHERE = {
    "L6b": "with attention, Tok-Seq",
    "L7": "in translation to French, BLEU, Tok",
    "L8": "in translation to French, BLEU, Seq",
    "L9a": "in translation to French, BLEU, Tok-Seq",
    "L9b": "from German, BLEU, Tok-Seq",
}
# The claims that a kind of smoothing beats likelihood, beside which the main one stands.
_KINDS = ("L1", "L3")
_WITH_ATTENTION = "L6b"  # the main one with attention
_GERMAN = ("de_en_seq_bleu4_batch", "de_en_mle")  # the comparison that L8 is of, from German
# By what else the comparisons that decide are told: words -> the metric, and which captions it is of.
_MEASURES = {"By captions ranked by log p / length": ("CIDEr", "per token, all"), "By BLEU-4": ("BLEU4", "beam")}
_CHANGED = ", changed after a result was seen"
_WEAKER = "_quarter"  # ends the names of its runs that are a quarter as strong


def of_smoothing(report: Reported, main: Sequence[MainClaim], rows: Overview | None) -> Finding | None:
    """What its paper's own runs say, and the table of all objectives, `rows`, of what is better by it."""
    of = next((of for of in main if of.paper == _SMOOTHING), None)
    if of is None:
        return None
    line, summary = of.claim.deciding, report.papers[of.paper]
    kinds = [claim for claim in summary.claims if claim.id in _KINDS and claim.deciding.difference]
    alike = [*(claim for claim in kinds if _is_compared_alike(claim.deciding, line)), of.claim]
    compared = [
        f"{claim.deciding.sides.partition(' against ')[0]} {numbers(claim.deciding)}"
        + f", *{_verdict(claim)}*" * (claim is not of.claim)
        for claim in alike
    ]
    others = [claim for claim in summary.claims if claim.id in _ELSEWHERE and claim.deciding.difference]
    what, against = line.what.partition(": ")[0], line.sides.partition(" against ")[2]
    runs = f"In our runs{_after(report.folder / of.paper, line)}"
    numbers_here = f"{', '.join(compared)}, *{of.claim.words}*{_by_greedy(of.claim)}"
    details = [
        _on_other_data(report, alike),
        *_asked_elsewhere(others),
        "Other strengths are the paper's or its authors' code's; none was chosen on val.",
    ]
    held = [
        f"{claim.id}, {_ELSEWHERE.get(claim.id, claim.sentence)}{_CHANGED * claim.changed}"
        for claim in summary.claims
        if claim.verdict == HOLDS and not claim.control
    ]
    holds = f"of its paper's claims holds {'; '.join(held)}" if held else ""
    found = filter(None, [_helps(alike, summary), _harms_there(report, alike), holds])
    answer = "; ".join(found) or f"of its paper's claims {fared(summary.claims)}"
    caveat = f"{runs}, {shortly(what)}, against {against}: {numbers_here}."
    caveats = " ".join(
        filter(
            None,
            [
                caveat,
                _otherwise(alike, _MEASURES),
                _of_weaker_runs(summary),
                _on_one_captioner(rows),
            ],
        )
    )
    return Finding("Loss smoothing", answer, caveats, " ".join(filter(None, details)))


def _on_one_captioner(rows: Overview | None) -> str:
    """In what its losses are clearly better or worse than cross-entropy in the table of all objectives."""
    base = rows.baseline if rows else None
    if rows is None or base is None:
        return ""
    better, worse = dict[str, list[str]](), dict[str, list[str]]()
    for row in (row for row in rows.objectives if row.paper == _SMOOTHING):
        for column in (CIDER, TRUTH, DIVERSITY, SAMPLES):
            if rows.is_ahead(row, base, column):
                better.setdefault(column, []).append(row.label)
            if rows.is_ahead(base, row, column):
                worse.setdefault(column, []).append(row.label)
    told = [f"clearly {how} in {_by_column(of)}" for how, of in {"better": better, "worse": worse}.items() if of]
    return f"On [one captioner](#all-objectives-on-one-captioner) {', '.join(told)}." if told else ""


def _by_column(labels: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{column}: {', '.join(of_column)}" for column, of_column in labels.items())


def _helps(claims: Sequence[Claim], summary: Summary) -> str:
    """The answer to whether smoothing helps, where its kinds have one; "" else."""
    verdicts = {claim.verdict for claim in claims}
    if verdicts == {REVERSED}:
        told = "it harms"
    elif verdicts == {HOLDS}:
        told = "it helps"
    elif HOLDS not in verdicts:
        told = "no kind of it is shown to help"
    else:
        return ""
    with_attention = next((claim for claim in summary.claims if claim.id == _WITH_ATTENTION), None)
    more = ""
    if told.startswith("no") and with_attention is not None and with_attention.verdict not in (HOLDS, NOT_RUN):
        more = ", nor Tok-Seq with attention"
    return f"by CIDEr, at the strength of the paper's formulas, {told} captions without attention{more}"


def _greedy_there(report: Reported, claim: Claim, data: str) -> str:
    """ " (greedy -11.1 [-14.5, -7.6])": what of a claim's difference there is on other data without a beam."""
    greedy = own_runs.by_greedy(claim)
    line = own_runs.on_other_data(greedy, report.published[data]) if greedy else None
    return f" (greedy {numbers(line)})" if line else ""


def _harms_there(report: Reported, claims: Sequence[Claim]) -> str:
    """On which other data all of these comparisons are reversed."""
    verdicts = dict[str, list[bool]]()
    for claim in claims:
        for data, there in report.elsewhere(_SMOOTHING, claim).items():
            verdicts.setdefault(data, []).append(there.words.startswith(read(REVERSED)))
    told = [data for data, reversed_ in verdicts.items() if len(reversed_) == len(claims) and all(reversed_)]
    return f"on {' and '.join(told)} all that was tried harms" if told else ""


def _otherwise(
    claims: Sequence[Claim], by_what: Mapping[str, tuple[str, str]], elsewhere: Mapping[str, Summary] | None = None
) -> str:
    """What the comparisons that decide claims are by another metric, or of other captions: words -> both. `elsewhere`:
    the results on other data that these are of."""
    told = []
    for words, (metric, captions) in by_what.items():
        found = [own_runs.otherwise(claim, metric, captions) for claim in claims]
        if elsewhere is not None:
            found = [line and own_runs.on_other_data(line, elsewhere) for line in found]
        differences = [f"{_loss(line)} {numbers(line)}" for line in found if line is not None]
        told += [f"{words}: {', '.join(differences)}"] if differences else []
    return f"{'. '.join(told)} (details)." if told else ""


def _loss(line: Line) -> str:
    """What is compared with likelihood, without what it samples by."""
    return line.sides.partition(" against ")[0].partition(" | ")[0]


def _of_weaker_runs(summary: Summary) -> str:
    """What runs a quarter as strong say of the same comparisons."""
    lines = [line for claim in summary.claims for line in claim.lines if line.difference and _is_weaker(line)]
    if not lines:
        return ""
    seeds = min(number for line in lines for number in line.seeds)
    return f"A quarter as strong ({seeds} seeds, added later, without a verdict), {_by_side(lines)}."


def _is_weaker(line: Line) -> bool:
    return line.key[2] == "beam" and line.key[3].endswith(_WEAKER)


def _by_side(lines: Sequence[Line]) -> str:
    """ "behind MLE: Tok-Seq -14.6 [-22.3, -6.9], not told apart from MLE: Tok -0.9 [-3.9, 2.0]"."""
    words = {1: "ahead of MLE", -1: "behind MLE", 0: "not told apart from MLE"}
    parts = []
    for side, said in words.items():
        told = [f"{line.sides.partition(', ')[0]} {numbers(line)}" for line in lines if line.side == side]
        parts += [f"{said}: {', '.join(told)}"] if told else []
    return ", ".join(parts)


def _asked_elsewhere(claims: Sequence[Claim]) -> list[str]:
    """What claims of other captioners or tasks say: those that hold, and the main one with attention."""
    return [
        f"{capital(_ELSEWHERE[claim.id])}: {numbers(claim.deciding)}, *{_verdict(claim)}* ({link(_SMOOTHING, claim)}"
        f"{_CHANGED * claim.changed}{_from_german(claim)})."
        for claim in claims
        if claim.verdict == HOLDS or claim.id == _WITH_ATTENTION
    ]


def _verdict(claim: Claim) -> str:
    """With why nothing can be told where an interval is clear of 0."""
    is_open = claim.verdict not in DECIDED and claim.deciding.side
    return claim.words if is_open else _marked(claim)


def _marked(claim: Claim) -> str:
    return read(claim.verdict) + f" {DAGGER}" * (DAGGER in claim.words)


def _on_other_data(report: Reported, claims: Sequence[Claim]) -> str:
    """What the same comparisons say on photographs; "" where none was made there."""
    told = dict[str, list[str]]()
    for claim in claims:
        for data, there in report.elsewhere(_SMOOTHING, claim).items():
            loss = _loss(claim.deciding) or claim.id
            greedy = _greedy_there(report, claim, data) if claim is claims[-1] else ""
            told.setdefault(data, []).append(f"{loss} {numbers(there.line)}, *{there.words}*{greedy}")
    by_data = {data: _otherwise(claims, _MEASURES, report.published[data]) for data in told}
    return " ".join(f"The same on {data}: {', '.join(parts)}. {by_data[data]}".rstrip() for data, parts in told.items())


def _from_german(claim: Claim) -> str:
    """What the same loss gains in the other translation, where a claim of one language has it as a detail."""
    line = next((line for line in claim.lines if line.key[3:5] == _GERMAN and line.difference), None)
    if line is None or claim.deciding.key[3:5] == _GERMAN or claim.verdict != HOLDS:
        return ""
    seeds = "one seed" if min(line.seeds) == 1 else f"{min(line.seeds)} seeds"
    return f"; from German {numbers(line)}, {seeds}"


def _is_compared_alike(line: Line, other: Line) -> bool:
    """Whether two comparisons differ in their left sides alone."""
    of_what, of_other = (compared.what.partition(": ")[0] for compared in (line, other))
    return of_what == of_other and line.key[1:3] == other.key[1:3] and line.key[4:] == other.key[4:]


def _by_greedy(claim: Claim) -> str:
    """ " (greedy -1.2 [-2.3, -0.1]: most is the beam's)": what is left of a difference where no beam is searched."""
    line, greedy = claim.deciding, own_runs.by_greedy(claim)
    if greedy is None:
        return ""
    left = float(greedy.difference) / float(line.difference) if float(line.difference) else 1.0
    of_beam = ": most is the beam's here" if left < _MOST else ""
    return f" (greedy {numbers(greedy)}{of_beam})"


def of_studies(report: Reported) -> list[str]:
    """What each study of ours says of its questions; of one whose captions have unknown words, that alone."""
    told = []
    for folder, summary in report.studies.items():
        page, title = report.page(folder), report.named_study(summary, summary.said["title"])
        claims = [
            f"*{capital(claim.words)}*: {claim.sentence} ({claim.deciding.metric} {numbers(claim.deciding)})"
            for claim in summary.claims
        ]
        said = unknown_words.in_words(folder) or "; ".join(claims)
        told.append(f"**{f'[{title}]({page})' if page else title}.** {capital(said)}.")
    return told


def _after(folder: Path, line: Line) -> str:
    """ ", after 8,960 updates": of the runs of a comparison."""
    number = updates(folder, line.left)
    return f", after {number:,} updates" if number else ""
