"""The files of the Heritrix notes, by their own names, from a work folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import CANONICAL, DUMMY, parse_graph_line, parse_link
from crawlrank.jobs.kernel.storage.temporary import output_folder, temporary_folder
from crawlrank.pipeline.data.datasets import ORDER, by_score, merged, write_file
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.workfolder.imported import GRAPH, WITHOUT_URIS
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest
from crawlrank.pipeline.workfolder.results.opened import are_columns

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
    from crawlrank.pipeline.engines.embedded.text_files.export_rows import (
        TextSource,  # what it imports takes a while
    )

    kind = folders.manifest.imported.get("kind")
    for dataset in (*OF_NODES, *(OF_KEYS if kind != GRAPH else ())):
        folders.folder(dataset)
    if kind not in WITHOUT_URIS:
        folders.folder("captures")
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
    files = nodes if kind == GRAPH else {**keys, **nodes}
    if kind not in WITHOUT_URIS:
        files = {**uris, **files}
    for name, pieces in files.items():
        write_file(pieces(), out / name)
    return [out / name for name in files]
