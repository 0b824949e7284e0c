"""Time from archive to canonical links on disk: crawlrank beside what people write today.

    python scripts/bench/bench_extract.py ARCHIVE… [--repeat 3] [--skip soup] [--json FILE]
                                    [--profile] [--processes 2] [--compiled DIR] [--copies 4]

Each way runs in a process of its own, one after the other, in turn; the table gives the median of
processor seconds, and the ratio to crawlrank. All write `target_key source_key` lines, distinct
within a page. Needs the extra `bench` (beautifulsoup4, lxml). --profile: the seconds of each stage,
see scripts/bench/extract_stages.py. --processes: the archives, and one large one that is all of
them sixteen times over, by one process and by a pool of this number; the ratio is of seconds on the
clock, from the start to Parquet on disk. --compiled: crawlrank once more, as `make compiled` leaves
it in DIR. --copies: their number of each archive, under other hosts."""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

ROOT = Path(__file__).resolve().parents[2]
Child = subprocess.Popen[str]
COPIES = 16  # of the archives, in the large one


def html_responses(path: Path) -> Iterator[tuple[str, bytes]]:
    """URI and body of every HTML page, as warcio gives them."""
    from warcio.archiveiterator import ArchiveIterator

    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, arc2warc=True):
            if record.rec_type != "response" or record.http_headers is None:
                continue
            kind = record.http_headers.get_header("Content-Type") or ""
            if record.http_headers.get_statuscode() == "200" and "html" in kind:
                yield (
                    record.rec_headers.get_header("WARC-Target-URI"),
                    record.content_stream().read(),
                )


def write_links(
    archives: list[Path],
    out: Path,
    hrefs: Callable[[bytes], Iterator[str]],
    key: Callable[[str], str],
) -> None:
    """What a competent user writes around a parser."""
    with out.open("w", encoding="utf-8") as lines:
        for archive in archives:
            for uri, body in html_responses(archive):
                source, seen = key(uri), set()
                for href in hrefs(body):
                    try:
                        target = urldefrag(urljoin(uri, href.strip())).url
                        if not target.startswith(("http://", "https://")):
                            continue
                        target_key = key(target)
                    except ValueError:
                        continue
                    if target_key not in seen:
                        seen.add(target_key)
                        lines.write(f"{target_key} {source}\n")


def soup(archives: list[Path], out: Path) -> None:
    """warcio, BeautifulSoup with lxml, urljoin, surt."""
    import surt
    from bs4 import BeautifulSoup

    def hrefs(body: bytes) -> Iterator[str]:
        for anchor in BeautifulSoup(body, "lxml").find_all("a", href=True):
            yield anchor["href"]

    write_links(archives, out, hrefs, surt.surt)


def lexbor(archives: list[Path], out: Path) -> None:
    """warcio, selectolax with lexbor, urljoin, surt behind an lru_cache of a million."""
    import surt
    from selectolax.lexbor import LexborHTMLParser

    def hrefs(body: bytes) -> Iterator[str]:
        for anchor in LexborHTMLParser(body).css("a[href]"):
            yield anchor.attributes["href"] or ""

    write_links(archives, out, hrefs, lru_cache(1_000_000)(surt.surt))


def stack(archives: list[Path], out: Path) -> None:
    """The fastest there are: FastWARC, selectolax with lexbor, ada-url, surt in an lru_cache."""
    import ada_url
    import surt
    from fastwarc.warc import ArchiveIterator, WarcRecordType
    from selectolax.lexbor import LexborHTMLParser

    key = lru_cache(1_000_000)(surt.surt)

    def keys(uri: str, body: bytes) -> Iterator[str]:
        hrefs = (anchor.attributes["href"] for anchor in LexborHTMLParser(body).css("a[href]"))
        for href in dict.fromkeys(hrefs):
            try:
                target = ada_url.join_url(uri, href or "")
            except ValueError:
                continue
            if target.startswith(("http://", "https://")):
                yield key(target.partition("#")[0])

    with out.open("w", encoding="utf-8") as lines:
        for archive in archives:
            with archive.open("rb") as stream:
                for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                    headers = record.http_headers
                    if not headers or headers.status_code != 200:
                        continue
                    if "html" in (record.http_content_type or ""):
                        uri = record.headers["WARC-Target-URI"]
                        source = key(uri)
                        for target in dict.fromkeys(keys(uri, record.reader.read())):
                            lines.write(f"{target} {source}\n")


def crawlrank(archives: list[Path], out: Path) -> None:
    """crawlrank's extraction and keys."""
    from crawlrank.jobs.kernel.captures.extraction import extract_runs
    from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
    from crawlrank.jobs.kernel.formats.rows import LinkRun
    from crawlrank.jobs.kernel.keys.keys import key_of

    with out.open("wb") as lines:
        for archive in archives:
            with archive.open("rb") as stream:
                for run in extract_runs(stream, archive.name, ExtractionOptions(), Counter()):
                    if isinstance(run, LinkRun) and (source := key_of(run.source)):
                        keys = filter(None, map(key_of, run.targets))
                        lines.write((b" %s\n" % source).join([*keys, b""]))


