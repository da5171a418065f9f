"""What people are asked for PSST's Table 5, the page that asks them, and what the report says of it."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from invented_psst import PsstRun
from invented_runs import Rows

from seqcap import retrieval
from seqcap.config import config_path, write_config
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.evaluation.retrieval import most_similar
from seqcap.files import json_file, parquet, schemas, tensors
from seqcap.papers.psst import claims, rating
from seqcap.papers.psst.methods import PLACES
from seqcap.rating import read_key
from seqcap.rating.page import RatingConfig, write_kit
from seqcap.report.inputs import Results
from seqcap.report.reported import ReportedRun
from seqcap.world.graph import sample
from seqcap.world.scenes import SCENES

ROOT = Path(__file__).parents[2]
FOLDER = Path("reports/psst/rating")
DATA = Path("artifacts/image/data")
METHODS = {"Luo 2018": "luo", "ST Multinomial": "st", "PSST Multinomial": "multinomial"}
IMAGES, CHANNELS = 40, 6
SIMILAR = {item: (item + 7) % IMAGES for item in range(IMAGES)}


class Told(PsstRun):
    """Captions that tell whose they are, and five captions of people."""

    def decoded(self, entry: ReportedRun) -> Rows:
        rows = []
        for seed in entry.seeds:
            for item in range(self.images):
                for decoder in ("greedy", "beam"):
                    text = f"{entry.name} {seed} {item} {decoder}"
                    keys = {"run": entry.name, "seed": seed, "item": item, "decoder": decoder, "rank": 0}
                    rows.append(keys | {"text": text, "tokens": text.split(), "log_prob": -1.0})
        return rows

    def write_images(self) -> None:
        super().write_images()
        rows = []
        for item in range(self.images):
            for number in range(5):
                text = f"Someone's {number} {item}."
                keys = {"item": item, "split": "test", "caption_id": len(rows)}
                rows.append(keys | {"text": text, "tokens": ["someone", str(number), str(item)]})
        parquet.write_rows(DATA / "references.parquet", rows, schemas.REFERENCES)


def told(*methods: str, **changes: object) -> Told:
    return Told(methods=list(methods or METHODS.values()), second=False, images=IMAGES, **changes)  # type: ignore[arg-type]


@pytest.fixture
def results(psst: PsstRun) -> Results:
    """The three methods, in an empty current directory."""
    return told().write()


def write_judge() -> str:
    """Scenes, features without meaning and a judge that was not trained: its folder."""
    rng = np.random.default_rng(4)
    scenes = [{"item": item, "split": "test", "graph": json.dumps(sample(rng).to_json())} for item in range(IMAGES)]
    parquet.write_rows(DATA / "scenes.parquet", scenes, SCENES)
    schema = schemas.features_schema((CHANNELS,), pa.float32())
    values = pa.array(rng.normal(size=IMAGES * CHANNELS).astype(np.float32))
    column = pa.FixedSizeListArray.from_arrays(values, type=schema.field(1).type)
    with parquet.parquet_stream("artifacts/image/features/pooled.parquet", schema) as writer:
        writer.write_table(pa.Table.from_arrays([pa.array(range(IMAGES), pa.int64()), column], schema=schema))
    vocabulary = Vocabulary.build([["someone"]], 1)
    vocabulary.write(DATA / "vocabulary.json")
    torch.manual_seed(0)
    judge = retrieval.build("dual_encoder", {"embedding": 5, "hidden": 8}, len(vocabulary), (CHANNELS,))
    judge.vocabulary = digest(vocabulary)
    tensors.save_weights("starts/retriever/judge/seed1.safetensors", judge.state_dict(), judge.metadata())
    json_file.write_json("artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "python"})
    return "starts/retriever/judge"


# --- The questions


def nearest(results: Results, place: str, method: str) -> str:
    """A method's run that is nearest to an operating point."""
    point = PLACES[place].point(results)
    of_method = [entry.name for entry in results.runs if entry.name.startswith(f"{method}_w")]
    levels = {name: results.scores.by_seed(name, "greedy", PLACES[place].metric) for name in of_method}
    return min(of_method, key=lambda name: abs(float(levels[name].mean()) - point.value))  # type: ignore[union-attr]


def test_accuracy_is_asked_of_every_method_at_one_cider_and_of_people(results: Results):
    accuracy, _ = rating.questions(results, SIMILAR)
    assert list(dict.fromkeys(one.model for one in accuracy)) == [*METHODS, "Human"]
    assert len(accuracy) == 4 * IMAGES
    for one in accuracy:
        assert one.other == SIMILAR[one.item]
        if one.model == "Human":
            assert one.caption in {f"someone {number} {one.item}" for number in range(5)}
        else:
            assert one.caption == f"{nearest(results, 'table5', METHODS[one.model])} 1 {one.item} greedy"
    assert {one.caption.split()[1] for one in accuracy if one.model == "Human"} == set("01234")


