"""The resolution of the parameters: what each stage's file holds, what changes it, and what a wrong name gets."""

import importlib
import json
from fnmatch import fnmatch
from pathlib import Path

import pytest
from parameter_files import ParameterFiles, changed, committed

from seqcap import objectives
from seqcap.config import config_path
from seqcap.data.captions import ImageData
from seqcap.errors import InputError
from seqcap.pipeline.configure import write_configs
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.training.run import TrainConfig

CAPTIONERS = ("attention", "lstm")
PSST, SLE, SPIDER, SMOOTHING = (f"papers/{name}/runs.yaml" for name in ("psst", "sle", "spider", "smoothing"))
REPORT = ("tables", "figures", "section")


@pytest.fixture
def files(tmp_path):
    return ParameterFiles(tmp_path)


SLL_SLE = {f"train/sle_{group}" for group in ("sll_sle", "alphas", "sll_sle_att", "rates", "clip_policies")}


def reported(paper):
    return {f"{stage}/{paper}" for stage in REPORT}


def only_run(configs, group):
    (run,) = configs[f"train/{group}"]["runs"]
    return run


# --- The committed parameters


def test_committed_parameters_resolve():
    configs = committed()
    runs = [*configs["train/sle_sll_sle"]["runs"], *configs["train/sle_alphas"]["runs"]]
    assert [of["settings"]["alpha"] for of in runs] == [0.75, 0.75, 0.9, 0.75, 0.95]
    assert [of["settings"]["distance"] for of in runs] == ["pairwise", "multi_reference", *["pairwise"] * 3]
    run = runs[0]
    assert run["seeds"] == [1, 2, 3, 4, 5]
    assert run["start"] == "starts/pretrain/lstm"
    assert only_run({"train/x": configs["pretrain/lstm"]}, "x")["model"]["hidden"] == 96
    assert [run["name"] for run in configs["train/smoothing_attention_token"]["runs"]] == [
        f"attention_{loss}" for loss in ("mle", "tok", "tok_rfreq")
    ]


def test_the_papers_scale_resolves(files):
    files["scale"] = "paper"
    configs = files.resolved()
    assert only_run({"train/x": configs["pretrain/lstm"]}, "x")["model"]["hidden"] == 512
    assert configs["encoder/image"]["backbone"] == "resnet152"
    server = only_run(configs, "smoothing_server")
    runs = configs["train/smoothing_attention_token_sequence"]["runs"]
    started = next(run for run in runs if run["weights"] == server["start"])
    assert (server["captioner"], started["settings"]["token"]["alpha"]) == ("attention", 0.3)
    assert server["seeds"] == started["seeds"] == [1, 2, 3, 4, 5]
    # All of Table 1: at laptop scale some rows are not trained.
    reported = [run for run in configs["tables/smoothing"]["runs"] if not run["members"] and run["row"]]
    rows = {captioner: {run["label"] for run in reported if run["captioner"] == captioner} for captioner in CAPTIONERS}
    assert rows["attention"] == rows["lstm"]
    assert len(rows["lstm"]) == 22


def test_papers_train_as_many_of_the_captioners_seeds_as_they_say(files):
    files[f"{SPIDER}:runs.policy.seeds"] = 1
    configs = files.resolved()
    assert only_run(configs, "sle_sll")["seeds"] == [1, 2, 3, 4, 5]
    assert only_run(configs, "spider_pg_cider")["seeds"] == [1]
    assert only_run({"train/x": configs["decode/spider_pg_cider"]}, "x")["teams"] == [[1]]


def test_an_ensembles_members_are_seeds_of_one_run():
    configs = committed()
    single, ensemble = configs["decode/smoothing_server"]["runs"]
    assert single["teams"] == [[seed] for seed in range(1, 5)]
    assert ensemble["teams"] == [[1, 2], [3, 4]]
    assert single["weights"] == ensemble["weights"] == only_run(configs, "smoothing_server")["weights"]
    assert {run["split"] for run in (single, ensemble)} == {"server"}
    assert configs["evaluate/smoothing_server"]["references"] == [5, 40]
    reported = {run["name"]: run for run in configs["tables/smoothing"]["runs"]}
    assert "server" not in reported
    ensemble = reported["tok_seq_cider_ensemble"]
    assert (ensemble["label"], ensemble["members"], ensemble["seeds"]) == ("Ours: Tok-Seq CIDER +", 2, [1, 3])


