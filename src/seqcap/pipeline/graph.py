"""The stages that DVC runs: what each runs, reads and writes. `seqcap graph` writes them, one DVC file for what papers
share and one for each paper; git keeps these files.

They follow from the parameters, but DVC reads them before any stage runs. So `configure` checks them and does not write
them. It also notes what it has checked, in `CHECKED`: `seqcap repro` sees from that whether somebody has changed them
since. DVC itself lets no stage depend on a DVC file.
"""

import hashlib
import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.config import CONFIGS, StageConfig, config_path
from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.schemas import ORIGIN
from seqcap.files.writing import atomic
from seqcap.pipeline.params import PAPER_FILE, PAPERS, PARAMS, SCALES, Params, parameter_files

GRAPH = Path("dvc.yaml")  # of what papers share; papers/<paper>/dvc.yaml are those of papers
LOCK = Path("dvc.lock")  # what DVC writes beside each
CHECKED = CONFIGS / "graph.json"  # file of the graph -> hash, when `configure` checked it
CONFIGURE = "configure"  # the first stage, which writes what the others depend on
REPORT = "report"  # the last stage
STALE = "does not fit the parameters"
RENEW = "renew it with `seqcap graph`, then run again"

# Kind of stage -> name -> its configuration. What exists only once has the name "".
Configs = dict[str, dict[str, StageConfig]]

HEAD_OF_ALL = """\
# What the papers share, and the first page. Written by `seqcap graph`; do not edit. src/seqcap/pipeline/graph.py says
# what it writes. The stages of a paper are in papers/<paper>/dvc.yaml.
# Data flows one way: configure -> data -> encoder -> features -> pretrain -> train -> decode -> evaluate -> tables,
# figures -> section -> report. Each stage depends on its own file in configs/ and on its inputs. That file also holds
# hashes of the code that the stage runs (src/seqcap/pipeline/code.py), so no stage lists code here.
"""
HEAD_OF_PAPER = """\
# The stages of this paper. Written by `seqcap graph` from runs.yaml, params.yaml and scales/; do not edit.
"""


@dataclass(frozen=True)
class Stage:
    """A stage. Paths are relative to the root of the checkout, whichever file the stage is in.

    Attributes:
        does: what it does, in a few words.
        reads: what it depends on besides its configuration.
        writes: its outputs.
        cached: whether DVC's cache keeps the outputs. Otherwise git does.
    """

    does: str
    reads: Sequence[str]
    writes: Sequence[str]
    cached: bool = True


def _data(params: Params, name: str, config: Any) -> Stage:
    does = f"Generate or read what is captioned in task {name}, and build its vocabulary"
    return Stage(does, [], [f"artifacts/{name}/data"])


def _encoder(params: Params, name: str, config: Any) -> Stage:
    does = f"Train, read or fetch the weights of the visual encoder of task {name}"
    return Stage(does, [], [_encoder_file(name)], cached=False)


def _encoder_file(task: str) -> str:
    return f"starts/encoder/{task}.safetensors"


def _features(params: Params, name: str, config: Any) -> Stage:
    reads = [f"artifacts/{name}/data", _encoder_file(name)]
    return Stage(f"Pooled and grid features of every image of task {name}", reads, [f"artifacts/{name}/features"])


def _probe(params: Params, name: str, config: Any) -> Stage:
    reads = [f"artifacts/{name}/data", f"artifacts/{name}/features"]
    does = f"What the features of task {name} tell of its images, if these are generated"
    return Stage(does, reads, [f"reports/features/{name}.json"], cached=False)


def _paraphrases(params: Params, name: str, config: Any) -> Stage:
    does = f"METEOR's paraphrase table, filtered to the vocabulary of task {name}"
    return Stage(does, [f"artifacts/{name}/data/vocabulary.json"], [f"artifacts/words/{name}/paraphrases.parquet"])


def _embeddings(params: Params, name: str, config: Any) -> Stage:
    does = f"Word embeddings of the captions or translations of task {name}"
    return Stage(does, [f"artifacts/{name}/data"], [f"artifacts/words/{name}/embeddings.parquet"])


