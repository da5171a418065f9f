"""Takes training steps of a run when told, for benchmarks/shares.py: with whatever seqcap is on the path, in a checkout
whose data, features and starts are made. Reads the run as JSON; then for each line of its input takes a step, and
prints its CPU seconds. Settings of the objective that older code does not know are left out: they change what is
learnt, hardly how long that takes."""

import json
import sys
import time
from importlib import import_module, util

import torch

from seqcap.training import captioners, loop


def main() -> None:
    torch.set_num_threads(1)
    # Where it was before samples passed the captioner once.
    place = "seqcap.training.run" if util.find_spec("seqcap.training.run") else "seqcap.config.training"
    wanted = json.loads(sys.stdin.readline())
    known = import_module(f"seqcap.objectives.{wanted['objective']}").Config.model_fields
    wanted["settings"] = {name: value for name, value in wanted["settings"].items() if name in known}
    run = import_module(place).TrainingRun(**wanted)
    job = captioners.Job(run, 1)
    state = job.begin()
    batches = job.read(state)
    for _ in sys.stdin:
        batch = next(batches)
        begin = time.process_time()
        loop.update(job, state, batch)
        print(time.process_time() - begin, flush=True)


if __name__ == "__main__":
    main()
