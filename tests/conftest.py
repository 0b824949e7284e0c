"""Settings of all tests: hypothesis draws the same examples in every run, and takes its time."""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from itertools import chain, groupby
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from support import runs
from support.commands import client
from support.crawls import MORE_WEB, WEB, write_warc
from support.drawing import examples
from support.waiting import awaited

from crawlrank.jobs.kernel.captures.extraction_code import prepare

MEMORY, ROOM = "/dev/shm", 4 << 30
os.environ["NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"] = "1"  # a twentieth of making a loop
RUNNING = re.compile(r"Running on (http://127\.0\.0\.1:[0-9]+)")

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile(  # of scripts/mutants: shrinking an example takes up to five minutes
    "unshrunk",
    parent=settings.get_profile("steady"),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile("steady")

# Shells start what runs in the background with SIGINT ignored, and so would every process here.
for interruption in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(interruption) == signal.SIG_IGN:
        default = signal.default_int_handler if interruption == signal.SIGINT else signal.SIG_DFL
        signal.signal(interruption, default)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--order", type=int, metavar="SEED", help="run files and tests in this order")


def pytest_configure(config: pytest.Config) -> None:
    """Make what is compiled once, before the processes of the tests would, each for itself; and say
    where the server of commands will be, which the first client starts."""
    prepare()
    folder = tempfile.mkdtemp(prefix="crawlrank-tests-", dir=quick_folder())
    Path(folder).chmod(0o755)  # for commands that tests run as another user
    # after multiprocessing has removed what it keeps there, which is of priority -100
    Finalize(None, shutil.rmtree, (folder, True), exitpriority=-200)
    if quick_folder():
        os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.environ[client.SERVER] = f"{folder}/commands"
    os.environ[client.KEEPER] = str(os.getpid())
    os.environ[runs.FOLDER] = f"{folder}/runs"


def quick_folder() -> str | None:
    """A folder in memory, if there is one with room: tests make and remove many small files. None:
    where temporary files are."""
    with contextlib.suppress(OSError):
        if "TMPDIR" not in os.environ and shutil.disk_usage(MEMORY).free >= ROOM:
            return MEMORY
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test has changed a run that others read."""
    gc.unfreeze()
    if not hasattr(session.config, "workerinput") and (names := [*runs.changed()]):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        sys.stderr.write(f"tests have changed runs that others read: {names}\n")


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is collected stays to the end: looking whether it is garbage takes a sixth of the time
    of collecting, and time again later."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what the command line does not ask for
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    shown = Counter[str]()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if (few := item.get_closest_marker("few")) and not item.get_closest_marker("slow"):
            if shown[test] >= few.args[0]:
                item.add_marker(pytest.mark.slow)
            shown[test] += 1
        if draws(item):
            item.add_marker(pytest.mark.drawn)
        if "monkeypatch" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.pure)
    if (seed := config.getoption("--order")) is not None:
        reorder(items, random.Random(seed))


def reorder(items: list[pytest.Item], rng: random.Random) -> None:
    """Files in any order, and the tests of each. Every worker makes the same of one seed."""
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    rng.shuffle(files)
    for tests in files:
        rng.shuffle(tests)
    items[:] = chain.from_iterable(files)


def draws(item: Any) -> bool:
    """Whether hypothesis draws examples for a test, as many as its profile says, or the test or one
    of its marks asks for a number of them. Tests of classes are hypothesis' machines of states."""
    if is_hypothesis_test(item.obj) or getattr(item, "cls", None):
        return True
    return "examples" in vars(item.module) and asks_for_examples(item.function)


@cache
def asks_for_examples(test: Any) -> bool:
    return "examples(" in inspect.getsource(test)


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """An archive of five pages."""
    return write_warc(tmp_path / "web.warc.gz", WEB)


@pytest.fixture
def more_web(tmp_path: Path) -> Path:
    """An archive of two more."""
    return write_warc(tmp_path / "more.warc.gz", MORE_WEB)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3 server at a free port; stopped by its pid, whatever happens."""
    log = tmp_path_factory.mktemp("moto") / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with log.open("w") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        try:
            awaited(lambda: RUNNING.search(log.read_text()) or process.poll() is not None, "S3")
            found = RUNNING.search(log.read_text())
            assert found, f"no S3 server (moto[server] is in the extra `dev`): {log.read_text()}"
            yield found[1]
        finally:
            process.terminate()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An S3 client; its bucket `crawl` is there, and nothing that tests before left in the store.
    Nothing here reaches the real S3."""
    import boto3

    with urllib.request.urlopen(f"{server}/moto-api/reset", data=b"") as answer:
        assert answer.status == 200

    for name, value in {
        **{"AWS_ENDPOINT_URL": server, "AWS_DEFAULT_REGION": "us-east-1"},
        **{"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"},
        **{"AWS_EC2_METADATA_DISABLED": "true", "no_proxy": "127.0.0.1"},
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="crawl")
    return client


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CRAWLRANK_NO_SKIPS, as .ci/run sets it, a skip is a failure: only the large reference
    data, which is not part of the project, may be absent."""
    report = yield
    absent = "no reference data here" in str(report.longrepr)
    if report.skipped and "CRAWLRANK_NO_SKIPS" in os.environ and not absent:
        report.outcome = "failed"
    return report
