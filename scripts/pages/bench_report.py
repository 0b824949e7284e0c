"""What `crawlrank report` takes: seconds, memory, size of the page, and its tables in a browser.

    scripts/pages/bench_report.py WORK… [--links N] [--folder DIR] [--memory 4GB] [--json FILE]

WORK: work folders of finished runs. --links: also a made crawl with this number of links
(made_crawl.py), which is run first. Memory is that of all processes together, resident without what
is a file's. With the extra crawlrank[browser] and Chromium, the last lines are the milliseconds of
a search and of an order in a table of 10,000 pages, medians of nine, until they are laid out."""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("", "tests", "scripts", "scripts/bench")]

from measuring import watched  # noqa: E402

COMMAND = [sys.executable, "-m", "crawlrank"]
PAGES, TIMES = 10_000, 9
#: what to do in the page, and how long it took
TIMED = """act => {
    const table = new DataTable('#best-pages'), begun = performance.now();
    if (act === 'search') table.search('page-77').draw();
    else table.order([[4, 'desc'], [0, 'asc']]).draw();
    document.body.getBoundingClientRect();
    const taken = performance.now() - begun;
    table.search('').order([]).draw();
    return taken;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, nargs="*")
    parser.add_argument("--links", type=int)
    parser.add_argument("--folder", type=Path, help="where a crawl is made, and removed again")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {"reports": [], "browser": None}
    with tempfile.TemporaryDirectory(dir=options.folder) as tmp:
        works = [*options.work, *([made(Path(tmp), options)] if options.links else [])]
        for work in works:
            results["reports"].append(measured(work, Path(tmp), options.memory))
        if works:
            results["browser"] = in_browser(works[0], Path(tmp))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


def made(tmp: Path, options: argparse.Namespace) -> Path:
    making = [sys.executable, str(ROOT / "scripts" / "bench" / "made_crawl.py"), str(tmp)]
    subprocess.run([*making, "--links", str(options.links)], check=True)
    command = [*COMMAND, "run", str(tmp / "archives"), "--work", str(tmp / "work"), "--no-validate"]
    subprocess.run([*command, "--memory", options.memory, "--quiet"], check=True, cwd=ROOT)
    return tmp / "work"


def measured(work: Path, tmp: Path, memory: str) -> dict[str, Any]:
    page, document = tmp / "report.html", tmp / "report.json"
    outputs = ["--output", str(page), "--json", str(document), "--memory", memory]
    taken = watched([*COMMAND, "report", "--work", str(work.resolve()), *outputs])
    graph = json.loads(document.read_text())["graph"]
    row = {
        "pages": graph["nodes"],
        "links": graph["edges"],
        "seconds": taken.wall,
        "cpu": taken.cpu,
        "mb": taken.peaks.anonymous_mb,
        "bytes": page.stat().st_size,
    }
    print(
        f"{row['pages']:,} pages, {row['links']:,} links: {taken.wall:.1f} s,"
        f" {taken.cpu:.1f} s of CPU, {taken.peaks.anonymous_mb:,.0f} MB;"
        f" the page has {row['bytes'] / 1e6:.2f} MB"
    )
    return row


def in_browser(work: Path, tmp: Path) -> dict[str, float] | None:
    """Milliseconds in a table of PAGES pages, those of a real report over and over."""
    if not shutil.which("chromium") or not importlib.util.find_spec("playwright"):
        return None
    from support.systems.browser import chromium, opened

    from crawlrank.pipeline.analysis.report.html import report_page

    document = json.loads((tmp / "report.json").read_text())
    first = document["scores"]["best"][0]
    document["scores"]["best"] = [
        first | {"position": n + 1, "uri": f"http://host{n % 97}.example/page-{n}"}
        for n in range(PAGES)
    ]
    large = tmp / "large.html"
    large.write_text(report_page(document))
    with chromium() as browser, opened(browser, large) as shown:
        taken = {
            act: statistics.median(shown.page.evaluate(TIMED, act) for _ in range(TIMES))
            for act in ("search", "order")
        }
    print(f"a table of {PAGES:,} pages, in a page of {large.stat().st_size / 1e6:.2f} MB:")
    print(", ".join(f"{act} {milliseconds:.0f} ms" for act, milliseconds in taken.items()))
    return taken


if __name__ == "__main__":
    main()
