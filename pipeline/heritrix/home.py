"""A distribution of Heritrix on this machine, and its Java programs, each with an end in time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from jobs.kernel.errors import BadInput

ENGINE = "heritrix-engine-*.jar"
LAST_LINES, LAST_WORDS = 10, 2000  # of a program, in messages: lines, characters
OPTIONS = ("-Xmx512m", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true")
UTF_8 = ("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8")


class HeritrixFails(BadInput):
    """A program of Heritrix did not end well, or not in time. The message has its last words."""


class HeritrixHome:
    """The unpacked distribution. folder: with lib/ in it. Raises BadInput where there is none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engines = sorted((folder / "lib").glob(ENGINE))
        if len(self.engines) != 1:
            raise BadInput(
                str(folder),
                f"{len(self.engines) or 'no'} {ENGINE} in lib",
                "the folder of an unpacked distribution of Heritrix 3",
                "Give it with --heritrix, or as HERITRIX_HOME.",
            )

    @property
    def classes(self) -> str:
        """A class path."""
        return str(self.folder / "lib" / "*")

    def run(
        self, *arguments: str, where: Path, limit: float, text: Iterable[str] = ()
    ) -> Iterator[str]:
        """Run Java with the classes of Heritrix; the lines that it writes, without their ends.

        where: what it works on, for messages. limit: seconds to the end. text: pieces that it
        reads. Raises HeritrixFails behind the last line.
        """
        command = [java(), *OPTIONS, *UTF_8, "-cp", self.classes, *arguments]
        with _pipes() as (given, errors):
            given.writelines(text)
            given.seek(0)
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # so that what it has started ends with it
            )
            with _ended(process, limit) as is_over:
                assert process.stdout is not None  # it is a pipe
                last = deque[str](maxlen=LAST_LINES)
                for line in process.stdout:
                    last.append(line)
                    yield line.rstrip("\n")
                code = process.wait()
            if code or is_over.is_set():
                late = f"not at its end after {limit:g} s"
                how = late if is_over.is_set() else f"exit code {code}"
                raise _failure(where, arguments, how, last, errors)


def java() -> str:
    """The program: of JAVA_HOME, or of the path. Raises BadInput where there is none."""
    home = os.environ.get("JAVA_HOME")
    own = shutil.which("java", path=f"{home}/bin") if home else None
    if program := own or shutil.which("java"):
        return program
    raise BadInput(
        "java", "not on this machine", "Java 17 or later", "Install it, or set JAVA_HOME."
    )


@contextlib.contextmanager
def _pipes() -> Iterator[tuple[IO[str], IO[str]]]:
    """Files for what a program reads and for its errors: a pipe for each could block."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
    ):
        yield given, errors


@contextlib.contextmanager
def _ended(process: subprocess.Popen[str], limit: float) -> Iterator[threading.Event]:
    """Around a process, which ends with the block, or when its time is over: the event is set
    then."""
    is_over = threading.Event()

    def expire() -> None:
        is_over.set()
        _kill(process)

    timer = threading.Timer(limit, expire)
    timer.daemon = True
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()
        if process.poll() is None:
            _kill(process)
            process.wait()


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failure(
    where: Path, arguments: Sequence[str], how: str, last: Iterable[str], errors: IO[str]
) -> HeritrixFails:
    errors.seek(0)
    words = " ".join(("".join(last) + errors.read())[-LAST_WORDS:].split())
    name = next(Path(word).name for word in arguments if not word.startswith("-"))
    if "EnvironmentLockedException" in words:
        return locked(where)
    return HeritrixFails(
        str(where), f"{name.rpartition('.')[2]}: {how}: {words}", "a program that ends well",
        "Look at what it says; Heritrix 3.13 and Java 17 or later are known to work.",
    )  # fmt: skip


def locked(state: Path) -> HeritrixFails:
    """The error of a store that a job has open."""
    return HeritrixFails(
        str(state),
        "a job of Heritrix has it open",
        "the state of a job that is torn down",
        "Terminate and tear down the job in Heritrix's console, then give the command again.",
    )
