"""In which regime SLE's claims are tested, and what exploration costs and gains."""

from collections.abc import Sequence

from seqcap.papers.sle.sweep import MULTI, SLE, SLL, is_exploring
from seqcap.report.claims import Result
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import Run
from seqcap.report.tables import Measure, gain
from seqcap.report.verdicts import HOLDS, NOT_RUN

_BEAM, _SAMPLES, _DIV2 = Measure("beam", "CIDEr"), Measure("sample", "CIDEr", "every"), Measure("sample", "Div2", "set")


def remarks(run: Run, results: Sequence[Result]) -> list[str]:
    return [*_regime(run), *_price(run), *_spread(run, results)]


def _regime(run: Run) -> list[str]:
    """How far SLL's samples score below its best beam caption: hardly at all once it has collapsed to its mode."""
    ours = _behind(run, SLL)
    if ours is None:
        return []
    best, sampled = (run.paper.published.value(*of, "CIDEr") for of in (("table2", "SLL"), ("table4", "SLL (rs)")))
    printed = best - sampled
    words = (
        f"*The regime.* The paper's SLL has collapsed to its mode: its random samples score {printed:.1f} CIDEr below "
        f"its best beam captions. Here SLL's score {ours:.1f} below them"
    )
    others = {"XE's": _behind(run, "xe"), "SLL's on clips": _behind(run, f"{SLL}_clip")}
    known = [f"{label} {behind:.1f}" for label, behind in others.items() if behind is not None]
    words += f" ({', '.join(known)})" if known else ""
    words += (
        ", so that C4b is tested where the paper tested it."
        if ours <= _AT_PLATEAU
        else f", more than {_AT_PLATEAU}: C4b is tested on a policy with more to lose than the paper's."
    )
    return [words + _late_gains(run)]


_AT_PLATEAU = 3  # a policy has collapsed if its random samples score at most this much below its beam, CIDEr x100


def _behind(run: Run, name: str) -> float | None:
    best, samples = _BEAM.of(run, name).value, _SAMPLES.of(run, name).value
    return None if best is None or samples is None else 100 * (best - samples)


def _late_gains(run: Run) -> str:
    curves = run.curves[run.curves["quantity"] == "val_cider"]
    gains = []
    for name in (SLL, SLE, f"{SLL}_clip", f"{SLE}_clip"):
        means = curves[curves["variant"] == name].groupby("step")["value"].mean()
        if means.empty or means.index.max() == 0:
            continue
        before = means[means.index <= 0.75 * means.index.max()]
        gains.append(f"{100 * (means.iloc[-1] - before.iloc[-1]):+.1f} ({run.by_name[name].label})")
    return f" The last quarter of training changed validation CIDEr by {', '.join(gains)}." if gains else ""


def _price(run: Run) -> list[str]:
    found = []
    for name, base in ((SLE, SLL), (MULTI, SLL), (f"{SLE}_clip", f"{SLL}_clip")):
        beam, samples, div2 = (
            gain(run, name, base, measure.decoder, measure.metric, measure.captions)
            for measure in (_BEAM, _SAMPLES, _DIV2)
        )
        if beam.value is None or samples.value is None or div2.value is None:
            continue
        found.append(
            f"{run.by_name[name].label} changes CIDEr by {beam.signed(100, 1)} (best beam caption) and "
            f"{samples.signed(100, 1)} (samples), and Div-2 by {div2.signed(1, 3)}"
        )
    if not found:
        return []
    printed = [
        run.paper.published.value("table4", f"SLL-SLE ({decoder})", column)
        - run.paper.published.value("table4", f"SLL ({decoder})", column)
        for decoder, column in (("bs", "CIDEr"), ("rs", "CIDEr"), ("rs", "Div2"))
    ]
    file = ClaimsFile.read(run.paper)
    words = file.remark("price", found="; ".join(found), printed=printed)
    if SLE in run.by_name and is_exploring(run.by_name[SLE]):
        words += " " + file.remark("alpha", alpha=run.by_name[SLE].settings["alpha"])
    return [words]


def _spread(run: Run, results: Sequence[Result]) -> list[str]:
    """Where exploration costs CIDEr of samples: the part due to spread, and the part due to a worse mode."""
    claim = next((result for result in results if result.claim.id == "C4b"), None)
    if claim is None or claim.verdict in (HOLDS, NOT_RUN) or (claim.difference or 0.0) >= 0:
        return []
    rows = {}
    for name in (SLE, SLL):
        columns = (("greedy", "CIDEr"), ("sample", "log_prob_mean"), ("sample", "oracle"))
        by_seed = [run.scores.by_seed(name, *column) for column in columns]
        means = [float(values.mean()) for values in by_seed if values is not None]
        if len(means) < len(columns):
            return []
        rows[name] = means
    keys = [(f"greedy{of}", f"surprisal{of}", f"oracle{of}") for of in ("", "_sll")]
    values = {
        key: scale * value
        for names, means in zip(keys, rows.values(), strict=True)
        for key, value, scale in zip(names, means, (100, -1, 100), strict=True)
    }
    return [ClaimsFile.read(run.paper).remark("spread", samples=run.samples(), **values)]
