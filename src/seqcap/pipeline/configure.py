"""From parameters to one configuration per stage (`seqcap.config`), a file of configs/.
Only the stage `configure` reads the parameter files. A change repeats the stages whose files of configs/ it changes."""

from pathlib import Path

from seqcap.config import CONFIGS, config_path, write_config
from seqcap.config.data import WordsConfig
from seqcap.config.training import TrainConfig
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.pipeline import graph
from seqcap.pipeline import resolve_data as data
from seqcap.pipeline import resolve_report as report
from seqcap.pipeline import resolve_results as results
from seqcap.pipeline import resolve_training as training
from seqcap.pipeline.code import closure
from seqcap.pipeline.graph import Configs
from seqcap.pipeline.params import Params, read_params
from seqcap.pipeline.validation import find
from seqcap.system.machine import MACHINE

REPORTED = ("tables", "figures", "section", "rating")  # the stages of a paper's part of the report


def resolve(params: Params) -> Configs:
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


def write_configs(stages: Configs, params: Params, folder: Path = CONFIGS, machine: Path = MACHINE) -> None:
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
    """Writes the graph of the parameters in a checkout."""
    params = read_params(root)
    graph.write(params, resolve(params), root)


def check_graph(root: Path = Path()) -> None:
    """Checks that the graph in a checkout fits its parameters."""
    params = read_params(root)
    graph.check(params, resolve(params), root)
