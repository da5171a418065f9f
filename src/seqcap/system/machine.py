"""The device, the number of processes and the launcher, from artifacts/machine.json.
torch is imported inside functions, so that other processes can start while it loads."""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from seqcap.errors import InputError
from seqcap.files.json_file import read_json

if TYPE_CHECKING:
    import torch

MACHINE = Path("artifacts/machine.json")
LAUNCHED = "SEQCAP_LAUNCHED"  # environment variable of processes that `launcher` has started
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h


def _check_command(text: str) -> str:
    if "\0" in text or not shlex.split(text):
        raise ValueError("is no command")
    return text


Device = Literal["auto", "cpu", "cuda"]
Workers = Literal["auto"] | Annotated[int, Field(ge=1)]
Launcher = Annotated[str, AfterValidator(_check_command)]


class Machine(BaseModel):
    """How to run on this machine, as params.yaml says."""

    model_config = ConfigDict(strict=True)

    device: Device
    workers: Workers
    launcher: Launcher

    @classmethod
    def read(cls) -> Machine:
        """The content of artifacts/machine.json; an `InputError` if it is damaged."""
        try:
            return cls.model_validate(read_json(MACHINE))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "content"
            raise InputError(MACHINE, f"{place}: {first['msg']}", "run `seqcap repro`, which writes it anew") from None


def device() -> torch.device:
    """The device of this process; under a launcher, that of its local rank."""
    import torch

    wanted = Machine.read().device
    if wanted == "cuda" and not torch.cuda.is_available():
        raise InputError("params.yaml", "device is 'cuda' but there is no CUDA device", "use auto or cpu")
    if wanted == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def one_thread_device() -> torch.device:
    """The device; on a CPU, this process then computes in one thread, so that results do not depend on the cores, and
    keeps its memory."""
    import torch

    found = device()
    if found.type == "cpu":
        torch.set_num_threads(1)
        keep_memory()
    return found


def keep_memory() -> bool:
    """Makes this process keep freed memory for its next allocations, if the C library is glibc; whether it is. Each
    training step allocates the same megabytes: to get them anew from the system takes a tenth of its time."""
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return all(adjust(option, 2**30) == 1 for option in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD))


def check_precision(precision: str, device: torch.device) -> None:
    """Raises an `InputError` if the device would emulate a type (float32 or bfloat16), which is slow."""
    import torch

    if precision == "float32":
        return
    if device.type == "cuda":
        what, there = "this GPU has no instructions for it", torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        what = "torch finds neither AVX512-BF16 nor AMX on this CPU"
        instructions = any(has and "bf16" in name for name, has in torch.cpu.get_capabilities().items())
        there = instructions and _lstm_takes_bfloat16()
    if not there:
        raise InputError("params.yaml", f"precision is {precision!r}, but {what}", "use float32")


def _lstm_takes_bfloat16() -> bool:
    """Whether an LSTM can be trained so: ONEDNN_MAX_CPU_ISA may forbid the instructions that a CPU has."""
    import torch

    # Without first weights, which would be drawn from torch's generator.
    lstm = torch.nn.LSTM(8, 8, device="meta").to_empty(device="cpu")
    try:
        with torch.autocast("cpu", torch.bfloat16):
            lstm(torch.zeros(1, 1, 8))
    except RuntimeError:
        return False
    return True


def cores() -> int:
    """How many cores this process may use; on a shared machine it may be bound to some of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers() -> int:
    """How many processes may train side by side on a CPU; one under a launcher, which starts its own."""
    return 1 if "LOCAL_RANK" in os.environ else _share()


def threads(processes: int) -> int:
    """How many threads one of `processes` may compute in, where no other work of its stage runs."""
    return max(1, _share() // processes)


def _share() -> int:
    """The cores that a stage may take."""
    wanted = Machine.read().workers
    return cores() if wanted == "auto" else wanted


def relaunch() -> None:
    """Runs this command under `launcher`, in place of this process, unless it already runs under one. InputError if
    the launcher cannot be run, starts more processes than there are GPUs, or several that do not know each other."""
    machine = Machine.read()
    launcher = shlex.split(machine.launcher)
    if launcher == ["python"] or "LOCAL_RANK" in os.environ:
        return
    if LAUNCHED in os.environ:
        tasks = int(os.environ.get("SLURM_NTASKS", "1"))
        if tasks > 1:
            problem = f"launcher {launcher[0]!r} starts {tasks} processes, each of which would train alone"
            raise InputError("params.yaml", problem, "let it start one on each machine, and end it in torchrun")
        return
    asked = re.search(r"--nproc[-_]per[-_]node[= ](\d+)", machine.launcher)
    if asked is not None and machine.device != "cpu":
        _check_devices(int(asked[1]))
    os.environ[LAUNCHED] = "1"
    try:
        os.execvp(launcher[0], [*launcher, *sys.argv])
    except OSError as error:
        problem = f"launcher {launcher[0]!r} cannot be run ({error.strerror})"
        raise InputError("params.yaml", problem, "use python") from None


def _check_devices(processes: int) -> None:
    """Each process has a GPU of its own. A machine without any may be one that only starts them elsewhere."""
    import torch

    devices = torch.cuda.device_count()
    if 0 < devices < processes:
        problem = f"launcher starts {processes} processes, but this machine has {devices} GPUs"
        raise InputError("params.yaml", problem, f"set --nproc-per-node to {devices}")


def join_group() -> tuple[int, int]:
    """Joins the launcher's process group, if there is one. Returns the rank and the number of processes."""
    if "LOCAL_RANK" not in os.environ:
        return 0, 1
    import torch
    from torch import distributed as dist

    if not dist.is_initialized():
        on_gpu = device().type == "cuda"
        if on_gpu:
            torch.cuda.set_device(device())
        dist.init_process_group("nccl" if on_gpu else "gloo")
    return dist.get_rank(), dist.get_world_size()
