"""PSST's claims, where they are tested, and how far the language drifts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from seqcap.metrics import registry
from seqcap.papers.psst.estimators import EXACT, OWN_HINGE, qualities_by_rho, read_estimates
from seqcap.papers.psst.listeners import Ended, ended, line, why_untestable
from seqcap.papers.psst.methods import METHODS, NO_FEEDBACK, PLACES, PSST, PSST_75, RHO, ST, STRAIGHT, by_rho, curve
from seqcap.papers.psst.raters import better_english, said_twice
from seqcap.papers.psst.rows import COLUMNS, ENGLISH, OF_PEOPLE, RECALL, heard, people, side_of
from seqcap.rating import KEY_FILE, PAGE, kit_folder, read_key
from seqcap.report import REPORTS
from seqcap.report.claims import Comparison, JudgedClaim, Source
from seqcap.report.claims_file import ClaimsFile, Comparisons, StatedClaim
from seqcap.report.inputs import Results
from seqcap.report.markdown import by_number
from seqcap.report.statistics import Missing, difference
from seqcap.report.tables import Estimate, Measure, shown
from seqcap.report.tradeoff import Curve, OperatingPoint, Reading, level, meeting

_CHOICE = "fixed_choice"  # between two pictures, by the judge
# What methods may differ in where their CIDEr is equal: measure and scale.
_UNEQUAL = {
    "BLEU-4": (Measure("greedy", "BLEU4"), 100),
    "METEOR": (Measure("greedy", "METEOR"), 100),
    "SPICE": (Measure("greedy", "SPICE"), 100),
    "literal R@10": (Measure("greedy", "literal_R@10"), 100),
    "bits": (Measure("greedy", "bits"), 1),
    "true of its scene": (Measure("greedy", "true_of_own"), 100),
}
# Methods of Table 2 that have a w.
_SWEPT = ("luo", "reinforce", ST, "st_gumbel", "annealed", PSST, "gumbel")
# Retriever that no run has seen -> how its measures begin.
_OTHERS = {"twin": "twin_", "judge": "fixed_"}
_BESIDE_MLE = ("mle", "luo", ST, PSST)


def claims(results: Results) -> list[Comparison]:
    ways, of_run = {"P10": _inner_rho, "P11a": _own_listener}, ended(results)

    def made(stated: StatedClaim, group: Comparisons) -> list[Comparison]:
        make = ways.get(stated.id, _at_point)
        found = [make(results, group, column, left, right) for _, column, _, left, right in group.each()]
        return [
            replace(
                claim,
                id=stated.id,
                text=stated.sentence,
                untestable=_untestable(results, claim, of_run) or _rater_fails(results, claim),
            )
            for claim in found
        ]

    return ClaimsFile.of(results).made(made)


def _untestable(results: Results, claim: Comparison, of_run: Mapping[str, Ended]) -> str:
    return next(filter(None, (why_untestable(results, source, of_run) for source in claim.sources or ())), "")


def _rater_fails(results: Results, claim: Comparison) -> str:
    """Why the judge cannot stand for people who choose between two pictures: it tells people's captions apart less
    often than a method's. "" where it can, or is not asked."""
    if claim.metric != _CHOICE or not claim.sources:
        return ""
    theirs, ours = (source.number(results) for source in (people(Measure("greedy", _CHOICE)), claim.sources[0]))
    if isinstance(theirs, Missing) or isinstance(ours, Missing) or theirs.value >= ours.value:
        return ""
    levels = f"{100 * theirs.value:.1f} of a hundred, those of {claim.left} {100 * ours.value:.1f}"
    return f"cannot be tested: the judge, in place of raters, tells apart people's captions in {levels}"


def _claim(measure: Measure, sources: Sequence[Source], where: str, names: Sequence[str]) -> Comparison:
    (one, other), (left, right) = sources, names
    made = Comparison("", "", measure.metric, measure.decoder, measure.captions, left, right, +1)
    return replace(made, sources=(one, other), where=where)


def _at_point(results: Results, group: Comparisons, column: str, left: str, right: str) -> Comparison:
    """Two rows of a table at its operating point, in a column of it or by a measure that the paper does not have."""
    table, place, measure = group.table, PLACES[group.table], COLUMNS.get(column, Measure("greedy", column))
    labels = [METHODS[method].label if method in METHODS else method for method in (left, right)]
    printed_rows = results.paper.published.rows(table)
    rows = [
        next((row for row in printed_rows if row in (label, *_rows_of(method))), label)
        for method, label in zip((left, right), labels, strict=True)
    ]
    sides = _met(results, [side_of(results, table, row, measure) for row in rows])
    where = place.name.partition(",")[0]
    at_what = f"at equal {registry.find(place.metric).label} ({where})"
    if measure.metric == ENGLISH:
        sides, at_what = better_english(results, rows[0]), f"at equal recall ({where})"
    elif left in OF_PEOPLE:
        measure, at_what = heard(measure), f"of people's captions ({where})"
    made = _claim(measure, sides, at_what, labels)
    in_print = not group.metrics and all(row in printed_rows for row in rows)
    printed = None if not in_print else results.paper.published.printed(table, column, *rows)
    return replace(made, printed=printed, direction=printed.sign) if printed else made


