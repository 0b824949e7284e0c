"""The files of the Heritrix notes, by their own names, from a work folder of either engine.

From columns they are made on demand, a piece at a time. Columns are joined to lines, whose buffer
is written as it is. Memory: a piece, and the keys, which are mapped from a file without
compression.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import CANONICAL, DUMMY, parse_graph_line, parse_link
from crawlrank.jobs.kernel.storage.temporary import output_folder, temporary_folder
from crawlrank.pipeline.data.arrays import missing, numbered, open_ids
from crawlrank.pipeline.data.csr import Csr, open_csr
from crawlrank.pipeline.data.datasets import ORDER, by_score, merged, write_file
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.data.pairs import Naturals, Pairs, distinct_pairs
from crawlrank.pipeline.data.parquet import parquet_batches
from crawlrank.pipeline.data.scores_file import DUMMY as DUMMY_FILE
from crawlrank.pipeline.data.scores_file import HUBS, SCORES, open_scores, read_dummy
from crawlrank.pipeline.engines.embedded.canonicalization.canonicalize import URIS
from crawlrank.pipeline.engines.embedded.columns import CAPTURE_SCHEMA, capture_blocks, link_blocks
from crawlrank.pipeline.engines.embedded.gen_graph import key_pairs, transposed
from crawlrank.pipeline.engines.embedded.ids import IDS, MAP
from crawlrank.pipeline.workfolder.manifest import GRAPH, URI_GRAPH, WITHOUT_URIS
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest
from crawlrank.pipeline.workfolder.results.opened import are_columns
from crawlrank.pipeline.workfolder.work_folder import links_of

NODES = 1 << 16  # in a piece of a graph


@dataclass(frozen=True)
class TextSource:
    """A work folder of this engine. budget: bytes of memory. tmp: a folder for sorts."""

    work: Path
    tmp: Path
    budget: int

    def links(self) -> Iterator[bytes]:
        """`target source`, in the order of the parts."""
        for part in sorted(links_of(self.work).iterdir()):
            for block in link_blocks(part):
                kept = np.flatnonzero(~block.of_hops(CANONICAL.decode()))
                targets = block.targets.take(pa.array(block.target[kept]))
                yield lines(" ", targets, block.sources.take(pa.array(block.source[kept])))

    def captures(self) -> Iterator[bytes]:
        """Captures in ten columns, in the order of the parts."""
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
        with self._pairs() as (keys, pairs):
            for targets, sources in pairs:
                of_target = ids[targets]
                kept = of_target != missing(ids)
                yield lines(
                    " ", _digits(of_target[kept]), keys.take(pa.array(targets[kept])),
                    keys.take(pa.array(sources[kept])),
                )  # fmt: skip

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
        yield from _by_id(self._scores()[0])

    @property
    def has_hubs(self) -> bool:
        return (self.work / "ranks" / HUBS).exists()

    def hubs_by_id(self) -> Iterator[bytes]:
        """`id<TAB>hub`."""
        nodes = open_csr(self.work / "graph", edges=False).nodes
        yield from _by_id(open_scores(self.work / "ranks" / HUBS, nodes))

    def score_uri(self) -> Iterator[bytes]:
        """`score<TAB>URI`, best first."""
        path = self.work / "scores" / "scores.parquet"
        for rows in parquet_batches(path, ("score", "uri")):
            yield lines("\t", _exact(rows["score"].to_numpy()), rows["uri"])

    def _scores(self) -> tuple[Floats, float]:
        ranks, nodes = self.work / "ranks", open_csr(self.work / "graph", edges=False).nodes
        return open_scores(ranks / SCORES, nodes), read_dummy(ranks / DUMMY_FILE)

    @contextmanager
    def _pairs(self) -> Iterator[tuple[pa.LargeStringArray, Iterator[Pairs]]]:
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


def _by_id(column: Floats) -> Iterator[bytes]:
    """`id<TAB>number`."""
    for begin in range(0, len(column), NODES):
        piece = column[begin : begin + NODES]
        yield lines("\t", _digits(np.arange(begin, begin + len(piece))), _exact(piece))


def lines(separator: str, *columns: Any) -> bytes:
    """Columns of strings, joined to lines of text."""
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


def _digits(numbers: Naturals) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _exact(scores: Floats) -> pa.Array:
    """Scores in the fewest digits that give the same double again."""
    return pa.array(list(map(repr, scores.tolist())), pa.string())


def _mapped_keys(uris: Path, folder: Path) -> pa.LargeStringArray:
    """All keys by number, mapped from files in the folder."""
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


Convert = Callable[[bytes], Iterator[bytes]]
#: datasets of columns that the files of nodes, and of keys, are made of
OF_NODES, OF_KEYS = ("map", "graph", "ranks", "scores"), ("links", "uris", "numbers")


def _whole(line: bytes) -> Iterator[bytes]:
    yield line


def _two_columns(line: bytes) -> Iterator[bytes]:
    link = parse_link(line.rstrip(b"\n"))
    if link.hop != CANONICAL:
        yield b"%s %s\n" % (link.target, link.source)


def _usual_columns(line: bytes) -> Iterator[bytes]:
    yield b"\t".join(line.rstrip(b"\n").split(b"\t")[: CAPTURES.usual]) + b"\n"


def _score_of_id(line: bytes) -> Iterator[bytes]:
    node, score, _ = parse_graph_line(line.rstrip(b"\n"))
    if node != DUMMY:
        yield b"%s\t%s\n" % (node, repr(score).encode())


def _hub_of_id(line: bytes) -> Iterator[bytes]:
    node, hub, _ = line.split(b"\t")
    yield b"%s\t%s\n" % (node, hub)


def _score_and_uri(line: bytes) -> Iterator[bytes]:
    yield b"\t".join(line.rstrip(b"\n").split(b"\t")[:2]) + b"\n"


def export_text(work: Path, out: Path) -> list[Path]:
    """Write links.txt, captures.txt, canonicalized_links.txt, input_links.txt, map.txt, pr0.txt,
    prK.txt, pr.txt, score_uri.txt and precedence.txt; K is the number of the last round.

    Of what was imported without URIs, the files that there can be, with score_key.txt for
    score_uri.txt.

    Raises BadInput when a step is missing.
    """
    if out.resolve() == work.resolve():
        raise BadInput(str(out), "the work folder itself", "another folder", "Name one with --out.")
    manifest = finished_manifest(work)
    last = f"pr{len(manifest.steps['page-rank']['rounds'])}.txt"
    write = _from_columns if are_columns(manifest.parameters) else _from_lines
    with output_folder(out), temporary_folder(out) as tmp:
        folders = DatasetFolders(work, manifest, tmp)
        with folders.reading():
            written = write(folders, out, last, tmp)
            if manifest.imported.get("kind") in WITHOUT_URIS:
                return written
            shutil.copyfile(folders.folder("precedence.txt"), out / "precedence.txt")
    return [*written, out / "precedence.txt"]


def _from_lines(folders: DatasetFolders, out: Path, last: str, tmp: Path) -> list[Path]:
    manifest = folders.manifest
    digits = manifest.steps["join-scores"]["parameters"]["digits"]
    files: dict[str, tuple[str, Convert]] = {
        "links.txt": ("links", _two_columns),
        "captures.txt": ("captures", _usual_columns),
        "canonicalized_links.txt": ("canonical_links", _whole),
        "input_links.txt": ("input_links", _whole),
        "map.txt": ("map", _whole),
        "pr0.txt": ("graph", _whole),
        last: ("ranks", _whole),
        "pr.txt": ("ranks", _score_of_id),
        "score_uri.txt": ("scores", _score_and_uri),
    }
    if "hubs" in manifest.steps["page-rank"]["datasets"]:
        files["hubs.txt"] = "hubs", _hub_of_id
    for name, (dataset, convert) in files.items():
        key = by_score(digits) if dataset == "scores" else ORDER[dataset]
        folder = folders.folder(dataset)
        try:
            lines = merged(folder, key)
            write_file((done for line in lines for done in convert(line)), out / name)
        except ValueError as error:  # of a number, or of a whole line
            cure = "Run the step that writes it again."
            raise BadInput(str(folder), str(error), f"lines of {dataset}", cure) from error
    return [out / name for name in files]


def _from_columns(folders: DatasetFolders, out: Path, last: str, tmp: Path) -> list[Path]:
    kind = folders.manifest.imported.get("kind")
    for dataset in (*OF_NODES, *(OF_KEYS if kind not in (GRAPH, URI_GRAPH) else ())):
        folders.folder(dataset)
    if kind not in WITHOUT_URIS:
        for dataset in ("links", "captures"):
            folders.folder(dataset)
    source = TextSource(folders.tmp, tmp, half_of_machine().budget)
    uris = {"links.txt": source.links, "captures.txt": source.captures}
    keys = {
        "canonicalized_links.txt": source.canonical_links,
        "input_links.txt": source.input_links,
    }
    nodes = {
        "map.txt": source.map,
        "pr0.txt": source.graph,
        last: source.ranks,
        "pr.txt": source.scores_by_id,
        "score_key.txt" if kind in WITHOUT_URIS else "score_uri.txt": source.score_uri,
    }
    if source.has_hubs:
        nodes["hubs.txt"] = source.hubs_by_id
    files = nodes if kind in (GRAPH, URI_GRAPH) else {**keys, **nodes}
    if kind not in WITHOUT_URIS:
        files = {**uris, **files}
    for name, pieces in files.items():
        write_file(pieces(), out / name)
    return [out / name for name in files]
