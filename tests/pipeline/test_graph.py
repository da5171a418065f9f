"""DVC's files: they are what the parameters say, DVC runs them, and stale ones stop `configure`."""

import json
from functools import partial
from pathlib import Path

import pytest
from dvc.repo import Repo
from dvc.utils.serialize import dumps_yaml, load_yaml
from parameter_files import ROOT, ParameterFiles, resolve

from seqcap.errors import InputError
from seqcap.pipeline.configure import check_graph, write_graph
from seqcap.pipeline.graph import CONFIGURE, graph
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project

SLE, PSST = "papers/sle/runs.yaml", "papers/psst/runs.yaml"


@pytest.fixture
def files(tmp_path):
    return ParameterFiles(tmp_path)


def derived(files, paper):
    """The stages of a paper."""
    return graph(Project(files.read()), files.folder)[Path(f"papers/{paper}/dvc.yaml")]["stages"]


def test_retrieval_depends_on_the_group_that_it_scores_alone(files):
    """Training another group of the paper does not repeat it, nor what is made of people's captions."""
    stages = derived(files, "psst")
    groups = [name.removeprefix("retrieve-") for name in stages if name.startswith("retrieve-")]
    assert len(groups) > 10
    for group in groups:
        deps = stages[f"retrieve-{group}"]["deps"]
        assert [path for path in deps if "/train/" in path] == [f"artifacts/psst/train/{group}"]
        assert [path for path in deps if "/decode/" in path] == stages[f"decode-{group}"]["outs"]
    for name in ("psst_image", "psst_image2"):
        deps = stages[f"people-{name}"]["deps"]
        assert not [path for path in deps if path.startswith("artifacts/psst")]
        assert "starts/retriever/judge" in " ".join(deps)


def test_the_committed_graph_is_that_of_the_parameters_at_every_scale(files):
    check_graph(ROOT)
    write_graph(files.folder)
    files["scale"] = "paper"
    files.read()
    check_graph(files.folder)


def test_every_stage_depends_on_what_its_configuration_names():
    """Whatever path below artifacts/ a configuration holds, the stage has as a dependency or writes itself.

    The report's stages know more than they read.
    """
    params = read_params(ROOT)
    stages = resolve(params)
    with Repo(str(ROOT), config={"core": {"no_scm": True}}) as repo:
        graph_stages = {stage.name: stage for stage in repo.index.stages}
    checked = 0
    for kind in set(stages) - {"tables", "figures", "section", "rating", "report"}:
        for name, config in stages[kind].items():
            stage = graph_stages[f"{kind}-{name}"]
            known = [Path(path.def_path) for path in (*stage.deps, *stage.outs)]
            for path in paths(config.model_dump(mode="json", exclude={"code"})):
                assert any(Path(path).is_relative_to(other) or other.is_relative_to(path) for other in known), (
                    stage.name,
                    path,
                )
                checked += 1
    assert checked > 500
    assert {stage.split("-")[0] for stage in graph_stages} == {*stages, CONFIGURE}


