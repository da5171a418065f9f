"""How long `seqcap repro` takes on more cores, simulated by its own schedule from the measured seconds of stages.

    seqcap repro --papers psst
    python benchmarks/cores.py --papers psst --measured artifacts/timing/stages
    python benchmarks/cores.py --papers psst

The first of the last two keeps the seconds in results/stages.json; both print a table. Every core runs one stage, whose
runs train one after the other, as `repro` has it with as many jobs as cores. Disk, memory's bandwidth and DVC's lock
are taken to be no narrower than they were when the seconds were measured. A stage that did not run then, such as those
that make the starts that git keeps, takes no time; the last line says how many these are.
"""

import argparse
import heapq
from collections.abc import Mapping
from pathlib import Path

from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import read_json, write_json
from seqcap.pipeline.repro import sections, split_address, stage_graph
from seqcap.pipeline.schedule import Queue, path_seconds

KEPT = Path(__file__).parent / "results/stages.json"  # stage -> seconds
CORES = (1, 2, 4, 8, 16, 32)


def simulated(graph: Mapping[str, set[str]], seconds: Mapping[str, float], cores: int) -> float:
    """The seconds until all stages of a graph are done, where each takes `seconds` on one of the cores."""
    queue = Queue(graph, seconds)
    now, running = 0.0, list[tuple[float, str]]()
    while queue:
        while len(running) < cores and (stage := queue.take()) is not None:
            heapq.heappush(running, (now + seconds[stage], stage))
        now, ended = heapq.heappop(running)
        queue.done(ended)
    return now


def table(graph: Mapping[str, set[str]], seconds: Mapping[str, float]) -> list[str]:
    """Minutes and speed-up for each number of cores, and the bound that no number of cores passes."""
    one = simulated(graph, seconds, 1)
    lines = ["| cores | minutes | speed-up |", "|---:|---:|---:|"]
    for cores in CORES:
        took = simulated(graph, seconds, cores)
        lines.append(f"| {cores} | {took / 60:.1f} | {one / took:.2f} |")
    longest = max(path_seconds(graph, seconds).values())
    return [*lines, f"| the longest path alone | {longest / 60:.1f} | {one / longest:.2f} |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--papers", nargs="+", required=True, help="the papers whose stages are simulated")
    parser.add_argument("--measured", type=Path, help="the folder where stages note their seconds")
    arguments = parser.parse_args()
    graph = stage_graph(Path(), sections(arguments.papers))
    if arguments.measured is not None:
        files = {stage: arguments.measured / f"{split_address(stage)[1]}.json" for stage in graph}
        write_json(KEPT, {stage: read_json(path)["seconds"] for stage, path in files.items() if path.is_file()})
    kept = read_json(KEPT)
    if not set(graph) & set(kept):
        raise InputError(KEPT, "has no stage of these papers", "run them, and pass their seconds by --measured")
    print("\n".join(table(graph, {stage: kept.get(stage, 0.0) for stage in graph})))
    print(f"{len(set(graph) - set(kept))} of {len(graph)} stages did not run then")


if __name__ == "__main__":
    with one_line_errors():
        main()
