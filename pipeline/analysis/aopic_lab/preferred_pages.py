"""What a crawler prefers, and the order in which it read: from patterns, words and crawl logs.

Preferred pages get more of what the virtual page gives, in proportion to their weights; the total
stays the same. A page that several preferences name has the largest of their weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import ANCHORS
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.formats.usable import usable_key_function
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.pipeline.analysis.aopic_lab.preferences import CrawlPreferences
from crawlrank.pipeline.analysis.audit.crawl_log import LogReport, read_logs
from crawlrank.pipeline.data.datasets import merged
from crawlrank.pipeline.data.graph import Floats, Targets
from crawlrank.pipeline.data.parquet import parquet_batches
from crawlrank.pipeline.ranking.aopic.replay import reads_by_time

NEWLINE = b"\n"


class NamedPages:
    """The pages of a graph. uris: by id. ids: by key, of a run that keeps `www.` or does not."""

    def __init__(self, uris: Mapping[int, str], ids: Mapping[bytes, int], www: Www) -> None:
        self.uris, self._ids, self._key_of = uris, ids, usable_key_function(www=www)

    def id_of(self, uri: bytes) -> int:
        """-1 where it is none of them."""
        key = self._key_of(uri)
        return -1 if key is None else self._ids.get(key, -1)


def favour_of(preferences: CrawlPreferences, pages: NamedPages, nodes: int) -> Floats | None:
    """The weight of every page, float64[N], 1 unless one is preferred; None without preferences.

    Raises BadInput for a file that is none, and where no page is
    preferred.
    """
    if not (preferences.patterns or preferences.words):
        return None
    weights = np.zeros(nodes)
    for pattern, weight in preferences.patterns:
        matches = re.compile(pattern).search
        named = [node for node, uri in pages.uris.items() if matches(uri)]
        _prefer(weights, named, weight, f"--favour {pattern}", "a pattern that is in a URI")
    for file, weight in preferences.words:
        wanted = _words_in(Path(file))
        linked = list(_linked_with(wanted, preferences.anchors, pages))
        _prefer(weights, linked, weight, file, "a word of a link to a page of the graph")
    return np.where(weights > 0, weights, 1.0)


def _prefer(weights: Floats, pages: list[int], weight: float, where: str, expected: str) -> None:
    if not pages:
        raise BadInput(where, "no page is preferred", expected)
    weights[pages] = np.maximum(weights[pages], weight)


def _words_in(file: Path) -> frozenset[str]:
    require_file(file, "words, one a line")
    try:
        lines = file.read_bytes().removeprefix(BOM).decode().split("\n")
    except UnicodeDecodeError as error:
        where = f"{file}, line {error.object.count(NEWLINE, 0, error.start) + 1}"
        what = f"the byte 0x{error.object[error.start]:02x}, which is no UTF-8"
        raise BadInput(where, what, "words, one a line", "Save it in UTF-8.") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise BadInput(str(file), what, "words, one a line") from error
    if not (words := frozenset(line.strip().casefold() for line in lines if line.strip())):
        raise BadInput(str(file), "no word", "words, one a line")
    return words


def _linked_with(wanted: frozenset[str], anchors: Path | None, pages: NamedPages) -> Iterator[int]:
    """The pages that a link with one of these words leads to."""
    if anchors is None:
        cure = "Make them with `crawlrank step extract-links --anchors`."
        raise BadInput("--anchors", "none", "the words of links, for --favour-words", cure)
    for target, words in _anchors_in(anchors):
        if not wanted.isdisjoint(re.findall(r"\w+", words.casefold())):
            node = pages.id_of(target)
            if node >= 0:
                yield node


def _anchors_in(dataset: Path) -> Iterator[tuple[bytes, str]]:
    """(target, words)"""
    if dataset.suffix == ".parquet":
        for batch in parquet_batches(dataset, ["target", "words"]):
            yield from zip(
                map(str.encode, batch["target"].to_pylist()),
                batch["words"].to_pylist(),
                strict=True,
            )
        return
    for line in merged(dataset, None):
        fields = line.rstrip(b"\n").split(b"\t")
        if len(fields) != len(ANCHORS.columns):
            raise BadInput(str(dataset), f"{line[:60]!r}", ANCHORS.expected)
        yield fields[0], fields[2].decode("utf-8", "replace")


def order_in(logs: tuple[Path, ...], named: NamedPages) -> Targets:
    """The pages by the time of their fetches. Raises BadInput for a file that is no crawl.log, and
    where no line is of a page of the graph."""
    pages, times = list[int](), list[int]()
    for batch in read_logs(list(logs), LogReport()):
        pages += [named.id_of(uri.encode()) for uri in batch["uri"].to_pylist()]
        times += batch["begin"].to_pylist()
    order = reads_by_time(np.array(pages, np.int64), np.array(times, np.int64))
    if not len(order):
        raise BadInput(str(logs[0]), "no fetch of a page of the graph", "a log of this crawl")
    return order
