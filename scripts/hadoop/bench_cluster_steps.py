"""Seconds and jobs of each step of a run on Hadoop, and how much of them is starting.

Run inside the one-node Hadoop of scripts/hadoop, on archives so small that nearly all is starting:

    python -m hadoop run python scripts/hadoop/bench_cluster_steps.py ARCHIVE… [--json FILE]

Jobs are those that YARN lists with the folder of datasets in their tag, each counted for the step
that it ended in. `--before steps.json` shows an earlier table beside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from crawlrank.jobs.mapreduce.runners.applications import tag_of

APPLICATIONS = "http://127.0.0.1:8088/ws/v1/cluster/apps?applicationTags="
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--options", default="--iterations 2", help="of `crawlrank run`")
    parser.add_argument("--reducers", type=int, default=2)
    parser.add_argument("--before", type=Path, help="the JSON of an earlier run, to compare with")
    parser.add_argument("--json", type=Path, help="where to write the rows")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        words = [*options.options.split(), "--reducers", str(options.reducers)]
        rows = measure(options.archives, words, Path(tmp))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    before = json.loads(options.before.read_text()) if options.before else None
    print("\n".join(table(rows, before)))


def measure(archives: list[Path], words: list[str], tmp: Path) -> list[Row]:
    """A row a step: its name, seconds, jobs and, where the manifest tells, seconds of starting."""
    data = f"hdfs:///bench-{uuid.uuid4().hex}"
    conf = tmp / "mrjob.conf"
    conf.write_text(json.dumps({"runners": {"hadoop": {"python_bin": sys.executable}}}))
    begun = time.time()
    subprocess.run(
        [
            sys.executable, "-m", "crawlrank", "run", *map(str, archives), "--work", tmp / "work",
            "--runner", "hadoop", "--data", data, "--cluster-conf", conf, "--no-validate", *words,
        ],
        check=True,
    )  # fmt: skip
    whole = time.time() - begun
    steps = json.loads((tmp / "work" / "manifest.json").read_text())["steps"]
    ended = sorted(application["finishedTime"] / 1000 for application in applications(data))
    rows, limit = list[Row](), begun
    left = whole - sum(entry["seconds"] for entry in steps.values())
    for name, entry in steps.items():
        limit += entry["seconds"]
        count = sum(when <= limit + left for when in ended)
        del ended[:count]
        rows.append({"step": name, "jobs": count, "seconds": entry["seconds"]})
        rows[-1]["starting"] = entry.get("starting")
    rows.append({"step": "all", "jobs": sum(row["jobs"] for row in rows), "seconds": whole})
    subprocess.run(["hadoop", "fs", "-rm", "-r", "-skipTrash", data], check=True)
    return rows


def applications(data: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(APPLICATIONS + tag_of(data)) as answer:
        found: list[dict[str, Any]] = json.load(answer)["apps"]["app"]
    return found


def table(rows: list[Row], before: list[Row] | None) -> list[str]:
    """In Markdown."""
    earlier = {row["step"]: row for row in before or ()}
    columns = [*["jobs before", "seconds before"] * bool(before), "jobs", "seconds", "starting"]
    lines = [f"| step | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        old = [earlier[row["step"]][name] for name in ("jobs", "seconds") if before]
        cells = [*old, row["jobs"], row["seconds"], row.get("starting")]
        lines.append(f"| {row['step']} | {' | '.join(map(shown, cells))} |")
    return lines


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
