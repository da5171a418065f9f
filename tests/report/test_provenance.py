"""Where results come from."""

from pathlib import Path

import pytest

from seqcap.files import json_file, parquet, schemas
from seqcap.report import provenance
from seqcap.system import scratch


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("model name\t: A Xeon\nflags\t\t: fpu avx avx2 avx512f avx512bw\n", ("A Xeon", "AVX-512")),
        ("model name\t: An EPYC\nflags\t\t: fpu avx avx2\n", ("An EPYC", "AVX2")),
        ("processor\t: 0\nFeatures\t: fp asimd crc32\n", (None, "NEON")),
        ("", (None, None)),
    ],
)
def test_a_processor_has_a_name_and_an_instruction_set(cpuinfo, expected, monkeypatch):
    monkeypatch.setattr(provenance.platform, "machine", lambda: "aarch64")
    name, instructions = expected
    assert provenance.processor(cpuinfo) == {"processor": name or "aarch64", "instructions": instructions}


def test_a_paper_has_its_data_seeds_and_minutes(sle):
    """Those of the tasks that it trains on. Minutes are measured per epoch, on a run's first seed."""
    sle.names = ["xe", "sll"]
    run = sle.read()
    images = [{"item": item, "split": split, "file": "a"} for item, split in enumerate(["train", "train", "test"])]
    parquet.write_rows("artifacts/image/data/images.parquet", images, schemas.IMAGES)
    first = run.runs[0]
    group = Path(first.weights).parent.name
    json_file.write_json(f"artifacts/timing/{group}.json", {first.name: 30})
    found = provenance.measure(run.config)
    (data,) = found["data"]
    assert data == {
        "task": "image",
        "name": "scenes",
        "kind": "images",
        "sizes": {"train": 2, "test": 1},
        "seeds": sorted(first.seeds),
    }
    assert found["minutes"] == {first.name: first.epochs / 2}
    assert found["minutes_of_training"] == pytest.approx(len(first.seeds) * first.epochs / 2)
    assert found["scale"] == run.config.scale
    assert found["experiment"] is None
    # In a folder without a graph.
    assert found["minutes_of_everything"] is None


def test_all_stages_before_a_page_are_counted(tmp_path, monkeypatch):
    """Those that papers share, and its own; a stage reads an output, a part of one, or a folder that holds some."""
    monkeypatch.chdir(tmp_path)
    shared = {"data-image": [[], ["artifacts/image/data"]], "data-de_en": [[], ["artifacts/de_en/data"]]}
    shared |= {"features-image": [["artifacts/image/data/images"], [{"artifacts/image/features": {"cache": False}}]]}
    own = {"train-a": [["artifacts/image"], ["artifacts/own/train/a"]], "section-own": [["artifacts/own/train"], ["r"]]}
    for path, stages in (("dvc.yaml", shared), ("papers/own/dvc.yaml", own)):
        content = {name: {"deps": reads, "outs": writes} for name, (reads, writes) in stages.items()}
        json_file.write_json(path, {"stages": content})
    assert provenance.before("own") == ["data-image", "features-image", "train-a"]
    with scratch.alone("train-a"), scratch.alone("data-de_en"):
        pass
    found = provenance._everything("own")
    assert 0 <= found["minutes_of_everything"] < 1
    assert found["not_timed"] == ["data-image", "features-image"]
