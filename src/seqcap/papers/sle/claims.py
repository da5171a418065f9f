"""In which regime SLE's claims are tested, and what exploration costs and gains."""

from collections.abc import Sequence

from seqcap.papers.sle.sweep import MULTI, SLE, SLL, is_exploring
from seqcap.report.claims import JudgedClaim
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import Results
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import level
from seqcap.report.verdicts import REVERSED

_BEAM, _SAMPLES, _DIV2 = Measure("beam", "CIDEr"), Measure("sample", "CIDEr", "every"), Measure("sample", "Div2", "set")
# So many points of CIDEr between samples and beam, beyond the paper's, are of a policy that has not collapsed.
_OTHER_REGIME = 1.0
# In the text on spread: measure and scale.
_SPREAD = {
    "greedy": (Measure("greedy", "CIDEr"), 100),
    "surprisal": (Measure("sample", "log_prob_mean"), -1),
    "oracle": (Measure("sample", "oracle"), 100),
}


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    return [*filter(None, (_regime(results), _price(results), _spread(results, judged)))]


def _regime(results: Results) -> str:
    """How far SLL's samples score below its best beam caption: hardly at all once it has collapsed to its mode."""
    named = {"SLL's": SLL, "XE's": "xe", "SLL's on clips": f"{SLL}_clip"}
    behind = {label: _behind(results, name) for label, name in named.items()}
    ours = behind.pop("SLL's")
    if ours is None:
        return ""
    others = ", ".join(f"{label} {number:.1f}" for label, number in behind.items() if number is not None)
    printed = _printed(results, "table2", "SLL") - _printed(results, "table4", "SLL (rs)")
    file = ClaimsFile.read(results.paper)
    return file.remark(
        "regime",
        printed=printed,
        ours=ours,
        others=f" ({others})" if others else "",
        elsewhere=f" {file.remark('elsewhere')}" if ours - printed > _OTHER_REGIME else "",
        late=_late_gains(results),
    )


def _printed(results: Results, table: str, row: str, column: str = "CIDEr") -> float:
    return results.paper.published.value(table, row, column)


def _behind(results: Results, name: str) -> float | None:
    best, samples = level(results, name, _BEAM), level(results, name, _SAMPLES)
    return None if best is None or samples is None else 100 * (best - samples)


def _late_gains(results: Results) -> str:
    curves = results.curves[results.curves["quantity"] == "val_cider"]
    gains = []
    for name in (SLL, SLE, f"{SLL}_clip", f"{SLE}_clip"):
        means = curves[curves["variant"] == name].groupby("step")["value"].mean()
        if means.empty or means.index.max() == 0:
            continue
        before = means[means.index <= 0.75 * means.index.max()]
        gains.append(f"{100 * (means.iloc[-1] - before.iloc[-1]):+.1f} ({results.by_name[name].label})")
    return f" The last quarter of training changed validation CIDEr by {', '.join(gains)}." if gains else ""


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
    file = ClaimsFile.read(results.paper)
    words = file.remark("price", found="; ".join(found), printed=printed)
    if SLE in results.by_name and is_exploring(results.by_name[SLE]):
        words += " " + file.remark("alpha", alpha=results.by_name[SLE].settings["alpha"])
    return words


def _spread(results: Results, judged: Sequence[JudgedClaim]) -> str:
    """Where exploration costs CIDEr of samples: the part due to spread, and the part due to a worse mode."""
    claim = next((judged_claim.judged for judged_claim in judged if judged_claim.claim.id == "C4b"), None)
    if claim is None or claim.verdict != REVERSED:
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
    return ClaimsFile.read(results.paper).remark("spread", samples=results.samples(), **values)
