"""Runs of Heritrix and of programs that look into its state, each with an end in time."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fetching import program

from heritrix.job import Job

LOADER = "org.archive.crawler.frontier.precedence.PrecedenceLoader"
PATIENCE = 600  # seconds: more than anything here takes on a busy machine
SCRIPTS = Path(__file__).parent
#: small crawls end sooner with the first compiler alone
QUICK = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
OPTIONS = (*QUICK, "-Djava.net.preferIPv4Stack=true", "-Dfile.encoding=UTF-8")


class HeritrixFails(RuntimeError):
    """It did not end by itself, or not well; the message has its last words."""


def run_job(
    home: Path, job: Job, *, limit: float = PATIENCE, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the job to its end; it may take `limit` seconds.

    options: of Java. Raises HeritrixFails when the crawl does not end by itself; its process is
    ended then.
    """
    place = job.folder.resolve().parent
    # Heritrix keeps its own log in its home, and a key for its console in the current folder
    (place / "console").mkdir(exist_ok=True)
    console = ["-a", secrets.token_hex(16), "-b", "127.0.0.1", "-p", str(free_port())]
    return java(
        home,
        *options,
        f"-Dheritrix.home={place / 'console'}",
        "org.archive.crawler.Heritrix",
        *console,
        *("-j", str(place), "-r", job.folder.name),
        limit=limit,
        cwd=place / "console",
    )


@contextmanager
def console(home: Path, jobs: Path, *, options: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """A Heritrix with its console, for the jobs of a folder, to the end of the block; its address,
    and user:password."""
    place = jobs.parent / "console"
    place.mkdir(exist_ok=True)
    port, login = free_port(), f"admin:{secrets.token_hex(16)}"
    arguments = ["-a", login, "-b", "127.0.0.1", "-p", str(port), "-j", str(jobs)]
    command = [program("java"), *OPTIONS, *options, f"-Dheritrix.home={place}"]
    command += ["-cp", str(home / "lib" / "*"), "org.archive.crawler.Heritrix", *arguments]
    with (place / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=place, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _await_port(port)
        yield f"https://127.0.0.1:{port}", login
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await_port(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise HeritrixFails(f"no console at port {port} after {PATIENCE} s")


def load_precedences(home: Path, file: Path, job: Job) -> int:
    """Load a precedence file into the state of a job that does not run; how many were loaded."""
    done = java(home, LOADER, str(file.resolve()), str(job.state.resolve()), limit=PATIENCE)
    for line in done.stdout.splitlines():
        if line.endswith(" entries loaded"):
            return int(line.split()[-3])
    raise HeritrixFails(_last_words(LOADER, done))


def look_into(home: Path, script: str, *arguments: str, text: str = "") -> list[list[str]]:
    """Run a Java file of this folder; its output as rows of fields. text: what it reads."""
    done = java(home, str(SCRIPTS / script), *arguments, limit=PATIENCE, text=text)
    return [line.split("\t") for line in done.stdout.splitlines()]


def java(
    home: Path, *arguments: str, limit: float, cwd: Path | None = None, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Java with Heritrix's classes; raises HeritrixFails when it fails or takes longer."""
    command = [program("java"), *OPTIONS, "-cp", str(home / "lib" / "*"), *arguments]
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,  # so that what it has started ends with it
    )
    try:
        out, err = process.communicate(text, timeout=limit)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        raise HeritrixFails(f"not at its end after {limit} s: {(out + err)[-2000:]}") from error
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if done.returncode:
        raise HeritrixFails(_last_words(arguments[0], done))
    return done


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _last_words(what: str, done: subprocess.CompletedProcess[str]) -> str:
    return f"{what}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}"
