"""The code that a stage depends on: what the import closure finds, and that of every committed configuration."""

from pathlib import Path
from typing import Any

import pytest
from parameter_files import resolve
from pipeline_files import forget_code

from seqcap.config import StageConfig
from seqcap.pipeline import code
from seqcap.pipeline.params import read_params
from seqcap.report.provenance import UNREAD
from seqcap.training.run import TrainConfig

ROOT = Path(__file__).parents[2]

FILES = {
    "src/seqcap/__init__.py": "",
    "src/seqcap/a.py": "import os\nimport numpy.linalg\nfrom seqcap import b\n",
    "src/seqcap/b.py": "def late():\n    from seqcap.inner.c import value\n\n    return value\n",
    "src/seqcap/inner/__init__.py": "import seqcap.d\n",
    "src/seqcap/inner/c.py": "value = 1\n",
    "src/seqcap/inner/unused.py": "",
    "src/seqcap/d.py": "",
    "src/seqcap/typed.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from seqcap import a\nelse:\n    from seqcap.inner import c\n"
    ),
    "src/seqcap/inner/words.py": 'DATA_FILES = "words/*.yaml"\n',
    "src/seqcap/inner/words/french.yaml": "un: 1\n",
    "src/seqcap/inner/words/notes.txt": "",
    "src/seqcap/facts/one.csv": "1\n",
    "src/seqcap/facts/two.csv": "2\n",
    "stages/run.py": "import seqcap.d\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in the place of this one."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(code, "PACKAGE", tmp_path / "src/seqcap")
    monkeypatch.setattr(code, "REPOSITORY", tmp_path)
    forget_code()
    yield tmp_path
    forget_code()


def names(*arguments: Any) -> set[str]:
    return {name.removeprefix("src/seqcap/") for name in code.closure(*arguments)}


def test_imports_are_followed_into_functions_and_packages(package):
    assert names(["seqcap.a"]) == {"__init__.py", "a.py", "b.py", "inner/__init__.py", "inner/c.py", "d.py"}
    assert names(["seqcap.d"]) == {"__init__.py", "d.py"}


STAGE = """
import json
from seqcap import a

LIMIT = 3


def stages():
    return "many"


def helper():
    return LIMIT


def run():
    return helper()
"""


@pytest.mark.parametrize(
    ("old", "new", "is_changed"),
    [('"many"', '"more"', False), ("LIMIT = 3", "LIMIT = 4", True), ("return helper()", "return -helper()", True)],
)
def test_a_kinds_file_counts_with_what_its_run_needs(package, old, new, is_changed):
    def hash_of(text):
        (package / "stages/kind.py").write_text(text)
        forget_code()
        return code.closure([], ["kind.py"])["stages/kind.py"]

    assert old in STAGE
    assert (hash_of(STAGE) != hash_of(STAGE.replace(old, new))) == is_changed


def test_the_pipeline_is_nobodys_code(package):
    (package / "src/seqcap/pipeline").mkdir()
    (package / "src/seqcap/pipeline/kind.py").write_text("import seqcap.a\n")
    (package / "stages/kind.py").write_text("from seqcap.pipeline.kind import Kind\nimport seqcap.d\n")
    assert names([], ["kind.py"]) == {"stages/kind.py", "__init__.py", "d.py"}


def test_what_only_type_checkers_import_is_not_run(package):
    assert names(["seqcap.typed"]) == {"__init__.py", "typed.py", "inner/__init__.py", "inner/c.py", "d.py"}


def test_a_script_and_the_data_that_it_reads(package):
    assert names([], ["run.py"]) == {"stages/run.py", "__init__.py", "d.py"}
    assert names([], [], ["facts/*.csv"]) == {"facts/one.csv", "facts/two.csv"}
    assert names(["seqcap.d"], [], ["facts/o*.csv"]) == {"__init__.py", "d.py", "facts/one.csv"}


def test_data_files_that_a_module_names_are_part_of_it(package):
    expected = {"__init__.py", "d.py", "inner/__init__.py", "inner/words.py", "inner/words/french.yaml"}
    assert names(["seqcap.inner.words"]) == expected


def test_a_changed_file_changes_its_own_hash_alone(package):
    before = code.closure(["seqcap.a"])
    (package / "src/seqcap/inner/c.py").write_text("value = 2\n")
    forget_code()
    after = code.closure(["seqcap.a"])
    assert {name for name in before if before[name] != after[name]} == {"src/seqcap/inner/c.py"}


def test_a_module_that_is_not_there_is_an_error(package):
    with pytest.raises(ModuleNotFoundError, match=r"seqcap\.inner\.absent"):
        code.closure(["seqcap.inner.absent"])


