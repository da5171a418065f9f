"""In which regime SLE's claims are tested, and what exploration costs and gains."""

from collections.abc import Mapping, Sequence

import numpy as np

from seqcap.papers.sle.sweep import MULTI, SLE, SLL, chosen_alpha, sweep
from seqcap.report.by_length import ByLength, gain
from seqcap.report.claims import JudgedClaim
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.convergence import QUALITY
from seqcap.report.inputs import Results
from seqcap.report.longer import gains
from seqcap.report.markdown import by_number
from seqcap.report.rates import late_on_val, rates_on_val
from seqcap.report.statistics import Missing
from seqcap.report.tables import Measure, shown
from seqcap.report.tradeoff import level
from seqcap.report.verdicts import LEAST_SEEDS

_BEAM, _SAMPLES, _DIV2 = Measure("beam", "CIDEr"), Measure("sample", "CIDEr", "every"), Measure("sample", "Div2", "set")
_MBLEU4 = Measure("sample", "mBleu4", "set")
_WORDS = Measure("beam", "words")
_OTHER_LENGTHS = 0.8  # words by which the captions of a run's seeds differ so much that it is told
_QUALITY = ("CIDEr", "METEOR", "SPICE")
_LONGER = "xe_longer"
_POLICIES = (SLL, "sll_me", SLE)
_DIP = 0.01  # of CIDEr, from which it is told that captions fall when policies begin
# In the text on spread: measure and scale.
_SPREAD = {
    "greedy": (Measure("greedy", "CIDEr"), 100),
    "surprisal": (Measure("sample", "log_prob_mean"), -1),
    "oracle": (Measure("sample", "oracle"), 100),
}
_RATED = (SLL, SLE, f"{SLL}_att", f"{SLE}_att", f"{SLL}_clip", f"{SLE}_clip")  # whose learning rates are compared
_FEWEST = 2  # rows that explore, of which one is nearest to the paper's exploration
# What was chosen, and what it was chosen from.
_SET = (
    *(SLL, "sll_sle_95", "sll_sle_90", SLE, "sweep_pairwise_50", "sweep_pairwise_25", "sll_sle_loo"),
    *(MULTI, "sweep_multi_50", "sweep_multi_25", "sll_me", "sll_me_clip", "sll_me_clip_003"),
)
# What is ranked by log p / length, too; and whose difference is told.
_RANKED = ("xe", SLL, "sll_me", SLE, MULTI)
_RANKED_GAINS = (
    (SLE, SLL),
    (SLE, "sll_me"),
    (MULTI, SLL),
    (f"{SLE}_att", f"{SLL}_att"),
    (f"{SLE}_att", "sll_me_att"),
    (f"{SLE}_clip", f"{SLL}_clip"),
    (f"{SLE}_clip", "sll_me_clip"),
)


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    found = (_longer(results), _dip(results), _regime(results), _price(results), _equal(results))
    more = (_spread(results, judged), _seeds(results), _ranked(results))
    settings = (_rates(results), _settings(results), _steps(results))
    return [*filter(None, (*found, *more, *settings))]


def _longer(results: Results) -> str:
    """Whether rewards gain what further steps of cross-entropy do not, by each measure of quality of the paper's."""
    gained = gains(results, _POLICIES, _LONGER, _QUALITY)
    return ClaimsFile.of(results).remark("longer", gains=gained) if gained else ""


def _dip(results: Results) -> str:
    """How far greedy captions fall when policies begin, and when they are as good again as at the start."""
    on_val = results.curves[results.curves["quantity"] == "val_cider"]
    told, start = list[str](), None
    for name in _POLICIES:
        means = on_val[on_val["run"] == name].groupby("step")["value"].mean()
        if len(means) < _FEWEST or means.iloc[0] - means.min() < _DIP:
            continue
        start, lowest = means.iloc[0], means.index[means == means.min()][0]
        back = means.index[(means.index > lowest) & (means >= start)]
        when = f"back at {back[0]:,} of {means.index[-1]:,}" if len(back) else "not back"
        told.append(f"{100 * means.min():.1f} at update {lowest:,} ({results.by_name[name].label}, {when})")
    if start is None:
        return ""
    return ClaimsFile.of(results).remark("dip", start=100 * start, found=", ".join(told))


