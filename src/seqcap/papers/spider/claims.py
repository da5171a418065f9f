"""How long PG-SPIDEr's policies were trained, how fast they learnt, with which rates, and how noisy the gradient is."""

from collections.abc import Sequence

from seqcap.papers.spider.variance import in_words, read_variance
from seqcap.report.claims import JudgedClaim
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.inputs import Results
from seqcap.report.longer import gains
from seqcap.report.markdown import by_number
from seqcap.report.rates import rates_on_val
from seqcap.report.tables import Measure

# Whose learning rates are compared; and who learns the same reward as fast or slower than whom.
_RATED = ("pg_bleu4", "pg_cider", "pg_bcmr", "mixer_bcmr", "pg_spider", "pg_spice")
_FAST, _SLOW = "pg_bcmr", "mixer_bcmr"
_PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the updates
# What is compared with MLE of as many updates, by what.
_PAID, _LONGER = ("pg_bcmr", "mixer_bcmr", "mixer_bcmr_a", "pg_cider", "pg_spider"), "mle_longer"
_COLUMNS = ("CIDEr", "BLEU4", "METEOR", "ROUGE_L")
_LEVELS = ("mle", _LONGER, _FAST, _SLOW)  # whose BCMR is told


def stand_ins(results: Results) -> list[tuple[str, str]]:
    checked = "F1 of what a caption says truly of the scene and what it leaves out, by a checker"
    here = checked if results.knows_facts else "not measured: only generated scenes know their own facts"
    return [("people's judgement of captions of 492 images, % not bad (Figure 3)", here)]


def remarks(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    found, file = [], ClaimsFile.of(results)
    if results.steps:
        trained = by_number((results.by_name[name].label, number) for name, number in results.steps.items())
        words = {"trained": trained, "alone": _alone(results), "compared": _compared(results)}
        found.append(file.remark("updates", **words))
    if longer := _beside_longer(results):
        found.append(longer)
    if speed := _speed(results):
        found.append(file.remark("speed", found=speed))
    rates, not_best = rates_on_val(results, _RATED, scale=1, digits=3)
    told = file.remark("not_best", labels=", ".join(not_best)) if not_best else ""
    found.append(file.remark("rates", found=rates, not_best=told) if rates else file.remark("one_rate"))
    if variance := in_words(read_variance(results)[0]):
        found.append(file.remark("variance", found=variance))
    return found


def _speed(results: Results) -> str:
    """What greedy captions of val earn after parts of the updates: policy gradient beside MIXER, mean of the seeds."""
    on_val = results.curves[results.curves["quantity"] == "val_reward"]
    levels = []
    for name in (_FAST, _SLOW):
        means = on_val[on_val["run"] == name].groupby("step")["value"].mean()
        if means.empty or means.index.max() == 0:
            return ""
        steps = [means.index[means.index <= part * means.index.max()].max() for part in _PARTS]
        reached = ", ".join(f"{means[step]:.2f} ({step:,})" for step in steps)
        levels.append(f"{results.by_name[name].label} {reached}")
    return "; ".join(levels)


def _alone(results: Results) -> str:
    """In how many of a policy gradient's steps its baseline learns alone; "" where that is not the same for all."""
    runs = [run for run in results.trained if run.objective == "rollout_policy_gradient"]
    steps = {int(run.settings.get("baseline_steps", 0)) for run in runs}
    if len(steps) != 1 or not max(steps):
        return ""
    return ClaimsFile.read(results.paper).remark("alone", steps=f"{steps.pop():,}")


def _compared(results: Results) -> str:
    """After how many updates S2 compares, and how many of MIXER's are partly maximum likelihood."""
    policy, mixer = (results.steps.get(name) for name in (_FAST, _SLOW))
    if not policy or not mixer:
        return ""
    equal = "equally many updates" if policy == mixer else f"{policy:,} against {mixer:,}"
    prefix = results.curves[(results.curves["run"] == _SLOW) & (results.curves["quantity"] == "xe_prefix")]
    last = int(prefix.loc[prefix["value"] > 0, "step"].max()) if (prefix["value"] > 0).any() else 0
    partly = f", of MIXER's the first {last:,} with a prefix that is maximum likelihood" if last else ""
    return f" S2 compares PG-BCMR with MIXER-BCMR after {equal}{partly}."


def _beside_longer(results: Results) -> str:
    """What rewards gain that further steps of maximum likelihood do not, and what these gain themselves."""
    gained = gains(results, _PAID, _LONGER, _COLUMNS)
    if not gained:
        return ""
    itself = gains(results, [_LONGER], "mle", _COLUMNS)
    levels = {name: [_of_bcmr(results, name, decoder) for decoder in ("greedy", "beam")] for name in _LEVELS}
    known = [f"{results.by_name[name].label} {', '.join(of)}" for name, of in levels.items() if all(of)]
    reward = f" BCMR on test, of greedy captions and of a beam's: {'; '.join(known)}." if known else ""
    return ClaimsFile.of(results).remark("longer", gains=gained, itself=itself, reward=reward)


def _of_bcmr(results: Results, name: str, decoder: str) -> str:
    level = Measure(decoder, "reward_bcmr").of(results, name).value
    return "" if level is None else f"{level:.2f}"
