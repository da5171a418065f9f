"""PSST's claims, where they are tested, how far the language drifts, what stands in for what, and contradictions in the
paper's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seqcap.metrics import registry
from seqcap.papers.psst.estimators import in_words, read_estimates
from seqcap.papers.psst.methods import (
    ANNEALED,
    FEEDBACK,
    FROZEN_LUO,
    FROZEN_MLE,
    LUO,
    OTHER_RHO,
    PSST,
    PSST_GUMBEL,
    REINFORCE,
    ST,
    ST_GUMBEL,
    by_rho,
    curve,
)
from seqcap.papers.psst.points import PLACES
from seqcap.papers.psst.raters import CHOICE, ENGLISH, accuracy, better_english
from seqcap.papers.psst.rows import COLUMNS, LANGUAGE, PEOPLE_OURS, PEOPLE_THEIRS, RECALL, heard, row_of
from seqcap.papers.psst.tables import side_of
from seqcap.rating import KEY_FILE, PAGE, kit_folder
from seqcap.rating.key import read_key
from seqcap.report import REPORTS, published, statistics
from seqcap.report.claims import Claim, Made, Printed, Result
from seqcap.report.inputs import Run
from seqcap.report.statistics import Drawn
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import Curve, Reading, difference

METRICS = {
    "CIDEr_greedy": LANGUAGE["CIDEr"],
    "SPICE_greedy": LANGUAGE["SPICE"],
    "R@1_own": RECALL["R@1"],
    "R@10_own": RECALL["R@10"],
    "R@10_judge": Measure("greedy", "fixed_R@10"),
    "alone": Measure("greedy", "alone"),
    "bits": Measure("greedy", "bits"),
    "xe_log_prob": Measure("greedy", "xe_log_prob"),
}

_JUDGE = ("fixed_R@10", "bits")


# --- Claims


def claims(run: Run) -> list[Claim]:
    """What the paper claims of its methods, each at the operating point where it does."""
    return [
        *_of_table(
            run, "P1", "At equal CIDEr, PSST tells pictures apart better than straight-through", "table2", PSST, ST
        ),
        *_of_table(
            run, "P1", "At equal CIDEr, PSST tells pictures apart better than straight-through", "table2", *_GUMBEL
        ),
        *_of_table(run, "P2", "At equal recall, PSST is more natural than straight-through", "table1", PSST, ST),
        *_of_table(run, "P2", "At equal recall, PSST is more natural than straight-through", "table1", *_GUMBEL),
        *_of_table(
            run, "P3", "PSST with multinomial samples beats PSST with Gumbel-softmax", "table2", PSST, PSST_GUMBEL
        ),
        *_of_table(
            run, "P3", "Straight-through with multinomial samples beats it with Gumbel-softmax", "table2", ST, ST_GUMBEL
        ),
        *_of_table(run, "P4", "PSST beats joint REINFORCE", "table2", PSST, REINFORCE),
        *_of_table(run, "P4", "PSST beats joint REINFORCE", "table1", PSST, REINFORCE, "CIDEr"),
        *_of_table(run, "P5", "PSST beats a fixed listener (Luo et al.)", "table2", PSST, LUO),
        *_of_table(run, "P6", "Training both beats training the listener alone", "table3", REINFORCE, FROZEN_LUO),
        *_of_table(run, "P6", "Training both beats training the listener alone", "table3", PSST, FROZEN_LUO),
        *_of_table(run, "P7", "Joint REINFORCE beats a fixed listener (Luo et al.)", "table2", REINFORCE, LUO),
        *_of_table(run, "P8", "A listener that learns to understand a fixed speaker helps", "table3", FROZEN_LUO, LUO),
        *_of_table(
            run, "P8", "A discriminative speaker is understood better", "table3", FROZEN_LUO, FROZEN_MLE, "R@10"
        ),
        *_of_table(run, "P9", "Annealing the temperature is worse than a constant one", "table2", ANNEALED, ST_GUMBEL),
        *_of_rho(run),
        *_of_listeners(run),
        *_of_raters(run),
        *_of_table(run, "P13", "At equal recall on a second domain, PSST beats ST", "table4", PSST, ST, "CIDEr"),
        *_of_table(
            run, "P13", "At equal recall on a second domain, PSST beats REINFORCE", "table4", PSST, REINFORCE, "CIDEr"
        ),
        *_without_own_listener(run),
    ]


_GUMBEL = (PSST_GUMBEL, ST_GUMBEL)


def _of_table(run: Run, number: str, text: str, table: str, left: str, right: str, *columns: str) -> Iterator[Claim]:
    """Two rows of a table at its operating point, in some of its columns or in all; who is ahead is as printed."""
    place = PLACES[table]
    for column in columns or COLUMNS[table]:
        measure = COLUMNS[table][column]
        rows = (row_of(left, table), row_of(right, table))
        printed = Printed("psst", table, column, rows)
        one, other = (published.published_value("psst", table, row, column) for row in rows)
        of = f"at equal {registry.find(place.metric).label} ({place.name})"
        left_side, right_side = (side_of(run, table, row, measure) for row in rows)
        made = Made((left_side, right_side), of)
        yield _claim(number, text, measure, left, right, made, printed, 1 if one > other else -1)


def _claim(
    number: str,
    text: str,
    measure: Measure,
    left: str,
    right: str,
    made: Made,
    printed: Printed | None = None,
    direction: int = +1,
) -> Claim:
    where = (measure.metric, measure.decoder, measure.captions)
    return Claim(number, text, *where, left, right, direction, printed, made=made)


def _of_rho(run: Run) -> Iterator[Claim]:
    """Figure 3f, which prints no numbers: the printed rho against both ends."""
    place, measure = PLACES["fig3f"], RECALL["R@10"]
    point = place.point(run)
    for name, rhos in by_rho(run).items():
        label = f"PSST {name}"
        for end, what in ((0.0, f"ST {name}{FEEDBACK}"), (1.0, f"{label}, rho 1")):
            inner, outer = (
                Reading(rhos.get(rho, Curve(of)), measure, point) for rho, of in ((0.25, label), (end, what))
            )
            made = Made((inner, outer), f"at equal CIDEr ({place.name})")
            yield _claim("P10", "An inner rho (.25) beats both ends", measure, label, what, made)


def _of_listeners(run: Run) -> Iterator[Claim]:
    """Whose captions a listener that was trained jointly understands."""
    place, judge = PLACES["table3"], "the judge"
    for k in (1, 10):
        own, fixed = (
            Reading(curve(run, PSST), Measure("greedy", f"{who}_R@{k}"), place.point(run)) for who in ("own", "fixed")
        )
        text = "PSST's listener understands its speaker better than a listener of people's captions does"
        made = Made((own, fixed), f"against the judge's, at equal CIDEr ({place.name})")
        yield _claim("P11", text, own.measure, f"{PSST} listener", judge, made)
    for column, measure in RECALL.items():
        text = "A listener of people's captions understands people better than PSST's does"
        rows = (PEOPLE_THEIRS, PEOPLE_OURS)
        theirs, ours = (side_of(run, "table3", row, measure) for row in rows)
        made = Made((theirs, ours), f"of people's captions ({place.name})")
        printed = Printed("psst", "table3", column, rows)
        yield _claim("P11", text, heard(measure), *rows, made, printed)


def _of_raters(run: Run) -> Iterator[Claim]:
    """Table 5, with automatic raters in place of people."""
    for other in (ST, LUO):
        rows = (row_of(PSST, "table5"), row_of(other, "table5"))
        made = Made((accuracy(run, rows[0]), accuracy(run, rows[1])), "at equal CIDEr (Table 5)")
        text = "PSST's captions are the most accurate (automatic rater)"
        yield _claim("P12", text, CHOICE, PSST, other, made, Printed("psst", "table5", "Accuracy", rows))
    measure = Measure("greedy", ENGLISH)
    for method, text, direction in (
        (PSST, "PSST's captions are better English than ST's (automatic raters)", +1),
        (LUO, "Luo et al.'s captions are worse English than ST's (automatic raters)", -1),
    ):
        rows = (row_of(method, "table5"), row_of(ST, "table5"))
        made = Made(better_english(run, rows[0]), "at equal recall (Table 5)")
        printed = Printed("psst", "table5", "Naturalness_vs_ST_Multinomial", rows)
        yield _claim("P12", text, measure, method, ST, made, printed, direction)


def _without_own_listener(run: Run) -> Iterator[Claim]:
    """P1 by measures that no run was trained for, which the paper does not have."""
    place = PLACES["table2"]
    for metric in _JUDGE:
        measure = Measure("greedy", metric)
        text = "At equal CIDEr, PSST tells pictures apart better than straight-through, by others than its own listener"
        ours, theirs = (side_of(run, "table2", method, measure) for method in (PSST, ST))
        yield _claim("P14", text, measure, PSST, ST, Made((ours, theirs), f"at equal CIDEr ({place.name})"))


HEADLINES = frozenset(
    {
        *((number, "own_R@10", "greedy") for number in ("P1", "P4", "P5", "P6", "P7", "P10", "P11")),
        ("P2", "CIDEr", "greedy"),
        ("P11", "own_R@10", "sample"),
        ("P12", CHOICE.metric, "greedy"),
        *(("P14", metric, "greedy") for metric in _JUDGE),
    }
)


# --- What stands for what


def stand_ins(run: Run) -> list[tuple[str, str]]:
    """What stands in for what, apart from the data."""
    names = " and ".join(f"`{captioner}`" for captioner in run.captioners)
    return [
        (
            "a speaker with attention (att2in) on bottom-up features",
            f"captioner {names} of params.yaml on its features",
        ),
        (
            "a listener on ResNet-101: pictures to 1,024 numbers, captions by a GRU of 1,024",
            "retriever `listener` of params.yaml on the captioner's pooled features",
        ),
        (
            "CIDEr, BLEU, METEOR, ROUGE-L and SPICE of the official COCO code",
            "the metrics of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
        ),
        ("people: 300 images, five raters (Table 5)", "automatic raters: a retriever, a checker and a language model"),
    ]


# --- Remarks


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    """Where methods are compared, the two readings of rho, how far the language drifts, how noisy and biased gradients
    are, and a page for people."""
    return [*_points(run), *_other_rho(run), *_drift(run), *_gradients(run), *_page(run)]


def _points(run: Run) -> list[str]:
    """The operating points, the paper's and ours."""
    found = [f"{PLACES[table].name}: {PLACES[table].words(run)}" for table in ("table1", "table2", "table3")]
    return [f"*Where methods are compared.* {' '.join(found)} All of them are in a table below."]


