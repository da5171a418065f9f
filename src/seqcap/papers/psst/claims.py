"""PSST's claims, where they are tested, and how far the language drifts."""

from collections.abc import Iterator, Sequence

from seqcap.metrics import registry
from seqcap.papers.psst.estimators import in_words, read_estimates
from seqcap.papers.psst.methods import FEEDBACK, PLACES, PSST, PSST_75, RHO, ST, by_rho, curve, methods
from seqcap.papers.psst.raters import CHOICE, ENGLISH, accuracy, better_english
from seqcap.papers.psst.rows import COLUMNS, PEOPLE_OURS, PEOPLE_THEIRS, RECALL, heard, row_of
from seqcap.papers.psst.tables import side_of
from seqcap.rating import KEY_FILE, PAGE, kit_folder
from seqcap.rating.key import read_key
from seqcap.report import REPORTS
from seqcap.report.claims import Claim, Made, Result, Side
from seqcap.report.claims_file import ClaimsFile, Entry, Stated
from seqcap.report.inputs import Run
from seqcap.report.published import Printed
from seqcap.report.statistics import Drawn
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import Curve, Reading, difference, shown


def claims(run: Run) -> list[Claim]:
    ways = {"P10": _rho_claims, "P11": _listener_claims, "P12": _rater_claims, "P14": _judge_claims}
    return ClaimsFile.read(run.paper).made(
        lambda stated, entry: ways.get(stated.id.rstrip("ab"), _table_claims)(run, stated, entry)
    )


def _claim(
    stated: Stated,
    measure: Measure,
    sides: tuple[Side, Side],
    of: str,
    names: Sequence[str],
    printed: Printed | None = None,
    direction: int = +1,
) -> Claim:
    left, right = names
    where, made = (measure.metric, measure.decoder, measure.captions), Made(sides, of)
    return Claim(stated.id, stated.sentence, *where, left, right, direction, printed, made=made)


def _labels(run: Run, *names: str) -> list[str]:
    return [methods(run.paper)[name].label for name in names]


def _table_claims(run: Run, stated: Stated, entry: Entry) -> Iterator[Claim]:
    table, place = entry.table, PLACES[entry.table]
    for _, column, _, left, right in entry.each():
        measure, rows = COLUMNS[table][column], [row_of(run.paper, method, table) for method in (left, right)]
        printed = run.paper.published.printed(table, column, *rows)
        of = f"at equal {registry.find(place.metric).label} ({place.name})"
        sides = (side_of(run, table, rows[0], measure), side_of(run, table, rows[1], measure))
        names = _labels(run, left, right)
        yield _claim(stated, measure, sides, of, names, direction=printed.sign, printed=printed)


def _rho_claims(run: Run, stated: Stated, entry: Entry) -> Iterator[Claim]:
    """Figure 3f: the printed rho of a distribution against an end."""
    place, curves = PLACES["fig3f"], by_rho(run)
    point = place.point(run)
    for _, column, _, name, end in entry.each():
        label = f"PSST {name}"
        other = f"{label}, rho 1" if end == "1" else f"ST {name}{FEEDBACK}"
        measure, rhos = RECALL[column], curves[name]
        inner = Reading(rhos.get(RHO, Curve(label)), measure, point)
        outer = Reading(rhos.get(float(end), Curve(other)), measure, point)
        yield _claim(stated, measure, (inner, outer), f"at equal CIDEr ({place.name})", (label, other))


