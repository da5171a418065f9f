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


def damage_page(path):
    rows = [ROW | {"caption_id": i, "text": f"dog {i * i}"} for i in range(5000)]
    parquet.write_rows(path, rows, schemas.REFERENCES)
    content = bytearray(path.read_bytes())
    content[200:4000] = bytes(3800)
    path.write_bytes(bytes(content))


def write_latin_1(path):
    wrong = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    columns = [[1], ["test"], [2], wrong, [["a", "dog"]]]
    pq.write_table(pa.Table.from_arrays(columns, names=schemas.REFERENCES.names), path)


def columns(**changes):
    table = {name: [value] for name, value in (ROW | changes).items() if value != "dropped"}
    return lambda path: pq.write_table(pa.table(table), path)


def second_row(**changes):
    return lambda path: parquet.write_rows(path, [ROW, ROW | changes], schemas.REFERENCES)


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_bytes(b""), "is not a Parquet file"),
        (lambda path: path.write_bytes(b"PAR1"), "is not a Parquet file"),
        (damage_page, "is damaged"),
        (write_latin_1, r"is damaged \(.*UTF8"),
        (columns(text="dropped"), "has no column 'text'"),
        (columns(item="one"), "column 'item' is string; expected int64"),
        (second_row(item=None), "column 'item' is null in row 1; restore it"),
        (second_row(tokens=None), "column 'tokens' is null in row 1; restore it"),
        (second_row(tokens=["a", None]), "column 'tokens' has a list with a null in it; restore it"),
    ],
)
def test_parquet_of_others_is_one_line(tmp_path, write, problem):
    path = tmp_path / "references.parquet"
    write(path)
    with pytest.raises(InputError, match=rf"references\.parquet: {problem}") as caught:
        parquet.read_table(path, schemas.REFERENCES)
    assert "\n" not in str(caught.value)


def test_columns_in_another_order_and_what_may_be_null_are_read(tmp_path):
    path = tmp_path / "references.parquet"
    pq.write_table(pa.Table.from_pylist([ROW], schemas.REFERENCES).select(schemas.REFERENCES.names[::-1]), path)
    assert parquet.read_table(path, schemas.REFERENCES).to_pylist() == [ROW]
    rows = [{"item": 1, "split": "test", "file": "1.png", "coco_id": None}]
    parquet.write_rows(tmp_path / "images.parquet", rows, schemas.IMAGES)
    assert parquet.read_table(tmp_path / "images.parquet", schemas.IMAGES).to_pylist() == rows
    nothing = dict.fromkeys(("item", "rank", "value", "statistics"))
    rows = [{"run": "v", "seed": 1, "decoder": "beam", "metric": "BLEU4", **nothing}]
    parquet.write_rows(tmp_path / "scores.parquet", rows, schemas.SCORES)
    for dictionaries in ((), ("run",)):
        table = parquet.read_table(tmp_path / "scores.parquet", schemas.SCORES, dictionaries)
        assert table.to_pylist() == [{name: rows[0][name] for name in table.column_names}]


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
    # Whole characters are read from their halves.
    path.write_text('["\\ud83d\\ude00"]')
    assert json_file.read_json(path) == ["\U0001f600"]


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
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "one")], check=True)
    weights = {"b": torch.ones(3), "a": torch.zeros(2, 2)}
    tensors.save_weights(tmp_path / "two", weights, {"y": 1, "x": [2], "z": "w"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    loaded, metadata = tensors.load_weights(tmp_path / "one")
    assert torch.equal(loaded["b"], torch.ones(3))
    assert metadata == {"x": [2], "y": 1, "z": "w"}


ONES = torch.ones(2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_one_changed_bit_of_weights_is_noticed(tmp_path, dtype):
    path = tmp_path / "weights.safetensors"
    # A key that is a number, and a tensor without dimensions, as Adam's steps are.
    tensors.save_weights(path, {"a": torch.ones(3, 2, dtype=dtype), "b": torch.tensor(1.0)}, {"at": 180, 10: 1, 9: 2})
    assert tensors.load_weights(path)[1] == {"at": 180, "10": 1, "9": 2}
    whole = path.read_bytes()
    header = int.from_bytes(whole[:8], "little")
    # In a tensor's name, in its values, in the metadata, in the key of the checksum itself.
    places = [header + 8, len(whole) - 4, whole.index(b"80"), whole.index(b"checksum")]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        with pytest.raises(InputError, match=r"weights\.safetensors: is damaged \(its checksum"):
            tensors.load_weights(path)
    # Files that others wrote have none.
    save_file({"a": ONES}, path)
    assert tensors.load_weights(path)[1] == {}


@pytest.mark.parametrize(
    ("values", "metadata", "problem"),
    [
        (torch.tensor([1.0, torch.nan]), None, "weight 'b' is NaN or infinite"),
        (torch.tensor([1.0, torch.inf]), None, "weight 'b' is NaN or infinite"),
        (ONES.to(torch.float8_e4m3fn), None, r"weight 'b' is of torch\.float8_e4m3fn; store it as"),
        (ONES, "{", "has metadata that are not JSON"),
        (ONES, "[1]", r"has metadata that are no object, but \[1\]"),
        pytest.param(ONES, "9" * 5000, "has metadata that are not JSON", id="long"),
        pytest.param(ONES, "[" * 5000, "has metadata that are not JSON", id="deep"),
        (ONES, '{"a": 1, "a": 2}', ".*the key 'a' is there twice"),
        (None, "", "is not a safetensors file"),
    ],
)
def test_weights_of_others_are_one_line(tmp_path, values, metadata, problem):
    path = tmp_path / "weights.safetensors"
    with pytest.raises(InputError, match=r"weights\.safetensors: does not exist; check the path"):
        tensors.load_weights(path)
    if values is None:
        torch.save({"a": ONES}, path)
    else:
        ours = None if metadata is None else {"seqcap": metadata}
        save_file({"a": torch.zeros(1), "b": values}, path, metadata=ours)
    with pytest.raises(InputError, match=rf"weights\.safetensors: {problem}"):
        tensors.load_weights(path)
