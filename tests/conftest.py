"""Settings of all tests: hypothesis draws the same examples in every run, and takes its time."""

from __future__ import annotations

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


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """An archive of five pages."""
    return write_warc(tmp_path / "web.warc.gz", WEB)


@pytest.fixture
def more_web(tmp_path: Path) -> Path:
    """An archive of two more."""
    return write_warc(tmp_path / "more.warc.gz", MORE_WEB)