WAYS: dict[str, Callable[[list[Path], Path], None]] = {
    "crawlrank": crawlrank,
    "compiled": crawlrank,
    "stack": stack,
    "lexbor": lexbor,
    "soup": soup,
}


def measure(way: str, archives: list[Path]) -> dict[str, Any]:
    """One run, in this process."""
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp, "links.txt")
        wall, cpu = time.perf_counter(), time.process_time()
        WAYS[way](archives, out)
        told = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        distinct = len(set(out.read_bytes().splitlines()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {**told, "links": distinct, "peak_mib": peak}


def measured(options: argparse.Namespace) -> dict[str, Any]:
    if options.way == "pool":
        from extract_stages import pooled

        return pooled(options.archives, options.processes)
    return measure(options.way, options.archives)


def table(runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """A row for each way: medians, and how many times crawlrank's processor time it took."""
    ours = statistics.median(run["cpu"] for run in runs["crawlrank"])
    rows = []
    for way, told in runs.items():
        cpu = statistics.median(run["cpu"] for run in told)
        row = {"way": way, "cpu": round(cpu, 3), "ratio": round(cpu / ours, 2)}
        row["links"], row["peak_mib"] = told[0]["links"], round(max(r["peak_mib"] for r in told))
        rows.append(row)
    return rows


def run(way: str, archives: list[Path], packages: Path, processes: str = "1") -> Child:
    """packages: the folder that has crawlrank's."""
    command = [sys.executable, __file__, *map(str, archives)]
    command += ["--way", way, "--processes", processes]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def told(process: Child) -> dict[str, Any]:
    output, _ = process.communicate()
    if process.returncode:
        sys.exit(process.returncode)
    row: dict[str, Any] = json.loads(output.splitlines()[-1])
    return row


def several(archives: list[Path], processes: int, repeat: int) -> tuple[float, float]:
    """The least seconds of one process, and of a pool, in turn."""
    walls: dict[int, list[float]] = {1: [], processes: []}
    with tempfile.TemporaryDirectory() as tmp:
        large = Path(tmp, "large.warc.gz")
        large.write_bytes(b"".join(archive.read_bytes() for archive in archives) * COPIES)
        for _ in range(repeat):
            for count, seconds in walls.items():
                pool = run("pool", [large, *archives], ROOT, str(count))
                seconds.append(told(pool)["wall"])
    return min(walls[1]), min(walls[processes])


def print_ways(rows: list[dict[str, Any]]) -> None:
    print(f"{'way':<12}{'cpu s':>8}{'ratio':>8}{'links':>10}{'peak MB':>10}")
    for row in rows:
        numbers = f"{row['cpu']:>8.2f}{row['ratio']:>8.2f}{row['links']:>10,}{row['peak_mib']:>10}"
        print(f"{row['way']:<12}{numbers}")


def stages(archives: list[Path], repeat: int) -> list[dict[str, Any]]:
    """Printed, a row for each stage."""
    from extract_stages import left_to_parser, profile

    names = ("stage", "seconds", "what")
    rows = [dict(zip(names, row, strict=True)) for row in profile(archives, repeat)]
    for row in rows:
        print(f"{row['stage']:<12}{row['seconds']:>8.2f}  {row['what']}")
    pages, parsed = left_to_parser(archives)
    print(f"of {pages:,} pages {parsed:,} are left to lexbor, {parsed / max(1, pages):.2%}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--skip", action="append", default=[], choices=list(WAYS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--compiled", type=Path)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--way", choices=[*WAYS, "pool"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measured(options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.copies > 1:
            sys.path.insert(0, str(ROOT))
            from bench_pipeline import copied

            turns = range(options.copies)
            options.archives = [copied(a, Path(folder), t) for t in turns for a in options.archives]
        figures = compared(options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


def compared(options: argparse.Namespace) -> dict[str, Any]:
    """What was asked for, printed too."""
    packages = dict.fromkeys(WAYS, ROOT)
    if options.compiled:
        packages["compiled"] = options.compiled
    else:
        options.skip.append("compiled")
    runs: dict[str, list[dict[str, Any]]] = {w: [] for w in WAYS if w not in options.skip}
    for _ in range(options.repeat):
        for way in runs:
            runs[way].append(told(run(way, options.archives, packages[way])))
    rows = table(runs)
    print_ways(rows)
    figures: dict[str, Any] = {"runs": runs, "rows": rows}
    if options.profile:
        figures["stages"] = stages(options.archives, options.repeat)
    if options.processes > 1:
        count = options.processes
        one, many = several(options.archives, count, options.repeat)
        print(f"{count} processes: {many:.2f} s for {one:.2f} s, {one / many:.2f} times")
        figures["processes"] = {"count": count, "one": one, "many": many}
    return figures


if __name__ == "__main__":
    main()