def _pretrain(params: Params, name: str, config: Any) -> Stage:
    (run,) = config.runs
    does = f"Train captioner {name} with cross-entropy"
    return Stage(does, _origins(params, run.task), [run.weights], cached=False)


def _retriever(params: Params, name: str, config: Any) -> Stage:
    does = f"Train retriever {name} on people's captions, or read the user's CLIP"
    return Stage(does, _origins(params, config.task), [config.weights], cached=False)


def _task(params: Params, name: str) -> list[str]:
    """What stages read of a task."""
    return [f"artifacts/{name}/data", *([f"artifacts/{name}/features"] if name in params.shared.features else [])]


def _origins(params: Params, name: str) -> list[str]:
    """What starts read of a task. They depend on what its features are made of (stages/features.py), not on their
    bytes, which differ between kinds of processors: so that starts from git need not be trained again."""
    data, *features = _task(params, name)
    return [data, *(f"{folder}/{ORIGIN}" for folder in features)]


def _mine(params: Params, name: str, config: Any) -> Stage:
    does = f"The training images that retriever {name} finds similar"
    return Stage(does, [*_task(params, config.task), config.retriever], [config.mined])


def _train(params: Params, name: str, config: Any) -> Stage:
    paper, task = params.paper(name), config.runs[0].task
    reads = [path for run in config.runs for path in (run.start, *run.reads.values()) if path is not None]
    does = f"Train the runs of group {name}, side by side"
    return Stage(does, [*_task(params, task), *reads], [f"artifacts/{paper}/train/{name}"])


def _decode(params: Params, name: str, config: Any) -> Stage:
    paper, task = params.paper(name), config.runs[0].task
    does = f"Decode a split with the runs of group {name}, or with their ensembles"
    reads = [*_task(params, task), f"artifacts/{paper}/train/{name}"]
    return Stage(does, reads, [f"artifacts/{paper}/decode/{params.groups[name]}/{name}"])


def _evaluate(params: Params, name: str, config: Any) -> Stage:
    reads = [f"artifacts/{config.task}/data", f"artifacts/{config.paper}/decode/{name}"]
    return Stage(f"Every score of the captions of {name}", reads, [f"artifacts/{config.paper}/results/{name}.parquet"])


def _retrieve(params: Params, name: str, config: Any) -> Stage:
    evaluation, folder = params.retrievals[name].evaluation, f"artifacts/{config.paper}"
    # Listeners that runs have trained lie beside their weights; other groups of the paper do not matter.
    trained = dict.fromkeys(str(Path(weights).parent) for weights in config.weights.values())
    reads = [*_task(params, config.task), *trained, f"{folder}/decode/{evaluation}"]
    retrievers = [config.listener, *config.payers.values(), config.judge, config.twin]
    reads += [*dict.fromkeys(path for path in retrievers if path is not None), config.captioner]
    does = f"How well the captions of {evaluation} tell images apart, and how far they drift"
    return Stage(does, reads, [f"{folder}/results/{name}_retrieval.parquet"])


def _variance(params: Params, name: str, config: Any) -> Stage:
    does = "How noisy the policy gradient is with more rollouts, with and without a baseline"
    reads = [*_task(params, config.task), config.start]
    return Stage(does, reads, [f"artifacts/{config.paper}/results/{name}.parquet"])


def _estimators(params: Params, name: str, config: Any) -> Stage:
    does = "How noisy and how biased the gradient through a listener is, against rho"
    reads = [*_task(params, config.task), config.listener, config.start]
    return Stage(does, reads, [f"artifacts/{config.paper}/results/{name}.parquet"])


def _tables(params: Params, name: str, config: Any) -> Stage:
    does = f"The tables of {name}, published numbers beside ours"
    return Stage(does, [f"artifacts/{name}/results"], [f"reports/{name}/tables"], cached=False)


def _figures(params: Params, name: str, config: Any) -> Stage:
    shown = [f"artifacts/{task}/data" for task in (config.pictures, config.clips) if task is not None]
    own = [f"artifacts/{name}/{part}" for part in ("train", "decode", "results")]
    return Stage(f"The figures of {name}", [*shown, *own], [f"reports/{name}/figures"], cached=False)


