"""A work folder of `crawlrank run` in which extraction is done: links and captures of a made web.

    python scripts/bench/made_crawl.py FOLDER --links N

The web is that of synthetic.py: two thirds of the pages are known from links alone. Pages come as
a crawler takes them, some of a host in a row, then some of another. More than 50 million links are
several such webs, for want of memory: their hosts alternate in the order of keys, and no link leads
from one to another. FOLDER/archives has a file for each archive, which holds its name only.
FOLDER/work has what extraction would have left.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from synthetic import web_like

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Capture
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter
from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.progress.run_state import Running
from crawlrank.pipeline.run.run import PipelineRun, RunStep
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask
from crawlrank.pipeline.workfolder.lock import locked
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.work_folder import temporary

LINKS_AN_ARCHIVE = 2_000_000
LINKS_A_WEB = 50_000_000
IN_A_ROW = 100  # pages
HOST = 50  # pages of a made host
OTHER_SPELLINGS = 0.02  # of all links
NAVIGATION = [b"L"]

Ints = npt.NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--links", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    make(options.folder, options.links, options.seed)


class Made(EmbeddedEngine):
    """Extracts what is made, whatever is in the archives."""

    pages: Iterator[Iterator[tuple[bytes, list[bytes]]]]

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        for name in ("links", "captures"):
            self.path(name).mkdir(exist_ok=True)
        for task, pages in zip(tasks, self.pages, strict=True):
            counters = write(self.work, task.part, str(task.archive), pages)
            yield task, ArchiveReport(str(task.archive), task.part, counters)


class Extraction(PipelineRun):
    """The first step of a run, by the code of all runs, so that the folder is as they leave it."""

    def _steps(self) -> list[RunStep]:
        return super()._steps()[:1]


def make(folder: Path, links: int, seed: int) -> None:
    archives, work = folder / "archives", folder / "work"
    for path in (archives, work):
        path.mkdir(parents=True)
    count = -(-links // LINKS_AN_ARCHIVE)
    for number in range(count):
        (archives / f"{number:05}.warc").write_text(f"made, archive {number} of {count}\n")
    options, reporter = RunOptions(), Reporter()
    with locked(work) as lock, temporary(work) as tmp:
        engine = Made(work, tmp, half_of_machine(), 1, reporter.read)
        engine.pages = crawled(links, seed, count)
        running = Running(lock, Manifest(work))
        Extraction(work, options, engine, reporter, running).all_steps(sorted(archives.iterdir()))


def crawled(
    links: int, seed: int, archives: int, most: int = LINKS_A_WEB
) -> Iterator[Iterator[tuple[bytes, list[bytes]]]]:
    """The pages of each archive with their links, web after web. most: links of a web."""
    webs = -(-links // most)
    for web, some in enumerate(np.array_split(np.arange(archives), webs)):
        yield from _crawled(links // webs, seed + web, len(some), (web, webs))


def _crawled(
    links: int, seed: int, archives: int, place: tuple[int, int]
) -> Iterator[Iterator[tuple[bytes, list[bytes]]]]:
    rng = np.random.default_rng(seed)
    nodes, sources, targets = web_like(links, seed)
    uris = spellings(nodes, rng, *place)
    other = rng.random(len(targets)) < OTHER_SPELLINGS
    targets = np.where(other, targets + nodes, targets).astype(np.int32)
    offsets = np.searchsorted(sources, np.arange(nodes + 1))
    del sources
    runs = rng.permutation(-(-nodes // IN_A_ROW))

    def pages(some: Ints) -> Iterator[tuple[bytes, list[bytes]]]:
        for run in some.tolist():
            for page in range(run * IN_A_ROW, min(nodes, (run + 1) * IN_A_ROW)):
                begin, end = offsets[page : page + 2]
                if end > begin:
                    to = targets[begin:end].tolist()
                    yield uri_of(uris, page, nodes), [uri_of(uris, t, nodes) for t in to]

    for some in np.array_split(runs, archives):
        yield pages(some)


def spellings(nodes: int, rng: np.random.Generator, web: int, webs: int) -> list[bytes]:
    """A URI for each page of a web, hosts and paths in the order of their keys."""
    words = rng.integers(0, 1 << 40, nodes).tolist()
    return [
        b"http://site%07d.example/%02d/story-%010x.html"
        % (page // HOST * webs + web, page % HOST, word)
        for page, word in enumerate(words)
    ]


def uri_of(uris: list[bytes], number: int, nodes: int) -> bytes:
    """The URI of a page; from `nodes` on another spelling of it, which has the same key."""
    if number < nodes:
        return uris[number]
    return uris[number - nodes].replace(b"http://", b"https://www.", 1)


def write(
    work: Path, part: str, archive: str, pages: Iterator[tuple[bytes, list[bytes]]]
) -> dict[str, int]:
    """The parts of an archive; its counters."""
    name = archive.encode()
    with (
        LinksWriter(work / "links" / part) as links,
        CapturesWriter(work / "captures" / part) as captures,
    ):
        for number, (uri, targets) in enumerate(pages):
            links.add(uri, targets, NAVIGATION * len(targets))
            captures.add([capture(uri, name, number)])
    return {"captures": captures.rows, "links": links.rows}


def capture(uri: bytes, archive: bytes, number: int) -> Capture:
    unknown = dict.fromkeys(Capture._fields, b"-")
    told = {
        "uri": uri, "timestamp": b"20240506070809", "status": b"200", "media_type": b"text/html",
        "kind": b"response", "archive": archive, "offset": b"%d" % (1000 * number),
    }  # fmt: skip
    return Capture(**{**unknown, **told})


if __name__ == "__main__":
    main()
