"""Captions scored by what finds their images: whose listener, which ranks, and what is true of the scenes."""

import contextlib
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from small_task import SMALL, decoded_row, randomise, write_captioner, write_features, write_references

from seqcap import models, retrieval
from seqcap.data.vocabulary import EOS, PAD, Vocabulary, digest
from seqcap.errors import InputError
from seqcap.evaluation import people
from seqcap.evaluation.people import PeopleConfig
from seqcap.evaluation.retrieval import RetrievalConfig, evaluate, most_similar
from seqcap.features.store import FeatureStore
from seqcap.files.json_file import write_json
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import DECODED, IMAGES, REFERENCES, SCORES
from seqcap.files.tensors import save_weights
from seqcap.models import decoding
from seqcap.retrieval import exchanges
from seqcap.retrieval.recalls import recalls
from seqcap.world.captions import plan
from seqcap.world.checker import check
from seqcap.world.english import realise
from seqcap.world.graph import sample
from seqcap.world.scenes import SCENES, read_scenes

FOLDER = Path("artifacts/image")
CHANNELS = 6
MAX_LENGTH = 7
# Not in the order of the files.
TEST = [31, 4, 12, 7, 28, 19, 3, 22]
TRAIN = [1, 2]
SEEDS = (1, 2)
RUNS = ("plain", "joint")
METRICS = {f"{whose}_{what}" for whose in ("own", "fixed", "twin") for what in ("rank", "R@1", "R@5", "R@10")}
METRICS |= {"fixed_choice"}
CONFIG = RetrievalConfig(
    **SMALL["retrieval"],
    decoded={run: f"decoded/{run}.parquet" for run in RUNS},
    weights={run: run for run in RUNS},
    max_length=MAX_LENGTH,
)
PEOPLE = PeopleConfig(
    **{field: value for field, value in SMALL["retrieval"].items() if field in PeopleConfig.model_fields},
    seeds=SEEDS,
    max_length=MAX_LENGTH,
)
TRUTH = {"true_of_own", "alone", "bits", "literal_R@1", "literal_R@5", "literal_R@10", "unparsed"}


def write_data(rng):
    """Scenes, three captions of people each, and features without meaning."""
    images, said, scenes = [], [], []
    for split, items in (("train", TRAIN), ("test", TEST)):
        for item in items:
            scene = sample(rng)
            images.append({"item": item, "split": split, "file": f"{item}.png"})
            scenes.append({"item": item, "split": split, "graph": json.dumps(scene.to_json())})
            for detail in ("generic", "medium", "detailed"):
                said.append((split, item, realise(plan(scene, detail, 0.0, rng), rng)))
    write_rows(FOLDER / "data/images.parquet", images, IMAGES)
    write_references(FOLDER / "data", said)
    write_rows(FOLDER / "data/scenes.parquet", scenes, SCENES)
    Vocabulary.build((tokens for _, item, tokens in said if item != 22), 1).write(FOLDER / "data/vocabulary.json")
    values = rng.normal(size=(len(images), CHANNELS)).astype(np.float32)
    write_features(FOLDER / "features/pooled.parquet", values, [row["item"] for row in images])
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "python"})


def write_weights():
    """Listeners and captioners of two seeds, a judge, and the listeners that `joint` trained."""
    vocabulary = Vocabulary.read(FOLDER / "data/vocabulary.json")
    retrievers = (
        "judge/seed9",
        "twin/seed10",
        *(f"listener/seed{k}" for k in SEEDS),
        *(f"joint/seed{k}.listener" for k in SEEDS),
    )
    for seed, name in enumerate(retrievers):
        torch.manual_seed(seed)
        retriever = retrieval.build("dual_encoder", {"embedding": 5, "hidden": 8}, len(vocabulary), (CHANNELS,))
        retriever.vocabulary = digest(vocabulary)
        with torch.no_grad():
            randomise(retriever)
        save_weights(f"{name}.safetensors", retriever.state_dict(), retriever.metadata())

    def say_little(captioner):
        randomise(captioner)
        captioner.output.bias[EOS] = 4

    settings = {"hidden": 6, "image_input": "every_step"}
    for seed in SEEDS:
        path, shape = Path(f"captioner/seed{seed}.safetensors"), (CHANNELS,)
        write_captioner(path, "lstm", settings, (vocabulary,), shape, 10 + seed, say_little, max_length=MAX_LENGTH)


