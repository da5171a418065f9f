"""A kind of stage is one file: what somebody writes who adds one, and what follows from it."""

import sys
from pathlib import Path

import pytest
from parameter_files import ROOT, ParameterFiles
from pipeline_files import forget_code
from small_task import write_task

from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.pipeline import code, forms, kind
from seqcap.pipeline.graph import graph
from seqcap.pipeline.project import Project

LENGTHS = '''
"""How long the captions of a task are: `lengths.py <name>` -> artifacts/lengths/<name>.json."""

from seqcap.config import StageConfig
from seqcap.files.json_file import write_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import REFERENCES
from seqcap.pipeline.kind import Kind, Stage, entries, main
from seqcap.pipeline.parameter_files import PARAMS
from seqcap.pipeline.validation import Name, Positive, Section, find


class LengthsParams(Section):
    task: Name
    most: Positive  # words


class LengthsConfig(LengthsParams, StageConfig):
    """What parameters say is all that a stage of it needs."""


KEY = entries("lengths", LengthsParams)


def stages(project):
    for name, wanted in project.params[KEY].items():
        find(project.shared.tasks, wanted.task, PARAMS, f"lengths.{name}.task")
        yield Stage(
            name,
            "Count words",
            LengthsConfig(**wanted.model_dump()),
            reads=project.written("data", wanted.task),
            writes=[f"artifacts/lengths/{name}.json"],
        )


def run(config, name):
    table = read_table(f"artifacts/{config.task}/data/references.parquet", REFERENCES)
    longer = sum(len(words) > config.most for words in table["tokens"].to_pylist())
    write_json(f"artifacts/lengths/{name}.json", {"longer": longer, "captions": len(table)})


KIND = Kind("lengths", LengthsConfig, stages, run, keys=[KEY])
'''


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A checkout with one file more in stages/, and its parameters."""
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "stages").mkdir()
    for path in (ROOT / "stages").glob("*.py"):
        (tmp_path / "stages" / path.name).symlink_to(path)
    (tmp_path / "stages/lengths.py").write_text(LENGTHS)
    monkeypatch.setattr(code, "REPOSITORY", tmp_path)
    monkeypatch.setattr(code, "PACKAGE", tmp_path / "src/seqcap")
    monkeypatch.setattr(sys, "path", list(sys.path))
    forget()
    made = ParameterFiles(tmp_path)
    made["lengths"] = {"short": {"task": "image", "most": 3}}
    yield made
    sys.modules.pop("stages.lengths", None)
    forget()


def forget():
    forget_code()
    for cached in (kind.kinds, forms.shared_form, forms.paper_form, forms.named_sections):
        cached.cache_clear()


def test_a_new_kind_is_one_file(files, tmp_path, monkeypatch):
    project = Project(files.read())
    (stage,) = project.stages("lengths").values()
    assert {"stages/lengths.py", "src/seqcap/files/parquet.py"} <= stage.config.code.keys()
    assert not [path for path in stage.config.code if "pipeline/" in path or "training/" in path]
    assert graph(project, tmp_path)[Path("dvc.yaml")]["stages"]["lengths-short"] == {
        "desc": "Count words",
        "cmd": "python stages/lengths.py short",
        "deps": ["configs/lengths/short.json", "artifacts/image/data"],
        "outs": ["artifacts/lengths/short.json"],
    }
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    kind.kinds()["lengths"].run(stage.config, "short")
    counted = read_json("artifacts/lengths/short.json")
    assert 0 < counted["longer"] < counted["captions"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("lengths.short.most", 0, r"params\.yaml: lengths\.short\.most: .*found 0"),
        ("lengths.short.task", "photos", r"params\.yaml: lengths\.short\.task is 'photos'; allowed: image, "),
        ("lengths", 5, r"params\.yaml: lengths is 5; expected a mapping"),
    ],
)
def test_its_parameters_are_checked_like_all_others(files, key, value, said):
    files[key] = value
    with pytest.raises(InputError, match=said):
        Project(files.read()).stages("lengths")
