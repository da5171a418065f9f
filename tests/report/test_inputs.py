"""Reading the run: scores and their checks, what stands for what, and counts in words."""

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from invented_runs import counts_of, scores_of

from seqcap import papers
from seqcap.errors import InputError
from seqcap.files import parquet, schemas
from seqcap.report import inputs
from seqcap.report.inputs import Count, Results, Scores


def score(**changes: object) -> dict[str, object]:
    row = {"run": "sll", "seed": 1, "item": 0, "decoder": "sample", "rank": 0, "metric": "CIDEr", "value": 0.5}
    return row | changes


def scores(*rows: dict[str, object]) -> Scores:
    return scores_of(list(rows))


def test_ensembles_are_runs_that_were_not_trained(smoothing):
    run = smoothing.read()
    assert list(run.by_name)[-2:] == ["tok_seq_cider", "tok_seq_cider_ensemble"]
    assert [entry.name for entry in run.trained] == smoothing.names
    assert set(smoothing.write().curves["run"]) == set(smoothing.names)


def test_peoples_captions_count_once_in_each_metric(tmp_path: Path):
    """What retrieval says of them is kept beside what the evaluation says, and another domain's is not."""
    files = {"evaluation": ("CIDEr",), "retrieval": ("bits", "fixed_R@1"), "second": ("CIDEr", "bits", "alone")}
    for number, (name, metrics) in enumerate(files.items()):
        rows = [score(run="human", seed=0, metric=metric, value=float(number)) for metric in metrics]
        parquet.write_rows(tmp_path / name, [*rows, score(run=f"run{number}")], schemas.SCORES)
    read = Scores.read([str(tmp_path / name) for name in files])
    found = {metric: read.by_seed("human", "sample", metric) for metric in ("CIDEr", "bits", "fixed_R@1", "alone")}
    means = {metric: values.tolist() for metric, values in found.items() if values is not None}
    assert means == {"CIDEr": [0.0], "bits": [1.0], "fixed_R@1": [1.0], "alone": [2.0]}
    assert read.by_seed("run2", "sample", "CIDEr") is not None


@pytest.mark.parametrize(
    ("dataset", "split", "published_on", "text"),
    [
        ("coco", "test", "COCO Karpathy test", "COCO (Karpathy's splits), test split"),
        ("coco", "val", "COCO Karpathy test", "COCO (Karpathy's splits), val split, stands in for COCO Karpathy test"),
        ("coco", "test", "a server", "COCO (Karpathy's splits), test split, stands in for a server"),
        ("scenes", "test", "a server", "scenes (generated), test split, stands in for a server"),
    ],
)
def test_only_the_papers_own_data_stand_for_nothing(sle, dataset: str, split: str, published_on: str, text: str):
    run, config = sle.read(), sle.config()
    tasks = {"image": config.tasks["image"].model_copy(update={"dataset": dataset})}
    evaluations = {"sle_image": config.evaluations["sle_image"].model_copy(update={"split": split})}
    run = replace(run, config=config.model_copy(update={"tasks": tasks, "evaluations": evaluations}))
    assert run.stand_in("image", published_on=published_on) == text


def test_each_evaluation_names_its_data(smoothing):
    smoothing.names = ["lstm_mle", "de_en_mle"]
    run = smoothing.read()
    assert run.stand_in("de_en", published_on="IWSLT'14") == "multi30k, stands in for IWSLT'14"
    assert run.stand_in("en_fr", published_on="WMT'14") == "WMT'14: not part of this run"
    assert run.stand_in("image", "smoothing_server", "a server").startswith("scenes (generated), server split, stands")
    assert run.stand_in("image").startswith("scenes (generated), test split, stands")
    assert run.datasets == "scenes, multi30k"


def test_counts_in_words(sle):
    sle.beam, sle.samples = 5, 3
    run = sle.read()
    assert run.fill("{samples} of {beam.word}, {beam.start}") == "3 of five, Five"
    assert (run.a_beam(), run.a_beam("sle_image"), run.a_beam("other")) == ("a beam of 5", "a beam of 5", "a beam")
    assert run.fill("{several}") == "three or five"
    assert Count(13).word == "13"


