"""Runs the graph with other parameters, in a clone of the checkout."""

from collections.abc import Callable, Collection, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.writing import atomic
from seqcap.pipeline.clone import check_committed, update_clone
from seqcap.pipeline.graph import GRAPH, REPORT
from seqcap.pipeline.overlay import overlay, trained_runs
from seqcap.pipeline.parameter_files import PAPER_FILE, PARAMS, is_parameter_file, read_yaml
from seqcap.pipeline.publish import check_publication, publish, recover, shown
from seqcap.pipeline.repro import new_server, repro, run_python, sections, split_address, stage_graph
from seqcap.report.provenance import EXPERIMENT
from seqcap.system.scratch import locked

RUNS = Path("runs")


def run_experiment(
    experiment: Path,
    root: Path | None,
    publish_to: Path,
    jobs: int | None,
    papers: Collection[str] = (),
    allow_dirty: bool = False,
    cluster: str | None = None,
) -> None:
    """Runs the graph with other parameters in runs/<name>, a clone of the last commit, and publishes its results; a
    second call resumes. `experiment` is a YAML file (`apply_overlay`), `root` the folder of the dataset of the one task
    that it changes; of several tasks each says which folder in `root` is its own. `papers`: which are run, and
    published beside those that were published earlier; empty: all. `allow_dirty`: it may run without uncommitted
    changes (`check_committed`). `cluster` as in `repro`."""
    changes = read_yaml(experiment)
    if root is not None:
        tasks = (changes.get(str(PARAMS)) or {}).get("tasks") or {}
        set_roots(tasks, root, experiment)
    folder = RUNS / experiment.stem
    # Checked here, before hours of work.
    check_publication(publish_to, folder)
    check_committed(experiment, allow_dirty)
    with locked(folder.with_name(f".{folder.name}.lock"), f"runs {experiment}"), new_server() as server:
        recover(publish_to.resolve())
        update_clone(folder)
        apply_overlay(folder, changes, experiment)
        write_json(folder / EXPERIMENT, {"experiment": shown(experiment)})
        # With the clone's own code; a project without it has another graph.
        has_code = (folder / "src/seqcap").is_dir()
        if has_code and run_python(folder, "-m", "seqcap", "graph", python=server.next_python()) != 0:
            raise InputError(folder / GRAPH, "cannot be derived from the parameters", "see above")
        # Only what the report needs: not the data of tasks that the experiment leaves out.
        needed = sorted(stage_graph(folder, [REPORT])[REPORT])
        made = [stage for stage in needed if split_address(stage)[1].startswith("section-")]
        wanted = sections(papers) or made
        probes = [stage for stage in needed if stage.startswith("probe-")]
        repro(folder, jobs, [*wanted, *probes], cluster=cluster, server=server)
        ran = [split_address(stage)[0].parent.name for stage in wanted]
        publish(folder, publish_to, experiment, ran, python=server.next_python())


def set_roots(tasks: Mapping[str, Any], root: Path, experiment: Path) -> None:
    """Writes the folder of each task's dataset into the changes of an experiment: their own `root` is within `root`."""
    changed = [task for task in tasks.values() if task is not None]
    without = [task for task in changed if not task.get("root")]
    if not changed or (len(changed) > 1 and without):
        problem = f"changes {len(changed)} tasks, {len(without)} of them without a root"
        raise InputError(experiment, problem, "change one task, or give each its folder within the root")
    for task in changed:
        task["root"] = str((root / (task.get("root") or "")).resolve())


def apply_overlay(folder: Path, changes: Mapping[str, Any], source: Path) -> None:
    """Changes the parameters in a checkout. Comments stay; nothing is written if something is wrong. `changes`, from
    file `source`, maps params.yaml or a papers/<paper>/runs.yaml to what `overlay` lays over it. With an evaluation go
    its groups, and with a group what its runs leave behind. A paper whose file is null takes no part."""
    # Here: it loads all kinds of stages, and so torch.
    from seqcap.pipeline.params import check_sections

    yaml = YAML()
    # What does not change is written as it was read, with indents and nulls as DVC writes them.
    yaml.width = 1_000_000
    yaml.preserve_quotes = True
    yaml.default_flow_style = None
    changed: dict[Path, Any] = {}
    for name, change in changes.items():
        path = folder / str(name)
        # A link would lead the change out of the checkout.
        if not is_parameter_file(str(name)) or path.resolve() != folder.resolve() / str(name) or not path.is_file():
            fix = f"name {PARAMS} or a committed papers/<paper>/{PAPER_FILE}"
            raise InputError(source, f"{name} is no file of parameters", fix)
        # First, since its errors are one line.
        check_sections(read_yaml(path), path)
        content = yaml.load(path.read_text(encoding="utf-8"))
        if change is None and path != folder / PARAMS:
            content = {}
        elif isinstance(change, Mapping):
            overlay(content, change, source)
            _drop_orphans(content, path)
            # Without the comment above its first entry, which YAML would write where none may be.
            content.update({key: {} for key, value in content.items() if value == {}})
        else:
            raise InputError(source, f"{name}: is not a mapping of parameters", "write it like the file")
        changed[path] = content
    for path, content in changed.items():
        with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            yaml.dump(content, file)


def _drop_orphans(content: MutableMapping[str, Any], path: Path) -> None:
    """Removes what a removed evaluation or group leaves behind, but for its runs: others may be like them."""
    evaluations, groups, runs = (content.get(section, {}) for section in ("evaluations", "groups", "runs"))
    _keep(groups, lambda evaluation: evaluation in evaluations)
    _keep(content.get("retrievals", {}), lambda retrieval: retrieval["evaluation"] in evaluations)
    for run in runs.values():
        if run.get("group") is not None and run["group"] not in groups:
            run["group"] = None
    trained = trained_runs(runs, path)
    ensembles = content.get("ensembles", {})
    _keep(ensembles, lambda ensemble: ensemble["run"] in trained)
    if "comparisons" in content:
        known = {*trained, *ensembles}
        content["comparisons"] = [pair for pair in content["comparisons"] if known.issuperset(pair)]


def _keep(entries: MutableMapping[str, Any], wanted: Callable[[Any], bool]) -> None:
    for name in [name for name, entry in entries.items() if not wanted(entry)]:
        del entries[name]
