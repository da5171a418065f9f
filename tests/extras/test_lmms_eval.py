"""lmms-eval's aggregation of COCO captions (lmms_eval/tasks/coco_cap/utils.py, MIT) gives the same with pycocoevalcap's
classes, which it imports, and with `seqcap.coco`'s in their place."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from seqcap import coco

SPEC = importlib.util.find_spec("lmms_eval")
pytestmark = [
    pytest.mark.skipif(SPEC is None, reason="needs lmms-eval, which `make test-extras` installs: its scores are ours"),
    pytest.mark.skipif(
        shutil.which("java") is None, reason="needs Java on PATH: pycocoevalcap's jars score beside ours"
    ),
]
CAPTIONS = [
    ("A man rides a horse on a beach.", ["A man riding a horse along the beach.", "A man on a horse, near the sea."]),
    ("Two cats sit on a mat", ["Two cats are sitting on a rug.", "Cats on a mat", "two cats"]),
    ("a red bus", ["A red bus drives down a city street.", "A bus in the street."]),
    ("There's a plate of food.", ["A plate with food on a table.", "Food (and a drink) on a table."]),
]


@pytest.fixture(scope="module")
def utils():
    """The module, loaded without its packages, which import all of lmms-eval's tasks."""
    root = Path(SPEC.submodule_search_locations[0])
    for name in ("lmms_eval", "lmms_eval.tasks", "lmms_eval.tasks._task_utils"):
        package = ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    yield importlib.import_module("lmms_eval.tasks.coco_cap.utils")
    for name in [name for name in sys.modules if name.startswith("lmms_eval")]:
        del sys.modules[name]


def test_scores_are_the_same_with_seqcaps_classes(utils, tmp_path, monkeypatch):
    results = [
        {"pred": caption, "answer": references, "image_id": 100 + place, "id": place}
        for place, (caption, references) in enumerate(CAPTIONS)
    ]
    options = SimpleNamespace(output_path=str(tmp_path))
    metrics = ["Bleu_4", "METEOR", "ROUGE_L", "CIDEr"]  # Java starts anew for each
    assert set(metrics) <= set(utils.COCO_METRICS)
    expected = {metric: utils.coco_aggregation_result(results, metric, options) for metric in metrics}
    for name in ("Bleu", "Cider", "Meteor", "Rouge", "PTBTokenizer"):
        assert getattr(utils, name) is not getattr(coco, name)
        monkeypatch.setattr(utils, name, getattr(coco, name))
    found = {metric: utils.coco_aggregation_result(results, metric, options) for metric in metrics}
    assert found == pytest.approx(expected, abs=1e-9)
    assert min(found.values()) > 0