def features(items):
    store = FeatureStore(FOLDER / "features/pooled.parquet")
    return torch.from_numpy(store.get(store.rows_of(items)))


def write_decoded():
    """`plain` says what the captioner of its seed decodes, `joint` what people say; both have beams, too."""
    vocabulary = Vocabulary.read(FOLDER / "data/vocabulary.json")
    people = said_by_people()
    for run in RUNS:
        rows = []
        for seed in SEEDS:
            captioner, _ = models.load(Path(f"captioner/seed{seed}.safetensors"))
            with torch.no_grad():
                greedy = decoding.greedy(captioner, captioner.encode(features(TEST)), MAX_LENGTH)
            for i, item in enumerate(TEST):
                tokens = vocabulary.decode(greedy.tokens[i].tolist()) if run == "plain" else people[item, seed]
                rows.append(decoded_row(run, item, "greedy", 0, tokens, seed, float(greedy.log_prob[i])))
                rows.append(decoded_row(run, item, "beam", 0, ["dog"], seed))
        write_rows(f"decoded/{run}.parquet", rows, DECODED)


def said_by_people():
    """(item, rank) -> words."""
    rows = pd.DataFrame(read_table(FOLDER / "data/references.parquet", REFERENCES).to_pylist())
    rows = rows[rows.split == "test"]
    return dict(zip(zip(rows["item"], rows.groupby("item").cumcount(), strict=True), rows.tokens, strict=True))


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A folder with everything, and its scores."""
    folder = tmp_path_factory.mktemp("task")
    with contextlib.chdir(folder):
        write_data(np.random.default_rng(3))
        write_weights()
        write_decoded()
        table = pa.concat_tables([evaluate(CONFIG), people.evaluate(PEOPLE)])
    assert table.schema == SCORES
    return folder, table.to_pandas()


@pytest.fixture
def scores(scored, monkeypatch):
    """The scores, in the folder of what they were computed from."""
    monkeypatch.chdir(scored[0])
    return scored[1]


@pytest.fixture
def task(scored, tmp_path, monkeypatch):
    """A copy of the folder, to be changed."""
    shutil.copytree(scored[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")


def values(scores, run, seed, metric):
    """(item, rank) -> value."""
    chosen = scores[(scores.run == run) & (scores.seed == seed) & (scores.metric == metric)]
    assert len(chosen)
    return chosen.set_index(["item", "rank"]).value.sort_index()


def embedded(path, captions):
    """A retriever's embeddings of the test images, in the order of TEST, and of captions, (item, rank) -> words."""
    vocabulary = Vocabulary.read(FOLDER / "data/vocabulary.json")
    retriever, _ = retrieval.load(Path(path))
    with torch.no_grad():
        ids = [torch.tensor([[*vocabulary.encode(words), EOS][:MAX_LENGTH]]) for words in captions.values()]
        return retriever.embed_images(features(TEST)), torch.cat([retriever.embed_captions(row) for row in ids])


def expected_ranks(path, captions):
    """The rank of each caption's image, (item, rank) -> rank."""
    images, texts = embedded(path, captions)
    ranks = {
        key: float((images @ text >= images[TEST.index(key[0])] @ text - 1e-6).sum())
        for key, text in zip(captions, texts, strict=True)
    }
    return pd.Series(ranks).sort_index()


def decoded(run, seed):
    rows = read_table(f"decoded/{run}.parquet", DECODED).to_pylist()
    return {(row["item"], 0): row["tokens"] for row in rows if (row["seed"], row["decoder"]) == (seed, "greedy")}