def _met(results: Results, sides: Sequence[Source]) -> Sequence[Source]:
    """Two curves, each read at a place that both cover with every seed, where there is one."""
    one, other = sides
    if not isinstance(one, Reading) or not isinstance(other, Reading):
        return sides
    moved = meeting(results, one.curve, other.curve, one.point)
    return [replace(side, moved=moved) for side in (one, other)]


def _inner_rho(results: Results, group: Comparisons, column: str, name: str, end: str) -> Comparison:
    """Figure 3f: the printed rho of a distribution against an end."""
    place, rhos, measure = PLACES["fig3f"], by_rho(results)[name], COLUMNS[column]
    # Where no run has a gradient through what is fed back, rho 0 is the straight-through of Table 2.
    other = rhos.get(float(end)) or (curve(results, STRAIGHT[name]) if end == "0" else None)
    lines = [rhos.get(RHO, Curve(f"PSST {name}")), other or Curve(f"PSST {name}, rho {end}")]
    labels = [of.label for of in lines]
    sides = _met(results, [Reading(of, measure, place.point(results)) for of in lines])
    return _claim(measure, sides, f"at equal CIDEr ({place.name})", labels)


def _rows_of(method: str) -> Sequence[str]:
    return METHODS[method].rows if method in METHODS else ()


def _own_listener(results: Results, group: Comparisons, column: str, method: str, judge: str) -> Comparison:
    place, measure, its = PLACES["table3"], COLUMNS[column], curve(results, method)
    judged = replace(measure, metric=measure.metric.replace("own_", _OTHERS[judge]))
    sides = [Reading(its, measured, place.point(results)) for measured in (measure, judged)]
    names = (f"{METHODS[method].label} listener", f"the {judge}")
    return _claim(measure, sides, f"against another's, at equal CIDEr ({place.name})", names)


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    told = (line, _points, _updates, _rates, _unequal, _other_rho, _whole_rho, _drift, _variance, _page)
    return [*filter(None, (tell(results) for tell in told))]


def _points(results: Results) -> str:
    found = [f"{PLACES[table].name}: {PLACES[table].words(results)}" for table in ("table1", "table2", "table3")]
    return f"*Where methods are compared.* {' '.join(found)} All of them are in a table below."


def _updates(results: Results) -> str:
    """How many updates every method had."""
    known = [its for method in _SWEPT if (its := curve(results, method)).runs and its.runs[0] in results.steps]
    updates = [(its.label, results.steps[its.runs[0]]) for its in known]
    return ClaimsFile.of(results).remark("updates", updates=by_number(updates)) if updates else ""


def _rates(results: Results) -> str:
    """The learning rate of every method that has a w."""
    methods_of = dict[float, list[str]]()
    for method in _SWEPT:
        line = curve(results, method)
        if line.runs:
            rate = results.by_name[line.runs[0]].learning_rate
            methods_of.setdefault(rate, []).append(line.label)
    if not methods_of:
        return ""
    rates = "; ".join(f"{rate:g} of {', '.join(labels)}" for rate, labels in methods_of.items())
    file = ClaimsFile.of(results)
    return file.remark("rates", rates=rates, chosen=file.remark("chosen rates")).rstrip()


def _unequal(results: Results) -> str:
    """What methods say where their CIDEr is equal, by other measures; of scenes, by the checker's, too."""
    point, found = PLACES["table2"].point(results), list[str]()
    if point is None:
        return ""
    for method in _BESIDE_MLE:
        line, levels = curve(results, method), list[str]()
        for name, (measure, scale) in _UNEQUAL.items():
            number = Reading(line, measure, point).number(results)
            if not isinstance(number, Missing):
                levels.append(f"{name} {scale * number.value:.{1 if scale > 1 else 2}f}")
        twice = said_twice(results, line, point)
        if levels and twice is not None:
            named = _at_its_own(results, line, point)
            found.append(f"{named}: {', '.join(levels)}, said twice {100 * twice:.1f}")
    if not found:
        return ""
    return ClaimsFile.of(results).remark("unequal", point=point.words(), found="; ".join(found))


def _at_its_own(results: Results, line: Curve, point: OperatingPoint) -> str:
    """A method's label; of one with a single run also where that is, since it is not at the point."""
    if len(line.runs) > 1:
        return line.label
    own = level(results, line.runs[0], point.measure)
    return line.label if own is None else f"{line.label} (at its own {point.words(own)})"


def _gap(results: Results, one: Source, other: Source) -> str:
    """A difference in per cent with its interval; "" if there is none."""
    return shown(difference(one.number(results), other.number(results)), "images").signed(100, 1)


def _other_rho(results: Results) -> str:
    point, lines = PLACES["table2"].point(results), [curve(results, method) for method in (PSST, PSST_75)]
    span = _gap(results, *_met(results, [Reading(of, RECALL["R@10"], point) for of in lines]))
    return ClaimsFile.of(results).remark("rho", point=point.words(), span=span) if point and span else ""


