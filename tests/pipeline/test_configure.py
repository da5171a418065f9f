"""The resolution of the parameters: what each stage's file holds, what changes it, and what a wrong name gets."""

import importlib
import json
import runpy
from fnmatch import fnmatch

import pytest
from parameter_files import ROOT, ParameterFiles, _committed, changed

from seqcap.config import config_path
from seqcap.config.data import ImageData
from seqcap.config.training import TrainConfig
from seqcap.errors import InputError
from seqcap.pipeline.configure import write_configs

CAPTIONERS = ("attention", "lstm")
PSST, SLE, SPIDER, SMOOTHING, WTFRL = (
    f"papers/{name}.yaml" for name in ("psst", "sle", "spider", "smoothing", "wtfrl")
)
REPORT = ("tables", "figures", "section")


@pytest.fixture
def files(tmp_path):
    return ParameterFiles(tmp_path)


# Another paper's entry, and the training of SLL-SLE.
PAPER = {"pictures": "image", "reads": "image/data/vocabulary.json"}
SLL_SLE = {"train/sle_sll_sle", "train/sle_sll_sle_att", "train/sle_clip_policies"}
TASKS = ("image", "image2", "clip", "de_en", "en_fr")


def reported(paper):
    return {f"{stage}/{paper}" for stage in REPORT}


def only_run(configs, group):
    (run,) = configs[f"train/{group}"]["runs"]
    return run


# --- The committed parameters


def test_committed_parameters_resolve(files):
    configs = files.resolved()
    run, other = configs["train/sle_sll_sle"]["runs"]
    assert run["settings"]["alpha"] == other["settings"]["alpha"] == 0.75
    assert (run["settings"]["distance"], other["settings"]["distance"]) == ("pairwise", "multi_reference")
    assert run["seeds"] == [1, 2, 3, 4, 5]
    assert run["start"] == "artifacts/pretrain/lstm"
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
    reported = [run for run in configs["tables/smoothing"]["runs"] if not run["members"]]
    rows = {captioner: {run["label"] for run in reported if run["captioner"] == captioner} for captioner in CAPTIONERS}
    assert rows["attention"] == rows["lstm"]
    assert len(rows["lstm"]) == 22


def test_papers_train_as_many_of_the_captioners_seeds_as_they_say(files):
    files[f"{SPIDER}:runs.policy.seeds"] = 1
    configs = files.resolved()
    assert only_run(configs, "sle_sll")["seeds"] == [1, 2, 3, 4, 5]
    assert only_run(configs, "spider_pg_cider")["seeds"] == [1]
    assert only_run({"train/x": configs["decode/spider_pg_cider"]}, "x")["teams"] == [[1]]


def test_an_ensembles_members_are_seeds_of_one_run(files):
    configs = files.resolved()
    single, ensemble = configs["decode/smoothing_server"]["runs"]
    assert single["teams"] == [[seed] for seed in range(1, 7)]
    assert ensemble["teams"] == [[1, 2], [3, 4], [5, 6]]
    assert single["weights"] == ensemble["weights"] == only_run(configs, "smoothing_server")["weights"]
    assert {run["split"] for run in (single, ensemble)} == {"server"}
    assert configs["evaluate/smoothing_server"]["references"] == [5, 40]
    reported = {run["name"]: run for run in configs["tables/smoothing"]["runs"]}
    assert "server" not in reported
    ensemble = reported["tok_seq_cider_ensemble"]
    assert (ensemble["label"], ensemble["members"], ensemble["seeds"]) == ("Ours: Tok-Seq CIDER +", 2, [1, 3, 5])


def test_data_without_a_split_of_many_captions_take_the_usual_one(files, tmp_path):
    files["tasks.image"] |= {"dataset": "coco", "root": str(tmp_path), "evaluate_on": "val"}
    files["features.image"] |= {"backbone": "resnet18", "weights": "imagenet"}
    configs = files.resolved()
    splits = {run["split"] for name in configs if name.startswith("decode/sm") for run in configs[name]["runs"]}
    assert splits == {"val", "test"}
    assert configs["evaluate/smoothing_server"]["split"] == configs["evaluate/sle_image"]["split"] == "val"
    assert configs["data/image"]["scenes"] is None


