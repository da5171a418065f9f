"""The examples of docs/python.md run, and the page names everything that the package exports."""

import re
from pathlib import Path

import seqcap

PAGE = Path(__file__).parents[2] / "docs/python.md"
EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES, str(PAGE), "exec"), {"__name__": "examples"})
    said = capsys.readouterr().out
    assert "CIDEr|images:3|refs:2|" in said
    assert "captions: are 1, and references are of 2 items" in said


def test_every_public_name_is_in_the_page():
    named = set(seqcap.__all__) - {"__version__", "ClipEvaluation", "Comparison", "Difference", "Evaluation", "Score"}
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in named if name not in text] == []
    for name in seqcap.__all__:
        assert getattr(seqcap, name) is not None
