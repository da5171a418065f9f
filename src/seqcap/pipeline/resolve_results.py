"""From parameters to the configurations of the stages that decode, score and measure."""

from collections.abc import Mapping

from seqcap import rewards
from seqcap.config.decoding import DecodeConfig, DecodingRun
from seqcap.config.estimators import EstimatorsConfig
from seqcap.config.evaluation import EvaluationConfig
from seqcap.config.retrieval_scores import RetrievalConfig
from seqcap.config.training import TrainConfig, TrainingRun, VarianceConfig
from seqcap.errors import InputError
from seqcap.pipeline import resolve_training as training
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import Params
from seqcap.pipeline.validation import find
from seqcap.tasks import KINDS

Decoded = dict[str, list[DecodingRun]]  # evaluation -> what its groups decode


def decode_config(params: Params, group: str, trained: TrainConfig) -> DecodeConfig:
    """Stage `decode` of a group: its ensembles, or each of its runs with every seed."""
    evaluation = params.groups[group]
    runs = {run.name: run for run in trained.runs}
    ensembles = {name: runs[one.run] for name, one in params.ensembles.items() if one.run in runs}
    settings = params.evaluations[evaluation].model_dump(include={"beam", "samples", "no_repeat_ngram"})
    decoded = tuple(
        DecodingRun(
            **run.model_dump(include={"task", "kind", "max_length", "weights"}),
            **settings,
            name=name,
            split=split_of(params, evaluation),
            teams=_teams(params, name, run) if ensembles else tuple((seed,) for seed in run.seeds),
            batch_size=params.shared.decoding.batch_size,
            decoded=f"artifacts/{run.paper}/decode/{evaluation}/{group}/{name}.parquet",
        )
        for name, run in (ensembles or runs).items()
    )
    modules = [
        module for run in runs.values() for module in (KINDS[run.kind].reader, f"seqcap.models.{run.architecture}")
    ]
    modules += [module for run in runs.values() for module in training.task_modules(params, run.task)]
    return DecodeConfig(runs=decoded, code=closure(modules, ["decode.py"]))


def _teams(params: Params, name: str, run: TrainingRun) -> tuple[tuple[int, ...], ...]:
    """The seeds that decode together in each ensemble."""
    members, number = params.ensembles[name].members, params.ensembles[name].number
    if members * number > len(run.seeds):
        what = f"ensembles.{name} takes {number} x {members} seeds"
        raise InputError(params.source(name), what, f"run {run.name} has {len(run.seeds)}")
    return tuple(run.seeds[start : start + members] for start in range(0, members * number, members))


def split_of(params: Params, evaluation: str) -> str:
    """The split that is decoded. Only scenes have the split "server". Other datasets use `evaluate_on` instead."""
    task, split = params.shared.tasks[params.evaluations[evaluation].task], params.evaluations[evaluation].split
    return task.evaluate_on if split is None or (split == "server" and task.dataset != "scenes") else split


def measurable(weights: Mapping[str, float]) -> bool:
    """Whether decoded captions can be scored by a reward."""
    return not any(weights.get(metric) for metric in rewards.TRAINING_ONLY)


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
        rewards={reward: weights for reward in paid if measurable(weights := params.shared.rewards[reward])},
        decoded={run.name: run.decoded for run in decoded[name]},
        code=closure([KINDS[task.kind].evaluator], ["evaluate.py"]),
    )


def retrieve_config(params: Params, name: str, decoded: Decoded) -> RetrievalConfig:
    wanted, source, place = params.retrievals[name], params.source(name), f"retrievals.{name}"
    task = find(params.evaluations, wanted.evaluation, source, f"{place}.evaluation").task
    listener = training.find_listener(params, wanted.listener, task, source, f"{place}.listener")
    judge = training.find_retriever(params, wanted.judge, task, source, f"{place}.judge")
    twin = wanted.twin and training.find_retriever(params, wanted.twin, task, source, f"{place}.twin")
    start = training.pretrained(params, wanted.captioner, source, f"{place}.captioner")
    architecture = params.shared.captioners[wanted.captioner].architecture
    runs = [run.name for run in decoded[wanted.evaluation]]
    paid = {run: training.listener_of(params, run) for run in runs}
    payers = {run: payer for run, payer in paid.items() if payer not in (None, listener)}
    paths = [listener, judge, *([twin] if twin else []), *payers.values()]
    retrievers = [training.retriever_module(params, path) for path in dict.fromkeys(paths)]
    modules = ["seqcap.evaluation.retrieval", f"seqcap.models.{architecture}", *retrievers]
    return RetrievalConfig(
        name=name,
        paper=params.paper(name),
        task=task,
        dataset=params.shared.tasks[task].dataset,
        split=split_of(params, wanted.evaluation),
        decoded={run.name: run.decoded for run in decoded[wanted.evaluation]},
        weights={run.name: run.weights for run in decoded[wanted.evaluation]},
        decoder=wanted.decoder,
        listener=listener,
        payers=payers,
        judge=judge,
        twin=twin,
        captioner=start,
        max_length=params.shared.tasks[task].max_length + 1,
        code=closure(modules, ["retrieve.py"]),
    )


def variance_config(params: Params, name: str) -> VarianceConfig:
    variance, source, place = params.variances[name], params.source(name), f"variances.{name}"
    start = training.pretrained(params, variance.captioner, source, f"{place}.captioner")
    captioner = training.captioner_fields(params, variance.captioner, source, f"{place}.captioner")
    weights = training.reward_weights(params, variance.reward, captioner["task"], source, place)
    if list(rewards.reads(weights)):
        raise InputError(source, f"{place}.reward is {variance.reward!r}", "name one without meteor")
    modules = [f"seqcap.models.{captioner['architecture']}", *KINDS[captioner["kind"]].modules]
    settings = [variance.settings | {"rollouts": rollouts} for rollouts in variance.rollouts]
    return VarianceConfig(
        **variance.model_dump(include={"images", "replicates", "batch_size", "learning_rate"}),
        **{key: captioner[key] for key in ("task", "kind", "max_length")},
        paper=params.paper(name),
        reward=weights,
        settings=tuple(
            training.objective_settings("rollout_policy_gradient", values, source, place) for values in settings
        ),
        seed=params.shared.seed,
        start=start,
        code=closure([*modules, *rewards.modules(weights)], ["variance.py"]),
    )


def estimators_config(params: Params, name: str) -> EstimatorsConfig:
    """Stage `estimators`. The listener has the captioner's seed."""
    wanted, source, place = params.estimators[name], params.source(name), f"estimators.{name}"
    start = training.pretrained(params, wanted.captioner, source, f"{place}.captioner")
    captioner = training.captioner_fields(params, wanted.captioner, source, f"{place}.captioner")
    listener = training.find_listener(params, wanted.listener, captioner["task"], source, f"{place}.listener")
    models = [f"seqcap.models.{captioner['architecture']}", training.retriever_module(params, listener)]
    return EstimatorsConfig(
        **wanted.model_dump(exclude={"listener", "captioner"}),
        **{key: captioner[key] for key in ("task", "max_length")},
        paper=params.paper(name),
        listener=listener,
        start=start,
        seed=params.shared.seed,
        code=closure([KINDS[captioner["kind"]].reader, *models], ["estimators.py"]),
    )
