"""Linear probes of a task's features for generated scenes or clips:
`probe.py <task>` -> reports/features/<task>.json."""

import importlib
import sys
from typing import Any

from seqcap.config.data import ProbeConfig
from seqcap.errors import one_line_errors
from seqcap.files.json_file import write_json
from seqcap.system.scratch import alone
from seqcap.tasks import ARTIFACTS


def main(task: str) -> None:
    config = ProbeConfig.read("probe", task)
    groups: list[dict[str, Any]] = []
    if config.dataset in ("scenes", "clips"):
        # By name: tasks of photographs do not depend on the code of the probe.
        groups = importlib.import_module("seqcap.features.probe").probe_scenes(ARTIFACTS / task, config.dataset)
    write_json(f"reports/features/{task}.json", {"groups": groups})


if __name__ == "__main__":
    with one_line_errors(), alone(f"probe-{sys.argv[1]}"):
        main(sys.argv[1])