def test_naturalness_is_asked_against_straight_through_at_one_recall(results: Results):
    _, naturalness = rating.questions(results, SIMILAR)
    assert list(dict.fromkeys((two.model, two.against) for two in naturalness)) == [
        ("Luo 2018", "ST Multinomial"),
        ("PSST Multinomial", "ST Multinomial"),
    ]
    for two in naturalness:
        assert two.caption == f"{nearest(results, 'naturalness', METHODS[two.model])} 1 {two.item} greedy"
        assert two.against_caption == f"{nearest(results, 'naturalness', 'st')} 1 {two.item} greedy"
    # Otherwise nothing told the two operating points apart.
    assert nearest(results, "naturalness", "st") != nearest(results, "table5", "st")


def test_all_models_are_asked_on_the_same_drawn_pictures(results: Results, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rating, "IMAGES", 10)
    accuracy, naturalness = rating.questions(results, SIMILAR)
    items = [one.item for one in accuracy][:10]
    assert len(set(items)) == 10
    assert set(items) != set(range(10))
    assert [one.item for one in accuracy] == items * 4
    assert [two.item for two in naturalness] == items * 2
    assert rating.questions(results, dict(reversed(SIMILAR.items()))) == (accuracy, naturalness)


@pytest.mark.parametrize(
    ("methods", "accuracy", "naturalness"),
    [
        (["st", "multinomial"], {"ST Multinomial", "PSST Multinomial", "Human"}, {"PSST Multinomial"}),
        (["luo", "multinomial"], {"Luo 2018", "PSST Multinomial", "Human"}, set()),
        (["st"], {"ST Multinomial", "Human"}, set()),
        (["psst_mle"], set(), set()),
        (["psst_mle", "reinforce"], set(), set()),
    ],
)
def test_methods_that_are_not_there_are_left_out(
    psst: PsstRun, methods: list[str], accuracy: set[str], naturalness: set[str]
):
    asked = rating.questions(told(*methods).write(), SIMILAR)
    assert tuple({one.model for one in part} for part in asked) == (accuracy, naturalness)


# --- The page


def test_the_page_shows_the_own_picture_and_the_one_that_the_judge_holds_for_similar(results: Results):
    judge = write_judge()
    write_kit(results, judge)
    first = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    write_kit(results, judge)
    assert first == {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert {path.name for path in FOLDER.iterdir()} == {"page.html", "key.json"}
    page, entries = (FOLDER / "page.html").read_text(), read_key(FOLDER / "key.json").entries
    assert len(entries) == (4 + 2) * IMAGES
    text = page.split('<script id="questions" type="application/json">')[1].split("</script>")[0]
    asked = {question["id"]: question for question in json.loads(text)["questions"]}
    own, other = {}, {}
    for entry in entries:
        if entry.task == "accuracy":
            sides = asked[entry.question]
            own[entry.item], other[entry.item] = (sides["a"], sides["b"])[:: 1 if entry.side == "a" else -1]
    assert len(set(own.values())) == IMAGES
    assert other == {item: own[similar] for item, similar in most_similar(judge, "image", "test").items()}
    # Raters must not read whose captions they judge.
    assert not any(model in page for model in (*METHODS, "Human"))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: told(dataset="flickr8k", show=False), "photographs (flickr8k), which are not ours to show"),
        (lambda: told("psst_mle"), "None of the methods that the paper's raters judged"),
    ],
)
def test_without_pictures_or_a_method_to_judge_there_is_no_page(psst: PsstRun, made: Callable[[], Told], why: str):
    write_kit(made().write(), write_judge())
    assert [path.name for path in FOLDER.iterdir()] == ["README.md"]
    assert why in (FOLDER / "README.md").read_text()


def test_the_stage_reads_its_configuration(psst: PsstRun, monkeypatch: pytest.MonkeyPatch):
    made = told()
    made.write()
    values = made.config().model_dump(exclude={"comparisons"}) | {"judge": write_judge()}
    write_config(config_path("rating", "psst"), RatingConfig.model_validate(values))
    monkeypatch.setattr("sys.argv", ["rating.py", "psst"])
    runpy.run_path(str(ROOT / "stages/rating.py"), run_name="__main__")
    assert (FOLDER / "page.html").is_file()


# --- The report


def test_the_report_tells_of_the_page_where_there_is_one(results: Results):
    assert not any("page.html" in remark for remark in claims.remarks(results, []))
    write_kit(results, write_judge())
    (remark,) = (remark for remark in claims.remarks(results, []) if "page.html" in remark)
    questions = {entry.question for entry in read_key(FOLDER / "key.json").entries if entry.question}
    assert "[rating/page.html](rating/page.html)" in remark
    assert f"{len(questions)} on captions of {IMAGES} pictures" in remark
    assert "seqcap rating aggregate key.json *.csv" in remark