def test_what_a_run_reads_is_what_its_objective_and_reward_need(files):
    configs = files.resolved()
    words = "artifacts/words/image"
    reads = {
        run["name"]: run["reads"] for name in configs if name.startswith("train/") for run in configs[name]["runs"]
    }
    assert reads["lstm_tok"] == {"embeddings": f"{words}/embeddings.parquet"}
    assert reads["lstm_tok_seq_cider_v"] == reads["lstm_tok"]
    assert reads["pg_bcmr"] == {"paraphrases": f"{words}/paraphrases.parquet"}
    assert reads["de_en_tok"] == {"embeddings": "artifacts/words/de_en/embeddings.parquet"}
    assert reads["lstm_mle"] == reads["lstm_seq_cider_v"] == reads["pg_spider"] == {}


def test_a_page_for_raters_is_made_of_what_the_report_is_made_of(files):
    configs = files.resolved()
    shared = {key: value for key, value in configs["section/psst"].items() if key != "comparisons"}
    assert configs["rating/psst"] == shared | {"judge": "artifacts/retriever/judge"}
    assert [name for name in configs if name.startswith("rating/")] == ["rating/psst"]


def test_estimators_are_measured_where_their_runs_start(files):
    configs = files.resolved()
    found, run = configs["estimators/psst_estimators"], configs["train/psst_multinomial"]["runs"][0]
    assert (found["start"], found["listener"]) == (run["start"], run["reads"]["listener"])
    assert (found["max_length"], found["seed"]) == (run["max_length"], run["seeds"][0])
    assert found["margin"] == run["settings"]["margin"]


def test_a_judge_may_be_a_users_clip(files, tmp_path):
    """Two parameters say so; those of training stay, without effect."""
    files["retrievers.judge"] |= {"architecture": "clip", "folder": str(tmp_path)}
    judge = files.resolved()["retriever/judge"]
    assert (judge["model"], judge["training"], judge["folder"]) == ({}, None, str(tmp_path))
    assert "params.yaml" in judge["fingerprint"]


def test_any_objective_under_any_paper(files):
    """Token smoothing, whose embeddings SLE's other runs do not read, paid METEOR besides."""
    files[f"{SLE}:runs.xe_att"] |= {"objective": "token_smoothing", "settings": {"tau": 0.1}, "reward": "bcmr"}
    files[f"{SLE}:groups.sle_xe_att.reads"] = "words/image"
    assert set(only_run(files.resolved(), "sle_xe_att")["reads"]) == {"embeddings", "paraphrases"}


# --- What a change changes