# --- The committed configurations


@pytest.fixture(scope="module")
def configs() -> dict[str, StageConfig]:
    """By "<stage>/<name>"."""
    found = resolve(read_params(ROOT))
    return {f"{stage}/{name}": config for stage, configs in found.items() for name, config in configs.items()}


def users(configs: dict[str, StageConfig], file: str) -> set[str]:
    """The configurations whose code a file (or one in a folder) is part of."""
    return {
        name for name, config in configs.items() if any(path.startswith(f"src/seqcap/{file}") for path in config.code)
    }


def trained(configs: dict[str, StageConfig], chosen: Any) -> set[str]:
    """The training stages with a run that `chosen` holds for."""
    return {
        name for name, config in configs.items() if isinstance(config, TrainConfig) and any(map(chosen, config.runs))
    }


def stages(names: set[str], *kinds: str) -> set[str]:
    return {name for name in names if name.split("/")[0] in kinds}


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("spice/rules.py", lambda run: run.reward.get("spice")),
        ("rewards/spice.py", lambda run: run.reward.get("spice")),
        ("rewards/meteor_kernels.py", lambda run: run.reward.get("meteor")),
        ("rewards/rouge.py", lambda run: run.reward.get("rouge_l")),
        ("objectives/shared/smoothing.py", lambda run: run.objective.endswith("_smoothing")),
        ("objectives/self_critical.py", lambda run: run.objective == "self_critical"),
        ("objectives/mixer.py", lambda run: run.objective == "mixer"),
        ("models/translator.py", lambda run: run.architecture == "translator"),
        ("models/attention.py", lambda run: run.architecture == "attention"),
        ("tasks/images.py", lambda run: run.kind in ("images", "clips")),
        ("tasks/sentences.py", lambda run: run.kind == "sentences"),
        ("training/validation/captions.py", lambda run: run.kind in ("images", "clips")),
        ("training/validation/translations.py", lambda run: run.kind == "sentences"),
        ("training/", lambda run: True),
    ],
)
def test_a_training_stage_depends_on_what_its_runs_name(configs, file, chosen):
    expected = trained(configs, chosen)
    assert expected
    assert stages(users(configs, file), "pretrain", "train") == expected


@pytest.mark.parametrize(
    ("folders", "kinds"),
    [
        (("report/", "evaluation/captions.py", "world/", "pipeline/"), ("pretrain", "train", "decode", "variance")),
        (("rewards/", "spice/", "objectives/", "metrics/", "training/"), ("decode",)),
    ],
)
def test_what_does_not_run_repeats_nothing(configs, folders, kinds):
    assert {folder: stages(users(configs, folder), *kinds) for folder in folders} == {
        folder: set() for folder in folders
    }


@pytest.mark.parametrize("name", ["metrics/official.py", *UNREAD])
def test_code_that_no_stage_runs_is_nobodys(configs, name):
    """A change of it changes no number, nor the commit that pages name (`UNREAD`)."""
    assert (ROOT / "src/seqcap" / name).exists()
    assert users(configs, name) == set()


def test_a_new_version_changes_pages_alone(configs):
    assert {name.split("/")[0] for name in users(configs, "version.py")} == {"section", "report"}


def test_decoding_depends_on_its_own_captioners(configs):
    decoded = stages(set(configs), "decode")
    assert stages(users(configs, "models/translator.py"), "decode") == {name for name in decoded if "_en_" in name}
    assert stages(users(configs, "models/attention.py"), "decode") == {
        name for name in decoded if "attention" in name or "_att" in name or name.endswith("server")
    }
    assert stages(users(configs, "models/decoding.py"), "decode") == decoded


def test_data_depend_on_their_own_kind(configs):
    data = ("data", "encoder", "features", "paraphrases", "embeddings")
    images, clips = {"data/image", "data/image2"}, {"data/clip"}
    every = images | clips | {"data/de_en", "data/en_fr"}
    assert stages(users(configs, "data/datasets/scenes.py"), *data) == images
    assert stages(users(configs, "data/tgif.py"), *data) == clips
    # The file of the kind imports these, for all of its stages.
    assert stages(users(configs, "data/pairs.py"), *data) == every
    assert stages(users(configs, "world/german.py"), *data) == every
    encoders = {"encoder/image", "encoder/image2", "encoder/clip"}
    assert stages(users(configs, "world/drawing.py"), *data) == every | encoders
    features = {"features/image", "features/image2", "features/clip"}
    assert stages(users(configs, "features/extraction.py"), *data) == features
