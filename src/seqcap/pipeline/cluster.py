"""Gives stages to the workers of a Dask cluster. All of them see the checkout in one folder, under one path."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.pipeline.kind import kinds
from seqcap.pipeline.schedule import MEMORY
from seqcap.system.extras import require

SECONDS = 20  # to find the scheduler, and a first worker


class Cluster:
    """The workers of a cluster. A stage asks for memory (MEMORY, in bytes) and for one GPU, if it uses one; but only
    for what some worker has declared by `dask worker --resources`.

    Args:
        client: of the scheduler, Dask's `Client`.
        call: what a worker calls, which pickle finds by name; it takes what watches its process as `watched`.
    """

    def __init__(self, client: Any, call: Callable[..., int]) -> None:
        self._client, self._call = client, call
        self._asked = list[Any]()  # Dask's futures of stages
        self._on_gpu = {name for name, kind in kinds().items() if kind.on_gpu}
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        self._declared = {name for worker in workers for name in worker["resources"]}
        self.jobs = sum(worker["nthreads"] for worker in workers)  # stages at a time

    def resources(self, stage: str) -> dict[str, float]:
        """What a stage takes of a worker while it runs."""
        kind = stage.rpartition(":")[2].partition("-")[0]
        takes = {"MEMORY": float(MEMORY), "GPU": float(kind in self._on_gpu)}
        return {name: amount for name, amount in takes.items() if amount and name in self._declared}

    def run(self, stage: str, folder: Path, *arguments: str) -> int:
        """Calls `call(folder, *arguments)` on a worker; its status. If the worker is lost, another one goes on;
        InputError if a stage loses several in turn. The stage ends if this process does, or by `cancel`."""
        from distributed import KilledWorker

        from seqcap.pipeline.cluster_worker import run_while_wanted

        future = self._client.submit(
            run_while_wanted,
            self._call,
            folder.resolve(),
            *arguments,
            pure=False,
            resources=self.resources(stage),
        )
        self._asked.append(future)
        try:
            return int(future.result())
        except KilledWorker:
            fix = "look at the workers' memory and their logs, then run it again"
            raise InputError("--cluster", f"the workers that ran {stage} were lost", fix) from None

    def cancel(self) -> None:
        """Ends all stages that run or wait."""
        self._client.cancel(self._asked)


@contextmanager
def connected(address: str, call: Callable[..., int]) -> Iterator[Cluster]:
    """The cluster of the scheduler at `address` (tcp://host:8786), with `call` as in `Cluster`. InputError if there is
    none, or it has no worker."""
    require("cluster", "--cluster")
    from distributed import Client

    from seqcap.pipeline.cluster_worker import StagesEnd

    waits = f"--cluster: waits up to {SECONDS} s for the scheduler at {address}, and as long for a worker"
    print(waits, file=sys.stderr, flush=True)
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        problem = f"no scheduler answers at {address} ({error})"
        raise InputError("--cluster", problem, "start one by `dask scheduler`, and name its address") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError:
            fix = f"start one by `dask worker {address}`"
            raise InputError("--cluster", f"the scheduler at {address} has no worker", fix) from None
        client.register_plugin(StagesEnd())
        yield Cluster(client, call)