def _whole_rho(results: Results) -> str:
    """Whether rho 1, which may not get to the CIDEr of the others, is worse than the printed rho in both aims."""
    line, whole = curve(results, PSST), by_rho(results).get("Multinomial", {}).get(1.0)
    if whole is None or not line.runs:
        return ""
    margins = _ahead_in_both(results, line, whole)
    if not margins:
        return ""
    of = sum(margin > 0 for margin in margins.values())
    least = 100 * min((margin for margin in margins.values() if margin > 0), default=0.0)
    values = {"ahead": of, "seeds": len(margins), "least": least}
    return ClaimsFile.of(results).remark("whole rho", **values) if of else ""


def _ahead_in_both(results: Results, one: Curve, other: Curve) -> dict[int, float]:
    """Seed -> by how much the best R@10 of those runs of one curve that have more CIDEr than every run of another is
    above that one's best; below 0 where no run is ahead in both."""
    quality, recall = (_by_seed(results, (*one.runs, *other.runs), metric) for metric in ("CIDEr", "own_R@10"))
    if not quality or not recall:
        return {}
    found = {}
    for seed in results.by_name[other.runs[0]].seeds:
        theirs = max(quality[name][seed] for name in other.runs)
        ahead = [recall[name][seed] for name in one.runs if quality[name].get(seed, theirs) > theirs]
        found[seed] = max(ahead, default=0.0) - max(recall[name][seed] for name in other.runs)
    return found


def _by_seed(results: Results, runs: Sequence[str], metric: str) -> dict[str, dict[int, float]]:
    """Run -> seed -> a measure of its greedy captions; {} where one has none."""
    found = {}
    for name in runs:
        values = results.scores.by_seed(name, "greedy", metric)
        if values is None:
            return {}
        found[name] = {seed: float(values[seed]) for seed in results.by_name[name].seeds}
    return found


def _drift(results: Results) -> str:
    """R@1 of the own listener minus R@1 of the judge, from the pretrained captioner to PSST."""
    point, measures = PLACES["table2"].point(results), [Measure("greedy", f"{who}_R@1") for who in ("own", "fixed")]
    lines = [curve(results, method) for method in ("mle", "luo", ST, PSST)]
    found = _gaps(results, {of.label: [Reading(of, measure, point) for measure in measures] for of in lines})
    if not found:
        return ""
    twin = [Measure("greedy", f"{who}_R@10") for who in ("own", "twin")]
    values = {
        "found": found,
        "people": _gap(results, *(people(measure) for measure in measures)) or "not measured",
        "twin": _gaps(results, {of.label: [Reading(of, measure, point) for measure in twin] for of in lines}),
    }
    return ClaimsFile.of(results).remark("drift", **values)


def _gaps(results: Results, sides: Mapping[str, Sequence[Source]]) -> str:
    """Label -> the difference of two numbers; without those that there is none of."""
    gaps = {label: _gap(results, one, other) for label, (one, other) in sides.items()}
    return "; ".join(f"{label} {gap}" for label, gap in gaps.items() if gap)


def _variance(results: Results) -> str:
    """Numbers of REINFORCE, of straight-through, and of PSST with every rho."""
    found = read_estimates(results)
    rhos = qualities_by_rho(found, "multinomial")
    if not rhos:
        return ""
    psst, st, reinforce = (METHODS[method].label for method in (PSST, ST, "reinforce"))
    others = {
        f"{reinforce}, paid for its own hinge alone": found[OWN_HINGE],
        f"{st}{NO_FEEDBACK}": found["multinomial", 0.0, False],
        **{f"{psst}, rho {rho:g}": rhos[rho] for rho in sorted(rhos)},
    }
    words = []
    for name, quality in others.items():
        hidden = "" if (quality.bias.low or 0.0) > 0 else " (not told from 0)"
        words.append(f"{name}: {_digits(quality.step)}, {_digits(quality.variance)}, {_digits(quality.bias)}{hidden}.")
    variance, step = _digits(found[EXACT].variance), _digits(found[EXACT].step)
    values = {"reinforce": reinforce, "variance": variance, "step": step, "others": " ".join(words)}
    values["length"] = f"{math.sqrt(max(rhos[max(rhos)].bias.value or 0.0, 0.0)):.2g}"
    return ClaimsFile.of(results).remark("variance", **values)


def _digits(estimate: Estimate) -> str:
    """A number and its interval, two digits each."""
    return "{} [{}, {}]".format(
        *(f"{float(f'{number:.2g}'):,.10g}" for number in (estimate.value, estimate.low, estimate.high))
    )


def _page(results: Results) -> str:
    folder = kit_folder(results.paper.name)
    if not (folder / PAGE).is_file():
        return ""
    entries = read_key(folder / KEY_FILE).entries
    asked = len({entry.question for entry in entries if entry.question is not None})
    images = len({entry.item for entry in entries})
    link = (folder / PAGE).relative_to(REPORTS / results.paper.name).as_posix()
    return ClaimsFile.of(results).remark("page", link=link, asked=asked, images=images, key=KEY_FILE)
