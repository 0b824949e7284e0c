"""A command in the process of its caller: options as arguments, errors as exceptions, no output.

A call changes nothing in its process but what it restores before it returns: variables of the
environment for the options of web servers, and in the main thread the handler of SIGINT. It never
changes the current folder, except `runner="inline"`, whose jobs do while they run. Results are the
same as those of the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from types import FrameType
from typing import Any, NamedTuple

import click

from crawlrank.jobs.kernel.errors import CrawlrankError
from crawlrank.jobs.kernel.machine.shortage import naming_shortages
from crawlrank.pipeline.cli.commands import COMMANDS, loaded
from crawlrank.pipeline.cli.interruption import ARGUMENTS
from crawlrank.pipeline.cli.parameters.calls import CALL, ProgramCall
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport

StrPath = str | os.PathLike[str]
#: that a table of a configuration file may belong to
_PROGRAM = click.Group(
    "crawlrank", commands=[click.Command(words.rpartition(" ")[2]) for words in COMMANDS]
)


class WrongUsage(CrawlrankError, ValueError):
    """Options or arguments that a command refuses, or that exclude each other."""

    exit_code = 2


class ProgressEvent(NamedTuple):
    """What happened in a call.

    kind: `step` (one begins), `skipped` (one is done already), `archive` (one was read), `read`
    (bytes of archives), `task` (parts of a job), `round` (one of a ranking ended), `done` (a step
    ended), `warning`. step: its name. done, total: counts of the kind; None where unknown. details:
    the entry of a round, what the manifest says of a step, or the text of a warning.
    """

    kind: str
    step: str
    done: int = 0
    total: int | None = None
    details: Mapping[str, Any] = {}


OnProgress = Callable[[ProgressEvent], object]


class _Events(Reporter):
    """Passes what a command reports on to a callback."""

    def __init__(self, callback: OnProgress) -> None:
        self._callback, self._step = callback, ""

    def _tell(
        self,
        kind: str,
        done: int = 0,
        total: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self._callback(ProgressEvent(kind, self._step, done, total, dict(details or {})))

    def step(self, name: str, skipped: bool = False) -> None:
        self._step = name
        self._tell("skipped" if skipped else "step")

    def task(self, job: str, done: int, total: int) -> None:
        self._tell("task", done, total, {"job": job})

    def read(self, done: int, total: int) -> None:
        self._tell("read", done, total)

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        self._tell("archive", done, total, {"path": report.path, "counters": report.counters})

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        self._tell("round", len(rounds), stop.iterations, rounds[-1])

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        self._step = name
        self._tell("done", details=entry)

    def note(self, text: str) -> None:
        self._tell("warning", details={"text": text})


def call(
    name: str,
    arguments: Iterable[StrPath],
    options: Mapping[str, Any],
    progress: OnProgress | None = None,
) -> str:
    """Run a command; returns the JSON that it writes to standard output, or ''.

    options: by their names with _ for -. None stands for an option that is not given, True and
    False for a flag, a list for an option that may be given several times, and a dict for pairs
    NAME=NUMBER. Raises WrongUsage, BadInput, NotConverged, JobFailed, Shortage, OSError, and
    KeyboardInterrupt, after which the work folder keeps what was finished.
    """
    command = loaded(name)
    words = [*_words(command, options), "--", *(os.fspath(each) for each in arguments)]
    program = ProgramCall(_Events(progress) if progress else Reporter())
    with _errors(), _interruptible(), click.Context(_PROGRAM) as top:
        top.meta[CALL] = program
        top.meta[ARGUMENTS] = [name, *words]
        with command.make_context(name, list(words), parent=top) as context:
            command.invoke(context)
    return program.document.getvalue()


def require_usable(name: str, options: Mapping[str, Any]) -> None:
    """Raise WrongUsage for the first option whose value this command would refuse. options: as of
    `call`, each with one value."""
    command = loaded(name)
    params = {param.name: param for param in command.params}
    with _errors(), click.Context(command) as context:
        for option, value in options.items():
            param = params[option]
            if isinstance(param, click.Option) and param.is_flag and not isinstance(value, bool):
                raise click.BadParameter(f"{value!r} is not True or False", context, param)
            param.type_cast_value(context, value)


def document(
    name: str,
    arguments: Iterable[StrPath],
    options: Mapping[str, Any],
    progress: OnProgress | None = None,
) -> dict[str, Any]:
    """The JSON of a command, as `--json` writes it."""
    written: dict[str, Any] = json.loads(call(name, arguments, {**options, "json": "-"}, progress))
    return written


def _words(command: click.Command, options: Mapping[str, Any]) -> Iterator[str]:
    """Options as a command line has them. Raises WrongUsage for one that there is not."""
    known = {option: param for param in command.params for option in param.opts}
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        param = known.get(option)
        if not isinstance(param, click.Option):
            raise WrongUsage(f"{command.name} has no option {name}")
        if value is None or (value is False and not param.secondary_opts):
            continue
        if isinstance(value, bool) and param.is_flag:
            yield option if value else param.secondary_opts[0]
            continue
        for each in _texts(value, several=param.multiple):
            yield f"{option}={each}"


def _texts(value: Any, *, several: bool) -> list[str]:
    """The words of a value; without `several` at most one."""
    if isinstance(value, Mapping):
        return [",".join(f"{key}={_number(number)}" for key, number in value.items())]
    if isinstance(value, Iterable) and not isinstance(value, (str, os.PathLike)):
        words = [os.fspath(each) if isinstance(each, os.PathLike) else str(each) for each in value]
        return words if several or not words else [",".join(words)]
    return [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def _number(value: Any) -> str:
    """The digits of a number; numpy's own say their type, too."""
    return repr(float(value) if isinstance(value, Real) and not isinstance(value, int) else value)


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Errors of the command line as exceptions of the library."""
    with naming_shortages():
        try:
            yield
        except click.ClickException as error:
            raise WrongUsage(error.format_message()) from error
        except click.Abort:
            raise KeyboardInterrupt from None


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt also where a library has made another error of it: DuckDB does, and
    so do imports. Only the main thread gets signals."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        came.append(number)
        handler(number, frame)

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, handler)