def test_data_without_a_split_of_many_captions_take_the_usual_one(files, tmp_path):
    files["tasks.image"] |= {"dataset": "coco", "root": str(tmp_path), "evaluate_on": "val"}
    files["features.image"] |= {"backbone": "resnet18", "weights": "imagenet"}
    configs = files.resolved()
    splits = {run["split"] for name in configs if name.startswith("decode/sm") for run in configs[name]["runs"]}
    assert splits == {"val", "test"}
    assert configs["evaluate/smoothing_server"]["split"] == configs["evaluate/sle_image"]["split"] == "val"
    assert configs["data/image"]["scenes"] is None


def test_a_page_for_raters_is_made_of_what_the_report_is_made_of():
    configs = committed()
    shared = {key: value for key, value in configs["section/psst"].items() if key != "comparisons"}
    assert configs["rating/psst"] == shared | {"judge": "starts/retriever/judge"}
    assert [name for name in configs if name.startswith("rating/")] == ["rating/psst"]


def test_a_judge_may_be_a_users_clip(files, tmp_path):
    """Two parameters say so; those of training stay, without effect."""
    files["retrievers.judge"] |= {"architecture": "clip", "folder": str(tmp_path)}
    judge = files.resolved()["retriever/judge"]
    assert (judge["model"], judge["training"], judge["folder"]) == ({}, None, str(tmp_path))
    assert "params.yaml" in judge["fingerprint"]


# --- What a change changes


@pytest.mark.parametrize(
    ("key", "value", "names"),
    [
        ("alpha", 0.5, {*SLL_SLE, *reported("sle")}),
        (
            f"{SLE}:runs.sll_me.training",
            {"learning_rate": 0.0042},
            # With attention and on clips it is another one's.
            {"train/sle_sll_me", *reported("sle")},
        ),
        (f"{SLE}:runs.sll_me.label", "other", reported("sle")),
        (f"{SLE}:runs.sweep_pairwise_0.seeds", 3, {"train/sle_sweep_*", "decode/sle_sweep_*", *reported("sle")}),
        (f"{SLE}:runs.sll_att.reward", "spider", {"train/sle_sll_att", "evaluate/sle_image", *reported("sle")}),
        (
            "rewards.spider.spice",
            0.5,
            {
                "train/spider_pg_spider",
                "train/spider_rates",
                "train/across_rollouts",
                "evaluate/spider_image",
                "evaluate/across_image",
            },
        ),
        (
            f"{SPIDER}:runs.rollouts.training",
            {"epochs": 1},
            {f"train/spider_pg_{n}" for n in ("cider", "bleu4", "bleu4_ended", "bcmr", "spider")}
            | {"train/spider_rates"}
            | reported("spider"),
        ),
        (
            f"{SMOOTHING}:evaluations.smoothing_de_en.beam",
            4,
            {"decode/smoothing_de_en*", *reported("smoothing")},
        ),
        (
            f"{SMOOTHING}:evaluations.smoothing_server.references",
            [3],
            {"evaluate/smoothing_server", *reported("smoothing")},
        ),
        ("features.image.grid", 2, {"features/image"}),
        ("pretrain.attention.training.epochs", 3, {"pretrain/attention"}),
        ("precision", "bfloat16", {f"{stage}/*" for stage in ("pretrain", "train")}),
        ("device", "cpu", set()),
    ],
)
def test_a_change_changes_what_uses_it(files, key, value, names):
    before = committed()
    files[key] = value
    names = {name for name in before if any(fnmatch(name, pattern) for pattern in names)}
    # The first page tells labels, epochs and seeds of all.
    assert changed(before, files.resolved()) - {"report"} == names


def test_a_corpus_changes_its_own_stages_only(files, tmp_path):
    before = committed()
    assert before["data/de_en"]["root"] == "artifacts/de_en/data"
    assert before["data/en_fr"]["parallel"]["train"] == 2000
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/train.nl.gz").write_bytes(b"")
    corpus = {"dataset": "text", "root": str(tmp_path / "corpus"), "subwords": 8000, "tokenise": True, "source": "nl"}
    files["tasks.de_en"] |= corpus
    after = files.resolved()
    assert changed(before, after) == {"data/de_en", "evaluate/smoothing_de_en", *reported("smoothing")}
    data = after["data/de_en"]
    assert data["parallel"] is None
    assert data["corpus"]["splits"] == {"train": "train", "val": "valid", "test": "test"}
    assert list(data["fingerprint"]) == ["train.nl.gz"]
    assert data["corpus"]["source"] == "nl"
    assert after["tables/smoothing"]["tasks"]["de_en"]["dataset"] == "corpus"