def test_every_caption_has_a_row_of_every_metric(scores):
    scores = scores[~scores.metric.str.contains("_told_")]
    rows = scores.groupby(["run", "seed", "decoder", "metric"]).size()
    runs = {(run, seed, "greedy", metric): 8 for run in RUNS for seed in SEEDS for metric in METRICS | TRUTH}
    runs |= {(run, seed, "greedy", "xe_log_prob"): 8 for run in RUNS for seed in SEEDS}
    own = {metric for metric in METRICS if metric.startswith("own")}
    of_people = ("human:joint", "human:listener")
    runs |= {(run, seed, "sample", metric): 24 for run in of_people for seed in SEEDS for metric in own}
    runs |= {("human", 0, "sample", metric): 24 for metric in METRICS - own | TRUTH | {"xe_log_prob"}}
    runs |= {(run, seed, "greedy", "Self-BLEU"): 8 for run in RUNS for seed in SEEDS}
    # Of each image, not of each caption.
    texts = [f"{whose}_text_R@{k}" for whose in ("own", "fixed", "twin") for k in (1, 5, 10)]
    runs |= {(run, seed, "greedy", metric): 8 for run in RUNS for seed in SEEDS for metric in texts}
    runs |= {("human:listener", seed, "sample", f"own_text_R@{k}"): 8 for seed in SEEDS for k in (1, 5, 10)}
    runs |= {("human", 0, "sample", f"{whose}_text_R@{k}"): 8 for whose in ("fixed", "twin") for k in (1, 5, 10)}
    assert rows.to_dict() == runs
    assert not scores.duplicated(["run", "seed", "item", "decoder", "rank", "metric"]).any()
    assert np.isfinite(scores.value).all()


def test_the_judge_chooses_between_the_own_image_and_the_one_most_like_it(scores):
    found = values(scores, "plain", 1, "fixed_choice")
    images, texts = embedded("judge/seed9.safetensors", decoded("plain", 1))
    similar = most_similar("judge", "image", "test")
    assert len(set(similar.values())) > 2
    for own, (item, text) in enumerate(zip(TEST, texts, strict=True)):
        other = max((i for i in range(len(TEST)) if i != own), key=lambda i: float(images[i] @ images[own]))
        assert similar[item] == TEST[other]
        assert found[item, 0] == float(images[own] @ text > images[other] @ text + 1e-6)
    assert set(found) == {0, 1}


def text_recalls(scores, run, seed):
    """(metric, item) -> value."""
    found = scores[(scores.run == run) & (scores.seed == seed) & scores.metric.str.contains("_text_")]
    assert found["rank"].isna().all()
    return found.set_index(["metric", "item"]).value


def test_the_judge_finds_an_images_own_captions(scores):
    """Among those of the other images: its other captions are no mistakes."""
    people = {place: words[: MAX_LENGTH - 1] for place, words in said_by_people().items()}
    found = text_recalls(scores, "human", 0)
    images, texts = embedded("judge/seed9.safetensors", people)
    for item, image in zip(TEST, images, strict=True):
        own = torch.tensor([other == item for other, _ in people])
        cosines = texts @ image
        rank = 1 + int((cosines[~own] >= cosines[own].max() - 1e-6).sum())
        assert [found[f"fixed_text_R@{k}", item] for k in (1, 5, 10)] == [rank <= k for k in (1, 5, 10)]
    assert found["fixed_text_R@5"].mean() < found["fixed_text_R@10"].mean()


@pytest.mark.parametrize("seed", SEEDS)
def test_images_find_their_own_caption_among_those_of_all(scores, seed):
    """`plain` says the same of several images: among equal captions the own one is where chance puts it."""
    found, captions = text_recalls(scores, "plain", seed), decoded("plain", seed)
    assert len(set(map(tuple, captions.values()))) < len(TEST)
    for whose, path in (("own", f"listener/seed{seed}"), ("fixed", "judge/seed9"), ("twin", "twin/seed10")):
        images, texts = embedded(f"{path}.safetensors", captions)
        for own, (item, image) in enumerate(zip(TEST, images, strict=True)):
            cosines = texts @ image - texts[own] @ image
            before, equal = int((cosines > 1e-6).sum()), int((cosines.abs() <= 1e-6).sum())
            for k in (1, 5, 10):
                expected = min(max((k - before) / equal, 0), 1)
                assert found[f"{whose}_text_R@{k}", item] == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_images_are_ranked_by_the_own_listener_the_initial_one_and_the_judge(scores, seed):
    listeners = {"plain": f"listener/seed{seed}", "joint": f"joint/seed{seed}.listener"}
    for run, listener in listeners.items():
        for name, retriever in (("own", listener), ("fixed", "judge/seed9"), ("twin", "twin/seed10")):
            expected = expected_ranks(f"{retriever}.safetensors", decoded(run, seed))
            found = values(scores, run, seed, f"{name}_rank")
            assert found.to_dict() == expected.to_dict()
            assert found.nunique() > 3
            for k in (1, 5, 10):
                assert values(scores, run, seed, f"{name}_R@{k}").to_dict() == (expected <= k).to_dict()


