"""`make quick` with its process bound to one core and to two, each from nothing in a clone of the last commit, beside
what `benchmarks/cores.py` simulates from the seconds that the stages took on one core. And what a stage costs beside
its own seconds: DVC, the start of its process, and the imports that all stages share.

    python benchmarks/bound.py

For an idle machine of two cores or more, with Linux's taskset; ten minutes. Writes nothing here.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from cores import simulated

from seqcap.files.json_file import read_json
from seqcap.pipeline.graph import REPORT
from seqcap.pipeline.repro import split_address, stage_graph

ROOT = Path(__file__).parents[1]
CORES = (1, 2)
STAGES = "runs/quick/artifacts/timing/stages"


def run(folder: Path, cores: int) -> float:
    """Runs `make quick` in a new clone on the first cores of this machine; its seconds."""
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    command = [
        sys.executable,
        "-m",
        "seqcap",
        "repro",
        "--experiment",
        "experiments/quick.yaml",
        "--publish",
        "published",
    ]
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1", "DVC_NO_ANALYTICS": "1"}
    first = ",".join(map(str, sorted(os.sched_getaffinity(0))[:cores]))
    begin = time.monotonic()
    subprocess.run(["taskset", "--cpu-list", first, *command], cwd=folder, env=environment, check=True)
    return time.monotonic() - begin


def measured(folder: Path, graph: Mapping[str, set[str]]) -> dict[str, float]:
    """Stage -> its seconds, as a run in a clone has noted them; none for stages that had nothing to do."""
    files = {stage: folder / STAGES / f"{split_address(stage)[1]}.json" for stage in graph}
    return {stage: float(read_json(path)["seconds"]) if path.is_file() else 0.0 for stage, path in files.items()}


def table(took: Mapping[int, float], graph: Mapping[str, set[str]], seconds: Mapping[str, float]) -> list[str]:
    """Measured and simulated speed-up over one core; between stages and before the first, `repro` itself takes time."""
    lines = ["| cores | seconds | speed-up | simulated |", "|---:|---:|---:|---:|"]
    one = simulated(graph, seconds, 1)
    for cores, total in took.items():
        expected = one / simulated(graph, seconds, cores)
        lines.append(f"| {cores} | {total:.0f} | {took[min(took)] / total:.2f} | {expected:.2f} |")
    return lines


def beside(total: float, seconds: Mapping[str, float]) -> str:
    """What a run on one core took beside its stages' own seconds, in words."""
    ran = sum(value > 0 for value in seconds.values())
    left = total - sum(seconds.values())
    return f"beside the own seconds of {ran} stages, one core spent {left:.0f} s: {left / ran:.2f} s for each"


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folders = {cores: Path(temporary) / str(cores) for cores in CORES}
        took = {cores: run(folder, cores) for cores, folder in folders.items()}
        graph = stage_graph(folders[1] / "runs/quick", [REPORT])
        seconds = measured(folders[1], graph)
        print("\n".join(table(took, graph, seconds)))
        print(beside(took[1], seconds))


if __name__ == "__main__":
    main()