@pytest.mark.parametrize(
    ("key", "value", "names"),
    [
        ("alpha", 0.5, {*SLL_SLE, *reported("sle")}),
        (
            f"{SLE}:runs.sll_me.training",
            {"learning_rate": 0.0042},
            {"train/sle_sll_me", "train/sle_sll_me_att", "train/sle_clip_policies", *reported("sle")},
        ),
        (f"{SLE}:runs.sll_me.label", "other", reported("sle")),
        (
            f"{SLE}:runs.sweep_pairwise_0.seeds",
            3,
            {f"{stage}/sle_sweep_{n}" for stage in ("train", "decode") for n in ("pairwise", "multi")}
            | reported("sle"),
        ),
        (f"{SLE}:runs.sll_att.reward", "spider", {"train/sle_sll_att", "evaluate/sle_image", *reported("sle")}),
        ("rewards.spider.spice", 0.5, {"train/spider_pg_spider", "evaluate/spider_image"}),
        (
            f"{SPIDER}:runs.rollouts.training",
            {"epochs": 1},
            {f"train/spider_pg_{n}" for n in ("cider", "bleu4", "bcmr")} | reported("spider"),
        ),
        (f"{SMOOTHING}:evaluations.smoothing_de_en.beam", 4, None),
        (
            f"{SMOOTHING}:evaluations.smoothing_server.references",
            [3],
            {"evaluate/smoothing_server", *reported("smoothing")},
        ),
        ("features.image.grid", 2, {"features/image"}),
        (
            "embeddings.glove.epochs",
            2,
            {f"embeddings/{name}" for name in TASKS},
        ),
        ("pretrain.attention.training.epochs", 3, {"pretrain/attention"}),
        ("papers/sle.yaml:papers.sle.pictures", "image", set()),
        ("precision", "bfloat16", {f"{stage}/*" for stage in ("pretrain", "train")}),
        ("device", "cpu", set()),
        ("workers", 7, set()),
        ("launcher", "torchrun --nproc-per-node=8", set()),
    ],
)
def test_a_change_changes_what_uses_it(files, key, value, names):
    before = files.resolved()
    files[key] = value
    if names is None:
        groups = [name for name in before if name.startswith("decode/smoothing_de_en")]
        names = {*groups, *reported("smoothing")}
    names = {name for name in before if any(fnmatch(name, pattern) for pattern in names)}
    assert changed(before, files.resolved()) == names


def test_a_corpus_changes_its_own_stages_only(files, tmp_path):
    before = files.resolved()
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
    before = files.resolved()
    for section in ("papers", "evaluations", "groups", "runs", "variances"):
        files[f"{SPIDER}:{section}"] = {}
    after = files.resolved()
    gone = {name for name in before if "spider" in name}
    assert set(before) - set(after) == gone
    assert changed(before, after) == {*gone, "report"}
    assert after["report"]["papers"] == ["psst", "sle", "smoothing", "wtfrl"]


def test_a_part_of_a_paper_that_is_left_out_is_not_run(files):
    for section in ("evaluations", "groups", "runs", "ensembles"):
        entries = files[f"{SMOOTHING}:{section}"]
        kept = {k: v for k, v in entries.items() if "de_en" in k or k == "translations"}
        files[f"{SMOOTHING}:{section}"] = kept
    configs = files.resolved()
    assert {name for name in configs if "smoothing" in name and name.startswith(("train", "evaluate"))} == {
        "evaluate/smoothing_de_en",
        *(f"train/smoothing_de_en_{group}" for group in ("token", "sequence", "token_sequence")),
    }
    assert all(run["task"] == "de_en" for run in configs["tables/smoothing"]["runs"])


# --- What is wrong


def message(files):
    with pytest.raises(InputError) as caught:
        files.resolved()
    assert "\n" not in str(caught.value)
    return str(caught.value)


