"""Settings of all tests: hypothesis draws the same examples in every run, and takes its time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.crawls import MORE_WEB, WEB, write_warc
from support.drawing import examples

from jobs.kernel.captures.extraction_code import prepare

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("steady")

# Shells start what runs in the background with SIGINT ignored, and so would every process here.
for interruption in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(interruption) == signal.SIG_IGN:
        default = signal.default_int_handler if interruption == signal.SIGINT else signal.SIG_DFL
        signal.signal(interruption, default)


def pytest_configure(config: pytest.Config) -> None:
    """Make what is compiled once, before the processes of the tests would, each for itself."""
    if not hasattr(config, "workerinput"):
        prepare()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "monkeypatch" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.pure)


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
            found = None
            until = time.monotonic() + 60
            while not found and process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
                found = re.search(r"Running on (http://127\.0\.0\.1:[0-9]+)", log.read_text())
            assert found, f"no S3 server (moto[server] is in the extra `dev`): {log.read_text()}"
            yield found[1]
        finally:
            process.terminate()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An S3 client; its bucket `crawl` is there. Nothing here reaches the real S3."""
    import boto3

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
