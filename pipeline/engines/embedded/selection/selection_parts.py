"""What processes of the pool do for select-links with one part of links and captures.

First they take from it what decides: captures with their keys, links of hops R and C with theirs,
and the groups of links that were found in the same capture, numbered through the part. Then, with
a verdict on every group, they write the links that count.

Files of part n in the folder: captures-n, named-n and groups-n.parquet, whose columns are below;
n.npy, uint8: the verdict on each group; and others-n.parquet, groups of which another URI has the
links as well: columns number and uri.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.kernel.formats.rows import UNKNOWN
from jobs.kernel.keys.keys import KeyFunction, forgetful_key_function
from pipeline.data.workers import Tell
from pipeline.engines.embedded.columns import Block, BlocksWriter, capture_blocks, dated_blocks

TAKEN, WITHOUT_CAPTURE = 1, 2  # a verdict: the source has the links, their capture is not there
KNOWN_AS = ("digest", "id", "refers_to", "refers_to_timestamp")
READ = ("uri", "timestamp", "status", "kind", "refers_to_uri", *KNOWN_AS)
CAPTURES = pa.schema(
    [
        ("key", pa.string()), ("uri", pa.string()), ("timestamp", pa.string()),
        ("good", pa.bool_()), ("redirect", pa.bool_()), ("revisit", pa.bool_()),
        *((name, pa.string()) for name in KNOWN_AS), ("refers_to_key", pa.string()),
    ]
)  # fmt: skip
NAMED = pa.schema([(n, pa.string()) for n in ("key", "uri", "timestamp", "hop", "target_key")])
GROUPS = pa.schema(
    [("part", pa.int32()), ("number", pa.int64()), ("uri", pa.string()), ("timestamp", pa.string())]
)
UNKNOWN_TEXT = UNKNOWN.decode()
Groups = npt.NDArray[np.int64]


class LookWork(NamedTuple):
    """A part, by its number and its files. grouped: its groups are wanted, too."""

    number: int
    links: Path
    captures: Path
    folder: Path
    keep_www: bool
    grouped: bool


class SelectWork(NamedTuple):
    """A part of links and the part of selected ones to write; where verdicts on it are."""

    number: int
    links: Path
    output: Path
    folder: Path


def look(work: LookWork, tell: Tell) -> int:
    """Take from a part what decides, into the folder; how many groups it has."""
    key_of = forgetful_key_function(work.keep_www)
    _write(work, "captures", CAPTURES, _captures(work.captures, key_of))
    blocks = dated_blocks(work.links)
    if not work.grouped:
        _write(work, "named", NAMED, (_named(block, key_of) for block in blocks))
        return 0
    first = 0
    path = work.folder / f"groups-{work.number}.parquet"
    with path.open("wb") as stream, pq.ParquetWriter(stream, GROUPS, compression="lz4") as file:

        def both() -> Iterator[pa.Table]:
            nonlocal first
            for block in blocks:
                groups, _ = _grouped(block)
                file.write_table(_group_table(block, groups, work.number, first))
                first += len(groups)
                yield _named(block, key_of)

        _write(work, "named", NAMED, both())
    return first


def _write(work: LookWork, name: str, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    path = work.folder / f"{name}-{work.number}.parquet"
    with path.open("wb") as stream, pq.ParquetWriter(stream, schema, compression="lz4") as file:
        for table in tables:
            file.write_table(table)


def _keys(uris: pa.Array, key_of: KeyFunction) -> pa.Array:
    """The keys of URIs, null where there is none."""
    encoded = uris.dictionary_encode()
    given = encoded.dictionary.cast(pa.binary()).to_pylist()
    keys = pa.array([key_of(uri) for uri in given], pa.binary()).cast(pa.string())
    return keys.take(encoded.indices)


def _captures(part: Path, key_of: KeyFunction) -> Iterator[pa.Table]:
    for block in capture_blocks(part, READ):
        rows = {name: block[name].combine_chunks() for name in READ}
        status = rows["status"].fill_null(200)
        revisit = pc.equal(rows["kind"].fill_null(""), "revisit")
        in_class = pc.divide(status, 100)
        unchanged = pc.and_(revisit, pc.equal(status, 304))
        good = pc.or_(pc.equal(in_class, 2), unchanged)
        keys = _keys(rows["uri"], key_of)
        table = pa.table(
            [
                keys, rows["uri"], rows["timestamp"].fill_null(UNKNOWN_TEXT), good,
                pc.and_not(pc.equal(in_class, 3), unchanged), revisit,
                *(rows[name].fill_null(UNKNOWN_TEXT) for name in KNOWN_AS),
                _keys(rows["refers_to_uri"].fill_null(""), key_of),
            ],
            CAPTURES,
        )  # fmt: skip
        yield table.filter(keys.is_valid())


def _named(block: Block, key_of: KeyFunction) -> pa.Table:
    """The links of hops R and C whose ends have keys."""
    some = np.flatnonzero(block.of_hops("RC"))
    sources = block.sources.take(pa.array(block.source[some]))
    targets = _keys(block.targets.take(pa.array(block.target[some])), key_of)
    hops = pa.array(block.hops, pa.string()).take(pa.array(block.hop[some]))
    when = _timestamps(block, some)
    table = pa.table([_keys(sources, key_of), sources, when, hops, targets], NAMED)
    return table.filter(pc.and_(table["key"].is_valid(), table["target_key"].is_valid()))


def _timestamps(block: Block, some: Any) -> pa.Array:
    assert block.timestamps is not None and block.timestamp is not None  # of dated_blocks
    return block.timestamps.take(pa.array(block.timestamp[some]))


def _grouped(block: Block) -> tuple[Groups, Groups]:
    """Of each group a link, and of each link its group in the block."""
    assert block.timestamps is not None and block.timestamp is not None
    codes = block.source.astype(np.int64) * len(block.timestamps) + block.timestamp
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    return first, group


def _group_table(block: Block, links: Groups, part: int, first: int) -> pa.Table:
    numbers = np.arange(first, first + len(links))
    parts = np.full(len(links), part, np.int32)
    sources = block.sources.take(pa.array(block.source[links]))
    return pa.table([parts, numbers, sources, _timestamps(block, links)], GROUPS)


def select(work: SelectWork, tell: Tell) -> Counter[str]:
    """Write the links of a part that count, and count them and the others."""
    verdicts = np.load(work.folder / f"{work.number}.npy", mmap_mode="r")
    others = _others(work.folder / f"others-{work.number}.parquet")
    counters = Counter[str]()
    first = 0
    with BlocksWriter(work.output) as writer:
        for block in dated_blocks(work.links):
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
                targets = block.targets.take(pa.array(block.target[chosen])).cast(pa.binary())
                hops = [block.hops[hop].encode() for hop in block.hop[chosen].tolist()]
                for uri in others[number]:
                    writer.add(uri, targets.to_pylist(), hops)
            first += len(groups)
    counters["selected"] = writer.rows
    return counters


def _others(path: Path) -> dict[int, list[bytes]]:
    """Group -> the URIs that have its links, too: few, as originals are mostly of the same key."""
    found: dict[int, list[bytes]] = {}
    if path.exists():
        with path.open("rb") as stream:
            table = pq.read_table(stream)
        uris = table["uri"].cast(pa.binary()).to_pylist()
        for number, uri in zip(table["number"].to_pylist(), uris, strict=True):
            found.setdefault(number, []).append(uri)
    return found