TRAINING = {"epochs": 1, "batch_size": 1, "learning_rate": 0.1, "dropout": 0, "decay": 1, "decay_every": 1, "clip": 1}
VARIANCE = _committed(SPIDER)["variances"]["spider_variance"]
GROUP = {"paper": "sle", "evaluation": "sle_image", "task": "image", "captioner": "lstm", "start": "pretrain/lstm"}


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        (
            f"{SLE}:papers.sle.pictures",
            "photos",
            ["papers.sle.pictures is 'photos'", "allowed: image, image2, clip, de_en"],
        ),
        (f"{SLE}:evaluations.sle_image.paper", "x", ["evaluations.sle_image.paper is 'x'", "allowed: psst, sle"]),
        (f"{SMOOTHING}:evaluations.smoothing_server.task", "x", ["evaluations.smoothing_server.task is 'x'", "de_en"]),
        (
            f"{SLE}:evaluations.empty",
            {"paper": "sle", "task": "image", "beam": 1, "samples": 0},
            ["empty has no group"],
        ),
        (f"{SLE}:groups.sle_sll.paper", "x", ["groups.sle_sll.paper is 'x'", "allowed: psst, sle"]),
        (f"{SLE}:groups.sle_sll.evaluation", "x", ["groups.sle_sll.evaluation is 'x'", "sle_image"]),
        (
            f"{SLE}:groups.sle_sll.evaluation",
            "spider_image",
            ["groups.sle_sll.evaluation", "it is of spider, task image"],
        ),
        (f"{SLE}:groups.sle_sll.task", "x", ["groups.sle_sll.task is 'x'", "allowed: image"]),
        (f"{SLE}:groups.sle_sll.captioner", "gpt", ["groups.sle_sll.captioner is 'gpt'", "allowed: lstm, attention"]),
        (f"{SLE}:groups.sle_sll.captioner", "translator_de_en", ["groups.sle_sll.captioner", "for the task de_en"]),
        (
            f"{SLE}:groups.sle_sll.start",
            "pretrain/attention",
            ["groups.sle_sll.start", "allowed: pretrain/lstm, image/"],
        ),
        (
            f"{SLE}:groups.sle_sll.reads",
            "words/image",
            ["groups.sle_sll.reads", "its runs read image/data/vocabulary.json"],
        ),
        (
            f"{SMOOTHING}:groups.smoothing_lstm_token.reads",
            "image/data/vocabulary.json",
            ["groups.smoothing_lstm_token.reads", "its runs read words/image/embeddings.parquet"],
        ),
        (
            f"{SPIDER}:groups.spider_pg_bcmr.reads",
            "words/image/embeddings.parquet",
            ["groups.spider_pg_bcmr.reads", "its runs read words/image/paraphrases.parquet"],
        ),
        (f"{SLE}:groups.empty", GROUP | {"reads": "image/data/vocabulary.json"}, ["groups.empty has no run"]),
        (f"{SLE}:runs.sll.group", "x", ["runs.sll.group is 'x'", "sle_xe, sle_sll"]),
        (f"{SLE}:runs.sll.label", "", ["runs.sll.label is missing", "report"]),
        (
            f"{SLE}:runs.sll.objective",
            "self_kritical",
            ["runs.sll.objective is 'self_kritical'", "seqcap.objectives has cross_entropy"],
        ),
        (f"{SLE}:runs.sll.objective", "base", ["runs.sll.objective is 'base'"]),
        (f"{SLE}:runs.sll.objective", "smoothing", ["runs.sll.objective is 'smoothing'"]),
        (f"{SLE}:runs.sll.objective", "", ["runs.sll.objective is ''"]),
        (f"{SLE}:runs.sll.settings.samples", 0, ["runs.sll.settings.samples is 0"]),
        (f"{SLE}:runs.sll.settings.samples", True, ["runs.sll.settings.samples is True", "valid integer"]),
        (f"{SLE}:runs.sll_sle.settings.alpha", "0.5", ["runs.sll_sle.settings.alpha is '0.5'"]),
        (f"{SLE}:runs.sll.training.epochs", "3", ["runs.sll.training.epochs is '3'"]),
        (f"{WTFRL}:runs.bidirectional.settings.mined_ranks", [1, True], ["settings.mined_ranks.1 is True"]),
        (
            f"{SPIDER}:variances.spider_image",
            VARIANCE,
            ["variances.spider_image writes the same results as evaluations.spider_image", "another name"],
        ),
        (f"{SLE}:runs.sll.settings.sample", 5, ["runs.sll.settings.sample is not a parameter", "allowed: samples"]),
        (f"{SMOOTHING}:runs.lstm_tok_seq_cider_v.settings.sequence.tau", -1, ["settings.sequence.tau is -1"]),
        (f"{SLE}:runs.sll.training.epoch", 3, ["runs.sll.training.epoch is not a parameter", "allowed: epochs"]),
        (f"{SLE}:runs.policy.training.clip", 0, ["runs.xe.training.clip is 0"]),
        (f"{SLE}:runs.sll.reward", "bleu9", ["runs.sll.reward is 'bleu9'", "allowed: cider, bleu4"]),
        (f"{SLE}:runs.sll.seeds", 6, ["runs.sll.seeds is 6", "pretrain/lstm has 5"]),
        ("pretrain.lstm.task", "de_en", ["pretrain.lstm.task is 'de_en'", "captioner lstm is for the task image"]),
        ("pretrain.nobody", {"task": "image", "training": TRAINING}, ["pretrain.nobody is no captioner"]),
        (f"{SMOOTHING}:runs.translations.reward", "spider", ["reward is 'spider', with spice", "not for translations"]),
        (f"{SMOOTHING}:ensembles.tok_seq_cider.run", "x", ["ensembles.tok_seq_cider.run is 'x'", "server"]),
        (f"{SMOOTHING}:ensembles.tok_seq_cider.members", 9, ["tok_seq_cider takes 6 x 9 seeds", "server has 6"]),
        (f"{SMOOTHING}:ensembles.server", {"run": "server", "label": "x", "members": 1}, ["is the name of a run, too"]),
        (f"{SPIDER}:variances.spider_variance.captioner", "x", ["variances.spider_variance.captioner is 'x'", "lstm"]),
        (f"{SPIDER}:variances.spider_variance.captioner", "translator_de_en", ["it is for the task de_en, not image"]),
        (f"{SPIDER}:variances.spider_variance.start", "pretrain/attention", ["start", "allowed: pretrain/lstm"]),
        (f"{SPIDER}:variances.spider_variance.reward", "bcmr", ["reward is 'bcmr'", "without meteor"]),
        (f"{SPIDER}:variances.spider_variance.settings.rolouts", 1, ["settings.rolouts is not a parameter"]),
        (f"{SPIDER}:papers.lonely", PAPER, ["papers.lonely has no run"]),
        (f"{SPIDER}:papers.image", PAPER, ["'image' is the name of another folder"]),
        (f"{PSST}:groups.psst_luo.reads", "retriever/x", ["groups.psst_luo.reads", "allowed: retriever/listener"]),
        (f"{PSST}:groups.psst_luo.reads", "retriever/judge", ["groups.psst_luo.reads", "seed_offset 0 and at least"]),
        (f"{PSST}:groups.psst_luo.reads", "retriever/listener2", ["psst_luo.reads", "allowed: retriever/listener, "]),
        (f"{PSST}:groups.psst_frozen_mle.start", "psst/train/psst_luo/x", ["psst_frozen_mle.start", "pretrain/lstm"]),
        (f"{PSST}:runs.frozen_luo_w34.seeds", 4, ["frozen_luo_w34.seeds is 4", "psst/train/psst_luo/luo_w34 has 3"]),
        (
            f"{PSST}:retrievals.psst_image.judge",
            "retriever/judge2",
            ["psst_image.judge", "allowed: retriever/listener"],
        ),
        (f"{PSST}:retrievals.psst_image.start", "pretrain/lstm2", ["psst_image.start", "allowed: pretrain/lstm"]),
        (
            f"{PSST}:retrievals.psst_image.evaluation",
            "sle_image",
            ["psst_image.evaluation", "it is of sle, task image"],
        ),
        (f"{PSST}:ratings.psst.judge", "retriever/judge2", ["psst.judge", "allowed: retriever/listener, retriever/j"]),
        (f"{PSST}:ratings.psst.task", "image2", ["ratings.psst.task is 'image2'", "papers.psst.pictures is 'image'"]),
        (
            f"{PSST}:ratings.luo",
            {"task": "image", "judge": "retriever/judge"},
            ["ratings.luo is no paper", "psst, sle"],
        ),
        (
            f"{SLE}:papers.sle.comparisons",
            [["sll", "sllx"]],
            ["papers.sle.comparisons names 'sllx'", "choose among xe, "],
        ),
        (f"{SLE}:papers.sle.comparisons", [["sll"]], ["papers.sle.comparisons.0.1"]),
        (f"{PSST}:estimators.psst_estimators.task", "x", ["estimators.psst_estimators.task is 'x'", "allowed: image"]),
        (
            f"{PSST}:estimators.psst_estimators.listener",
            "retriever/judge",
            ["psst_estimators.listener is 'retriever/judge'", "allowed: retriever/listener"],
        ),
        (
            f"{PSST}:estimators.psst_estimators.start",
            "pretrain/lstm2",
            ["psst_estimators.start is 'pretrain/lstm2'", "allowed: pretrain/lstm"],
        ),
        (
            "mined.reward.task",
            "image2",
            ["mined.reward is no retriever of the task image2", "allowed: listener2, judge2"],
        ),
        ("mined.judge2", {"task": "image", "neighbours": 5}, ["mined.judge2 is no retriever of the task image"]),
        ("mined.reward.neighbours", 0, ["mined.reward.neighbours is 0"]),
        (f"{PSST}:groups.psst_luo.reads", "retriever/reward", ["groups.psst_luo.reads", "seed_offset 0 and at least"]),
        (f"{WTFRL}:retrievals.wtfrl_image.decoder", "sample", ["retrievals.wtfrl_image.decoder is 'sample'"]),
        ("retrievers.judge.task", "de_en", ["retrievers.judge.task is 'de_en'", "a task with pictures"]),
        ("retrievers.judge.architecture", "vse", ["architecture is 'vse'", "seqcap.retrieval has clip"]),
        ("retrievers.judge.architecture", "clip", ["retrievers.judge.folder is None", "read from a folder"]),
        ("retrievers.judge.folder", "clip", ["retrievers.judge.folder is 'clip'", "other retrievers are trained"]),
        ("retrievers.judge.model.hidden", 0, ["retrievers.judge.model.hidden is 0"]),
        ("retrievers.judge.training.epochs", 0, ["retrievers.judge.training.epochs is 0"]),
        ("tasks.image2.world.test", 0, ["tasks.image2.world.test is 0"]),
        ("captioners.lstm.task", "x", ["captioners.lstm.task is 'x'", "allowed: image, image2, clip, de_en"]),
        ("captioners.lstm.architecture", "rnn", ["captioners.lstm.architecture is 'rnn'", "seqcap.models has"]),
        ("captioners.lstm.architecture", "translator", ["architecture is 'translator'", "cannot read the task image"]),
        ("captioners.translator_de_en.architecture", "lstm", ["architecture is 'lstm'", "cannot read the task de_en"]),
        ("captioners.lstm.architecture", "base", ["captioners.lstm.architecture is 'base'", "seqcap.models has"]),
        ("retrievers.judge.architecture", "losses", ["architecture is 'losses'", "seqcap.retrieval has clip"]),
        ("captioners.lstm.model.hidden", -1, ["captioners.lstm.model.hidden is -1"]),
        ("captioners.lstm.model.hidden", "96", ["captioners.lstm.model.hidden is '96'"]),
        ("captioners.transformer.model.layers", 10**6, ["captioners.transformer.model.layers is 1000000"]),
        ("captioners.translator_de_en.model.readout", 0, ["captioners.translator_de_en.model.readout is 0"]),
        ("tasks.image.dataset", "coco", ["tasks.image.root is null, but coco is on disk"]),
        ("tasks.de_en.dataset", "text", ["tasks.de_en.root is null"]),
        ("tasks.de_en.source", "nl", ["tasks.de_en.source is 'nl'", "scenes are told in de, en, fr"]),
        ("features", {}, ["features has nothing", "one section for each of clip, image"]),
        ("features.clip.frames", None, ["features.clip.frames is None", "how many frames of a clip are read"]),
        ("features.clip.frames", 1, ["features.clip.frames is 1"]),
        ("features.image.frames", 8, ["features.image.frames is 8", "only clips have frames"]),
        ("features.image.backbone", "clips_cnn", ["features.image.backbone is 'clips_cnn'", "it reads clips"]),
        ("tasks.clip.dataset", "tgif", ["tasks.clip.root is null, but tgif is on disk", "name its folder"]),
        ("tasks.clip.world", {}, ["tasks.clip.world is not a parameter"]),
        ("clips.detail", [0, 0, 0], ["clips.detail is [0, 0, 0]", "at least one weight must be above 0"]),
        ("captioners.lstm_clip.architecture", "translator", ["is 'translator'", "it cannot read the task clip"]),
        ("retrievers.judge.task", "clip", ["retrievers.judge.task is 'clip'", "name a task with pictures"]),
        (f"{SLE}:papers.sle.reads", "image/data", ["papers.sle.reads is 'image/data'", "allowed: clip/data, image/"]),
        ("features.de_en", None, ["features.de_en is None"]),
        ("embeddings.files", {"image": None, "de_en": None}, ["embeddings.files has image, de_en", "en_fr"]),
        ("embeddings.glove.windows", 5, ["embeddings.glove.windows is not a parameter"]),
    ],
)
def test_wrong_names_and_settings_are_one_line(files, key, value, named):
    files[key] = value
    found = message(files)
    assert found.startswith(f"{key.rpartition(':')[0] or 'params.yaml'}: ")
    for part in named:
        assert part in found


