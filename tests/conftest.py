"""Fixtures shared by the whole suite, and how it is shared out among processes."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

# Two processes of two threads each are many times slower on two cores than two of one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from xdist.scheduler import LoadFileScheduling

from seqcap.metrics.meteor import Meteor

if TYPE_CHECKING:
    # Imported where they are used: spaCy alone takes 3 seconds, and most of the suite needs none of them.
    import pyarrow as pa
    from selenium.webdriver import Chrome
    from xdist.remote import Producer

    from seqcap.spice.cache import CachedParser
    from seqcap.spice.parser import Parser

ROOT = Path(__file__).parents[1]

# A shell's background jobs ignore Ctrl-C, and so would what tests start and then interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Folders whose tests load the same things: Java's METEOR, spaCy, METEOR's tables.
TOGETHER = dict.fromkeys(("evaluation", "library", "rewards", "spice", "tools"), "metrics")
# The folder whose files run apart: each of them takes minutes.
APART = "pipeline"
# The longest come first, or one process would still be at it when the others have ended. The metrics' kernels, which
# take a minute, are compiled before the tiny graph's project is copied with them.
LONGEST = ("metrics", "objectives", "training", "test_pipeline.py", "test_repro.py", "test_kills.py")


def _together(nodeid: str) -> str:
    """The name of the process that a test shares: mostly by folders, so that what they load is there once."""
    _, part, *below = (*Path(nodeid.partition("::")[0]).parts, "")
    return below[0] if part == APART else TOGETHER.get(part, part)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {part: place for place, part in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(_together(item.nodeid), len(LONGEST)))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process a core, as `-n auto` says, but none beside pytest's own if files or tests are named."""
    named = [Path(argument.split("::")[0]) for argument in config.args]
    return None if any(path.is_dir() for path in named) else 0


class _ByFolder(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return _together(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return _ByFolder(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether tests try many more examples: `SEQCAP_FULL=1 pytest`."""
    return bool(os.environ.get("SEQCAP_FULL"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the real data in ../shared: published captions, sentences and photographs are read")
    return folder


@pytest.fixture(scope="session")
def golden(shared: Path) -> Path:
    """1,000 COCO captions with published scores."""
    return shared / "data" / "coco_caption_eval" / "captions_val2014_fakecap_results.json"


@pytest.fixture(scope="session")
def pycocoevalcap_folder() -> Path:
    package = importlib.util.find_spec("pycocoevalcap")
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0])


@pytest.fixture(scope="session")
def java() -> str:
    found = shutil.which("java")
    if found is None:
        pytest.skip("needs Java 11 or later on PATH: the official jars are compared with ours")
    return found


@pytest.fixture(scope="session")
def meteor(java: str) -> Iterator[Meteor]:
    """The one real METEOR process of the test session: it takes 10 seconds to start."""
    with Meteor() as running:
        yield running


@pytest.fixture(scope="session")
def coco_annotations(pycocoevalcap_folder: Path) -> dict[int, list[str]]:
    """All captions of COCO val2014 by image id: real ones that every installation has, in pycocoevalcap's SPICE jar."""
    with zipfile.ZipFile(pycocoevalcap_folder / "spice" / "spice-1.0.jar") as archive:
        annotations = json.loads(archive.read("coco/annotations/captions_val2014.json"))["annotations"]
    images: dict[int, list[str]] = {}
    for annotation in annotations:
        images.setdefault(annotation["image_id"], []).append(annotation["caption"])
    return images


@pytest.fixture(scope="session")
def coco_captions(coco_annotations: dict[int, list[str]]) -> dict[int, list[list[str]]]:
    """The first 100 images' captions as lower-case words, by image id."""
    return {
        image_id: [caption.lower().strip(" .").split() for caption in coco_annotations[image_id]]
        for image_id in sorted(coco_annotations)[:100]
    }


@pytest.fixture(scope="session")
def parser() -> Parser:
    """The one SPICE parser of the test session: it takes 3 seconds to load."""
    from seqcap.spice.parser import Parser

    return Parser(processes=1)


@pytest.fixture(scope="session")
def uncached(parser: Parser) -> CachedParser:
    """The session's parser, as the metric and the reward take it."""
    from seqcap.spice.cache import CachedParser

    return CachedParser(None, parser)


@pytest.fixture(scope="session")
def paraphrases_read() -> Callable[[Path], Any]:
    """METEOR's paraphrases, read once: it takes 5 seconds."""
    from seqcap.rewards.meteor_resources import read_pairs

    return cache(read_pairs)


@pytest.fixture(scope="session")
def phrases(paraphrases_read: Callable[[Path], Any]) -> Callable[[Path | None], pa.Table]:
    """METEOR's phrases in numbers, found once."""
    from seqcap.metrics.paraphrases import numbered

    @cache
    def table() -> pa.Table:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("seqcap.metrics.paraphrases.read_pairs", paraphrases_read)
            return numbered(None)

    return lambda _: table()


@pytest.fixture
def loaded_once(
    phrases: Callable[[Path | None], pa.Table], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """METEOR and SPICE take what an earlier test has loaded."""
    monkeypatch.setattr("seqcap.metrics.paraphrases.numbered", phrases)
    monkeypatch.setattr("seqcap.spice.cache.Parser", lambda: request.getfixturevalue("parser"))


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def small_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small image task, in the working directory."""
    from small_task import write_task

    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    return tmp_path


@pytest.fixture
def killed_after_saving() -> Callable[..., Any]:
    """Calls a function again and again, killed whenever it has saved its state; its result, and how many kills."""
    from seqcap.training.checkpoint import State

    def call(function: Callable[[], Any]) -> tuple[Any, int]:
        original, kills = State.save, 0

        def save_and_die(state: State[Any], path: Path) -> None:
            original(state, path)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(State, "save", save_and_die)
            while True:
                try:
                    return function(), kills
                except KeyboardInterrupt:
                    kills += 1

    return call


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Runs `python -m seqcap ARGUMENTS`, or a script, in this process: to start another takes seconds."""

    def run(*arguments: object, script: Path | None = None) -> Done:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [str(script or "seqcap"), *map(str, arguments)])
            capfd.readouterr()
            try:
                if script is None:
                    runpy.run_module("seqcap", run_name="__main__", alter_sys=False)
                else:
                    runpy.run_path(str(script), run_name="__main__")
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Done(status, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    """Chromium without a window."""
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("needs chromium and chromedriver on PATH: pages are tried in a browser")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = programs[0]
    # The sandbox does not start for root, nor in most containers; the pages are our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """The wheel's content, built from a copy: building writes beside the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(folder)], check=True, cwd=folder)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(folder / "site")
    return folder / "site"
