"""Commands of Scrapy in processes that are forked from one which has Scrapy imported.

    with scrapy_commands() as start:
        crawl = start(["scrapy", "runspider", …], folder)

As a program, it is that process: it forks one command for each line that it reads, says its number,
and says how it ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from support.crawls import environment
from support.paths import ROOT

PRELOADED = (
    "scrapy.commands.runspider",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.downloadermiddlewares.cookies",
    "crawlrank.pipeline.online.scrapy_scheduler",
)


class Crawl:
    """A command that has begun; one at a time."""

    def __init__(self, server: subprocess.Popen[str], words: Sequence[str], folder: Path) -> None:
        assert server.stdin and server.stdout
        self.log, self._answers = folder / "log", server.stdout
        server.stdin.write(json.dumps([list(words), str(folder), str(self.log)]) + "\n")
        server.stdin.flush()
        self.pid = int(self._answers.readline())

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Its exit code, or less than 0 the number of the signal that has ended it."""
        return int(self._answers.readline())


@contextmanager
def scrapy_commands() -> Iterator[Callable[[Sequence[str], Path], Crawl]]:
    """A function that starts a command in a folder, where what it says goes to the file `log`."""
    command = [sys.executable, "-m", "support.systems.scrapy_forks"]
    path = os.pathsep.join((str(ROOT / "tests"), str(ROOT)))
    with subprocess.Popen(
        command, env=environment(PYTHONPATH=path), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as server:  # fmt: skip
        yield lambda words, folder: Crawl(server, words, folder)


def main() -> None:
    for name in PRELOADED:
        import_module(name)
    assert "twisted.internet.reactor" not in sys.modules  # each command has its own
    for line in sys.stdin:
        words, folder, log = json.loads(line)
        if not (pid := os.fork()):
            run(words, folder, log)
        say(pid)
        say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def run(words: list[str], folder: str, log: str) -> None:
    from scrapy.cmdline import execute

    os.chdir(folder)
    with open(log, "w") as file:  # noqa: PTH123
        for number in (1, 2):
            os.dup2(file.fileno(), number)
    with open(os.devnull) as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    code = 1
    try:
        execute(words)
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