def _other_rho(run: Run) -> list[str]:
    """PSST by either reading of the printed rho."""
    point, measure = PLACES["table2"].point(run), RECALL["R@10"]
    other = f"{PSST}, rho {OTHER_RHO}"
    drawn = [Reading(curve(run, label), measure, point).drawn(run) for label in (PSST, other)]
    found = difference(*drawn)
    if not isinstance(found, Drawn) or point is None:
        return []
    return [
        f"*Which rho.* The print says .25; in the released code .25 is the probability of a drawn word, rho .75. PSST "
        f"Multinomial's R@10 with rho .25 minus that with rho .75, at {point.words()}: {_span(found, 100, 1)}."
    ]


def _drift(run: Run) -> list[str]:
    """What the own listener finds more than the judge, with the captioner that all start from and with PSST."""
    point = PLACES["table2"].point(run)
    found = []
    for label in ("MLE", LUO, ST, PSST):
        own, judge = (
            Reading(curve(run, label), Measure("greedy", f"{who}_R@1"), point).drawn(run) for who in ("own", "fixed")
        )
        gap = difference(own, judge)
        if isinstance(gap, Drawn):
            found.append(f"{label} {_span(gap, 100, 1)}")
    if not found:
        return []
    return [
        "*A private language?* R@1 of a method's own listener minus R@1 of the judge, which has seen people's captions "
        f"alone: {'; '.join(found)}. What grows from MLE on is understood by the own listener only."
    ]


