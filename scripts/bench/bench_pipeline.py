"""What each step of `crawlrank run` takes on real archives, and the same by the jobs.

    python scripts/bench/bench_pipeline.py ARCHIVE… [--mb 50] [--json FILE]

The archives are repeated under other host names, which are as long, up to --mb.
A run on one of them comes first, so that nothing is compiled in those that count. The later steps
are to take less than 30 % of extraction's time. They run twice, the second time alone, which tells
their share of the CPU seconds too: on a machine with other work the clock says little.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from measuring import watched

from crawlrank.pipeline.workfolder.manifest import Manifest

SHARE = 0.30
LEVEL = 6  # of gzip, as crawlers write
_HOST = re.compile(rb"(?<=://)((?:[a-z0-9-]+\.)*)(?!xn--)([a-z0-9-]+)(?=\.[a-z]{2,}[:/\s\"'<])")
_START = re.compile(rb"^WARC/1\.[01]\r\n", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path, help="WARC files, each record a member")
    parser.add_argument("--mb", type=float, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runners", default="embedded,local")
    parser.add_argument("--folder", type=Path, help="where the archives are made, and removed")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-pipeline-", dir=options.folder))
    try:
        archives, size = repeated(options.archives, folder, options.mb * 1e6)
        rows = {}
        for runner in options.runners.split(","):
            measured(runner, archives[:1], folder / f"warm-{runner}", options.jobs)
            rows[runner] = measured(runner, archives, folder / runner, options.jobs)
            print_table(runner, size, rows[runner])
    finally:
        shutil.rmtree(folder)
    if options.json:
        machine = {"python": platform.python_version(), "cores": os.cpu_count()}
        told = {"mb": size / 1e6, "jobs": options.jobs, "machine": machine, "runners": rows}
        options.json.write_text(json.dumps(told, indent=1) + "\n")


def repeated(archives: list[Path], folder: Path, wanted: float) -> tuple[list[Path], int]:
    """Archives of other hosts until they have as many bytes, and how many those are."""
    made: list[Path] = []
    size = turn = 0
    while size < wanted:
        for archive in archives:
            made.append(copied(archive, folder, turn))
            size += made[-1].stat().st_size
        turn += 1
    return made, size


def copied(archive: Path, folder: Path, turn: int) -> Path:
    """The archive with a member a record; for a turn above 0, up to 25, with other hosts.

    Each letter of a host's last label but one is shifted, so that different hosts
    stay different.
    """
    letters = ascii_lowercase.encode()
    shifted = bytes.maketrans(letters, letters[turn:] + letters[:turn])
    with gzip.open(archive) as old:
        records = _HOST.sub(lambda found: found[1] + found[2].translate(shifted), old.read())
    path = folder / f"{turn:02}-{archive.name}"
    path.write_bytes(_members(records))
    return path


def _members(records: bytes) -> bytes:
    starts = [found.start() for found in _START.finditer(records)]
    ends = [*starts[1:], len(records)]
    return b"".join(
        gzip.compress(records[begin:end], LEVEL) for begin, end in zip(starts, ends, strict=True)
    )


def measured(runner: str, archives: list[Path], work: Path, jobs: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "crawlrank", "run", *map(str, archives), "--work", str(work)]
    command += ["--runner", runner, "--jobs", str(jobs), "--tolerance", "1e-9", "--quiet"]
    run = watched(command, work)
    manifest = Manifest(work)
    told = dict(manifest.steps)
    steps = {name: entry["seconds"] for name, entry in told.items()}
    later = sum(steps.values()) - steps["extract-links"]
    manifest.forget(steps.keys() - {"extract-links"})
    alone = watched(command, work)  # with a start of the program, which counts as theirs
    return {
        "rows": told["extract-links"]["rows"],
        "steps": steps,
        "later": later,
        "share": later / steps["extract-links"],
        "later_cpu": alone.cpu,
        "cpu_share": alone.cpu / (run.cpu - alone.cpu),
        "wall": run.wall,
        "cpu": run.cpu,
        **vars(run.peaks),
    }


def print_table(runner: str, size: int, row: dict[str, Any]) -> None:
    counts = ", ".join(f"{count:,} {name}" for name, count in row["rows"].items())
    print(f"\n{runner}: {size / 1e6:.0f} MB, {counts}")
    for name, seconds in row["steps"].items():
        print(f"{name:<20}{seconds:>10.2f} s{seconds / row['wall']:>8.1%}")
    print(f"{'start and end':<20}{row['wall'] - sum(row['steps'].values()):>10.2f} s")
    print(f"{'all':<20}{row['wall']:>10.2f} s, {row['cpu']:.1f} CPU s, {row['rss_mb']:.0f} MB")
    verdict = "kept" if row["share"] < SHARE else "missed"
    print(f"later steps are {row['share']:.1%} of extraction: below {SHARE:.0%} is {verdict}")
    print(f"of CPU seconds, {row['later_cpu']:.1f}: {row['cpu_share']:.1%}")


if __name__ == "__main__":
    main()
