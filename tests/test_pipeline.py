"""The whole graph on a tiny dataset, twice; and that dvc.yaml says what the code reads."""

import ast
import json
from pathlib import Path

import pytest
from pipeline_files import ROOT, copy_project, run, start, write_params
from ruamel.yaml import YAML

from seqcap.config import resolve
from seqcap.errors import InputError
from seqcap.params import read_params
from seqcap.pipeline import _drop_stages, _left_out, _overlay, run_experiment, stage_graph


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Two copies of the project, each run from nothing: one by `dvc repro`, one by `seqcap repro --jobs 2`."""
    folders = [copy_project(tmp_path_factory.mktemp("copy")) for _ in range(2)]
    commands = [("dvc", "repro"), ("seqcap", "repro", "--jobs", "2")]
    processes = [start(folder, *command) for folder, command in zip(folders, commands, strict=True)]
    for process in processes:
        output, _ = process.communicate(timeout=500)
        assert process.returncode == 0, output
    return folders


def outputs(folder):
    """Path -> hash of everything that the graph wrote, but for how long it took."""
    lock = YAML(typ="safe").load((folder / "dvc.lock").read_text())
    outs = (out for stage in lock["stages"].values() for out in stage.get("outs", []))
    return {out["path"]: out["md5"] for out in outs if "timing" not in out["path"]}


def test_every_stage_ran_and_left_what_it_declares(copies):
    for path in outputs(copies[0]):
        assert (copies[0] / path).exists()
    report = (copies[0] / "reports/report.md").read_text()
    assert "nan" not in report.lower().split()
    assert "SLL-SLE" in report
    assert "PG-SPIDEr" in report
    assert "Tok-Seq" in report
    metrics = json.loads((copies[0] / "reports/metrics.json").read_text())
    assert metrics


def test_two_runs_give_the_same_bytes(copies):
    one, two = map(outputs, copies)
    assert len(one) > 30
    assert one == two


def test_run_again_runs_nothing(copies):
    output = run(copies[0], "dvc", "repro")
    assert "Running stage" not in output
    assert "up to date" in run(copies[0], "dvc", "status")


def test_dvc_shows_metrics_and_plots(copies):
    assert "cider" in run(copies[0], "dvc", "metrics", "show").lower()
    run(copies[0], "dvc", "plots", "show")
    assert "val_cider" in (copies[0] / "dvc_plots/index.html").read_text()


def test_alpha_touches_only_what_follows_from_it(copies):
    params = YAML(typ="safe").load((copies[1] / "params.yaml").read_text())
    write_params(copies[1], params | {"alpha": 0.5})
    run(copies[1], "dvc", "repro", "configure")
    changed = set(json.loads(run(copies[1], "dvc", "status", "--json")))
    assert {name for name in changed if name.startswith(("train", "pretrain", "decode"))} == {
        "train_sle@sll_sle",
        "train_sle@sll_sle_att",
    }
    assert not changed & {"data", "encoder", "features"}


def test_a_wrong_parameter_stops_the_graph_with_one_line(copies):
    params = YAML(typ="safe").load((copies[1] / "params.yaml").read_text())
    write_params(copies[1], params | {"alpha": 1.5})
    process = start(copies[1], "dvc", "repro", "configure")
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "params.yaml: alpha" in output
    assert "Traceback" not in output


def test_graph_order():
    graph = stage_graph(ROOT)
    assert "train_sle@sll_sle" in graph["decode_sle@sll_sle"]
    assert "pretrain@lstm" in graph["train_sle@sll_sle"]
    assert graph["configure"] == set()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks: [", "cannot be read"),
        ("- 1", "is not a mapping"),
    ],
)
def test_an_unreadable_experiment_is_one_line(tmp_path, text, message):
    path = tmp_path / "experiment.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        run_experiment(path, None, tmp_path / "out", 1)


def test_an_experiment_with_an_unknown_parameter_is_one_line(copies, tmp_path, monkeypatch):
    monkeypatch.chdir(copies[0])
    path = tmp_path / "experiment.yaml"
    path.write_text("sle:\n  traning:\n    epochs: 1\n")
    with pytest.raises(InputError, match=r"sle\.traning is not in params\.yaml"):
        run_experiment(path, None, tmp_path / "out", 1)


@pytest.mark.parametrize("experiment", sorted((ROOT / "experiments").glob("*.yaml")), ids=lambda path: path.stem)
def test_committed_experiments_change_parameters_that_there_are(experiment, tmp_path):
    params = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    overlay = YAML(typ="safe").load(experiment.read_text())
    _overlay(params, overlay, experiment)
    (task,) = overlay["tasks"]
    params["tasks"][task]["root"] = str(tmp_path)
    write_params(tmp_path, params)
    assert resolve(read_params(tmp_path / "params.yaml"))[f"data_{task}"]["root"] == str(tmp_path)


def test_a_root_belongs_to_one_task(tmp_path):
    path = tmp_path / "experiment.yaml"
    path.write_text("tasks:\n  image:\n    min_count: 1\n  de_en:\n    min_count: 1\n")
    with pytest.raises(InputError, match="changes 2 tasks"):
        run_experiment(path, tmp_path, tmp_path / "out", 1)


def test_an_experiment_without_a_paper_has_none_of_its_stages(tmp_path):
    path = tmp_path / "dvc.yaml"
    path.write_text((ROOT / "dvc.yaml").read_text())
    _drop_stages(path, _left_out({"spider": None, "workers": 1}))
    text = path.read_text()
    assert "artifacts/sle/scores.parquet" in text
    assert "train_sle" in text
    assert "spider" not in text
    assert "curves_sle" in text


def test_an_experiment_without_a_part_of_a_paper_has_none_of_its_stages(tmp_path):
    path = tmp_path / "dvc.yaml"
    path.write_text((ROOT / "dvc.yaml").read_text())
    _drop_stages(path, _left_out({"smoothing": {"captions": None, "server": None, "translation": {}}}))
    stages = YAML(typ="safe").load(path.read_text())["stages"]
    assert {name for name in stages if name.endswith("smoothing")} == {
        "train_translation_smoothing",
        "decode_translation_smoothing",
        "evaluate_translation_smoothing",
        "table_smoothing",
        "figure_smoothing",
    }
    deps = stages["table_smoothing"]["deps"]
    assert "artifacts/smoothing/translation.parquet" in deps
    # Translations still write into this folder, but nothing writes captions' scores.
    assert "artifacts/smoothing/timing" in deps
    assert "artifacts/smoothing/scores.parquet" not in deps


def test_only_what_the_reports_need_is_run(tmp_path):
    folder = copy_project(tmp_path / "copy")
    whole = stage_graph(folder)
    assert "pairs@de_en" in whole
    _drop_stages(folder / "dvc.yaml", ["smoothing"])
    left = stage_graph(folder)
    assert not [name for name in left if name.startswith(("pairs", "embeddings", "pretrain_translator"))]
    assert {name for name in whole if name.endswith(("_sle", "_spider"))} <= set(left)


def imported(path):
    """The seqcap modules' files that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    for name in names:
        base = ROOT / "src" / name.replace(".", "/")
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if name.startswith("seqcap.") and file.exists():
                yield file


def closure(path):
    found, ahead = set(), [path]
    while ahead:
        for file in imported(ahead.pop()):
            if file not in found:
                found.add(file)
                ahead.append(file)
    return found


GRAPH = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]


@pytest.mark.parametrize("stage", sorted(GRAPH))
def test_stages_depend_on_the_code_that_they_import(stage):
    """A stage that imports a module that it does not depend on would not run again when that module changes."""
    declared = GRAPH[stage].get("do", GRAPH[stage])
    deps = [ROOT / dep for dep in declared["deps"] if "$" not in dep]
    script = ROOT / declared["cmd"].split()[1]
    assert script in deps
    missing = {
        str(file.relative_to(ROOT))
        for file in closure(script)
        if not any(file == dep or dep in file.parents for dep in deps)
    }
    assert missing == set()


def test_no_stage_reads_the_parameters_but_configure():
    for path in Path(ROOT / "stages").glob("*.py"):
        assert ("read_params" in path.read_text()) == (path.name == "configure.py")
