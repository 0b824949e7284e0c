"""Time and memory of lists of pages, with and without filters, on a made ranking.

    scripts/take/bench_take.py --folder work/take [--pages 10000000] [TASK …] [--json FILE]

The datasets are those of a run of the embedded engine, made by DuckDB without archives: 50,000
hosts, a capture for nine in ten pages, a second spelling and a redirect from it for one in ten.
Each task is done by a process of its own; told are its peak of resident memory and its seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # as the command has it

import duckdb

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.pipeline.precedence import page_table  # noqa: E402
from crawlrank.pipeline.precedence.export import (  # noqa: E402
    export_filtered_precedence,
    export_scores,
)
from crawlrank.pipeline.precedence.filters import PageFilters, conditions  # noqa: E402
from crawlrank.pipeline.precedence.options import PrecedenceOptions  # noqa: E402
from crawlrank.pipeline.precedence.page_table import RankedPages  # noqa: E402

PATH = "site' || (i % 50000) || '.example.org/folder/page-' || i || '.html'"
KEY = "'org,example,site' || (i % 50000) || ')/folder/page-' || i || '.html' AS key"
DATASETS = {
    "scores": f"""SELECT 0.15 + 100.0 / (1 + hash(i) % 5000) AS score, 'http://{PATH} AS uri, {KEY}
        FROM range({{pages}}) t(i) ORDER BY 1 DESC, 3""",
    "uris": f"""SELECT {KEY}, 'http://{PATH} AS uri, (i % 10 > 0)::BIGINT AS captures, 3 AS links
        FROM range({{pages}}) t(i) UNION ALL
        SELECT {KEY}, 'https://{PATH} AS uri, 1, 1 FROM range(0, {{pages}}, 10) t(i)""",
    "visited": f"""SELECT 'http://{PATH} AS uri, strftime(make_timestamp((1767225600 + i % 86400)
        * 1000000), '%Y%m%d%H%M%S') AS timestamp, CASE i % 20 WHEN 1 THEN 404 ELSE 200 END AS
        status, CASE i % 5 WHEN 1 THEN 'image/png' ELSE 'text/html' END AS media_type, 'LL' AS hops
        FROM range({{pages}}) t(i) WHERE i % 10 > 0 UNION ALL
        SELECT 'https://{PATH}, '20260201000000', 301, 'text/html', 'LR'
        FROM range(0, {{pages}}, 10) t(i)""",
    "redirected": f"""SELECT 'https://{PATH} AS source, 'http://{PATH} AS target
        FROM range(0, {{pages}}, 10) t(i)""",
    "degrees": f"SELECT {KEY}, i % 7 AS links_in, i % 9 AS links_out FROM range({{pages}}) t(i)",
}
FILTERS = PageFilters(
    captured=True, status=("200",), types=("html",), hosts=("*.example.org",), match="page-.*[0-4]"
)
#: task -> the format, and the filters
TASKS = {
    "csv": ("csv", PageFilters()),
    "jsonl": ("jsonl", PageFilters()),
    "parquet": ("parquet", PageFilters()),
    "nutch": ("nutch", PageFilters()),
    "csv, filtered": ("csv", FILTERS),
    "seeds, filtered": ("seeds", FILTERS._replace(top=1_000_000)),
    "heritrix, filtered": ("heritrix", FILTERS),
}


class MadeRun:
    """A crawl like a finished run: views of datasets in files."""

    has_uris = True

    def __init__(self, db: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.db, self._folder = db, folder

    def view(self, name: str) -> str:
        return f"'{self._folder}/{name}.parquet'"

    def reading(self) -> Any:
        return contextlib.nullcontext()


def make(folder: Path, pages: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as db:
        db.execute(f"SET temp_directory = '{folder}/spilled'")
        for name, query in DATASETS.items():
            path = folder / f"{name}.parquet"
            db.execute(f"COPY ({query.format(pages=pages)}) TO '{path}' (FORMAT parquet)")


def do(task: str, folder: Path) -> dict[str, Any]:
    """Do the task in this process; what it took."""
    form, filters = TASKS[task]
    page_table.open_finished = lambda work, db, near, name: MadeRun(db, folder)  # type: ignore
    ranked = RankedPages(folder / "scores.parquet", folder / "uris.parquet", folder)
    options, chosen = PrecedenceOptions(), conditions(filters)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder) as tmp:
        output = Path(tmp, "output")
        if form == "heritrix":
            given = ranked, output, Path(tmp), options, filters, chosen
            pages = export_filtered_precedence(*given)[0].uris
        else:
            written = export_scores(ranked, output, Path(tmp), options, form, filters, chosen)
            pages = written.pages
        size = output.stat().st_size
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    seconds = time.perf_counter() - began
    return {"task": task, "lines": pages, "bytes": size, "seconds": seconds, "peak_mb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--do", metavar="TASK", help=argparse.SUPPRESS)
    given = parser.parse_args()
    folder = given.folder.resolve()
    if given.do:
        print(json.dumps(do(given.do, folder)))
        return
    make(folder, given.pages)
    results = []
    print(f"{given.pages:,} pages\n{'task':<20}{'lines':>12}{'MB':>8}{'seconds':>9}{'MB peak':>9}")
    for task in given.tasks:
        command = [sys.executable, __file__, "--folder", str(folder), "--do", task]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        result = json.loads(done.stdout.splitlines()[-1])
        results.append(result)
        print(
            f"{task:<20}{result['lines']:>12,}{result['bytes'] / 1e6:>8.0f}"
            f"{result['seconds']:>9.1f}{result['peak_mb']:>9.0f}",
            flush=True,
        )
    if given.json:
        given.json.write_text(json.dumps({"pages": given.pages, "tasks": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
