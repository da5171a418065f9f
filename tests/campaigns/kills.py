"""Kills the pipeline with -9 at random moments, again and again, and checks that nothing is lost.

    python tests/campaigns/kills.py --kills 100
    python tests/campaigns/kills.py --kills 5 --one-group

The tiny graph runs once undisturbed, and begins anew. Then it is killed and started again until its report is there:
every output must have the same bytes, its kills are written down, and it begins anew. No run may fail by itself. Half
of the kills come during the steps of a run that has a checkpoint: when its stage runs again, it must go on from that
checkpoint or a later one. The others wait for a stage of a kind that no kill has hit, and after that for nothing.
Some kills hit every process, others one of them: then the rest goes on, and the next run meets it. Writes
tests/campaigns/kills.md. Takes an hour. With --one-group it runs the stages that one group on sentences needs, makes
its training and what follows anew each time, and writes the table's second part: some minutes.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
from ruamel.yaml import YAML
from safetensors import safe_open

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipeline_files import ROOT, commit, copy_project, git
from stage_server import STAGES, stage_server

from seqcap.pipeline.configure import write_graph
from seqcap.pipeline.experiment import apply_overlay
from seqcap.pipeline.graph import lock_files

TABLE = Path(__file__).with_suffix(".md")
# A kill hits the process of a stage, one of those that it has started, the stage server or one of its forks, DVC,
# `seqcap repro`, or several.
VICTIMS = {
    "stage": {"stage"},
    "worker": {"worker"},
    "server": {"server"},
    "DVC": {"dvc"},
    "DVC, stage": {"dvc", "stage", "worker"},
    "seqcap": {"seqcap"},
    "seqcap, DVC": {"seqcap", "dvc"},
    "all": {"seqcap", "dvc", "stage", "worker", "server"},
}
# Of these, one process.
ONE = ("worker", "server")
# The scripts of the stage server and of those that ask it, and where in the latter's command what they ask for begins.
SERVER, ASK, ASKED = "stage_server.py", "ask.py", 5
# The stages that have checkpoints, and where they put their weights.
WEIGHTS = {
    "pretrain": "starts/pretrain/{stage}/seed{seed}.safetensors",
    "retriever": "starts/retriever/{stage}/seed{seed}.safetensors",
    "train": "artifacts/*/train/{stage}/{run}/seed{seed}.safetensors",
}
OVERLAYS = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml").read_text())
# Not compared: times, how the machine is used, and what is made from either.
NOT_COMPARED = ("artifacts/timing/", "artifacts/machine.json", "reports/report.md", "reports/report.html")
PROVENANCE = "provenance.json"
# Of the stages that write or read those files, DVC's records are not compared.
MEASURING = ("section", "report")
# The most seconds between a kill and the event that it waits for: a checkpoint, a stage, or the start.
STEPS_SECONDS, STAGE_SECONDS, ANY_SECONDS = 1.0, 0.3, 30.0
RUN_SECONDS = 1800
COLUMNS = """
The columns say which processes a kill hit. *In steps*: a run of the stage, or of one beside it, had a checkpoint and
was training. *Not missed*: the run went on without the process, a helper of multiprocessing or the stage server.
"""
SECOND = "\n## The graph of one group\n"


@dataclass(frozen=True)
class Kill:
    """One kill.

    Attributes:
        victims: of `VICTIMS`.
        stage: kind of a stage that was running; "" between stages.
        checkpoints: "<run> seed <k>" -> step, of a run in its steps and of those that train with it.
        log: bytes of the log before.
        missed: whether the run failed of it. A helper of `multiprocessing` and the stage server may die unnoticed.
    """

    victims: str
    stage: str
    checkpoints: dict[str, int]
    log: int
    missed: bool = True


# --- Processes and checkpoints


def processes(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The role and process of all that work in a folder: "seqcap", "dvc", "stage", "server" of the stage server and its
    forks, or "worker" for all others."""
    for process in psutil.process_iter():
        try:
            if process.cwd() != str(folder):
                continue
            command = process.cmdline()
        except psutil.Error:
            continue
        if command[2:3] and command[2].endswith(f"/{ASK}"):
            # Asks the stage server to fork one for DVC or a stage, which ends when this process does.
            command = command[ASKED:]
        if command[1:2] == ["-m"] and command[2] in ("seqcap", "seqcap.pipeline.quiet_dvc"):
            yield command[2].removeprefix("seqcap.pipeline.quiet_"), process
        elif command[1:] and command[1].startswith("stages/"):
            yield "stage", process
        elif command[2:3] and command[2].endswith(f"/{SERVER}"):
            yield "server", process
        elif command:
            yield "worker", process


