"""METEOR 1.5 (Denkowski and Lavie, WMT 2014) by the Java program inside pycocoevalcap. pycocoevalcap's own wrapper
breaks under some locales, blocks for ever if Java hangs or fills its standard error, and leaves it running. This one
gives the same numbers, or says why it cannot."""

import contextlib
import math
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import IO, NoReturn, Self

import numpy as np

from seqcap.errors import InputError
from seqcap.metrics.captions import Caption, Floats, ImageCaption, References, check_captions
from seqcap.spice.wordnet import meteor_file

SEPARATOR = "|||"
# Java prints numbers and folds case by the machine's language. METEOR crashes under some languages.
JAVA = ("-Xmx2G", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")


class MeteorUnavailable(Exception):  # noqa: N818 (a state of the machine, not a mistake)
    """METEOR cannot be computed here; the message is the reason, in one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split()))


class Meteor:
    """One METEOR process, for a `with` block; it takes about 10 seconds to start. Entering and scoring raise
    `MeteorUnavailable` if Java is missing, too old, crashes, breaks METEOR's protocol or hangs. By then the process has
    ended, and later calls raise again.

    Args:
        timeout: seconds without an answer after which Java counts as hung.
    """

    def __init__(self, timeout: float = 120.0) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        try:
            jar = meteor_file("meteor-1.5.jar")
        except InputError as error:
            raise MeteorUnavailable(f"METEOR: {error}") from None
        self._complaints = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                ["java", *JAVA, "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"],
                cwd=jar.parent,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Java would block on a full pipe.
                stderr=self._complaints,
                # `java` may be a script that starts the real one, so the whole group is ended.
                start_new_session=True,
            )
        except OSError as error:
            raise MeteorUnavailable(f"METEOR: java cannot be started ({error.strerror})") from None
        self._start(self._read_answers, self._process.stdout)
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._complaints.close()

    def score_captions(self, references: References, captions: Sequence[ImageCaption]) -> tuple[Floats, float, Floats]:
        """METEOR of at least one caption: scores [captions], the corpus score of all of them, and the counts [captions,
        23] that METEOR prints. Bars "|||", METEOR's separator, are dropped from tokens. InputError if there is no
        caption, an image has no references, or a token holds white space."""
        questions, answers = self._align(references, captions)
        evaluation = f" {SEPARATOR} ".join(["EVAL", *(answers[question] for question in questions)])
        *values, corpus = (self._numbers(line)[0] for line in self._ask([evaluation], answers=len(questions) + 1))
        return np.array(values), corpus, np.array([self._numbers(answers[question]) for question in questions])

    def _align(self, references: References, captions: Sequence[ImageCaption]) -> tuple[list[str], dict[str, str]]:
        if not captions:
            raise InputError("captions", "hold none to score", "pass at least one")
        check_captions(references, captions)
        bar = f" {SEPARATOR} "
        texts = {image_id: bar.join(map(_spoken, captions)) for image_id, captions in references.items()}
        questions = [bar.join(["SCORE", texts[image_id], _spoken(tokens)]) for image_id, tokens in captions]
        # Captions repeat, and aligning them takes time.
        distinct = list(dict.fromkeys(questions))
        return questions, dict(zip(distinct, self._ask(distinct, answers=len(distinct)), strict=True))

    def _ask(self, questions: list[str], answers: int) -> list[str]:
        if self._process is None:
            raise MeteorUnavailable("METEOR: is not running (it failed before, or was not entered with `with`)")
        # Writes and reads at the same time; otherwise full pipes would block both sides.
        self._start(_write, self._process.stdin, questions)
        received: list[str] = []
        while len(received) < answers:
            try:
                answer = self._answers.get(timeout=self._timeout)
            except queue.Empty:
                self._fail(f"no answer in {self._timeout:g} s")
            if answer is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout=5)
                self._fail(f"java ended with status {self._process.returncode}")
            self._numbers(answer)
            received.append(answer)
        return received

    def _numbers(self, answer: str) -> list[float]:
        try:
            numbers = [float(field) for field in answer.split()]
        except ValueError:
            numbers = []
        if not numbers or not all(map(math.isfinite, numbers)):
            self._fail(f"answered {answer[:80]!r}")
        return numbers

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        self._threads = [*(other for other in self._threads if other.is_alive()), thread]

    def _read_answers(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._answers.put(line.decode(errors="replace").strip())
        self._answers.put(None)

    def _fail(self, problem: str) -> NoReturn:
        self._end()
        self._complaints.seek(0)
        lines = self._complaints.read(100_000).decode(errors="replace").splitlines()
        complaint = ([line for line in lines if "rror" in line or "xception" in line] or lines)[:1]
        raise MeteorUnavailable("; ".join([f"METEOR: {problem}", *(line[:200] for line in complaint)]))

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        # Closing flushes data that a dead reader never takes.
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()


def _spoken(tokens: Caption) -> str:
    return " ".join(" ".join(tokens).replace(SEPARATOR, "").split())


def _write(stream: IO[bytes], lines: list[str]) -> None:
    # If Java has died, the reader of its answers reports it.
    with contextlib.suppress(OSError, ValueError):
        stream.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
        stream.flush()
