"""The packed environment on a real Hadoop: tasks that have nothing else. `make test-hadoop`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hadoop.node import Node
from support.paths import LOOPBACK, ROOT
from support.systems.cluster import dataset, inline
from support.systems.hadoop_node import hadoop_around  # noqa: F401 - the fixture `hadoop`

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.pipeline.package.build import configure, upload_package

pytestmark = pytest.mark.hadoop
VERSION = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def package() -> Path:
    """What `crawlrank cluster package` has made before, where there was a package index."""
    folder = os.environ.get("CRAWLRANK_PACKAGE")
    assert folder, "CRAWLRANK_PACKAGE names no package: make test-hadoop"
    return Path(folder).resolve()


@pytest.fixture
def far(hadoop: Node) -> Iterator[str]:
    folder = f"/package-{uuid.uuid4().hex}"
    _fs("-mkdir", "-p", folder)
    yield folder
    _fs("-rm", "-r", "-skipTrash", folder)


def _fs(*args: str) -> bytes:
    return subprocess.run(["hadoop", "fs", *args], check=True, capture_output=True).stdout


def test_archives_in_hdfs_are_read_by_tasks_with_the_packed_environment(
    package: Path, far: str, tmp_path: Path
) -> None:
    """Links and captures, side lines too, are those of tasks on this machine."""
    _fs("-put", str(LOOPBACK), far)
    upload_package(package, f"hdfs://{far}/package")
    configure(tmp_path, VERSION, f"hdfs://{far}/package")
    (tmp_path / "list").write_text(json.dumps([f"hdfs://{far}/{LOOPBACK.name}"]) + "\n")
    command = [
        *(sys.executable, "-m", "crawlrank.jobs.extract_links", "-r", "hadoop", "--listed"),
        *("--conf-path", str(tmp_path / "hadoop.conf")),
        *("--py-files", str(package / "crawlrank.zip")),
        *("--output-dir", f"hdfs://{far}/links", "--no-cat-output", str(tmp_path / "list")),
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [line.rstrip(b"\t") for line in _fs("-cat", f"{far}/links/part-*").splitlines()]
    (told,) = [json.loads(line[9:]) for line in found if line.startswith(b"@archive\t")]
    assert told.get("error") is None
    near, seen = tmp_path / "links", tmp_path / "captures"
    launch(ExtractLinks, [LOOPBACK], near, inline(tmp_path), side={"captures": seen})
    assert [line for line in found if line[:1] != b"@"] == dataset(near)
    captures = [line.partition(b"\t")[2] for line in found if line.startswith(b"@captures\t")]
    assert captures == dataset(seen)
