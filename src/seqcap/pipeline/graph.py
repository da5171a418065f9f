"""The stages (`Project.all_stages`) as DVC reads them. `seqcap graph` writes them, one DVC file for what papers share
and one for each paper; git keeps these files.

They follow from the parameters, but DVC reads them before any stage runs. So `configure` checks them and does not write
them. It also notes what it has checked, in `CHECKED`: `seqcap repro` sees from that whether somebody has changed them
since. DVC itself lets no stage depend on a DVC file.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.config import CONFIGS, config_path
from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.writing import atomic
from seqcap.pipeline.kind import Stage, kinds
from seqcap.pipeline.parameter_files import PAPER_FILE, PAPERS, PARAMS, SCALES, parameter_files

if TYPE_CHECKING:
    from seqcap.pipeline.project import Project

GRAPH = Path("dvc.yaml")  # of what papers share; papers/<paper>/dvc.yaml are those of papers
LOCK = Path("dvc.lock")  # what DVC writes beside each
CHECKED = CONFIGS / "graph.json"  # file of the graph -> hash, when `configure` checked it
CONFIGURE = "configure"  # the first stage, which writes what the others depend on
REPORT = "report"  # the last stage
# The order of stages in DVC's files, for readers: those of other kinds come last.
FLOW = (
    *("data", "encoder", "features", "probe", "paraphrases", "embeddings", "pretrain", "retriever", "mine"),
    *("train", "decode", "evaluate", "retrieve", "people", "variance", "estimators"),
    *("tables", "figures", "rating", "section"),
    REPORT,
)
STALE = "does not fit the parameters"
RENEW = "renew it with `seqcap graph`, then run again"

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


def graph(project: Project, root: Path = Path()) -> dict[Path, dict[str, Any]]:
    """File -> its content, as DVC reads it. The parameter files are those of the checkout in `root`."""
    curves = {"template": "learning_curves", "x": "step", "y": {"reports/curves.csv": "value"}}
    # `dvc exp show` has the values of `params` beside the metrics.
    whole = {"params": [PARAMS.as_posix()], "plots": [{"Learning curves": curves}]}
    stages: dict[str, dict[str, Any]] = {paper: {} for paper in ("", *project.params.papers)}
    stages[""][CONFIGURE] = _configure(root)
    by_kind = project.all_stages()
    for kind in sorted(by_kind, key=lambda kind: FLOW.index(kind) if kind in FLOW else len(FLOW)):
        for name, stage in by_kind[kind].items():
            # Commands and paths of a paper's stages are those of the root.
            folder = {"wdir": "../.."} if stage.paper else {}
            stages[stage.paper][f"{kind}-{name}".rstrip("-")] = folder | _entry(kind, stage)
    shared = stages.pop("")
    papers = {graph_file(paper): {"stages": own, "params": [PAPER_FILE]} for paper, own in stages.items()}
    return {GRAPH: {"stages": shared} | whole, **papers}


def graph_file(paper: str) -> Path:
    """The DVC file of a paper."""
    return PAPERS / paper / GRAPH


def graph_files(root: Path) -> list[Path]:
    """The DVC files that are in a checkout, relative to it."""
    return _present(root, GRAPH)


def lock_files(root: Path) -> list[Path]:
    """The locks of DVC that are in a checkout, relative to it."""
    return _present(root, LOCK)


def _present(root: Path, name: Path) -> list[Path]:
    paths = [root / name, *sorted(root.glob(f"{PAPERS}/*/{name}"))]
    return [path.relative_to(root) for path in paths if path.is_file()]


def _configure(root: Path) -> dict[str, Any]:
    # Not the folder of the papers: DVC writes their locks there.
    files = parameter_files(root)
    scales = [file.parent / SCALES for file in files if (root / file.parent / SCALES).is_dir()]
    reads = [*files, *scales, Path("stages"), Path("src/seqcap")]
    return {
        "desc": "Check the parameters and write one configuration per stage",
        "cmd": "python stages/configure.py",
        "deps": [path.as_posix() for path in reads],
        "outs": [_output(CONFIGS.as_posix(), cached=False)],
    }


def _entry(kind: str, stage: Stage) -> dict[str, Any]:
    """A stage as DVC reads it."""
    entry = {
        "desc": stage.does,
        "cmd": f"{kinds()[kind].command} {stage.name}".rstrip(),
        "deps": list(dict.fromkeys([config_path(kind, stage.name).as_posix(), *stage.reads])),
        stage.written_as: [_output(path, stage.cached) for path in stage.writes],
    }
    if stage.metrics:
        entry["metrics"] = [_output(path, stage.cached) for path in stage.metrics]
    return entry


def _output(path: str, cached: bool) -> Any:
    return path if cached else {path: {"cache": False}}


def texts(project: Project, root: Path = Path()) -> dict[Path, str]:
    """File -> its text."""
    written = {}
    for path, content in graph(project, root).items():
        stream = io.StringIO()
        stream.write(HEAD_OF_ALL if path == GRAPH else HEAD_OF_PAPER)
        _yaml().dump(content, stream)
        written[path] = stream.getvalue()
    return written


def _yaml() -> YAML:
    yaml = YAML()
    yaml.width = 1_000_000
    return yaml


def write(project: Project, root: Path = Path()) -> None:
    """Writes the graph of a checkout, and lets DVC forget the stages that are gone."""
    wanted = texts(project, root)
    for path in graph_files(root):
        if path not in wanted:
            (root / path).unlink()
    for path, text in wanted.items():
        with atomic(root / path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    content = graph(project, root)
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


def check(project: Project, root: Path = Path()) -> None:
    """Checks that the graph of a checkout fits its parameters: otherwise DVC runs another graph than theirs."""
    wanted = texts(project, root)
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
