"""Kills training with -9 inside its steps, with every kind of objective and captioner, and checks that nothing is lost.

    python tests/campaigns/training_kills.py [--kills 2] [--seed 0] [--only TEXT]

Every objective trains an LSTM on small images; one of each kind a translator, an LSTM on clips, and a BLIP of Hugging
Face with random weights. A run trains in a process of its own, which writes a checkpoint after every step: once
undisturbed, and once more with `kill -9` at random moments after it has written a checkpoint. Each time it must go on
from that checkpoint or a later one; at the end weights and learning curves must have the bytes of the undisturbed run.
Moments are measured in the process's CPU time, so that a busy machine makes no difference. What kills do to DVC and
`seqcap repro` is tried by kills.py. Writes tests/campaigns/training_kills.md, also after Ctrl-C. Takes
some minutes; Linux only.
"""

import argparse
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from objectives.test_everywhere import OF_EACH_KIND, PRETRAINED, TASKS, modules, run_of
from pipeline_files import ROOT, git
from small_task import (
    STAGE,
    copy_task,
    write_embeddings,
    write_listener,
    write_pretrained_task,
    write_task,
    write_translation_task,
)

from seqcap import objectives
from seqcap.files.json_file import write_json
from seqcap.files.tensors import load_weights
from seqcap.system.scratch import checkpoints, forget
from seqcap.training import loop
from seqcap.training.captioners import train_all
from seqcap.training.run import TrainingRun

TABLE = Path(__file__).with_suffix(".md")
# What is captioned, and by what -> architecture, and changes of a run.
CAPTIONERS = {
    "images, BLIP": ("huggingface", {}),
    "clips, LSTM": ("lstm", {"task": "clip"}),
    "sentences, translator": ("translator", {}),
    "images, LSTM": ("lstm", {}),
}
EVERY = "images, LSTM"  # with every objective
CLIPS = {
    "reads": {"embeddings": "artifacts/words/clip/embeddings.parquet", "listener": "starts/retriever/clip"},
}
# Eight steps in two epochs.
TRAINING = {"images": {"epochs": 2, "batch_size": 6}, "sentences": {"epochs": 2, "batch_size": 15}}
PATIENCE = 600  # seconds


@dataclass(frozen=True)
class Kill:
    """One kill: the step of the checkpoint that it left, and the step from which the next process went on."""

    at: int
    resumed: int


def write_tasks(folder: Path) -> None:
    """The small tasks, with embeddings, listeners and a BLIP, under `folder`."""
    write_task(folder)
    write_translation_task(folder)
    copy_task(folder, "image", "clip")
    write_pretrained_task(folder, "blip")
    for task in (*TASKS.values(), PRETRAINED, {"task": "clip"}):
        write_embeddings(folder, task["task"])
    for task in ("image", "photo", "clip"):
        write_listener(folder, task)


def runs() -> Iterator[tuple[str, str, TrainingRun]]:
    """Captioner, objective and run."""
    for captioner, (architecture, changes) in CAPTIONERS.items():
        for objective in modules(objectives):
            if captioner != EVERY and objective not in OF_EACH_KIND:
                continue
            reads = objectives.model_class(objective).reads
            if architecture == "translator" and "listener" in reads:
                continue
            kind = "sentences" if architecture == "translator" else "images"
            own = dict(changes)
            if "task" in own:
                own["reads"] = {what: CLIPS["reads"][what] for what in reads}
            yield captioner, objective, run_of(objective, architecture, training=TRAINING[kind], **own)


def start(run: TrainingRun, log: Path) -> int:
    """Trains a run in a child process, with a checkpoint after every step; returns its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        for descriptor in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        loop.CHECKPOINT_SECONDS, loop.LOG_STEPS = 0, 1
        [[trained]] = train_all([run], {}, checkpoints(STAGE))
        write_json(Path(run.weights) / "curves.json", trained.curves)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def cpu_seconds(process: int) -> float:
    """Those that a child has used; what has ended, none more."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def checkpoint() -> tuple[Path, int] | None:
    """The run's checkpoint and when it was written; None before the first."""
    for path in checkpoints(STAGE).glob("*/seed*_of*.safetensors"):
        return path, path.stat().st_mtime_ns
    return None


def undisturbed(run: TrainingRun, log: Path) -> float:
    """Trains it; returns the CPU seconds from its first checkpoint to its end."""
    process, first = start(run, log), None
    deadline = time.monotonic() + PATIENCE
    while True:
        used = cpu_seconds(process)
        if first is None and checkpoint() is not None:
            first = used
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        assert time.monotonic() < deadline, "the undisturbed run hangs"
        time.sleep(0.01)
    assert status == 0, log.read_text()
    forget(Path(), STAGE)
    return used - (used if first is None else first)


