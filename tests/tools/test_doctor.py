"""`seqcap doctor`: ten lines about this machine, or about one that has nothing."""

import pytest

from seqcap.system import extras
from seqcap.tools import doctor


def rows(lines):
    return {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines}


def test_ten_lines_about_this_machine(command):
    done = command("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 10
    told = rows(done.stdout.splitlines())
    assert "score by BLEU1, " in told["works"]
    assert "SPICE" in told["works"]
    assert "cores" in told["processor"]


def test_a_machine_without_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "CPUINFO", tmp_path / "none")
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda module: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    told = rows(doctor.doctor())
    assert told["GPU"] == "none seen"
    assert told["Java"].startswith("none: only")
    assert told["browser"].startswith("none: only")
    assert told["extras"] == "none installed"
    assert told["works"] == "score by BLEU1, BLEU2, BLEU3, BLEU4, ROUGE_L, CIDEr"
    assert told["missing"].startswith("meteor (pycocoevalcap, pyarrow, snowballstemmer); spice (")
    assert told["missing"].endswith(": such as pip install 'seqcap[meteor]'")
    assert str(tmp_path / "cache/seqcap") in told["cache"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("model name\t: EPYC\nflags\t\t: fpu avx2 sse\n", "EPYC, "),
        ("CPU implementer\t: 0x41\nFeatures\t: fp asimd sve\n", ", asimd, sve"),
    ],
)
def test_processors(tmp_path, monkeypatch, told, expected):
    (tmp_path / "cpuinfo").write_text(told)
    monkeypatch.setattr(doctor, "CPUINFO", tmp_path / "cpuinfo")
    assert expected in rows(doctor.doctor())["processor"]