def running_stages(folder: Path) -> list[str]:
    """DVC's names of the stages that run."""
    return sorted({stage_of(process) for role, process in processes(folder) if role == "stage"} - {""})


def stage_of(process: psutil.Process) -> str:
    """DVC's name of a process's stage, "" if it has none or has ended."""
    try:
        return process.environ().get("DVC_STAGE", "").rpartition(":")[2]
    except psutil.Error:
        return ""


def kind_of(stage: str) -> str:
    return stage.partition("-")[0]


def in_steps(folder: Path, stages: Sequence[str]) -> tuple[str, dict[str, int]]:
    """The first stage with a run that has a checkpoint and no weights yet, and the steps of its checkpoints."""
    for stage in stages:
        kind, _, name = stage.partition("-")
        steps, unfinished = {}, False
        for path in (folder / "scratch" / stage).glob("*/seed*.safetensors") if kind in WEIGHTS else ():
            seed = path.name.removeprefix("seed").partition(".")[0].partition("_")[0]
            run = name if kind == "retriever" else path.parent.name.rpartition("-")[0]
            with safe_open(path, framework="np") as file:
                steps[f"{run} seed {seed}"] = json.loads(file.metadata()["seqcap"])["at"]
            unfinished |= not any(folder.glob(WEIGHTS[kind].format(stage=name, run=run, seed=seed)))
        if unfinished:
            return stage, steps
    return "", {}


# --- Copies of the project


def make_copy(folder: Path, overlay: Mapping[str, Any] | None) -> Path:
    """A copy of the project whose runs have a checkpoint after every step."""
    copy_project(folder)
    for changes in (OVERLAYS["whole"], overlay or {}):
        apply_overlay(folder, changes, TABLE)
    write_graph(folder)
    # The first page depends on committed results of every paper, also of those that are not run.
    for name in ("features", *(path.name for path in (folder / "papers").iterdir())):
        # A study that `make repro` does not run has none.
        if (ROOT / "reports" / name).is_dir():
            shutil.copytree(ROOT / "reports" / name, folder / "reports" / name)
    path = folder / "src/seqcap/training/loop.py"
    code = path.read_text()
    for name, value in (("CHECKPOINT_SECONDS", "0"), ("LOG_STEPS", "1")):
        code, changed = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", code)
        assert changed == 1, name
    path.write_text(code)
    commit(folder, "longer")
    return folder


def outputs(folder: Path) -> dict[str, str]:
    """Path -> hash of every output of a graph, and stage -> DVC's record of it."""
    found = {}
    for part in ("artifacts", "starts", "configs", "reports"):
        for path in sorted((folder / part).rglob("*")):
            name = str(path.relative_to(folder))
            if path.is_file() and path.name != PROVENANCE and not name.startswith(NOT_COMPARED):
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    compared = {name: stage for name, stage in records(folder).items() if kind_of(name) not in MEASURING}
    return found | {name: json.dumps(stage, sort_keys=True) for name, stage in compared.items()}


def records(folder: Path) -> dict[str, Any]:
    """DVC's records of all stages."""
    locks = [YAML(typ="safe").load((folder / path).read_text()) for path in lock_files(folder)]
    return {name: stage for lock in locks for name, stage in lock["stages"].items()}


def begin_anew(folder: Path) -> None:
    """Deletes the outputs of a graph."""
    for name in ("artifacts", "starts", "configs", "scratch", ".dvc/tmp", ".dvc/cache"):
        shutil.rmtree(folder / name)
    clean = ["git", "clean", "--quiet", "--force", "-d", "reports", *lock_files(folder)]
    subprocess.run(clean, cwd=folder, check=True)