def _regime(results: Results) -> str:
    """How far SLL's samples score below its best beam caption: hardly at all once it has collapsed to its mode."""
    named = {"SLL's": SLL, "XE's": "xe", "SLL's on clips": f"{SLL}_clip"}
    behind = {label: _behind(results, name) for label, name in named.items()}
    ours = behind.pop("SLL's")
    if ours is None:
        return ""
    others = ", ".join(f"{label} {number:.1f}" for label, number in behind.items() if number is not None)
    printed = _printed(results, "table2", "SLL") - _printed(results, "table4", "SLL (rs)")
    file = ClaimsFile.of(results)
    return file.remark(
        "regime",
        printed=printed,
        ours=ours,
        others=f" ({others})" if others else "",
        shares=_shares(results),
        elsewhere=_elsewhere(results) if ours > printed else "",
        memory=_memory(results),
        late=_late_gains(results),
    )


def _shares(results: Results) -> str:
    """How much of their best beam captions' CIDEr the samples of XE and SLL have, here and in print: how far there
    was to go, and how far it went. Table 4's CIDEr of beams is that of their best captions."""
    ours, printed = [], []
    for name, row in (("xe", "XE"), (SLL, "SLL")):
        best, samples = level(results, name, _BEAM), level(results, name, _SAMPLES)
        if best is None or samples is None:
            return ""
        ours.append(samples / best)
        printed.append(_printed(results, "table4", f"{row} (rs)") / _printed(results, "table4", f"{row} (bs)"))
    return f" {ClaimsFile.of(results).remark('shares', ours=ours, printed=printed)}"


def _memory(results: Results) -> str:
    """What SLL's samples earn on training images at its end, and on those that are scored."""
    samples = level(results, SLL, _SAMPLES)
    curves = results.curves
    paid = curves[(curves["run"] == SLL) & (curves["quantity"] == "train_reward")]
    if samples is None or paid.empty or results.by_name[SLL].reward != "cider":
        return ""
    last = paid[paid["step"] == paid["step"].max()]["value"].mean()
    task = results.by_name[SLL].task
    values = {"train": 100 * last, "sample_sll": 100 * samples, "split": results.split(task)}
    return f" {ClaimsFile.of(results).remark('memory', **values)}"


def _elsewhere(results: Results) -> str:
    """Whether SLL's samples, which cost more than in print, are as much alike as there. The median seed tells: one that
    is kept early is another policy."""
    div2, mbleu4 = _median(results, _DIV2), _median(results, _MBLEU4)
    printed = {column: _printed(results, "table1", "SLL", column) for column in ("Div2", "mBleu4")}
    if div2 is None or mbleu4 is None:
        return ""
    alike = div2 <= printed["Div2"] and mbleu4 >= printed["mBleu4"]
    decoded = results.decoded(SLL)
    beams = decoded[decoded["decoder"] == "beam"].groupby(["seed", "item"])["log_prob"].max()
    words = ClaimsFile.of(results).remark(
        "elsewhere" if alike else "apart",
        div2=div2,
        printed_div2=printed["Div2"],
        mbleu4=mbleu4,
        printed_mbleu4=printed["mBleu4"],
        mass=float(np.exp(beams).mean()),
    )
    return f" {words}"


def _median(results: Results, measure: Measure) -> float | None:
    """What SLL's median seed scores."""
    number = measure.number(results, SLL)
    return None if isinstance(number, Missing) else float(np.median(list(number.by_seed.values())))


def _printed(results: Results, table: str, row: str, column: str = "CIDEr") -> float:
    return results.paper.published.value(table, row, column)


def _behind(results: Results, name: str) -> float | None:
    best, samples = level(results, name, _BEAM), level(results, name, _SAMPLES)
    return None if best is None or samples is None else 100 * (best - samples)


