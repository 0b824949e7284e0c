"""`crawlrank step import-text`: text files to a new work folder, from which a run continues.

What is imported takes the place of the first steps: links and captures of URIs that of
extract-links; links of keys likewise, with keys for URIs; a graph that of all before PageRank.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.reading import parts
from crawlrank.jobs.kernel.formats.usable import require_usable
from crawlrank.pipeline.data.datasets import move
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore
from crawlrank.pipeline.workfolder.imported import GRAPH, KEYS, LINKS, REPLACED
from crawlrank.pipeline.workfolder.lock import locked
from crawlrank.pipeline.workfolder.manifest import Manifest, file_fingerprint, fingerprint
from crawlrank.pipeline.workfolder.work_folder import clear_leftovers, refuse_foreign, temporary

if TYPE_CHECKING:
    from crawlrank.pipeline.engines.embedded.text_files.import_rows import TextReader

TextFiles = Sequence[str]


@dataclass(frozen=True)
class Texts:
    """What to import: files, globs or folders of parts. One of links, canonical_links, input_links
    and graph is given; captures belong to links, map to input_links or graph.

    source_first: the columns of links, of URIs or of keys, are `source target`.
    """

    links: TextFiles = ()
    captures: TextFiles = ()
    canonical_links: TextFiles = ()
    input_links: TextFiles = ()
    map: TextFiles = ()
    graph: str = ""
    source_first: bool = False

    @property
    def kind(self) -> str:
        return GRAPH if self.graph else LINKS if self.links else KEYS

    def files(self) -> list[Path]:
        """All that is read. Raises BadInput for what is not there."""
        named = [*self.links, *self.captures, *self.canonical_links, *self.input_links, *self.map]
        return [part for name in [*named, *filter(None, [self.graph])] for part in parts(name)]


@dataclass(frozen=True)
class Imported:
    """rows: by dataset. counters: what was left out, by reason. examples: of the lines of that."""

    rows: dict[str, int]
    counters: dict[str, int]
    examples: list[str]


def import_text(
    work: Path, texts: Texts, *, budget: int, threads: int, reader: TextReader | None = None
) -> Imported:
    """Make a work folder of text files. budget: bytes of memory. reader: of all but graphs.

    Raises BadInput for a line that is none, with file and line, and for a folder that was used.
    """
    files = texts.files()
    refuse_foreign(work)
    with locked(work):
        clear_leftovers(work)
        manifest = Manifest(work)
        _refuse_used(work, manifest)
        started = time.monotonic()
        named = [str(path) for path in files]
        entry: dict[str, Any] = {"kind": texts.kind, "files": named, "datasets": {}}
        _save(manifest, entry)
        with temporary(work) as tmp:
            imported = _convert(texts, tmp, budget, threads, reader)
            folders = sorted(path for path in tmp.iterdir() if not path.name.startswith("."))
            for folder in folders:
                move(folder, work / folder.name)
        store = DatasetStore(work)
        entry["datasets"] = {folder.name: store.record(folder.name) for folder in folders}
        entry["fingerprint"] = fingerprint(
            texts.kind, texts.source_first, list(map(file_fingerprint, files))
        )
        _save(manifest, entry)
        manifest.done(
            REPLACED[texts.kind][-1],
            {
                "fingerprint": entry["fingerprint"],
                "parameters": {},
                "rows": imported.rows,
                "counters": imported.counters,
                "examples": imported.examples,
                "seconds": round(time.monotonic() - started, 3),
            },
        )
    return imported


def _refuse_used(work: Path, manifest: Manifest) -> None:
    if manifest.archives or manifest.steps:
        raise BadInput(
            str(work),
            "is a work folder already",
            "a new folder",
            "Name another folder; `crawlrank run` continues in one that was imported.",
        )


def _save(manifest: Manifest, entry: dict[str, Any]) -> None:
    manifest.imported.clear()
    manifest.imported.update(entry)
    manifest.parameters["--runner"] = EMBEDDED
    manifest.save()


def _convert(
    texts: Texts, tmp: Path, budget: int, threads: int, reader: TextReader | None
) -> Imported:
    """Write the datasets as folders in tmp."""
    # pyarrow and numpy take a while
    from crawlrank.pipeline.engines.embedded.text_files.import_graph import read_graph_lines
    from crawlrank.pipeline.engines.embedded.text_files.import_rows import TextReader

    if texts.graph:
        counts = read_graph_lines(texts.graph, texts.map, tmp, budget=budget, threads=threads)
        return Imported(counts.rows, counts.counters, [])
    reader = reader or TextReader()
    rows = {}
    if texts.links:
        rows["links"] = reader.links(texts.links, tmp / "links", texts.source_first)
        rows["captures"] = reader.captures(texts.captures, tmp / "captures")
        named = ", ".join([*texts.links, *texts.captures])
        require_usable(named, sum(rows.values()), reader.dropped)
    else:
        rows["links"] = reader.key_links(
            texts.canonical_links, texts.input_links, tmp / "links", texts.source_first
        )
        rows["keys"] = reader.map_keys(texts.map, tmp / "keys")
    return Imported(rows, dict(reader.dropped), reader.examples)
