"""PG-SPIDEr's claims, how long each policy was trained, what this run says about the gradient's variance, and what
stands in for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seqcap.papers.spider.rows import COLUMNS, ROWS
from seqcap.papers.spider.variance import in_words, read_variance
from seqcap.report.claims import Claim, Printed, Result
from seqcap.report.inputs import Run
from seqcap.report.tables import Measure

# Run -> the reward it is paid.
_PAID = {"pg_bleu4": "bleu4", "pg_cider": "cider", "pg_bcmr": "bcmr", "pg_spider": "spider", "pg_spice": "spice"}

_RAISES = "Policy gradient raises the reward it is paid for over MLE"

_ROW = {name: row for row, (name, _) in ROWS["table1"].items()}
_COLUMN = {metric: column for column, (metric, _) in COLUMNS.items()}


def _table1(number: str, text: str, metric: str, left: str, right: str, direction: int = +1) -> Claim:
    """A claim about the best beam caption, Table 1."""
    printed = Printed("spider", "table1", _COLUMN[metric], (_ROW[left], _ROW[right]))
    return Claim(number, text, metric, "beam", "best", left, right, direction, printed)


def _judged(left: str, right: str) -> Claim:
    """A claim about people's preference, Figure 3, by the stand-in for their judgement."""
    text = f"People prefer {_ROW[left]} to {_ROW[right]} (stand-in: captions saying only what is true)"
    printed = Printed("spider", "fig3", "% not bad", (_ROW[left], _ROW[right]))
    return Claim("S6", text, "all_true", "beam", "best", left, right, +1, printed)


def _style(text: str, metric: str, decoder: str, left: str, right: str, direction: int) -> Claim:
    return Claim("S5", text, metric, decoder, "best", left, right, direction)


_CLAIMS = [
    # Greedy captions are the policy's own; a beam looks for others.
    *(Claim("S1", _RAISES, f"reward_{reward}", "greedy", "best", name, "mle", +1) for name, reward in _PAID.items()),
    *(
        _table1("S2", "PG-BCMR beats MIXER-BCMR", metric, "pg_bcmr", "mixer_bcmr")
        for metric in ("CIDEr", "METEOR", "ROUGE_L", "BLEU4")
    ),
    _table1("S2", "PG-BCMR beats MIXER-BCMR-A", "CIDEr", "pg_bcmr", "mixer_bcmr_a"),
    # METEOR is left out: the paper prints .251 for both.
    *(
        _table1("S3", "PG-SPIDEr beats MLE on the metrics of Table 1", metric, "pg_spider", "mle")
        for metric in ("CIDEr", "ROUGE_L", "BLEU1", "BLEU2", "BLEU3", "BLEU4")
    ),
    _table1("S4", "MIXER-BCMR does not gain CIDEr over MLE", "CIDEr", "mixer_bcmr", "mle", -1),
    *(
        _style("PG-SPICE rambles", metric, decoder, "pg_spice", "mle", +1)
        for metric in ("words", "seq-rep-2")
        for decoder in ("greedy", "beam")
    ),
    *(
        _style("PG-SPIDEr does not ramble as PG-SPICE does", metric, decoder, "pg_spider", "pg_spice", -1)
        for metric in ("words", "seq-rep-2")
        for decoder in ("greedy", "beam")
    ),
    _judged("pg_spider", "mle"),
    _judged("pg_bcmr", "mle"),
    _judged("pg_spider", "pg_bcmr"),
]

# What a policy of PG-SPIDEr that was trained to its plateau would be worth.
_OF_PLATEAU = ("S3", "S6")


def claims(run: Run) -> list[Claim]:
    """The paper's claims. PG-SPIDEr's rank is not tested where it had fewer updates than the other policies: they gain
    long after."""
    updates = _updates(run)
    ours, most = updates.get("pg_spider", 0), max((updates.get(name, 0) for name in _PAID), default=0)
    if not 0 < ours < most:
        return _CLAIMS
    reason = f"PG-SPIDEr was trained for {ours:,} steps, other policies, which gain until late, for {most:,}"
    return [
        replace(claim, untestable=reason)
        if claim.number in _OF_PLATEAU and "pg_spider" in (claim.left, claim.right)
        else claim
        for claim in _CLAIMS
    ]


HEADLINES = frozenset(
    {
        *(("S1", f"reward_{reward}", "greedy") for reward in _PAID.values()),
        ("S2", "CIDEr", "beam"),
        ("S3", "CIDEr", "beam"),
        ("S5", "words", "beam"),
        ("S5", "seq-rep-2", "beam"),
        ("S6", "all_true", "beam"),
    }
)


METRICS = {
    "CIDEr_beam": Measure("beam", "CIDEr"),
    "BLEU4_beam": Measure("beam", "BLEU4"),
    "SPICE_beam": Measure("beam", "SPICE"),
    "all_true_beam": Measure("beam", "all_true"),
    "words_beam": Measure("beam", "words"),
    "seq-rep-2_beam": Measure("beam", "seq-rep-2"),
}


def stand_ins(run: Run) -> list[tuple[str, str]]:
    """What stands in for what, apart from the data."""
    names = " and ".join(f"`{captioner}`" for captioner in run.captioners)
    judged = "a checker's share of captions whose every statement is true of the scene"
    return [
        ("LSTM of 512 units on Inception-V3", f"captioner {names} of params.yaml on its visual features"),
        (
            "metrics of COCO's evaluation server; SPICE of the official code as a reward",
            "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own, as a "
            "reward, too",
        ),
        (
            "people's judgement of captions of 492 images, % not bad (Figure 3)",
            judged if run.knows_facts else "not measured: only generated scenes know their own facts",
        ),
    ]


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    """How long each run was trained, and what rollouts and the baseline do to the gradient's variance."""
    words = in_words(read_variance(run))
    return [*_told(run), *([words] if words else [])]


def _updates(run: Run) -> dict[str, int]:
    """Run -> the number of its updates, from its learning curve; runs without any are left out."""
    steps = run.curves.groupby("variant")["step"].max()
    updates = {entry.name: int(steps.get(entry.name, 0)) for entry in run.trained}
    return {name: number for name, number in updates.items() if number}


def _told(run: Run) -> list[str]:
    """The number of updates of every policy, and whether MIXER and the policy gradient have equally many."""
    trained = _updates(run)
    if not trained:
        return []
    by_number: dict[int, list[str]] = {}
    for name, number in sorted(trained.items(), key=lambda pair: -pair[1]):
        by_number.setdefault(number, []).append(run.by_name[name].label)
    shown = "; ".join(f"{number:,}: {', '.join(labels)}" for number, labels in by_number.items())
    words = f"*Updates.* After MLE, so many steps of training: {shown}."
    policy, mixer = trained.get("pg_bcmr"), trained.get("mixer_bcmr")
    if policy and mixer:
        equal = "equally many updates" if policy == mixer else f"{policy:,} against {mixer:,}"
        words += f" S2 compares PG-BCMR with MIXER-BCMR after {equal}."
    return [f"{words} The weights that are kept are the best on val, which may be earlier."]
