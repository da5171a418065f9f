"""What passes between stages: checked on reading, whole on writing, the same bytes for the same content."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file

from seqcap.errors import InputError
from seqcap.files import advice, json_file, parquet, schemas, tensors, writing

ROW = {"item": 1, "split": "test", "caption_id": 2, "text": "a dog", "tokens": ["a", "dog"]}


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (pa.table({"item": [1], "split": ["test"]}), "has no column 'file'"),
        (pa.table([["one"], ["test"], ["x"], [1]], schemas.IMAGES.names), "column 'item' is string; expected int64"),
        (pa.table([[1], ["test"], ["x"], [1], [2]], [*schemas.IMAGES.names, "item"]), "has 2 columns 'item'"),
    ],
)
def test_wrong_columns_are_named(tmp_path, table, problem):
    pq.write_table(table, tmp_path / "images.parquet")
    with pytest.raises(InputError, match=rf"images\.parquet: {problem}"):
        parquet.read_table(tmp_path / "images.parquet", schemas.IMAGES)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello", None])
def test_what_is_no_parquet_is_one_line(tmp_path, content):
    path = tmp_path / "scores.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        parquet.read_table(path, schemas.SCORES)
    assert "scores.parquet" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_page_is_one_line(tmp_path):
    path = tmp_path / "references.parquet"
    rows = [ROW | {"caption_id": i, "text": f"dog {i * i}"} for i in range(5000)]
    parquet.write_rows(path, rows, schemas.REFERENCES)
    content = bytearray(path.read_bytes())
    content[200:4000] = bytes(3800)
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="damaged"):
        parquet.read_table(path, schemas.REFERENCES)


def test_columns_in_another_order_are_read(tmp_path):
    path = tmp_path / "references.parquet"
    pq.write_table(pa.Table.from_pylist([ROW], schemas.REFERENCES).select(schemas.REFERENCES.names[::-1]), path)
    assert parquet.read_table(path, schemas.REFERENCES).to_pylist() == [ROW]


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("item", None, "column 'item' is null in row 1"),
        ("text", None, "column 'text' is null in row 1"),
        ("tokens", None, "column 'tokens' is null in row 1"),
        ("tokens", ["a", None], "column 'tokens' has a list with a null in it"),
    ],
)
def test_nulls_are_named(tmp_path, column, value, problem):
    path = tmp_path / "references.parquet"
    parquet.write_rows(path, [ROW, ROW | {column: value}], schemas.REFERENCES)
    with pytest.raises(InputError, match=rf"references\.parquet: {problem}; restore it"):
        parquet.read_table(path, schemas.REFERENCES)


def test_what_may_be_null_is_read(tmp_path):
    rows = [{"item": 1, "split": "test", "file": "1.png", "coco_id": None}]
    parquet.write_rows(tmp_path / "images.parquet", rows, schemas.IMAGES)
    assert parquet.read_table(tmp_path / "images.parquet", schemas.IMAGES).to_pylist() == rows
    nothing = dict.fromkeys(("item", "rank", "value", "statistics"))
    rows = [{"variant": "v", "seed": 1, "decoder": "beam", "metric": "BLEU4", **nothing}]
    parquet.write_rows(tmp_path / "scores.parquet", rows, schemas.SCORES)
    for dictionaries in ((), ("variant",)):
        table = parquet.read_table(tmp_path / "scores.parquet", schemas.SCORES, dictionaries)
        assert table.to_pylist() == [{name: rows[0][name] for name in table.column_names}]


def test_text_that_is_no_utf_8_is_one_line(tmp_path):
    path = tmp_path / "images.parquet"
    wrong = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    pq.write_table(pa.Table.from_arrays([[1], wrong, ["x"], [1]], names=schemas.IMAGES.names), path)
    with pytest.raises(InputError, match=r"images\.parquet: is damaged \(.*UTF8"):
        parquet.read_table(path, schemas.IMAGES)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', r"is not JSON \(the key 'c' is there twice in one object\)"),
        pytest.param("9" * 5000, "is not JSON", id="long"),
        ('["a dog", "half \\ud83d"]', "has half a character after .*half "),
        ('{"\\udc00": 1}', "has half a character"),
        pytest.param("[" * 5000, "is not JSON", id="deep"),
        ("\ufeff[]", "is not JSON"),
    ],
)
def test_json_that_would_be_read_wrong_is_one_line(tmp_path, text, problem):
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"file\.json: {problem}") as caught:
        json_file.read_json(path)
    assert "\n" not in str(caught.value)


def test_whole_characters_are_read_from_their_halves(tmp_path):
    (tmp_path / "file.json").write_text('["\\ud83d\\ude00"]')
    assert json_file.read_json(tmp_path / "file.json") == ["\U0001f600"]


def test_only_the_pipelines_own_files_are_to_be_deleted():
    assert advice.mend("artifacts/sle/x.parquet") == advice.mend("scratch/x") == "delete it and run `dvc repro`"
    assert advice.mend("mine.parquet") == advice.mend("/data/artifacts/x.parquet") == "restore it"


def test_nothing_half_written_is_left_behind(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("old")

    def write_half() -> None:
        with writing.atomic(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_weights_are_the_same_bytes_in_every_process(tmp_path):
    code = (
        "import sys, torch; from seqcap.files.tensors import save_weights\n"
        "save_weights(sys.argv[1], {'b': torch.ones(3), 'a': torch.zeros(2, 2)}, {'y': 1, 'x': [2], 'z': 'w'})"
    )
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    loaded, metadata = tensors.load_weights(tmp_path / "one")
    assert torch.equal(loaded["b"], torch.ones(3))
    assert metadata == {"x": [2], "y": 1, "z": "w"}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (torch.tensor([1.0, torch.nan]), "is NaN or infinite"),
        (torch.tensor([1.0, torch.inf]), "is NaN or infinite"),
        (torch.ones(2).to(torch.float8_e4m3fn), r"is of torch\.float8_e4m3fn; store it as"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(tmp_path, values, problem):
    save_file({"a": torch.ones(2), "b": values}, tmp_path / "weights.safetensors")
    with pytest.raises(InputError, match=rf"weights\.safetensors: weight 'b' {problem}"):
        tensors.load_weights(tmp_path / "weights.safetensors")


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ("{", "metadata that are not JSON"),
        ("[1]", r"metadata that are no object, but \[1\]"),
        pytest.param("9" * 5000, "metadata that are not JSON", id="long"),
        pytest.param("[" * 5000, "metadata that are not JSON", id="deep"),
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
    ],
)
def test_metadata_of_others_are_one_line(tmp_path, metadata, problem):
    path = tmp_path / "weights.safetensors"
    save_file({"a": torch.ones(1)}, path, metadata={"seqcap": metadata})
    with pytest.raises(InputError, match=rf"weights\.safetensors: .*{problem}"):
        tensors.load_weights(path)


def test_pickles_are_not_read_as_weights(tmp_path):
    path = tmp_path / "weights.safetensors"
    torch.save({"a": torch.ones(1)}, path)
    with pytest.raises(InputError, match="not a safetensors file"):
        tensors.load_weights(path)
    path.unlink()
    with pytest.raises(InputError, match=r"weights\.safetensors: does not exist; check the path"):
        tensors.load_weights(path)