def paths(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [path for item in value for path in paths(item)]
    return [value] if isinstance(value, str) and value.startswith("artifacts/") else []


def test_what_a_group_reads_follows_from_its_runs(files):
    def reads(paper, group):
        config, data, features, *others = derived(files, paper)[f"train-{group}"]["deps"]
        assert config == f"configs/train/{group}.json"
        assert [data, features] == ["artifacts/image/data", "artifacts/image/features"]
        return others

    assert reads("sle", "sle_sll") == ["starts/pretrain/lstm"]
    assert reads("smoothing", "smoothing_lstm_sequence_cider") == []
    assert reads("spider", "spider_pg_bcmr") == ["starts/pretrain/lstm", "artifacts/words/image/paraphrases.parquet"]
    frozen = ["artifacts/psst/train/psst_luo/luo_w34", "starts/retriever/listener"]
    assert reads("psst", "psst_frozen_luo_34") == frozen
    assert reads("wtfrl", "wtfrl_weighted") == ["starts/pretrain/transformer", "artifacts/mined/reward"]


def test_a_run_may_read_all_that_there_is(files):
    """A listener or embeddings, and paraphrases for METEOR: once one of them kept the other out."""
    files[f"{PSST}:runs.cooperation.reward"] = "bcmr"
    # An objective whose embeddings SLE's other runs do not read.
    files[f"{SLE}:runs.xe_att"] |= {"objective": "token_smoothing", "settings": {"tau": 0.1}, "reward": "bcmr"}
    (run, *_) = resolve(files.read())["train"]["psst_multinomial"].runs
    paths = ["starts/retriever/listener", "artifacts/words/image/paraphrases.parquet"]
    assert run.reads == dict(zip(("listener", "paraphrases"), paths, strict=True))
    assert derived(files, "psst")["train-psst_multinomial"]["deps"][4:] == paths
    start, *words = derived(files, "sle")["train-sle_xe_att"]["deps"][3:]
    assert start == "starts/pretrain/attention"
    assert {Path(path).stem for path in words} == {"embeddings", "paraphrases"}


def test_a_new_run_renews_nothing_and_a_new_group_does(files):
    write_graph(files.folder)
    files[f"{SLE}:runs.more"] = {"like": "sll", "label": "More"}
    files.read()
    check_graph(files.folder)
    files[f"{SLE}:groups.more"] = "sle_image"
    files[f"{SLE}:runs.more.group"] = "more"
    files.read()
    renew = r"^papers/sle/dvc\.yaml: does not fit the parameters; renew it with `seqcap graph`"
    with pytest.raises(InputError, match=renew):
        check_graph(files.folder)
    write_graph(files.folder)
    check_graph(files.folder)
    (files.folder / "papers/sle/dvc.yaml").unlink()
    with pytest.raises(InputError, match=renew):
        check_graph(files.folder)


def test_configure_stops_at_a_stale_graph_and_the_command_renews_it(files, command, monkeypatch):
    monkeypatch.chdir(files.folder)
    write_graph()
    files["mined"] = {"twin": {"neighbours": 3}, "reward": {"neighbours": 5}, "sharp": {"neighbours": 5}}
    files.read()
    configure = partial(command, script=ROOT / "stages/configure.py")
    expected = "error: dvc.yaml: does not fit the parameters; renew it with `seqcap graph`, then run again\n"
    for refused in (configure(), command("graph", "--check")):
        assert (refused.returncode, refused.stderr) == (2, expected)
        assert not Path("configs").exists()
    assert command("graph").returncode == 0
    assert load_yaml("dvc.yaml")["stages"]["mine-twin"]["outs"] == ["artifacts/mined/twin"]
    assert configure().returncode == 0
    assert set(json.loads(Path("configs/graph.json").read_text())) >= {"dvc.yaml", "papers/sle/dvc.yaml"}


def test_dvc_forgets_the_stages_that_are_gone(files):
    """What it knows of the others keeps its bytes."""
    write_graph(files.folder)
    records = {}
    for path in ("dvc.lock", "papers/sle/dvc.lock", "papers/spider/dvc.lock"):
        # In DVC's own form, which the test is of; the committed one may be of another version of DVC.
        stages = load_yaml(files.folder / path.replace("lock", "yaml"))["stages"]
        content = {name: {"cmd": stage["cmd"], "deps": [{"path": "x", "size": 1}]} for name, stage in stages.items()}
        records[path] = content
        (files.folder / path).write_text(dumps_yaml({"schema": "2.0", "stages": content}))
    before = {path: (files.folder / path).read_bytes() for path in records}
    write_graph(files.folder)
    assert {path: (files.folder / path).read_bytes() for path in records} == before
    more = {"train-gone": {"cmd": "python gone.py"}} | records["papers/sle/dvc.lock"]
    (files.folder / "papers/sle/dvc.lock").write_text(dumps_yaml({"schema": "2.0", "stages": more}))
    # An experiment leaves a paper out.
    files.content("papers/spider/runs.yaml").clear()
    files.read()
    write_graph(files.folder)
    for path in ("dvc.lock", "papers/sle/dvc.lock"):
        assert (files.folder / path).read_bytes() == before[path]
    left = sorted(path.name for path in (files.folder / "papers/spider").iterdir())
    assert left == ["runs.yaml", "scales"]
    # Whoever merges must see the marks.
    (files.folder / "dvc.lock").write_text("schema: '2.0'\nstages:\n<<<<<<< ours\n  a: {cmd: x}\n")
    write_graph(files.folder)
    assert "<<<<<<< ours" in (files.folder / "dvc.lock").read_text()