def _rating(params: Params, name: str, config: Any) -> Stage:
    own = [f"artifacts/{name}/{part}" for part in ("decode", "results")]
    reads = [*_task(params, config.pictures), *own, config.judge]
    return Stage(f"A page for people who judge the captions of {name}", reads, [f"reports/{name}/rating"], cached=False)


def _section(params: Params, name: str, config: Any) -> Stage:
    own = [f"artifacts/{config.pictures}/data"]
    own += [f"artifacts/{name}/{part}" for part in ("train", "decode", "results")]
    pages = [f"reports/{name}/tables", f"reports/{name}/figures"]
    if params.papers[name].rating:
        pages.append(f"reports/{name}/rating")
    does = f"The page of {name}, and its results, which the first page reads"
    written = [f"reports/{name}/{part}" for part in ("report.md", "details.md", "results")]
    return Stage(does, [*own, *pages], written, cached=False)


SHARED: dict[str, Callable[[Params, str, Any], Stage]] = {
    "data": _data,
    "encoder": _encoder,
    "features": _features,
    "probe": _probe,
    "paraphrases": _paraphrases,
    "embeddings": _embeddings,
    "pretrain": _pretrain,
    "retriever": _retriever,
    "mine": _mine,
}
OF_PAPERS: dict[str, Callable[[Params, str, Any], Stage]] = {
    "train": _train,
    "decode": _decode,
    "evaluate": _evaluate,
    "retrieve": _retrieve,
    "variance": _variance,
    "estimators": _estimators,
    "tables": _tables,
    "figures": _figures,
    "rating": _rating,
    "section": _section,
}


def graph(params: Params, configs: Configs, root: Path = Path()) -> dict[Path, dict[str, Any]]:
    """File -> its content, as DVC reads it. The parameter files are those of the checkout in `root`."""
    shared = {CONFIGURE: _configure(root)}
    for kind, stage_of in SHARED.items():
        for name, config in configs[kind].items():
            shared[f"{kind}-{name}"] = _entry(kind, name, stage_of(params, name, config))
    shared[REPORT] = _report(params)
    papers: dict[str, dict[str, Any]] = {paper: {} for paper in params.papers}
    for kind, stage_of in OF_PAPERS.items():
        for name, config in configs[kind].items():
            entry = _entry(kind, name, stage_of(params, name, config))
            # Commands and paths are those of the root.
            papers[params.paper(name)][f"{kind}-{name}"] = {"wdir": "../.."} | entry
    curves = {"template": "learning_curves", "x": "step", "y": {"reports/curves.csv": "value"}}
    files = {
        # `dvc exp show` has the values of `params` beside the metrics.
        GRAPH: {"stages": shared, "params": [PARAMS.as_posix()], "plots": [{"Learning curves": curves}]}
    }
    for paper, stages in papers.items():
        files[graph_file(paper)] = {"stages": stages, "params": [PAPER_FILE]}
    return files


def graph_file(paper: str) -> Path:
    """The DVC file of a paper."""
    return PAPERS / paper / GRAPH


def graph_files(root: Path) -> list[Path]:
    """The DVC files that are in a checkout, relative to it."""
    return _there(root, GRAPH)


def lock_files(root: Path) -> list[Path]:
    """The locks of DVC that are in a checkout, relative to it."""
    return _there(root, LOCK)


def _there(root: Path, name: Path) -> list[Path]:
    found = [root / name, *sorted(root.glob(f"{PAPERS}/*/{name}"))]
    return [path.relative_to(root) for path in found if path.is_file()]


def _configure(root: Path) -> dict[str, Any]:
    # Not the folder of the papers: DVC writes their locks there.
    reads = [*parameter_files(root), SCALES, Path("stages"), Path("src/seqcap")]
    return {
        "desc": "Check the parameters and write one configuration per stage",
        "cmd": "python stages/configure.py",
        "deps": [path.as_posix() for path in reads],
        "outs": [_output(CONFIGS.as_posix(), cached=False)],
    }


