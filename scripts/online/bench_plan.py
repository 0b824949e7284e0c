"""Time and memory of `plan` on made crawls.

    scripts/online/bench_plan.py --folder work/plan [--pages 10000000] [--crawls 3] [--json FILE]

The datasets are those of runs of the embedded engine, made by DuckDB without archives: some pages
of each of 50,000 sites change between two crawls.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # as the command has it

import duckdb

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.pipeline.data.database import database, limit  # noqa: E402
from crawlrank.pipeline.data.memory import Memory, parse_size  # noqa: E402
from crawlrank.pipeline.options import PlanOptions  # noqa: E402
from crawlrank.pipeline.planning.make import FIXED, described, write_files  # noqa: E402

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
#: of page i: its URI and key
NAMES = """'http://www.site' || (i % 50000) || '.example.org/folder/page-' || i || '.html' AS uri,
    'org,example,site' || (i % 50000) || ')/folder/page-' || i || '.html' AS key"""
VIEWS = {
    "spelled": f"SELECT {NAMES}, 1 AS captures, 3 AS links FROM range({{pages}}) t(i)",
    "visited": f"""SELECT {NAMES}, strftime(make_timestamp((1767225600 + {{crawl}} * 2592000
        + i % 86400) * 1000000), '%Y%m%d%H%M%S') AS timestamp, 200 AS status,
        'text/html' AS media_type, 'response' AS kind, 'sha1:' || upper(md5(
        (i || '-' || floor({{crawl}} * (hash(i) % 1000) / 900.0)))) AS digest,
        NULL::VARCHAR AS modified, NULL::VARCHAR AS etag FROM range({{pages}}) t(i)""",
    "nodes": f"""SELECT {NAMES}, 0.15 + 100.0 / (1 + hash(i) % 5000) AS score
        FROM range({{pages}}) t(i)""",
}


class MadeCrawl:
    """A crawl like a finished run: views of datasets in files."""

    def __init__(self, db: duckdb.DuckDBPyConnection, folder: Path, pages: int, crawl: int) -> None:
        self.db, self.work, self.folder = db, folder, folder
        for name, query in VIEWS.items():
            if name != "nodes" or not crawl:
                made = query.format(pages=pages, crawl=crawl)
                db.execute(f"COPY ({made}) TO '{folder}/{name}{crawl}.parquet' (FORMAT parquet)")
        self.crawl = crawl

    def view(self, name: str) -> str:
        number = 0 if name == "nodes" else self.crawl
        return f"'{self.folder}/{name}{number}.parquet'"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--crawls", type=int, default=3)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    made = options.folder / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    with duckdb.connect() as maker:
        crawls: Any = [
            MadeCrawl(maker, made, options.pages, crawl) for crawl in range(options.crawls)
        ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    started, times = time.perf_counter(), os.times()
    budget = Memory(parse_size(options.memory)).budget
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as tmp,
        database(Path(tmp), budget=budget // 2, threads=os.cpu_count() or 1) as (db, near),
    ):
        wanted = PlanOptions(options.pages / 50)
        report = described(db, crawls, crawls[0], wanted, BEGIN, near, budget)
        described_in = time.perf_counter() - started
        limit(db, (budget - FIXED) // 2)
        write_files(db, report.due, ["parquet"], options.folder, {})
    seconds = time.perf_counter() - started
    processor = sum(os.times()[:2]) - sum(times[:2])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"{options.pages:,} pages, {options.crawls} crawls: {seconds:.1f} s, of which")
    print(f"{seconds - described_in:.1f} s for writing files; {processor:.1f} s of processor time;")
    print(f"{peak:,.0f} MB at most ({before:,.0f} before)")
    if options.json:
        result = {"pages": options.pages, "seconds": seconds, "processor": processor, "mb": peak}
        options.json.write_text(json.dumps(result | report.data()) + "\n")
    shutil.rmtree(made)


if __name__ == "__main__":
    main()
