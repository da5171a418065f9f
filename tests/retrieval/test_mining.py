"""Similar images against sorting written out; never the image itself or a copy; and the stage."""

from pathlib import Path

import children
import numpy as np
import pytest
from small_listener import unit
from small_task import SMALL, write_listener
from torch.nn import functional as F

from seqcap import retrieval
from seqcap.config import config_path, write_config
from seqcap.data.vocabulary import EOS
from seqcap.errors import InputError
from seqcap.files import tensors
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import REFERENCES
from seqcap.retrieval import mining
from seqcap.retrieval.mining import MINED, MiningConfig, make, nearest, read

ITEMS = np.arange(24)


def config(**changes):
    return MiningConfig(**(SMALL["mining"] | changes))


@pytest.fixture
def task(small_images):
    write_listener(small_images)


def mined(path="out/seed1.mined.parquet"):
    return read_table(path, MINED).to_pylist()


@pytest.mark.parametrize(("scores", "first"), [(1 << 24, 8), (40, 8), (1 << 24, 1)])
def test_the_nearest_are_those_of_the_nearest_captions(monkeypatch, scores, first):
    """All at once, two images at a time, or with so few captions at first that most images search on."""
    monkeypatch.setattr(mining, "SCORES", scores)
    monkeypatch.setattr(mining, "FIRST", first)
    images, texts = unit(9, 5), unit(40, 5, seed=1)
    owners = [i % 9 for i in range(40)]
    rows, cosines = nearest(images, texts, np.arange(40), np.array(owners), 3)
    for i in range(9):
        best = {j: max(float(images[i] @ texts[c]) for c in range(40) if owners[c] == j) for j in range(9) if j != i}
        expected = sorted(best, key=best.__getitem__, reverse=True)[:3]
        assert rows[i].tolist() == expected
        assert cosines[i].tolist() == pytest.approx([best[j] for j in expected], abs=1e-6)


def test_neither_the_image_nor_a_copy_is_found():
    """Although the own caption is the nearest of all, and the copy's is the same."""
    images = unit(6, 5)
    images[4] = F.normalize(2 * images[1], dim=0)
    rows, cosines = nearest(images, images.clone(), np.arange(6), np.arange(6), 6)
    assert all(i not in found for i, found in enumerate(rows))
    assert set(rows[1].tolist()) == set(rows[4].tolist()) == {0, 2, 3, 5, -1}
    assert np.isneginf(cosines[rows < 0]).all()
    assert np.isfinite(cosines[rows >= 0]).all()
    assert set(rows[0].tolist()) == {1, 2, 3, 4, 5, -1}


def test_of_images_that_are_as_near_the_first_comes_first():
    """People said the same of all of them, or their captions are the same but for rounding."""
    images = unit(8, 5)
    one = images[[0]]
    for texts, captions in (
        (one, np.zeros(8, dtype=int)),
        (one.expand(8, -1) + 1e-7 * unit(8, 5, seed=3), np.arange(8)),
    ):
        rows, _ = nearest(images, texts, captions, np.arange(8)[::-1].copy(), 5)
        assert rows[3].tolist() == [0, 1, 2, 4, 5]
        assert rows[0].tolist() == [1, 2, 3, 4, 5]


def test_a_sentence_that_several_people_said_is_searched_once(task):
    """The same captions in other batches differ by rounding; as one caption they cannot."""
    path = Path("artifacts/image/data/references.parquet")
    rows = read_table(path, REFERENCES).to_pylist()
    same = {row["item"]: row["tokens"] for row in rows}[3]
    write_rows(
        path, [row | {"tokens": same, "text": " ".join(same)} if row["item"] < 24 else row for row in rows], REFERENCES
    )
    make(config())
    table = {(row["item"], row["rank"]): row["mined"] for row in mined()}
    assert [table[9, rank] for rank in range(1, 6)] == [0, 1, 2, 3, 4]
    assert [table[2, rank] for rank in range(1, 6)] == [0, 1, 3, 4, 5]


