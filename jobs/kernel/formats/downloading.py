"""Datasets that lie at a URL, brought to this machine."""

from __future__ import annotations

from pathlib import Path

from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import PathOrUrl


def download(dataset: PathOrUrl, folder: Path) -> None:
    """The lines of a dataset at a URL as parts in a folder, behind those that are there, without
    what is not of it."""
    folder.mkdir(parents=True, exist_ok=True)
    first = len(list(folder.iterdir()))
    for number, (part, _) in enumerate(stores.part_sizes(dataset), first):
        name = f"part-{number:05d}"
        with stores.open_part(part) as stream, (folder / name).open("wb") as file:
            for line in stream:
                if not side_name(line):
                    file.write(line[:-2] + b"\n" if line[-2:] == b"\t\n" else line)