def train_anew(folder: Path) -> None:
    """Deletes the outputs of training stages alone, also from DVC's cache, so that they and no others run again."""
    shutil.rmtree(folder / ".dvc/cache/runs")
    for name, stage in records(folder).items():
        for out in stage.get("outs", ()) if kind_of(name) == "train" else ():
            shutil.rmtree(folder / out["path"])
            (folder / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:]).unlink()


# --- The campaign


class Campaign:
    """Kills runs in a copy of the project.

    Args:
        folder: an empty one.
        seed: of the moments and the victims.
        overlay: changes of the graph, as in an experiment's file.
        command: what runs the graph: `python -m <command>`.
        forget: deletes the outputs that are to be made again.
        programs: a folder with the `python` of the runs that are not killed; this process's own if None.
    """

    def __init__(
        self,
        folder: Path,
        seed: int | str,
        overlay: Mapping[str, Any] | None = None,
        command: Sequence[str] = ("seqcap", "repro", "--jobs", "2"),
        forget: Callable[[Path], None] = begin_anew,
        programs: Path | None = None,
    ) -> None:
        self.random = random.Random(seed)
        self.programs = programs
        self.command = command
        self.kills: list[Kill] = []
        self.graphs = 0
        self.log = folder / "log"
        self.forget = forget
        self.folder = make_copy(folder / "copy", overlay)
        status = self.start(self.programs).wait(RUN_SECONDS)
        assert status == 0, self.log.read_text()
        self.expected = outputs(self.folder)
        self.kinds = {kind_of(stage) for stage in records(self.folder)}
        self.forget(self.folder)

    def run(self, kills: int, checked: Callable[[], None] = lambda: None) -> None:
        """Kills so often, goes on each time, and lets the last graph come to its end. `checked`: called after each
        graph."""
        first = len(self.kills)
        while True:
            is_killed = len(self.kills) < kills
            process = self.start(None if is_killed else self.programs)
            kill = self.kill(process) if is_killed else None
            status = process.wait(RUN_SECONDS)
            if kill is not None:
                self.kills.append(replace(kill, missed=status != 0))
                print(f"{len(self.kills)}: {self.kills[-1]}", flush=True)
                continue
            assert self.kills or not is_killed, "a whole graph was made, and no process of it was recognised"
            assert status == 0, f"a run failed by itself:\n{self.log.read_text()[-10_000:]}"
            self.check(self.kills[first:])
            checked()
            if len(self.kills) == kills:
                return
            first = len(self.kills)
            self.forget(self.folder)

    def start(self, programs: Path | None) -> subprocess.Popen[bytes]:
        """Starts a run. Processes that survive a kill write to the same log."""
        folder = programs or Path(sys.executable).parent
        path = os.pathsep.join([str(folder), os.environ["PATH"]])
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src"), "PATH": path, "OMP_NUM_THREADS": "1"}
        with self.log.open("a") as log:
            command = [str(folder / "python"), "-m", *self.command]
            return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)

    def kill(self, process: subprocess.Popen[bytes]) -> Kill | None:
        """Waits for a moment and kills; None if the run ended before."""
        new = self.kinds - {kill.stage for kill in self.kills}
        is_time: Callable[[], bool] | None = None
        most = ANY_SECONDS
        if 2 * sum(bool(kill.checkpoints) for kill in self.kills) <= len(self.kills):
            is_time, most = lambda: bool(in_steps(self.folder, running_stages(self.folder))[0]), STEPS_SECONDS
        elif new:
            is_time, most = lambda: bool(new & set(map(kind_of, running_stages(self.folder)))), STAGE_SECONDS
        seconds = self.random.uniform(0, most)
        while True:
            while is_time and process.poll() is None and not is_time():
                time.sleep(0.05)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                # The event may be over.
                if is_time is None or is_time():
                    break
            else:
                return None
        # New kinds come first: the kill has the first one's name.
        stages = sorted(running_stages(self.folder), key=lambda stage: kind_of(stage) not in new)
        hit: list[psutil.Process] = []
        while not hit:
            victims = self.random.choice(list(VICTIMS))
            hit = [one for role, one in processes(self.folder) if role in VICTIMS[victims]]
        if victims in ONE:
            hit = [self.random.choice(hit)]
        if victims == "worker":
            # Another stage ends as if nothing had happened.
            stages = list(filter(None, map(stage_of, hit)))
        size = self.log.stat().st_size
        for one in hit:
            try:
                one.send_signal(signal.SIGKILL)
            except psutil.Error:
                # It has ended meanwhile.
                continue
        # Which stage is a fork's cannot be seen from outside.
        stage, steps = ("", {}) if victims == "server" else in_steps(self.folder, stages)
        if stages and kind_of(stages[0]) in new:
            stage = stages[0]
        return Kill(victims, kind_of(stage or next(iter(stages), "")), steps, size)

    def check(self, kills: Sequence[Kill]) -> None:
        """Checks a graph that has come to its end after some kills."""
        deadline = time.monotonic() + 10
        while left := list(processes(self.folder)):
            assert time.monotonic() < deadline, left
            time.sleep(0.1)
        found = outputs(self.folder)
        paths = sorted(found.keys() | self.expected.keys())
        different = [path for path in paths if found.get(path) != self.expected.get(path)]
        assert not different, different
        log = self.log.read_bytes()
        for kill in kills:
            # Without its `seqcap repro` a stage ends, and is not run again.
            for run, step in kill.checkpoints.items() if kill.missed and kill.victims != "seqcap" else ():
                line = re.search(rf"(?m)^{re.escape(run)}: goes on from step (\d+)$", log[kill.log :].decode())
                assert line is not None, f"{run} began anew after {kill}"
                assert int(line[1]) >= step, f"{run} went on from step {line[1]} after {kill}"
        self.graphs += 1
        print(f"{len(found)} outputs have the same bytes", flush=True)

    def table(self) -> str:
        """The kills by stage and victims, in Markdown."""
        names = sorted({kill.stage for kill in self.kills})
        lines = [
            f"| stage | {' | '.join(VICTIMS)} | all kills | in steps | not missed |",
            "|---|" + "---:|" * (len(VICTIMS) + 3),
        ]
        for name, kills in [
            *((name or "between stages", [kill for kill in self.kills if kill.stage == name]) for name in names),
            ("all", self.kills),
        ]:
            counts = Counter(kill.victims for kill in kills)
            steps = sum(bool(kill.checkpoints) for kill in kills)
            not_missed = sum(not kill.missed for kill in kills)
            cells = [*(counts[victims] for victims in VICTIMS), len(kills), steps, not_missed]
            lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
        return "\n".join(lines)

    def text(self, options: str, tip: str, way: str) -> str:
        """What was tried and found, in Markdown. `way`: from where to where a graph went."""
        return f"""
Written by `python tests/campaigns/kills.py {options}` at commit {tip}:
{len(self.kills)} times `kill -9` on the way {way},
which was there {self.graphs} times. No run failed by itself, every training run went on from its checkpoint or a later
one, and each time all {len(self.expected)} files and records of DVC had the bytes of an undisturbed run.

{self.table()}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one-group", action="store_true", help="on the graph of one group")
    arguments = parser.parse_args()
    tip = git(ROOT, "rev-parse", "--short=8", "HEAD").strip()
    options = f"--kills {arguments.kills} --seed {arguments.seed}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if arguments.one_group:
            with stage_server(STAGES) as programs:
                campaign = Campaign(folder, arguments.seed, OVERLAYS["one_group"], forget=train_anew, programs=programs)
                campaign.run(arguments.kills)
            way = "from its training to the report of the graph of one group"
            write_table(second=campaign.text(f"{options} --one-group", tip, way))
        else:
            campaign = Campaign(folder, arguments.seed)
            way = "from nothing to the report of the tiny graph"
            campaign.run(arguments.kills, lambda: write_table(first=campaign.text(options, tip, way)))
    print(campaign.table())


def write_table(first: str = "", second: str = "") -> None:
    """Writes one part of the table anew."""
    before, _, after = TABLE.read_text().partition(SECOND)
    whole = f"# Kills\n{first}{COLUMNS}" if first else before
    last = second or after
    TABLE.write_text(f"{whole}{SECOND}{last}" if last else whole)


if __name__ == "__main__":
    main()
