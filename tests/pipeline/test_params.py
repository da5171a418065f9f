"""The parameter files: what is read from them, and the one line that a wrong one gets."""

import shutil
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from parameter_files import FILES, ROOT, ParameterFiles, resolve
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.pipeline.experiment import apply_overlay, set_roots
from seqcap.pipeline.overlay import overlay
from seqcap.pipeline.parameter_files import parameter_files
from seqcap.pipeline.params import read_params
from seqcap.tools.show import at

SMOOTHING, SLE, PSST = (f"papers/{name}/runs.yaml" for name in ("smoothing", "sle", "psst"))
SCALES = [name for name in FILES if "scales/" in name]


@pytest.fixture
def files(tmp_path):
    return ParameterFiles(tmp_path)


def message(read):
    """The one line of the InputError that `read` raises."""
    with pytest.raises(InputError) as caught:
        read()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- The committed files


def test_alpha_is_filled_in_where_runs_name_it(files):
    assert files.read().runs["sll_sle"].settings["alpha"] == 0.75
    files["alpha"] = 0.5
    runs = files.read().runs
    assert runs["sll_sle"].settings["alpha"] == runs["sll_sle_att"].settings["alpha"] == 0.5
    assert runs["lstm_tok"].settings["alpha"] == 0.72


def test_every_entry_knows_its_file(files):
    params = files.read()
    assert str(params.source("sll")) == str(params.source("sle_image")) == SLE
    assert params.paper("tok_seq_cider") == params.paper("smoothing_server") == "smoothing"
    assert str(params.source("seed")) == "params.yaml"


@pytest.mark.parametrize("scale", SCALES)
def test_a_committed_scale_names_what_is_there(scale):
    """What a scale names and the files lack is passed over: an experiment may have left it out."""
    folder = (ROOT / scale).parents[1]
    (file,) = [path for path in parameter_files(ROOT) if (ROOT / path).parent == folder]
    content = YAML(typ="safe").load((ROOT / file).read_text())
    for section, entries in YAML(typ="safe").load((ROOT / scale).read_text()).items():
        assert set(entries) <= set(content[section])


# --- like


def runs_of(files, **runs):
    """The runs of SLE's file with some more, all in the group `sle_sll`."""
    base = {"group": "sle_sll", "label": "x", "objective": "cross_entropy"}
    for name, run in runs.items():
        files[f"{SLE}:runs.{name}"] = base | run
    return files.read().runs


def test_a_run_like_another_takes_over_its_values_key_by_key(files):
    runs = runs_of(files, mine={"like": "sll_sle", "training": {"epochs": 3}, "settings": {"alpha": 0.1}})
    theirs = files.read().runs["sll_sle"]
    assert runs["mine"].training == theirs.training.model_copy(update={"epochs": 3})
    assert runs["mine"].settings == theirs.settings | {"alpha": 0.1}
    assert runs["mine"].reward == "cider"


def test_of_several_the_later_wins_and_a_runs_own_value_over_all(files):
    one = {"like": "policy", "training": {"epochs": 1, "batch_size": 11, "clip": 1.0}}
    two = {"training": {"epochs": 2, "batch_size": 22}}
    files[f"{SLE}:runs.two"] = two
    likes = {"ab": ["one", "two"], "ba": ["two", "one"]}
    runs = runs_of(files, **{n: {"like": like, "training": {"epochs": 3}} for n, like in likes.items()}, one=one)
    for name, batch_size in (("ab", 22), ("ba", 11)):
        training = runs[name].training
        assert (training.epochs, training.batch_size, training.clip) == (3, batch_size, 1.0)


@pytest.mark.parametrize(
    ("runs", "named"),
    [
        ({"a": {"like": "zebra"}}, ["runs.a.like is 'zebra'", "allowed: policy, attention, clips, xe"]),
        ({"a": {"like": "lstm_mle"}}, ["runs.a.like is 'lstm_mle'"]),
        ({"a": {"like": "a"}}, ["runs.a.like leads back to itself"]),
        ({"a": {"like": "b"}, "b": {"like": ["sll", "a"]}}, ["like leads back to itself"]),
    ],
)
def test_a_wrong_like_is_named(files, runs, named):
    found = message(lambda: runs_of(files, **runs))
    assert found.startswith(f"{SLE}: ")
    for part in named:
        assert part in found


