"""Parameters: what resolves, and the one line that a wrong one gets."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from seqcap.config import resolve, write_configs
from seqcap.data.pairs import Config as Corpus
from seqcap.errors import InputError
from seqcap.params import read_params

ROOT = Path(__file__).parents[1]


@pytest.fixture
def params():
    return YAML(typ="safe").load((ROOT / "params.yaml").read_text())


@pytest.fixture
def resolved(tmp_path):
    """Writes parameters and resolves them."""

    def run(params):
        path = tmp_path / "params.yaml"
        with path.open("w") as file:
            YAML().dump(params, file)
        return resolve(read_params(path), path)

    return run


def changed(before, after):
    return {name for name in before | after if before.get(name) != after.get(name)}


def test_committed_parameters_resolve(params, resolved):
    configs = resolved(params)
    assert configs["sle_sll_sle"]["settings"]["alpha"] == params["alpha"] == 0.75
    assert configs["sle_sll_sle"]["seeds"] == [1, 2, 3]
    assert configs["pretrain_lstm"]["model"]["hidden"] == 128


def test_scale_picks_the_papers_sizes(params, resolved):
    params["scale"] = "paper"
    configs = resolved(params)
    assert configs["pretrain_lstm"]["model"] == {"hidden": 512, "image_input": "initial_state"}
    assert configs["encoder_image"]["backbone"] == "resnet152"


def test_alpha_changes_only_the_exploration_variants(params, resolved):
    before = resolved(params)
    params["alpha"] = 0.5
    assert changed(before, resolved(params)) == {"sle_sll_sle", "sle_sll_sle_att"}


def test_one_learning_rate_changes_one_variant(params, resolved):
    before = resolved(params)
    params["sle"]["variants"]["sll_me"]["training"] = {"learning_rate": 0.0042}
    assert changed(before, resolved(params)) == {"sle_sll_me"}


def test_a_reward_changes_only_who_is_paid_by_it(params, resolved):
    before = resolved(params)
    params["sle"]["variants"]["sll"]["reward"] = "spider"
    after = resolved(params)
    assert changed(before, after) == {"sle_sll", "evaluate_sle"}
    assert after["evaluate_sle"]["rewards"] == {"cider": {"cider": 1.0}, "spider": {"cider": 1.0, "spice": 1.0}}
    assert after["sle_sll"]["reward"] == {"cider": 1.0, "spice": 1.0}
    assert after["pretrain_lstm"]["reward"] == {}


def test_a_variant_takes_the_task_of_its_captioner(params, resolved):
    sll = params["sle"]["variants"]["sll"]
    params["sle"]["variants"]["mt"] = sll | {"captioner": "translator_de_en", "reward": "bleu4"}
    before = resolved(params)
    for name in ("sle_mt", "decode_sle_mt", "pretrain_translator_de_en"):
        assert before[name]["task"] == "de_en"
    assert before["sle_mt"]["start_from"] == "artifacts/de_en/pretrain/translator_de_en"
    assert before["sle_mt"]["max_length"] == params["tasks"]["de_en"]["max_length"]["laptop"] + 1
    assert (before["decode_sle_mt"]["beam"], before["decode_sle_mt"]["samples"]) == (3, 0)
    assert before["sle_sll"]["task"] == before["pretrain_lstm"]["task"] == "image"
    # What a translation is paid is no score of captions.
    assert set(before["evaluate_sle"]["rewards"]) == {"cider"}
    params["tasks"]["de_en"]["beam"] = 4
    assert changed(before, resolved(params)) == {
        "decode_sle_mt",
        *(f"decode_smoothing_translator_de_en_{group}" for group in params["smoothing"]["translation"]["losses"]),
    }


def test_a_corpus_changes_its_own_stages_only(params, resolved, tmp_path):
    before = resolved(params)
    assert before["data_de_en"]["root"] == "artifacts/de_en/data"
    assert before["data_en_fr"]["parallel"]["train"] == params["parallel"]["train"]
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/train.de.gz").write_bytes(b"")
    params["tasks"]["de_en"] |= {
        "dataset": "text",
        "root": str(tmp_path / "corpus"),
        "subwords": 8000,
        "tokenise": True,
    }
    after = resolved(params)
    assert changed(before, after) == {"data_de_en", "report"}
    assert after["data_de_en"]["parallel"] is None
    assert after["data_de_en"]["corpus"]["splits"] == {"train": "train", "val": "valid", "test": "test"}
    assert list(after["data_de_en"]["fingerprint"]) == ["train.de.gz"]
    Corpus(**after["data_de_en"]["corpus"])


def test_machine_changes_no_stage(params, resolved):
    before = resolved(params)
    params |= {"device": "cpu", "workers": 1, "launcher": "torchrun --nproc-per-node=8"}
    assert changed(before, resolved(params)) == set()


def set_at(params, key, value):
    *path, last = key.split(".")
    for part in path:
        params = params[part]
    params[last] = value


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("alpha", 1.5, ["alpha is 1.5", "less than or equal to 1"]),
        ("alpha", "much", ["alpha is 'much'"]),
        ("objektive", 1, ["objektive is not a parameter"]),
        ("scale", "huge", ["scale is 'huge'", "laptop, paper"]),
        ("sle.variants.sll.objektive", "x", ["sle.variants.sll.objektive is not a parameter"]),
        ("sle.variants.sll.objective", "self_kritical", ["sle.variants.sll.objective", "src/seqcap/objectives"]),
        ("sle.variants.sll.settings.samples", 0, ["sle.variants.sll.settings.samples is 0"]),
        (
            "sle.variants.sll.captioner",
            "gpt",
            ["sle.variants.sll.captioner is 'gpt'", "attention, translator_de_en"],
        ),
        ("sle.variants.sll.training", {"epoch": 3}, ["sle.variants.sll.training.epoch is not a parameter"]),
        ("sle.variants.a-b", {}, ["a-b", "underscores"]),
        ("captioners.lstm.model.hidden", -1, ["captioners.lstm.model.hidden is -1"]),
        ("captioners.lstm.architecture", "rnn", ["captioners.lstm.architecture is 'rnn'"]),
        ("tasks.image.dataset", "imagenet", ["tasks.image.dataset is 'imagenet'", "flickr8k"]),
        ("tasks.image.dataset", "coco", ["tasks.image.root is null"]),
        ("features.backbone", "vit", ["features.backbone is 'vit'"]),
        ("scenes.train", 0, ["scenes.train is 0"]),
        ("sle.reward", "bleu9", ["sle.reward is 'bleu9'", "cider, bleu4"]),
        ("rewards.spider.spyce", 1.0, ["rewards.spider.spyce"]),
        ("workers", 0, ["workers"]),
        ("tasks.de_en.dataset", "text", ["tasks.de_en.root is null"]),
        ("tasks.de_en.dataset", "iwslt", ["tasks.de_en.dataset is 'iwslt'"]),
        ("tasks.en_fr.splits", {"train": "train", "val": "valid"}, ["tasks.en_fr.splits.test is missing"]),
        ("tasks.en_fr.subwords", 0, ["tasks.en_fr.subwords is 0"]),
        ("parallel.detail", [0, 0, 0], ["parallel.detail"]),
        ("embeddings.glove.windows", 5, ["embeddings.glove.windows is not a parameter"]),
        (
            "translators.translator_de_en.task",
            "image",
            ["task is 'image'", "allowed here: de_en, en_fr"],
        ),
        ("captioners.lstm.task", "de_en", ["captioners.lstm.task is 'de_en'", "image"]),
        ("translators.translator_de_en.architecture", "lstm", ["translators.translator_de_en.architecture is 'lstm'"]),
        ("captioners.lstm.architecture", "translator", ["captioners.lstm.architecture is 'translator'"]),
        ("translators.translator_de_en.model.readout", 0, ["translators.translator_de_en.model.readout is 0"]),
        (
            "sle.variants.sll",
            {"label": "x", "captioner": "translator_de_en", "objective": "self_critical", "reward": "spider"},
            ["sle.variants.sll.reward is 'spider', with spice"],
        ),
        ("seed", None, ["seed is None"]),
    ],
)
def test_wrong_parameters_are_named(params, resolved, key, value, named):
    set_at(params, key, value)
    with pytest.raises(InputError) as caught:
        resolved(params)
    message = str(caught.value)
    assert "\n" not in message
    for part in named:
        assert part in message


def test_a_missing_parameter_is_named(params, resolved):
    del params["decoding"]["beam"]
    with pytest.raises(InputError, match=r"decoding\.beam is missing"):
        resolved(params)


@pytest.mark.parametrize("text", ["alpha: [", "- a\n- b\n", "\udcff", ""])
def test_what_is_no_parameter_file_is_one_line(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as caught:
        read_params(path)
    assert str(caught.value).startswith(str(path))


def test_removed_variants_leave_configs(params, tmp_path):
    folder, machine = tmp_path / "configs", tmp_path / "machine.json"
    source = tmp_path / "params.yaml"
    for variants in (["sll", "xe"], ["xe"]):
        kept = dict(params, sle=params["sle"] | {"variants": {v: params["sle"]["variants"][v] for v in variants}})
        with source.open("w") as file:
            YAML().dump(kept, file)
        write_configs(read_params(source), folder, machine)
    assert {path.stem for path in folder.glob("sle_*")} == {"sle_xe"}
    assert json.loads(machine.read_text())["launcher"] == "python"


def test_a_paper_that_is_left_out_is_not_run(params, resolved):
    params["spider"] = None
    files = resolved(params)
    assert set(files["report"]["papers"]) == {"sle", "smoothing"}
    assert files["report"]["papers"]["sle"] == list(params["sle"]["variants"])
    assert not [name for name in files if "spider" in name]


def test_a_part_of_a_paper_that_is_left_out_is_not_run(params, resolved):
    whole = resolved(params)
    params["smoothing"] |= {"captions": None, "server": None}
    params["smoothing"]["translation"] |= {"captioners": ["translator_de_en"], "pretrained": False}
    files = resolved(params)
    assert set(files["report"]["papers"]["smoothing"]) == {
        name for name in whole["report"]["papers"]["smoothing"] if name.startswith("de_en_")
    }
    assert not {"train_server", "decode_server", "evaluate_smoothing"} & set(files)
    assert whole["smoothing_de_en_tok"]["start_from"] == "artifacts/de_en/pretrain/translator_de_en"
    assert files["smoothing_de_en_tok"]["start_from"] is None


def test_a_server_needs_captions_and_a_paper_a_part(params, resolved):
    params["smoothing"]["captions"] = None
    with pytest.raises(InputError, match=r"smoothing\.server is of one of smoothing\.captions, which is null"):
        resolved(params)
    params["smoothing"] = {}
    with pytest.raises(InputError, match="smoothing has no part that is run"):
        resolved(params)


def test_papers_train_as_many_of_the_captioners_seeds_as_they_say(params, resolved):
    params["spider"]["seeds"] = 2
    files = resolved(params)
    assert files["pretrain_lstm"]["seeds"] == files["sle_sll"]["seeds"] == [1, 2, 3]
    assert files["spider_pg_cider"]["seeds"] == files["decode_spider_pg_cider"]["seeds"] == [1, 2]


def test_a_value_for_each_captioner(params, resolved):
    files = resolved(params)
    assert files["smoothing_lstm_entropy"]["settings"] == {"gamma": 0.1}
    assert files["smoothing_attention_entropy"]["settings"] == {"gamma": 0.05}
    runs = files["train_smoothing_attention_token"]["runs"]
    assert [run["variant"] for run in runs] == [f"attention_{loss}" for loss in ("mle", "entropy", "tok", "tok_rfreq")]
    assert runs[0] == files["smoothing_attention_mle"]
    params["smoothing"]["captions"]["losses"]["token"]["tok"]["settings"]["alpha"] = {"lstm": 0.5}
    with pytest.raises(InputError, match=r"token\.tok\.settings\.alpha has no value for captioner 'attention'"):
        resolved(params)


def test_an_ensembles_members_are_seeds_of_one_loss(params, resolved):
    files = resolved(params)
    single, ensemble = files["decode_server"]["runs"]
    assert (single["seeds"], single["ensemble"]) == ([1], False)
    assert (ensemble["seeds"], ensemble["ensemble"]) == ([1, 2, 3], True)
    assert files["train_server"]["seeds"] == [1, 2, 3]
    assert {run["split"] for run in (single, ensemble)} == {"server"}


def test_configure_ends_with_status_2_and_one_line(params, tmp_path):
    params["alpha"] = 1.5
    with (tmp_path / "params.yaml").open("w") as file:
        YAML().dump(params, file)
    command = [sys.executable, str(ROOT / "stages" / "configure.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "alpha is 1.5" in done.stderr
    assert not (tmp_path / "configs").exists()