@pytest.mark.parametrize(
    ("package", "key"),
    [
        ("objectives", f"{SLE}:runs.sll.objective"),
        ("models", "captioners.lstm.architecture"),
        ("retrieval", "retrievers.judge.architecture"),
    ],
)
def test_an_import_that_a_module_lacks_is_not_called_a_wrong_name(files, monkeypatch, package, key):
    """A fault of the code: its traceback says where."""
    files[key] = "unfinished"
    original = importlib.import_module

    def imported(name, *rest):
        if name == f"seqcap.{package}.unfinished":
            raise ModuleNotFoundError("No module named 'numpyy'", name="numpyy")
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", imported)
    with pytest.raises(ModuleNotFoundError, match="numpyy"):
        files.resolved()


def test_features_of_sentences_are_one_line(files):
    files["features.de_en"] = files["features.image"]
    assert "features has image, image2, clip, de_en; name one section for each of clip, image, image2" in message(files)


def test_an_encoder_trained_on_scenes_needs_scenes(files, tmp_path):
    files["tasks.image"] |= {"dataset": "coco", "root": str(tmp_path)}
    assert "features.image.weights is 'scenes', but the pictures are coco's; use imagenet" in message(files)


def test_each_run_needs_what_its_own_seed_mined(files):
    files["retrievers.reward.seeds"] = 2
    assert "reads is 'mined/reward'; each run needs what its own seed mined: give the retriever at least 3" in message(
        files
    )