def _report(params: Params) -> dict[str, Any]:
    # All that it reads is in git, so that one paper can be run without the others.
    papers = [f"reports/{paper}" for paper in params.papers]
    probed = [f"reports/features/{task}.json" for task in params.shared.features]
    beside = params.shared.report.beside or {}
    written = ["report.md", "report.html", "features/report.md", "claims.csv", "curves.csv"]
    return {
        "desc": "The first page, and all pages as one file",
        "cmd": "python stages/report.py",
        "deps": [config_path(REPORT).as_posix(), *papers, *probed, *beside.values()],
        "outs": [_output(f"reports/{path}", cached=False) for path in written],
        "metrics": [_output("reports/metrics.json", cached=False)],
    }


def _entry(kind: str, name: str, stage: Stage) -> dict[str, Any]:
    """A stage as DVC reads it."""
    script = f"train.py {kind}" if kind in ("pretrain", "train") else f"{kind}.py"
    outputs = [_output(path, stage.cached) for path in stage.writes]
    return {
        "desc": stage.does,
        "cmd": f"python stages/{script} {name}",
        "deps": list(dict.fromkeys([config_path(kind, name).as_posix(), *stage.reads])),
        "plots" if kind == "figures" else "outs": outputs,
    }


def _output(path: str, cached: bool) -> Any:
    return path if cached else {path: {"cache": False}}


def texts(params: Params, configs: Configs, root: Path = Path()) -> dict[Path, str]:
    """File -> its text."""
    found = {}
    for path, content in graph(params, configs, root).items():
        stream = io.StringIO()
        stream.write(HEAD_OF_ALL if path == GRAPH else HEAD_OF_PAPER)
        _yaml().dump(content, stream)
        found[path] = stream.getvalue()
    return found


def _yaml() -> YAML:
    yaml = YAML()
    yaml.width = 1_000_000
    return yaml


def write(params: Params, configs: Configs, root: Path = Path()) -> None:
    """Writes the graph of a checkout, and lets DVC forget the stages that are gone."""
    wanted = texts(params, configs, root)
    for path in graph_files(root):
        if path not in wanted:
            (root / path).unlink()
    for path, text in wanted.items():
        with atomic(root / path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    content = graph(params, configs, root)
    for path in lock_files(root):
        stages = content.get(path.with_name(GRAPH.name), {}).get("stages", {})
        _drop_entries(root / path, stages)


def _drop_entries(path: Path, stages: Collection[str]) -> None:
    """Removes from a lock the stages that are gone. The others keep their bytes."""
    try:
        content = YAML(typ="safe").load(path.read_text(encoding="utf-8")) or {}
    except (YAMLError, UnicodeDecodeError):
        # A merge has left its marks, say. DVC will complain.
        return
    recorded = content.get("stages") or {}
    if recorded.keys() <= set(stages):
        return
    content["stages"] = {name: entry for name, entry in recorded.items() if name in stages}
    if not content["stages"]:
        path.unlink()
        return
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        _yaml().dump(content, file)


def check(params: Params, configs: Configs, root: Path = Path()) -> None:
    """Checks that the graph of a checkout fits its parameters: otherwise DVC runs another graph than theirs."""
    wanted = texts(params, configs, root)
    for path in sorted(wanted.keys() | set(graph_files(root))):
        text = (root / path).read_text(encoding="utf-8") if (root / path).is_file() else None
        if text != wanted.get(path):
            raise InputError(path, STALE, RENEW)


def note_checked(root: Path = Path()) -> None:
    """Notes that the graph that is here fits the parameters."""
    write_json(root / CHECKED, _hashes(root))


def check_unchanged(root: Path) -> None:
    """Checks that the graph is the one that `configure` has checked. This takes milliseconds; `check`, seconds."""
    here, checked = _hashes(root), read_json(root / CHECKED)
    for path in sorted(here.keys() | checked.keys()):
        if here.get(path) != checked.get(path):
            raise InputError(path, STALE, RENEW)


def _hashes(root: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256((root / path).read_bytes()).hexdigest() for path in graph_files(root)}
