"""A distribution of Heritrix on this machine, and its Java programs, each with an end in time."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError, Shortage
from crawlrank.jobs.kernel.machine.processes import tied
from crawlrank.jobs.kernel.machine.shortage import shortage_in

ENGINE = "heritrix-engine-*.jar"
LAST_LINES, LAST_WORDS = 10, 2000  # of a program, in messages: lines, characters
OPTIONS = ("-Xmx512m", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true")
_THROWN = re.compile(r'^(?:Caused by:|Caught:|Exception in thread "[^"]*") *(.+)', re.MULTILINE)
_FREE = re.compile(r"freeDiskLimit=([0-9,]+).*?diskFreeSpace=([0-9,]+)")  # of Berkeley DB
_ROOM = (
    "Make room, then give the command again; je.freeDisk in je.properties there is another limit."
)
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
        reads. Raises HeritrixFails, or Shortage, after the last line. On Linux, Java ends also
        where SIGKILL ends this process: else it would keep the store of the job locked.
        """
        command = tied([java(), *OPTIONS, *UTF_8, "-cp", self.classes, *arguments])
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
            assert process.stdout is not None  # it is a pipe
            with process.stdout as lines, _ended(process, limit) as is_over:
                last = deque[str](maxlen=LAST_LINES)
                for line in lines:
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
) -> CrawlrankError:
    errors.seek(0)
    output = "".join(last) + errors.read()
    if "EnvironmentLockedException" in output:
        return locked(where)
    if wanted := _FREE.search(output):
        limit, free = (int(number.replace(",", "")) // 1_000_000 for number in wanted.groups())
        return Shortage(
            str(where),
            f"{free:,} MB are free on this disk, and Heritrix wants {limit:,} MB",
            _ROOM,
        )
    if (shortage := shortage_in(output, 0, str(where))) and "OutOfMemoryError" not in output:
        return shortage
    program = next(Path(word).name for word in arguments if not word.startswith("-"))
    fault = f"{program.rpartition('.')[2]}: {how}: {_cause(output)}"
    return HeritrixFails(
        str(where), fault, "a program that ends well",
        "Look at what it says; Heritrix 3.13 and Java 17 or later are known to work.",
    )  # fmt: skip


def _cause(output: str) -> str:
    """What a program of Java says last: the exception that began it all, without its stack, or the
    last words."""
    thrown = _THROWN.findall(output)
    words = thrown[-1] if thrown else output[-LAST_WORDS:]
    return " ".join(words.split())[:LAST_WORDS]


def locked(state: Path) -> HeritrixFails:
    """The error of a store that a job has open."""
    return HeritrixFails(
        str(state),
        "a job of Heritrix has it open",
        "the state of a job that is torn down",
        "Terminate and tear down the job in Heritrix's console, then give the command again.",
    )