def test_people_are_found_by_the_judge_and_by_the_listeners_that_runs_train_or_start_from(scores):
    # As in training, a caption that is too long keeps its EOS.
    people = {place: words[: MAX_LENGTH - 1] for place, words in said_by_people().items()}
    assert any(len(words) >= MAX_LENGTH for words in said_by_people().values())
    fixed = values(scores, "human", 0, "fixed_rank")
    assert fixed.to_dict() == expected_ranks("judge/seed9.safetensors", people).to_dict()
    for seed in SEEDS:
        own = values(scores, "human:joint", seed, "own_rank")
        assert own.to_dict() == expected_ranks(f"joint/seed{seed}.listener.safetensors", people).to_dict()
        start = values(scores, "human:listener", seed, "own_rank")
        assert start.to_dict() == expected_ranks(f"listener/seed{seed}.safetensors", people).to_dict()
    # The same as where retrievers are measured by themselves.
    judge, _ = retrieval.load(Path("judge/seed9.safetensors"))
    measured = recalls(judge, judge.load_task(FOLDER).split("test", MAX_LENGTH), torch.device("cpu"))["text_to_image"]
    for k in (1, 5):
        assert values(scores, "human", 0, f"fixed_R@{k}").mean() == pytest.approx(measured[f"R@{k}"])


def test_log_probability_of_greedy_captions_is_what_their_decoder_says(scores):
    lengths = set()
    for seed in SEEDS:
        rows = read_table("decoded/plain.parquet", DECODED).to_pylist()
        log_prob = {row["item"]: row["log_prob"] for row in rows if (row["seed"], row["decoder"]) == (seed, "greedy")}
        for (item, _), value in values(scores, "plain", seed, "xe_log_prob").items():
            # One that was cut has no EOS.
            tokens = min(len(decoded("plain", seed)[item, 0]) + 1, MAX_LENGTH)
            lengths.add(len(decoded("plain", seed)[item, 0]))
            assert value == pytest.approx(log_prob[item] / tokens, rel=1e-4)
    assert min(lengths) < MAX_LENGTH - 1
    assert MAX_LENGTH in lengths


def test_log_probability_of_people_is_the_mean_over_seeds(scores):
    vocabulary = Vocabulary.read(FOLDER / "data/vocabulary.json")
    found = values(scores, "human", 0, "xe_log_prob")
    for (item, rank), words in said_by_people().items():
        ids = torch.tensor([[*vocabulary.encode(words[: MAX_LENGTH - 1]), EOS]])
        each = []
        for seed in SEEDS:
            captioner, _ = models.load(Path(f"captioner/seed{seed}.safetensors"))
            with torch.no_grad():
                log_p = torch.log_softmax(captioner.teacher_force(features([item]), ids), dim=2)
            each.append(float(log_p.gather(2, ids[..., None]).mean()))
        assert found[item, rank] == pytest.approx(np.mean(each), rel=1e-4)
    assert PAD not in ids


def test_truth_is_that_of_the_splits_scenes(scores):
    scenes = read_scenes(FOLDER / "data/scenes.parquet")
    people = said_by_people()
    said = {("human", 0): people} | {(run, seed): decoded(run, seed) for run in RUNS for seed in SEEDS}
    for (run, seed), captions in said.items():
        found = {metric: values(scores, run, seed, metric) for metric in TRUTH}
        for place, words in captions.items():
            # Not of the training images.
            true = {other for other in TEST if check(words, scenes[other]).precision == 1}
            own = place[0] in true
            unparsed = sum(statement.kind == "unparsed" for statement in check(words, scenes[place[0]]).statements)
            expected = {"true_of_own": own, "alone": true == {place[0]}, "unparsed": unparsed}
            expected["bits"] = math.log2(len(TEST) / len(true)) if own else 0
            expected |= {f"literal_R@{k}": min(1, k / len(true)) if own else 0 for k in (1, 5, 10)}
            assert {metric: of_captions[place] for metric, of_captions in found.items()} == expected
    # Of all that people say, not of what is left after the cut.
    assert values(scores, "human", 0, "true_of_own").mean() == 1
    assert values(scores, "human", 0, "alone").mean() > 0.5
    assert values(scores, "plain", 1, "unparsed").max() > 0


