"""The two tasks of a process for one part of links and captures in select-links.

The first takes from the part what the decisions need: captures with their keys, links of hops R and
C with theirs, and groups of links that were found in the same capture, numbered through the part.
The second writes the links that count, by a verdict on every group.

Files of part n in the folder: capture-n, named-n and groups-n.parquet, whose columns are below;
n.npy, uint8: the verdict on each group; and others-n.parquet: groups whose links another URI gets
as well, columns number and uri.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.captures.choosing import DIGESTS_OF_NOTHING, MISSING, NOT_MODIFIED
from crawlrank.jobs.kernel.formats.rows import FOLD_HOPS, UNKNOWN, Link
from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, forgetful_key_function
from crawlrank.jobs.kernel.links.reference_kinds import links_at
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.engines.embedded.columns import (
    Block,
    LinksWriter,
    capture_blocks,
    dated_blocks,
)

TAKEN, WITHOUT_CAPTURE = 1, 2  # verdicts on links that count; the latter without capture
KNOWN_AS = ("id", "refers_to", "refers_to_uri", "refers_to_timestamp")
READ = ("uri", "timestamp", "status", "kind", "digest", *KNOWN_AS)
CAPTURES = pa.schema(
    [
        ("key", pa.string()), ("uri", pa.string()), ("timestamp", pa.string()),
        *((name, pa.bool_()) for name in (
            "good", "redirect", "revisit", "confirmation", "without_status", "missing",
        )),
        ("digest", pa.string()),
        *((name, pa.string()) for name in KNOWN_AS), ("refers_to_key", pa.string()),
    ]
)  # fmt: skip
NAMED = pa.schema(
    [(name, pa.string()) for name in (
        "key", "uri", "timestamp", "hop", "target_key", "target", "reference",
    )]
)  # fmt: skip
GROUPS = pa.schema(
    [("part", pa.int32()), ("number", pa.int64()), ("uri", pa.string()), ("timestamp", pa.string())]
)
UNKNOWN_TEXT = UNKNOWN.decode()
NO_DIGESTS = pa.array(sorted(digest.decode() for digest in DIGESTS_OF_NOTHING))
MISSING_STATUSES = pa.array(map(int, MISSING), pa.int32())
GroupNumbers = npt.NDArray[np.int64]


class SelectionPart(NamedTuple):
    """A part of links and of captures, and the part of selected links to write. folder: of the
    files between the two tasks. latest: only links of the latest captures count."""

    number: int
    links: Path
    captures: Path
    selected: Path
    folder: Path
    www: Www
    latest: bool


def prepare(part: SelectionPart, tell: Tell) -> int:
    """Write what the decisions need from a part. Returns the number of its groups."""
    key_of = forgetful_key_function(part.www)
    with _writer(part, "capture", CAPTURES) as captures:
        for table in _captures(part.captures, key_of):
            captures.write_table(table)
    count = 0
    with _writer(part, "named", NAMED) as named, _writer(part, "groups", GROUPS) as groups:
        for block in dated_blocks(part.links):
            named.write_table(_named(block, key_of))
            if part.latest:
                links, _ = _grouped(block)
                groups.write_table(_group_table(block, links, part.number, count))
                count += len(links)
    return count


@contextmanager
def _writer(part: SelectionPart, name: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    path = part.folder / f"{name}-{part.number}.parquet"
    with path.open("wb") as stream, pq.ParquetWriter(stream, schema, compression="lz4") as file:
        yield file


def _keys(uris: pa.Array, key_of: KeyFunction) -> pa.Array:
    """The keys of URIs, null where there is none."""
    encoded = uris.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.binary()).to_pylist()
    keys = pa.array([key_of(uri) for uri in distinct], pa.binary()).cast(pa.string())
    return keys.take(encoded.indices)


def _captures(part: Path, key_of: KeyFunction) -> Iterator[pa.Table]:
    for block in capture_blocks(part, READ):
        rows = {name: block[name].combine_chunks() for name in READ}
        status = rows["status"].fill_null(200)
        of_kind = pc.equal(rows["kind"].fill_null(""), "revisit")
        in_class, unmodified = pc.divide(status, 100), pc.equal(status, int(NOT_MODIFIED))
        indexed = pc.equal(rows["kind"].fill_null(""), INDEX)
        digest, unknown = rows["digest"].fill_null(UNKNOWN_TEXT), pa.scalar(UNKNOWN_TEXT)
        of_nothing = pc.or_(pc.invert(of_kind), pc.is_in(digest, NO_DIGESTS))
        keys = _keys(rows["uri"], key_of)
        named = pc.if_else(
            pc.equal(rows["refers_to_uri"].fill_null(UNKNOWN_TEXT), unknown),
            rows["uri"], rows["refers_to_uri"],
        )  # fmt: skip
        table = pa.table(
            [
                keys, rows["uri"], rows["timestamp"].fill_null(UNKNOWN_TEXT),
                pc.and_not(pc.or_(pc.equal(in_class, 2), unmodified), indexed),
                pc.and_not(pc.equal(in_class, 3), unmodified),
                pc.or_(of_kind, unmodified),
                pc.or_(unmodified, pc.and_(of_kind, pc.equal(digest, unknown))),
                pc.or_(unmodified, rows["status"].is_null()),
                pc.is_in(status, MISSING_STATUSES),
                pc.if_else(pc.and_(unmodified, of_nothing), unknown, digest),
                *(rows[name].fill_null(UNKNOWN_TEXT) for name in KNOWN_AS),
                _keys(named, key_of),
            ],
            CAPTURES,
        )  # fmt: skip
        yield table.filter(keys.is_valid())


def _named(block: Block, key_of: KeyFunction) -> pa.Table:
    """The links of FOLD_HOPS whose ends have keys."""
    links = np.flatnonzero(block.of_hops(FOLD_HOPS))
    sources = block.sources.take(pa.array(block.source[links]))
    targets = block.targets.take(pa.array(block.target[links]))
    hops = pa.array(block.hops, pa.string()).take(pa.array(block.hop[links]))
    table = pa.table(
        [
            _keys(sources, key_of), sources, _timestamps(block, links), hops,
            _keys(targets, key_of), targets, pa.array(_kinds(block, links)).cast(pa.string()),
        ],
        NAMED,
    )  # fmt: skip
    return table.filter(pc.and_(table["key"].is_valid(), table["target_key"].is_valid()))


def _timestamps(block: Block, links: GroupNumbers) -> pa.Array:
    assert block.timestamps is not None and block.timestamp is not None  # of dated_blocks
    return block.timestamps.take(pa.array(block.timestamp[links]))


def _kinds(block: Block, links: GroupNumbers) -> list[bytes]:
    """The kinds of references of links."""
    if block.references is None or block.reference is None:  # of an extraction by an older version
        return [UNKNOWN] * len(links)
    kinds: list[bytes] = block.references.cast(pa.binary()).to_pylist()
    return [kinds[number] for number in block.reference[links].tolist()]


def _grouped(block: Block) -> tuple[GroupNumbers, GroupNumbers]:
    """For each group one of its links, and for each link its group in the block."""
    assert block.timestamps is not None and block.timestamp is not None
    codes = block.source.astype(np.int64) * len(block.timestamps) + block.timestamp
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    return first, group


def _group_table(block: Block, links: GroupNumbers, part: int, first: int) -> pa.Table:
    numbers = np.arange(first, first + len(links))
    parts = np.full(len(links), part, np.int32)
    sources = block.sources.take(pa.array(block.source[links]))
    return pa.table([parts, numbers, sources, _timestamps(block, links)], GROUPS)


def select(part: SelectionPart, tell: Tell) -> Counter[str]:
    """Write the links of a part that count. Counts these and the others."""
    verdicts = np.load(part.folder / f"{part.number}.npy", mmap_mode="r")
    others = _others(part.folder / f"others-{part.number}.parquet")
    counters = Counter[str]()
    first = 0
    with LinksWriter(part.selected) as writer:
        for block in dated_blocks(part.links):
            groups, group = _grouped(block)
            verdict = verdicts[first : first + len(groups)][group]
            links = ~block.of_hops("C")
            writer.add_block(block, links & (verdict > 0))
            without = np.count_nonzero(links & (verdict == WITHOUT_CAPTURE))
            counters["links.without-capture"] += int(without)
            elsewhere = np.array([n for n in others if first <= n < first + len(groups)], np.int64)
            dropped = links & (verdict == 0) & ~np.isin(group + first, elsewhere)
            counters["links.superseded"] += int(np.count_nonzero(dropped))
            for number in elsewhere.tolist():
                chosen = np.flatnonzero(links & (group + first == number))
                for uri in others[number]:
                    there = [*_links_at(uri, block, chosen, counters)]
                    writer.add(uri, [one.target for one in there], [one.hop for one in there])
            first += len(groups)
    counters["selected"] = writer.rows
    return counters


def _links_at(
    uri: bytes, block: Block, links: GroupNumbers, counters: Counter[str]
) -> Iterator[Link]:
    """Links of a page as another one has them, which has the same body."""
    targets = block.targets.take(pa.array(block.target[links])).cast(pa.binary()).to_pylist()
    hops = [block.hops[hop].encode() for hop in block.hop[links].tolist()]
    for target, hop, kinds in zip(targets, hops, _kinds(block, links), strict=True):
        yield from links_at(uri, Link(target, uri, hop), kinds, counters)


def _others(path: Path) -> dict[int, list[bytes]]:
    """Group -> the URIs that get its links as well: few, as most originals have the same key."""
    others: dict[int, list[bytes]] = {}
    if path.exists():
        with open_parquet(path) as file:
            table = file.read()
        uris = table["uri"].cast(pa.binary()).to_pylist()
        for number, uri in zip(table["number"].to_pylist(), uris, strict=True):
            others.setdefault(number, []).append(uri)
    return others