def test_a_paper_that_is_left_out_is_not_run(files):
    before = committed()
    files.content(SPIDER).clear()
    after = files.resolved()
    gone = {name for name in before if "spider" in name}
    assert set(before) - set(after) == gone
    assert changed(before, after) == {*gone, "report"}
    assert after["report"]["papers"] == ["across", "psst", "sle", "smoothing", "wtfrl"]


# --- What is wrong


def message(files):
    with pytest.raises(InputError) as caught:
        files.resolved()
    assert "\n" not in str(caught.value)
    return str(caught.value)


COCO = {"kind": "images", "dataset": "coco", "root": "x", "min_count": 1, "max_length": 9, "evaluate_on": "val"}
TRAINING = {"epochs": 1, "batch_size": 1, "learning_rate": 0.1, "dropout": 0, "decay": 1, "decay_every": 1, "clip": 1}


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        (f"{SLE}:pictures", "photos", ["pictures is 'photos'", "allowed: image, image2, clip, de_en"]),
        (f"{SLE}:evaluations.empty", {"task": "image", "beam": 1, "samples": 0}, ["empty has no group"]),
        (f"{SLE}:groups.sle_sll", "spider_image", ["groups.sle_sll is 'spider_image'", "allowed: sle_image, sle_clip"]),
        (f"{SLE}:runs.sll.group", "x", ["runs.sll.group is 'x'", "sle_xe, sle_sll"]),
        (
            f"{SLE}:runs.sll.captioner",
            "translator_de_en",
            ["runs.sll.captioner", "for the task de_en, not that of sle"],
        ),
        (f"{SLE}:runs.sll.start", "sll_me_att", ["runs.sll.start is 'sll_me_att'", "allowed: scratch, "]),
        (f"{SLE}:runs.sll.objective", "self_kritical", ["objective is 'self_kritical'", "src/seqcap/objectives"]),
        (f"{SLE}:runs.sll.settings.samples", True, ["runs.sll.settings.samples: ", "valid integer; found True"]),
        (f"{SLE}:runs.sll.reward", "bleu9", ["runs.sll.reward is 'bleu9'", "allowed: cider, bleu4"]),
        (f"{SLE}:runs.sll.seeds", 6, ["runs.sll.seeds is 6", "pretrain/lstm has 5"]),
        (f"{SMOOTHING}:runs.translations.reward", "spider", ["reward is 'spider', with spice", "not for translations"]),
        (f"{SMOOTHING}:ensembles.tok_seq_cider.members", 9, ["tok_seq_cider takes 4 x 9 seeds", "server has 4"]),
        (f"{SPIDER}:variances.spider_variance.reward", "bcmr", ["reward is 'bcmr'", "without meteor"]),
        (f"{PSST}:runs.luo.listener", None, ["runs.luo_w34.listener is 'none'", "allowed: listener"]),
        (f"{PSST}:runs.luo.listener", "twin", ["runs.luo_w34.listener", "seed_offset 0"]),
        (f"{PSST}:runs.luo.listener", "judge", ["architecture is cross_attention", "name a dual_encoder or a clip"]),
        (f"{PSST}:runs.luo.listener", "listener2", ["luo_w34.listener is 'listener2'", "allowed: listener, "]),
        (f"{PSST}:runs.frozen_luo_w34.start", "luo_w35", ["frozen_luo_w34.start is 'luo_w35'", "luo_w34"]),
        (f"{PSST}:runs.frozen_luo_w34.seeds", 6, ["frozen_luo_w34.seeds is 6", "psst/train/psst_luo/luo_w34 has 5"]),
        (f"{SLE}:comparisons", [["sll", "sllx"]], ["comparisons is 'sllx'", "allowed: xe, "]),
        ("retrievers.judge.task", "clip", ["retrievers.judge.task is 'clip'", "a task with images"]),
        ("retrievers.judge.architecture", "clip", ["retrievers.judge.folder is None", "read from a folder"]),
        ("tasks.image2.world.test", 0, ["tasks.image2.world.test: ", "found 0"]),
        ("captioners.lstm.architecture", "translator", ["architecture is 'translator'", "cannot read the task image"]),
        ("pretrain.nobody", {"training": TRAINING}, ["pretrain.nobody is 'nobody'", "allowed: lstm"]),
        ("tasks.image.dataset", "coco", ["tasks.image.root is null, but coco is on disk", "name its folder"]),
        ("tasks.image", COCO, ["features.image.weights is 'scenes', but the images are coco's", "use imagenet"]),
        ("tasks.de_en.dataset", "text", ["tasks.de_en.root is null"]),
        ("tasks.de_en.source", "nl", ["tasks.de_en.source is 'nl'", "allowed: de, en, fr"]),
        ("features", {}, ["features has nothing", "name each of clip, image"]),
        ("features.clip.frames", None, ["features.clip.frames is None", "clips have frames"]),
        ("features.image.backbone", "clips_cnn", ["the backbone clips_cnn; clips have frames"]),
    ],
)
def test_wrong_names_and_settings_are_one_line(files, key, value, named):
    files[key] = value
    found = message(files)
    assert found.startswith(f"{key.rpartition(':')[0] or 'params.yaml'}: ")
    for part in named:
        assert part in found


