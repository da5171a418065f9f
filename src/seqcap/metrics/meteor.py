"""METEOR 1.5 (Denkowski and Lavie, WMT 2014) by the Java program inside pycocoevalcap.

pycocoevalcap's own wrapper breaks under some locales, blocks for ever when Java hangs or fills its standard
error, and leaves it running. This one gives the same numbers and either answers or says why it cannot.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NoReturn, Self

import numpy as np

from seqcap.errors import InputError
from seqcap.metrics.captions import (
    Caption,
    Floats,
    Hypotheses,
    References,
    Scores,
    joined,
    joined_pairs,
    joined_references,
)

SEPARATOR = "|||"
# Java prints numbers and folds case by the machine's language. METEOR crashes under some languages.
JAVA = ("-Xmx2G", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")


class MeteorUnavailable(Exception):  # noqa: N818 (a state of the machine, not a mistake)
    """METEOR cannot be computed here; the message is the reason, in one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split()))


class Meteor:
    """One METEOR process, to be used in a `with` block and reused: it takes about 10 seconds to start.

    Args:
        timeout: seconds without any answer after which METEOR counts as hung. Start-up is such a silence.

    Raises:
        MeteorUnavailable: on entering or scoring, when Java is missing, too old, crashes, hangs or does not answer
            in METEOR's protocol. The process is gone by then; later calls raise again.
    """

    def __init__(self, timeout: float = 120.0) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._complaints: deque[str] = deque(maxlen=50)
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        jar = _jar()
        try:
            self._process = subprocess.Popen(
                ["java", *JAVA, "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"],
                cwd=jar.parent,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # `java` may be a script that starts the real one: the whole group is ended.
                start_new_session=True,
            )
        except OSError as error:
            raise MeteorUnavailable(f"METEOR: java cannot be started ({error.strerror})") from None
        self._start(self._read_answers, self._process.stdout)
        self._start(self._read_complaints, self._process.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def score(self, references: References, hypotheses: Hypotheses) -> Scores:
        """METEOR per image and of the corpus (from aggregated statistics, not the mean).

        An empty hypothesis scores 0. Bars "|||", METEOR's separator, are dropped from tokens.

        Raises:
            InputError: the two hold different images, an image has no references, or a token holds white space.
            MeteorUnavailable: see the class.
        """
        image_ids = list(joined_pairs(references, hypotheses)[0])
        values, corpus = self.score_captions(references, [(image_id, hypotheses[image_id]) for image_id in image_ids])
        return Scores(image_ids, values, corpus)

    def score_captions(self, references: References, captions: Sequence[tuple[int, Caption]]) -> tuple[Floats, float]:
        """METEOR of any number of captions per image.

        Args:
            references: by image id.
            captions: (image id, tokens), at least one.

        Returns:
            [captions] scores, and the corpus score of all of them together.

        Raises:
            InputError: no caption, an image without references, or a token with white space.
            MeteorUnavailable: see the class.
        """
        questions, statistics = self._align(references, captions)
        evaluation = f" {SEPARATOR} ".join(["EVAL", *(statistics[question] for question in questions)])
        answers = self._ask([evaluation], answers=len(questions) + 1)
        values = [self._numbers(answer)[0] for answer in answers]
        return np.array(values[:-1]), values[-1]

    def statistics(self, references: References, captions: Sequence[tuple[int, Caption]]) -> Floats:
        """[captions, 23] counts as `rewards.meteor.Meteor.statistics` has them. Arguments and errors as above."""
        questions, statistics = self._align(references, captions)
        return np.array([self._numbers(statistics[question]) for question in questions])

    def _align(
        self, references: References, captions: Sequence[tuple[int, Caption]]
    ) -> tuple[list[str], dict[str, str]]:
        """The question about each caption, and METEOR's answer to each distinct question."""
        if not captions:
            raise InputError("captions", "hold none to score", "pass at least one")
        texts = {
            image_id: f" {SEPARATOR} ".join(map(_without_separator, captions_of_image))
            for image_id, captions_of_image in joined_references(references).items()
        }
        questions = []
        for image_id, tokens in captions:
            if image_id not in texts:
                raise InputError("captions", f"image {image_id} has no references", "score only images that have them")
            hypothesis = _without_separator(joined(image_id, tokens))
            questions.append(f"SCORE {SEPARATOR} {texts[image_id]} {SEPARATOR} {hypothesis}")
        # Decoders often agree. Alignment with the references takes time, so each distinct caption is aligned once.
        distinct = list(dict.fromkeys(questions))
        return questions, dict(zip(distinct, self._ask(distinct, answers=len(distinct)), strict=True))

    def _ask(self, questions: list[str], answers: int) -> list[str]:
        if self._process is None:
            raise MeteorUnavailable("METEOR: is not running (it failed before, or was not entered with `with`)")
        # Writing and reading at once: one after the other, the pipes would fill up and block both sides.
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

    def _read_complaints(self, stream: IO[bytes]) -> None:
        """Standard error must be drained, or Java blocks when the pipe is full."""
        with stream:
            for line in stream:
                self._complaints.append(line.decode(errors="replace").strip())

    def _fail(self, problem: str) -> NoReturn:
        """Ends the process and raises with what it complained about."""
        self._end()
        errors = [line for line in self._complaints if "rror" in line or "xception" in line]
        complaint = (errors or [*self._complaints])[:1]
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
        # Closing flushes what a dead reader will never take.
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()


def _jar() -> Path:
    package = importlib.util.find_spec("pycocoevalcap")
    for root in (package.submodule_search_locations or []) if package else []:
        jar = Path(root) / "meteor" / "meteor-1.5.jar"
        if jar.is_file():
            return jar
    raise MeteorUnavailable("METEOR: pycocoevalcap's meteor-1.5.jar is not installed")


def _without_separator(caption: str) -> str:
    return " ".join(caption.replace(SEPARATOR, "").split())


def _write(stream: IO[bytes], lines: list[str]) -> None:
    # When Java has died, the reader of its answers says so.
    with contextlib.suppress(OSError, ValueError):
        stream.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
        stream.flush()
