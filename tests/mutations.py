"""A mutation campaign: breaks the code in ways that matter, one at a time, and asks whether the tests notice.

`python tests/mutations.py` runs every mutation of tests/mutations/*.yaml and writes tests/mutations.md; `--only TEXT`
runs those whose file or description holds TEXT and renews their rows, `--unnoticed` those not noticed yet. It works on
copies of the code. A mutation whose text is no longer in the code is listed as gone; `--only nothing` lists these
alone. With fewer than `FEWEST` others the campaign fails.

A script of our own, because mutmut and cosmic-ray change operators and constants only: they neither detach a tensor,
flip a baseline nor shift a mask, and would spend most of their time importing torch and compiling kernels.
"""

import argparse
import importlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "mutations.md"
TIMEOUT = 240  # seconds for one mutation's tests
FEWEST = 500
GONE = "gone: its text is no longer in the code"
UNTRIED = "not tried yet"
COPIED = (".dvc", "src", "tests", "stages")
PRELOADED = ("torch", "torch._dynamo", "numba", "pandas", "pyarrow.parquet", "hypothesis.strategies", "spacy")
LEFT_OUT = shutil.ignore_patterns(".hypothesis", ".pytest_cache", "cache", "tmp")


@dataclass(frozen=True)
class Mutation:
    """One wrong line.

    Attributes:
        file: from the repository's root.
        breaks: what becomes wrong, in words.
        old: text that occurs once in the file, or the mutation is gone; new: the text that replaces it.
        tests: test files that should notice.
        equivalent: why no test can notice; empty if one must.
    """

    file: str
    breaks: str
    old: str
    new: str
    tests: tuple[str, ...]
    equivalent: str = ""

    def is_gone(self, root: Path) -> bool:
        file = root / self.file
        return not file.exists() or file.read_text().count(self.old) != 1


@dataclass(frozen=True)
class Outcome:
    """The result of a mutation: "killed", "survived" or "error", and the test that failed, or the reason."""

    result: str
    why: str


def read_mutations(root: Path = ROOT) -> list[Mutation]:
    """All mutations, in the order of the files."""
    found = []
    for path in sorted((root / "tests" / "mutations").glob("*.yaml")):
        for group in YAML(typ="safe", pure=True).load(path):
            shared = {"file": group["file"], "tests": tuple(group["tests"])}
            found += [Mutation(**(shared | entry)) for entry in group["mutations"]]
    return found


def copy_tree(source: Path, target: Path) -> None:
    """The repository with its own copies of the code; numba's compiled kernels stay valid, as times are kept."""
    target.mkdir(parents=True)
    for entry in source.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, target / entry.name, ignore=LEFT_OUT)
        elif not entry.name.startswith(".") or entry.name == ".dvcignore":
            (target / entry.name).symlink_to(entry)


def preload() -> None:
    """Imports large packages for the processes that are forked from this one: all but the code under test."""
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    for name in PRELOADED:
        importlib.import_module(name)


def run_tests(tree: Path, tests: tuple[str, ...]) -> Outcome:
    """Runs test files in a tree, in a forked process, until one fails."""
    # Not in the tree, which several processes may use at once.
    handle, output = tempfile.mkstemp(dir=tree.parent)
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            os.chdir(tree)
            os.environ["PYTHONPATH"] = str(tree / "src")
            sys.path.insert(0, str(tree / "src"))
            # One seed for hypothesis: the same examples find the same mutations.
            options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "--hypothesis-seed=0"]
            code = int(pytest.main([*options, *tests]))
            sys.stdout.flush()
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(handle)
    began = time.monotonic()
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() - began > TIMEOUT:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Outcome("error", f"no answer in {TIMEOUT} s")
        time.sleep(0.05)
    if ended[1] == 0:
        return Outcome("survived", "")
    said = Path(output).read_text(errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+?::\w+)", said, re.MULTILINE)
    if os.waitstatus_to_exitcode(ended[1]) == 1 and failed:
        return Outcome("killed", failed[1])
    return Outcome("error", f"status {ended[1]}: " + " ".join(said.split()[-40:]))