def _late_gains(results: Results) -> str:
    gains = []
    for name in (SLL, "sll_me", SLE, MULTI, f"{SLL}_clip", f"{SLE}_clip"):
        if (gained := results.gained.get(name, {}).get(QUALITY)) is not None:
            gains.append(f"{gained.points:+.1f} ({results.by_name[name].label})")
    return f" {ClaimsFile.of(results).remark('late', gains=', '.join(gains))}" if gains else ""


def _price(results: Results) -> str:
    found = []
    for name, base in ((SLE, SLL), (MULTI, SLL), (f"{SLE}_clip", f"{SLL}_clip")):
        beam, samples, div2 = (measure.gain(results, name, base) for measure in (_BEAM, _SAMPLES, _DIV2))
        if beam.value is not None and samples.value is not None and div2.value is not None:
            found.append(
                f"{results.by_name[name].label} changes CIDEr by {beam.signed(100, 1)} (best beam caption) and "
                f"{samples.signed(100, 1)} (samples), and Div-2 by {div2.signed(1, 3)}"
            )
    if not found:
        return ""
    printed = [
        _printed(results, "table4", f"SLL-SLE ({decoder})", column)
        - _printed(results, "table4", f"SLL ({decoder})", column)
        for decoder, column in (("bs", "CIDEr"), ("rs", "CIDEr"), ("rs", "Div2"))
    ]
    file = ClaimsFile.of(results)
    words = file.remark("price", found="; ".join(found), printed=printed)
    if (alpha := chosen_alpha(results)) is not None:
        words += " " + file.remark("alpha", alpha=alpha, chosen=file.remark("chosen alpha")).rstrip()
    return words


def _equal(results: Results) -> str:
    """What exploration costs and gains where it buys as much diversity as in print."""
    if SLL not in results.by_name:
        return ""
    printed = _printed(results, "table4", "SLL-SLE (rs)", "Div2") - _printed(results, "table4", "SLL (rs)", "Div2")
    runs = [run for line in sweep(results).values() for run in line.values() if run.name != SLL]
    bought = {run.name: _DIV2.gain(results, run.name, SLL) for run in runs}
    gains = {name: of.value for name, of in bought.items() if of.value is not None}
    # Of one row nothing is nearest.
    if len(gains) < _FEWEST:
        return ""
    ranked = sorted(gains, key=lambda name: abs(gains[name] - printed))
    of_nearest = _bought(results, ranked[0])
    if not of_nearest:
        return ""
    file = ClaimsFile.of(results)
    few, more, named = "", "", ""
    if len(results.by_name[ranked[0]].seeds) == 1:
        few = file.remark("few")
        of_more = [name for name in ranked if len(results.by_name[name].seeds) >= LEAST_SEEDS]
        if of_more:
            named = of_more[0]
            more = file.remark("more", **_bought(results, named))
    more += _across_print(results, gains, ranked[0], named, printed)
    chosen = ""
    if SLE in gains and ranked[0] != SLE:
        chosen = file.remark("not_equal", div2=bought[SLE].signed(1, 3))
    return file.remark("equal", printed=printed, few=few, more=more, chosen=chosen, **of_nearest)


def _across_print(results: Results, gains: Mapping[str, float], nearest: str, named: str, printed: float) -> str:
    """What exploration costs by the row that is nearest to print's on the other side of it; "" without one, or if it is
    the one that is named already."""
    others = [name for name, gain in gains.items() if (gain < printed) != (gains[nearest] < printed)]
    if not others:
        return ""
    other = min(others, key=lambda name: abs(gains[name] - printed))
    if other == named:
        return ""
    return ClaimsFile.of(results).remark("across print", **_bought(results, other))


