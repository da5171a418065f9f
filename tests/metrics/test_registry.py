"""What each metric is, for all who name one."""

import subprocess
import sys

import pytest

from seqcap.errors import InputError
from seqcap.metrics import registry
from seqcap.metrics.registry import METRICS, find


def test_rewards_and_numbers_of_references_are_found():
    assert find("BLEU4") is METRICS["BLEU4"]
    assert find("reward_bcmr").label == "reward bcmr"
    assert (find("BLEU4 c40").name, find("BLEU4 c40").label) == ("BLEU4 c40", "BLEU-4 c40")
    assert find("SPICE c5").note == METRICS["SPICE"].note != ""
    assert find("CIDEr c5").level == "caption"
    assert [METRICS["CIDEr"].digits(scale) for scale in (1, 100)] == [4, 2]


@pytest.mark.parametrize("name", ["", "bleu4", "reward_", "CIDEr c", "CIDEr c5 c5", "nonsense c5"])
def test_unknown_names_are_one_line(name):
    with pytest.raises(InputError, match=f"metrics: '{name}' is not known; choose among BLEU1, "):
        find(name)


def test_an_unknown_metric_is_told_at_once():
    """Before what takes long is imported, and before files are looked at."""
    heavy = ["torch", "numba", "numpy", "spacy", "pandas", "pyarrow"]
    arguments = ["seqcap", "score", "--references", "none", "--candidates", "none", "--metrics", "nonsense"]
    code = f"import atexit, sys; sys.argv = {arguments}\nfrom seqcap.cli import main\n"
    code += f"atexit.register(lambda: print(set({heavy}) & set(sys.modules)))\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (2, "set()")
    assert done.stderr == f"error: metrics: 'nonsense' is not known; choose among {', '.join(registry.QUALITY)}\n"
