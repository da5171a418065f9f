"""From parameters to one configuration per stage (`seqcap.config`), a file of configs/, and to graph.yaml.
Only the stage `configure` reads the parameter files. A change repeats the stages whose files of configs/ it changes.
graph.yaml, what dvc.yaml loops over, follows from the parameters, too, but DVC needs it before any stage runs. So
`seqcap graph` writes it, it is committed, and `configure` checks it."""

import json
from pathlib import Path
from typing import Any

from seqcap.config import CONFIGS, StageConfig, config_path, write_config
from seqcap.config.data import WordsConfig
from seqcap.config.training import TrainConfig
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.writing import atomic
from seqcap.pipeline import resolve_data as data
from seqcap.pipeline import resolve_report as report
from seqcap.pipeline import resolve_results as results
from seqcap.pipeline import resolve_training as training
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import Params, read_params
from seqcap.pipeline.validation import find
from seqcap.system.machine import MACHINE

# Kind of stage -> name -> its configuration. What exists only once has the name "".
Stages = dict[str, dict[str, StageConfig]]
REPORTED = ("tables", "figures", "section", "rating")  # the stages of a paper's part of the report
GRAPH = Path("graph.yaml")
HEAD = """\
# Written by `seqcap graph` from params.yaml and papers/; do not edit. What the stages of dvc.yaml loop over, and what
# they depend on. A path that a stage does not need repeats the one of its configuration.
"""
# How many paths a group's stage can depend on besides its task: dvc.yaml names each, since DVC takes no list there.
SLOTS = 4


def resolve(params: Params) -> Stages:
    """Every stage's configuration; an `InputError` names a wrong name or setting."""
    shared = params.shared
    data.check_features(params)
    pretrained = {name: training.pretrain_config(params, name) for name in shared.pretrain}
    retrievers = {name: training.retriever_config(params, name) for name in shared.retrievers}
    trained = _train(params)
    decode = {group: results.decode_config(params, group, config) for group, config in trained.items()}
    decoded: results.Decoded = {evaluation: [] for evaluation in params.evaluations}
    for group, config in decode.items():
        decoded[params.groups[group]] += config.runs
    reported = {name: report.paper_configs(params, name, trained, decoded) for name in params.papers}
    return {
        "data": {name: data.data_config(params, name) for name in shared.tasks},
        "encoder": {name: data.encoder_config(params, name) for name in shared.features},
        "features": {name: data.features_config(params, name) for name in shared.features},
        "probe": {name: data.probe_config(params, name) for name in shared.features},
        "paraphrases": {name: WordsConfig(task=name, code=closure([], ["paraphrases.py"])) for name in shared.features},
        "embeddings": {name: data.embeddings_config(params, name) for name in shared.tasks},
        "pretrain": dict(pretrained),
        "retriever": dict(retrievers),
        "mine": {name: training.mine_config(params, name) for name in shared.mined},
        "train": dict(trained),
        "decode": dict(decode),
        "evaluate": {name: results.evaluate_config(params, name, decoded) for name in params.evaluations},
        "retrieve": {name: results.retrieve_config(params, name, decoded) for name in params.retrievals},
        "variance": {name: results.variance_config(params, name) for name in params.variances},
        "estimators": {name: results.estimators_config(params, name) for name in params.estimators},
        **{
            stage: {name: configs[stage] for name, configs in reported.items() if stage in configs}
            for stage in REPORTED
        },
        "report": {"": report.report_config(params)},
    }


def _train(params: Params) -> dict[str, TrainConfig]:
    for name, evaluation in params.evaluations.items():
        find(params.shared.tasks, evaluation.task, params.source(name), f"evaluations.{name}.task")
        if name not in params.groups.values():
            raise InputError(params.source(name), f"evaluations.{name} has no group", "give it one, or remove it")
    for name, group in params.groups.items():
        own = {key: value for key, value in params.evaluations.items() if params.paper(key) == params.paper(name)}
        find(own, group, params.source(name), f"groups.{name}")
    for name, run in params.runs.items():
        find(params.groups, run.group, params.source(name), f"runs.{name}.group")
    for name, ensemble in params.ensembles.items():
        find(params.runs, ensemble.run, params.source(name), f"ensembles.{name}.run")
    return {group: training.train_config(params, group) for group in params.groups}