def _gradients(run: Run) -> list[str]:
    """Variance and bias of the gradient through the listener."""
    words = in_words(read_estimates(run))
    return [words] if words else []


def _page(run: Run) -> list[str]:
    """How people can judge the captions that automatic raters judge."""
    folder = kit_folder(run.paper.name)
    if not (folder / PAGE).is_file():
        return []
    entries = read_key(folder / KEY_FILE).entries
    asked = len({entry.question for entry in entries if entry.question is not None})
    pictures = len({entry.item for entry in entries})
    link = (folder / PAGE).relative_to(REPORTS).as_posix()
    return [
        f"*People as raters.* [{link}]({link}) asks Table 5's questions: {asked:,} on captions of {pictures} pictures, "
        "of each method those of the run nearest to the operating point, first seed. Send the file to people: it needs "
        f"no network, and gives each of them a CSV file to send back. `seqcap rating aggregate {KEY_FILE} *.csv`, with "
        "the key beside the page, counts their votes; keep their files elsewhere: the pipeline replaces this folder."
    ]


def _span(drawn: Drawn, scale: float, decimals: int) -> str:
    """A difference with its interval."""
    low, high = (scale * bound for bound in statistics.interval(drawn.resampled))
    return f"{scale * drawn.value:+.{decimals}f} [{low:+.{decimals}f}, {high:+.{decimals}f}]"


# --- Errors


def errors() -> list[str]:
    """Contradictions inside the paper, found by computing with its own printed numbers."""
    figure = published.published_table("psst", "fig4")
    of_all = figure[(figure["table"] == "fig4b-caption") & (figure["row"] == REINFORCE)]
    found, cider = [], float(of_all["value"].iloc[0])
    recall = published.published_value("psst", "table2", REINFORCE, "R@10")
    if cider < PLACES["table2"].printed and recall >= 80:
        found.append(
            f"Figure 4b gives REINFORCE a mean CIDEr of {cider:.3f} at an R@10 of about 80; in Table 2 its R@10 is "
            f"{recall:.1f} at a CIDEr of 1.2. The text calls the figure's captions those of separate training."
        )
    return found
