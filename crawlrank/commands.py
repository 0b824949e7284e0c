"""The functions of the package, each a command in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, Union

if TYPE_CHECKING:
    import pyarrow as pa

PathOrUrl = Union[str, "os.PathLike[str]"]
Options = Any
INTERRUPTED = 130
ENDING = 60.0  # seconds in which an interrupted command keeps what is finished
MAIN = str(Path(__file__).with_name("__main__.py"))
USAGE = ("Usage: ", "Try ")  # lines before the fault of a wrong usage
FAULTS = ("crawlrank: ", "Error: ", *USAGE)


class CommandFailed(Exception):
    """A command did not end well. exit_code: as in a shell, 2 wrong usage, 3 bad input, 4 not
    converged or not confirmed, 5 a job of a cluster failed. The message is the command's own."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def run(archives: PathOrUrl | Iterable[PathOrUrl], work: PathOrUrl, **options: Options) -> None:
    """Do all steps, from archives to a precedence file.

    archives: files, folders, globs or s3:// URLs. work: the folder that holds all results; it
    continues where a run before it stopped. Raises CommandFailed, as all functions here.
    """
    _call("run", *_several(archives), work=work, **options)


def estimate(
    archives: PathOrUrl | Iterable[PathOrUrl], work: PathOrUrl | None = None, **options: Options
) -> dict[str, Any]:
    """What `run` would take with these options: seconds, bytes of memory and disk, rows, each with
    what it lies between, and node-hours on clusters. work: where the run would be; only the room
    there is looked at."""
    with tempfile.TemporaryDirectory(prefix="crawlrank-") as folder:
        to = Path(folder, "work") if work is None else work
        return _result("run", *_several(archives), work=to, dry_run=True, **options)


def rank(work: PathOrUrl, **options: Options) -> None:
    """Rank the pages of a work folder by another method, beside its own ranking."""
    _call("rank", work=work, **options)


def scores(work: PathOrUrl, **options: Options) -> pa.Table:
    """The pages of a finished run, best first, with the columns of `export-precedence --format
    parquet`: url, score, class, position, key, captures, status and more.

    Pages that were captured and have no score come last. options: ranking, bins, status, host and
    others of export-precedence.
    """
    from pyarrow import parquet

    with tempfile.TemporaryDirectory(prefix="crawlrank-") as folder:
        rows = Path(folder, "scores.parquet")
        _call("export-precedence", work=work, format="parquet", output=rows, say=False, **options)
        return parquet.read_table(rows)


def explain(work: PathOrUrl, uri: str, **options: Options) -> dict[str, Any]:
    """Why the page of a URI has its score and its class."""
    return _result("explain", uri, work=work, **options)


def diff(older: PathOrUrl, newer: PathOrUrl, **options: Options) -> dict[str, Any]:
    """What changed from one run to another. older, newer: their work folders."""
    return _result("diff", older, newer, **options)


def agree(work: PathOrUrl, **options: Options) -> dict[str, Any]:
    """How far the rankings of a work folder agree."""
    return _result("agree", work, **options)


def inspect(archives: PathOrUrl | Iterable[PathOrUrl], **options: Options) -> dict[str, Any]:
    """What is in archives."""
    return _result("inspect", *_several(archives), **options)


def report(work: PathOrUrl, output: PathOrUrl | None = None, **options: Options) -> dict[str, Any]:
    """The numbers of a run and its ranking. output: a file for the page that shows them."""
    return _result("report", work=work, output=output, **options)


def hosts(work: PathOrUrl, **options: Options) -> dict[str, Any]:
    """The hosts of a finished run, or by="domain" their registrable domains: pages, captures,
    scores, classes and links of each. options: sort, top, ranking and others of `hosts`."""
    return _result("hosts", work=work, **options)


def export_precedence(work: PathOrUrl, output: PathOrUrl, **options: Options) -> None:
    """Write the precedence file of a finished run, or with `format` a list for another crawler."""
    _call("export-precedence", work=work, output=output, **options)


def plan(
    work: PathOrUrl | Iterable[PathOrUrl], budget: str, output: PathOrUrl, **options: Options
) -> dict[str, Any]:
    """How often to fetch each page. work: of the crawls, the oldest first. budget: such as
    `5000/day`. output: a folder for the schedule and the precedence file of what is due."""
    return _result("plan", work=_several(work), budget=budget, output=output, **options)


def command(name: str, *arguments: PathOrUrl, **options: Options) -> str:
    """Any command of crawlrank, such as `command("check", work="work/crawl")`; what it prints."""
    return _call(name, *arguments, **options)


def _several(given: PathOrUrl | Iterable[PathOrUrl]) -> list[PathOrUrl]:
    return [given] if isinstance(given, (str, os.PathLike)) else [*given]


def _result(name: str, *arguments: PathOrUrl, **options: Options) -> dict[str, Any]:
    """What the command writes as JSON."""
    document: dict[str, Any] = json.loads(_call(name, *arguments, json="-", **options))
    return document


def _call(name: str, *arguments: PathOrUrl, say: bool = True, **options: Options) -> str:
    """The standard output of a command. say: pass its progress on to standard error.

    Raises CommandFailed with what it has said of the fault, and KeyboardInterrupt. The command ends
    with the call, whatever ends that.
    """
    words = [
        sys.executable,
        MAIN,
        name,
        *_words(options),
        "--",
        *(os.fspath(each) for each in arguments),
    ]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    pipes["env"] = {**os.environ, "CRAWLRANK_CONFIG": ""}  # a program says itself what it wants
    with (
        subprocess.Popen(words, errors="backslashreplace", **pipes) as process,
        ThreadPoolExecutor(1) as reading,
    ):
        fault = reading.submit(_read_fault, process.stderr, sys.stderr if say else None)
        try:
            output: str = process.stdout.read() if process.stdout else ""
            process.wait()
        except BaseException:
            _interrupt(process)
            raise
    if process.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if process.returncode:
        raise CommandFailed(fault.result(), process.returncode)
    return output


def _interrupt(process: subprocess.Popen[str]) -> None:
    """Let the command end as with Ctrl-C, and end it at once if it takes too long or another
    exception comes. A terminal has interrupted it already; it takes both signals for one."""
    try:
        process.send_signal(signal.SIGINT)
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
    except BaseException:
        process.kill()
        raise


def _read_fault(lines: Any, progress: TextIO | None) -> str:
    """The message of a fault, which comes last; what is before it is progress."""
    said: list[str] = []
    for line in lines:
        if said or line.startswith(FAULTS):
            said.append(line)
        elif progress:
            with contextlib.suppress(OSError, ValueError):  # closed, or its reader has left
                progress.write(line)
    fault = "".join(line for line in said if not line.startswith(USAGE)).strip()
    return fault.removeprefix(FAULTS[0]).removeprefix(FAULTS[1])


def _words(options: Mapping[str, Options]) -> Iterator[str]:
    """Options as the command line has them."""
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        several = isinstance(value, Iterable) and not isinstance(value, (str, os.PathLike))
        for each in value if several else [value]:
            if each is True:
                yield option
            elif each is not None and each is not False:
                yield from (option, os.fspath(each) if isinstance(each, os.PathLike) else str(each))