# --- sweep


def test_a_sweep_stands_for_one_run_per_value(files):
    files[f"{PSST}:runs.luo.sweep.values"] = [0.7, 2.2, 14.0]
    files[f"{PSST}:runs.luo_w22"] = {"seeds": 2}
    files[f"{PSST}:runs.luo.label"] = "Luo"
    files[f"{PSST}:groups"] = {"psst_luo": "psst_image"}
    kept = ("cooperation", "weighted", "compared", "luo", "luo_w22")
    files[f"{PSST}:runs"] = {name: files[f"{PSST}:runs.{name}"] for name in kept}
    runs = {name: run for name, run in files.read().runs.items() if name.startswith("luo")}
    assert list(runs) == ["luo_w07", "luo_w22", "luo_w14"]
    assert [run.label for run in runs.values()] == ["Luo, w .7", "Luo, w 2.2", "Luo, w 14"]
    assert [run.settings["weight"] for run in runs.values()] == [0.7, 2.2, 14.0]
    assert [run.seeds for run in runs.values()] == [5, 2, 5]
    assert {(run.group, run.objective) for run in runs.values()} == {("psst_luo", "discriminability")}


def test_a_run_like_one_with_a_sweep_may_have_other_values_or_none(files):
    files[f"{PSST}:runs.more"] = {"like": "luo", "sweep": {"values": [1.3]}}
    files[f"{PSST}:runs.none"] = {"like": "luo", "sweep": {"values": []}}
    runs = files.read().runs
    assert runs["more_w13"].settings == runs["luo_w34"].settings | {"weight": 1.3}
    assert not [name for name in runs if name.startswith("none")]


# --- Style