# --- The files


def test_files_are_written_once_and_those_of_removed_runs_go(files, tmp_path):
    folder, machine = tmp_path / "configs", tmp_path / "machine.json"
    write_configs(files.read(), folder, machine)
    assert json.loads(machine.read_text())["launcher"] == "python"
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    for section in ("papers", "evaluations", "groups", "runs", "variances"):
        files[f"{SPIDER}:{section}"] = {}
    write_configs(files.read(), folder, machine)
    left = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    assert {path.stem for path in times if path not in left and path.parent.name == "tables"} == {"spider"}
    assert {path.stem for path in left if left[path] != times[path]} == {"report"}


def test_stages_read_what_is_written(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_configs(files.read())
    assert TrainConfig.read("train", "sle_sll").runs[0].objective == "self_critical"
    assert ImageData.read("data", "image").scenes is not None
    with pytest.raises(InputError, match=r"configs/data/de_en\.json: .*run `dvc repro configure`"):
        ImageData.read("data", "de_en")
    with pytest.raises(InputError, match=r"configs/train/nothing\.json: cannot be read"):
        TrainConfig.read("train", "nothing")
    assert config_path("report").exists()


def test_the_stage_ends_with_status_2_and_one_line(files, monkeypatch, capsys):
    files["alpha"] = 1.5
    with pytest.raises(InputError):
        files.read()
    monkeypatch.chdir(files.folder)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "stages/configure.py"), run_name="__main__")
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: params.yaml: alpha is 1.5")
    assert printed.count("\n") == 1
    assert not (files.folder / "configs").exists()
