"""graph.yaml: what dvc.yaml loops over. It follows from the parameters, but DVC needs it before any stage runs. So
`seqcap graph` writes it, it is committed, and `configure` checks it."""

import json
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.files.writing import atomic
from seqcap.pipeline.configure import Stages, resolve
from seqcap.pipeline.params import Params, read_params

GRAPH = Path("graph.yaml")
HEAD = """\
# Written by `seqcap graph` from params.yaml and papers/; do not edit. What the stages of dvc.yaml loop over, and what
# they depend on. A path that a stage does not need repeats the one of its configuration.
"""
# How many paths a group's stage can depend on besides its task: dvc.yaml names each, since DVC takes no list there.
SLOTS = 4


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
