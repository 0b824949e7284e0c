"""Where the time of extraction goes: each stage is the time of all up to it, less that of the stage
before, so that no clock runs inside a loop. And the step by a pool of processes. Used by
scripts/bench/bench_extract.py --profile and --processes."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawlrank.jobs.kernel.archive.frames import zlib
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.captures.extraction import extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import LinkRun
from crawlrank.jobs.kernel.keys.keys import KeyFunction, key_function
from crawlrank.jobs.kernel.links.documents import document
from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions, selection_for
from crawlrank.jobs.kernel.links.html_links import html_link_groups
from crawlrank.jobs.kernel.markup import scanner as scanning
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.markup.scanner import Scanner
from crawlrank.pipeline.engines.embedded.extraction import extract_archives
from crawlrank.pipeline.workfolder.archives import archive_tasks, given_archives

BLOCK = 2**16
NAV = HtmlOptions(nav=True)


def inflate(archives: list[Path]) -> None:
    """Inflating alone, frame by frame, and nothing looked at."""
    for archive in archives:
        with archive.open("rb") as stream:
            rest = b""
            while data := rest or stream.read(BLOCK):
                frame = zlib.decompressobj(31)
                while data and not frame.eof:
                    frame.decompress(data)
                    rest, data = frame.unused_data, b"" if frame.eof else stream.read(BLOCK)


def records(archives: list[Path]) -> Iterator[Record]:
    for archive in archives:
        with archive.open("rb") as stream:
            for item in read_records(stream, archive.name):
                if isinstance(item, Record):
                    yield item


def pages(archives: list[Path]) -> Iterator[Record]:
    for record in records(archives):
        if document(record.media_type, record.body, record.uri) == "html":
            yield record


def read(archives: list[Path]) -> None:
    for _ in records(archives):
        pass


def prepare(archives: list[Path]) -> None:
    for page in pages(archives):
        PageText(page.body, page.media_type)


def scan(archives: list[Path]) -> None:
    selection = selection_for(PageText(b""), NAV)
    scanner = Scanner(selection.names, selection.attributes)
    for page in pages(archives):
        scanner.scanned(PageText(page.body, page.media_type).markup)


def select(archives: list[Path]) -> None:
    for page in pages(archives):
        Document(PageText(page.body, page.media_type), NAV)


def join(archives: list[Path]) -> None:
    counters: Counter[str] = Counter()
    for page in pages(archives):
        for _ in html_link_groups(page.body, page.uri, page.media_type, counters, options=NAV):
            pass


def runs(archives: list[Path], *, titles: bool = False) -> Iterator[LinkRun]:
    options = ExtractionOptions(titles=titles)
    for archive in archives:
        with archive.open("rb") as stream:
            for item in extract_runs(stream, archive.name, options, Counter()):
                if isinstance(item, LinkRun):
                    yield item


def collect(archives: list[Path], *, titles: bool = False) -> None:
    for _ in runs(archives, titles=titles):
        pass


def keys(archives: list[Path], key_of: KeyFunction) -> None:
    for run in runs(archives):
        key_of(run.source)
        for target in run.targets:
            key_of(target)


STAGES = {
    "inflate": (inflate, "zlib-ng"),
    "read": (read, "records, headers, bodies"),
    "prepare": (prepare, "kind of document, charset"),
    "scan": (scan, "one pass over the bytes"),
    "select": (select, "tags by the rules, and pages that are left to lexbor"),
    "join": (join, "references to targets"),
    "links": (collect, "captures, distinct links, counters"),
}


def profile(archives: list[Path], repeat: int) -> list[tuple[str, float, str]]:
    """(stage, its processor seconds, what it does); the least of `passes` for each. The last one
    comes with an option."""
    passes: dict[str, tuple[Callable[[], None], str]] = {
        name: (partial(run, archives), what) for name, (run, what) in STAGES.items()
    }
    passes["key"] = (lambda: keys(archives, key_function()), "both ends of a link")
    passes["titles"] = (partial(collect, archives, titles=True), "")
    passes["step"] = (partial(written, archives), "")
    passes["words"] = (partial(written, archives, anchor_text=True), "")
    best = dict.fromkeys(passes, float("inf"))
    for _ in range(repeat):
        for name, (run, _) in passes.items():
            began = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - began)
    titled = best.pop("titles") - best["links"]
    step, words = best.pop("step"), best.pop("words")
    totals = [0.0, *best.values()]
    return [
        *(
            (name, totals[place + 1] - totals[place], passes[name][1])
            for place, name in enumerate(best)
        ),
        ("titles", titled, "with --titles"),
        ("words", words - step, f"with --anchor-text, to Parquet: {words / step - 1:.1%} more"),
    ]


def left_to_parser(archives: list[Path]) -> tuple[int, int]:
    """How many pages there are, and how many of these lexbor has to read."""
    scanning.code = scanning.Code()
    select(archives)
    return scanning.code.pages, scanning.code.parsed


def written(archives: list[Path], processes: int = 1, *, anchor_text: bool = False) -> None:
    """The step extract-links."""
    tasks = archive_tasks(given_archives(archives))
    options = ExtractionOptions(anchor_text=anchor_text)
    with tempfile.TemporaryDirectory() as name:
        tmp = Path(name)
        for _, report in extract_archives(
            tasks, tmp, tmp=tmp, options=options, processes=processes
        ):
            if report.error:
                sys.exit(f"{report.path}: {report.error}")


def pooled(archives: list[Path], processes: int) -> dict[str, float]:
    """Seconds on the clock of the step extract-links, in this process."""
    began = time.perf_counter()
    written(archives, processes)
    return {"wall": time.perf_counter() - began}
