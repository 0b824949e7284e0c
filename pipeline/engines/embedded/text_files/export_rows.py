"""The recipe's text files from the datasets of this engine, made on demand, a piece at a time.

Lines are joined as columns and written as the bytes that they then lie in; nothing is held but a
piece, and the keys, which are mapped from a file without compression.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.kernel.formats.lines import CANONICAL, DUMMY
from pipeline.data.csr import Csr
from pipeline.data.csr_files import open_csr
from pipeline.data.graph import Floats
from pipeline.data.key_numbers import numbered, open_ids
from pipeline.data.pairs import distinct_pairs
from pipeline.data.parquet import parquet_batches
from pipeline.data.scores_file import DUMMY as DUMMY_FILE
from pipeline.data.scores_file import SCORES, open_scores, read_dummy
from pipeline.engines.embedded.columns import CAPTURE_SCHEMA, capture_blocks, link_blocks
from pipeline.engines.embedded.edges import key_pairs
from pipeline.engines.embedded.ids import IDS, MAP
from pipeline.engines.embedded.spellings import URIS
from pipeline.engines.embedded.turning import transposed
from pipeline.workfolder.work_folder import links_of

NODES = 1 << 16  # in a piece of a graph
Numbers = Any  # an array of uint32 or uint64


@dataclass(frozen=True)
class TextSource:
    """A work folder of this engine. budget: bytes of memory; tmp: a folder for what is sorted."""

    work: Path
    tmp: Path
    budget: int

    def links(self) -> Iterator[bytes]:
        """`target source`, as links lie in the parts."""
        for part in sorted(links_of(self.work).iterdir()):
            for block in link_blocks(part):
                kept = np.flatnonzero(~block.of_hops(CANONICAL.decode()))
                targets = block.targets.take(pa.array(block.target[kept]))
                yield lines(" ", targets, block.sources.take(pa.array(block.source[kept])))

    def captures(self) -> Iterator[bytes]:
        """Captures in ten columns, as they lie in the parts."""
        for part in sorted((self.work / "captures").iterdir()):
            for rows in capture_blocks(part, CAPTURE_SCHEMA.names):
                texts = [column.combine_chunks().cast(pa.string()) for column in rows.columns]
                yield lines("\t", *(text.fill_null("-") for text in texts))

    def canonical_links(self) -> Iterator[bytes]:
        """`target_key source_key`, distinct and sorted."""
        with self._pairs() as (keys, pairs):
            for targets, sources in pairs:
                yield lines(" ", keys.take(pa.array(targets)), keys.take(pa.array(sources)))

    def input_links(self) -> Iterator[bytes]:
        """`id target_key source_key`, of the canonical links whose target has an id."""
        ids = open_ids(self.work / "map" / IDS)
        none = np.iinfo(ids.dtype).max
        with self._pairs() as (keys, pairs):
            for targets, sources in pairs:
                of_target = ids[targets]
                kept = of_target != none
                yield lines(
                    " ",
                    _digits(of_target[kept]),
                    keys.take(pa.array(targets[kept])),
                    keys.take(pa.array(sources[kept])),
                )

    def map(self) -> Iterator[bytes]:
        """`id target_key`."""
        for rows in parquet_batches(self.work / "map" / MAP, ("id", "key")):
            yield lines(" ", rows["id"].cast(pa.string()), rows["key"])

    def graph(self) -> Iterator[bytes]:
        """Graph lines, every score 1.0."""
        csr = open_csr(self.work / "graph")
        yield from self._graph_lines(csr, np.ones(csr.nodes), 1.0)

    def ranks(self) -> Iterator[bytes]:
        """Graph lines with the scores."""
        yield from self._graph_lines(open_csr(self.work / "graph"), *self._scores())

    def scores_by_id(self) -> Iterator[bytes]:
        """`id<TAB>score`."""
        scores, _ = self._scores()
        for begin in range(0, len(scores), NODES):
            some = scores[begin : begin + NODES]
            yield lines("\t", _digits(np.arange(begin, begin + len(some))), _exact(some))

    def score_uri(self) -> Iterator[bytes]:
        """`score<TAB>URI`, best first."""
        path = self.work / "scores" / "scores.parquet"
        for rows in parquet_batches(path, ("score", "uri")):
            yield lines("\t", _exact(rows["score"].to_numpy()), rows["uri"])

    def _scores(self) -> tuple[Floats, float]:
        ranks, nodes = self.work / "ranks", open_csr(self.work / "graph", edges=False).nodes
        return open_scores(ranks / SCORES, nodes), read_dummy(ranks / DUMMY_FILE)

    @contextmanager
    def _pairs(self) -> Iterator[tuple[pa.LargeStringArray, Iterator[tuple[Numbers, Numbers]]]]:
        """All keys by their number, and the canonical links as pairs of numbers."""
        with tempfile.TemporaryDirectory(dir=self.tmp) as name:
            folder = Path(name)
            runs = folder / "runs"
            runs.mkdir()
            keys = _mapped_keys(self.work / "uris" / URIS, folder)
            streams = [
                key_pairs(part, self.work / "numbers" / f"{part.stem}.npy", len(keys))
                for part in sorted(links_of(self.work).iterdir())
            ]
            yield keys, distinct_pairs(streams, len(keys), self.budget, runs)

    def _graph_lines(self, csr: Csr, scores: Floats, dummy: float) -> Iterator[bytes]:
        with tempfile.TemporaryDirectory(dir=self.tmp) as name:
            folder = Path(name)
            out = transposed(csr, folder / "out", budget=self.budget, tmp=folder)
            for begin in range(0, out.nodes, NODES):
                end = min(begin + NODES, out.nodes)
                offsets = out.offsets[begin : end + 1]
                targets = _digits(out.sources[offsets[0] : offsets[-1]])
                lists = pa.ListArray.from_arrays(
                    pa.array(offsets - offsets[0], pa.int32()), targets.cast(pa.string())
                )
                joined = pc.binary_join(lists, ",")
                dangling = pa.array(np.diff(offsets) == 0)
                named = pc.if_else(dangling, DUMMY.decode(), joined)
                out_edges = pc.binary_join_element_wise("O:", named, "")
                ids = _digits(np.arange(begin, end))
                yield lines("\t", ids, _exact(scores[begin:end]), out_edges)
        yield b"%s\t%s\tO:%s\n" % (DUMMY, repr(dummy).encode(), DUMMY)


def lines(separator: str, *columns: Any) -> bytes:
    """Columns of strings as lines of text."""
    large = [column.cast(pa.large_string()) for column in columns]
    if not len(large[0]):
        return b""
    joined = pc.binary_join_element_wise(*large, _large(separator))
    ended = pc.binary_join_element_wise(joined, _large(""), _large("\n"))
    _, offsets, data = ended.buffers()
    ends = np.frombuffer(offsets, np.int64)[ended.offset : ended.offset + len(ended) + 1]
    return bytes(memoryview(data)[ends[0] : ends[-1]])


def _large(text: str) -> pa.LargeStringScalar:
    return pa.scalar(text, pa.large_string())


def _digits(numbers: Numbers) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _exact(scores: Floats) -> pa.Array:
    """Scores in as many digits as give the same double again, as Python writes them."""
    return pa.array(list(map(repr, scores.tolist())), pa.string())


def _mapped_keys(uris: Path, folder: Path) -> pa.LargeStringArray:
    """All keys by their number, in files of the folder."""
    count, size = 0, 0
    data, ends = folder / "keys.data", folder / "keys.ends"
    with data.open("wb") as texts, ends.open("wb") as offsets:
        offsets.write(np.zeros(1, np.int64).tobytes())
        for rows in numbered(uris, parquet_batches(uris, ("number", "key"))):
            numbers = rows["number"].to_numpy()
            new = np.flatnonzero(np.diff(numbers, prepend=count - 1))
            keys = rows["key"].take(pa.array(new)).cast(pa.large_binary())
            lengths = pc.binary_length(keys).to_numpy()
            texts.write(b"".join(keys.to_pylist()))
            offsets.write((size + np.cumsum(lengths)).astype(np.int64).tobytes())
            count, size = count + len(keys), size + int(lengths.sum())
    buffers = [None, pa.py_buffer(_map(ends)), pa.py_buffer(_map(data))]
    return pa.Array.from_buffers(pa.large_string(), count, buffers)


def _map(path: Path) -> Any:
    return np.memmap(path, mode="r") if path.stat().st_size else b""