def test_numbers_of_seeds_from_the_fewest_to_the_most(sle, monkeypatch: pytest.MonkeyPatch):
    run = sle.read()
    images, clips = ([of for of in run.trained if of.evaluation == name] for name in ("sle_image", "sle_clip"))

    def seeds(*numbers: int) -> None:
        of = [of.model_copy(update={"seeds": list(range(number))}) for of, number in zip(images, numbers, strict=False)]
        monkeypatch.setitem(vars(run), "trained", [*of, *clips])

    items = f"{run.scores.items(images[0].name)} test images"
    seeds(5, 3, 1)
    assert run.fill("{n}", "sle_image") == f"{items}, 3 to 5 training seeds"
    assert run.fill("{n}").startswith(f"{items}, {run.scores.items(clips[0].name)} test clips, ")
    seeds(1, 1)
    assert run.fill("{n}", "sle_image") == f"{items}, 1 training seed"
    seeds(3, 3)
    assert run.fill("{n}", "sle_image") == f"{items}, 3 training seeds"


def test_a_missing_column_of_scores_is_named(sle):
    path = Path(sle.write().config.evaluations["sle_image"].scores)
    pq.write_table(pq.read_table(path).drop_columns(["rank"]), path)
    with pytest.raises(InputError, match=r"results/sle_image\.parquet: has no column 'rank'"):
        Results.read(sle.config(), papers.load("sle"))


def test_captions_are_averaged_or_chosen():
    table = scores(
        score(value=0.2),
        score(rank=1, value=0.4),
        score(rank=None, value=9.0),
        score(item=None, rank=None, value=7.0),
    )
    for captions, expected in (("every", 0.3), ("best", 0.2), ("set", 9.0)):
        items = table.per_item("sll", "sample", "CIDEr", captions)
        assert items.loc[0, 1] == pytest.approx(expected)
    corpus = table.corpus("sll", "sample", "CIDEr")
    assert corpus.to_dict() == {1: 7.0}


def test_an_undefined_score_is_left_out_of_an_items_mean():
    table = scores(score(value=None), score(rank=1, value=0.4), score(item=1, value=None))
    items = table.per_item("sll", "sample", "CIDEr", "every")
    assert items.loc[0, 1] == 0.4
    assert items[1].isna().tolist() == [False, True]


def test_counts_of_items_are_found_by_the_metrics_that_share_them():
    keys = {"run": "sll", "seed": 1, "decoder": "beam"}
    made = scores(
        *counts_of(keys, "BLEU1-4 c5", [0.25, 0.75]),
        *(score(decoder="beam", item=None, rank=None, metric=f"BLEU{n} c5", value=0.5 + n / 100) for n in (1, 4)),
    )
    for order in (1, 4):
        sample = made.sample("sll", "beam", f"BLEU{order} c5", "best")
        assert sample.statistics.shape == (2, 1, 10)
        # The stored value of the corpus; that of the counts is .5.
        assert sample.by_seed.tolist() == pytest.approx([0.5 + order / 100])
        assert sample.resampled.std() == pytest.approx(0.25 / 2**0.5, rel=0.05)
    for metric in ("BLEU4", "BLEU4 c40"):
        assert made.sample("sll", "beam", metric, "best") is None
    assert made.per_item("sll", "beam", "BLEU4 c5", "best") is None


def test_values_by_seed_whatever_the_metric():
    table = scores(
        *(score(seed=seed, item=item, value=seed + item / 10) for seed in (2, 1) for item in (0, 1)),
        *(score(seed=seed, item=None, rank=None, metric="METEOR", value=seed / 10) for seed in (2, 1)),
    )
    for metric, captions, expected in (("CIDEr", "every", {1: 1.05, 2: 2.05}), ("METEOR", "best", {1: 0.1, 2: 0.2})):
        found = table.by_seed("sll", "sample", metric, captions)
        assert found.to_dict() == pytest.approx(expected)
    assert table.by_seed("sll", "beam", "CIDEr") is None


def test_images_of_a_split_in_order(sle):
    sle.write_images()
    images = inputs.read_images("image", "test")
    assert images["item"].tolist() == list(range(sle.images))
    assert images["longest_reference"].tolist()[:2] == [5, 12]
    assert inputs.read_images("image", "val").empty