def test_each_judge_counts_as_much(task):
    """The second one is the twin: what both say is the mean of what each says."""
    shutil.copyfile("twin/seed10.safetensors", "judge/seed10.safetensors")
    found = evaluate(CONFIG.model_copy(update={"decoded": {"plain": "decoded/plain.parquet"}})).to_pandas()
    first = expected_ranks("judge/seed9.safetensors", decoded("plain", 1))
    second = values(found, "plain", 1, "twin_rank")
    assert first.to_dict() != second.to_dict()
    both = values(found, "plain", 1, "fixed_rank")
    assert both.to_dict() == ((first + second) / 2).to_dict()


def test_a_run_is_found_by_the_retriever_that_pays_it(task):
    payers = {"plain": "other"}
    shutil.copytree("listener", "other")
    shutil.copyfile("twin/seed10.safetensors", "other/seed1.safetensors")
    config = CONFIG.model_copy(update={"payers": payers, "decoded": {"plain": "decoded/plain.parquet"}})
    found = evaluate(config).to_pandas()
    assert values(found, "plain", 1, "own_rank").to_dict() == values(found, "plain", 1, "twin_rank").to_dict()
    assert values(found, "plain", 2, "own_rank").to_dict() != values(found, "plain", 2, "twin_rank").to_dict()


def test_people_are_set_against_captions_with_one_fact_exchanged(scores):
    scenes = read_scenes(FOLDER / "data/scenes.parquet")
    vocabulary = Vocabulary.read(FOLDER / "data/vocabulary.json")
    judge, _ = retrieval.load(Path("judge/seed9.safetensors"))
    exchanged = exchanges.read(judge.load_task(FOLDER), "test", MAX_LENGTH, 0)
    people = {place: words[: MAX_LENGTH - 1] for place, words in said_by_people().items()}
    images, texts = embedded("judge/seed9.safetensors", people)
    compared = differ = 0
    for place, text in zip(people, texts, strict=True):
        item = TEST.index(place[0])
        for kind, ids in zip(exchanges.KINDS, exchanged[item, place[1]], strict=True):
            found = scores[(scores.run == "human") & (scores.metric == f"fixed_told_{kind}")]
            found = found[(found.item == place[0]) & (found["rank"] == place[1])].value.tolist()
            if int(ids[0]) == PAD:
                assert found == []
                continue
            words = vocabulary.decode(ids.tolist())
            if len(said_by_people()[place]) < MAX_LENGTH and "<unk>" not in words:
                assert check(words, scenes[place[0]]).precision < 1
            other = judge.embed_captions(ids[None].long())[0].detach()
            image = images[item]
            assert found == [float(image @ text > image @ other + 1e-6)]
            # The same two with the next image.
            elsewhere = scores[(scores.run == "human") & (scores.metric == f"fixed_told_{kind}_elsewhere")]
            elsewhere = elsewhere[(elsewhere.item == place[0]) & (elsewhere["rank"] == place[1])].value.tolist()
            following = images[(item + 1) % len(images)]
            assert elsewhere == [float(following @ text > following @ other + 1e-6)]
            assert words.count("<unk>") <= vocabulary.decode(vocabulary.encode(people[place])).count("<unk>")
            compared += 1
            differ += found != elsewhere
    assert compared > 10
    assert differ


def test_a_listener_of_one_seed_alone_is_not_replaced_by_the_initial_one(task):
    Path("joint/seed2.listener.safetensors").unlink()
    with pytest.raises(InputError, match=r"joint/seed2\.listener\.safetensors: does not exist"):
        evaluate(CONFIG)