def test_the_stage_mines_training_images_with_each_seed(task, command):
    original = Path("starts/retriever/small/seed1.safetensors").read_bytes()
    weights, metadata = tensors.load_weights("starts/retriever/small/seed1.safetensors")
    other = {name: value.flip(0) for name, value in weights.items()}
    tensors.save_weights("starts/retriever/small/seed2.safetensors", other, metadata)
    write_config(config_path("mine", "small"), config(seeds=(1, 2)))
    command("small", script=children.STAGES / "mine.py")
    rows = mined()
    assert [row["item"] for row in rows] == np.repeat(ITEMS, 5).tolist()
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5] * 24
    assert {row["mined"] for row in rows} <= set(range(24))
    assert all(row["mined"] != row["item"] for row in rows)
    assert rows != mined("out/seed2.mined.parquet")
    assert Path("out/seed1.safetensors").read_bytes() == original
    # Some of them, by hand.
    retriever, _ = retrieval.load(Path("out/seed1.safetensors"))
    split = retriever.load_task(Path("artifacts/image")).split("train", 6)
    image = retriever.embed_images(split.inputs.get(np.array([7])))
    captions = split.captions(ITEMS)
    cosines = (retriever.embed_captions(captions.flatten(0, 1)) @ image[0]).view(24, 2).amax(1).detach()
    cosines[7] = -1
    found = [row for row in rows if row["item"] == 7]
    assert [row["cosine"] for row in found] == pytest.approx(
        cosines.sort(descending=True).values[:5].tolist(), abs=1e-6
    )
    assert [row["cosine"] for row in found] == pytest.approx([cosines[row["mined"]].item() for row in found], abs=1e-6)


def test_runs_find_what_the_instance_of_their_own_seed_mined(task):
    """Its own seed is another one: retrievers that must not know each other have different ones."""
    folder = Path("starts/retriever/small")
    (folder / "seed1.safetensors").rename(folder / "seed201.safetensors")
    make(config(seed_offset=200))
    assert Path("out/seed1.safetensors").read_bytes() == (folder / "seed201.safetensors").read_bytes()
    assert {path.name for path in Path("out").iterdir()} == {"seed1.safetensors", "seed1.mined.parquet"}


def test_a_missing_caption_is_nobodys(task):
    """Images may have one caption only: its padding is not indexed."""
    path = Path("artifacts/image/data/references.parquet")
    rows = read_table(path, REFERENCES).to_pylist()
    left = [row for row in rows if row["caption_id"] % 2 == 0 or row["item"] == 20]
    write_rows(path, left, REFERENCES)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining, "embed_captions", lambda r, ids, d: seen.append(ids) or unit(len(ids), 8))
        make(config())
    # Each of nine things is said in one way, and one of them in two.
    assert len(seen[0]) == 10
    assert (seen[0] == EOS).any(1).all()


def test_too_few_images_are_one_line(task):
    with pytest.raises(InputError, match="needs 24 images like each of 24"):
        make(config(neighbours=24))
    make(config(neighbours=23))
    with pytest.raises(InputError, match="needs 25 images"):
        make(config(neighbours=25))


def test_what_was_found_is_read_by_rank(task):
    make(config())
    table = {(row["item"], row["rank"]): row["mined"] for row in mined()}
    path = Path("out/seed1.mined.parquet")
    items = ITEMS[::-1].copy()
    found = read(path, items, (5, 2))
    assert found.shape == (24, 2)
    for row, item in enumerate(items):
        assert items[found[row]].tolist() == [table[item, 5], table[item, 2]]
    assert read(path, items, ()).shape == (24, 0)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows[:-1], r"has no rank 5 of image 23; mine more neighbours"),
        (lambda rows: [{**row, "mined": 3} if row["item"] == 3 else row for row in rows], "has image 3 for image 3"),
        (lambda rows: [{**row, "mined": 99} if row["item"] == 3 else row for row in rows], "has image 99 for image 3"),
    ],
)
def test_what_does_not_fit_the_training_images_is_one_line(task, change, problem):
    make(config())
    path = Path("out/seed1.mined.parquet")
    write_rows(path, change(mined()), MINED)
    with pytest.raises(InputError, match=problem):
        read(path, ITEMS, (4, 5))