def test_an_alpha_out_of_its_range_is_one_line(files):
    """The objective that reads it knows the range."""
    files["alpha"] = 1.5
    assert "runs.sll_sle.settings.alpha: Input should be less than or equal to 1; found 1.5" in message(files)


def test_an_import_that_a_module_lacks_is_not_called_a_wrong_name(files, monkeypatch):
    """A fault of the code: its traceback says where."""
    files[f"{SLE}:runs.sll.objective"] = "unfinished"
    original = importlib.import_module

    def imported(name, *rest):
        if name == "seqcap.objectives.unfinished":
            raise ModuleNotFoundError("No module named 'numpyy'", name="numpyy")
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", imported)
    with pytest.raises(ModuleNotFoundError, match="numpyy"):
        files.resolved()


def test_a_paper_without_its_folder_in_the_package_is_one_line(files):
    files.content("papers/extra/runs.yaml")["pictures"] = "image"
    assert "papers/extra/runs.yaml: there is no paper 'extra'; add src/seqcap/papers/extra, or name" in message(files)


def test_each_run_needs_what_its_own_seed_mined(files):
    files["retrievers.reward.seeds"] = 2
    assert "listener is 'reward'; each seed of the run needs its own: give the retriever at least 5" in message(files)


def test_an_objective_that_reads_what_nobody_makes_is_one_line(files, monkeypatch):
    monkeypatch.setattr(objectives.model_class("self_critical"), "reads", ("dreams",))
    expected = "objectives/self_critical.py: an entry of Model.reads is 'dreams'; allowed: listener, pretrained, "
    assert expected in message(files)


# --- The files


def write(files, *places):
    write_configs(Project(files.read()), *places)


def test_files_are_written_once_and_those_of_removed_runs_go(files, tmp_path):
    folder, machine = tmp_path / "configs", tmp_path / "machine.json"
    write(files, folder, machine)
    assert json.loads(machine.read_text())["launcher"] == "python"
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    files.content(SPIDER).clear()
    write(files, folder, machine)
    left = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    assert {path.stem for path in times if path not in left and path.parent.name == "tables"} == {"spider"}
    assert {path.stem for path in left if left[path] != times[path]} == {"report"}


def test_stages_read_what_is_written(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(files)
    assert TrainConfig.read("train", "sle_sll").runs[0].objective == "self_critical"
    assert ImageData.read("data", "image").scenes is not None
    with pytest.raises(InputError, match=r"configs/data/de_en\.json: .*run `dvc repro configure`"):
        ImageData.read("data", "de_en")
    with pytest.raises(InputError, match=r"configs/train/nothing\.json: cannot be read"):
        TrainConfig.read("train", "nothing")
    assert config_path("report").exists()


def test_the_report_knows_which_runs_keep_their_last_epoch():
    """By their objective, or by SLE's setting."""
    sections = Project(read_params(Path(__file__).parents[2])).stages("section")
    runs = [run for paper in ("sle", "wtfrl") for run in sections[paper].config.runs]
    kept = {run.name: run.keeps_last for run in runs}
    expected = {"sll": False, "sll_sle": False, "sweep_pairwise_0": True, "tf_longer": True, "rl": True}
    assert {name: kept[name] for name in expected} == expected
