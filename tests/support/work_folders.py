"""What a work folder holds, whoever ran in it; and the processes of a run."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.pipeline.workfolder.manifest import Manifest
from support.crawls import environment
from support.graphs import untimed
from support.waiting import awaited

SECONDS = re.compile(rb'"seconds": [0-9.e-]+')  # in the report


def files_of(work: Path) -> dict[str, bytes]:
    """Everything in a work folder, but for the lock and the manifest, which has times."""
    found = {str(path.relative_to(work)): path for path in work.rglob("*") if path.is_file()}
    for name in (".lock", "manifest.json"):
        del found[name]
    return {name: path.read_bytes() for name, path in found.items()}


def edit_manifest(work: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest as crawlrank itself would."""
    manifest = Manifest(work)
    change(manifest._data)
    manifest.save()


def manifest_of(work: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((work / "manifest.json").read_text())
    return manifest


def without_runs(work: Path) -> dict[str, Any]:
    """A manifest without the runs that were made, which have times, and the digest of all."""
    manifest = manifest_of(work)
    del manifest["digest"], manifest["runs"]
    return manifest


def told(work: Path) -> dict[str, object]:
    """What a manifest says, without its times and the digest of them."""
    manifest = without_runs(work)
    for entry in manifest["steps"].values():
        del entry["seconds"], entry["memory"]
        if "rounds" in entry:
            entry["rounds"] = untimed(entry["rounds"])
    manifest["archives"] = dict(sorted(manifest["archives"].items()))
    return manifest


def tree_of(pid: int) -> dict[int, str]:
    """A process and all that it started and that are there, with their command lines."""
    found = {pid: ""}
    for parent in list(found):
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                for child in map(int, path.read_text().split()):
                    found[child] = Path(f"/proc/{child}/cmdline").read_text()
    return found


def await_end(pids: Iterable[int]) -> None:
    """Nobody is left behind, but for a moment."""
    for pid in pids:
        awaited(partial(_has_ended, pid), f"process {pid} has ended")


def _has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def results_of(work: Path) -> dict[str, bytes]:
    """What a run has left, wherever its datasets lie, in a form that does not tell its history: all
    files of the work folder, and of datasets at a `file://` URL their lines in order."""
    files = {name: SECONDS.sub(b"", content) for name, content in files_of(work).items()}
    data = Manifest(work).parameters.get("--data")
    if not data:
        return files
    folder = Path(data.removeprefix("file://"))
    for dataset in sorted(path for path in folder.iterdir() if path.is_dir()):
        lines = [
            line
            for part in dataset.rglob("part-*")
            for line in part.read_bytes().splitlines(keepends=True)
            if not side_name(line)
        ]
        files[f"at the URL: {dataset.name}"] = b"".join(sorted(lines))
    return files


def assert_same_counters(*works: Path) -> None:
    """What both count is the same, and both count what they drop."""
    steps = [manifest_of(work)["steps"] for work in works]
    for step in steps[0]:
        one, other = (found[step].get("counters", {}) for found in steps)
        shared = one.keys() & other.keys()
        dropped = {name for name in {**one, **other} if name.startswith("dropped.")}
        for name in shared | dropped:
            assert one.get(name, 0) == other.get(name, 0), (step, name)


HOLD = """
import sys, threading
from pathlib import Path
from crawlrank.pipeline.workfolder.lock import locked
with locked(Path(sys.argv[1])):
    sys.stdout.write("held\\n")
    sys.stdout.flush()
    threading.Event().wait()
"""


def hold(work: Path) -> subprocess.Popen[bytes]:
    """Another process that holds the lock until it is ended."""
    holder = subprocess.Popen(
        [sys.executable, "-S", "-c", HOLD, str(work)], env=environment(), stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    return holder
