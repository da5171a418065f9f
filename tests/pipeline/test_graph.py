"""graph.yaml: it is what the parameters say, DVC runs it, and a stale one stops `configure`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from dvc.repo import Repo
from parameter_files import ROOT, ParameterFiles

from seqcap.errors import InputError
from seqcap.pipeline.configure import SLOTS, check_graph, graph, resolve, write_graph
from seqcap.pipeline.params import read_params

SLE, PSST, SMOOTHING = "papers/sle.yaml", "papers/psst.yaml", "papers/smoothing.yaml"


@pytest.fixture
def files(tmp_path):
    return ParameterFiles(tmp_path)


def derived(files):
    params = files.read()
    return graph(params, resolve(params))


def test_the_committed_graph_is_that_of_the_parameters_at_every_scale(files):
    for scale in ("laptop", "paper"):
        files["scale"] = scale
        params = files.read()
        check_graph(params, resolve(params), ROOT)


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
            stage = graph_stages[f"{kind}@{name}" if name else kind]
            known = [Path(path.def_path) for path in (*stage.deps, *stage.outs)]
            for path in paths(config.model_dump(mode="json", exclude={"code"})):
                assert any(Path(path).is_relative_to(other) or other.is_relative_to(path) for other in known), (
                    stage.name,
                    path,
                )
                checked += 1
    assert checked > 500
    assert {stage.split("@")[0] for stage in graph_stages} == {*stages, "configure"}


def paths(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [path for item in value for path in paths(item)]
    return [value] if isinstance(value, str) and value.startswith("artifacts/") else []


def test_dvc_names_every_slot_of_a_group():
    text = (ROOT / "dvc.yaml").read_text()
    assert [f"${{item.reads[{slot}]}}" in text for slot in range(SLOTS + 1)] == [True] * SLOTS + [False]


def test_what_a_group_reads_follows_from_its_runs(files):
    groups = derived(files)["groups"]

    def reads(name):
        return [path for path in groups[name]["reads"] if not path.startswith("configs/")]

    assert reads("sle_sll") == ["artifacts/pretrain/lstm"]
    assert reads("smoothing_lstm_sequence_cider") == []
    assert reads("smoothing_de_en_token") == ["artifacts/words/de_en/embeddings.parquet"]
    assert reads("spider_pg_bcmr") == ["artifacts/pretrain/lstm", "artifacts/words/image/paraphrases.parquet"]
    assert reads("psst_frozen_luo_34") == ["artifacts/psst/train/psst_luo/luo_w34", "artifacts/retriever/listener"]
    assert reads("wtfrl_weighted") == ["artifacts/pretrain/transformer", "artifacts/mined/reward"]
    assert groups["psst2_soft"]["task"] == "image2"


def test_a_run_may_read_all_that_there_is(files):
    """A listener or embeddings, and paraphrases for METEOR: once one of them kept the other out."""
    files[f"{PSST}:runs.cooperation.reward"] = "bcmr"
    # An objective whose embeddings SLE's other runs do not read.
    files[f"{SLE}:runs.xe_att"] |= {"objective": "token_smoothing", "settings": {"tau": 0.1}, "reward": "bcmr"}
    (run, *_) = resolve(files.read())["train"]["psst_multinomial"].runs
    paths = ["artifacts/retriever/listener", "artifacts/words/image/paraphrases.parquet"]
    assert run.reads == dict(zip(("listener", "paraphrases"), paths, strict=True))
    groups = derived(files)["groups"]
    assert groups["psst_multinomial"]["reads"][1:3] == paths
    assert groups["sle_xe_att"]["reads"][0] == "artifacts/pretrain/attention"
    assert {Path(path).stem for path in groups["sle_xe_att"]["reads"][1:3]} == {"embeddings", "paraphrases"}


def test_a_group_that_reads_more_than_dvc_sees_is_one_line(files):
    files[f"{SMOOTHING}:runs.server"] |= {"objective": "token_smoothing", "settings": {"tau": 0.1}, "reward": "bcmr"}
    for number, start in enumerate(("attention_mle", "attention_seq_cider_batch")):
        files[f"{SMOOTHING}:runs.server_{number}"] = {"like": "server", "start": start, "seeds": 1}
    with pytest.raises(InputError, match=r"smoothing\.yaml: the runs of groups\.smoothing_server read .*split it"):
        derived(files)


def test_a_new_run_renews_nothing_and_a_new_group_does(files):
    write_graph(files.read() and files.folder)

    def check():
        params = files.read()
        check_graph(params, resolve(params), files.folder)

    files[f"{SLE}:runs.more"] = {"like": "sll", "label": "More"}
    check()
    files[f"{SLE}:groups.more"] = "sle_image"
    files[f"{SLE}:runs.more.group"] = "more"
    with pytest.raises(InputError, match=r"^graph\.yaml: does not fit the parameters; renew it with `seqcap graph`"):
        check()
    write_graph(files.folder)
    check()
    (files.folder / "graph.yaml").unlink()
    with pytest.raises(InputError, match="does not fit"):
        check()


def test_configure_stops_at_a_stale_graph_and_the_command_renews_it(files):
    files["mined"] = {"judge": {"neighbours": 3}, "reward": {"neighbours": 5}}
    files.read()

    def run(*command):
        return subprocess.run([sys.executable, *command], cwd=files.folder, capture_output=True, text=True, check=False)

    stopped = run(str(ROOT / "stages/configure.py"))
    assert (stopped.returncode, stopped.stderr.count("\n")) == (2, 1)
    assert "renew it with `seqcap graph`" in stopped.stderr
    assert not (files.folder / "configs").exists()
    assert run("-m", "seqcap", "graph").returncode == 0
    assert json.dumps({"task": "image"}) in (files.folder / "graph.yaml").read_text().partition("mined:")[2]
    assert run(str(ROOT / "stages/configure.py")).returncode == 0
