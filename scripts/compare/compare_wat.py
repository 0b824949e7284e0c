"""Print how the links of a WARC and of the WAT made from it differ, by category.

    python scripts/compare/compare_wat.py > tests/data/wat_table.tsv

A category is the kind of document that the WARC's link is in and, for a page, the attribute.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.jobs.kernel.archive.records import Record  # noqa: E402
from crawlrank.jobs.kernel.archive.sources import read_records  # noqa: E402
from crawlrank.jobs.kernel.archive.wat import described  # noqa: E402
from crawlrank.jobs.kernel.captures.extraction import extract  # noqa: E402
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions  # noqa: E402
from crawlrank.jobs.kernel.formats.rows import Capture, Link  # noqa: E402
from crawlrank.jobs.kernel.keys.uris import as_crawled  # noqa: E402
from crawlrank.jobs.kernel.links.body_links import body_links  # noqa: E402
from crawlrank.jobs.kernel.links.documents import document  # noqa: E402
from crawlrank.jobs.kernel.storage.opening import opened  # noqa: E402

HEADER = "file\tlinks\tcategory\tboth\tonly WARC\tonly WAT"
PAIRS = {
    "archivesunleashed-aut/warc__example.warc.gz": "wat/warc__example.wat.gz",
    "oduwsdl-ipwb/samples__warcs__sample-1.warc.gz": "wat/samples__warcs__sample-1.wat.gz",
    "../heritrix/first.warc.gz": "wat/first.wat.gz",
}
Categories = dict[tuple[bytes, bytes, bytes], str]  # link -> category


def links_and_captures(path: Path, kept: str) -> tuple[set[Link], set[Capture]]:
    with opened(path) as stream:
        items = list(extract(stream, "-", ExtractionOptions(links=kept), Counter()))  # type: ignore[arg-type]
    captures = {item._replace(offset=b"-") for item in items if isinstance(item, Capture)}
    return {item for item in items if isinstance(item, Link)}, captures


def categories(path: Path) -> Categories:
    """Where each link of an archive's bodies stands; the first place counts."""
    found: Categories = {}
    with opened(path) as stream:
        for record in map(described, read_records(stream, "-")):
            uri = as_crawled(record.uri) if isinstance(record, Record) else ""
            if not isinstance(record, Record) or isinstance(uri, str):
                continue
            name = document(record.media_type, record.body, record.uri)
            if name and name != "pdf" and record.kind in ("response", "resource"):
                links = body_links(name, record.body, uri.decode(), record.media_type, Counter())
                for targets, hop, context, *_ in links:
                    place = context if name == "html" else name
                    for target in targets:
                        found.setdefault((target, uri, hop.encode()), place)
    return found


def rows(folder: Path, warc: str, wat: str) -> Iterator[str]:
    known = {**categories(folder / wat), **categories(folder / warc)}
    for kept in ("nav", "all"):
        (links, captures), (others, other_captures) = (
            links_and_captures(folder / name, kept) for name in (warc, wat)
        )
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for link in links | others:
            place = 2 if link not in links else 1 if link not in others else 0
            counts[known.get(link[:3], "metadata, header")][place] += 1
        counts["captures"] = [
            len(captures & other_captures),
            len(captures - other_captures),
            len(other_captures - captures),
        ]
        for category, numbers in sorted(counts.items()):
            yield "\t".join([warc.rpartition("/")[2], kept, category, *map(str, numbers)])


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/reference/archives"
    print(HEADER)
    for warc, wat in PAIRS.items():
        for line in rows(folder, warc, wat):
            print(line)


if __name__ == "__main__":
    main()