def _listener_claims(run: Run, stated: Stated, entry: Entry) -> Iterator[Claim]:
    place = PLACES["table3"]
    for _, column, _, left, _ in entry.each():
        measure = RECALL[column]
        if left == PSST:
            judged = Measure("greedy", measure.metric.replace("own_", "fixed_"))
            own, fixed = (Reading(curve(run, PSST), of, place.point(run)) for of in (measure, judged))
            names = (f"{_labels(run, PSST)[0]} listener", "the judge")
            of = f"against the judge's, at equal CIDEr ({place.name})"
            yield _claim(stated, measure, (own, fixed), of, names)
        else:
            rows = (PEOPLE_THEIRS, PEOPLE_OURS)
            sides = (side_of(run, "table3", rows[0], measure), side_of(run, "table3", rows[1], measure))
            printed = run.paper.published.printed("table3", column, *rows)
            of = f"of people's captions ({place.name})"
            yield _claim(stated, heard(measure), sides, of, rows, printed=printed)


def _rater_claims(run: Run, stated: Stated, entry: Entry) -> Iterator[Claim]:
    """Table 5, with automatic raters in place of people."""
    for _, column, _, left, right in entry.each():
        rows = [row_of(run.paper, method, "table5") for method in (left, right)]
        printed, names = run.paper.published.printed("table5", column, *rows), _labels(run, left, right)
        if isinstance(entry.columns, tuple):
            sides: tuple[Side, Side] = (accuracy(run, rows[0]), accuracy(run, rows[1]))
            yield _claim(stated, CHOICE, sides, "at equal CIDEr (Table 5)", names, printed=printed)
        else:
            sides, measure, direction = better_english(run, rows[0]), Measure("greedy", ENGLISH), entry.columns[column]
            of = "at equal recall (Table 5)"
            yield _claim(stated, measure, sides, of, names, direction=direction, printed=printed)


def _judge_claims(run: Run, stated: Stated, entry: Entry) -> Iterator[Claim]:
    """P1 by measures that no run was trained for."""
    place = PLACES["table2"]
    for _, metric, _, left, right in entry.each():
        measure, names = Measure("greedy", metric), _labels(run, left, right)
        sides = (side_of(run, "table2", names[0], measure), side_of(run, "table2", names[1], measure))
        yield _claim(stated, measure, sides, f"at equal CIDEr ({place.name})", names)


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    found = (_points(run), _other_rho(run), _drift(run), in_words(run, read_estimates(run)), _page(run))
    return [*filter(None, found)]


def _points(run: Run) -> str:
    found = [f"{PLACES[table].name}: {PLACES[table].words(run)}" for table in ("table1", "table2", "table3")]
    return f"*Where methods are compared.* {' '.join(found)} All of them are in a table below."


def _other_rho(run: Run) -> str:
    point, measure = PLACES["table2"].point(run), RECALL["R@10"]
    drawn = [Reading(curve(run, method), measure, point).drawn(run) for method in (PSST, PSST_75)]
    found = difference(*drawn)
    if not isinstance(found, Drawn) or point is None:
        return ""
    span = shown(found, "images").signed(100, 1)
    return ClaimsFile.read(run.paper).remark("rho", point=point.words(), span=span)


def _drift(run: Run) -> str:
    """R@1 of the own listener minus R@1 of the judge, from the pretrained captioner to PSST."""
    point = PLACES["table2"].point(run)
    found = []
    for method in ("mle", "luo", ST, PSST):
        line = curve(run, method)
        own, judge = (Reading(line, Measure("greedy", f"{who}_R@1"), point).drawn(run) for who in ("own", "fixed"))
        gap = difference(own, judge)
        if isinstance(gap, Drawn):
            found.append(f"{line.label} {shown(gap, 'images').signed(100, 1)}")
    return ClaimsFile.read(run.paper).remark("drift", found="; ".join(found)) if found else ""


def _page(run: Run) -> str:
    folder = kit_folder(run.paper.name)
    if not (folder / PAGE).is_file():
        return ""
    entries = read_key(folder / KEY_FILE).entries
    asked = len({entry.question for entry in entries if entry.question is not None})
    images = len({entry.item for entry in entries})
    link = (folder / PAGE).relative_to(REPORTS / run.paper.name).as_posix()
    return ClaimsFile.read(run.paper).remark("page", link=link, asked=asked, images=images, key=KEY_FILE)
