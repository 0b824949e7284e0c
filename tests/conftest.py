"""Settings of all tests: hypothesis draws the same examples in every run, and takes its time."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from crawls import MORE_WEB, WEB, write_warc
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("steady")


#: what differs between versions of Python shows in the others: .ci/run runs these with one
WHOLE = (
    "assign_ids", "audit_precedence", "bad_input", "bounds", "diff", "docs", "dying_tasks",
    "embedded_errors", "embedded_kill", "embedded_resume", "embedded_scores", "explain",
    "export_scores", "extraction_real", "heritrix_scripts", "import_text", "inspection_pool",
    "join_scores", "kill", "launch", "merges", "mutations", "opening", "page_rank", "plots",
    "precedence", "ranking", "run", "runners", "runners_agree", "sample", "select_links",
    "several_crawls", "wat", "workers",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem.removeprefix("test_") in WHOLE:
            item.add_marker(pytest.mark.whole)


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """An archive of five pages."""
    return write_warc(tmp_path / "web.warc.gz", WEB)


@pytest.fixture
def more_web(tmp_path: Path) -> Path:
    """An archive of two more."""
    return write_warc(tmp_path / "more.warc.gz", MORE_WEB)


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
