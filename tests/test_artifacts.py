"""What passes between stages: checked on reading, whole on writing, the same bytes for the same content."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from seqcap import artifacts
from seqcap.errors import InputError

ROW = {"item": 1, "split": "test", "caption_id": 2, "text": "a dog", "tokens": ["a", "dog"]}


def test_rows_survive_a_round_trip(tmp_path):
    path = tmp_path / "references.parquet"
    artifacts.write_rows(path, [ROW], artifacts.REFERENCES)
    assert artifacts.read_table(path, artifacts.REFERENCES).to_pylist() == [ROW]


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "references.parquet"
    pq.write_table(pa.table({"item": [1], "split": ["test"]}), path)
    with pytest.raises(InputError, match=r"references\.parquet: has no column 'caption_id'"):
        artifacts.read_table(path, artifacts.REFERENCES)


def test_a_column_of_another_type_is_named(tmp_path):
    path = tmp_path / "images.parquet"
    pq.write_table(pa.table({"item": ["one"], "split": ["test"], "file": ["x"]}), path)
    with pytest.raises(InputError, match="column 'item' is string; expected int64"):
        artifacts.read_table(path, artifacts.IMAGES)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello", None])
def test_what_is_no_parquet_is_one_line(tmp_path, content):
    path = tmp_path / "scores.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        artifacts.read_table(path, artifacts.SCORES)
    assert "scores.parquet" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_page_is_one_line(tmp_path):
    path = tmp_path / "references.parquet"
    rows = [ROW | {"caption_id": i, "text": f"dog {i * i}"} for i in range(5000)]
    artifacts.write_rows(path, rows, artifacts.REFERENCES)
    content = bytearray(path.read_bytes())
    content[200:4000] = bytes(3800)
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="damaged"):
        artifacts.read_table(path, artifacts.REFERENCES)


def test_nothing_half_written_is_left_behind(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("old")

    def write_half() -> None:
        with artifacts.atomic(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_weights_are_the_same_bytes_in_every_process(tmp_path):
    code = (
        "import sys, torch; from seqcap.artifacts import save_weights\n"
        "save_weights(sys.argv[1], {'b': torch.ones(3), 'a': torch.zeros(2, 2)}, {'y': 1, 'x': [2], 'z': 'w'})"
    )
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    tensors, metadata = artifacts.load_weights(tmp_path / "one")
    assert torch.equal(tensors["b"], torch.ones(3))
    assert metadata == {"x": [2], "y": 1, "z": "w"}


def test_pickles_are_not_read_as_weights(tmp_path):
    path = tmp_path / "weights.safetensors"
    torch.save({"a": torch.ones(1)}, path)
    with pytest.raises(InputError, match="not a safetensors file"):
        artifacts.load_weights(path)
