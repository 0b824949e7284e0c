#!/usr/bin/env python3
"""What `crawlrank run --dry-run` says of a run beside what the run takes.

    scripts/costs/compare_estimates.py [--reference DIR] [--turns 3] [--links 2] [--page]

Three crawls: DIR/archives/ics-uci, the archives of sample_data, and a made one, with the links of
scripts/bench/synthetic.py in pages of an archive (millions of links: --links). Estimate and run
take turns, so that both have the machine's other programs for company; medians count. A run comes
first that does not count. --page puts the table into docs/estimate.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "bench"))

import measuring  # noqa: E402
from made_crawl import crawled  # noqa: E402

from crawlrank.pipeline.workfolder.manifest import Manifest  # noqa: E402

PAGE = ROOT / "docs" / "estimate.md"
COMMAND = (sys.executable, "-m", "crawlrank", "run")
ARCHIVES, LEVEL = 3, 6  # of the made crawl; of gzip
WORDS = 120  # of a made page
#: what is compared -> its name in the JSON, its unit and how many there are in one
KINDS = {
    "time": ("seconds", "s", 1.0),
    "memory": ("memory_bytes", "MB", 1e6),
    "disk": ("disk_bytes_most", "MB", 1e6),
    "URIs": ("uris", "", 1.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", type=Path, default=ROOT.parent / "shared" / "reference")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--links", type=float, default=2, help="millions, of the made crawl")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    measuring.DISK_LOOKS = 1
    folder = Path(tempfile.mkdtemp(prefix="compare-estimates-"))
    try:
        crawls = {
            "www.ics.uci.edu": sorted((options.reference / "archives" / "ics-uci").glob("*.gz")),
            "the sample crawl": sorted((ROOT / "sample_data").glob("*.gz")),
            "made": made(folder / "made", int(options.links * 1e6)),
        }
        rows = [compared(name, paths, folder, options.turns) for name, paths in crawls.items()]
    finally:
        shutil.rmtree(folder)
    table = as_table(rows)
    print(table, end="")
    if options.page:
        rest, mark, behind = PAGE.read_text().partition("<!-- compared -->\n")
        PAGE.write_text(f"{rest}{mark}{table}<!-- end -->{behind.partition('<!-- end -->')[2]}")


def made(folder: Path, links: int) -> list[Path]:
    """Archives of a made crawl, a gzip member a record, as crawlers write them."""
    folder.mkdir()
    draw, words = Random(1), [f"{n:x}" for n in range(4096, 65536, 61)]
    paths = [folder / f"made-{number}.warc.gz" for number in range(ARCHIVES)]
    for path, pages in zip(paths, crawled(links, 1, ARCHIVES), strict=True):
        with path.open("wb") as stream:
            for uri, targets in pages:
                text = " ".join(draw.choices(words, k=WORDS)).encode()
                anchors = b"\n".join(b'<a href="%s">link</a>' % target for target in targets)
                stream.write(gzip.compress(_record(uri, b"<p>%s\n%s" % (text, anchors)), LEVEL))
    return paths


def _record(uri: bytes, body: bytes) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html>" + body
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\n"
        b"WARC-Date: 2024-05-06T07:08:09Z\r\nContent-Type: application/http; msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (uri, len(block), block)
    )


def compared(name: str, archives: Sequence[Path], folder: Path, turns: int) -> dict[str, Any]:
    """Medians of estimates and runs, in turn."""
    real(archives, folder / "work")
    runs, estimates = [], []
    for _ in range(turns):
        estimates.append(estimated(archives, folder / "work"))
        runs.append(real(archives, folder / "work"))
    row: dict[str, Any] = {
        "name": name,
        "mb": sum(path.stat().st_size for path in archives) / 1e6,
        "sampled": 100 * median(each["sampled"] for each in estimates),
        "processor": median(each["processor"] for each in runs),
        "dry": median(each["dry"] for each in estimates),
        "load": os.getloadavg()[0],
    }
    for kind in KINDS:
        row[kind] = median(each[kind] for each in runs)
        row[f"{kind} estimated"] = median(each[kind] for each in estimates)
        row[f"{kind} low"] = median(each[f"low {kind}"] for each in estimates)
        row[f"{kind} high"] = median(each[f"high {kind}"] for each in estimates)
    print(row, file=sys.stderr, flush=True)
    return row


def real(archives: Sequence[Path], work: Path) -> dict[str, float]:
    """Seconds, bytes of memory and of disk of a run."""
    command = [*COMMAND, *map(str, archives), "--work", str(work), "--quiet"]
    took = measuring.watched(command, work)
    uris = Manifest(work).steps["canonicalize"]["rows"]["uris"]
    shutil.rmtree(work)
    return {
        "time": took.wall, "processor": took.cpu, "memory": took.peaks.pss_mb * 1e6,
        "disk": took.most_bytes, "URIs": uris,
    }  # fmt: skip


def estimated(archives: Sequence[Path], work: Path) -> dict[str, float]:
    command = [*COMMAND, *map(str, archives), "--work", str(work), "--quiet"]
    before = os.times().elapsed
    done = subprocess.run(
        [*command, "--dry-run", "--json", "-"], cwd=ROOT, capture_output=True, check=True
    )
    took = os.times().elapsed - before
    if work.exists():
        sys.exit(f"{work}: the dry run left something there")
    document = json.loads(done.stdout)
    result: dict[str, float] = {}
    for kind, (name, _, _) in KINDS.items():
        bracket = document.get(name) or document["rows"][name]
        result |= {
            kind: bracket["value"], f"low {kind}": bracket["low"], f"high {kind}": bracket["high"]
        }  # fmt: skip
    return {**result, "sampled": document["sampled_bytes"] / document["bytes"], "dry": took}


def as_table(rows: Sequence[dict[str, Any]]) -> str:
    """The table as Markdown: for each crawl what was estimated, what it took, and the ratio."""
    lines = [
        "| crawl | | estimated | from | to | run | estimated to run |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = f"{row['name']}, {row['mb']:.1f} MB, {row['sampled']:.0f} % sampled"
        for kind, (_, unit, scale) in KINDS.items():
            values = (row[f"{kind} estimated"], row[f"{kind} low"], row[f"{kind} high"], row[kind])
            digits = 1 if unit else 0
            cells = [f"{value / scale:,.{digits}f} {unit}".rstrip() for value in values]
            ratio = row[f"{kind} estimated"] / row[kind]
            lines.append(f"| {name} | {kind} | {' | '.join(cells)} | {ratio:.2f} |")
            name = ""
        lines.append(f"| | processor, of the run | | | | {row['processor']:.1f} s | |")
        lines.append(f"| | time of the dry run | | | | {row['dry']:.1f} s | |")
    return "\n".join(lines).replace("|  |", "| |") + "\n"


if __name__ == "__main__":
    main()
