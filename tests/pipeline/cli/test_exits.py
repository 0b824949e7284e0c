"""Commands that read tables end as they should: no thread of a library outlives the interpreter,
which would abort the process after all of its output, or keep it from ending."""

from __future__ import annotations

import os
import queue
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.crawls import COMMAND, Said, checked, environment
from support.paths import LOOPBACK
from support.runs import copy_of, finished

AT_ONCE = 6
BATCH = 20  # processes of a test
OFTEN = int(os.environ.get("CRAWLRANK_EXITS", BATCH))  # processes of a command of READING
LIMIT = 600  # seconds that a process may take: one that hangs ends the test

#: commands that read tables of the finished run `work` each in a way of its own, and write beside
#: it; NUMBER: of the process. Threads of pyarrow are there when the last two end.
READING = {
    "run": f"run {LOOPBACK} --work work --quiet",
    "explain": "explain work http://127.0.0.1:18081/",
    "hosts": "hosts work",
    "export": "export work --output precedence-NUMBER.txt",
    "canonicalize": "step canonicalize work/links --captures work/captures --runner inline"
    " --output canonical-NUMBER --uris uris-NUMBER",
}
#: commands that read as one of those does, or start no threads: BATCH processes are enough
READING_ALIKE = {
    "status": "status work",
    "check": "status work --check",
    "report": "report work --output report.html",
    "export-csv": "export work --format csv --output pages.csv",
    "export-text": "export work --format text --output text-NUMBER",
    "diff": "diff work work",
}
LINES = READING | READING_ALIKE


def ended(words: list[str], folders: queue.SimpleQueue[Path]) -> Said:
    """The command in a folder that no other process is in."""
    folder = folders.get()
    try:
        done = subprocess.run(
            [*COMMAND, *words], cwd=folder, env=environment(), capture_output=True, text=True,
            timeout=LIMIT,
        )  # fmt: skip
        return checked(Said(done.returncode, done.stdout, done.stderr))
    finally:
        folders.put(folder)


@pytest.mark.parametrize("command", [name for name in LINES if name != "report"])
def test_a_process_ends_after_its_output(command: str, tmp_path: Path) -> None:
    require_good_ends(command, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(-(-OFTEN // BATCH)))
@pytest.mark.parametrize("command", READING)
def test_many_processes_end_after_their_output(command: str, batch: int, tmp_path: Path) -> None:
    require_good_ends(command, min(BATCH, OFTEN - BATCH * batch), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("command", READING_ALIKE)
def test_some_processes_end_after_their_output(command: str, tmp_path: Path) -> None:
    require_good_ends(command, BATCH, tmp_path)


def require_good_ends(command: str, count: int, folder: Path) -> None:
    """The exits of a number of processes of a command, six at a time."""
    folders: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(min(AT_ONCE, count)):
        copy_of(finished(LOOPBACK), folder / str(number) / "work")
        folders.put(folder / str(number))
    lines = (LINES[command].replace("NUMBER", str(number)) for number in range(count))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for said in pool.map(lambda line: ended(line.split(), folders), lines):
            assert said.code == 0, said
