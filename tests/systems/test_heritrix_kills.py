"""`recrawl` and `--undo` ended by SIGKILL at each change of a file of the job, and at each start of
Java, alone and one after the other.

A process that changes files in the job's folder ends itself before the n-th change.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawls import environment, ok
from support.paths import HERITRIX, LOOPBACK
from support.runs import finished
from support.systems.heritrix_crawls import home

from crawlrank.pipeline.heritrix.job_folder import JobFolder
from crawlrank.pipeline.precedence.beans import PAGES

__all__ = ["home"]
pytestmark = pytest.mark.heritrix
PROFILE = (HERITRIX / "profile-crawler-beans.cxml").read_bytes()

#: arguments: the step at which it ends, the job, and those of crawlrank
KILLED = """
import os, shutil, signal, subprocess, sys
from pathlib import Path
last, job, count = int(sys.argv[1]), sys.argv[2], 0

def counting(owner, name):
    real = getattr(owner, name)
    def counted(*arguments, **options):
        global count
        if owner is subprocess or any(str(each).startswith(job) for each in arguments):
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
        return real(*arguments, **options)
    setattr(owner, name, counted)

for owner, names in {
    Path: "mkdir rename replace touch unlink rmdir write_text",
    shutil: "copyfile copy2 copymode rmtree",
    subprocess: "Popen",
}.items():
    for name in names.split():
        counting(owner, name)
from crawlrank.pipeline.cli import main
try:
    main(sys.argv[3:])
finally:
    print("steps", count)
"""


def killed(step: int, job: Path, *options: object) -> int:
    """The steps of a command that ended; 0 where it was killed."""
    command = [sys.executable, "-c", KILLED, str(step), str(job), "recrawl", "--job", str(job)]
    done = subprocess.run(
        [*command, *map(str, options)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode == -signal.SIGKILL:
        return 0
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


@pytest.fixture
def job(home: Path, tmp_path: Path) -> Path:
    """One that a ranking has made ready."""
    folder = tmp_path / "jobs" / "site"
    folder.mkdir(parents=True)
    (folder / "crawler-beans.cxml").write_bytes(PROFILE)
    ok("recrawl", "--job", folder, "--work", finished(LOOPBACK), "--heritrix", home, "--top", "7")
    return folder


def test_a_job_is_as_before_or_as_after_any_kill(home: Path, job: Path, tmp_path: Path) -> None:
    beans, again = job / "crawler-beans.cxml", ("--work", finished(LOOPBACK), "--heritrix", home)
    before, kept = beans.read_bytes(), tmp_path / "kept"
    shutil.copytree(job, kept)
    most = killed(10**6, job, *again)
    after = beans.read_bytes()
    assert after != before
    pages = len((job / "crawlrank" / "2" / PAGES).read_text().splitlines())
    assert pages > 40
    undone = killed(10**6, job, "--undo")
    assert beans.read_bytes() == before
    for step in range(most):
        shutil.rmtree(job)
        shutil.copytree(kept, job)
        assert not killed(step, job, *again)
        is_written = beans.read_bytes() == after
        assert is_written or beans.read_bytes() == before
        killed(step % undone, job, "--undo")  # the second kill
        assert beans.read_bytes() in (before, after, PROFILE)
        JobFolder(job).settle()  # as the next command begins
        assert [path.name for path in job.iterdir() if path.name.startswith(".")] == []
        state = beans.read_bytes()
        assert state in (before, after, PROFILE)
        if step % 3 == 0:  # Java is slow
            ok("recrawl", "--job", job, *again)
            (named,) = re.findall(rb'"(crawlrank/[0-9]+)/schedule', beans.read_bytes())
            assert len((job / named.decode() / PAGES).read_text().splitlines()) == pages
            ok("recrawl", "--job", job, "--undo")
            assert beans.read_bytes() == (before if state == after else state)
    assert 10 < most < 40
