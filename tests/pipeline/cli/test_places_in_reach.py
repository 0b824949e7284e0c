"""Where datasets and outputs may lie: what nobody could reach, or find again, is wrong usage."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from support.crawls import crawlrank
from support.paths import LOOPBACK

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress import reporter
from crawlrank.pipeline.run.run import engine_of

FAR = ("s3://bucket/crawl", "hdfs:///user/me/crawl")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("runner", "data"),
    [*((runner, data) for runner in ("inline", "local") for data in FAR), ("emr", "file:///x/y")],
)
def test_data_that_the_runner_does_not_reach(runner: str, data: str, tmp_path: Path) -> None:
    said = crawlrank("run", LOOPBACK, "--work", "work", "--runner", runner, "--data", data)
    assert said.code == 2
    assert f"--data {data}: the runner {runner} reaches " in said.err
    assert "spark" in said.err
    options = RunOptions(runner=runner, data=data)
    with pytest.raises(BadInput, match="reaches"), ExitStack() as stack:
        engine_of(tmp_path, options, tmp_path, reporter(quiet=True), stack)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("run", LOOPBACK, "--work", FAR[0]),
        ("step", "extract-links", LOOPBACK, "--output", FAR[0], "--captures", "captures.txt"),
        ("inspect", LOOPBACK, "--json", FAR[1]),
        ("export", "--format", "text", "--work", "work", "--out", "file:///x"),
        ("cluster", "package", "--output", FAR[0]),
    ],
    ids=lambda words: words[0],
)
def test_outputs_are_paths(words: tuple[object, ...], tmp_path: Path) -> None:
    said = crawlrank(*words)
    assert said.code == 2
    assert "is a URL; a path is needed" in said.err
    assert not list(tmp_path.iterdir())
