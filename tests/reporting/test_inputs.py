"""Reading the run: order, checks, and errors that name the file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import inputs
from seqcap.reporting.inputs import KARPATHY_TEST, ReportConfig, Run, Scores
from seqcap.reporting.papers import find


def score(**changes: object) -> dict[str, object]:
    row = {"variant": "sll", "seed": 1, "image_id": 0, "decoder": "sample", "rank": 0, "metric": "CIDEr", "value": 0.5}
    return row | changes


def scores(*rows: dict[str, object], reasons: dict[str, str] | None = None) -> Scores:
    return Scores(pd.DataFrame(rows), reasons or {})


def test_variants_come_in_the_order_of_params_yaml(run):
    run.variants = ["sll_sle", "zebra", "xe_att", "sll", "xe"]
    assert [variant.variant for variant in run.read().variants] == run.variants


def test_cross_entropy_was_trained_on_no_reward(run):
    read = run.read().by_name
    assert (read["xe"].reward, read["sll"].reward) == (None, "cider")
    config = artifacts.read_json("configs/sle_sll.json")
    artifacts.write_json("configs/sle_sll.json", config | {"reward_name": None})
    assert inputs.read_variants("sle", ["sll"])[0].reward is None


def test_a_variant_without_its_file_is_named(run):
    run.write()
    Path("configs/sle_sll.json").unlink()
    with pytest.raises(InputError, match=r"configs/sle_sll\.json: cannot be read"):
        Run.read(find("sle"))


def test_a_paper_that_is_left_out_is_named(run):
    run.write()
    with pytest.raises(InputError, match=r"report\.json: papers has no 'spider'; this run has sle"):
        Run.read(find("spider"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"split": None}, "split is None"),
        ({"show_images": "yes"}, "show_images is 'yes'"),
        ({"datasets": {"image": "imagenet"}}, r"datasets\.image is 'imagenet'"),
        ({"datasets": {"de_en": "scenes"}}, r"datasets\.image is None"),
        ({"datasets": {"image": "scenes", "de_en": 3}}, r"datasets\.de_en is 3"),
        ({"papers": ["sle"]}, r"papers is \['sle'\]"),
        ({"papers": {}}, "papers is empty"),
        ({"papers": {"sle": []}}, r"papers\.sle is \[\]"),
        ({"papers": {"sle": [1]}}, r"papers\.sle is \[1\]"),
    ],
)
def test_a_wrong_report_config_is_named(run, change: dict[str, object], problem: str):
    run.write()
    config = artifacts.read_json("configs/report.json")
    artifacts.write_json("configs/report.json", config | change)
    with pytest.raises(InputError, match=problem):
        ReportConfig.read()


def test_a_missing_key_is_named(run):
    run.write()
    artifacts.write_json("configs/sle_sll.json", {"variant": "sll"})
    with pytest.raises(InputError, match=r"sle_sll\.json: has no key 'label'"):
        inputs.read_variants("sle", run.variants)


@pytest.mark.parametrize(
    ("dataset", "split", "published_on", "text"),
    [
        ("coco", "test", KARPATHY_TEST, "COCO (Karpathy's splits), test split"),
        ("coco", "val", KARPATHY_TEST, "COCO (Karpathy's splits), val split, stands in for COCO Karpathy test"),
        ("coco", "test", "a server", "COCO (Karpathy's splits), test split, stands in for a server"),
        ("scenes", "test", "a server", "scenes (generated), test split, stands in for a server"),
    ],
)
def test_only_the_papers_own_data_stand_for_nothing(dataset: str, split: str, published_on: str, text: str):
    assert ReportConfig({"image": dataset}, split, "paper", False, {}).stand_in(published_on) == text


def test_translation_names_its_corpus():
    config = ReportConfig({"image": "coco", "de_en": "multi30k", "en_fr": "scenes"}, "test", "paper", False, {})
    assert config.stand_in("IWSLT'14", "de_en") == "multi30k, stands in for IWSLT'14"
    assert config.stand_in("WMT'14", "en_fr").startswith("scenes (sentences")
    assert config.stand_in(KARPATHY_TEST, split="server").startswith("COCO (Karpathy's splits), server split, stands")


def test_a_task_that_is_not_there_is_named(run):
    run.write()
    config = artifacts.read_json("configs/sle_sll.json")
    artifacts.write_json("configs/sle_sll.json", config | {"task": "de_en"})
    with pytest.raises(InputError, match=r"configs/sle_sll\.json: task is 'de_en'; report\.json has image"):
        Run.read(find("sle"))


def test_several_files_of_scores_are_one(smoothing):
    read = smoothing.read()
    for variant, metric in (("lstm_mle", "CIDEr"), ("de_en_mle", "BLEU"), ("tok_seq_cider", "CIDEr c40")):
        assert read.scores.per_image(variant, "beam", metric, "best") is not None
    assert str(read.scores.source) == "artifacts/smoothing"
    assert list(read.scored)[-2:] == ["tok_seq_cider", "tok_seq_cider_ensemble"]
    assert "tok_seq_cider" not in read.by_name


def test_a_missing_column_of_scores_is_named(run):
    run.write()
    path = Path("artifacts/sle/scores.parquet")
    pq.write_table(pq.read_table(path).drop_columns(["rank"]), path)
    with pytest.raises(InputError, match=r"scores\.parquet: has no column 'rank'"):
        Scores.read("sle")


def test_reasons_must_be_texts(run):
    run.write()
    artifacts.write_json("artifacts/sle/reasons.json", {"SPICE": 3})
    with pytest.raises(InputError, match=r"reasons\.json"):
        Scores.read("sle")


def test_two_scores_of_one_caption_are_an_error():
    with pytest.raises(InputError, match="two scores"):
        scores(score(), score())


def test_an_infinite_score_is_an_error():
    with pytest.raises(InputError, match="infinite"):
        scores(score(value=float("inf")))


def test_seeds_with_different_images_are_an_error():
    both = scores(score(), score(image_id=1), score(seed=2))
    with pytest.raises(InputError, match="different images"):
        both.per_image("sll", "sample", "CIDEr", "every")


def test_captions_are_averaged_or_chosen():
    table = scores(
        score(value=0.2),
        score(rank=1, value=0.4),
        score(rank=None, value=9.0),
        score(image_id=None, rank=None, value=7.0),
    )
    for captions, expected in (("every", 0.3), ("best", 0.2), ("set", 9.0)):
        images = table.per_image("sll", "sample", "CIDEr", captions)
        assert images is not None
        assert images.loc[0, 1] == pytest.approx(expected)
    corpus = table.corpus("sll", "sample", "CIDEr")
    assert corpus is not None
    assert corpus.to_dict() == {1: 7.0}


def test_an_undefined_score_is_left_out_of_an_images_mean():
    table = scores(score(value=None), score(rank=1, value=0.4), score(image_id=1, value=None))
    images = table.per_image("sll", "sample", "CIDEr", "every")
    assert images is not None
    assert images.loc[0, 1] == 0.4
    assert images[1].isna().tolist() == [False, True]


def test_why_missing():
    table = scores(score(), reasons={"METEOR": "Java was not found", "SPICE": "SPICE: later"})
    assert table.why_missing("sll", "beam", "METEOR") == "METEOR: Java was not found"
    assert table.why_missing("sll", "beam", "SPICE") == "SPICE: later"
    assert table.why_missing("xe", "beam", "Div1") == "no scores of variant xe"
    assert "no Div1 for sll (beam)" in table.why_missing("sll", "beam", "Div1")


def test_curves_of_cross_entropy_may_be_missing_but_no_others(run):
    variants = run.read().variants
    Path("artifacts/sle/train/xe/curves.parquet").unlink()
    curves = inputs.read_curves(variants)
    assert {"sll", "lstm", "attention"} <= set(curves["variant"])
    assert "xe" not in set(curves["variant"])
    Path("artifacts/sle/train/sll/curves.parquet").unlink()
    with pytest.raises(InputError, match="train/sll/curves"):
        inputs.read_curves(variants)


def test_images_of_a_split_in_order(run):
    run.write()
    images = inputs.read_images("test")
    assert images["image_id"].tolist() == list(range(run.images))
    assert images["longest_reference"].tolist()[:2] == [5, 12]
    assert inputs.read_images("val").empty