def killed(run: TrainingRun, log: Path, seconds: float) -> int | None:
    """Trains it and kills it so many CPU seconds after it has written a checkpoint; the checkpoint's step, or None if
    it came to its end before."""
    before, process, moment = checkpoint(), start(run, log), None
    deadline = time.monotonic() + PATIENCE
    while True:
        if moment is None and checkpoint() != before:
            moment = cpu_seconds(process) + seconds
        if moment is not None and cpu_seconds(process) >= moment:
            os.kill(process, signal.SIGKILL)
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        assert time.monotonic() < deadline, "a run hangs"
        time.sleep(0.01)
    if not os.WIFSIGNALED(status):
        assert status == 0, f"a run failed by itself:\n{log.read_text()}"
        return None
    found = checkpoint()
    assert found is not None
    return int(load_weights(found[0])[1]["at"])


def resumed_at(log: Path) -> int:
    """The step from which a process went on; 0 if it began anew."""
    line = re.search(r"(?m)^.*: goes on from step (\d+)$", log.read_text())
    return int(line[1]) if line else 0


def try_run(run: TrainingRun, folder: Path, kills: int, rng: random.Random) -> list[Kill]:
    """Kills a run so often, or until it comes to its end, in `folder`, which has the tasks; InputErrors, other bytes or
    a lost checkpoint are an AssertionError."""
    log, done = folder / "log", []
    alone, again = (run.model_copy(update={"weights": str(folder / name)}) for name in ("alone", "again"))
    seconds = undisturbed(alone, log)
    left: int | None = None
    while True:
        if len(done) + (left is not None) < kills:
            at = killed(again, log, rng.uniform(0, seconds / kills))
        else:
            at = killed(again, log, float("inf"))
        if left is not None:
            resumed = resumed_at(log)
            assert resumed >= left, f"it went on from step {resumed}, and had a checkpoint of step {left}"
            done.append(Kill(left, resumed))
        left = at
        if at is None:
            break
    forget(Path(), STAGE)
    names = sorted(path.name for path in Path(alone.weights).iterdir())
    assert names == sorted(path.name for path in Path(again.weights).iterdir())
    for name in names:
        same = Path(alone.weights, name).read_bytes() == Path(again.weights, name).read_bytes()
        assert same, f"{name} has other bytes"
        Path(alone.weights, name).unlink()
        Path(again.weights, name).unlink()
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=2, help="of each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="runs whose captioner or objective holds this")
    arguments = parser.parse_args()
    tip = git(ROOT, "rev-parse", "--short=8", "HEAD").strip()
    chosen = [one for one in runs() if arguments.only in f"{one[0]} {one[1]}"]
    found: dict[str, dict[str, list[Kill]]] = {}
    with tempfile.TemporaryDirectory() as name, chdir(name), suppress(KeyboardInterrupt):
        write_tasks(Path())
        for captioner, objective, run in chosen:
            rng = random.Random(f"{captioner} {objective} {arguments.seed}")
            done = try_run(run, Path(name), arguments.kills, rng)
            found.setdefault(objective, {})[captioner] = done
            print(f"{captioner}, {objective}: {done}", flush=True)
    text = page(arguments.kills, arguments.seed, tip, len(chosen), found)
    print(text)
    if not arguments.only:
        TABLE.write_text(text)


def page(kills: int, seed: int, tip: str, chosen: int, found: dict[str, dict[str, list[Kill]]]) -> str:
    """What was tried, objective -> captioner -> kills, in Markdown."""
    lines = [f"| objective | {' | '.join(CAPTIONERS)} |", "|---|" + "---:|" * len(CAPTIONERS)]
    for objective, by_captioner in sorted(found.items()):
        cells = [str(len(by_captioner[name])) if name in by_captioner else "" for name in CAPTIONERS]
        lines.append(f"| {objective} | {' | '.join(cells)} |")
    everything = [kill for by_captioner in found.values() for done in by_captioner.values() for kill in done]
    table = "\n".join(lines)
    return f"""\
# Kills inside training steps

Written by `python tests/campaigns/training_kills.py --kills {kills} --seed {seed}` at commit {tip}:
{len(everything)} times `kill -9` in {sum(map(len, found.values()))} of {chosen} runs of 8 steps, each time after a
checkpoint and before the end. Each time the run went on from its last checkpoint or a later one, and at its end weights
and learning curves had the bytes of a run that was left alone. Kills by objective and captioner; a run may have come to
its end before its last kill.

{table}
"""


if __name__ == "__main__":
    main()