def write_configs(stages: Stages, params: Params, folder: Path = CONFIGS, machine: Path = MACHINE) -> None:
    """Writes every stage's configuration, and how to run them to `machine`. Deletes files of stages that are gone."""
    files = {
        folder / config_path(stage, name).relative_to(CONFIGS): config
        for stage, configs in stages.items()
        for name, config in configs.items()
    }
    for stale in set(folder.rglob("*.json")) - set(files):
        stale.unlink()
    for path, config in files.items():
        write_config(path, config)
    shared = params.shared
    write_json(machine, {"device": shared.device, "workers": shared.workers, "launcher": shared.launcher})


def write_graph(root: Path = Path()) -> None:
    params = read_params(root)
    with atomic(root / GRAPH) as temporary:
        temporary.write_text(graph_text(params, resolve(params)), encoding="utf-8")


def check_graph(params: Params, stages: Stages, root: Path = Path()) -> None:
    """Checks that graph.yaml fits the parameters: otherwise DVC runs another graph than theirs."""
    path = root / GRAPH
    if not path.is_file() or path.read_text(encoding="utf-8") != graph_text(params, stages):
        raise InputError(GRAPH, "does not fit the parameters", "renew it with `seqcap graph`, then run again")


def graph_text(params: Params, stages: Stages) -> str:
    lines = ["graph:"]
    for kind, entries in graph(params, stages).items():
        if isinstance(entries, dict) and entries:
            lines += [f"  {kind}:", *(f"    {name}: {json.dumps(entry)}" for name, entry in entries.items())]
        else:
            lines.append(f"  {kind}: {json.dumps(entries)}")
    return HEAD + "".join(f"{line}\n" for line in lines)


def graph(params: Params, stages: Stages) -> dict[str, Any]:
    """Kind of entry -> name -> what the stages of dvc.yaml need to know of it."""
    configs: Any = stages

    def pick(stage: str, *fields: str) -> dict[str, Any]:
        return {name: config.model_dump(include=set(fields)) for name, config in configs[stage].items()}

    retrievals = pick("retrieve", "paper", "task", "listener", "judge")
    for name, entry in retrievals.items():
        entry |= {"evaluation": params.retrievals[name].evaluation, "start": configs["retrieve"][name].captioner}
    return {
        "tasks": list(configs["data"]),
        "features": list(configs["features"]),
        "pretrain": {name: {"task": config.runs[0].task} for name, config in configs["pretrain"].items()},
        "retrievers": pick("retriever", "task"),
        "mined": pick("mine", "task"),
        "groups": {name: _group(params, name, config.runs) for name, config in configs["train"].items()},
        "evaluations": pick("evaluate", "paper", "task"),
        "retrievals": retrievals,
        "variances": pick("variance", "paper", "task", "start"),
        "estimators": pick("estimators", "paper", "task", "listener", "start"),
        "papers": {
            name: {
                "pictures": f"artifacts/{config.pictures}/data",
                "clips": f"artifacts/{config.clips}/data" if config.clips else f"configs/figures/{name}.json",
                "rating": f"reports/{name}/rating" if name in configs["rating"] else f"configs/section/{name}.json",
            }
            for name, config in configs["figures"].items()
        },
        "ratings": {name: {"task": c.pictures, "judge": c.judge} for name, c in configs["rating"].items()},
    }


def _group(params: Params, name: str, runs: Any) -> dict[str, Any]:
    reads = dict.fromkeys(path for run in runs for path in (run.start, *run.reads.values()) if path is not None)
    if len(reads) > SLOTS:
        what = f"the runs of groups.{name} read {', '.join(reads)}"
        raise InputError(params.source(name), what, f"split it: a group can read {SLOTS} paths")
    slots = [*reads, *[f"configs/train/{name}.json"] * (SLOTS - len(reads))]
    return {"paper": runs[0].paper, "task": runs[0].task, "evaluation": params.groups[name], "reads": slots}
