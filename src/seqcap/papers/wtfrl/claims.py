"""WTF-RL's claims and our controls, how much of the gain in recall a judge confirms, what stands in for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seqcap.papers.wtfrl.rows import (
    ALONE,
    COLUMNS,
    DISCRIMINATOR,
    GRAMMAR,
    LONGER,
    PRINTED,
    QUALITY,
    RECALLS,
    RL,
    ROW,
    TF,
    UNIDIRECTIONAL,
    WTF,
    WTF_RL,
    by_judge,
    measure,
    of_table,
)
from seqcap.report import published
from seqcap.report.claims import Claim, Printed, Result
from seqcap.report.inputs import Run
from seqcap.report.tables import Measure, gain

METRICS = {
    "CIDEr_beam": measure("CIDEr"),
    "SPICE_beam": measure("SPICE"),
    "Self-BLEU_beam": measure("Self-BLEU"),
    "R@1_own": measure("T2I R@1"),
    "R@10_own": measure("T2I R@10"),
    "text_R@10_own": measure("I2T R@10"),
    "R@10_judge": by_judge("T2I R@10"),
    "text_R@10_judge": by_judge("I2T R@10"),
    "xe_log_prob": Measure("beam", "xe_log_prob"),
}

# --- Claims

_TEXT_TO_IMAGE, _IMAGE_TO_TEXT = (
    tuple(column for column in RECALLS if column.startswith(way)) for way in ("T2I", "I2T")
)
# How the columns of recall, and the retrievers by the first word of a metric, are called in claims.
_WAYS = {"T2I": "text-to-image", "I2T": "image-to-text"}
_RETRIEVERS = {"own": "the reward's retriever", "fixed": "the judge"}


@dataclass(frozen=True)
class Found(Claim):
    """A claim about recall among one caption of each image.

    Attributes:
        column: of Table 1. The metric says by which retriever it is.
    """

    column: str = ""

    def what(self, run: Run) -> str:
        way, at = self.column.split()
        return f"{_WAYS[way]} {at} by {_RETRIEVERS[self.metric.partition('_')[0]]}, best beam {self._caption(run)}"


def claims(run: Run) -> list[Claim]:
    """What the paper claims of its rows, and then what it does not test."""
    of_direction = "A reward of both directions (RL) is found more often than one of image to text"
    greedy = "SCST - Discriminator, whose only negative is the greedy caption,"
    return [
        *_of_table("D1", "RL is found more often than TF", RECALLS, RL, TF),
        *_of_table("D1", "RL costs CIDEr against TF", ("CIDEr",), RL, TF),
        *_of_table("D2", "WTF beats TF in recall, writing quality and Self-BLEU", tuple(COLUMNS), WTF, TF),
        *_of_table("D3", "WTF-RL lies between TF and RL in CIDEr", ("CIDEr",), WTF_RL, TF),
        *_of_table("D3", "WTF-RL lies between TF and RL in CIDEr", ("CIDEr",), WTF_RL, RL),
        *_of_table("D4", "WTF-RL is found slightly less often than RL", RECALLS, WTF_RL, RL),
        *_of_table("D5", of_direction, _TEXT_TO_IMAGE, RL, UNIDIRECTIONAL),
        *_of_table("D6", f"{of_direction}, hardly where images find captions", _IMAGE_TO_TEXT, RL, UNIDIRECTIONAL),
        *_of_table(
            "D7",
            "A discriminator beats a grammar head in recall and Self-BLEU (SCST)",
            (*RECALLS, "Self-BLEU"),
            DISCRIMINATOR,
            GRAMMAR,
        ),
        *_of_table("D8", f"{greedy} is found more often than RL - Unidirectional", RECALLS, *_GREEDY),
        *_of_table("D8", f"{greedy} writes worse than RL - Unidirectional", QUALITY, *_GREEDY),
        *(
            claim
            for name in PRINTED
            if name != WTF_RL
            for claim in _of_table("D9", "WTF-RL repeats itself least (Self-BLEU)", ("Self-BLEU",), WTF_RL, name)
        ),
        *_controls(),
    ]


_GREEDY = (DISCRIMINATOR, UNIDIRECTIONAL)


def _of_table(number: str, text: str, columns: Sequence[str], left: str, right: str) -> Iterator[Claim]:
    """Two rows of Table 1 in some of its columns; who is ahead is as printed."""
    for column in columns:
        printed = Printed("wtfrl", "table1", column, (ROW[left], ROW[right]))
        yield _claim(number, text, column, measure(column), left, right, _sign(column, left, right), printed)


def _controls() -> Iterator[Claim]:
    """What the paper does not test: longer training, no regularisation, and recall by another retriever."""
    for column in (*RECALLS, "CIDEr"):
        text = "Control, not the paper's: WTF beats TF that is trained for as many steps more"
        yield _claim("D10", text, column, measure(column), WTF, LONGER, _sign(column, WTF, TF))
    for column in (*RECALLS, "CIDEr"):
        what = "loses CIDEr" if column == "CIDEr" else "is found more often by what pays it"
        text = f"Control, not the paper's: without regularisation RL {what}"
        yield _claim("D11", text, column, measure(column), ALONE, RL, -1 if column == "CIDEr" else +1)
    for left, right in ((RL, TF), (WTF, TF), (RL, UNIDIRECTIONAL)):
        for column in RECALLS:
            text = f"Control, not the paper's: {ROW[left]} is found more often than {ROW[right]} by the judge, too"
            yield _claim("D12", text, column, by_judge(column), left, right, _sign(column, left, right))


def _sign(column: str, left: str, right: str) -> int:
    """Who is higher in print."""
    one, other = (published.published_value("wtfrl", "table1", ROW[name], column) for name in (left, right))
    return 1 if one > other else -1


def _claim(
    number: str,
    text: str,
    column: str,
    of: Measure,
    left: str,
    right: str,
    direction: int,
    printed: Printed | None = None,
) -> Claim:
    values = (number, text, of.metric, of.decoder, of.captions, left, right, direction, printed)
    return Found(*values, column=column) if column in RECALLS else Claim(*values)


HEADLINES = frozenset(
    (number, of.metric, of.decoder)
    for number, of in (
        ("D1", measure("T2I R@10")),
        ("D1", measure("CIDEr")),
        ("D2", measure("T2I R@10")),
        ("D2", measure("CIDEr")),
        ("D3", measure("CIDEr")),
        ("D4", measure("T2I R@10")),
        ("D5", measure("T2I R@1")),
        ("D6", measure("I2T R@1")),
        ("D7", measure("T2I R@10")),
        ("D8", measure("T2I R@10")),
        ("D8", measure("CIDEr")),
        ("D10", measure("T2I R@10")),
        ("D11", measure("T2I R@10")),
        ("D11", measure("CIDEr")),
        ("D12", by_judge("T2I R@10")),
    )
)


# --- What stands for what


def stand_ins(run: Run) -> list[tuple[str, str]]:
    """What stands in for what, apart from the data."""
    names = " and ".join(f"`{captioner}`" for captioner in run.captioners)
    return [
        ("OFA-tiny, a pretrained encoder-decoder Transformer", f"captioner {names} of params.yaml, from scratch"),
        (
            "CLIP ViT-B/32, which pays the captioner and measures recall",
            "retriever `reward` of params.yaml, which does the same; and `judge`, which measures alone",
        ),
        (
            "BLEU, ROUGE-L, CIDEr, METEOR and SPICE of the official COCO code",
            "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
        ),
        ("Self-BLEU of 1,000 captions, words by NLTK", "the same formula, words by this project's tokenizer"),
    ]


# --- Remarks


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    """How much of the gain in recall the judge confirms, what alpha really weighs, how long runs were trained, and
    among how many images recall is."""
    return [*_confirmed(run), *_weighed(run), *_steps(run), *_among(run)]


def _confirmed(run: Run) -> list[str]:
    """The gain in recall over TF by the retriever that pays, and by the judge."""
    found = []
    for entry in of_table(run):
        if entry.name == TF:
            continue
        paid, judged = (
            gain(run, entry.name, TF, of.decoder, of.metric, of.captions)
            for of in (measure("T2I R@10"), by_judge("T2I R@10"))
        )
        if paid.value is None or judged.value is None:
            continue
        words = f"{entry.label} {paid.signed(100, 1)} and {judged.signed(100, 1)}"
        # A share of what may be nothing is none.
        found.append(f"{words} ({judged.value / paid.value:.0%})" if (paid.low or 0.0) > 0 else words)
    if not found:
        return []
    return [
        "*A hacked reward?* What text-to-image R@10 gains over TF, by the retriever that pays and by the judge, which "
        f"no objective has seen: {'; '.join(found)}. In brackets, the share that the judge confirms. What it does not "
        "confirm is a gain in the eyes of the reward alone."
    ]


def _weighed(run: Run) -> list[str]:
    """How much both parts of the reward vary when the captioner begins to learn: that, not alpha, is their weight."""
    found = []
    for entry in of_table(run):
        mine = run.curves[run.curves["variant"] == entry.name]
        # While a partner learns alone, nothing is said of the captioner's entropy.
        begun = mine.loc[mine["quantity"] == "beam_entropy", "step"]
        first = mine[mine["step"] == begun.min()].groupby("quantity")["value"].mean()
        if {"beam_similarity_std", "beam_regular_std"} <= set(first.index):
            found.append(f"{entry.label}: {first['beam_similarity_std']:.3g} and {first['beam_regular_std']:.3g}")
    if not found:
        return []
    return [
        "*What alpha weighs.* Standard deviations, over a batch, of the weighed similarity and of the weighed "
        f"regularisation in the reward of the beam's captions, when the captioner begins to learn. {'; '.join(found)}. "
        "The part that varies more decides which captions are reinforced."
    ]


def _steps(run: Run) -> list[str]:
    """How many steps each captioner learned for after TF, and how many a partner learned for before it."""
    learned = _learned(run)
    if not learned:
        return []
    words = f"*Steps.* After TF, so many steps in which the captioner learns: {_by_number(learned)}."
    alone = {name: _alone(run, name) for name in learned if _alone(run, name)}
    if alone:
        words += f" Before them a discriminator or grammar head learned alone: {_by_number(alone)}."
    if {WTF, LONGER} <= set(learned):
        mine, other = learned[WTF], learned[LONGER]
        words += f" D10 compares {'equally many steps' if mine == other else f'{mine:,} steps with {other:,}'}."
    words += " The last epoch's weights are kept, of TF the best epoch's on val."
    # RL may need a smaller one.
    rates = {entry.name: entry.learning_rate for entry in of_table(run) if entry.name in learned}
    if len(set(rates.values())) > 1:
        words += f" Learning rates differ: {_by_number(rates)}."
    return [words]


def _by_number(numbers: Mapping[str, float]) -> str:
    """Runs by their number of steps or the like, the most first. Labels have commas of their own."""
    names: dict[float, list[str]] = {}
    for name, number in sorted(numbers.items(), key=lambda pair: -pair[1]):
        names.setdefault(number, []).append(f"`{name}`")
    return "; ".join(f"{number:,}: {', '.join(of)}" for number, of in names.items())


def _learned(run: Run) -> dict[str, int]:
    """Run -> in how many steps its captioner learned, from its learning curve; runs without any are left out."""
    last = run.curves.groupby("variant")["step"].max()
    steps = {entry.name: int(last.get(entry.name, 0)) - _alone(run, entry.name) for entry in of_table(run)}
    return {name: number for name, number in steps.items() if number > 0}


def _alone(run: Run, name: str) -> int:
    """In how many first steps the captioner does not learn."""
    settings = run.by_name[name].settings
    return int(settings.get("pretraining_steps", settings.get("tuning_steps", 0)))


def _among(run: Run) -> list[str]:
    """Among how many images recall is, here and, by its digits, in print."""
    by_run = (run.scores.per_item(entry.name, "beam", "own_R@1", "best") for entry in of_table(run))
    scored = next((scores for scores in by_run if scores is not None), None)
    table = published.published_table("wtfrl", "table1")
    printed = table.loc[table["column"].isin(RECALLS), "value"] / 100 * _TEST_IMAGES
    whole = int((abs(printed - printed.round()) < 1e-6).sum())
    if scored is None:
        return []
    return [
        f"*Among how many.* Recall is among {len(scored):,} images here. The paper does not say among how many: "
        f"{whole} of its {len(printed)} recalls are whole numbers of {_TEST_IMAGES:,} images, COCO's test split. Only "
        "among as many can levels be compared."
    ]


_TEST_IMAGES = 5000