def _bought(results: Results, name: str) -> Mapping[str, str]:
    """What a run's exploration gains and costs against SLL; {} where that was not measured."""
    div2, beam, samples = (measure.gain(results, name, SLL) for measure in (_DIV2, _BEAM, _SAMPLES))
    if div2.value is None or beam.value is None or samples.value is None:
        return {}
    return {
        "label": results.by_name[name].label,
        "div2": div2.signed(1, 3),
        "beam": beam.signed(100, 1),
        "samples": samples.signed(100, 1),
    }


def _ranked(results: Results) -> str:
    """What the best beam captions score, and differ by, if they are ranked by log p / length."""
    levels = []
    for name in _RANKED:
        number = ByLength(name).number(results)
        if not isinstance(number, Missing):
            levels.append(f"{100 * number.value:.1f} ({results.by_name[name].label})")
    gains = []
    for name, base in _RANKED_GAINS:
        difference = gain(results, name, base)
        if not isinstance(difference, Missing):
            labels = f"{results.by_name[name].label} against {results.by_name[base].label}"
            gains.append(f"{labels} {shown(difference, 'images').signed(100, 1)}")
    if not gains:
        return ""
    file = ClaimsFile.of(results)
    return file.remark("ranked", beam=results.beam(), levels=", ".join(levels), gains="; ".join(gains))


def _seeds(results: Results) -> str:
    """How long SLL's captions are by seed, and what they score, where lengths differ."""
    words, cider = _WORDS.number(results, SLL), _BEAM.number(results, SLL)
    if isinstance(words, Missing) or isinstance(cider, Missing):
        return ""
    lengths = list(words.by_seed.values())
    if max(lengths) - min(lengths) < _OTHER_LENGTHS:
        return ""
    scores = cider.by_seed
    found = (f"{length:.1f} and {100 * scores[seed]:.1f} (seed {seed})" for seed, length in words.by_seed.items())
    return ClaimsFile.of(results).remark("seeds", found=", ".join(found))


def _settings(results: Results) -> str:
    """What alphas, distances and weights of the entropy had on val."""
    runs = [results.by_name[name] for name in _SET if name in results.by_name]
    alpha = chosen_alpha(results)
    if len(runs) < _FEWEST or alpha is None:
        return ""
    on_val = {run.label: 100 * late_on_val(results, run.name, run.epochs, run.seeds) for run in runs}
    told = (f"{run.label} {on_val[run.label]:.1f} ({len(run.seeds)})" for run in runs)
    file, alphas = ClaimsFile.of(results), {run.settings["alpha"] for run in runs if "alpha" in run.settings}
    rows = file.remark("rows", alpha=alpha) if len(alphas) > 1 else ""
    return file.remark("settings", found=", ".join(told), rows=rows)


def _rates(results: Results) -> str:
    """What SLL and SLL-SLE had on val with each learning rate; with attention and on clips, too."""
    file = ClaimsFile.of(results)
    found, not_best = rates_on_val(results, _RATED, scale=100, digits=1)
    if not found:
        return ""
    told = file.remark("not_best", labels=", ".join(not_best)) if not_best else ""
    return file.remark("rates", found=found, not_best=told)


def _steps(results: Results) -> str:
    if not results.steps:
        return ""
    steps = by_number((results.by_name[name].label, number) for name, number in results.steps.items())
    return ClaimsFile.of(results).remark("steps", steps=steps)


def _spread(results: Results, judged: Sequence[JudgedClaim]) -> str:
    """Where exploration costs CIDEr of samples: the part due to spread, and the part due to a worse mode."""
    claim = next((judged_claim.judged.first for judged_claim in judged if judged_claim.claim.id == "C4b"), None)
    # Whatever the loss is called.
    if claim is None or claim.difference is None or claim.difference >= 0:
        return ""
    values = {}
    for name, suffix in ((SLE, ""), (SLL, "_sll")):
        for key, (measure, scale) in _SPREAD.items():
            mean = level(results, name, measure)
            if mean is None:
                return ""
            values[key + suffix] = scale * mean
    if values["surprisal"] <= values["surprisal_sll"]:
        return ""
    return ClaimsFile.of(results).remark("spread", samples=results.samples(), **values)
