"""A task's items, their captions or translations, and the vocabularies: `data.py <task>` -> artifacts/<task>/data/."""

import importlib
import sys

from seqcap.config import config_path
from seqcap.errors import one_line_errors
from seqcap.files.json_file import read_json
from seqcap.system.scratch import alone
from seqcap.tasks import ARTIFACTS, KINDS


def main(task: str) -> None:
    kind = read_json(config_path("data", task))["kind"]
    data = importlib.import_module(KINDS[kind].data)
    data.prepare(data.CONFIGS[kind].read("data", task), ARTIFACTS / task / "data")


if __name__ == "__main__":
    with one_line_errors(), alone(f"data-{sys.argv[1]}"):
        main(sys.argv[1])
