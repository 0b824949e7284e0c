"""Formats of the pages of a ranking for people and for crawlers other than Heritrix, each a
function and a row of FORMATS.

    csv      as pipeline/data/output/spreadsheets.py writes it
    jsonl    an object a line, with the same names
    parquet  the same columns with types
    nutch    `url<TAB>nutch.score=score`, which `nutch inject` reads: no blank beside the tab, as it
             would belong to the name, and a decimal that Java's Float.parseFloat accepts
    seeds    the URIs alone, one a line, for whatever takes such a list
    browsertrix    seeds and scope as YAML (browsertrix.py)

bins: the last class. Pages without score were captured and come last. nutch gets 0.15 for them, the
score that the equation gives to a page without incoming links. Memory: some batches of pages.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.data.output.spreadsheets import csv_pieces
from crawlrank.pipeline.precedence.browsertrix import config_lines
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.bounds import most_wrong, rounded
from crawlrank.pipeline.ranking.sites.names import domain_name, host_name

PAGE = pa.schema(
    [
        ("url", pa.string()), ("score", pa.float64()), ("class", pa.int16()),
        ("position", pa.int64()), ("key", pa.string()), ("captures", pa.int64()),
        ("status", pa.int16()), ("media_type", pa.string()), ("links_in", pa.int64()),
        ("links_out", pa.int64()), ("hops", pa.string()),
    ]
)  # fmt: skip
BOUNDS = pa.schema([("score_rounded", pa.float64()), ("score_error", pa.float64())])
BOUNDED = pa.schema([*[PAGE.field(n) for n in (0, 1)], *BOUNDS, *[*PAGE][2:]])
LISTED = pa.schema([*BOUNDED, ("host", pa.string()), ("site", pa.string())])
REPEATED = ["media_type", "hops", "host", "site"]  # worth a dictionary in Parquet
ROW_GROUP = 1 << 17
HOSTS_KEPT = 1 << 16  # names of hosts in memory
UNFIT = "[\\s\\x00-\\x1f\\x7f#]"  # what a reader of seeds takes for the end of a URI, or drops

PageBatches = Iterator[pa.RecordBatch]  # best first, as BOUNDED where they have all columns
LeftOut = Counter[str]  # why pages are left out, with their numbers


@functools.lru_cache(HOSTS_KEPT)
def _names(part: str) -> tuple[str, str]:
    return host_name(part), domain_name(part)


def with_bounds(pages: pa.RecordBatch, options: PrecedenceOptions) -> pa.RecordBatch:
    """The pages as BOUNDED, of PAGE: with the score that pages are ordered by, which equal ones
    share, and by how much the score may be wrong, if that is known."""
    missing, scores = pages["score"].is_null(), pages["score"].fill_null(1.0).to_numpy()
    shown = pa.array(rounded(scores, options.digits))
    error = scores * np.nan
    if options.eta is not None:
        error = most_wrong(scores, options.eta, options.absolute)
    known = pa.array(error, mask=~np.isfinite(error))
    columns = [pc.if_else(missing, None, column) for column in (shown, known)]
    return pa.record_batch([*pages.columns[:2], *columns, *pages.columns[2:]], BOUNDED)


def with_hosts(pages: pa.RecordBatch) -> pa.RecordBatch:
    """The pages of BOUNDED as LISTED: with the host of each and its registrable domain."""
    parts = pc.list_element(pc.split_pattern(pages["key"], ")", max_splits=1), 0)
    encoded = parts.dictionary_encode()
    names = [_names(part) for part in encoded.dictionary.to_pylist()]
    hosts, sites = ([pair[at] for pair in names] for at in (0, 1))
    columns = [pa.array(each, pa.string()).take(encoded.indices) for each in (hosts, sites)]
    return pa.record_batch([*pages.columns, *columns], LISTED)


def _rows(pages: PageBatches) -> Iterator[tuple[Any, ...]]:
    for batch in pages:
        listed = with_hosts(batch)
        yield from zip(*(column.to_pylist() for column in listed.columns), strict=True)


def _csv(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    return map(str.encode, csv_pieces(LISTED.names, _rows(pages)))


def _jsonl(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    for row in _rows(pages):
        yield json.dumps(dict(zip(LISTED.names, row, strict=True))).encode() + b"\n"


class _Growing:
    """A file that only grows: what was written since it was last taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """All is there at once."""

    def close(self) -> None:
        """The reader takes what is left."""

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _parquet(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    growing = _Growing()
    with pq.ParquetWriter(growing, LISTED, compression="zstd", use_dictionary=REPEATED) as writer:
        for batch in pages:
            writer.write_batch(with_hosts(batch), row_group_size=ROW_GROUP)
            yield growing.take()
    yield growing.take()


def _nutch(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    for batch in pages:
        for url, score in zip(batch["url"].to_pylist(), batch["score"].to_pylist(), strict=True):
            value = RECIPE.base if score is None else score
            yield f"{url}\tnutch.score={value:.9g}\n".encode()  # a float holds no more digits


def _fit(pages: PageBatches, left: LeftOut) -> PageBatches:
    """Without URIs that are no seeds."""
    for batch in pages:
        unfit = pc.match_substring_regex(batch["url"], UNFIT)
        left["no seed, for a blank or a # in it"] += pc.sum(unfit).as_py() or 0
        yield batch.filter(pc.invert(unfit))


def _seeds(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    for batch in _fit(pages, left):
        yield "".join(f"{url}\n" for url in batch["url"].to_pylist()).encode()


def _browsertrix(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    classed = (
        page
        for batch in _fit(pages, left)
        for page in zip(batch["url"].to_pylist(), batch["class"].to_pylist(), strict=True)
    )
    for line in config_lines(classed, bins):
        yield f"{line}\n".encode()


FORMATS: dict[str, Callable[[PageBatches, LeftOut, int], Iterator[bytes]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "seeds": _seeds,
    "browsertrix": _browsertrix,
    "nutch": _nutch,
}
BINARY = ("parquet",)
