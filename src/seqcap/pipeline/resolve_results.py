"""From parameters to the configurations of the stages that decode, score and measure."""

from seqcap import rewards
from seqcap.config.decoding import DecodeConfig, DecodingRun
from seqcap.config.estimators import EstimatorsConfig
from seqcap.config.evaluation import EvaluationConfig
from seqcap.config.retrieval_scores import RetrievalConfig
from seqcap.config.training import TrainConfig, TrainingRun, VarianceConfig
from seqcap.errors import InputError
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import Params
from seqcap.pipeline.resolve_training import (
    captioner_fields,
    find_retriever,
    objective_settings,
    pretrained,
    retriever_module,
    reward_weights,
)
from seqcap.pipeline.validation import find
from seqcap.tasks import KINDS

Decoded = dict[str, list[DecodingRun]]  # evaluation -> what its groups decode


def decode_config(params: Params, group: str, trained: TrainConfig) -> DecodeConfig:
    """Stage `decode` of a group: its ensembles, or each of its runs with every seed."""
    evaluation = params.groups[group]
    runs = {run.name: run for run in trained.runs}
    teams = {
        name: (runs[one.run], _teams(params, name, runs)) for name, one in params.ensembles.items() if one.run in runs
    }
    teams = teams or {name: (run, tuple((seed,) for seed in run.seeds)) for name, run in runs.items()}
    settings = params.evaluations[evaluation].model_dump(include={"beam", "samples", "no_repeat_ngram"})
    decoded = tuple(
        DecodingRun(
            **run.model_dump(include={"task", "kind", "max_length", "weights"}),
            **settings,
            name=name,
            split=split_of(params, evaluation),
            teams=seeds,
            batch_size=params.shared.decoding.batch_size,
            decoded=f"artifacts/{run.paper}/decode/{evaluation}/{group}/{name}.parquet",
        )
        for name, (run, seeds) in teams.items()
    )
    modules = [
        module for run in runs.values() for module in (KINDS[run.kind].reader, f"seqcap.models.{run.architecture}")
    ]
    return DecodeConfig(runs=decoded, code=closure(modules, ["decode.py"]))


def _teams(params: Params, name: str, runs: dict[str, TrainingRun]) -> tuple[tuple[int, ...], ...]:
    ensemble = params.ensembles[name]
    seeds, members = runs[ensemble.run].seeds, ensemble.members
    if members * ensemble.number > len(seeds):
        what = f"ensembles.{name} takes {ensemble.number} x {members} seeds"
        raise InputError(params.source(name), what, f"run {ensemble.run} has {len(seeds)}")
    return tuple(seeds[start : start + members] for start in range(0, members * ensemble.number, members))


def split_of(params: Params, evaluation: str) -> str:
    """The split that is decoded. Only scenes have the split "server". Other datasets use `evaluate_on` instead."""
    task, split = params.shared.tasks[params.evaluations[evaluation].task], params.evaluations[evaluation].split
    return task.evaluate_on if split is None or (split == "server" and task.dataset != "scenes") else split


def evaluate_config(params: Params, name: str, decoded: Decoded) -> EvaluationConfig:
    evaluation = params.evaluations[name]
    task = params.shared.tasks[evaluation.task]
    rewards_of_runs = (params.runs[run.name].reward for run in decoded[name] if run.name in params.runs)
    paid = dict.fromkeys(reward for reward in rewards_of_runs if reward is not None)
    return EvaluationConfig(
        name=name,
        paper=params.paper(name),
        task=evaluation.task,
        kind=task.kind,
        dataset=task.dataset,
        split=split_of(params, name),
        references=evaluation.references,
        rewards={reward: params.shared.rewards[reward] for reward in paid},
        decoded={run.name: run.decoded for run in decoded[name]},
        code=closure([KINDS[task.kind].evaluator], ["evaluate.py"]),
    )


def retrieve_config(params: Params, name: str, decoded: Decoded) -> RetrievalConfig:
    wanted, source, place = params.retrievals[name], params.source(name), f"retrievals.{name}"
    evaluation = find(params.evaluations, wanted.evaluation, source, f"{place}.evaluation")
    task = params.shared.tasks[evaluation.task]
    folder = find_retriever(params, wanted.listener, evaluation.task, source, f"{place}.listener", starts_runs=True)
    judge = find_retriever(params, wanted.judge, evaluation.task, source, f"{place}.judge")
    start = pretrained(params, wanted.captioner, source, f"{place}.captioner")
    architecture = params.shared.captioners[wanted.captioner].architecture
    modules = [f"seqcap.models.{architecture}", *(retriever_module(params, path) for path in (folder, judge))]
    return RetrievalConfig(
        name=name,
        paper=params.paper(name),
        task=evaluation.task,
        dataset=task.dataset,
        split=split_of(params, wanted.evaluation),
        decoded={run.name: run.decoded for run in decoded[wanted.evaluation]},
        weights={run.name: run.weights for run in decoded[wanted.evaluation]},
        decoder=wanted.decoder,
        listener=folder,
        judge=judge,
        captioner=start,
        max_length=task.max_length + 1,
        code=closure(["seqcap.evaluation.retrieval", *modules], ["retrieve.py"]),
    )


def variance_config(params: Params, name: str) -> VarianceConfig:
    variance, source, place = params.variances[name], params.source(name), f"variances.{name}"
    start = pretrained(params, variance.captioner, source, f"{place}.captioner")
    captioner = captioner_fields(params, variance.captioner, source, f"{place}.captioner")
    weights = reward_weights(params, variance.reward, captioner["task"], source, place)
    if list(rewards.reads(weights)):
        raise InputError(source, f"{place}.reward is {variance.reward!r}", "name one without meteor")
    objective = "rollout_policy_gradient"
    modules = [f"seqcap.models.{captioner['architecture']}", *KINDS[captioner["kind"]].modules]
    return VarianceConfig(
        **variance.model_dump(include={"images", "replicates", "batch_size", "learning_rate"}),
        paper=params.paper(name),
        task=captioner["task"],
        kind=captioner["kind"],
        reward=weights,
        settings=tuple(
            objective_settings(objective, variance.settings | {"rollouts": k}, source, place) for k in variance.rollouts
        ),
        max_length=captioner["max_length"],
        seed=params.shared.seed,
        start=start,
        code=closure([*modules, *rewards.modules(weights)], ["variance.py"]),
    )


def estimators_config(params: Params, name: str) -> EstimatorsConfig:
    """Stage `estimators`. The listener has the captioner's seed."""
    wanted, source, place = params.estimators[name], params.source(name), f"estimators.{name}"
    start = pretrained(params, wanted.captioner, source, f"{place}.captioner")
    captioner = captioner_fields(params, wanted.captioner, source, f"{place}.captioner")
    folder = find_retriever(params, wanted.listener, captioner["task"], source, f"{place}.listener", starts_runs=True)
    retriever = params.shared.retrievers[wanted.listener]
    if retriever.seed_offset != 0 or retriever.folder:
        fix = "name a trained retriever with seed_offset 0"
        raise InputError(source, f"{place}.listener is {wanted.listener!r}", fix)
    modules = [
        KINDS[captioner["kind"]].reader,
        f"seqcap.models.{captioner['architecture']}",
        retriever_module(params, folder),
    ]
    return EstimatorsConfig(
        **wanted.model_dump(exclude={"listener", "captioner"}),
        paper=params.paper(name),
        task=captioner["task"],
        listener=folder,
        start=start,
        max_length=captioner["max_length"],
        seed=params.shared.seed,
        code=closure(modules, ["estimators.py"]),
    )
