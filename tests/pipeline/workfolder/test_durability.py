"""A loss of power leaves no manifest ahead of its data: when it is renamed into place, every file
that it has a record of, its folder and the manifest itself are on the disk."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.crawls import WEB, ok, write_warc

from crawlrank.pipeline.workfolder.dataset_store import DatasetStore


class Disk:
    """What has been brought to the disk since it was written: by size and time of change."""

    def __init__(self, work: Path) -> None:
        self.work, self.synced, self.saves = work, dict[str, tuple[int, int]](), 0

    def sync(self, descriptor: int) -> None:
        path = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        stat = os.fstat(descriptor)
        # a rename keeps the inode
        self.synced[f"{stat.st_dev}:{stat.st_ino}"] = (stat.st_size, stat.st_mtime_ns)
        self.synced[path] = (0, 0)

    def has(self, path: Path) -> bool:
        stat = path.stat()
        return self.synced.get(f"{stat.st_dev}:{stat.st_ino}") == (stat.st_size, stat.st_mtime_ns)

    def check(self, manifest: Path) -> None:
        """Before a manifest is renamed."""
        self.saves += 1
        assert self.has(manifest)
        data = json.loads(manifest.read_text())
        entries = [entry.get("datasets", {}) for entry in data["steps"].values()]
        entries += [entry.get("checkpoint", {}) for entry in data["steps"].values()]
        for records in [*entries, *data["parts"].values()]:
            for dataset, record in records.items():
                location = DatasetStore(self.work).location(dataset)
                assert isinstance(location, Path)
                for name in record["files"]:
                    assert self.has(location / name), f"{dataset}/{name}"
                assert str(location.parent) in self.synced, dataset


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "runner",
    [
        ("--jobs", "1"),
        ("--runner", "inline", "--iterations", "2"),
        pytest.param(("--runner", "inline"), marks=pytest.mark.slow),
    ],
)
def test_data_come_before_the_manifest(
    runner: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    disk, sync, replace = Disk(work), os.fsync, Path.replace

    def syncing(descriptor: int) -> None:
        sync(descriptor)
        disk.sync(descriptor)

    def replacing(self: Path, target: Any) -> Any:
        if Path(target).name == "manifest.json":
            disk.check(self)
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(Path, "replace", replacing)
    web = write_warc(tmp_path / "web.warc", WEB)
    ok("run", web, "--work", work, "--quiet", "--min-agreement", 0, *runner)
    assert disk.saves > 8
    assert str(work) in disk.synced  # the manifest's own name, too