def try_mutation(mutation: Mutation, pristine: Path, folder: Path) -> Outcome:
    """Runs a mutation's tests in a tree of its own."""
    try:
        copy_tree(pristine, folder / "main")
        (folder / "shared").symlink_to(ROOT.parent / "shared")
        changed = folder / "main" / mutation.file
        changed.write_text(changed.read_text().replace(mutation.old, mutation.new))
        return run_tests(folder / "main", mutation.tests)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def campaign(mutations: list[Mutation], processes: int) -> Iterator[tuple[Mutation, Outcome]]:
    """Tries mutations, a few at a time; first the tests that will be used, which must pass without a mutation."""
    preload()
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(processes, get_context("fork")) as pool:
        pristine = Path(temporary) / "pristine" / "main"
        copy_tree(ROOT, pristine)
        (pristine.parent / "shared").symlink_to(ROOT.parent / "shared")
        files = sorted({(test,) for mutation in mutations for test in mutation.tests})
        broken = {}
        for (file,), outcome in zip(files, pool.map(run_tests, repeat(pristine), files), strict=True):
            if outcome.result != "survived":
                broken[file] = Outcome("error", f"{file} fails without a mutation: {outcome.why}")
        tried = []
        for number, mutation in enumerate(mutations):
            wrong = [broken[test] for test in mutation.tests if test in broken]
            folder = Path(temporary) / str(number)
            tried.append(wrong[0] if wrong else pool.submit(try_mutation, mutation, pristine, folder))
        for mutation, trial in zip(mutations, tried, strict=True):
            yield mutation, trial if isinstance(trial, Outcome) else trial.result()


def as_expected(mutation: Mutation, outcome: Outcome) -> bool:
    return outcome.result == ("survived" if mutation.equivalent else "killed")


def noticed_by(mutation: Mutation, outcome: Outcome) -> str:
    """The table's entry for a mutation: the test that failed, why none can, or "-"."""
    if not as_expected(mutation, outcome):
        return "-"
    return f"equivalent: {mutation.equivalent}" if mutation.equivalent else f"`{outcome.why}`"


def read_table(text: str) -> dict[tuple[str, str], str]:
    """(file, what a mutation breaks) -> its entry in tests/mutations.md."""
    found, file = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            file = line[3:]
        elif row := re.fullmatch(r"\| (.+?) \| (.+) \|", line):
            found[file, row[1]] = row[2]
    return found


def table(mutations: list[Mutation], noticed: dict[tuple[str, str], str]) -> str:
    """tests/mutations.md."""
    said = [noticed.get((mutation.file, mutation.breaks), UNTRIED) for mutation in mutations]
    gone, survivors, untried = said.count(GONE), said.count("-"), said.count(UNTRIED)
    equivalent = sum(words.startswith("equivalent") for words in said)
    killed = len(said) - gone - equivalent - survivors - untried
    lines = [
        "# Mutations and the tests that notice them",
        "",
        "`python tests/mutations.py` writes this file. "
        f"{len(said)} mutations: {killed} noticed, {equivalent} equivalent, {survivors} not noticed, {gone} gone, "
        f"{untried} not tried yet.",
    ]
    last = ""
    for mutation, words in zip(mutations, said, strict=True):
        if mutation.file != last:
            last = mutation.file
            lines += ["", f"## {last}", "", "| mutation | noticed by |", "|---|---|"]
        lines.append(f"| {mutation.breaks} | {words} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutations tried at once")
    parser.add_argument("--only", default="", help="only mutations whose file or description holds this text")
    parser.add_argument("--unnoticed", action="store_true", help="only mutations that no test has noticed yet")
    options = parser.parse_args()
    noticed = read_table(TABLE.read_text()) if TABLE.exists() else {}
    gone = [mutation for mutation in read_mutations() if mutation.is_gone(ROOT)]
    live = [mutation for mutation in read_mutations() if mutation not in gone]
    mutations = [m for m in live if options.only in f"{m.file} {m.breaks}"]
    if options.unnoticed:
        mutations = [m for m in mutations if noticed.get((m.file, m.breaks), UNTRIED) in ("-", UNTRIED)]
    began, tried = time.monotonic(), []
    for mutation, outcome in campaign(mutations, options.jobs):
        tried.append((mutation, outcome))
        mark = "" if as_expected(mutation, outcome) else "  <-- not as expected"
        print(f"{outcome.result:9}{mutation.file.removeprefix('src/seqcap/')}: {mutation.breaks}; {outcome.why}{mark}")
        sys.stdout.flush()
    wrong = sum(not as_expected(*pair) for pair in tried)
    print(f"{len(tried)} mutations in {time.monotonic() - began:.0f} s, {wrong} not as expected")
    for mutation in gone:
        print(f"gone     {mutation.file.removeprefix('src/seqcap/')}: {mutation.breaks}")
    print(f"{len(live)} mutations are live, {len(gone)} gone")
    noticed |= {(mutation.file, mutation.breaks): noticed_by(mutation, outcome) for mutation, outcome in tried}
    noticed |= {(mutation.file, mutation.breaks): GONE for mutation in gone}
    TABLE.write_text(table(read_mutations(), noticed))
    return 1 if wrong or len(live) < FEWEST else 0


if __name__ == "__main__":
    sys.exit(main())