def leaves(values, place=()):
    """Each key with a value of its own, as `-S` names it."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*place, key))
        else:
            yield ".".join((*place, key))


@pytest.mark.parametrize("path", [path for path in FILES if YAML(typ="safe").load(ROOT / path)])
def test_dvc_changes_one_line(tmp_path, path):
    """`dvc exp run -S` writes lists as blocks, and loses a comment or an empty line that follows one. To store a file
    as it does, call `apply_overrides` with its path as below and read the difference."""
    copy = tmp_path / "copy.yaml"
    committed = (ROOT / path).read_text(encoding="utf-8")
    copy.write_text(committed, encoding="utf-8")
    values = YAML(typ="safe").load(committed)
    key = next(key for key in leaves(values) if not isinstance(at(values, tuple(key.split("."))), list))
    apply_overrides(copy, [f"{key}=mine"])
    lines, stored = copy.read_text(encoding="utf-8").splitlines(), committed.splitlines()
    different = [line for line, before in zip(lines, stored, strict=True) if line != before]
    assert different == [line for line in lines if line.endswith(": mine")]


@pytest.mark.parametrize("path", FILES)
def test_dvc_sets_every_key(tmp_path, path):
    """By the override parser of `dvc exp run -S`, each key alone."""
    copy = tmp_path / "copy.yaml"
    shutil.copy(ROOT / path, copy)
    keys = list(leaves(YAML(typ="safe").load(copy)))
    apply_overrides(copy, [f"{key}=mine{place}" for place, key in enumerate(keys)])
    changed = YAML(typ="safe").load(copy)
    assert list(leaves(changed)) == keys
    assert [at(changed, tuple(key.split("."))) for key in keys] == [f"mine{place}" for place in range(len(keys))]


# --- scale


def test_a_scale_changes_values_key_by_key(files):
    before = files.read()
    files["scale"] = "paper"
    after = files.read()
    assert after.shared.captioners["lstm"].model == {"hidden": 512, "image_input": "initial_state"}
    assert after.shared.pretrain["lstm"].training.dropout == before.shared.pretrain["lstm"].training.dropout
    assert after.shared.tasks["de_en"].max_length == 80
    # What others are like changes them, too.
    assert after.runs["sll_me"].training.epochs == after.runs["sll_me_att"].training.epochs == 40
    assert after.runs["lstm_tok_seq_cider_batch"].settings["sequence"]["tau"] == 0.17
    assert {"st_w22", "gumbel_75_w22"} <= set(after.runs) - set(before.runs)


def test_a_scale_of_ones_own(files):
    files["scale"] = "huge"
    files.content("scales/huge.yaml")["captioners"] = {"lstm": {"seeds": 9}}
    assert files.read().shared.captioners["lstm"].seeds == 9
    files.content("papers/sle/scales/huge.yaml")["run"] = {}
    assert "papers/sle/scales/huge.yaml: run is not in papers/sle/runs.yaml; allowed: " in message(files.read)


def test_a_scale_passes_over_what_an_experiment_left_out(files):
    files["scale"] = "paper"
    for name in ("across", "spider", "psst", "wtfrl"):
        files.content(f"papers/{name}/runs.yaml").clear()
    del files["captioners.attention"]
    del files[f"{SLE}:runs.attention"]
    for name in ("xe_att", "sll_att", "sll_me_att", "sll_sle_att"):
        del files[f"{SLE}:runs.{name}"]
    params = files.read()
    assert set(params.papers) == {"sle", "smoothing"}
    assert "attention" not in params.shared.captioners


# --- What is wrong


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("objektive", 1, ["objektive: Extra inputs are not permitted; found 1"]),
        ("scale", "huge", ["scale is 'huge'", "allowed: laptop, paper"]),
        ("alpha", True, ["alpha: ", "valid number; found True"]),
        ("launcher", "torchrun '", ["launcher: ", "No closing quotation", 'found "torchrun \'"']),
        ("launcher", " ", ["launcher: ", "is no command", "found ' '"]),
        ("launcher", "\0", ["launcher: ", "is no command"]),
        ("launcher", "'' python", ["launcher: ", "its program has no name"]),
        ("tasks", 5, ["tasks is 5", "expected a mapping"]),
        ("tasks.image.kind", "video", ["tasks.image: ", "'images', 'clips', 'sentences'"]),
        ("rewards.spider.spyce", 1.0, ["rewards.spider.spyce", "bleu1|bleu2"]),
        (f"{SLE}:runs", [], ["runs is []", "expected a mapping"]),
        (f"{SLE}:runs.sll", 3, ["expected a mapping"]),
        (f"{SLE}:runs.sll.label", "=1+1", ["runs.sll.label: ", "a label is one printable line", "found '=1+1'"]),
        (f"{SLE}:runs.sll.label", "a <img src=x>", ["runs.sll.label: ", "without < and >"]),
        (f"{SLE}:runs.sll.label", "a\n\x1b[31m", ["runs.sll.label: ", "one printable line"]),
        (f"{SLE}:runs.sll.objektive", "x", ["runs.sll.objektive: Extra inputs"]),
        (f"{SLE}:groups.a-b", "sle_image", ["groups.a-b"]),
        (f"{SLE}:runz", {}, ["runz: Extra inputs"]),
        (f"{SLE}:comparisons", [["sll"]], ["comparisons.0.1: Field required"]),
        (f"{PSST}:runs.luo.sweep", {"values": "all"}, ["runs.luo.sweep.values: ", "found 'all'"]),
        (f"{PSST}:runs.luo.sweep", {"values": [1], "step": 2}, ["runs.luo.sweep.step: Extra inputs"]),
    ],
)
def test_wrong_parameters_are_named(files, key, value, named):
    files[key] = value
    found = message(files.read)
    assert f"{key.rpartition(':')[0] or 'params.yaml'}: " in found
    for part in named:
        assert part in found


@pytest.mark.parametrize("key", ["decoding.batch_size", f"{SLE}:evaluations.sle_image.beam", f"{SLE}:pictures"])
def test_a_missing_parameter_is_named(files, key):
    del files[key]
    assert f": {key.rpartition(':')[2]}: Field required" in message(files.read)


@pytest.mark.parametrize(("section", "name"), [("groups", "smoothing_server"), ("evaluations", "smoothing_de_en")])
def test_papers_share_one_name_space(files, section, name):
    files[f"papers/spider/runs.yaml:{section}.{name}"] = files[f"{SMOOTHING}:{section}.{name}"]
    found = message(files.read)
    assert found == f"papers/spider/runs.yaml: {section}.{name} is in {SMOOTHING}, too; give it another name"


@pytest.mark.parametrize("text", ["alpha: [", "- a\n- b\n", "", "a: 1\na: 2\n", "a: 2020-13-45"])
def test_what_is_no_parameter_file_is_one_line(files, text):
    path = files.folder / SLE
    path.write_text(text)
    assert message(files.read).startswith(str(path))


def test_a_paper_of_the_package_without_parameters_is_named(files):
    (files.folder / SLE).unlink()
    assert "src/seqcap/papers/sle: has no papers/sle/runs.yaml; add it" in message(files.read)


def test_no_parameter_file_at_all_is_one_line(tmp_path):
    assert "cannot be read" in message(lambda: read_params(tmp_path))


def test_an_overlay_replaces_values_merges_mappings_and_removes_named_entries():
    values = {"runs": {"a": {"b": 1, "c": [1, 2]}, "d": {}}, "seed": 4, "scenes": {"train": 5}}
    changes = {"runs": {"a": {"c": [3], "b": None}, "d": None, "e": {}}, "seed": None, "scenes": {"train": None}}
    overlay(values, changes, "source")
    assert values == {"runs": {"a": {"b": None, "c": [3]}, "e": {}}, "seed": None, "scenes": {"train": None}}
    values["runs"]["a"]["c"].append(4)
    assert changes["runs"]["a"]["c"] == [3]
    assert message(lambda: overlay(values, {"runs": {"x": None}}, "e.yaml")) == (
        "e.yaml: runs.x is null, but there is no such entry; correct the name"
    )


def test_another_architecture_leaves_nothing_of_the_model(tmp_path):
    """Its keys are those of the old one: each architecture has its own."""
    values = {"captioners": {"lstm": {"architecture": "lstm", "seeds": 5, "model": {"hidden": 96, "image_input": "x"}}}}
    overlay(values, {"captioners": {"lstm": {"architecture": "lstm", "model": {"hidden": 8}}}}, tmp_path)
    assert values["captioners"]["lstm"]["model"] == {"hidden": 8, "image_input": "x"}
    overlay(values, {"captioners": {"lstm": {"model": {"layers": 2}, "architecture": "transformer"}}}, tmp_path)
    assert values["captioners"]["lstm"] == {"architecture": "transformer", "seeds": 5, "model": {"layers": 2}}


# --- Experiments


EXPERIMENTS = sorted((ROOT / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda path: path.stem)
def test_a_committed_experiment_names_what_is_there(files, experiment: Path):
    """Every run, group and setting that it changes exists, and the stages of what it leaves can be made."""
    changes = YAML(typ="safe").load(experiment.read_text())
    tasks = changes.get("params.yaml", {}).get("tasks") or {}
    if any(task and task.get("dataset", "scenes") != "scenes" for task in tasks.values()):
        set_roots(tasks, files.folder / "data", experiment)
    apply_overlay(files.folder, changes, experiment)
    trained = {run.name for config in resolve(read_params(files.folder))["train"].values() for run in config.runs}
    assert trained
    for file, change in changes.items():
        runs = (change or {}).get("runs", {})
        known = trained | set(YAML(typ="safe").load((ROOT / file).read_text()).get("runs", {}))
        # New entries that others are like, or that stand for one run with each value.
        known |= {name for name, run in runs.items() if run and "sweep" in run}
        for run in runs.values():
            like = (run or {}).get("like", [])
            known |= {like} if isinstance(like, str) else set(like)
        assert set(runs) <= known, file
